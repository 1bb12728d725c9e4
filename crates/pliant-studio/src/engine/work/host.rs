//! What a program gives the studio that is not a program of its own: a web page.
//!
//! A program on a desktop starts threads, wakes its window from any of them, and has a file system.
//! A page starts workers, wakes its window by a message, and takes files from the person or hands
//! them over. It [installs](install) a [`Host`] before the studio starts.

use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Work for a thread.
pub type Job = Box<dyn FnOnce() + Send>;

/// The functions of a page.
#[derive(Debug, Clone, Copy)]
pub struct Host {
    /// Runs a job on a thread of its own; gives it back where there are no threads.
    pub spawn: fn(Job) -> Result<(), Job>,
    /// Repaints the window if this is not its thread; otherwise returns `false`.
    pub wake: fn() -> bool,
    /// Asks the person for files with these endings; they [arrive](files_arrived) later.
    pub ask_files: fn(&[String]),
    /// Hands a file of the disk in memory over to the person.
    pub give_file: fn(PathBuf),
}

static HOST: OnceLock<Host> = OnceLock::new();
static ARRIVED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Installs the page, once.
pub fn install(host: Host) {
    // A second one would be a defect of the page; the first stays.
    let _ = HOST.set(host);
}

/// The page; `None` in a program of its own.
#[must_use]
pub fn host() -> Option<&'static Host> {
    HOST.get()
}

/// Files that the person chose or dropped are on the disk in memory.
pub fn files_arrived(paths: Vec<PathBuf>) {
    arrived().extend(paths);
}

/// The files that arrived since the last call.
pub(crate) fn take_arrived_files() -> Vec<PathBuf> {
    std::mem::take(&mut *arrived())
}

fn arrived() -> std::sync::MutexGuard<'static, Vec<PathBuf>> {
    ARRIVED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a job on a thread of its own; gives it back where none can be started.
pub(super) fn spawn(name: &str, job: Job) -> Result<(), Job> {
    match host() {
        Some(host) => (host.spawn)(job),
        None => spawn_thread(name, job),
    }
}

#[cfg(feature = "parallel")]
fn spawn_thread(name: &str, job: Job) -> Result<(), Job> {
    // The builder does not give a job back that it cannot start.
    let place = std::sync::Arc::new(Mutex::new(Some(job)));
    let taken = place.clone();
    let take =
        |place: &Mutex<Option<Job>>| place.lock().unwrap_or_else(PoisonError::into_inner).take();
    let run = move || {
        if let Some(job) = take(&taken) {
            job();
        }
    };

    match std::thread::Builder::new().name(name.into()).spawn(run) {
        Ok(_) => Ok(()),
        Err(_) => take(&place).map_or(Ok(()), Err),
    }
}

#[cfg(not(feature = "parallel"))]
fn spawn_thread(_: &str, job: Job) -> Result<(), Job> {
    Err(job)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_arrive_are_taken_once() {
        files_arrived(vec!["/files/a.obj".into()]);
        assert_eq!(take_arrived_files(), [PathBuf::from("/files/a.obj")]);
        assert!(take_arrived_files().is_empty());
    }

    #[test]
    #[cfg(feature = "parallel")]
    fn a_job_runs_on_a_thread_of_its_own() {
        let (send, receive) = std::sync::mpsc::channel();
        let own = std::thread::current().id();
        let job = move || send.send(std::thread::current().id()).unwrap_or(());
        assert!(spawn("test", Box::new(job)).is_ok());
        assert_ne!(receive.recv().unwrap(), own);
    }
}
