//! The three ways to balance springs, and what is kept between blends.
//!
//! **Problem.** Cheap steps serve most shapes, dear ones the soft and the crumpled; none knows
//! beforehand which it has.
//!
//! **Ours.** From cheap to dear, each only as far as it helps: quasi-Newton steps on the factored
//! Laplacian ([`crate::fast`]), then on two levels ([`crate::two_level`]) that are made anew when
//! they are out of date, then Newton's method ([`crate::newton`]). Where there are terms beside
//! springs, of which the first two know nothing, steps are on factors of the Hessian.

use pliant_linalg::LinalgError;

use crate::energy::Transverse;
use crate::equilibrium::Equilibrium;
use crate::fast::SpringLaplacian;
use crate::newton::Newton;
use crate::quasi_newton::relax;
use crate::rigid_modes::RigidModes;
use crate::two_level::TwoLevel;

/// How an equilibrium is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Solver {
    /// Quasi-Newton steps on a Laplacian that is factored once and, for what is soft, on rigid
    /// pieces, to 1e-3.
    #[default]
    Fast,
    /// The same to 1e-6.
    Tight,
    /// The paper's Newton–Raphson, a factorisation in every step, to 1e-6.
    Newton,
}

impl Solver {
    /// The largest force that may be left on a vertex, with `k = 1/r̄`.
    #[must_use]
    pub fn tolerance(self) -> f64 {
        match self {
            Self::Fast => 1e-3,
            Self::Tight | Self::Newton => 1e-6,
        }
    }
}

/// Steps on the Laplacian, which are cheap, before pieces are moved too: measured, bars take under
/// twenty to 1e-3 and a horse hundreds.
const LAPLACIAN_STEPS: usize = 15;
/// Below this residual a shape is nearly in balance, and its exact Hessian says what is soft.
const NEARLY: f64 = 1e-2;
/// Steps on two levels that were made further from it.
const FIRST_STEPS: usize = 8;
/// Steps on later ones: measured, new ones cost about four.
const ROUND_STEPS: usize = 40;
/// How often they are made before Newton's method takes over: ours, twice what the softest shapes
/// need.
const ROUNDS: usize = 10;
/// Factors of the Hessian where there are terms beside springs, and steps on each: ours, a factor
/// costs about as much as ten steps, and the first, made where tetrahedra may still be turned over,
/// is soon out of date.
const FACTORS: usize = 20;
const FIRST_FACTOR_STEPS: usize = 5;
const FACTOR_STEPS: usize = 15;
/// Samples are balanced to this share of the tolerance, so that what lies between them is within
/// it.
const SAMPLE_SHARE: f64 = 0.1;
/// Steps of Newton's method: ours, ten times what sound shapes need.
const NEWTON_STEPS: usize = 100;
/// The same where another solver has stalled.
const RESCUE_STEPS: usize = 20;

/// What the solvers keep between blends.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) laplacian: SpringLaplacian,
    newton: Newton,
    modes: RigidModes,
}

impl Engine {
    pub(crate) fn new(laplacian: SpringLaplacian, modes: RigidModes) -> Self {
        Self {
            laplacian,
            newton: Newton::default(),
            modes,
        }
    }

    /// Balances `state`. Where a solver stalls, Newton's method ends its work.
    pub(crate) fn balance(
        &mut self,
        solver: Solver,
        state: &mut Equilibrium<'_>,
    ) -> Result<(), LinalgError> {
        let tolerance = solver.tolerance();
        if solver == Solver::Newton {
            return self.newton.relax(state, tolerance, NEWTON_STEPS);
        }
        self.approach(state, tolerance, tolerance)?;
        self.newton.relax(state, tolerance, RESCUE_STEPS)
    }

    /// Balances `state` about to `tolerance`, as far as that is cheap.
    pub(crate) fn near(
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

    /// Balances `state` further than [`balance`](Self::balance) does, for others to start from, as
    /// far as that is cheap.
    pub(crate) fn sample(
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
        if !state.energy.further().follows_springs() {
            return self.approach_on_factors(state, tolerance);
        }
        // What touches is stiff beyond what the Laplacian knows: close to balance it only delays.
        if !state.is_pressed() || state.residual() > NEARLY {
            relax(state, &mut self.laplacian, tolerance, LAPLACIAN_STEPS);
        }
        if state.residual() <= tolerance {
            return Ok(());
        }
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

    /// The same with terms beside springs, of which the Laplacian and the pieces know nothing: on
    /// factors of the Hessian that are made anew when they are out of date.
    fn approach_on_factors(
        &mut self,
        state: &mut Equilibrium<'_>,
        tolerance: f64,
    ) -> Result<(), LinalgError> {
        for round in 0..FACTORS {
            if state.residual() <= tolerance {
                break;
            }
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
