//! A soft patch anywhere on a surface, pressed and pulled.

mod area;
mod bend;
mod blocks;
mod column;
mod constraint_group;
mod elements;
mod lanes;
mod shear;
mod soft_body;
mod soft_material;
mod soft_mesh;
mod soft_region;
mod stretch;

pub use soft_region::{SoftPatch, SoftRegion};
