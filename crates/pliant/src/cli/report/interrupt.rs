//! Ctrl-C and SIGTERM, which schedulers of render farms send: work stops, and nothing half-written
//! stays.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use pliant_mesh::Progress;

/// Exit code that a shell expects of a program that Ctrl-C ended.
const INTERRUPTED: i32 = 130;

/// Whether the command stops by itself when [`REQUESTED`] is set.
static STOPS_ITSELF: AtomicBool = AtomicBool::new(false);

/// Whether a signal came.
static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Makes signals end the program without temporary files. Work under [`Interruptible`] stops at its
/// next report instead, so that it can keep what is done; a second signal ends it at once.
pub(crate) fn end_cleanly_on_signals() {
    // Where no handler can be set, Ctrl-C ends the program as usual.
    let _ = ctrlc::set_handler(|| {
        let is_second = REQUESTED.swap(true, Ordering::SeqCst);
        if is_second || !STOPS_ITSELF.load(Ordering::SeqCst) {
            pliant_io::discard_unfinished_files();
            std::process::exit(INTERRUPTED);
        }
    });
}

/// Progress that stops the work after Ctrl-C or SIGTERM.
pub(crate) struct Interruptible<'a> {
    bar: &'a dyn Progress,
}

impl<'a> Interruptible<'a> {
    pub(crate) fn new(bar: &'a dyn Progress) -> Self {
        STOPS_ITSELF.store(true, Ordering::SeqCst);
        Self { bar }
    }
}

impl Drop for Interruptible<'_> {
    fn drop(&mut self) {
        STOPS_ITSELF.store(false, Ordering::SeqCst);
    }
}

impl Progress for Interruptible<'_> {
    fn report(&self, stage: &str, done: f64) -> ControlFlow<()> {
        if REQUESTED.load(Ordering::SeqCst) {
            ControlFlow::Break(())
        } else {
            self.bar.report(stage, done)
        }
    }
}
