//! Performances: what a phone, a suit or a program recorded, on the sliders of a rig.
//!
//! - [`Performance`], [`Channel`]: named channels over time, with markers and timecode.
//! - [`Timecode`], [`FrameRate`]: labels of frames and the times that they stand for.
//! - [`RotationChannel`], [`CharacterAxes`]: rotations of the head and of the eyes.
//! - [`gaze_of_shapes`]: rotations of the eyes from the shapes of ARKit.
//! - [`Calibration`]: rest, range and cross-talk of a device.
//! - [`clean`], [`CleanOptions`]: gaps, spikes, noise, holds and contacts.
//! - [`MarkerAttachment`]: captured markers as weights and head motion.
//! - [`MarkerResidual`]: what the sliders do not reach, as targets with curves.
//! - [`visemes_of_speech`]: a mouth from the amplitude and the spectrum of a sound.
//! - [`ChannelMap`], [`Route`]: which channel moves which slider; `recipes` holds combinations.

mod calibration;
mod channel_map;
mod clean;
mod gaze;
mod marker_attachment;
mod marker_residual;
mod recipes;
mod recording;
mod rotation;
mod speech;
mod timecode;

pub use calibration::{BoundCalibration, Calibration};
pub use channel_map::{BoundMap, ChannelMap, RotationGains, Route, RouteKind, SideUse};
pub use clean::{CleanOptions, CleanReport, Smoothing, clean};
pub use gaze::gaze_of_shapes;
pub use marker_attachment::{MarkerAttachment, MarkerInverse};
pub use marker_residual::MarkerResidual;
pub use recording::{Channel, ChannelKind, Performance, TimecodeStart};
pub use rotation::{CharacterAxes, RotatingPart, RotationAngle, RotationChannel};
pub use speech::visemes_of_speech;
pub use timecode::{FrameRate, Timecode};
