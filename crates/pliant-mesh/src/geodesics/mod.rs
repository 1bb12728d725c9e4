//! Distances along the surface.
//!
//! - [`heat`]: the heat method, one factorisation for many sources (Crane et al. 2013)
//! - [`exact`]: exact geodesic discs by window propagation
//! - [`edge_distance`]: shortest paths over edges (Dijkstra)

mod edge_distance;
mod exact;
mod heat;

pub use edge_distance::{edge_path, lower_edge_distances};
pub use exact::{Disc, ExactGeodesics};
pub use heat::{HeatGeodesics, HeatOptions, HeatTriangulation, HeatVariant, HeatWorkspace};
