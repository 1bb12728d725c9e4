//! Animation over time: clips of positions, tracks of weights, keys and markers.
//!
//! - [`Clip`]: a reference mesh and its vertex positions frame by frame.
//! - [`WeightTrack`]: slider weights at the times of keys, with an [`Interpolation`].
//! - [`KeyedCurves`]: one curve for each slider, with few [`Key`]s that can be edited.
//! - [`FrameSelection`]: some frames of a clip by their numbers.
//! - [`eased_weight`]: one curve whose segments ease in and out.
//! - [`ClipEdit`]: changes of a track that fade out before and after a frame.
//! - [`ShapeBasis`]: frames as few shapes with weights.
//! - [`PoseLibrary`]: poses that are kept, to be applied and blended.
//! - [`MarkerTrack`]: named markers of a motion capture over time.

mod clip;
mod clip_edit;
mod eased_curve;
mod frame_selection;
mod keyed_curves;
mod marker_track;
mod pose_library;
mod shape_basis;
mod weight_track;

pub use clip::Clip;
pub use clip_edit::{ClipEdit, Falloff, edit_clip};
pub use eased_curve::{Ease, EasedKey, eased_weight};
pub use frame_selection::{FrameSelection, FrameSelectionError};
pub use keyed_curves::{Key, KeyedCurves};
pub use marker_track::{MarkerGap, MarkerTrack};
pub use pose_library::{PoseBlend, PoseLibrary, PoseScope, SavedPose};
pub use shape_basis::ShapeBasis;
pub use weight_track::{Interpolation, WeightTrack};
