//! Performances: live packets, recorded takes, their cleaning, and files of performances.
//!
//! - [`Receiver`]: a thread that turns packets into weights, and records them.
//! - [`clean_take`], [`CleanStep`]: cleaning of takes of weights.
//! - [`performance_take`], [`is_performance_file`]: files of performances as takes.

mod receiver;
mod takes;

pub use receiver::{CalibrationStep, Meter, Receiver, ReceiverState};
pub(crate) use takes::performance_endings;
pub use takes::{
    CleanStep, TakeAndLoss, clean_take, is_performance_file, performance_take, recorded_take,
};
