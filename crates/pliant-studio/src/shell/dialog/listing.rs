//! Workers of the file dialog: folder contents, typed paths, existing folders.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::engine::storage::files::{Files, FolderEntry};
use crate::engine::work::{Inbox, Latest, Outbox, Wake};
use crate::model::names::io_reason;

/// Contents of a folder.
pub(crate) struct Listing {
    pub(crate) folder: PathBuf,
    pub(crate) entries: Result<Vec<FolderEntry>, String>,
    pub(crate) typed: Option<Typed>,
}

/// Request to the worker.
pub(crate) enum Look {
    /// What there is to begin with: a folder that may be gone, so the nearest above it that is
    /// there.
    Begin(PathBuf),
    /// Contents of a folder.
    In(PathBuf),
    /// Target of a typed path, and whether it is chosen.
    For(PathBuf, Take),
}

/// Target of a typed path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Typed {
    /// A folder.
    Folder,
    /// A name in a folder, of a file that may be there.
    Name(String, Take),
}

/// Whether the typed path is chosen, or only shown in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Take {
    It,
    Nothing,
}

/// Answers the dialog; where a path that was typed leads nowhere, with a message about it.
pub(crate) fn look(files: &dyn Files, question: Look) -> Result<Listing, String> {
    let list = |folder: PathBuf, typed: Option<Typed>| {
        let entries = files
            .list(&folder)
            .map_err(|error| format!("This folder cannot be shown because {}.", io_reason(&error)));
        Listing {
            folder,
            entries,
            typed,
        }
    };
    match question {
        Look::In(folder) => Ok(list(folder, None)),
        Look::Begin(folder) => {
            // The last used folder may be gone; start at the nearest one above it.
            let there = folder
                .ancestors()
                .find(|above| files.is_folder(above))
                .map(Path::to_owned);
            Ok(list(there.unwrap_or(folder), None))
        }
        Look::For(path, _) if files.is_folder(&path) => Ok(list(path, Some(Typed::Folder))),
        Look::For(path, take) => {
            let folder = path.parent().unwrap_or(&path).to_owned();
            let name = path.file_name().unwrap_or_default();

            if !files.is_folder(&folder) {
                return Err(format!(
                    "The folder '{}' does not exist; correct the path, or create the folder first.",
                    folder.display()
                ));
            }

            // The name may belong to a file that does not exist yet.
            let typed = Typed::Name(name.to_string_lossy().into_owned(), take);
            Ok(list(folder, Some(typed)))
        }
    }
}

/// Tells which folders are there.
pub(crate) fn folder_worker(
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
