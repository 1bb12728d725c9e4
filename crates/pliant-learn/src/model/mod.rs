//! Trained models: training, evaluation and storage.
//!
//! - `trained_model`: a trained model and its training.
//! - `driver`: evaluation of a model at positions of the control points.
//! - `driven_clip`: the clip that a model gives for a control track, with its `drive_report`.
//! - `confidence`: the expected error of each driven vertex.
//! - `model_file`: a model as a `safetensors` file.
//! - `appearance`: names, UV coordinates, colours, groups and materials in a model file.

mod appearance;
mod confidence;
mod drive_report;
mod driven_clip;
mod driver;
mod model_file;
#[cfg(test)]
mod tests;
mod trained_model;

pub use confidence::Confidence;
pub use drive_report::{DriveFindings, DriveReport};
pub use driven_clip::{DriveOptions, DrivenClip, DrivenError, shown_mesh};
pub use driver::{DrivenPose, Driver};
pub use trained_model::{Model, UnreachedControlPoint};
