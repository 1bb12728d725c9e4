//! Left and right: the plane between them, mirrored vertices and sliders, and targets split in two.

mod mirror;
mod mirror_plane;
mod mirrored_pins;
mod point_grid;
mod split;
mod vertex_mirror;

pub use mirror::{SliderPairs, mirror_rig, symmetric_rig};
pub use mirror_plane::MirrorPlane;
pub use split::{SplitOptions, SplitRig, front_side, split_rig, split_target, splittable_targets};
pub use vertex_mirror::VertexMirror;
