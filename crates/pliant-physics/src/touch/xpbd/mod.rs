//! Extended position-based dynamics (XPBD) of soft skin.
//!
//! The constraints are [`stretch`] of edges, [`shear`] and [`area`] of triangles, [`bend`] of
//! hinges, and the volume of the layer under the skin, [`volume_layer`]. The other modules move the
//! particles:
//!
//! - [`elements`]: all constraints of a set of particles, with their compliances.
//! - [`cluster`]: particles with their elements.
//! - [`partition`]: the division of the nodes into blocks.
//! - [`block`]: time steps of the particles of one block.
//! - [`block_interface`]: constraints between blocks.
//! - [`pull`]: the neighbourhood of a vertex that the user pulls.
//! - [`soft_body`]: all blocks of a soft region, frame by frame.

pub(crate) mod area;
pub(crate) mod bend;
pub(crate) mod block;
pub(crate) mod block_interface;
pub(crate) mod cluster;
#[cfg(test)]
mod constraint_tests;
pub(crate) mod elements;
pub(crate) mod partition;
pub(crate) mod pull;
pub(crate) mod shear;
pub(crate) mod soft_body;
pub(crate) mod stretch;
pub(crate) mod volume_layer;
