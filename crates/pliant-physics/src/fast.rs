//! Balance to a thousandth on one prefactored Laplacian.
//!
//! **Problem.** Interactive speed: a factor of `n` unknowns that stays for all weights, in place of
//! one of `3 n` per step.
//!
//! **Equation.** The Laplacian of the springs, one number per spring,
//!
//! ```text
//! L = Σ k (eᵢ − eⱼ)(eᵢ − eⱼ)ᵀ
//! ```
//!
//! is the matrix of projective dynamics: `L ⊗ I` bounds the Hessian from above, whatever the turns.
//! It is the start of quasi-Newton steps.
//!
//! **Source.** Liu, Bargteil, O'Brien, Kavan, "Fast simulation of mass-spring systems", 2013,
//! section 4; Liu, Bouaziz, Kavan 2017.
//!
//! **Ours.** Constants are those of the mean of all shapes, so that one factor serves every blend.

use pliant_linalg::{LinalgError, SolveWorkspace, SparseMatrix, SpdSolver};
use pliant_mesh::glam::DVec3;

use crate::energy::SpringEnergy;
use crate::equilibrium::Equilibrium;
use crate::patch::settle;
use crate::quasi_newton::Preconditioner;
use crate::springs::Spring;
use crate::support::Support;

/// The factored Laplacian of springs over the vertices that are not held.
#[derive(Debug)]
pub(crate) struct SpringLaplacian {
    constants: Vec<f64>,
    factor: Option<SpdSolver>,
    workspace: SolveWorkspace,
}

impl SpringLaplacian {
    /// Factors the Laplacian with the constants of `springs`.
    pub(crate) fn factor(
        energy: &SpringEnergy,
        springs: &[Spring],
        support: &Support,
    ) -> Result<Self, LinalgError> {
        let constants: Vec<f64> = springs.iter().map(|spring| spring.stiffness).collect();
        let unknowns = support.unknown_vertices();
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for (unknown, &vertex) in unknowns.iter().enumerate() {
            let first = indices.len();
            let mut diagonal = 0.0;
            for (other, q) in energy.around(vertex as usize) {
                diagonal += constants[q];
                if let Some(column) = support.unknown_of(other) {
                    indices.push(column);
                    values.push(-constants[q]);
                }
            }
            let at = first + indices[first..].partition_point(|&column| column < unknown as u32);
            indices.insert(at, unknown as u32);
            values.insert(at, diagonal);
            starts.push(indices.len());
        }
        let matrix = SparseMatrix::from_rows(unknowns.len(), starts, indices, values);
        let factor = if unknowns.is_empty() {
            None
        } else {
            Some(SpdSolver::factor(&matrix)?)
        };
        Ok(Self {
            constants,
            factor,
            workspace: SolveWorkspace::default(),
        })
    }

    /// The constant of each spring.
    pub(crate) fn constants(&self) -> &[f64] {
        &self.constants
    }
}

impl Preconditioner for SpringLaplacian {
    fn apply(&mut self, vectors: &mut [DVec3]) {
        if let Some(factor) = &self.factor {
            factor.solve_points_in_place(vectors, &mut self.workspace);
        }
    }

    fn prepare(&mut self, state: &mut Equilibrium<'_>, tolerance: f64) {
        settle(state, tolerance);
    }
}
