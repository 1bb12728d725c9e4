//! Balance to a millionth on one factored Hessian that turns with the shape.
//!
//! **Problem.** Newton's method factors a matrix of `3 n` unknowns in every step; most of what changes between two blends is
//! that parts of the shape turn.
//!
//! **Equation.** With the Hessian `H₀` at the middle of all shapes and the turn `Qᵢ` of every vertex since,
//!
//! ```text
//! H ≈ Q H₀ Qᵀ        H⁻¹ ≈ Q H₀⁻¹ Qᵀ        Q = diag(Qᵢ)
//! ```
//!
//! which is positive definite with `H₀`; quasi-Newton steps make up for the rest.
//!
//! **Source.** Müller et al., "Stable real-time deformations", 2002, section 4 (stiffness warping), here as a preconditioner;
//! Liu, Bouaziz, Kavan 2017.

use pliant_linalg::{SolveWorkspace, SpdSolver};
use pliant_mesh::glam::{DQuat, DVec3};

use crate::newton::solve;
use crate::quasi_newton::Preconditioner;

/// The factor of a Hessian, and the rotations of the unknowns where it was made.
#[derive(Debug)]
pub(crate) struct WarpedHessian {
    factor: SpdSolver,
    made_at: Vec<DQuat>,
    /// Since then.
    turns: Vec<DQuat>,
    workspace: SolveWorkspace,
}

impl WarpedHessian {
    /// A factor made where the unknowns are turned by `rotations`.
    pub(crate) fn new(factor: SpdSolver, rotations: Vec<DQuat>) -> Self {
        let turns = vec![DQuat::IDENTITY; rotations.len()];
        Self { factor, made_at: rotations, turns, workspace: SolveWorkspace::default() }
    }

    /// From now on the unknowns are turned by `rotations`.
    pub(crate) fn turn(&mut self, rotations: &[DQuat]) {
        for ((turn, now), then) in self.turns.iter_mut().zip(rotations).zip(&self.made_at) {
            *turn = *now * then.conjugate();
        }
    }
}

impl Preconditioner for WarpedHessian {
    fn apply(&mut self, vectors: &mut [DVec3]) {
        for (vector, turn) in vectors.iter_mut().zip(&self.turns) {
            *vector = turn.conjugate() * *vector;
        }
        solve(&self.factor, vectors, &mut self.workspace);
        for (vector, turn) in vectors.iter_mut().zip(&self.turns) {
            *vector = *turn * *vector;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_linalg::SparseMatrix;

    #[test]
    fn a_turned_factor_solves_the_turned_system() {
        let rows = [[4.0, 1.0, 0.5], [1.0, 3.0, -0.2], [0.5, -0.2, 2.0]];
        let triplets: Vec<(u32, u32, f64)> = (0..9).map(|k| (k / 3, k % 3, rows[k as usize / 3][k as usize % 3])).collect();
        let matrix = SparseMatrix::from_triplets(3, 3, &triplets);
        let (then, now) = (DQuat::from_rotation_x(0.4), DQuat::from_rotation_z(1.1));
        let mut hessian = WarpedHessian::new(SpdSolver::factor(&matrix).unwrap(), vec![then]);
        hessian.turn(&[now]);
        let move_ = DVec3::new(1.0, -2.0, 3.0);
        let turn = now * then.conjugate();
        let before = turn.conjugate() * move_;
        let mut found = [turn * DVec3::from_slice(&matrix.multiply(&before.to_array()))];
        hessian.apply(&mut found);
        assert!(found[0].distance(move_) < 1e-12);
    }
}
