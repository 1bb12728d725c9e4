//! The number of threads, also where the system gives fewer than it has cores.
//!
//! Containers and accounts limit the number of threads. The thread pool cannot be started twice, and
//! a failed start would be a panic at the first parallel loop, so the number is tried beforehand.
//! Results do not depend on it.

use std::sync::{Arc, Mutex, mpsc};
use std::thread::{Builder, JoinHandle};

use super::report::console::Console;

/// The system gives no thread besides the first one.
#[derive(Debug)]
pub(crate) struct NoThreads;

/// Starts `wanted` threads, or one for each core; fewer with a warning where the system has no more.
pub(crate) fn start(wanted: Option<usize>, console: &Console) -> Result<(), NoThreads> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let wanted = wanted.unwrap_or(cores);

    let available = available_threads(wanted);
    if available < wanted {
        console.warn(&format!(
            "the system gives {available} of {wanted} threads; results are the same, but slower"
        ));
    }

    #[cfg(feature = "parallel")]
    start_pool(available);
    if available == 0 {
        Err(NoThreads)
    } else {
        Ok(())
    }
}

/// How many of `wanted` threads can run at the same time.
fn available_threads(wanted: usize) -> usize {
    // Each thread waits until all are counted: the sender is dropped when the count is known.
    let (release, wait) = mpsc::channel::<()>();
    let wait = Arc::new(Mutex::new(wait));

    let started: Vec<JoinHandle<()>> = (0..wanted)
        .map_while(|_| {
            let wait = wait.clone();
            let hold = move || drop(wait.lock().map(|wait| wait.recv()));
            Builder::new().spawn(hold).ok()
        })
        .collect();
    drop(release);

    let count = started.len();
    for thread in started {
        let _ = thread.join();
    }
    count
}

#[cfg(feature = "parallel")]
fn start_pool(threads: usize) {
    let pool = rayon::ThreadPoolBuilder::new();
    // This fails only where a thread pool exists already, and nothing has started one yet.
    let _ = match threads {
        0 => pool.num_threads(1).use_current_thread().build_global(),
        _ => pool.num_threads(threads).build_global(),
    };
}
