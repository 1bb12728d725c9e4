//! Request to a file dialog, and the user's choice.

use std::path::PathBuf;

/// A request for files.
#[derive(Debug, Clone, Default)]
pub struct FileRequest {
    /// The title.
    pub title: String,
    /// The text of the button.
    pub action: String,
    /// Whether a new file is named rather than one or more chosen.
    pub saves: bool,
    /// Kinds of files; the first is shown at first.
    pub kinds: Vec<FileKind>,
    /// Where to begin.
    pub folder: PathBuf,
    /// The name that is offered.
    pub name: String,
    /// Something else to choose beside the file, such as what to export; may be empty.
    pub choices: Vec<DialogChoice>,
    /// The label of the choice.
    pub choice_label: String,
    /// Folders to go to with one click.
    pub folders: Vec<PathBuf>,
    /// Whether a whole folder can be chosen: a folder of OBJ files is a rig.
    pub takes_folder: bool,
}

/// Something to choose beside the file.
#[derive(Debug, Clone, Default)]
pub struct DialogChoice {
    /// Text of the list entry.
    pub name: String,
    /// The kinds of files that go with it.
    pub kinds: Vec<FileKind>,
}

/// A kind of files.
#[derive(Debug, Clone, Default)]
pub struct FileKind {
    /// Text of the list entry.
    pub label: String,
    /// Endings without dot; none for all files.
    pub endings: Vec<String>,
}

impl FileKind {
    /// Files with one of these endings.
    #[must_use]
    pub fn new(label: impl Into<String>, endings: Vec<String>) -> Self {
        Self {
            label: label.into(),
            endings,
        }
    }

    pub(crate) fn holds(&self, name: &str) -> bool {
        let ending = name.rsplit_once('.').map(|(_, ending)| ending);
        self.endings.is_empty()
            || self
                .endings
                .iter()
                .any(|known| ending.is_some_and(|ending| ending.eq_ignore_ascii_case(known)))
    }
}

/// The user's choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DialogAnswer {
    /// These files; one when saving.
    Chosen {
        /// The files.
        paths: Vec<PathBuf>,
        /// Which of the choices.
        choice: usize,
    },
    /// None.
    Cancelled,
}
