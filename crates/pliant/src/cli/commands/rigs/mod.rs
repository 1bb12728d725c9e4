//! Edit the targets of a rig.
//!
//! - [`mirror`]: mirror a pose, or make a rig symmetric
//! - [`rename`]: slider names of a published vocabulary
//! - [`split`]: a target as a left and a right one

pub(crate) mod mirror;
pub(crate) mod rename;
pub(crate) mod split;
