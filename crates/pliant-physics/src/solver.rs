//! The three ways to balance springs, and what is kept between blends.

use pliant_linalg::LinalgError;
use pliant_mesh::glam::DQuat;

use crate::equilibrium::Equilibrium;
use crate::fast::SpringLaplacian;
use crate::newton::Newton;
use crate::quasi_newton::relax;
use crate::tight::WarpedHessian;

/// How an equilibrium is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Solver {
    /// Quasi-Newton steps on a Laplacian that is factored once, to 1e-3.
    #[default]
    Fast,
    /// Quasi-Newton steps on a Hessian that is factored once and turned with the shape, to 1e-6.
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

/// Steps on the Laplacian before Newton's method takes over: ours, ten times what sound shapes need.
const FAST_STEPS: usize = 300;
/// A sample that takes more steps than this on the Laplacian is soft: there the Hessian comes closer at a lower price. Measured on
/// bars, which take under twenty, and on a horse, which takes hundreds.
const FIRM_STEPS: usize = 60;
/// Up to so many unknown points the fast solver samples on a Hessian, whose factor has about a thousand numbers for each.
const MOST_POINTS: usize = 15_000;
/// Steps on one factored Hessian before it is made anew: measured, a new one costs about as much as these.
const TIGHT_STEPS: usize = 12;
/// How often it is made anew before Newton's method takes over.
const TIGHT_ROUNDS: usize = 4;
/// Samples are balanced to this share of the tolerance, so that what lies between them is within it.
const SAMPLE_SHARE: f64 = 0.1;
/// Steps of Newton's method: ours, ten times what sound shapes need.
const NEWTON_STEPS: usize = 100;
/// To this residual the Laplacian brings a shape cheaply, so that its Hessian is that of a shape nearly in balance.
const NEARLY: f64 = 1e-2;

/// What the solvers keep between blends.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) laplacian: SpringLaplacian,
    newton: Newton,
    hessian: Option<WarpedHessian>,
}

impl Engine {
    pub(crate) fn new(laplacian: SpringLaplacian) -> Self {
        Self { laplacian, newton: Newton::default(), hessian: None }
    }

    /// Balances `state`, whose unknowns are turned by `rotations`. Where a solver stalls, Newton's method ends its work.
    pub(crate) fn balance(&mut self, solver: Solver, state: &mut Equilibrium<'_>, rotations: &[DQuat]) -> Result<(), LinalgError> {
        let tolerance = solver.tolerance();
        self.approach(solver, state, rotations, tolerance)?;
        self.newton.relax(state, tolerance, NEWTON_STEPS)
    }

    /// Comes as close to `tolerance` as `solver` can by itself.
    fn approach(&mut self, solver: Solver, state: &mut Equilibrium<'_>, rotations: &[DQuat], tolerance: f64) -> Result<(), LinalgError> {
        match solver {
            Solver::Fast => relax(state, &mut self.laplacian, tolerance, FAST_STEPS),
            Solver::Tight => self.balance_tightly(state, rotations, tolerance)?,
            Solver::Newton => {}
        }
        Ok(())
    }

    /// Balances `state` further than [`balance`](Self::balance) does, for others to start from, as far as that is cheap.
    pub(crate) fn sample(&mut self, solver: Solver, state: &mut Equilibrium<'_>, rotations: &[DQuat]) -> Result<(), LinalgError> {
        let tolerance = SAMPLE_SHARE * solver.tolerance();
        if solver == Solver::Fast && state.forces.len() <= MOST_POINTS {
            relax(state, &mut self.laplacian, tolerance, FIRM_STEPS);
            return self.balance_tightly(state, rotations, tolerance);
        }
        self.approach(solver, state, rotations, tolerance)
    }

    /// Frees what the fast solver needs for samples only.
    pub(crate) fn end_sampling(&mut self, solver: Solver) {
        if solver == Solver::Fast {
            (self.hessian, self.newton) = (None, Newton::default());
        }
    }

    fn balance_tightly(&mut self, state: &mut Equilibrium<'_>, rotations: &[DQuat], tolerance: f64) -> Result<(), LinalgError> {
        if state.residual() <= tolerance {
            return Ok(());
        }
        for _ in 0..TIGHT_ROUNDS {
            let mut hessian = match self.hessian.take() {
                Some(hessian) => hessian,
                None => {
                    relax(state, &mut self.laplacian, NEARLY, TIGHT_STEPS);
                    WarpedHessian::new(self.newton.factor(state)?, rotations.to_vec())
                }
            };
            hessian.turn(rotations);
            relax(state, &mut hessian, tolerance, TIGHT_STEPS);
            if state.residual() <= tolerance {
                self.hessian = Some(hessian);
                return Ok(());
            }
        }
        Ok(())
    }
}
