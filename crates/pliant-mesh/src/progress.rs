//! How long work says where it is, and is asked to stop.

use std::ops::ControlFlow;

/// Someone who watches long work: a bar on a terminal, a bar with a cancel button.
pub trait Progress: Sync {
    /// Says that `stage` is under way and the part `done` (0 to 1) of the whole work is finished.
    /// `Break` asks the work to stop; it then leaves nothing half-written.
    fn report(&self, stage: &str, done: f64) -> ControlFlow<()>;
}

/// A part of longer work: what is done of it counts from `begin`, and `size` as a whole.
pub struct ProgressPart<'a> {
    /// Who watches the whole work.
    pub whole: &'a dyn Progress,
    /// What of the whole work is finished when this part begins.
    pub begin: f64,
    /// How much of the whole work this part is.
    pub size: f64,
}

impl Progress for ProgressPart<'_> {
    fn report(&self, stage: &str, done: f64) -> ControlFlow<()> {
        self.whole.report(stage, self.begin + self.size * done)
    }
}

/// Nobody watches.
impl Progress for () {
    fn report(&self, _stage: &str, _done: f64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
