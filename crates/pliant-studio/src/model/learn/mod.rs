//! The part of the document that belongs to learning.
//!
//! - `setup`: examples, control points, training settings, the trained model, how it is driven.
//! - `examples`: documents to start with.

mod examples;
mod setup;

pub use examples::{drive_a_hand, examples, skeleton as hand_skeleton, train_a_hand_model};
pub use setup::{
    Capture, Details, Drive, DrivenBy, ExampleError, HoldMode, PoseId, Setup, Trained,
    TrainingSettings, Validation,
};
pub(crate) use setup::{as_arrays, as_places};
