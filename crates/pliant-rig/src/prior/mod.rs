//! A prior over plausible poses, and the pose that is most probable for given pins.
//!
//! - [`PosePrior`]: the second moments of the slider weights of known clips.
//! - [`MostProbable`]: a pose solver with this prior as its penalty.

mod most_probable;
mod pose_prior;

pub use most_probable::MostProbable;
pub use pose_prior::PosePrior;
