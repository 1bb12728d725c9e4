//! Long tasks with progress and a cancel button.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pliant::mesh::Progress;

use super::host::spawn;
use super::latest::Wake;
use super::panic_message;

/// Long work in progress, or its result that waits to be fetched.
#[derive(Debug)]
pub struct Task<T> {
    watch: Arc<Watch>,
    result: Arc<Mutex<Option<Result<T, String>>>>,
}

/// Progress and cancellation of a task; the [`Progress`] of its work.
pub struct Watch {
    name: String,
    stage: Mutex<(String, f64)>,
    cancelled: AtomicBool,
    /// Whether the work reports progress, so that it can be cancelled.
    listens: AtomicBool,
    over: AtomicBool,
    wake: Wake,
}

/// A task as its bar shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskView {
    /// What it is.
    pub name: String,
    /// Its current stage.
    pub stage: String,
    /// How much of it is done, from 0 to 1.
    pub done: f64,
    /// Whether it says how far it is and hears that it should stop; work that never does has no
    /// cancel button.
    pub listens: bool,
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch")
            .field("view", &self.view())
            .finish_non_exhaustive()
    }
}

impl Watch {
    /// Work that begins, under the name that its bar shows.
    pub fn new(name: impl Into<String>, wake: Wake) -> Self {
        let [cancelled, listens, over] = [false; 3].map(AtomicBool::new);
        Self {
            name: name.into(),
            stage: Mutex::default(),
            cancelled,
            listens,
            over,
            wake,
        }
    }

    /// The work has ended: its bar is removed.
    pub fn end(&self) {
        self.over.store(true, Ordering::Release);
        (self.wake)();
    }

    /// What its bar shows.
    #[must_use]
    pub fn view(&self) -> TaskView {
        let (stage, done) = self.stage().clone();
        TaskView {
            name: self.name.clone(),
            stage,
            done,
            listens: self.listens.load(Ordering::Relaxed),
        }
    }

    /// Asks the work to stop.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether cancelling was requested.
    #[must_use]
    pub fn cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Whether its work is over, done or not.
    #[must_use]
    pub fn over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    fn stage(&self) -> MutexGuard<'_, (String, f64)> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress for Watch {
    fn report(&self, stage: &str, done: f64) -> ControlFlow<()> {
        *self.stage() = (stage.to_owned(), done);
        self.listens.store(true, Ordering::Relaxed);
        (self.wake)();
        if self.cancelled() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

impl<T: Send + 'static> Task<T> {
    /// Starts `work` under the name that its bar shows. Whatever it returns after it was cancelled
    /// is forgotten.
    pub fn start(
        name: impl Into<String>,
        wake: Wake,
        work: impl FnOnce(&Watch) -> Result<T, String> + Send + 'static,
    ) -> Self {
        let watch = Arc::new(Watch::new(name, wake));
        let result = Arc::new(Mutex::new(None));
        let watching = watch.clone();
        let place = result.clone();
        let run = move || {
            // A panic in a task becomes an error message instead of a lost thread.
            let ended = catch_unwind(AssertUnwindSafe(|| work(&watching)));
            let ended = ended.unwrap_or_else(|panic| Err(panic_message(&watching.name, &*panic)));
            *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(ended);
            watching.end();
        };

        if let Err(job) = spawn("task", Box::new(run)) {
            job();
        }
        Self { watch, result }
    }

    /// Its bar and its cancel button.
    #[must_use]
    pub fn watch(&self) -> &Arc<Watch> {
        &self.watch
    }

    /// The result of `slot`'s task once it is over; the slot is empty then. `None` also for a task
    /// that was cancelled.
    pub fn finished(slot: &mut Option<Self>) -> Option<Result<T, String>> {
        let task = slot.as_ref().filter(|task| task.watch.over())?;
        let result = task
            .result
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let cancelled = task.watch.cancelled();
        *slot = None;
        result.filter(|_| !cancelled)
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.watch.cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait<T: Send + 'static>(slot: &mut Option<Task<T>>) -> Option<Result<T, String>> {
        while !slot.as_ref().unwrap().watch().over() {
            std::thread::yield_now();
        }
        Task::finished(slot)
    }

    #[test]
    fn a_task_that_panics_ends_with_an_error_message() {
        let mut slot = Some(Task::<()>::start("Training", Arc::new(|| ()), |_| {
            panic!("no air")
        }));
        let message = wait(&mut slot).unwrap().unwrap_err();
        assert!(
            message.contains("Training") && message.contains("no air"),
            "{message}"
        );
        assert!(slot.is_none());
    }

    #[test]
    fn only_tasks_that_report_progress_can_be_cancelled() {
        let mut deaf = Some(Task::start("Exporting", Arc::new(|| ()), |_| Ok(())));
        let mut hears = Some(Task::start("Training", Arc::new(|| ()), |watch| {
            let _ = watch.report("first round", 0.5);
            Ok(())
        }));
        let watches = [&deaf, &hears].map(|task| task.as_ref().unwrap().watch().clone());

        assert_eq!(
            (wait(&mut deaf), wait(&mut hears)),
            (Some(Ok(())), Some(Ok(())))
        );
        assert_eq!(watches.map(|watch| watch.view().listens), [false, true]);
    }

    #[test]
    #[cfg(feature = "parallel")]
    fn a_cancelled_task_stops_without_a_result() {
        let work = |watch: &Watch| {
            while watch.report("waiting", 0.5).is_continue() {
                std::thread::yield_now();
            }
            Err("cancelled".to_owned())
        };
        let mut slot = Some(Task::<()>::start("Waiting", Arc::new(|| ()), work));
        slot.as_ref().unwrap().watch().cancel();
        assert_eq!(wait(&mut slot), None);
    }
}
