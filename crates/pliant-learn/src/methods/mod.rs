//! Methods that predict a pose from control points.
//!
//! - `predictor`: the interface of all trained methods.
//! - `trainer`: training of any method on a subset of the examples.
//! - `local_blend`: our default, deformation gradients blended in local frames, with
//!   hyper-parameter selection.
//! - `huang2012`: rotations of abstract bones by local kernel CCA; its global variant is Feng 2008.
//! - `sumner2005`: mesh-based inverse kinematics (MeshIK).
//! - `sorkine2007`: as-rigid-as-possible deformation (ARAP), without examples.
//! - `poisson`: vertex positions from deformation gradients and control points.
//! - `residual_correction`: exact interpolation of the examples.
//! - `rotations`: quaternions with a unique sign, and rotation vectors.

mod huang2012;
mod local_blend;
mod poisson;
mod predictor;
mod residual_correction;
mod rotations;
mod sorkine2007;
mod sumner2005;
mod trainer;

pub(crate) use huang2012::{AbstractBones, BonePredictor};
pub(crate) use local_blend::TrainingMonitor;
#[cfg(test)]
pub(crate) use local_blend::{LocalBlend, LocalPoses};
pub use poisson::ControlConstraint;
pub(crate) use poisson::Poisson;
pub(crate) use predictor::Predictor;
pub(crate) use residual_correction::ResidualCorrection;
pub(crate) use rotations::with_positive_w;
pub(crate) use trainer::{Trained, Trainer};
