//! Factored Hessian with rank-one corrections (Sherman–Morrison).
//!
//! **Problem.** The volume of a closed surface couples all of its vertices: its part of the
//! Hessian, a dense matrix of rank one, has no place in a sparse factor.
//!
//! **Equation.** `(A + w g gᵀ)⁻¹ f = y − u (g·y) / (1/w + g·u)` with `y = A⁻¹ f` and `u = A⁻¹ g`,
//! one surface after another.
//!
//! **Source.** Sherman and Morrison, 1950.

use pliant_linalg::{SolveWorkspace, SpdSolver};
use pliant_mesh::glam::DVec3;

use crate::blend::solvers::Preconditioner;
use crate::blend::solvers::equilibrium::dot;

/// A sparse factor and its rank-one corrections.
pub(crate) struct HessianFactor {
    factor: SpdSolver,
    corrections: Vec<Correction>,
    workspace: SolveWorkspace,
}

/// A dense column `g` and its solution `u`.
struct Correction {
    column: Vec<DVec3>,
    solved: Vec<DVec3>,
    /// `1/w + g·u`.
    pivot: f64,
}

impl HessianFactor {
    /// The factor of a matrix to which `w g gᵀ` is added for each of `columns`; weights are
    /// positive.
    pub(crate) fn new(factor: SpdSolver, columns: Vec<(f64, Vec<DVec3>)>) -> Self {
        let mut whole = Self {
            factor,
            corrections: Vec::new(),
            workspace: SolveWorkspace::default(),
        };

        for (weight, column) in columns {
            let mut solved = column.clone();
            whole.apply(&mut solved);
            let pivot = 1.0 / weight + dot(&column, &solved);
            whole.corrections.push(Correction {
                column,
                solved,
                pivot,
            });
        }

        whole
    }
}

impl Preconditioner for HessianFactor {
    fn apply(&mut self, vectors: &mut [DVec3]) {
        let mut flat: Vec<f64> = vectors.iter().flat_map(|v| v.to_array()).collect();
        self.factor.solve_in_place(&mut flat, &mut self.workspace);
        for (vector, solved) in vectors.iter_mut().zip(flat.chunks_exact(3)) {
            *vector = DVec3::from_slice(solved);
        }

        for correction in &self.corrections {
            let share = dot(&correction.column, vectors) / correction.pivot;
            for (v, u) in vectors.iter_mut().zip(&correction.solved) {
                *v -= *u * share;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_linalg::SparseMatrix;

    #[test]
    fn corrections_solve_the_matrix_with_the_dense_columns() {
        let triplets: Vec<(u32, u32, f64)> = (0..6).map(|i| (i, i, 2.0 + f64::from(i))).collect();
        let factor = SpdSolver::factor(&SparseMatrix::from_triplets(6, 6, &triplets)).unwrap();
        let columns = [
            vec![DVec3::new(1.0, -2.0, 0.5), DVec3::ONE],
            vec![DVec3::X, DVec3::new(0.0, 3.0, 1.0)],
        ];

        let weights = [3.0, 0.7];
        let mut whole =
            HessianFactor::new(factor, weights.into_iter().zip(columns.clone()).collect());
        let x = [DVec3::new(0.3, 0.1, -0.9), DVec3::new(2.0, 0.0, 1.0)];

        // The right-hand side of a known solution.
        let mut side: Vec<DVec3> = x
            .iter()
            .enumerate()
            .map(|(i, v)| *v * (DVec3::new(2.0, 3.0, 4.0) + 3.0 * i as f64))
            .collect();

        for (weight, column) in weights.iter().zip(&columns) {
            let share = weight * dot(column, &x);
            for (s, g) in side.iter_mut().zip(column) {
                *s += *g * share;
            }
        }

        whole.apply(&mut side);
        assert!(
            side.iter().zip(&x).all(|(a, b)| a.distance(*b) < 1e-12),
            "{side:?}"
        );
    }
}
