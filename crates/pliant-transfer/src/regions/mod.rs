//! Regions of a mesh: the triangles that a layer animates, and their blend weights.
//!
//! - [`flexibility`]: how much each triangle deforms over a clip (Wang and Lee 2008, eq. 1).
//! - [`partition`]: stiff partitions between flexible triangles.
//! - [`stroke`]: the triangles under a stroke on the surface.
//! - [`blend_weights`](mod@blend_weights): a smooth weight per triangle from members and
//!   non-members of a region.
//! - [`region_weights`]: the weights of a selected region, by partitions or by a band.
//! - [`dual_graph`]: pairs of neighbouring triangles.

pub(crate) mod blend_weights;
pub(crate) mod dual_graph;
mod flexibility;
mod partition;
mod region_weights;
mod stroke;

pub use blend_weights::{BLEND_CONSTRAINT_WEIGHT, DEFAULT_BAND, blend_weights, geodesic_band};
pub use flexibility::Flexibility;
pub use partition::{Membership, Partitions};
pub use region_weights::{BorderBand, RegionSelection, StiffnessThreshold};
pub use stroke::stroke_triangles;
