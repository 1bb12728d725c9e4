//! The blendshape targets of the head and a performance that uses them.
//!
//! - [`face`]: measurements of the neutral head, and the falloffs that targets share
//! - [`lids`], [`jaw`], [`lips`], [`brow_muscles`]: the motions, by muscle group
//! - [`targets`]: all named targets; [`performance`]: a clip of their weights

mod brow_muscles;
pub(super) mod face;
mod jaw;
mod lids;
mod lips;
pub(super) mod performance;
pub(super) mod targets;
