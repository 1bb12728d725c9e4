//! New shapes and animations from given ones.
//!
//! - [`blend`]: shapes between shapes
//! - [`blend_report`]: the frames of a blend, with their warnings
//! - [`correspondence_report`]: the quality of a correspondence
//! - [`markers`]: check, suggest and mirror marker pairs
//! - [`shapes`]: the targets of one rig on another mesh
//! - [`transfer`]: the animation of one mesh on another
//! - [`transfer_report`]: the frames, contacts and intersections of a transfer

pub(crate) mod blend;
pub(crate) mod blend_report;
mod correspondence_report;
pub(crate) mod markers;
pub(crate) mod shapes;
pub(crate) mod transfer;
pub(crate) mod transfer_report;
