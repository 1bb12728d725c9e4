//! Errors of reading and writing a project file.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::model::names::{io_reason, shown};

/// Why a project could not be opened or saved.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProjectError {
    /// Something else than a project.
    #[error("'{path}' is not a Pliant project; only projects have the ending .pliant", path = shown(path))]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// Made by a newer program.
    #[error("'{path}' was saved by a newer Pliant (project version {version}, this one reads up to {known}); update Pliant to open it", path = shown(path))]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u64,
        /// The newest version that is known here.
        known: u64,
    },
    /// A project that cannot be understood.
    #[error("'{path}' is a damaged project: {why}; the file was not changed, so restore it from a backup", path = shown(path))]
    Broken {
        /// The file.
        path: PathBuf,
        /// What and where.
        why: String,
    },
    /// Its file cannot be read.
    #[error("'{path}' could not be opened because {}", io_reason(source), path = shown(path))]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Its file cannot be written.
    #[error("'{path}' was not saved because {}; {}", io_reason(source), advice(source), path = shown(path))]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The document has no text.
    #[error(
        "The project was not saved because it contains a value that cannot be read again ({why}); undo the last step and save again"
    )]
    Unwritable {
        /// What.
        why: String,
    },
}

impl ProjectError {
    pub(crate) fn broken(path: &Path, text: &[u8], error: &serde_json::Error) -> Self {
        let last_line = text
            .rsplit(|byte| *byte == b'\n')
            .next()
            .unwrap_or_default();
        let lines = text.iter().filter(|byte| **byte == b'\n').count() + 1;

        // A number that is cut in two is a syntax error.
        let at_the_end = (error.line(), error.column()) >= (lines, last_line.len());
        let why = if error.is_eof() || (at_the_end && error.is_syntax()) {
            format!("it ends unexpectedly at line {}", error.line())
        } else {
            format!(
                "line {}, column {}: {}",
                error.line(),
                error.column(),
                what(error)
            )
        };

        Self::Broken {
            path: path.into(),
            why,
        }
    }
}

/// What to do about a file that cannot be written; the old one, where there is one, is as it was.
fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "the old file is unchanged; free some space or save elsewhere"
        }
        ErrorKind::NotFound | ErrorKind::NotADirectory => {
            "its folder no longer exists; save elsewhere with File › Save as"
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "the old file is unchanged; save elsewhere with File › Save as"
        }
        _ => "the old file is unchanged; try again or save elsewhere",
    }
}

/// The message without the place, which is reported in our words.
fn what(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ")
        .map_or(text.clone(), |(what, _)| what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_save_gives_advice_for_its_cause() {
        let message = |kind: ErrorKind| {
            ProjectError::Write {
                path: "shots/face.pliant".into(),
                source: kind.into(),
            }
            .to_string()
        };

        // Advice about space would mislead where the folder is the cause.
        assert!(message(ErrorKind::StorageFull).contains("free some space"));
        for kind in [
            ErrorKind::NotFound,
            ErrorKind::PermissionDenied,
            ErrorKind::ReadOnlyFilesystem,
        ] {
            assert!(
                !message(kind).contains("free some space")
                    && message(kind).contains("File › Save as"),
                "{}",
                message(kind)
            );
        }

        assert!(
            message(ErrorKind::NotFound).contains("folder no longer exists")
                && !message(ErrorKind::NotFound).contains("unchanged")
        );
    }
}
