//! Authored polygon meshes and the geometry that deforms them.
//!
//! A [`Mesh`] keeps the authored data (quads, UV seams, groups, names, vertex
//! order) beside a fan triangulation that every operator uses.
//!
//! ```
//! use pliant_mesh::{Mesh, glam::DVec3};
//!
//! let square = Mesh::from_polygons(
//!     vec![DVec3::ZERO, DVec3::X, DVec3::new(1.0, 1.0, 0.0), DVec3::Y],
//!     &[vec![0, 1, 2, 3]],
//! )?;
//! assert_eq!(square.triangles(), &[[0, 1, 2], [0, 2, 3]]);
//! assert_eq!(square.topology().boundary_loops().len(), 1);
//! assert_eq!(square.area(), 1.0);
//! # Ok::<(), pliant_mesh::MeshError>(())
//! ```

mod error;
mod geodesics;
mod operators;
mod progress;
mod queries;
mod remeshing;
pub mod shapes;
mod surface;
#[cfg(test)]
mod test_progress;
#[cfg(test)]
mod test_shapes;

pub use error::MeshError;
pub use geodesics::{
    Disc, ExactGeodesics, HeatGeodesics, HeatOptions, HeatTriangulation, HeatVariant,
    HeatWorkspace, edge_path, lower_edge_distances,
};
pub use glam;
pub use operators::{
    DeformationGradients, IntrinsicTriangulation, Laplacian, Polar, SurfaceGradient,
    mean_value_laplacian,
};
pub use progress::{Progress, ProgressPart, Stopped, map_with_progress};
pub use queries::{
    ClosestPoint, RayHit, SurfaceIndex, WindingTree, closest_on_triangle, nearest_ray_hit,
};
pub use remeshing::{
    Decimation, DecimationBudget, DecimationOptions, FaceOrientation, LoopSubdivision, LoopWeights,
    MeshEdit, Smoother, SmoothingBoundary, SmoothingOptions, SmoothingWeights, VertexPlacement,
    degenerate_faces,
};
pub use surface::{
    Bounds, Corner, CornerLayer, FaceLabels, Mesh, MeshBuilder, MeshReport, Rows, SurfacePoint,
    Topology, TrianglePoint, VertexId, VertexLayer, VertexNormals, triangle_area, triangle_normal,
    triangle_normals, vertex_normals, vertex_normals_into,
};
