//! Deformation gradients blended in local frames, with hyper-parameters chosen by validation.
//!
//! - `blend`: the method: kernel ridge regression in each region, and a Poisson solve.
//! - `selection`: the search for the hyper-parameters with the least leave-one-out error.
//! - `decimated_validation`: that error, in closed form on a decimated copy of the examples.

mod blend;
mod decimated_validation;
mod selection;

#[cfg(test)]
pub(crate) use blend::{LocalBlend, LocalPoses};
pub(crate) use selection::{LocalBlendCandidates, TrainingMonitor};
