//! Closest points, ray hits, intersections and inside tests.
//!
//! - [`surface_index`]: closest points and ray hits by a bounding volume hierarchy
//! - [`ray`]: the nearest hit without an index
//! - [`intersection`]: triangles that intersect each other
//! - [`winding`]: generalised winding numbers, for inside and outside

pub(crate) mod intersection;
pub(crate) mod ray;
pub(crate) mod surface_index;
mod winding;

pub use ray::nearest_ray_hit;
pub use surface_index::{ClosestPoint, RayHit, SurfaceIndex, closest_on_triangle};
pub use winding::WindingTree;
