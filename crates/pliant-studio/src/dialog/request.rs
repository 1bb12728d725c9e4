//! What a dialog asks a person, and what comes back.

use std::path::PathBuf;

/// What a person is asked for.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// What stands at the top.
    pub title: String,
    /// What the button says.
    pub action: String,
    /// Whether a new file is named rather than one or more chosen.
    pub saves: bool,
    /// Kinds of files; the first is shown at first.
    pub kinds: Vec<Kind>,
    /// Where to begin.
    pub folder: PathBuf,
    /// The name that is offered.
    pub name: String,
    /// Something else to choose beside the file, such as what to export; may be empty.
    pub choices: Vec<Choice>,
    /// What the choice is called.
    pub choice_label: String,
    /// Folders to go to with one click.
    pub folders: Vec<PathBuf>,
}

/// Something to choose beside the file.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// What the list says.
    pub name: String,
    /// The kinds of files that go with it.
    pub kinds: Vec<Kind>,
}

/// A kind of files.
#[derive(Debug, Clone, Default)]
pub struct Kind {
    /// What the list says.
    pub label: String,
    /// Endings without dot; none for all files.
    pub endings: Vec<String>,
}

impl Kind {
    /// Files with one of these endings.
    #[must_use]
    pub fn new(label: impl Into<String>, endings: Vec<String>) -> Self {
        Self {
            label: label.into(),
            endings,
        }
    }

    pub(super) fn holds(&self, name: &str) -> bool {
        let ending = name.rsplit_once('.').map(|(_, ending)| ending);
        self.endings.is_empty()
            || self
                .endings
                .iter()
                .any(|known| ending.is_some_and(|ending| ending.eq_ignore_ascii_case(known)))
    }
}

/// What a person answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
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
