//! The built-in models as the reproductions and the demo use them.
//!
//! - [`WalkingTapir`]: the hound's walk on the tapir, with a swing of the trunk.
//! - [`hand`]: control points and skeleton of the built-in hand.
//! - [`PressingBall`]: a ball that presses skin.

pub mod hand;
mod pressing_ball;
mod walking_tapir;

pub use pressing_ball::PressingBall;
pub use walking_tapir::{WalkingTapir, group_triangles};
