//! A receiver of progress for tests.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::Progress;

/// Stops the work at a share of it, and counts the reports until then.
pub(crate) struct StopAt {
    share: f64,
    calls: AtomicUsize,
}

impl StopAt {
    pub(crate) fn share(share: f64) -> Self {
        Self {
            share,
            calls: AtomicUsize::new(0),
        }
    }

    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }
}

impl Progress for StopAt {
    fn report(&self, _: &str, done: f64) -> ControlFlow<()> {
        assert!((0.0..=1.0).contains(&done), "{done}");
        self.calls.fetch_add(1, Ordering::Relaxed);
        if done < self.share {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }
}
