//! Pictures of meshes and markers.
//!
//! - [`Look`] and [`Shot`] (from `pliant-view`): how a mesh is painted, and from where it is seen.
//! - [`materials`]: the materials of an asset as paint.
//! - [`LabelledVertices`]: vertices of a mesh with dots and labels.
//! - [`marker_picture`]: markers on the two meshes that they join.

mod labelled_vertices;
mod marker_picture;
mod materials;

pub use labelled_vertices::{LabelledVertices, VertexPictureError};
pub use marker_picture::marker_picture;
pub use materials::materials;
pub use pliant_view::{Look, Shot};
