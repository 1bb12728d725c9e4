//! Direct manipulation: slider weights computed from pins.
//!
//! A [`Poser`] prepares a rig once, [`Poser::grab`] prepares a set of pins, and [`Grab::solve`]
//! runs with every motion of the hand. A [`PoseSolver`] computes the weights: [`Bounded`] by
//! default, or one of the methods of Çetinaslan 2016.
//!
//! - [`Pin`], [`Aim`], [`Support`]: a surface point with a goal.
//! - [`Poser`]: a rig prepared for posing.
//! - `pin_discs`: geodesic discs around pins, cached.
//! - [`PinSystem`]: the linear system `B̄ Δw = m` of pins and sliders.
//! - [`Grab`], [`Pose`]: pins that are dragged, and the pose that results.
//! - [`DragPath`]: the poses along a path of the pins.
//! - [`Explanation`]: the contribution of each slider, and the part of a goal that is out of reach.
//! - [`PoseSolver`], [`Factored`]: the interface of the solvers.
//! - [`Bounded`]: the default solver, a sparse quadratic problem inside the slider limits.
//! - `cetinaslan2016`: pseudo-inverse, Tikhonov, localized, transpose and hybrid.

mod bounded;
mod cetinaslan2016;
mod drag_path;
mod explanation;
mod grab;
mod pin;
mod pin_discs;
mod pin_system;
mod poser;
mod solver;

#[cfg(test)]
mod tests;

pub(crate) use bounded::OwnedBoxTerms;
pub use bounded::{Bounded, BoxProblem};
pub use cetinaslan2016::{
    Hybrid, Localized, PseudoInverse, Tikhonov, Transpose, Units, weight_error,
};
pub use drag_path::DragPath;
pub use explanation::{Explanation, PinShare, SliderMove};
pub use grab::{Grab, PinResult, Pose, Range};
pub use pin::{Aim, Pin, Support};
pub use pin_system::PinSystem;
pub use poser::Poser;
pub use solver::{Factored, Outcome, PoseSolver, StepLimit};
