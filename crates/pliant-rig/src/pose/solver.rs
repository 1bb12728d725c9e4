//! Interface of the solvers that compute slider weights from pins.

use std::fmt::Debug;

use pliant_mesh::glam::DVec3;

use super::PinSystem;
use crate::RigError;

/// A method that computes slider weights from displacements of pins.
pub trait PoseSolver: Debug + Send + Sync {
    /// Its name, the value of `pliant pose --method`.
    fn name(&self) -> &'static str;

    /// Computes all that depends only on where the pins are.
    fn factor(&self, system: &PinSystem) -> Result<Box<dyn Factored>, RigError>;
}

/// A solver that is factorised for a set of pins.
pub trait Factored: Debug + Send {
    /// Writes the weights that move the pins by `displacements` from the pose of the system.
    ///
    /// Solvers that support it keep every weight within `step_limit`; others ignore it.
    fn solve(
        &mut self,
        system: &PinSystem,
        displacements: &[DVec3],
        step_limit: Option<StepLimit<'_>>,
        weights: &mut [f64],
    ) -> Outcome;

    /// Clears the warm start, if the solver has one.
    fn reset(&mut self) {}

    /// Whether the weights are always inside the limits of the sliders.
    fn keeps_limits(&self) -> bool {
        false
    }
}

/// A bound on the change of every weight in one solve.
#[derive(Debug, Clone, Copy)]
pub struct StepLimit<'a> {
    /// The weights from which the change is measured, one for each slider.
    pub weights: &'a [f64],
    /// The largest change of a weight.
    pub step: f64,
}

/// How a solve ended.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// The KKT residual, relative to the largest force on a slider; `None` for methods without
    /// optimality conditions.
    pub kkt: Option<f64>,
    /// Iterations.
    pub iterations: usize,
    /// Sliders at a limit that the goals push further.
    pub held: Vec<usize>,
}
