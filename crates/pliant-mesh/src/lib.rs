//! Authored polygon meshes and the geometry that deforms them.
//!
//! A [`Mesh`] keeps what an artist made (quads, UV seams, groups, names, vertex
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

mod bounds;
mod decimation;
mod deformation_gradient;
mod error;
mod exact_geodesic;
mod gradient;
mod health;
mod heat_geodesic;
mod intersection;
mod intrinsic;
mod laplacian;
mod measure;
mod mesh;
mod normals;
mod polar;
mod progress;
mod ray;
pub mod shapes;
mod smoothing;
mod spatial;
mod subdivision;
mod surface_point;
#[cfg(test)]
mod test_shapes;
mod topology;
mod vertex_means;
mod winding;

pub use bounds::Bounds;
pub use decimation::{Decimation, DecimationBudget, DecimationOptions, VertexPlacement};
pub use deformation_gradient::DeformationGradients;
pub use error::MeshError;
pub use exact_geodesic::{Disc, ExactGeodesics};
pub use glam;
pub use gradient::SurfaceGradient;
pub use health::Health;
pub use heat_geodesic::{
    HeatGeodesics, HeatOptions, HeatTriangulation, HeatVariant, HeatWorkspace,
};
pub use intrinsic::IntrinsicTriangulation;
pub use laplacian::{Laplacian, mean_value_laplacian};
pub use measure::{triangle_area, triangle_normal};
pub use mesh::{Corner, CornerLayer, FaceLabels, Mesh, MeshBuilder, VertexLayer};
pub use normals::{VertexNormals, triangle_normals, vertex_normals, vertex_normals_into};
pub use polar::Polar;
pub use progress::{Progress, ProgressPart};
pub use ray::nearest_ray_hit;
pub use smoothing::{Smoother, SmoothingBoundary, SmoothingOptions, SmoothingWeights};
pub use spatial::{ClosestPoint, RayHit, SurfaceIndex, closest_on_triangle};
pub use subdivision::{LoopSubdivision, LoopWeights};
pub use surface_point::{SurfacePoint, TrianglePoint};
pub use topology::{Rows, Topology};
pub use winding::WindingTree;
