//! The polygon mesh, its topology and its measures.
//!
//! - [`mesh`]: [`Mesh`], authored polygons with their attributes and a fan triangulation
//! - [`topology`]: edges, neighbours, boundary loops and connected components
//! - [`mesh_report`]: counts of defects, for `pliant info`
//! - [`bounds`], [`measure`], [`normals`], [`vertex_means`]: sizes, areas, normals, averages
//! - [`surface_point`]: points on vertices and in triangles
//! - [`vertex_id`]: the index of a vertex as a type

pub(crate) mod bounds;
pub(crate) mod measure;
pub(crate) mod mesh;
pub(crate) mod mesh_report;
pub(crate) mod normals;
pub(crate) mod surface_point;
pub(crate) mod topology;
pub(crate) mod vertex_id;
pub(crate) mod vertex_means;

pub use bounds::Bounds;
pub use measure::{triangle_area, triangle_normal};
pub use mesh::{Corner, CornerLayer, FaceLabels, Mesh, MeshBuilder, VertexLayer};
pub use mesh_report::MeshReport;
pub(crate) use mesh_report::is_degenerate_triangle;
pub use normals::{VertexNormals, triangle_normals, vertex_normals, vertex_normals_into};
pub use surface_point::{SurfacePoint, TrianglePoint};
pub use topology::{Rows, Topology};
pub use vertex_id::VertexId;
