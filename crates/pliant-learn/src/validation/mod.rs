//! Validation: errors of poses that the training did not contain, and tests between methods.
//!
//! - `leave_one_out`: the error of each example, predicted by a model trained without it.
//! - `comparison`: several methods on the same left-out examples.
//! - `paired_test`: exact significance tests over pairs of errors.

mod comparison;
mod leave_one_out;
mod paired_test;

pub use comparison::{ComparedMethod, Comparison};
pub(crate) use leave_one_out::LeftOutPrediction;
pub use leave_one_out::{LeaveOneOut, PoseError};
pub use paired_test::PairedTest;
