//! Long work that Ctrl-C ends cleanly and that the next run goes on with.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pliant_learn::{LearnError, TrainingLog};
use pliant_mesh::Progress;

use super::failure::Failure;
use super::output;

/// What a shell expects of a program that Ctrl-C ended.
const INTERRUPTED: i32 = 130;

/// Progress that breaks off once Ctrl-C was pressed; pressed again, it ends the program at once.
pub(crate) struct Interruptible<'a> {
    bar: &'a dyn Progress,
    asked: Arc<AtomicBool>,
}

impl<'a> Interruptible<'a> {
    pub(crate) fn new(bar: &'a dyn Progress) -> Self {
        let asked = Arc::new(AtomicBool::new(false));
        let flag = asked.clone();
        // Where no handler can be set, Ctrl-C ends the program as ever.
        let _ = ctrlc::set_handler(move || {
            if flag.swap(true, Ordering::SeqCst) {
                std::process::exit(INTERRUPTED);
            }
        });
        Self { bar, asked }
    }
}

impl Progress for Interruptible<'_> {
    fn report(&self, stage: &str, done: f64) -> ControlFlow<()> {
        if self.asked.load(Ordering::SeqCst) {
            ControlFlow::Break(())
        } else {
            self.bar.report(stage, done)
        }
    }
}

/// The file with what an earlier run had found out.
pub(crate) struct Partial {
    path: PathBuf,
    /// Results taken over.
    pub(crate) resumed: usize,
    ours: bool,
}

impl Partial {
    /// Takes over what lies beside `of`, and says in `problems` what cannot be.
    pub(crate) fn open(of: &Path, log: &mut TrainingLog, problems: &mut Vec<String>) -> Self {
        let path = PathBuf::from(format!("{}.partial", of.display()));
        let text = std::fs::read_to_string(&path).ok();
        let taken = text.as_deref().map(|text| log.resume(text));
        match taken {
            Some(Ok(false)) => problems.push(format!(
                "'{}' belongs to other examples or settings; it was not used",
                path.display()
            )),
            Some(Err(_)) => problems.push(format!(
                "'{}' is no log of this version; it was not used",
                path.display()
            )),
            _ => {}
        }
        Self {
            path,
            resumed: log.len(),
            ours: taken == Some(Ok(true)),
        }
    }

    /// Keeps what was found out by work that was cancelled.
    pub(crate) fn failure(&self, what: &Path, log: &TrainingLog, error: &LearnError) -> Failure {
        if *error != LearnError::Cancelled || log.is_empty() {
            return Failure::about(what.display(), error);
        }
        match output::write(&self.path, log.to_text().into_bytes()) {
            Err(failure) => failure,
            Ok(()) => Failure::could_not(format!(
                "cancelled; {} results are kept in '{}', from which the same command goes on",
                log.len(),
                self.path.display()
            )),
        }
    }

    /// The work is done: its log is not needed any more.
    pub(crate) fn remove(&self) {
        if self.ours {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
