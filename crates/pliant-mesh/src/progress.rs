//! Progress reports and cancellation of long work.

use std::error::Error;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use pliant_linalg::parallel;

/// The caller of long work asked it to stop. The error of every crate that has long work holds it,
/// so that a caller looks for one type: see [`Stopped::is_cause_of`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("stopped")]
pub struct Stopped;

impl Stopped {
    /// Whether `error`, or an error that caused it, is this one.
    #[must_use]
    pub fn is_cause_of(error: &(dyn Error + 'static)) -> bool {
        let mut cause = Some(error);
        while let Some(error) = cause {
            if error.is::<Self>() {
                return true;
            }
            cause = error.source();
        }
        false
    }
}

/// Receives progress reports of long work, such as a progress bar with a cancel button.
pub trait Progress: Sync {
    /// Reports that `stage` is running and that the part `done` (0 to 1) of the whole work is
    /// finished. `Break` asks the work to stop; it then leaves nothing half-written.
    ///
    /// Long work reports at least ten times a second, except within one factorisation of a large
    /// matrix.
    fn report(&self, stage: &str, done: f64) -> ControlFlow<()>;

    /// As [`report`](Self::report), for work that returns errors.
    ///
    /// # Errors
    /// [`Stopped`] if the receiver asks to stop.
    fn proceed(&self, stage: &str, done: f64) -> Result<(), Stopped> {
        match self.report(stage, done) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Stopped),
        }
    }
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

/// As [`parallel::map`], reporting every item to `progress`. The shares that it reports never fall.
///
/// # Errors
/// [`Stopped`] if `progress` asks to stop; items that are not begun are then left out.
pub fn map_with_progress<T: Send>(
    progress: &dyn Progress,
    stage: &str,
    count: usize,
    grain: usize,
    make: impl Fn(usize) -> T + Sync + Send,
) -> Result<Vec<T>, Stopped> {
    let finished = AtomicUsize::new(0);
    let stopped = AtomicBool::new(false);
    let reporting = Mutex::new(());

    let items = parallel::map(count, grain, |k| {
        // Of several threads that report at the same time, one is enough.
        if let Ok(_alone) = reporting.try_lock() {
            let done = finished.load(Ordering::Relaxed) as f64 / count as f64;
            if progress.proceed(stage, done).is_err() {
                stopped.store(true, Ordering::Relaxed);
            }
        }
        if stopped.load(Ordering::Relaxed) {
            return None;
        }

        let item = make(k);
        finished.fetch_add(1, Ordering::Relaxed);
        Some(item)
    });
    items.into_iter().collect::<Option<_>>().ok_or(Stopped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("the whole work")]
    struct Outer(#[source] Stopped);

    /// Stops after half of the work.
    struct Half;

    impl Progress for Half {
        fn report(&self, _stage: &str, done: f64) -> ControlFlow<()> {
            if done > 0.5 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        }
    }

    #[test]
    fn a_stop_is_found_among_the_causes_of_an_error() {
        assert!(Stopped::is_cause_of(&Outer(Stopped)));
        assert!(!Stopped::is_cause_of(&std::fmt::Error));
    }

    #[test]
    fn a_loop_reports_rising_shares_and_leaves_items_out_when_it_is_stopped() {
        struct Shares(Mutex<Vec<f64>>);
        impl Progress for Shares {
            fn report(&self, _stage: &str, done: f64) -> ControlFlow<()> {
                self.0.lock().expect("no report panics").push(done);
                ControlFlow::Continue(())
            }
        }

        let shares = Shares(Mutex::new(Vec::new()));
        let squares = map_with_progress(&shares, "squares", 1000, 7, |k| k * k);
        assert_eq!(squares, Ok((0..1000).map(|k| k * k).collect()));
        let shares = shares.0.into_inner().expect("no report panics");
        assert!(shares.is_sorted() && shares[0] == 0.0 && shares.len() > 1);

        let made = AtomicUsize::new(0);
        let all = map_with_progress(&Half, "half", 1000, 1, |_| {
            made.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(all, Err(Stopped));
        assert!(made.into_inner() < 1000);
    }

    #[test]
    fn a_part_stops_with_the_whole() {
        let second = ProgressPart {
            whole: &Half,
            begin: 0.4,
            size: 0.6,
        };
        assert_eq!(second.proceed("second", 0.1), Ok(()));
        assert_eq!(second.proceed("second", 0.2), Err(Stopped));
    }
}
