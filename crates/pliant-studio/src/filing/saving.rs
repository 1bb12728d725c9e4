//! Saving: to the project's own file, unless somebody else wrote to it meanwhile.

use std::path::{Path, PathBuf};

use eframe::egui;

use super::{Purpose, SaveEnd, SaveFailure, SaveJob, Stays};
use crate::command::Notice;
use crate::desk::{Clock, Desk};
use crate::names::shown;
use crate::notices::Topic;
use crate::project::{Project, absolute};
use crate::studio::Studio;

impl Studio {
    /// Saves to the project's file, or asks for one.
    pub(super) fn save(&mut self) {
        match self.filing.path.clone() {
            Some(path) => self.order_save(
                path,
                self.filing.stamp.clone().map_or(Stays::Unknown, Stays::As),
            ),
            None => self.ask(Purpose::Save),
        }
    }

    /// Saves to a file, whatever it holds.
    pub(super) fn save_to(&mut self, path: PathBuf) {
        self.order_save(path, Stays::Unknown);
    }

    fn order_save(&mut self, path: PathBuf, found: Stays) {
        let project = Project {
            document: self.document().clone(),
            desk: kept_desk(&self.desk, self.clock),
            session: None,
        };
        self.filing.saver.ask(SaveJob {
            path: absolute(&path),
            generation: self.filing.generation,
            project,
            found,
        });
    }

    pub(super) fn fetch_save(&mut self, ctx: &egui::Context) {
        let end = match self.filing.saver.answer() {
            None => return,
            Some(Err(sentence)) => return self.not_saved(sentence),
            Some(Ok(end)) => end,
        };
        let is_own = end.generation == self.filing.generation;
        let name = shown(&end.path);
        match end.result {
            Err(SaveFailure::Other(sentence)) => self.not_saved(sentence),
            Err(SaveFailure::Changed) if is_own => self.filing.changed = Some(end.path),
            Err(SaveFailure::Changed) => self.not_saved(format!(
                "'{name}' was not saved because another program changed it meanwhile."
            )),
            Ok(_) if !is_own => {
                // The project that was saved is no longer the one on the desk.
                self.preferences.used_project(&end.path);
                self.notices
                    .tell(Topic::Save, Notice::done(format!("Saved {name}.")));
            }
            Ok(ref stamp) => {
                self.notices
                    .tell(Topic::Save, Notice::done(format!("Saved {name}.")));
                self.filing.stamp.clone_from(stamp);
                self.saved(end, ctx);
            }
        }
    }

    fn not_saved(&mut self, sentence: String) {
        self.filing.after_save = None;
        self.notices.tell(Topic::Save, Notice::trouble(sentence));
    }

    fn saved(&mut self, SaveEnd { path, document, .. }: SaveEnd, ctx: &egui::Context) {
        self.now_at(&path);
        self.filing.path = Some(path);
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

/// The desk with the frame that is shown.
pub(super) fn kept_desk(desk: &Desk, clock: Clock) -> Desk {
    Desk {
        frame: clock.frame,
        ..desk.clone()
    }
}
