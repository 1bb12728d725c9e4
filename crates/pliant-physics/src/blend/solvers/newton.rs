//! Newton's method on the exact Hessian.
//!
//! **Problem.** The solver of Ma et al. 2012: quadratic convergence, one factorisation of the full
//! matrix per step.
//!
//! **Equation.** `H(x) δ = f(x)`, `x ← x + t δ`, until the largest force is within the tolerance.
//!
//! **Source.** Ma et al. 2012, section 3.2, eqs. 3–4.
//!
//! **Departures.** A line search shortens the step where the energy would rise. Where the matrix is
//! not positive definite, the transverse terms of compressed springs are left out for that step. A
//! shift far below the stiffness of a spring fixes free rotations, along which there is no force
//! either.

use std::sync::Arc;

use pliant_linalg::{LinalgError, SpdSolver, Symbolic};

use crate::blend::energy::Transverse;
use crate::blend::solvers::Equilibrium;
use crate::blend::solvers::Preconditioner;
use crate::blend::solvers::hessian_factor::HessianFactor;

/// Shares of the diagonal that are added, one after another, until the matrix can be factored;
/// compressed springs keep their transverse term in the first attempt only.
const SHIFTS: [(Transverse, f64); 3] = [
    (Transverse::Exact, 1e-10),
    (Transverse::Projected, 1e-8),
    (Transverse::Projected, 1e-4),
];

/// Newton's method; it keeps the elimination order of the unknowns between steps.
#[derive(Debug, Default)]
pub(crate) struct Newton {
    symbolic: Option<Arc<Symbolic>>,
}

impl Newton {
    /// At most `limit` steps, until the residual is at most `tolerance`.
    pub(crate) fn relax(
        &mut self,
        state: &mut Equilibrium<'_>,
        tolerance: f64,
        limit: usize,
    ) -> Result<(), LinalgError> {
        for _ in 0..limit {
            if state.residual() <= tolerance {
                return Ok(());
            }

            // Solve H δ = f in the allowed directions.
            let mut factor = self.factor(state)?;
            let mut direction = state.forces.clone();
            factor.apply(&mut direction);
            state.support.project(&mut direction);
            if state.step(&direction).is_none() {
                return Ok(());
            }
        }

        Ok(())
    }

    /// The factor of the Hessian at `state`, or of the nearest matrix that has one.
    pub(crate) fn factor(&mut self, state: &Equilibrium<'_>) -> Result<HessianFactor, LinalgError> {
        let mut failure = None;
        for (transverse, shift) in SHIFTS {
            let hessian = state
                .energy
                .hessian(&state.positions, state.support, transverse, shift);
            // Contacts couple vertices that no spring joins, so the pattern may change.
            match SpdSolver::factor_keeping(&mut self.symbolic, &hessian) {
                Ok(factor) => {
                    return Ok(HessianFactor::new(
                        factor,
                        state
                            .energy
                            .elements()
                            .columns(&state.positions, state.support),
                    ));
                }
                Err(error) => failure = Some(error),
            }
        }

        Err(failure.expect("a failed attempt left its error"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blend::energy::Spring;
    use crate::blend::energy::SpringEnergy;
    use crate::blend::energy::Support;
    use pliant_mesh::glam::DVec3;

    /// A vertex between two held ones.
    fn hanging(rest: f64) -> (SpringEnergy, Support) {
        let spring = Spring {
            rest,
            stiffness: 1.0 / rest,
        };
        (
            SpringEnergy::new(3, &[[0, 1], [1, 2]], &[spring; 2]),
            Support::holding(&[true, false, true]),
        )
    }

    #[test]
    fn the_residual_converges_quadratically() {
        let (energy, support) = hanging(0.5);
        let mut state = Equilibrium::start(
            &energy,
            &support,
            vec![DVec3::NEG_X, DVec3::new(0.3, 0.2, 0.1), DVec3::X],
        );

        // One step at a time, to record every residual.
        let mut residuals = Vec::new();
        while state.residual() > 1e-13 && residuals.len() < 10 {
            residuals.push(state.residual());
            Newton::default().relax(&mut state, 1e-13, 1).unwrap();
        }

        assert!(residuals.len() < 7, "{residuals:?}");
        assert!(
            residuals
                .windows(2)
                .skip(1)
                .all(|r| r[1] < 3.0 * r[0] * r[0] + 1e-12),
            "{residuals:?}"
        );

        assert!(
            state.positions[1].length() < 1e-12,
            "midway between the ends"
        );
    }

    #[test]
    fn compressed_springs_buckle_instead_of_stopping_at_a_maximum() {
        let (energy, support) = hanging(1.25);
        let mut state = Equilibrium::start(
            &energy,
            &support,
            vec![DVec3::NEG_X, DVec3::new(0.0, 1e-3, 0.0), DVec3::X],
        );

        Newton::default().relax(&mut state, 1e-10, 100).unwrap();
        assert!(state.residual() <= 1e-10);
        assert!(
            (state.positions[1].y - 0.75).abs() < 1e-9,
            "the third side of a triangle of 1 and 1.25: {}",
            state.positions[1]
        );
    }
}
