//! Workers of the Blend room.
//!
//! - `equilibrium`: blended shapes, computed while the window stays responsive.
//! - `assembly`: progress of the assembly of the springs.
//! - `arrivals`: files that become shapes.

pub(crate) mod arrivals;
pub(crate) mod assembly;
pub(crate) mod equilibrium;

pub use equilibrium::{BlendBase, BlendResult, BlendSide, Solved};
pub use pliant::physics::BlendMetrics as Figures;
