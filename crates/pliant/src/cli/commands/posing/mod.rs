//! Pose and touch a character.
//!
//! - [`drag`]: `pose --path`, a drag as a clip
//! - [`invert`]: slider curves from a moving mesh or from markers
//! - [`listen`]: a live performance on a rig, recorded
//! - [`play`]: a performance on a rig
//! - [`pose`]: slider weights from pins
//! - [`pose_output`]: files and report of a solved pose, for `pose` and `sketch`
//! - [`residual`]: the residual layer on top of a pose
//! - [`sketch`]: slider weights from strokes
//! - [`sketch_stroke`]: a stroke as pins on the current pose
//! - [`touch`]: soft patches under colliders and pulls

pub(crate) mod drag;
pub(crate) mod invert;
pub(crate) mod listen;
pub(crate) mod play;
pub(crate) mod pose;
mod pose_output;
mod residual;
pub(crate) mod sketch;
mod sketch_stroke;
pub(crate) mod touch;
