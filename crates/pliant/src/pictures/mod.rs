//! Pictures of meshes and markers.
//!
//! - [`Look`] and [`Shot`] (from `pliant-view`): how a mesh is painted, and from where it is seen.
//! - [`marker_picture`]: markers on the two meshes that they join.

mod marker_picture;

pub use marker_picture::{MarkerPictureError, marker_picture};
pub use pliant_view::{Look, Shot};
