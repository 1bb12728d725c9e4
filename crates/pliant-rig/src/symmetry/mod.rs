//! Symmetry: mirror plane, mirrored vertices, mirrored sliders and split targets.
//!
//! - [`MirrorPlane`]: the plane of symmetry of a mesh.
//! - [`VertexMirror`]: the mirror image of each vertex; it also mirrors pins.
//! - [`SliderPairs`]: the mirror image of each slider.
//! - [`mirror_rig`], [`symmetric_rig`]: mirrored and symmetric rigs.
//! - [`split_rig`], [`split_target`]: left and right halves of a target.
//! - [`SideStyle`]: how a rig writes left and right into its names.

mod mirror_plane;
mod mirrored_pins;
mod mirrored_rig;
mod side_style;
mod slider_pairs;
mod split;
mod vertex_mirror;

pub use mirror_plane::MirrorPlane;
pub use mirrored_rig::{mirror_rig, symmetric_rig};
pub use side_style::SideStyle;
pub use slider_pairs::SliderPairs;
pub use split::{SplitOptions, SplitRig, front_side, split_rig, split_target, splittable_targets};
pub use vertex_mirror::VertexMirror;
