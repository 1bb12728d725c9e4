//! Commands that widgets send; only the [`Studio`](crate::Studio) executes them.

use std::path::PathBuf;

use super::character::Drag;
use super::file_request::FileRequest;
use crate::model::document::{Document, Locator};
use crate::model::history::Edit;
use crate::model::room::RoomName;

/// A command.
#[derive(Debug)]
pub enum Command {
    /// Change the document.
    Edit(Edit),
    /// Change the document as a part of the step of the edit's gesture; ignored after that step was
    /// undone or another followed.
    Amend(Edit),
    /// Solve for pins that are dragged: the character follows.
    Drag(Drag),
    /// Undo the latest step.
    Undo,
    /// Redo it.
    Redo,
    /// Show a notice.
    Notify(Notice),
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
    AskFiles(RoomFileRequest),
    /// Ask for a file to export to.
    AskExport,
    /// Ask for a file to export this to, by its name in the list.
    AskExportOf(&'static str),
    /// Ask for the name of a picture.
    AskScreenshot,
    /// Open a project, or a new one without a file whose character is an asset; a file that only
    /// moves the character is imported.
    Open(Locator),
    /// Import files into this project: another character, targets or takes.
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
    /// Frame everything, or the selection.
    Frame {
        /// Only what is selected.
        selection: bool,
    },
    /// Open the panel for live performances and the cleaning of takes.
    ShowCapture,
    /// Close the window.
    Quit,
}

/// A room's request for files.
#[derive(Debug)]
pub struct RoomFileRequest {
    /// The key by which the room recognises the result.
    pub what: &'static str,
    /// The texts of the dialog; its folders are filled in later.
    pub request: FileRequest,
}

/// A message for the user.
#[derive(Debug, Clone, PartialEq)]
pub struct Notice {
    /// The message.
    pub text: String,
    /// Its severity.
    pub severity: Severity,
}

/// The severity of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// Something was done.
    Done,
    /// Something should be known.
    Hint,
    /// Something did not work.
    Error,
}

impl Notice {
    /// Something was done.
    #[must_use]
    pub fn done(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            severity: Severity::Done,
        }
    }

    /// Something should be known.
    #[must_use]
    pub fn hint(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            severity: Severity::Hint,
        }
    }

    /// A failure, with advice.
    #[must_use]
    pub fn error(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            severity: Severity::Error,
        }
    }
}
