//! Distances and regions on the reference mesh.
//!
//! - `edge_distance`: shortest paths along edges (Dijkstra).
//! - `regions`: connected regions around farthest-first seeds.
//! - `region_blend`: smooth interpolation of one value per region to all vertices.

mod edge_distance;
mod region_blend;
mod regions;

pub(crate) use edge_distance::{across_components, distances_from, relax_from};
pub(crate) use region_blend::RegionBlend;
pub(crate) use regions::Regions;
