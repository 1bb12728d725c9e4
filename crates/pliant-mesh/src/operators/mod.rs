//! Discrete differential operators on triangle meshes.
//!
//! - [`laplacian`]: cotangent and mean-value Laplacians with lumped masses
//! - [`intrinsic_triangulation`]: a Delaunay triangulation of the same surface, for bad triangles
//! - [`gradient`]: gradient and divergence of functions on the surface
//! - [`deformation_gradient`]: the linear map of every triangle from one pose to another
//! - [`polar`]: rotation and stretch of a linear map

mod deformation_gradient;
mod gradient;
mod intrinsic_triangulation;
mod laplacian;
mod polar;

pub use deformation_gradient::DeformationGradients;
pub use gradient::SurfaceGradient;
pub use intrinsic_triangulation::IntrinsicTriangulation;
pub use laplacian::{Laplacian, mean_value_laplacian};
pub use polar::Polar;
