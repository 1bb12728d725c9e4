//! Results of a cancelled run, with which the next run continues.

use std::path::{Path, PathBuf};

use pliant_learn::{LearnError, TrainingLog};
use pliant_mesh::Stopped;

use crate::cli::report::failure::Failure;
use crate::cli::report::output;

/// The file with the results of an earlier run that was cancelled.
pub(super) struct PartialLog {
    path: PathBuf,
    /// Results of the earlier run that are used.
    pub(super) resumed: usize,
    /// Whether the file belongs to this run, so that it is removed in the end.
    used: bool,
}

impl PartialLog {
    /// Reads the file `OF.partial` into `log`, and adds a warning where it cannot be used.
    pub(super) fn open(of: &Path, log: &mut TrainingLog, warnings: &mut Vec<String>) -> Self {
        let path = PathBuf::from(format!("{}.partial", of.display()));
        let text = std::fs::read_to_string(&path).ok();
        let resumed = text.as_deref().map(|text| log.resume(text));

        // A file that cannot be used is kept: it may belong to another run.
        match resumed {
            Some(Ok(false)) => warnings.push(format!(
                "'{}' belongs to other examples or settings; it was not used",
                path.display()
            )),
            Some(Err(_)) => warnings.push(format!(
                "'{}' is no log of this version; it was not used",
                path.display()
            )),
            _ => {}
        }
        Self {
            path,
            resumed: log.len(),
            used: resumed == Some(Ok(true)),
        }
    }

    /// The failure of a run. If it was cancelled, its results are kept in the file.
    pub(super) fn failure(&self, of: &Path, log: &TrainingLog, error: &LearnError) -> Failure {
        if !Stopped::is_cause_of(error) || log.is_empty() {
            return Failure::about(of.display(), error);
        }
        match output::write(&self.path, log.to_text().into_bytes()) {
            Err(failure) => failure,
            Ok(()) => Failure::new(format!(
                "cancelled; {} results are kept in '{}'; run the same command again to continue",
                log.len(),
                self.path.display()
            )),
        }
    }

    /// Removes the file after a complete run.
    pub(super) fn remove(&self) {
        if self.used {
            let _ = std::fs::remove_file(&self.path);
        }
    }

    /// A line of the summary about resumed results, if there are any.
    pub(super) fn summary(&self) -> String {
        if self.resumed > 0 {
            format!(
                "continued from {} results of a cancelled run\n",
                self.resumed
            )
        } else {
            String::new()
        }
    }
}
