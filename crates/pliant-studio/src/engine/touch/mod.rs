//! Workers of the Touch room.
//!
//! - `simulation`: soft skin, simulated while the window stays responsive.
//! - `skin_colors`: colours of the skin: softness, displacement, stretch, distance.
//! - `solid_placement`: size and position of the collider on a character.
//! - `bake`: the recorded press over the whole timeline, as a take.

pub(crate) mod bake;
pub(crate) mod simulation;
mod skin_colors;
mod solid_placement;

pub use simulation::{HeldSolid, TouchResult};
pub use skin_colors::SkinColors;
pub(crate) use solid_placement::default_radius;
