//! Look at assets, measure and convert them.
//!
//! - [`bake`]: detail as displacement and normal maps
//! - [`convert`]: between file formats
//! - [`flexibility`]: how much each triangle deforms relative to its neighbours
//! - [`geodesic`]: distances along the surface
//! - [`info`]: content of a file and warnings about it
//! - [`pick`]: vertices by place, pixel, slider or landmark
//! - [`render`]: pictures of an asset
//! - `render_frames`: some frames of a clip, as an animation or a folder of pictures

pub(crate) mod bake;
pub(crate) mod convert;
pub(crate) mod flexibility;
pub(crate) mod geodesic;
pub(crate) mod info;
pub(crate) mod pick;
pub(crate) mod render;
pub(crate) mod render_frames;
