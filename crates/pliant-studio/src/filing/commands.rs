//! What the studio does with files when it is told to.

use std::path::{Path, PathBuf};

use eframe::egui;
use web_time::Instant;

use super::saving::kept_desk;
use super::{Bring, Purpose, Recover, Then};
use crate::command::{Command, Notice};
use crate::dialog::{Answer, Choice, FileDialog, Kind, Request};
use crate::export::{Exportable, export, exportables};
use crate::import::readable_endings;
use crate::names::shown;
use crate::notices::Topic;
use crate::places::{Places, home};
use crate::preferences::Preferences;
use crate::project::{ENDING, Project, SessionNote, absolute};
use crate::studio::Studio;
use crate::work::Task;

impl Studio {
    /// Keeps unsaved work and preferences in the person's folders from now on, and opens what an
    /// earlier program lost.
    pub fn keep_work(&mut self, places: Places, recover: Recover) {
        self.preferences = Preferences::load(&*self.filing.files, &places.config);
        self.filing.kept_preferences = self.preferences.clone();
        if let Err(sentence) = self.filing.begin(places, recover) {
            self.tell(Notice::trouble(sentence));
            self.open_instead();
        }
    }

    /// Asks for something, as a menu would.
    pub fn ask_for(&mut self, command: Command) {
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

    /// The newest sentence at the bottom of the window.
    #[must_use]
    pub fn notice(&self) -> Option<&Notice> {
        self.notices.newest()
    }

    /// The program ends.
    pub(crate) fn finish_files(&mut self) {
        self.filing.finish();
    }

    /// Fetches what workers did, files that were dropped, and the wish to close the window.
    pub(crate) fn begin_files(&mut self, ctx: &egui::Context) {
        self.fetch_save(ctx);
        self.fetch_opened(ctx);
        self.fetch_import(ctx);
        self.fetch_lost(ctx);
        self.fetch_sentences(ctx);
        self.filing.outlive_start(ctx);
        let dropped: Vec<PathBuf> = ctx.input(|input| {
            input
                .raw
                .dropped_files
                .iter()
                .map(|file| file.path().to_owned())
                .collect()
        });
        if !dropped.is_empty() {
            self.take_files(dropped, Bring::Drop);
        }
        if ctx.input(|input| input.viewport().close_requested())
            && !self.filing.quitting
            && self.is_unsaved()
        {
            ctx.send_viewport_cmd(egui::ViewportCommand::CancelClose);
            self.filing.question = Some(Then::Quit);
        }
    }

    /// Dialogs, on top of everything.
    pub(crate) fn files_ui(&mut self, ctx: &egui::Context) {
        if ctx.input(|input| !input.raw.hovered_files.is_empty()) {
            let hint = self.with_room(self.desk.room, |room, _| room.drop_hint());
            drop_hint_ui(ctx, hint);
        }
        self.question_ui(ctx);
        self.changed_ui(ctx);
        let Some((dialog, _)) = &mut self.filing.dialog else {
            return;
        };
        match dialog.dialog_ui(ctx) {
            None => {}
            Some(Answer::Cancelled) => {
                self.filing.dialog = None;
                self.filing.after_save = None;
            }
            Some(Answer::Chosen { paths, choice }) => self.chosen(paths, choice),
        }
    }

    /// Keeps unsaved work and preferences, and names the window.
    pub(crate) fn end_files(&mut self, ctx: &egui::Context) {
        let unsaved = self.is_unsaved();
        let Self {
            filing,
            history,
            desk,
            clock,
            ..
        } = self;
        let note = SessionNote {
            project: filing.path.clone(),
            stamp: filing.stamp.clone(),
        };
        let work = || Project {
            document: history.document().clone(),
            desk: kept_desk(desk, *clock),
            session: Some(note),
        };
        if let Some(again) = filing
            .autosave
            .as_mut()
            .and_then(|autosave| autosave.tick(history.revision(), unsaved, Instant::now(), work))
        {
            ctx.request_repaint_after(again);
        }
        self.keep_preferences();
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
        self.filing.recent_asked = None;
        if let Some(places) = &self.filing.places {
            self.filing
                .keeper
                .ask((self.preferences.clone(), places.config.clone()));
        }
    }

    /// Does what concerns files.
    pub(crate) fn file_command(&mut self, command: Command, ctx: &egui::Context) {
        match command {
            Command::New(document, room) => self.guard(Then::New(document, room), ctx),
            Command::Open(locator) => self.open(&locator, ctx),
            Command::Import(paths) => self.take_files(paths, Bring::Import),
            Command::Recover(text) => {
                if let Some(lost) = self
                    .filing
                    .lost
                    .iter()
                    .find(|lost| lost.text == text)
                    .cloned()
                {
                    self.guard(Then::Recover(lost), ctx);
                }
            }
            Command::Save => self.save(),
            Command::SaveAs(path) => self.save_to(path),
            Command::AskOpen => self.ask(Purpose::Open),
            Command::AskImport => self.ask(Purpose::Import),
            Command::AskSave => self.ask(Purpose::Save),
            Command::AskFiles(wanted) => self.ask(Purpose::Room(self.desk.room, wanted)),
            Command::AskExport => self.ask_export(),
            Command::AskScreenshot => self.ask(Purpose::Screenshot),
            Command::Export(path) => self.export(&path, 0),
            Command::Screenshot(path) => self.filing.picture.want(path),
            Command::Quit => self.guard(Then::Quit, ctx),
            _ => {}
        }
    }

    fn fetch_sentences(&mut self, ctx: &egui::Context) {
        let told = |result: Result<String, String>| match result {
            Ok(sentence) => Notice::done(sentence),
            Err(sentence) => Notice::trouble(sentence),
        };
        if let Some(notice) = Task::finished(&mut self.filing.exporting).map(told) {
            self.notices.tell(Topic::Export, notice);
        }
        let pictured = self
            .filing
            .picture
            .update(ctx, &self.filing.files, &self.filing.wake)
            .map(told);
        let autosave = self
            .filing
            .autosave
            .as_mut()
            .and_then(|autosave| autosave.trouble())
            .map(Notice::trouble);
        let preferences = self
            .filing
            .keeper
            .answer()
            .and_then(Result::err)
            .map(Notice::trouble);
        [pictured, autosave, preferences]
            .into_iter()
            .flatten()
            .for_each(|notice| self.tell(notice));
    }

    /// Opens a dialog.
    pub(super) fn ask(&mut self, purpose: Purpose) {
        let folders: Vec<PathBuf> = self.preferences.folders.iter().map(PathBuf::from).collect();
        let own = self
            .filing
            .path
            .as_deref()
            .and_then(Path::parent)
            .map(Path::to_owned);
        let folder = own
            .or_else(|| folders.first().cloned())
            .or_else(home)
            .unwrap_or_else(|| PathBuf::from("."));
        let request = Request {
            folder,
            folders,
            ..request(&purpose, &self.filing.name())
        };
        let dialog = FileDialog::new(request, self.filing.files.clone(), self.wake.clone());
        self.filing.dialog = Some((dialog, purpose));
    }

    fn ask_export(&mut self) {
        let all = self.exportables();
        if all.is_empty() {
            self.tell(Notice::hint(
                "There is nothing to export yet; open a rig or make a take first.",
            ));
        } else {
            self.ask(Purpose::Export(all));
        }
    }

    /// What can be exported, the open room's own first.
    fn exportables(&mut self) -> Vec<Exportable> {
        let room = self.desk.room;
        let mut all = self.with_room(room, |room, cx| room.exports(cx));
        let asset = self.document().character.asset.clone();
        let loaded = if asset.is_empty() {
            None
        } else {
            self.library.ready(&asset)
        };
        let character = loaded.as_ref().zip(self.posed());
        let others = exportables(self.document(), character, self.library.folder());
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
            Purpose::Open => self.take_files(paths, Bring::Open),
            Purpose::Import => self.take_files(paths, Bring::Import),
            Purpose::Save => self.save_to(first),
            Purpose::Screenshot => self.filing.picture.want(first),
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
            self.notices.tell(
                Topic::Export,
                Notice::trouble("There is nothing to export; open a rig or make a take first."),
            );
            return;
        };
        let (path, files) = (absolute(path), self.filing.files.clone());
        let task = Task::start(
            format!("Exporting {}", shown(&path)),
            self.wake.clone(),
            move |_| export(&one.make, &path, &*files),
        );
        self.watches.push(task.watch().clone());
        self.filing.exporting = Some(task);
    }
}

fn request(purpose: &Purpose, name: &str) -> Request {
    let projects = || Kind::new("Pliant project", vec![ENDING.into()]);
    match purpose {
        Purpose::Open => {
            let endings = std::iter::once(ENDING.to_owned()).chain(readable_endings());
            let all = Kind::new("Projects, meshes, rigs and clips", endings.collect());
            let kinds = vec![all, projects(), Kind::new("All files", Vec::new())];
            Request {
                title: "Open".into(),
                action: "Open".into(),
                kinds,
                ..Request::default()
            }
        }
        Purpose::Import => {
            let kinds = vec![
                Kind::new("Meshes, rigs and clips", readable_endings()),
                Kind::new("All files", Vec::new()),
            ];
            Request {
                title: "Import into this project".into(),
                action: "Import".into(),
                kinds,
                ..Request::default()
            }
        }
        Purpose::Save => {
            let name = format!("{name}.{ENDING}");
            Request {
                title: "Save project".into(),
                action: "Save".into(),
                saves: true,
                kinds: vec![projects()],
                name,
                ..Request::default()
            }
        }
        Purpose::Export(all) => {
            let kinds = all.first().map(Exportable::kinds).unwrap_or_default();
            let choices = all
                .iter()
                .map(|one| Choice {
                    name: one.name.clone(),
                    kinds: one.kinds(),
                })
                .collect();
            let (title, action, choice_label) = ("Export".into(), "Export".into(), "What".into());
            Request {
                title,
                action,
                saves: true,
                kinds,
                name: name.into(),
                choices,
                choice_label,
                ..Request::default()
            }
        }
        Purpose::Room(_, wanted) => wanted.request.clone(),
        Purpose::Screenshot => {
            let kinds = vec![Kind::new("PNG picture", vec!["png".into()])];
            Request {
                title: "Screenshot".into(),
                action: "Save".into(),
                saves: true,
                kinds,
                name: format!("{name}.png"),
                ..Request::default()
            }
        }
    }
}

fn drop_hint_ui(ctx: &egui::Context, hint: &str) {
    let painter = ctx.layer_painter(egui::LayerId::new(
        egui::Order::Foreground,
        egui::Id::unique("drop hint"),
    ));
    let (rect, visuals) = (ctx.content_rect(), ctx.global_style().visuals.clone());
    painter.rect_filled(rect, 0.0, visuals.panel_fill.gamma_multiply(0.8));
    let (center, font) = (
        egui::Align2::CENTER_CENTER,
        egui::FontId::proportional(20.0),
    );
    painter.text(
        rect.center(),
        center,
        hint,
        font,
        visuals.strong_text_color(),
    );
}
