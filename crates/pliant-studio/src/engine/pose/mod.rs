//! Workers of the Pose room.
//!
//! - `residual_layer`: the displacement on top of the sliders, and the colours of the face.
//! - `mirror`: mirror pairs of vertices.
//! - `settle`: what the document keeps of a finished drag.

pub(crate) mod mirror;
pub(crate) mod residual_layer;
mod settle;
