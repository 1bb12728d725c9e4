//! What a room reads in one frame, and how it requests changes.

use std::sync::Arc;

use super::character::{PosedCharacter, SolveReport};
use super::command::{Command, Notice};
use super::library::Library;
use super::work::{Task, Wake, Watch};
use crate::model::document::{Document, Locator};
use crate::model::history::Edit;
use crate::model::project::{absolute, resolved};
use crate::model::view_state::{Clock, ViewState};

/// What a room reads in a frame, and where it requests changes.
pub struct Cx<'a> {
    /// The document.
    pub document: &'a Document,
    /// The gesture in progress: everything since the last press of a button or key.
    pub gesture: u64,
    /// Assets by name.
    pub library: &'a mut Library,
    /// The character in its current state; `None` while it is loading.
    pub posed: Option<&'a Arc<PosedCharacter>>,
    /// The last drag's solve.
    pub solve: Option<&'a Arc<SolveReport>>,
    /// The view state.
    pub view_state: &'a mut ViewState,
    /// The frame that is shown.
    pub clock: &'a mut Clock,
    /// What should happen after this frame.
    pub commands: &'a mut Vec<Command>,
    /// Running tasks to show.
    pub watches: &'a mut Vec<Arc<Watch>>,
    /// Repaints the window.
    pub wake: &'a Wake,
}

impl Cx<'_> {
    /// Requests a change that is a step of its own.
    pub fn edit(
        &mut self,
        label: impl Into<String>,
        change: impl FnOnce(&mut Document) + Send + 'static,
    ) {
        let edit = Edit {
            label: label.into(),
            gesture: None,
            change: Box::new(change),
        };
        self.commands.push(Command::Edit(edit));
    }

    /// Requests a change that joins the others of this gesture with the same label: a drag.
    pub fn edit_continuously(
        &mut self,
        label: impl Into<String>,
        change: impl FnOnce(&mut Document) + Send + 'static,
    ) {
        self.edit_in_gesture(self.gesture, label, change);
    }

    /// Requests a change that belongs to a gesture that may have begun before keys were pressed.
    pub fn edit_in_gesture(
        &mut self,
        gesture: u64,
        label: impl Into<String>,
        change: impl FnOnce(&mut Document) + Send + 'static,
    ) {
        let edit = Edit {
            label: label.into(),
            gesture: Some(gesture),
            change: Box::new(change),
        };
        self.commands.push(Command::Edit(edit));
    }

    /// Requests the change that a worker computed for a gesture. After the next press, which may be
    /// an undo, the change joins the step of its gesture if that still exists, and is dropped
    /// otherwise.
    pub fn edit_or_amend(
        &mut self,
        gesture: u64,
        label: impl Into<String>,
        change: impl FnOnce(&mut Document) + Send + 'static,
    ) {
        let edit = Edit {
            label: label.into(),
            gesture: Some(gesture),
            change: Box::new(change),
        };

        // A gesture that has ended is amended, so that no step is added.
        self.commands.push(if gesture == self.gesture {
            Command::Edit(edit)
        } else {
            Command::Amend(edit)
        });
    }

    /// Sends a command that does not change the document.
    pub fn command(&mut self, command: Command) {
        self.commands.push(command);
    }

    /// Shows a notice at the bottom of the window.
    pub fn notify(&mut self, notice: Notice) {
        self.commands.push(Command::Notify(notice));
    }

    /// Starts long work with a progress bar and a cancel button at the bottom of the window.
    pub fn start<T: Send + 'static>(
        &mut self,
        name: impl Into<String>,
        work: impl FnOnce(&Watch) -> Result<T, String> + Send + 'static,
    ) -> Task<T> {
        let task = Task::start(name, self.wake.clone(), work);
        self.watches.push(task.watch().clone());
        task
    }

    /// The locator that was typed, with its paths absolute: a relative one would be lost once the
    /// project is saved elsewhere.
    #[must_use]
    pub fn locator(&self, text: &str) -> Locator {
        resolved(text.trim(), &absolute(self.library.folder()))
    }

    /// The last frame of what the open room plays: of the keys, or of the take in their place.
    #[must_use]
    pub fn last_frame(&mut self) -> u32 {
        self.known_last_frame()
            .unwrap_or(self.document.timeline.last_frame)
    }

    /// As [`last_frame`](Self::last_frame); `None` while the file of the take is not there.
    pub(crate) fn known_last_frame(&mut self) -> Option<u32> {
        let asset = &self.document.character.asset;
        let file = if asset.is_empty() {
            None
        } else {
            self.library.ready(asset)
        };
        let clips = file.as_ref().map_or(&[][..], |file| &file.asset.clips);
        self.document.last_frame_in(self.view_state.room, clips)
    }
}
