//! Rig transfer: the blendshape targets of one rig on another mesh.
//!
//! - [`rig_transfer`]: deformation transfer of every shape.
//! - [`retarget`](mod@retarget): a performance that fits one rig, in the sliders of another.
//! - [`shape_pose`]: the poses that show targets, in-betweens and combinations.
//! - [`shape_report`]: the result, with a report and warnings for each shape.
//! - [`stationary_vertices`]: vertices that a shape does not move stay in place.
//! - [`closure`]: eyelids and lips that close in the source close in the target.
//! - [`closure_field`]: the smooth displacement that closes them.
//! - [`contact_points`]: points of a rig that its shapes bring together or take apart.
//! - [`contact_pairs`]: places of the source that come into contact in a pose.
//! - [`opening`]: the two rims of an eye or mouth opening in a plane section.
//! - [`fairing`]: displacements without detail below a length scale.

mod closure;
mod closure_field;
mod contact_pairs;
mod contact_points;
mod fairing;
mod opening;
mod retarget;
mod rig_transfer;
mod shape_pose;
mod shape_report;
mod stationary_vertices;

pub use contact_points::contact_points;
pub use retarget::{ContactReport, Retargeted, contact_report, retarget, retarget_options};
pub use rig_transfer::{RigTransfer, RigTransferOptions};
pub use shape_report::{ShapeReport, TransferredRig};
