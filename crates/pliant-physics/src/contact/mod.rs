//! Contact of blended shapes with obstacles and with themselves.
//!
//! - [`obstacle`]: solids with a signed distance; [`obstacle_motion`]: their rigid motion.
//! - [`contact_set`]: the active set of vertices that touch one obstacle, with friction.
//! - [`normal_forces`]: the forces on a vertex that touches several obstacles.
//! - [`face_contact`]: contact of faces with thin obstacles.
//! - [`self_contact`]: contact of the surface with itself; [`collision_bound`] limits its search.
//! - [`contact_blend`]: a blend whose frames respect all of these.

pub(crate) mod collision_bound;
pub(crate) mod contact_blend;
pub(crate) mod contact_set;
pub(crate) mod face_contact;
pub(crate) mod normal_forces;
pub(crate) mod obstacle;
pub(crate) mod obstacle_motion;
pub(crate) mod self_contact;

pub use contact_blend::{ContactBlend, ContactFrame, ContactMethod, ContactOptions};
pub use obstacle::{Contact, Obstacle};
pub use obstacle_motion::ObstacleMotion;
