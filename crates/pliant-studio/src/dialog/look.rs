//! What the dialog has its workers look for.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::files::{Entry, Files, why};
use crate::work::{Inbox, Latest, Outbox, Wake};

/// What is in a folder.
pub(super) struct Listing {
    pub(super) folder: PathBuf,
    pub(super) entries: Result<Vec<Entry>, String>,
    pub(super) typed: Option<Typed>,
}

/// What the worker is asked.
pub(super) enum Look {
    /// What there is to begin with: a folder that may be gone, so the nearest above it that is
    /// there.
    Begin(PathBuf),
    /// What is in a folder.
    In(PathBuf),
    /// What a path that was typed leads to, and whether it is to be taken.
    For(PathBuf, Take),
}

/// What a path that was typed leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Typed {
    /// A folder.
    Folder,
    /// A name in a folder, of a file that may be there.
    Name(String, Take),
}

/// Whether what was typed is the answer, or only shown in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Take {
    It,
    Nothing,
}

/// Answers the dialog; where a path that was typed leads nowhere, with a sentence about it.
pub(super) fn look(files: &dyn Files, question: Look) -> Result<Listing, String> {
    let list = |folder: PathBuf, typed: Option<Typed>| {
        let entries = files
            .list(&folder)
            .map_err(|error| format!("This folder cannot be shown because {}.", why(&error)));
        Listing {
            folder,
            entries,
            typed,
        }
    };
    match question {
        Look::In(folder) => Ok(list(folder, None)),
        Look::Begin(folder) => {
            let there = folder
                .ancestors()
                .find(|above| files.is_folder(above))
                .map(Path::to_owned);
            Ok(list(there.unwrap_or(folder), None))
        }
        Look::For(path, _) if files.is_folder(&path) => Ok(list(path, Some(Typed::Folder))),
        Look::For(path, take) => {
            let (folder, name) = (
                path.parent().unwrap_or(&path).to_owned(),
                path.file_name().unwrap_or_default(),
            );
            if !files.is_folder(&folder) {
                return Err(format!(
                    "There is no folder '{}'; correct the path, or make the folder first.",
                    folder.display()
                ));
            }
            let typed = Typed::Name(name.to_string_lossy().into_owned(), take);
            Ok(list(folder, Some(typed)))
        }
    }
}

/// Tells which folders are there.
pub(super) fn place_looker(
    files: Arc<dyn Files>,
    wake: Wake,
) -> Latest<Vec<PathBuf>, Vec<PathBuf>> {
    Latest::new(
        "Looking for folders",
        wake,
        move |inbox: &Inbox<Vec<PathBuf>>, outbox: &Outbox<Vec<PathBuf>>| {
            while let Some(folders) = inbox.next() {
                outbox.put(Ok(folders
                    .into_iter()
                    .filter(|folder| files.is_folder(folder))
                    .collect()));
            }
        },
    )
}
