//! A worker that answers the newest question only.
//!
//! A hand moves faster than a solver: a question that waits is replaced by the next one, so the
//! answer is never older than one solve and nothing is queued.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::panic_sentence;

/// Someone who is told that there is an answer to fetch: the window, which then paints again.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

type Serve<In, Out> = Arc<dyn Fn(&Inbox<In>, &Outbox<Out>) + Send + Sync>;

/// The asker's side of a worker.
pub struct Latest<In, Out> {
    shared: Arc<Shared<In, Out>>,
    #[cfg(not(feature = "parallel"))]
    serve: Serve<In, Out>,
}

struct Shared<In, Out> {
    name: &'static str,
    state: Mutex<State<In, Out>>,
    news: Condvar,
    wake: Wake,
}

struct State<In, Out> {
    question: Option<In>,
    answer: Option<Result<Out, String>>,
    busy: bool,
    closed: bool,
}

impl<In, Out> Shared<In, Out> {
    fn state(&self) -> MutexGuard<'_, State<In, Out>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where a worker takes its questions from.
pub struct Inbox<In> {
    next: Box<dyn Fn() -> Option<In>>,
    waits: Box<dyn Fn() -> bool>,
}

impl<In> Inbox<In> {
    /// The newest question; waits for one. `None`: nobody will ask again.
    #[must_use]
    pub fn next(&self) -> Option<In> {
        (self.next)()
    }

    /// Whether a newer question waits.
    #[must_use]
    pub fn waits(&self) -> bool {
        (self.waits)()
    }
}

/// Where a worker puts its answers; one that was not fetched is replaced.
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
    /// A worker called `name` that runs `serve`, which takes questions until there are no more.
    /// Should it panic, the asker gets a sentence and the worker starts anew. `wake` is called
    /// after each answer.
    pub fn new(
        name: &'static str,
        wake: Wake,
        serve: impl Fn(&Inbox<In>, &Outbox<Out>) + Send + Sync + 'static,
    ) -> Self {
        let state = State {
            question: None,
            answer: None,
            busy: false,
            closed: false,
        };
        let shared = Arc::new(Shared {
            name,
            state: Mutex::new(state),
            news: Condvar::new(),
            wake,
        });
        let serve: Serve<In, Out> = Arc::new(serve);
        #[cfg(feature = "parallel")]
        {
            let shared = shared.clone();
            let run = move || {
                while !shared.state().closed {
                    serve_once(&shared, &serve);
                }
            };
            // Without a thread questions stay unanswered, which the window shows as waiting.
            let _ = std::thread::Builder::new().name(name.into()).spawn(run);
        }
        Self {
            shared,
            #[cfg(not(feature = "parallel"))]
            serve,
        }
    }

    /// Asks; a question that still waits is forgotten.
    pub fn ask(&self, question: In) {
        let mut state = self.shared.state();
        state.question = Some(question);
        state.busy = true;
        drop(state);
        self.shared.news.notify_one();
        #[cfg(not(feature = "parallel"))]
        serve_once(&self.shared, &self.serve);
    }

    /// The newest answer, once.
    pub fn answer(&self) -> Option<Result<Out, String>> {
        self.shared.state().answer.take()
    }

    /// Whether an answer is still to come.
    #[must_use]
    pub fn busy(&self) -> bool {
        let state = self.shared.state();
        state.busy || state.answer.is_some()
    }
}

impl<In, Out> Latest<In, Out> {
    /// Whether the worker has something to do, fetched answers aside.
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
    let (asked, peeked, answered) = (shared.clone(), shared.clone(), shared.clone());
    let inbox = Inbox {
        next: Box::new(move || next(&asked)),
        waits: Box::new(move || peeked.state().question.is_some()),
    };
    let outbox = Outbox {
        put: Box::new(move |answer| put(&answered, answer)),
    };
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| serve(&inbox, &outbox))) {
        put(shared, Err(panic_sentence(shared.name, &*panic)));
    }
}

/// Waits for a question; with threads at least.
fn next<In, Out>(shared: &Shared<In, Out>) -> Option<In> {
    let mut state = shared.state();
    loop {
        if state.closed {
            return None;
        }
        if let Some(question) = state.question.take() {
            return Some(question);
        }
        state.busy = false;
        if cfg!(not(feature = "parallel")) {
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
    state.busy = state.question.is_some();
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
            if let Some(answer) = worker.answer() {
                return answer;
            }
            woken.recv().unwrap();
        }
    }

    fn bell() -> (Wake, mpsc::Receiver<()>) {
        let (ring, woken) = mpsc::channel();
        (Arc::new(move || ring.send(()).unwrap_or(())), woken)
    }

    #[test]
    #[cfg(feature = "parallel")]
    fn questions_asked_meanwhile_are_skipped_but_the_newest() {
        let (wake, woken) = bell();
        let (gate, open) = mpsc::channel::<()>();
        let open = Mutex::new(open);
        let worker = Latest::new("test", wake, move |inbox, outbox| {
            while let Some(question) = inbox.next() {
                open.lock().unwrap().recv().unwrap();
                outbox.put(Ok(question));
            }
        });
        worker.ask(0);
        while worker.shared.state().question.is_some() {
            std::thread::yield_now();
        }
        (1..=100).for_each(|k| worker.ask(k));
        gate.send(()).unwrap();
        gate.send(()).unwrap();
        // The first answer may be replaced before it is fetched, too.
        let first = answer(&worker, &woken);
        assert!(first == Ok(100) || (first, answer(&worker, &woken)) == (Ok(0), Ok(100)));
    }

    #[test]
    fn a_panic_is_a_sentence_and_the_worker_goes_on() {
        let (wake, woken) = bell();
        let worker = Latest::new("The solver", wake, |inbox, outbox| {
            while let Some(question) = inbox.next() {
                assert_ne!(question, 7, "seven");
                outbox.put(Ok(question));
            }
        });
        worker.ask(7);
        let sentence = answer(&worker, &woken).unwrap_err();
        assert!(
            sentence.contains("The solver") && sentence.contains("seven"),
            "{sentence}"
        );
        worker.ask(8);
        assert_eq!(answer(&worker, &woken), Ok(8));
    }
}
