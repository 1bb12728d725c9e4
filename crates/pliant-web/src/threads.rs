//! Jobs of the studio in workers of the browser.
//!
//! A job waits in a table under a number; a worker that loads the same module over the same memory
//! takes it from there. Workers start no workers themselves: a job that is started in one runs there.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use pliant_studio::engine::work::host::Job;
use wasm_bindgen::prelude::wasm_bindgen;

static JOBS: Mutex<BTreeMap<u32, Job>> = Mutex::new(BTreeMap::new());
static NEXT: AtomicU32 = AtomicU32::new(1);
/// Whether a message to the page is on its way; one is enough.
static WOKEN: AtomicBool = AtomicBool::new(false);

thread_local! {
    static WORKER: Cell<bool> = const { Cell::new(false) };
}

#[wasm_bindgen(js_namespace = pliant)]
extern "C" {
    /// Whether workers can share the memory of this page.
    #[wasm_bindgen(js_name = hasThreads)]
    fn has_threads() -> bool;
    /// Lets a worker run the job with this number.
    #[wasm_bindgen(js_name = runInWorker)]
    fn run_in_worker(job: u32);
    /// Sends a message to the thread of the page.
    #[wasm_bindgen(js_name = wakePage)]
    fn wake_page();
}

/// Runs a job in a worker, or gives it back.
pub(crate) fn spawn(job: Job) -> Result<(), Job> {
    if WORKER.get() || !has_threads() {
        return Err(job);
    }
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut jobs = JOBS.lock().unwrap_or_else(PoisonError::into_inner);
    jobs.insert(number, job);
    drop(jobs);
    run_in_worker(number);
    Ok(())
}

/// Wakes the page from a worker; `false` on the page itself.
pub(crate) fn wake() -> bool {
    if WORKER.get() && !WOKEN.swap(true, Ordering::AcqRel) {
        wake_page();
    }
    WORKER.get()
}

/// The message arrived: from now on, another one is needed.
pub(crate) fn woken() {
    WOKEN.store(false, Ordering::Release);
}

/// Runs a job; called by a worker.
#[wasm_bindgen(js_name = runJob)]
pub fn run_job(number: u32) {
    WORKER.set(true);
    let mut jobs = JOBS.lock().unwrap_or_else(PoisonError::into_inner);
    let job = jobs.remove(&number);
    drop(jobs);
    if let Some(job) = job {
        job();
    }
}

/// Whether this thread may wait for another one: the page must not. The build replaces waiting on
/// the page by asking again.
#[wasm_bindgen(js_name = mayWait)]
pub fn may_wait() -> bool {
    WORKER.get()
}

/// The memory of this module, for its workers.
#[wasm_bindgen(js_name = sharedMemory)]
pub fn shared_memory() -> eframe::wasm_bindgen::JsValue {
    wasm_bindgen::memory()
}
