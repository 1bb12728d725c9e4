//! Saving to the project file, unless another program changed it meanwhile.

use std::path::{Path, PathBuf};

use eframe::egui;

use super::{ExpectedFile, Purpose, SaveEnd, SaveFailure, SaveJob};
use crate::engine::command::Notice;
use crate::model::names::shown;
use crate::model::project::{Project, absolute};
use crate::model::view_state::{Clock, ViewState};
use crate::shell::notices::Topic;
use crate::shell::studio::Studio;

impl Studio {
    /// Saves to the project's file, or requests one.
    pub(super) fn save(&mut self) {
        match self.filing.path.clone() {
            // The stamp reveals whether another program changed the file.
            Some(path) => self.order_save(
                path,
                self.filing
                    .stamp
                    .clone()
                    .map_or(ExpectedFile::Unknown, ExpectedFile::As),
            ),
            None => self.open_dialog(Purpose::Save),
        }
    }

    /// Saves to a file, whatever it holds.
    pub(super) fn save_to(&mut self, path: PathBuf) {
        self.order_save(path, ExpectedFile::Unknown);
    }

    fn order_save(&mut self, path: PathBuf, found: ExpectedFile) {
        let project = Project {
            document: self.document().clone(),
            view_state: saved_view_state(&self.view_state, self.clock),
            session: None,
        };
        self.filing.save_worker.send(SaveJob {
            path: absolute(&path),
            generation: self.filing.generation,
            project,
            found,
        });
    }

    pub(super) fn fetch_save(&mut self, ctx: &egui::Context) {
        let end = match self.filing.save_worker.result() {
            None => return,
            Some(Err(message)) => return self.not_saved(message),
            Some(Ok(end)) => end,
        };
        let is_own = end.generation == self.filing.generation;
        let name = shown(&end.path);

        match end.result {
            Err(SaveFailure::Other(message)) => self.not_saved(message),
            Err(SaveFailure::Changed) if is_own => self.filing.changed = Some(end.path),
            Err(SaveFailure::Changed) => self.not_saved(format!(
                "'{name}' was not saved because another program changed it meanwhile."
            )),
            Ok(_) if !is_own => {
                // The saved project is no longer the open one.
                self.preferences.used_project(&end.path);
                self.notices
                    .notify(Topic::Save, Notice::done(format!("Saved {name}.")));
            }
            Ok(ref stamp) => {
                self.notices
                    .notify(Topic::Save, Notice::done(format!("Saved {name}.")));
                self.filing.stamp.clone_from(stamp);
                self.saved(end, ctx);
            }
        }
    }

    fn not_saved(&mut self, message: String) {
        self.filing.after_save = None;
        self.notices.notify(Topic::Save, Notice::error(message));
    }

    fn saved(&mut self, SaveEnd { path, document, .. }: SaveEnd, ctx: &egui::Context) {
        self.now_at(&path);
        self.filing.path = Some(path);
        // The user may have edited during the save.
        self.filing.unsaved = (
            self.history.revision(),
            !self.history.document().same_work(&document),
        );

        self.filing.saved = Some(document);
        if let Some(then) = self.filing.after_save.take() {
            self.guard(then, ctx);
        }
    }

    /// The project's file is this one: relative paths begin there, and the menu has it first.
    pub(super) fn now_at(&mut self, path: &Path) {
        self.preferences.used_project(path);
        if let Some(folder) = path.parent() {
            self.library.set_folder(folder);
        }
    }
}

/// The view state with the shown frame.
pub(super) fn saved_view_state(view_state: &ViewState, clock: Clock) -> ViewState {
    ViewState {
        frame: clock.frame,
        ..view_state.clone()
    }
}
