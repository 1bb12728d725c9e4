//! Jobs: the work of a recipe or command with all its files opened.
//!
//! A job opens what a [recipe](crate::recipes) names, checks it, and calls the library; it holds
//! what a caller needs to report progress, to cancel, and to save the result.
//!
//! - [`TransferJob`] (`transfer/`): an animation synthesis, from sources and layers to frames.
//! - [`LearnJob`] (`learn`): training and validation of a model.
//! - [`RegisterJob`] (`register`): scans as poses of one mesh.
//! - [`LiveSession`] (`listen`): packets of a device as slider weights.
//! - [`LivePort`] (`live_port`): where the packets arrive.
//! - [`DriveJob`] (`drive`): control points of a model from a file.

mod drive;
mod learn;
mod listen;
mod live_port;
mod register;
mod transfer;

pub use drive::{DriveError, DriveJob, marker_list};
pub use learn::{LearnJob, Validation, clip_asset};
pub use listen::{LiveFrame, LiveRecorder, LiveSession};
pub use live_port::{Arrival, LivePort};
pub use register::{RegisterJob, clip_paths};
pub use transfer::{JobSource, TransferInputs, TransferJob, TransferResult, TransferTimes};
