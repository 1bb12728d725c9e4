//! A soft patch anywhere on a surface, pressed and pulled.

mod constraint_group;
mod lanes;
mod soft_mesh;
mod soft_region;

pub use soft_region::{SoftPatch, SoftRegion};
