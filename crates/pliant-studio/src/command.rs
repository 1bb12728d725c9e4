//! What a widget may ask for beside edits; one place, the [`Studio`](crate::Studio), does it.

use std::path::PathBuf;

use crate::dialog::Request;
use crate::document::{Document, Locator};
use crate::history::Edit;
use crate::rooms::RoomName;

/// Something that should happen.
#[derive(Debug)]
pub enum Command {
    /// Change the document.
    Edit(Edit),
    /// Change the document as a part of the step that the edit's gesture made; not after that was
    /// taken back or another followed.
    Amend(Edit),
    /// Take the latest step back.
    Undo,
    /// Make it again.
    Redo,
    /// Show a sentence.
    Tell(Notice),
    /// Open a room.
    Room(RoomName),
    /// Start with an empty project; `Document` is what it holds, such as an example's.
    New(Box<Document>, RoomName),
    /// Ask for a file and open it.
    AskOpen,
    /// Ask for files and import them.
    AskImport,
    /// Ask for files for the open room, which gets them by
    /// [`Room::take_files`](crate::rooms::Room::take_files).
    AskFiles(Wanted),
    /// Ask for a file to export to.
    AskExport,
    /// Ask for the name of a picture.
    AskScreenshot,
    /// Open a project, or a new one without a file whose character is an asset; a file that only
    /// moves the character is imported.
    Open(Locator),
    /// Bring files into this project: another character, targets or takes of it.
    Import(Vec<PathBuf>),
    /// Open unsaved work of an earlier start, by its text.
    Recover(PathBuf),
    /// Save to the project's file, or ask for one.
    Save,
    /// Ask for a file and save there.
    AskSave,
    /// Save there.
    SaveAs(PathBuf),
    /// Export what the open room shows to a file whose ending names the format.
    Export(PathBuf),
    /// Take a picture of the window.
    Screenshot(PathBuf),
    /// Put the camera in front of everything, or of the selection.
    Frame {
        /// Only what is selected.
        selection: bool,
    },
    /// Close the window.
    Quit,
}

/// Files that a room asks a person for.
#[derive(Debug)]
pub struct Wanted {
    /// What they are for, in the room's own words; comes back with them.
    pub what: &'static str,
    /// What the dialog says; its folders are filled in.
    pub request: Request,
}

/// A sentence for a person.
#[derive(Debug, Clone, PartialEq)]
pub struct Notice {
    /// The sentence.
    pub text: String,
    /// How bad it is.
    pub mood: Mood,
}

/// How bad a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mood {
    /// Something was done.
    Done,
    /// Something should be known.
    Hint,
    /// Something did not work.
    Trouble,
}

impl Notice {
    /// Something was done.
    #[must_use]
    pub fn done(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            mood: Mood::Done,
        }
    }

    /// Something should be known.
    #[must_use]
    pub fn hint(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            mood: Mood::Hint,
        }
    }

    /// Something did not work; the sentence says what and what to do.
    #[must_use]
    pub fn trouble(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            mood: Mood::Trouble,
        }
    }
}
