//! Pose and touch a character.
//!
//! - [`invert`]: slider curves from a moving mesh or from markers
//! - [`pose`]: slider weights from pins
//! - [`pose_output`]: files and report of a solved pose, for `pose` and `sketch`
//! - [`residual`]: the residual layer on top of a pose
//! - [`sketch`]: slider weights from strokes
//! - [`sketch_stroke`]: a stroke as pins on the current pose
//! - [`touch`]: soft patches under colliders and pulls

pub(crate) mod invert;
pub(crate) mod pose;
mod pose_output;
mod residual;
pub(crate) mod sketch;
mod sketch_stroke;
pub(crate) mod touch;
