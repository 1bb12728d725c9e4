//! A worker that serves only the newest request.
//!
//! The pointer moves faster than a solver: a waiting request is replaced by the next one, so an
//! result is never older than one solve, and nothing is queued.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::host::spawn;
use super::panic_message;

/// Called when a result is ready; the window then repaints.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

type Serve<In, Out> = Arc<dyn Fn(&Inbox<In>, &Outbox<Out>) + Send + Sync>;

/// The caller's side of a worker.
pub struct Latest<In, Out> {
    shared: Arc<Shared<In, Out>>,
    serve: Serve<In, Out>,
}

/// No request was sent yet, so there is no thread.
const NEW: u8 = 0;
/// Requests are served on a thread.
const THREAD: u8 = 1;
/// No thread could be started: requests are served where they are sent.
const INLINE: u8 = 2;

struct Shared<In, Out> {
    name: &'static str,
    state: Mutex<State<In, Out>>,
    news: Condvar,
    wake: Wake,
    place: AtomicU8,
}

struct State<In, Out> {
    request: Option<In>,
    answer: Option<Result<Out, String>>,
    busy: bool,
    closed: bool,
}

impl<In, Out> Shared<In, Out> {
    fn state(&self) -> MutexGuard<'_, State<In, Out>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where a worker takes its requests from.
pub struct Inbox<In> {
    next: Box<dyn Fn() -> Option<In>>,
    waits: Box<dyn Fn() -> bool>,
}

impl<In> Inbox<In> {
    /// The newest request; waits for one. `None`: all senders are closed.
    #[must_use]
    pub fn next(&self) -> Option<In> {
        (self.next)()
    }

    /// Whether a newer request is pending.
    #[must_use]
    pub fn waits(&self) -> bool {
        (self.waits)()
    }
}

/// Where a worker puts its results; one that was not fetched is replaced.
pub struct Outbox<Out> {
    put: Box<dyn Fn(Result<Out, String>)>,
}

impl<Out> Outbox<Out> {
    /// Answers.
    pub fn put(&self, answer: Result<Out, String>) {
        (self.put)(answer);
    }
}

impl<In: Send + 'static, Out: Send + 'static> Latest<In, Out> {
    /// A worker called `name` that runs `serve`, which takes requests until there are no more.
    /// Should it panic, the asker gets a message and the worker starts again. `wake` is called
    /// after each result.
    pub fn new(
        name: &'static str,
        wake: Wake,
        serve: impl Fn(&Inbox<In>, &Outbox<Out>) + Send + Sync + 'static,
    ) -> Self {
        let state = State {
            request: None,
            answer: None,
            busy: false,
            closed: false,
        };

        let shared = Arc::new(Shared {
            name,
            state: Mutex::new(state),
            news: Condvar::new(),
            wake,
            place: AtomicU8::new(NEW),
        });
        Self {
            shared,
            serve: Arc::new(serve),
        }
    }

    /// Starts the thread, on the first request: many workers are never asked.
    fn start(&self) {
        let shared = self.shared.clone();
        let serve = self.serve.clone();
        let run = move || {
            while !shared.state().closed {
                serve_once(&shared, &serve);
            }
        };
        // Before the thread runs: it reads this when it waits.
        self.shared.place.store(THREAD, Ordering::Release);
        if spawn(self.shared.name, Box::new(run)).is_err() {
            self.shared.place.store(INLINE, Ordering::Release);
        }
    }

    /// Asks; a request that still waits is forgotten.
    pub fn send(&self, request: In) {
        let mut state = self.shared.state();
        state.request = Some(request);
        state.busy = true;
        drop(state);
        self.shared.news.notify_one();

        if self.shared.place.load(Ordering::Acquire) == NEW {
            self.start();
        }
        if self.shared.place.load(Ordering::Acquire) == INLINE {
            serve_once(&self.shared, &self.serve);
        }
    }

    /// The newest result, once.
    pub fn result(&self) -> Option<Result<Out, String>> {
        self.shared.state().answer.take()
    }

    /// Whether a result is pending.
    #[must_use]
    pub fn busy(&self) -> bool {
        let state = self.shared.state();
        state.busy || state.answer.is_some()
    }
}

impl<In, Out> Latest<In, Out> {
    /// Whether the worker has a request; results to fetch do not count.
    #[must_use]
    pub fn at_work(&self) -> bool {
        self.shared.state().busy
    }
}

impl<In, Out> Drop for Latest<In, Out> {
    fn drop(&mut self) {
        self.shared.state().closed = true;
        self.shared.news.notify_one();
    }
}

fn serve_once<In: Send + 'static, Out: Send + 'static>(
    shared: &Arc<Shared<In, Out>>,
    serve: &Serve<In, Out>,
) {
    let requested = shared.clone();
    let peeked = shared.clone();
    let answered = shared.clone();
    let inbox = Inbox {
        next: Box::new(move || next(&requested)),
        waits: Box::new(move || peeked.state().request.is_some()),
    };
    let outbox = Outbox {
        put: Box::new(move |answer| put(&answered, answer)),
    };

    // A panic becomes an error message, and the worker starts again.
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| serve(&inbox, &outbox))) {
        put(shared, Err(panic_message(shared.name, &*panic)));
    }
}

/// Waits for a request; with threads at least.
fn next<In, Out>(shared: &Shared<In, Out>) -> Option<In> {
    let mut state = shared.state();
    loop {
        if state.closed {
            return None;
        }
        if let Some(request) = state.request.take() {
            return Some(request);
        }

        state.busy = false;
        if shared.place.load(Ordering::Acquire) == INLINE {
            return None;
        }

        state = shared
            .news
            .wait(state)
            .unwrap_or_else(PoisonError::into_inner);
    }
}

fn put<In, Out>(shared: &Shared<In, Out>, answer: Result<Out, String>) {
    let mut state = shared.state();
    state.answer = Some(answer);
    state.busy = state.request.is_some();
    drop(state);
    (shared.wake)();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    fn answer<In: Send + 'static, Out: Send + 'static>(
        worker: &Latest<In, Out>,
        woken: &mpsc::Receiver<()>,
    ) -> Result<Out, String> {
        loop {
            if let Some(answer) = worker.result() {
                return answer;
            }
            woken.recv().unwrap();
        }
    }

    fn wake_channel() -> (Wake, mpsc::Receiver<()>) {
        let (ring, woken) = mpsc::channel();
        (Arc::new(move || ring.send(()).unwrap_or(())), woken)
    }

    #[test]
    #[cfg(feature = "parallel")]
    fn only_the_newest_waiting_request_is_answered() {
        let (wake, woken) = wake_channel();
        let (gate, open) = mpsc::channel::<()>();
        let open = Mutex::new(open);
        let worker = Latest::new("test", wake, move |inbox, outbox| {
            while let Some(request) = inbox.next() {
                open.lock().unwrap().recv().unwrap();
                outbox.put(Ok(request));
            }
        });

        worker.send(0);
        while worker.shared.state().request.is_some() {
            std::thread::yield_now();
        }

        for k in 1..=100 {
            worker.send(k);
        }
        gate.send(()).unwrap();
        gate.send(()).unwrap();

        // The first result may be replaced before it is fetched, too.
        let first = answer(&worker, &woken);
        assert!(first == Ok(100) || (first, answer(&worker, &woken)) == (Ok(0), Ok(100)));
    }

    #[test]
    fn a_panic_is_reported_and_the_worker_continues() {
        let (wake, woken) = wake_channel();
        let worker = Latest::new("The solver", wake, |inbox, outbox| {
            while let Some(request) = inbox.next() {
                assert_ne!(request, 7, "seven");
                outbox.put(Ok(request));
            }
        });

        worker.send(7);
        let message = answer(&worker, &woken).unwrap_err();
        assert!(
            message.contains("The solver") && message.contains("seven"),
            "{message}"
        );

        worker.send(8);
        assert_eq!(answer(&worker, &woken), Ok(8));
    }
}
