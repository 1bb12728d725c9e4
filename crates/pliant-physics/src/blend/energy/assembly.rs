//! Assembly of nodal forces and of the block rows of the Hessian.
//!
//! A vertex has three coordinates, so that the Hessian consists of 3×3 blocks. Each row of blocks
//! is collected with ascending columns and then written as three rows of a sparse matrix.

use pliant_linalg::SparseMatrix;
use pliant_mesh::glam::{DMat3, DVec3};

/// The force on a vertex and its half of the energy of its springs.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Node {
    pub(crate) force: DVec3,
    pub(crate) energy: f64,
}

/// How the Hessian treats the transverse term of compressed springs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transverse {
    /// The true derivative, possibly indefinite.
    Exact,
    /// Left out where negative: always positive semidefinite.
    Projected,
}

/// Adds `block` to the block of a column; inserts the column if it is missing.
pub(crate) fn add_to_row(row: &mut Vec<(u32, DMat3)>, column: u32, block: DMat3) {
    let at = row.partition_point(|entry| entry.0 < column);
    match row.get_mut(at).filter(|entry| entry.0 == column) {
        Some(entry) => entry.1 += block,
        None => row.insert(at, (column, block)),
    }
}

/// Compressed sparse rows, written in groups of three.
pub(crate) struct BlockRows {
    starts: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl BlockRows {
    pub(crate) fn with_capacity(blocks: usize) -> Self {
        Self {
            starts: vec![0],
            indices: Vec::with_capacity(9 * blocks),
            values: Vec::with_capacity(9 * blocks),
        }
    }

    pub(crate) fn push(&mut self, row: &[(u32, DMat3)]) {
        for r in 0..3 {
            for (column, block) in row {
                self.indices.extend([0, 1, 2].map(|c| 3 * column + c));
                self.values
                    .extend([block.x_axis[r], block.y_axis[r], block.z_axis[r]]);
            }
            self.starts.push(self.indices.len());
        }
    }

    pub(crate) fn into_matrix(self, unknowns: usize) -> SparseMatrix {
        SparseMatrix::from_rows(3 * unknowns, self.starts, self.indices, self.values)
    }
}
