//! Work of the libraries, run without the interpreter's lock.
//!
//! Long work runs on a thread of its own. The calling thread hears Ctrl-C, calls the progress
//! function, and asks the work to stop when that function raises or returns `False`. Work that does
//! not stop within [`GRACE`], such as one large factorisation, ends by itself, and its result is
//! dropped; the caller does not wait for it. A panic becomes an exception.
//!
//! A process that was forked has none of the threads of the libraries, so that their loops would wait
//! forever. There, as in the workers of `multiprocessing`, work runs on one thread.

use std::any::Any;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use pliant::linalg::parallel::alone;
use pliant::mesh::Progress;
use pyo3::prelude::*;

use crate::failure::{Failure, defect, input_error, stopped};

/// Between two calls of a progress function, or questions for Ctrl-C.
const INTERVAL: Duration = Duration::from_millis(25);

/// How long stopped work may take to end. With `INTERVAL`, Ctrl-C is heard within 0.2 s.
const GRACE: Duration = Duration::from_millis(100);

/// Between two attempts to lock an object that another thread uses.
const WAIT: Duration = Duration::from_millis(1);

/// Stack of a thread for long work: that of the main thread of most systems, twice.
const STACK_BYTES: usize = 16 << 20;

/// The process that imported the package.
static PROCESS: OnceLock<u32> = OnceLock::new();

/// Remembers the process that imports the package.
pub(crate) fn remember_process() {
    PROCESS.get_or_init(std::process::id);
}

/// Runs `work`, with threads of the libraries where this process has them.
fn with_threads<T>(work: impl FnOnce() -> T) -> T {
    if PROCESS.get() == Some(&std::process::id()) {
        work()
    } else {
        alone(work)
    }
}

/// Runs `work` without the interpreter's lock.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, Failure> + Send,
) -> Result<T, Failure> {
    let done = py.detach(|| catch_unwind(AssertUnwindSafe(|| with_threads(work))));
    done.unwrap_or_else(|panic| Err(defect(panic.as_ref())))
}

/// Runs `work` on a thread of its own, with reports to `progress`: a function of a stage and a share
/// from 0 to 1, `True` for a progress bar, or nothing. Ctrl-C stops the work in any case.
pub(crate) fn run_long<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<Bound<'_, PyAny>>,
    work: impl FnOnce(&Watch) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let callback = match progress {
        Some(progress) => {
            let watcher = py.import("pliant.progress")?.getattr("watcher")?;
            watcher.call1((progress,))?
        }
        None => py.None().into_bound(py),
    };

    let shared = Arc::new(Shared::new());
    let of_worker = Arc::clone(&shared);
    let watch = Watch(Arc::clone(&shared) as Arc<dyn Reports>);
    let thread = std::thread::Builder::new()
        .name("pliant".into())
        .stack_size(STACK_BYTES);
    let spawned = thread.spawn(move || {
        let done = catch_unwind(AssertUnwindSafe(|| with_threads(|| work(&watch))));
        of_worker.finish(done);
    });
    spawned.map_err(|error| input_error(format!("the system starts no thread: {error}")))?;

    let done = attend(py, &callback, &shared);
    if callback.hasattr("close")? {
        callback.call_method0("close")?;
    }
    done
}

/// As [`run_long`] for work that has nothing to report: Ctrl-C is heard all the same.
pub(crate) fn run_unwatched<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    run_long(py, None, |_| work())
}

/// Waits for the work, and meanwhile hears Ctrl-C and passes reports on.
fn attend<T: Send>(
    py: Python<'_>,
    callback: &Bound<'_, PyAny>,
    shared: &Shared<T>,
) -> Result<T, Failure> {
    loop {
        let done = py.detach(|| shared.wait(INTERVAL));
        if let Err(failure) = pass_on(py, callback, shared) {
            shared.stop.store(true, Ordering::Relaxed);
            if done.is_none() {
                py.detach(|| drop(shared.wait(GRACE)));
            }
            return Err(failure);
        }
        if let Some(done) = done {
            return done.unwrap_or_else(|panic| Err(defect(panic.as_ref())));
        }
    }
}

/// Hears Ctrl-C, and calls the progress function with the last report, if there is a new one.
fn pass_on<T>(
    py: Python<'_>,
    callback: &Bound<'_, PyAny>,
    shared: &Shared<T>,
) -> Result<(), Failure> {
    py.check_signals()?;
    let report = shared.state().report.take();
    let Some((stage, done)) = report.filter(|_| !callback.is_none()) else {
        return Ok(());
    };
    let answer = callback.call1((stage, done))?;
    if answer.is_none() || answer.is_truthy()? {
        Ok(())
    } else {
        Err(stopped())
    }
}

/// What the thread of the work and the calling thread share.
struct Shared<T> {
    state: Mutex<State<T>>,
    finished: Condvar,
    stop: AtomicBool,
}

struct State<T> {
    /// The last report, until the caller takes it.
    report: Option<(String, f64)>,
    done: Option<Done<T>>,
}

type Done<T> = Result<Result<T, Failure>, Box<dyn Any + Send>>;

impl<T> Shared<T> {
    fn new() -> Self {
        Self {
            state: Mutex::new(State {
                report: None,
                done: None,
            }),
            finished: Condvar::new(),
            stop: AtomicBool::new(false),
        }
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn finish(&self, done: Done<T>) {
        self.state().done = Some(done);
        self.finished.notify_all();
    }

    /// The result of the work, if it ends within `time`.
    fn wait(&self, time: Duration) -> Option<Done<T>> {
        let state = self.state();
        let waited = self
            .finished
            .wait_timeout_while(state, time, |state| state.done.is_none());
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.done.take()
    }
}

/// Takes reports of the work, on any of its threads.
trait Reports: Send + Sync {
    fn take(&self, stage: &str, done: f64);
    fn is_stopped(&self) -> bool;
}

impl<T: Send> Reports for Shared<T> {
    fn take(&self, stage: &str, done: f64) {
        // Where another thread reports at the same time, one of both reports is enough.
        if let Ok(mut state) = self.state.try_lock() {
            match &mut state.report {
                Some((last, share)) if last == stage => *share = done,
                report => *report = Some((stage.to_owned(), done)),
            }
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// The progress of long work, as its thread sees it.
pub(crate) struct Watch(Arc<dyn Reports>);

impl Progress for Watch {
    fn report(&self, stage: &str, done: f64) -> ControlFlow<()> {
        if self.0.is_stopped() {
            return ControlFlow::Break(());
        }
        self.0.take(stage, done);
        ControlFlow::Continue(())
    }
}

/// The state of an object that several threads may use, one at a time. Waiting for another thread
/// hears Ctrl-C.
pub(crate) fn lock<T>(state: &Mutex<T>) -> Result<MutexGuard<'_, T>, Failure> {
    let mut next = Instant::now() + INTERVAL;
    lock_while(state, || {
        if Instant::now() >= next {
            Python::attach(|py| py.check_signals())?;
            next = Instant::now() + INTERVAL;
        }
        Ok(())
    })
}

impl Watch {
    /// As [`lock`], for the thread of the work: waiting ends when the work is stopped.
    pub(crate) fn lock<'s, T>(&self, state: &'s Mutex<T>) -> Result<MutexGuard<'s, T>, Failure> {
        lock_while(state, || {
            if self.0.is_stopped() {
                return Err(stopped());
            }
            Ok(())
        })
    }
}

fn lock_while<T>(
    state: &Mutex<T>,
    mut may_wait: impl FnMut() -> Result<(), Failure>,
) -> Result<MutexGuard<'_, T>, Failure> {
    loop {
        match state.try_lock() {
            Ok(guard) => return Ok(guard),
            Err(TryLockError::Poisoned(_)) => {
                return Err(input_error(
                    "an earlier call on this object ended with a defect; make the object anew",
                ));
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(WAIT),
        }
        may_wait()?;
    }
}
