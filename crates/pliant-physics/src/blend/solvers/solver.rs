//! Choice of the equilibrium solver, from cheap steps to Newton's method.
//!
//! **Problem.** Cheap steps suffice for most shapes, expensive ones are needed for soft and
//! crumpled shapes; which kind a shape is, is not known in advance.
//!
//! **Departures.** Solvers run from cheap to expensive, each only as far as it helps: quasi-Newton
//! steps on the factored Laplacian ([`crate::blend::solvers::spring_laplacian`]), then on a
//! two-level preconditioner ([`crate::blend::solvers::two_level`]) that is rebuilt when it is out
//! of date, then Newton's method ([`crate::blend::solvers::newton`]). The first two ignore all
//! terms other than springs; with such terms, the steps use factors of the Hessian.

use pliant_linalg::LinalgError;

use crate::blend::energy::Transverse;
use crate::blend::solvers::Equilibrium;
use crate::blend::solvers::RigidModes;
use crate::blend::solvers::SpringLaplacian;
use crate::blend::solvers::newton::Newton;
use crate::blend::solvers::quasi_newton::relax;
use crate::blend::solvers::two_level::TwoLevel;

/// The solver and its tolerance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Solver {
    /// Quasi-Newton steps on a prefactored Laplacian and, for soft shapes, on rigid aggregates, to
    /// 1e-3.
    #[default]
    Fast,
    /// The same to 1e-6.
    Tight,
    /// Newton–Raphson as in Ma et al. 2012, with a factorisation in every step, to 1e-6.
    Newton,
}

impl Solver {
    /// The largest force on a vertex at convergence, in units of `k = 1/r̄`.
    #[must_use]
    pub fn tolerance(self) -> f64 {
        match self {
            Self::Fast => 1e-3,
            Self::Tight | Self::Newton => 1e-6,
        }
    }
}

/// Steps on the Laplacian, which are cheap, before the two-level preconditioner. Measured: bars
/// take under twenty to 1e-3, a horse hundreds.
const LAPLACIAN_STEPS: usize = 15;
/// Below this residual the shape is near equilibrium, and the exact Hessian shows its soft
/// directions.
const NEARLY: f64 = 1e-2;
/// Steps on a two-level preconditioner that was built further from equilibrium.
const FIRST_STEPS: usize = 8;
/// Steps on later ones. Measured: a new one costs about four steps.
const ROUND_STEPS: usize = 40;
/// Two-level preconditioners before Newton's method takes over. Chosen: twice what the softest
/// shapes need.
const ROUNDS: usize = 10;
/// Factors of the Hessian with terms other than springs, and the steps on each. Chosen: a factor
/// costs about ten steps, and the first one, built where tetrahedra may still be inverted, is soon
/// out of date.
const FACTORS: usize = 20;
const FIRST_FACTOR_STEPS: usize = 5;
const FACTOR_STEPS: usize = 15;
/// Samples are solved to this share of the tolerance, so that interpolated values are within the
/// tolerance.
const SAMPLE_SHARE: f64 = 0.1;
/// Steps of Newton's method. Chosen: ten times what valid shapes need.
const NEWTON_STEPS: usize = 100;
/// Steps of Newton's method after another solver has stalled.
const RESCUE_STEPS: usize = 20;

/// What the solvers keep between solves.
#[derive(Debug)]
pub(crate) struct SolverState {
    pub(crate) laplacian: SpringLaplacian,
    newton: Newton,
    modes: RigidModes,
}

impl SolverState {
    pub(crate) fn new(laplacian: SpringLaplacian, modes: RigidModes) -> Self {
        Self {
            laplacian,
            newton: Newton::default(),
            modes,
        }
    }

    /// Solves to the tolerance of `solver`. Where the cheap steps stall, Newton's method continues.
    pub(crate) fn solve(
        &mut self,
        solver: Solver,
        state: &mut Equilibrium<'_>,
    ) -> Result<(), LinalgError> {
        // Newton as in Ma et al. 2012, or the cheap steps with Newton as a last resort.
        let tolerance = solver.tolerance();
        if solver == Solver::Newton {
            return self.newton.relax(state, tolerance, NEWTON_STEPS);
        }
        self.approach(state, tolerance, tolerance)?;
        self.newton.relax(state, tolerance, RESCUE_STEPS)
    }

    /// Solves about to `tolerance`, as far as that is cheap.
    pub(crate) fn solve_roughly(
        &mut self,
        solver: Solver,
        state: &mut Equilibrium<'_>,
        tolerance: f64,
    ) -> Result<(), LinalgError> {
        if solver == Solver::Newton {
            self.newton.relax(state, tolerance, RESCUE_STEPS)
        } else {
            self.approach(state, tolerance, tolerance)
        }
    }

    /// Solves more accurately than [`solve`](Self::solve), as far as that is cheap.
    pub(crate) fn solve_sample(
        &mut self,
        solver: Solver,
        state: &mut Equilibrium<'_>,
    ) -> Result<(), LinalgError> {
        self.approach(state, SAMPLE_SHARE * solver.tolerance(), solver.tolerance())
    }

    /// Quasi-Newton steps towards `tolerance`; no further round begins once the residual is at most
    /// `enough`.
    fn approach(
        &mut self,
        state: &mut Equilibrium<'_>,
        tolerance: f64,
        enough: f64,
    ) -> Result<(), LinalgError> {
        if !state.energy.elements().follows_springs() {
            return self.approach_on_factors(state, tolerance);
        }

        // The Laplacian ignores the stiffness of contacts: near equilibrium it only delays.
        if !state.is_in_contact() || state.residual() > NEARLY {
            relax(state, &mut self.laplacian, tolerance, LAPLACIAN_STEPS);
        }
        if state.residual() <= tolerance {
            return Ok(());
        }

        // Far from equilibrium the exact Hessian is indefinite and soon out of date.
        for round in 0..ROUNDS {
            let (transverse, steps) = if round == 0 && state.residual() > NEARLY {
                (Transverse::Projected, FIRST_STEPS)
            } else {
                (Transverse::Exact, ROUND_STEPS)
            };
            let mut levels =
                TwoLevel::factor(&mut self.modes, &mut self.laplacian, state, transverse)?;

            relax(state, &mut levels, tolerance, steps);
            if state.residual() <= enough {
                break;
            }
        }

        Ok(())
    }

    /// Quasi-Newton steps with terms other than springs, on factors of the Hessian that are rebuilt
    /// when they are out of date.
    fn approach_on_factors(
        &mut self,
        state: &mut Equilibrium<'_>,
        tolerance: f64,
    ) -> Result<(), LinalgError> {
        for round in 0..FACTORS {
            if state.residual() <= tolerance {
                break;
            }

            // The first factor may be of a state with inverted tetrahedra, and is soon out of date.
            let steps = if round == 0 {
                FIRST_FACTOR_STEPS
            } else {
                FACTOR_STEPS
            };
            let mut factor = self.newton.factor(state)?;

            relax(state, &mut factor, tolerance, steps);
        }

        Ok(())
    }
}
