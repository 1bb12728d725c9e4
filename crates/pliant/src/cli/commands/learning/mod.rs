//! Models from examples.
//!
//! - [`bones`]: skinning decomposition of a clip
//! - [`drive`]: a mesh from moving control points
//! - [`learn`]: train a model
//! - [`partial_log`]: results of a cancelled run, with which the next run continues
//! - [`register`]: scans as poses of one mesh
//! - [`validate`]: leave-one-out validation

pub(crate) mod bones;
pub(crate) mod drive;
pub(crate) mod learn;
mod partial_log;
pub(crate) mod register;
pub(crate) mod validate;
