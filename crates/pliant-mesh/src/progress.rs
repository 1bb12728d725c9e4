//! Progress reports and cancellation of long work.

use std::ops::ControlFlow;

/// Receives progress reports of long work, such as a progress bar with a cancel button.
pub trait Progress: Sync {
    /// Reports that `stage` is running and that the part `done` (0 to 1) of the whole work is
    /// finished. `Break` asks the work to stop; it then leaves nothing half-written.
    fn report(&self, stage: &str, done: f64) -> ControlFlow<()>;
}

/// A part of longer work: its progress runs from `begin` to `begin + size` of the whole.
pub struct ProgressPart<'a> {
    /// Receives the progress of the whole work.
    pub whole: &'a dyn Progress,
    /// The part of the whole work that is finished when this part begins.
    pub begin: f64,
    /// How much of the whole work this part is.
    pub size: f64,
}

impl Progress for ProgressPart<'_> {
    fn report(&self, stage: &str, done: f64) -> ControlFlow<()> {
        self.whole.report(stage, self.begin + self.size * done)
    }
}

/// Ignores all reports.
impl Progress for () {
    fn report(&self, _stage: &str, _done: f64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
