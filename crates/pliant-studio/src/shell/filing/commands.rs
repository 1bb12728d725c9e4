//! Execution of file commands: dialogs, export, screenshot.

use std::path::{Path, PathBuf};

use eframe::egui;
use web_time::Instant;

use super::saving::saved_view_state;
use super::{ImportMode, PendingAction, Purpose, Recover};
use crate::engine::command::{Command, Notice};
use crate::engine::export::{Exportable, export, exportables};
use crate::engine::file_request::{DialogAnswer, DialogChoice, FileKind, FileRequest};
use crate::engine::import::readable_endings;
use crate::engine::storage::places::{Places, home};
use crate::engine::storage::preferences::Preferences;
use crate::engine::work::Task;
use crate::engine::work::host::{host, take_arrived_files};
use crate::model::names::shown;
use crate::model::project::{ENDING, Project, SessionNote, absolute};
use crate::shell::dialog::FileDialog;
use crate::shell::notices::Topic;
use crate::shell::studio::Studio;

impl Studio {
    /// Keeps unsaved work and preferences in the user's folders from now on, and opens what an
    /// earlier program lost.
    pub fn enable_autosave(&mut self, places: Places, recover: Recover) {
        self.preferences = Preferences::load(&*self.filing.files, &places.config);
        self.filing.kept_preferences = self.preferences.clone();
        if let Err(message) = self.filing.begin(places, recover) {
            self.notify(Notice::error(message));
            self.reopen();
        }
    }

    /// Requests something, as a menu would.
    pub fn request_command(&mut self, command: Command) {
        self.push(command);
    }

    /// The project's file, once it has one.
    #[must_use]
    pub fn project_path(&self) -> Option<&Path> {
        self.filing.path()
    }

    /// Whether the document differs from what the project's file holds.
    pub fn is_unsaved(&mut self) -> bool {
        self.filing
            .is_unsaved(self.history.revision(), self.history.document())
    }

    /// The newest message at the bottom of the window.
    #[must_use]
    pub fn notice(&self) -> Option<&Notice> {
        self.notices.newest()
    }

    /// The program ends.
    pub(crate) fn finish_files(&mut self) {
        self.filing.finish();
    }

    /// Fetches what workers did, files that were dropped, and the request to close the window.
    pub(crate) fn begin_files(&mut self, ctx: &egui::Context) {
        self.fetch_save(ctx);
        self.fetch_opened(ctx);
        self.fetch_import(ctx);
        self.fetch_lost(ctx);
        self.fetch_messages(ctx);
        self.filing.record_stable_start(ctx);

        let dropped = self.dropped_files(ctx);

        if !dropped.is_empty() {
            self.take_files(dropped, ImportMode::Drop);
        }

        // Closing waits for the answer to the question about unsaved changes.
        if ctx.input(|input| input.viewport().close_requested())
            && !self.filing.quitting
            && self.is_unsaved()
        {
            ctx.send_viewport_cmd(egui::ViewportCommand::CancelClose);
            self.filing.question = Some(PendingAction::Quit);
        }
    }

    /// Files that were dropped on the window, or on a page on which no dialog waits for them.
    fn dropped_files(&self, ctx: &egui::Context) -> Vec<PathBuf> {
        if host().is_some() {
            // The page puts files on its disk; those that the window names have no path.
            return if self.filing.dialog.is_some() {
                Vec::new()
            } else {
                take_arrived_files()
            };
        }

        ctx.input(|input| {
            let dropped = input.raw.dropped_files.iter();
            dropped.map(|file| file.path().to_owned()).collect()
        })
    }

    /// Dialogs, on top of everything.
    pub(crate) fn files_ui(&mut self, ctx: &egui::Context) {
        if ctx.input(|input| !input.raw.hovered_files.is_empty()) {
            let hint = self.with_room(self.view_state.room, |room, _| room.drop_hint());
            drop_hint_ui(ctx, hint);
        }

        self.question_ui(ctx);
        self.changed_ui(ctx);
        let Some((dialog, _)) = &mut self.filing.dialog else {
            return;
        };

        match dialog.dialog_ui(ctx) {
            None => {}
            Some(DialogAnswer::Cancelled) => {
                self.filing.dialog = None;
                // Without a file there is nothing to continue after the save.
                self.filing.after_save = None;
            }
            Some(DialogAnswer::Chosen { paths, choice }) => self.chosen(paths, choice),
        }
    }

    /// Keeps unsaved work and preferences, and names the window.
    pub(crate) fn end_files(&mut self, ctx: &egui::Context) {
        let unsaved = self.is_unsaved();
        let Self {
            filing,
            history,
            view_state,
            clock,
            ..
        } = self;

        let note = SessionNote {
            project: filing.path.clone(),
            stamp: filing.stamp.clone(),
        };

        let work = || Project {
            document: history.document().clone(),
            view_state: saved_view_state(view_state, *clock),
            session: Some(note),
        };

        // The autosave asks to be called again when its interval ends.
        if let Some(again) = filing
            .autosave
            .as_mut()
            .and_then(|autosave| autosave.tick(history.revision(), unsaved, Instant::now(), work))
        {
            ctx.request_repaint_after(again);
        }

        self.keep_preferences();
        // A dot in the title marks unsaved changes.
        let dot = if unsaved { "● " } else { "" };
        let title = format!("{dot}{} — Pliant", self.filing.name());

        if title != self.filing.title {
            ctx.send_viewport_cmd(egui::ViewportCommand::Title(title.clone()));
            self.filing.title = title;
        }
    }

    fn keep_preferences(&mut self) {
        if self.filing.kept_preferences == self.preferences {
            return;
        }

        self.filing.kept_preferences = self.preferences.clone();
        // The list of recent projects may have changed.
        self.filing.recent_requested = None;
        if let Some(places) = &self.filing.places {
            self.filing
                .preferences_worker
                .send((self.preferences.clone(), places.config.clone()));
        }
    }

    /// Does what concerns files.
    pub(crate) fn file_command(&mut self, command: Command, ctx: &egui::Context) {
        match command {
            Command::New(document, room) => self.guard(PendingAction::New(document, room), ctx),
            Command::Open(locator) => self.open(&locator, ctx),
            Command::Import(paths) => self.take_files(paths, ImportMode::Import),
            Command::Recover(text) => {
                if let Some(lost) = self
                    .filing
                    .lost
                    .iter()
                    .find(|lost| lost.text == text)
                    .cloned()
                {
                    self.guard(PendingAction::Recover(lost), ctx);
                }
            }
            Command::Save => self.save(),
            Command::SaveAs(path) => self.save_to(path),
            Command::AskOpen => self.open_dialog(Purpose::Open),
            Command::AskImport => self.open_dialog(Purpose::Import),
            Command::AskSave => self.open_dialog(Purpose::Save),
            Command::AskFiles(wanted) => {
                self.open_dialog(Purpose::Room(self.view_state.room, wanted))
            }
            Command::AskExport => self.open_export_dialog(None),
            Command::AskExportOf(wanted) => self.open_export_dialog(Some(wanted)),
            Command::AskScreenshot => self.open_dialog(Purpose::Screenshot),
            Command::Export(path) => self.export(&path, 0),
            Command::Screenshot(path) => self.filing.picture.request(path),
            Command::Quit => self.guard(PendingAction::Quit, ctx),
            // All other commands are for the rooms and the document.
            _ => {}
        }
    }

    fn fetch_messages(&mut self, ctx: &egui::Context) {
        let as_notice = |result: Result<String, String>| match result {
            Ok(message) => Notice::done(message),
            Err(message) => Notice::error(message),
        };

        if let Some(notice) = Task::finished(&mut self.filing.exporting).map(as_notice) {
            self.notices.notify(Topic::Export, notice);
        }

        let pictured = self
            .filing
            .picture
            .update(ctx, &self.filing.files, &self.filing.wake)
            .map(as_notice);

        let autosave = self
            .filing
            .autosave
            .as_mut()
            .and_then(|autosave| autosave.error())
            .map(Notice::error);

        let preferences = self
            .filing
            .preferences_worker
            .result()
            .and_then(Result::err)
            .map(Notice::error);

        // Each worker reports at most one message per frame.
        for notice in [pictured, autosave, preferences].into_iter().flatten() {
            self.notify(notice);
        }
    }

    /// Opens a dialog.
    pub(super) fn open_dialog(&mut self, purpose: Purpose) {
        let folders: Vec<PathBuf> = self.preferences.folders.iter().map(PathBuf::from).collect();
        let own = self
            .filing
            .path
            .as_deref()
            .and_then(Path::parent)
            .map(Path::to_owned);

        // The folder of the project, the last used one, or the home folder.
        let folder = own
            .or_else(|| folders.first().cloned())
            .or_else(home)
            .unwrap_or_else(|| PathBuf::from("."));

        let request = FileRequest {
            folder,
            folders,
            ..request(&purpose, &self.filing.name())
        };
        let dialog = FileDialog::new(request, self.filing.files.clone(), self.wake.clone());

        self.filing.dialog = Some((dialog, purpose));
    }

    /// Opens the dialog with `wanted` as the first choice.
    fn open_export_dialog(&mut self, wanted: Option<&str>) {
        let mut all = self.exportables();
        all.sort_by_key(|one| wanted.is_some_and(|wanted| one.name != wanted));
        if all.is_empty() {
            self.notify(Notice::hint(
                "There is nothing to export yet; open a rig or make a take first.",
            ));
        } else {
            self.open_dialog(Purpose::Export(all));
        }
    }

    /// What can be exported, the open room's own first.
    fn exportables(&mut self) -> Vec<Exportable> {
        let room = self.view_state.room;
        let mut all = self.with_room(room, |room, cx| room.exports(cx));
        let asset = self.document().character.asset.clone();
        let loaded = if asset.is_empty() {
            None
        } else {
            self.library.ready(&asset)
        };

        let character = loaded.as_ref().zip(self.posed());
        let others = exportables(self.document(), character, self.library.folder());
        // The open room may export a take that the timeline also has.
        let more: Vec<Exportable> = others
            .into_iter()
            .filter(|other| all.iter().all(|own| own.name != other.name))
            .collect();

        all.extend(more);
        all
    }

    fn chosen(&mut self, paths: Vec<PathBuf>, choice: usize) {
        let Some((_, purpose)) = self.filing.dialog.take() else {
            return;
        };

        if let Some(folder) = paths.first().and_then(|path| path.parent()) {
            self.preferences.used_folder(folder);
        }

        let Some(first) = paths.first().cloned() else {
            return;
        };

        match purpose {
            Purpose::Open => self.take_files(paths, ImportMode::Open),
            Purpose::Import => self.take_files(paths, ImportMode::Import),
            Purpose::Save => self.save_to(first),
            Purpose::Screenshot => self.filing.picture.request(first),
            Purpose::Export(all) => self.export_one(&first, all.into_iter().nth(choice)),
            Purpose::Room(room, wanted) => {
                self.with_room(room, |room, cx| room.take_files(wanted.what, paths, cx))
            }
        }
    }

    fn export(&mut self, path: &Path, choice: usize) {
        let one = self.exportables().into_iter().nth(choice);
        self.export_one(path, one);
    }

    fn export_one(&mut self, path: &Path, one: Option<Exportable>) {
        let Some(one) = one else {
            self.notices.notify(
                Topic::Export,
                Notice::error("There is nothing to export; open a rig or make a take first."),
            );
            return;
        };

        let path = absolute(path);
        let files = self.filing.files.clone();
        let task = Task::start(
            format!("Exporting {}", shown(&path)),
            self.wake.clone(),
            move |_| export(&one.make, &path, &*files),
        );

        self.watches.push(task.watch().clone());
        self.filing.exporting = Some(task);
    }
}

fn request(purpose: &Purpose, name: &str) -> FileRequest {
    match purpose {
        Purpose::Open => open_request(),
        Purpose::Import => FileRequest {
            title: "Import into this project".into(),
            action: "Import".into(),
            kinds: vec![
                FileKind::new("Meshes, rigs and clips", readable_endings()),
                all_files(),
            ],
            takes_folder: true,
            ..FileRequest::default()
        },
        Purpose::Save => FileRequest {
            title: "Save project".into(),
            action: "Save".into(),
            saves: true,
            kinds: vec![projects()],
            name: format!("{name}.{ENDING}"),
            ..FileRequest::default()
        },
        Purpose::Export(all) => export_request(all, name),
        Purpose::Room(_, wanted) => wanted.request.clone(),
        Purpose::Screenshot => FileRequest {
            title: "Screenshot".into(),
            action: "Save".into(),
            saves: true,
            kinds: vec![FileKind::new("PNG picture", vec!["png".into()])],
            name: format!("{name}.png"),
            ..FileRequest::default()
        },
    }
}

fn open_request() -> FileRequest {
    let mut endings = vec![ENDING.to_owned()];
    endings.extend(readable_endings());
    let all = FileKind::new("Projects, meshes, rigs and clips", endings);
    FileRequest {
        title: "Open".into(),
        action: "Open".into(),
        kinds: vec![all, projects(), all_files()],
        takes_folder: true,
        ..FileRequest::default()
    }
}

fn export_request(all: &[Exportable], name: &str) -> FileRequest {
    // Every exportable has its own formats.
    let mut choices = Vec::new();
    for one in all {
        choices.push(DialogChoice {
            name: one.name.clone(),
            kinds: one.kinds(),
        });
    }

    FileRequest {
        title: "Export".into(),
        action: "Export".into(),
        saves: true,
        kinds: all.first().map(Exportable::kinds).unwrap_or_default(),
        name: name.into(),
        choices,
        choice_label: "What".into(),
        ..FileRequest::default()
    }
}

fn projects() -> FileKind {
    FileKind::new("Pliant project", vec![ENDING.into()])
}

fn all_files() -> FileKind {
    FileKind::new("All files", Vec::new())
}

fn drop_hint_ui(ctx: &egui::Context, hint: &str) {
    let painter = ctx.layer_painter(egui::LayerId::new(
        egui::Order::Foreground,
        egui::Id::unique("drop hint"),
    ));
    let rect = ctx.content_rect();
    let visuals = ctx.global_style().visuals.clone();

    painter.rect_filled(rect, 0.0, visuals.panel_fill.gamma_multiply(0.8));
    let center = egui::Align2::CENTER_CENTER;
    let font = egui::FontId::proportional(20.0);

    painter.text(
        rect.center(),
        center,
        hint,
        font,
        visuals.strong_text_color(),
    );
}
