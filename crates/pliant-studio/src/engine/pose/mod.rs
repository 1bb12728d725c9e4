//! Workers of the Pose room.
//!
//! - `residual_layer`: the displacement on top of the sliders, and the colours of the face.
//! - `mirror`: mirror pairs of vertices.
//! - `pose_file`: pose libraries as files; `pose_pictures`: their pictures.
//! - `onion_skins`: ghosts of other poses.
//! - `settle`: what the document keeps of a finished drag.

pub(crate) mod mirror;
pub(crate) mod onion_skins;
pub mod pose_file;
pub(crate) mod pose_pictures;
pub(crate) mod residual_layer;
mod settle;
