//! Edit the targets of a rig, and repair assets.
//!
//! - [`mirror`]: mirror a pose, or make a rig symmetric
//! - [`repair`]: vertex orders, twins, degenerate faces, orientations, components
//! - [`rename`]: slider names of a published vocabulary
//! - [`split`]: a target as a left and a right one

pub(crate) mod mirror;
pub(crate) mod rename;
pub(crate) mod repair;
pub(crate) mod split;
