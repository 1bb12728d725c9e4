//! Sparse Cholesky factorisation: direct solution of symmetric positive definite systems.
//!
//! **Problem.** Meshes give systems `A x = b` whose matrix stays while `b` changes with every
//! frame, or whose values change while the pattern stays.
//!
//! **Method.** `P A Pᵀ = L Lᵀ`: order by nested dissection, find the pattern of `L`, compute
//! its values in dense blocks, substitute. Each is done once for as long as it is valid:
//!
//! | what changes | what to call | what it costs |
//! |---|---|---|
//! | the pattern | [`SpdSolver::factor`] | order, analysis, values |
//! | the values | [`SpdSolver::refactor`], [`SpdSolver::factor_like`] | values |
//! | the right-hand side | [`SpdSolver::solve_in_place`] | two sweeps over `L` |
//!
//! **Source.** Davis, Rajamanickam & Sid-Lakhdar, "A survey of direct methods for sparse linear
//! systems", Acta Numerica 2016; the parts name their own.
//!
//! **Departures.** The dense kernels are `faer`'s; its sparse drivers run a factorisation on one
//! thread and solve several times slower than memory allows, so order, analysis, the multifrontal
//! driver and the sweeps are our own. All give the same bits on any number of threads.

mod elimination_tree;
mod numeric;
mod supernodes;
mod sweep;
mod sweep_plan;
mod symbolic;

use std::sync::Arc;

use glam::DVec3;

use crate::{LinalgError, SparseMatrix, parallel};
use numeric::BadPivot;
pub use sweep::SolveWorkspace;
use sweep::Sweep;
pub use symbolic::Symbolic;

/// Right-hand sides that share one sweep in [`SpdSolver::solve_columns`].
const COLUMNS_PER_SWEEP: usize = 4;

/// A factored symmetric positive definite matrix.
#[derive(Debug, Clone)]
pub struct SpdSolver {
    symbolic: Arc<Symbolic>,
    values: Vec<f64>,
}

impl SpdSolver {
    /// Orders, analyses and factors a symmetric matrix that stores both triangles.
    ///
    /// Values of the two triangles are taken to agree; which of the two is read is not specified.
    ///
    /// # Errors
    /// - [`LinalgError::Size`] or [`LinalgError::NotSymmetric`] if the matrix is not square or its
    ///   pattern is not symmetric,
    /// - [`LinalgError::NotFinite`] if it holds NaN or infinity,
    /// - [`LinalgError::NotPositiveDefinite`] if a pivot is not above `8 ε √n` of its entry on the
    ///   diagonal: the connected part of the graph that holds it is singular to rounding, or
    ///   indefinite.
    pub fn factor(matrix: &SparseMatrix) -> Result<Self, LinalgError> {
        check_finite(matrix)?;
        Self::factor_with(Arc::new(Symbolic::new(matrix)?), matrix)
    }

    /// Factors a matrix whose order and pattern are known.
    ///
    /// # Errors
    /// [`LinalgError::OtherPattern`] if its entries lie in other places; otherwise as
    /// [`factor`](Self::factor).
    pub fn factor_with(
        symbolic: Arc<Symbolic>,
        matrix: &SparseMatrix,
    ) -> Result<Self, LinalgError> {
        let values = vec![0.0; symbolic.value_count()];
        let mut solver = Self { symbolic, values };
        solver.refactor(matrix)?;
        Ok(solver)
    }

    /// Factors a matrix with the stored order and pattern if they fit it, else with its
    /// own, which then replace the stored ones.
    ///
    /// # Errors
    /// As [`factor`](Self::factor).
    pub fn factor_keeping(
        kept: &mut Option<Arc<Symbolic>>,
        matrix: &SparseMatrix,
    ) -> Result<Self, LinalgError> {
        let factor = match kept {
            // Another pattern is no error here: the matrix is analysed anew.
            Some(symbolic) => {
                Self::factor_with(Arc::clone(symbolic), matrix).or_else(|error| match error {
                    LinalgError::OtherPattern => Self::factor(matrix),
                    error => Err(error),
                })?
            }
            None => Self::factor(matrix)?,
        };

        *kept = Some(Arc::clone(&factor.symbolic));
        Ok(factor)
    }

    /// Factors a second matrix with the same pattern; order and analysis are shared.
    ///
    /// # Errors
    /// As [`factor_with`](Self::factor_with).
    pub fn factor_like(&self, matrix: &SparseMatrix) -> Result<Self, LinalgError> {
        Self::factor_with(Arc::clone(&self.symbolic), matrix)
    }

    /// Replaces the factor by that of a matrix with the same pattern, with the same bits as a new
    /// factorisation.
    ///
    /// After an error the factor is not to be used before another, successful `refactor`.
    ///
    /// # Errors
    /// As [`factor_with`](Self::factor_with).
    pub fn refactor(&mut self, matrix: &SparseMatrix) -> Result<(), LinalgError> {
        if !self.symbolic.fits(matrix) {
            return Err(LinalgError::OtherPattern);
        }
        check_finite(matrix)?;
        numeric::factor(&self.symbolic, matrix.values(), &mut self.values)
            .map_err(|pivot| self.name_part(matrix, pivot))
    }

    /// The order and pattern, to be shared with other matrices.
    #[must_use]
    pub fn symbolic(&self) -> &Arc<Symbolic> {
        &self.symbolic
    }

    /// Number of unknowns.
    #[must_use]
    pub fn size(&self) -> usize {
        self.symbolic.size()
    }

    /// Entries that the factor stores, with the zeros inside its dense blocks.
    #[must_use]
    pub fn factor_entries(&self) -> usize {
        self.symbolic.factor_entries()
    }

    /// Replaces `rhs` by the solution. Allocates only when the workspace is too small, that is
    /// once.
    ///
    /// # Panics
    /// If `rhs` has another length than there are unknowns.
    pub fn solve_in_place(&self, rhs: &mut [f64], workspace: &mut SolveWorkspace) {
        assert_eq!(rhs.len(), self.size(), "one right-hand side per unknown");
        self.sweep()
            .solve::<1, 4, f64>(rhs, workspace, |&b| [b], |x, [value]| *x = value);
    }

    /// Replaces the points `rhs` by the solution in each coordinate, with one sweep over the factor
    /// for all three.
    ///
    /// # Panics
    /// If `rhs` has another length than there are unknowns.
    pub fn solve_points_in_place(&self, rhs: &mut [DVec3], workspace: &mut SolveWorkspace) {
        assert_eq!(rhs.len(), self.size(), "one point per unknown");
        // Four lanes, one of them idle, are faster than three.
        self.sweep().solve::<4, 1, DVec3>(
            rhs,
            workspace,
            |b| [b.x, b.y, b.z, 0.0],
            |x, [a, b, c, _]| *x = DVec3::new(a, b, c),
        );
    }

    /// The solution for one right-hand side.
    ///
    /// # Panics
    /// If `rhs` has another length than there are unknowns.
    #[must_use]
    pub fn solve(&self, rhs: &[f64]) -> Vec<f64> {
        let mut solution = rhs.to_vec();
        self.solve_in_place(&mut solution, &mut SolveWorkspace::new());
        solution
    }

    /// The solution for one point per unknown.
    ///
    /// # Panics
    /// If `rhs` has another length than there are unknowns.
    #[must_use]
    pub fn solve_points(&self, rhs: &[DVec3]) -> Vec<DVec3> {
        let mut solution = rhs.to_vec();
        self.solve_points_in_place(&mut solution, &mut SolveWorkspace::new());
        solution
    }

    /// Replaces each of many right-hand sides by its solution, several per sweep and sweeps in
    /// parallel.
    ///
    /// # Panics
    /// If a column has another length than there are unknowns.
    pub fn solve_columns(&self, columns: &mut [Vec<f64>]) {
        assert!(
            columns.iter().all(|column| column.len() == self.size()),
            "one entry per unknown in every column"
        );
        parallel::for_each_chunk_mut(columns, COLUMNS_PER_SWEEP, |_, chunk| {
            self.solve_chunk(chunk)
        });
    }

    fn solve_chunk(&self, columns: &mut [Vec<f64>]) {
        // Columns are interleaved, so that one sweep over the factor serves all of them.
        let mut rows = vec![[0.0; COLUMNS_PER_SWEEP]; self.size()];
        for (c, column) in columns.iter().enumerate() {
            for (row, &value) in rows.iter_mut().zip(column) {
                row[c] = value;
            }
        }

        self.sweep().solve::<COLUMNS_PER_SWEEP, 1, _>(
            &mut rows,
            &mut SolveWorkspace::new(),
            |&row| row,
            |row, values| *row = values,
        );

        for (c, column) in columns.iter_mut().enumerate() {
            for (value, row) in column.iter_mut().zip(&rows) {
                *value = row[c];
            }
        }
    }

    fn sweep(&self) -> Sweep<'_> {
        Sweep {
            symbolic: &self.symbolic,
            values: &self.values,
        }
    }

    fn name_part(&self, matrix: &SparseMatrix, BadPivot(column): BadPivot) -> LinalgError {
        let unknown = self.symbolic.unknowns[column] as usize;
        LinalgError::NotPositiveDefinite {
            unknown,
            size: connected_size(matrix, unknown),
        }
    }
}

fn check_finite(matrix: &SparseMatrix) -> Result<(), LinalgError> {
    match matrix.values().iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(entry) => Err(LinalgError::NotFinite {
            row: matrix.starts().partition_point(|&start| start <= entry) - 1,
        }),
    }
}

/// How many unknowns are connected to `unknown`.
fn connected_size(matrix: &SparseMatrix, unknown: usize) -> usize {
    let mut seen = vec![false; matrix.rows()];
    seen[unknown] = true;
    let mut reached = vec![unknown];

    // Breadth-first search over the graph of the matrix.
    let mut next = 0;
    while next < reached.len() {
        for &column in matrix.row(reached[next]).0 {
            if !std::mem::replace(&mut seen[column as usize], true) {
                reached.push(column as usize);
            }
        }
        next += 1;
    }

    reached.len()
}

#[cfg(test)]
mod tests;
