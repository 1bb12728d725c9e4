//! Blendshape rigs and clips: what animators own.
//!
//! A [`Rig`] is a neutral mesh and sparse targets; a [`Clip`] is a reference mesh and
//! its vertex positions frame by frame. A [`WeightTrack`] moves a rig's sliders over time.

mod clip;
mod error;
mod rig;
mod track;

pub use clip::Clip;
pub use error::RigError;
pub use rig::{InBetween, Rig, Target};
pub use track::{Interpolation, WeightTrack};
