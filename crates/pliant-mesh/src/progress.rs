//! How long work says where it is, and is asked to stop.

use std::ops::ControlFlow;

/// Someone who watches long work: a bar on a terminal, a bar with a cancel button.
pub trait Progress: Sync {
    /// Says that `stage` is under way and the part `done` (0 to 1) of the whole work is finished.
    /// `Break` asks the work to stop; it then leaves nothing half-written.
    fn report(&self, stage: &str, done: f64) -> ControlFlow<()>;
}

/// Nobody watches.
impl Progress for () {
    fn report(&self, _stage: &str, _done: f64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
