//! What can be wrong with a project's file, one sentence each.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::files::why;
use crate::names::shown;

/// Why a project could not be opened or saved.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProjectError {
    /// Something else than a project.
    #[error("'{path}' is no Pliant project; a mesh or a clip has another ending than .pliant", path = shown(path))]
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
    #[error("'{path}' is a damaged project: {why}; it was left as it is, so restore it from a copy", path = shown(path))]
    Broken {
        /// The file.
        path: PathBuf,
        /// What and where.
        why: String,
    },
    /// Its file cannot be read.
    #[error("'{path}' could not be opened because {}", why(source), path = shown(path))]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Its file cannot be written.
    #[error("'{path}' was not saved because {}; {}", why(source), way_out(source), path = shown(path))]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The document has no text.
    #[error(
        "The project was not saved because it holds something that would not open again ({why}); undo the last step and save again"
    )]
    Unwritable {
        /// What.
        why: String,
    },
}

impl ProjectError {
    pub(super) fn broken(path: &Path, text: &[u8], error: &serde_json::Error) -> Self {
        let last_line = text
            .rsplit(|byte| *byte == b'\n')
            .next()
            .unwrap_or_default();
        let lines = text.iter().filter(|byte| **byte == b'\n').count() + 1;
        // A number that ends in its middle is no number.
        let at_the_end = (error.line(), error.column()) >= (lines, last_line.len());
        let why = if error.is_eof() || (at_the_end && error.is_syntax()) {
            format!("it is cut off at line {}", error.line())
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
fn way_out(error: &io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "the old file is as it was, so make room or save elsewhere"
        }
        ErrorKind::NotFound | ErrorKind::NotADirectory => {
            "its folder is gone, so save elsewhere with File › Save as"
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "the old file is as it was, so save elsewhere with File › Save as"
        }
        _ => "the old file is as it was, so try again or save elsewhere",
    }
}

/// The message without the place, which is told in our words.
fn what(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ")
        .map_or(text.clone(), |(what, _)| what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_save_that_fails_names_the_way_out_of_its_own_cause() {
        let said = |kind: ErrorKind| {
            ProjectError::Write {
                path: "shots/face.pliant".into(),
                source: kind.into(),
            }
            .to_string()
        };
        assert!(said(ErrorKind::StorageFull).contains("make room"));
        for kind in [
            ErrorKind::NotFound,
            ErrorKind::PermissionDenied,
            ErrorKind::ReadOnlyFilesystem,
        ] {
            assert!(
                !said(kind).contains("make room") && said(kind).contains("File › Save as"),
                "{}",
                said(kind)
            );
        }
        assert!(
            said(ErrorKind::NotFound).contains("folder is gone")
                && !said(ErrorKind::NotFound).contains("as it was")
        );
    }
}
