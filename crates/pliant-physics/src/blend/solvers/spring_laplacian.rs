//! Prefactored Laplacian of the springs, as a preconditioner.
//!
//! **Problem.** Interactive speed: one factor of `n` unknowns for all weights, in place of one of
//! `3 n` unknowns per step.
//!
//! **Equation.** The Laplacian of the springs, one number per spring,
//!
//! ```text
//! L = Σ k (eᵢ − eⱼ)(eᵢ − eⱼ)ᵀ
//! ```
//!
//! is the matrix of projective dynamics: `L ⊗ I` bounds the Hessian from above for all rotations.
//! It is the initial matrix of the quasi-Newton method.
//!
//! **Source.** Liu, Bargteil, O'Brien, Kavan, "Fast simulation of mass-spring systems", 2013,
//! section 4; Liu, Bouaziz, Kavan 2017.
//!
//! **Departures.** The constants are those of the mean of all shapes, so that one factor serves
//! every blend.

use pliant_linalg::{LinalgError, SolveWorkspace, SparseMatrix, SpdSolver};
use pliant_mesh::glam::DVec3;

use crate::blend::energy::Spring;
use crate::blend::energy::SpringEnergy;
use crate::blend::energy::Support;
use crate::blend::solvers::Equilibrium;
use crate::blend::solvers::Preconditioner;
use crate::blend::solvers::nonlinear_elimination::eliminate_worst;

/// The factored Laplacian of springs over the unknown vertices.
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
        let mut starts = vec![0];
        let mut indices = Vec::new();
        let mut values = Vec::new();
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

            // Columns ascend: the diagonal is inserted between its neighbours.
            let at = first + indices[first..].partition_point(|&column| column < unknown as u32);
            indices.insert(at, unknown as u32);
            values.insert(at, diagonal);
            starts.push(indices.len());
        }

        // A shape with all vertices held has no unknowns.
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
        eliminate_worst(state, tolerance);
    }
}
