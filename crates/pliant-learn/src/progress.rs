//! Progress reports that can cancel the work.

use std::ops::ControlFlow;

use pliant_mesh::Progress;

use crate::LearnError;

/// Reports that `stage` is `done` (0 to 1).
///
/// # Errors
/// [`LearnError::Cancelled`] if the receiver asks to stop.
pub(crate) fn report(progress: &dyn Progress, stage: &str, done: f64) -> Result<(), LearnError> {
    match progress.report(stage, done) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(LearnError::Cancelled),
    }
}
