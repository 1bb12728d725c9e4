//! The part of the document that belongs to touching.
//!
//! - `setup`: soft patches, simulation settings, recorded presses.
//! - `solid`: the collider that presses.
//! - `material`: named materials of the skin.
//! - `examples`: documents to start with.

mod examples;
mod material;
mod setup;
mod solid;

pub use examples::{examples, finger_on_a_chin, press_a_cheek};
pub use material::Preset;
pub use setup::{Method, Patch, RecordedPress, Setup, Simulation, SkinColoring, VertexPull};
pub(crate) use setup::{leave_baked, playing_baked};
pub use solid::{ColliderSetup, Form};
