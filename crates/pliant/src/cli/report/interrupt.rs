//! Cancellation of long work by Ctrl-C.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pliant_mesh::Progress;

/// Exit code that a shell expects of a program that Ctrl-C ended.
const INTERRUPTED: i32 = 130;

/// Progress that stops the work after Ctrl-C. A second Ctrl-C ends the program at once.
pub(crate) struct Interruptible<'a> {
    bar: &'a dyn Progress,
    cancelled: Arc<AtomicBool>,
}

impl<'a> Interruptible<'a> {
    pub(crate) fn new(bar: &'a dyn Progress) -> Self {
        let cancelled = Arc::new(AtomicBool::new(false));
        let flag = cancelled.clone();

        // Where no handler can be set, Ctrl-C ends the program as usual.
        let _ = ctrlc::set_handler(move || {
            if flag.swap(true, Ordering::SeqCst) {
                std::process::exit(INTERRUPTED);
            }
        });

        Self { bar, cancelled }
    }
}

impl Progress for Interruptible<'_> {
    fn report(&self, stage: &str, done: f64) -> ControlFlow<()> {
        if self.cancelled.load(Ordering::SeqCst) {
            ControlFlow::Break(())
        } else {
            self.bar.report(stage, done)
        }
    }
}
