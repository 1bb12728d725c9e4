//! What the studio does with files when it is told to.

use std::path::{Path, PathBuf};
use std::time::Instant;

use eframe::egui;

use super::{Purpose, Recover, SaveEnd, SaveJob, Source, Then};
use crate::command::{Command, Notice};
use crate::desk::{Clock, Desk};
use crate::dialog::{Answer, Choice, FileDialog, Kind, Request};
use crate::document::Document;
use crate::export::{Exportable, export, exportables};
use crate::history::Edit;
use crate::import::{Import, import, readable_endings};
use crate::library::Slot;
use crate::places::{Places, home};
use crate::preferences::Preferences;
use crate::project::{self, ENDING, Opened, Project, SessionNote, absolute};
use crate::recovery::{self, Lost};
use crate::studio::Studio;
use crate::work::Task;

impl Studio {
    /// Keeps unsaved work and preferences in the person's folders from now on, and opens what an earlier program lost.
    pub fn keep_work(&mut self, places: Places, recover: Recover) {
        self.preferences = Preferences::load(&*self.filing.files, &places.config);
        self.filing.kept_preferences = self.preferences.clone();
        if let Err(sentence) = self.filing.begin(places, recover) {
            self.notice = Some(Notice::trouble(sentence));
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
        self.filing.is_unsaved(self.history.revision(), self.history.document())
    }

    /// The sentence at the bottom of the window.
    #[must_use]
    pub fn notice(&self) -> Option<&Notice> {
        self.notice.as_ref()
    }

    /// The program ends.
    pub(crate) fn finish_files(&mut self) {
        self.filing.finish();
    }

    /// Fetches what workers did, files that were dropped, and the wish to close the window.
    pub(crate) fn begin_files(&mut self, ctx: &egui::Context) {
        self.fetch_save(ctx);
        self.fetch_opened(ctx);
        self.fetch_import();
        self.fetch_lost(ctx);
        self.fetch_sentences(ctx);
        let dropped: Vec<PathBuf> = ctx.input(|input| input.raw.dropped_files.iter().map(|file| file.path().to_owned()).collect());
        if !dropped.is_empty() {
            self.take_files(dropped);
        }
        if ctx.input(|input| input.viewport().close_requested()) && !self.filing.quitting && self.is_unsaved() {
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
        let Some((dialog, _)) = &mut self.filing.dialog else { return };
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
        let Self { filing, history, desk, clock, .. } = self;
        let note = SessionNote { project: filing.path.clone() };
        let work = || Project { document: history.document().clone(), desk: kept_desk(desk, *clock), session: Some(note) };
        if let Some(again) = filing.autosave.as_mut().and_then(|autosave| autosave.tick(history.revision(), unsaved, Instant::now(), work))
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
            self.filing.keeper.ask((self.preferences.clone(), places.config.clone()));
        }
    }

    /// Does what concerns files.
    pub(crate) fn file_command(&mut self, command: Command, ctx: &egui::Context) {
        match command {
            Command::New(document, room) => self.guard(Then::New(document, room), ctx),
            Command::Open(locator) if is_project(Path::new(&locator)) => self.guard(Then::Open(absolute(Path::new(&locator))), ctx),
            Command::Open(locator) if locator.starts_with("specimen:") => self.open_character(locator),
            Command::Open(locator) => self.import(vec![PathBuf::from(locator)]),
            Command::Recover(text) => {
                if let Some(lost) = self.filing.lost.iter().find(|lost| lost.text == text).cloned() {
                    self.guard(Then::Recover(lost), ctx);
                }
            }
            Command::Save => self.save(),
            Command::SaveAs(path) => self.save_to(path),
            Command::AskOpen => self.ask(Purpose::Open),
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

    /// Goes on, after a question if changes would be lost.
    fn guard(&mut self, then: Then, ctx: &egui::Context) {
        if self.is_unsaved() {
            self.filing.question = Some(then);
        } else {
            self.proceed(then, ctx);
        }
    }

    pub(super) fn proceed(&mut self, then: Then, ctx: &egui::Context) {
        match then {
            Then::Quit => {
                self.filing.quitting = true;
                ctx.send_viewport_cmd(egui::ViewportCommand::Close);
            }
            other if self.filing.opening.is_some() => self.filing.after_opening = Some(other),
            Then::New(document, room) => {
                let desk = Desk { room, look: self.desk.look, looping: self.desk.looping, ..Desk::default() };
                self.replace(Project { document: (*document).clone(), desk, session: None });
                self.filing.replaced(None, Some(*document), 0);
            }
            Then::Open(path) => self.open_project(path),
            Then::Recover(lost) => self.open_lost(lost),
        }
    }

    /// Another project takes the place of this one.
    fn replace(&mut self, project: Project) {
        self.clock = Clock { frame: project.desk.frame, playing: false };
        self.desk = project.desk;
        self.reset(project.document);
    }

    fn open_project(&mut self, path: PathBuf) {
        let files = self.filing.files.clone();
        let task = Task::start(format!("Opening {}", shown(&path)), self.wake.clone(), move |_| {
            let opened = project::open(&*files, &path).map_err(|error| error.to_string())?;
            Ok((Source::Project(path), opened))
        });
        self.watches.push(task.watch().clone());
        self.filing.opening = Some(task);
    }

    fn open_lost(&mut self, lost: Lost) {
        let Some(session) = self.filing.autosave.as_ref().map(|autosave| autosave.session().clone()) else { return };
        let files = self.filing.files.clone();
        self.filing.opening = Some(Task::start("Recovering unsaved work", self.wake.clone(), move |_| {
            let opened = recovery::read(&*files, &lost, &session).map_err(|error| error.to_string())?;
            Ok((Source::Lost(lost), opened))
        }));
    }

    fn fetch_opened(&mut self, ctx: &egui::Context) {
        match Task::finished(&mut self.filing.opening) {
            None => {}
            Some(Err(sentence)) => self.notice = Some(Notice::trouble(sentence)),
            Some(Ok((source, opened))) => self.show_opened(source, opened),
        }
        if self.filing.opening.is_none()
            && let Some(then) = self.filing.after_opening.take()
        {
            self.guard(then, ctx);
        }
    }

    fn show_opened(&mut self, source: Source, opened: Opened) {
        if let (Source::Lost(lost), Some(autosave)) = (&source, &self.filing.autosave)
            && let Err(error) = recovery::claim(&*self.filing.files, lost, autosave.session())
        {
            self.notice = Some(Notice::trouble(error.to_string()));
            return;
        }
        let (trouble, Opened { project, .. }) = (opened.trouble(), opened);
        let document = project.document.clone();
        self.replace(project);
        match source {
            Source::Project(path) => {
                self.notice = Some(trouble.map_or_else(|| Notice::done(format!("Opened {}.", shown(&path))), Notice::trouble));
                self.now_at(&path);
                self.filing.replaced(Some(path), Some(document), 0);
            }
            Source::Lost(lost) => {
                self.filing.lost.retain(|other| other.text != lost.text);
                let more = match self.filing.lost.len() {
                    0 => String::new(),
                    count => format!("; {count} more in File › Recover"),
                };
                let text = format!("Recovered unsaved work from {}; File › Save to keep it{more}.", lost.name());
                self.notice = Some(trouble.map_or_else(|| Notice::hint(text), Notice::trouble));
                self.filing.replaced(lost.project, None, 0);
            }
        }
    }

    fn fetch_lost(&mut self, ctx: &egui::Context) {
        let Some(looked) = Task::finished(&mut self.filing.looking) else { return };
        let lost = looked.unwrap_or_default();
        let untouched = self.history.revision() == 0;
        let wanted = match &self.filing.recover {
            Recover::Newest => lost.first(),
            Recover::Of(path) => lost.iter().find(|lost| lost.project.as_ref() == Some(path)),
            Recover::Nothing => None,
        };
        match wanted.filter(|_| untouched).cloned() {
            Some(lost) => self.proceed(Then::Recover(lost), ctx),
            None if !lost.is_empty() => {
                self.notice = Some(Notice::hint("Unsaved work of an earlier start waits in File › Recover."));
                self.open_instead();
            }
            None => self.open_instead(),
        }
        self.filing.lost = lost;
    }

    /// Opens the project whose unsaved work was looked for in vain.
    fn open_instead(&mut self) {
        if let Recover::Of(path) = std::mem::replace(&mut self.filing.recover, Recover::Nothing) {
            self.push(Command::Open(path.display().to_string()));
        }
    }

    /// Saves to the project's file, or asks for one.
    pub(super) fn save(&mut self) {
        match self.filing.path.clone() {
            Some(path) => self.save_to(path),
            None => self.ask(Purpose::Save),
        }
    }

    fn save_to(&mut self, path: PathBuf) {
        let project = Project { document: self.document().clone(), desk: kept_desk(&self.desk, self.clock), session: None };
        self.filing.saver.ask(SaveJob { path: absolute(&path), generation: self.filing.generation, project });
    }

    fn fetch_save(&mut self, ctx: &egui::Context) {
        match self.filing.saver.answer() {
            None => {}
            Some(Ok(SaveEnd { path, generation, result: Ok(()), .. })) if generation != self.filing.generation => {
                // The project that was saved is no longer the one on the desk.
                self.preferences.used_project(&path);
                self.notice = Some(Notice::done(format!("Saved {}.", shown(&path))));
            }
            Some(Ok(SaveEnd { path, document, result: Ok(()), .. })) => {
                self.notice = Some(Notice::done(format!("Saved {}.", shown(&path))));
                self.now_at(&path);
                self.filing.path = Some(path);
                self.filing.unsaved = (self.history.revision(), !self.history.document().same_work(&document));
                self.filing.saved = Some(document);
                if let Some(then) = self.filing.after_save.take() {
                    self.guard(then, ctx);
                }
            }
            Some(Ok(SaveEnd { result: Err(sentence), .. }) | Err(sentence)) => {
                self.filing.after_save = None;
                self.notice = Some(Notice::trouble(sentence));
            }
        }
    }

    /// The project's file is this one: relative paths begin there, and the menu has it first.
    fn now_at(&mut self, path: &Path) {
        self.preferences.used_project(path);
        if let Some(folder) = path.parent() {
            self.library.set_folder(folder);
        }
    }

    /// Files that were dropped or chosen: the open room may take them, a project is opened, and others are looked into.
    fn take_files(&mut self, paths: Vec<PathBuf>) {
        if let Some(project) = paths.iter().find(|path| is_project(path)) {
            self.push(Command::Open(project.display().to_string()));
        }
        let room = self.desk.room;
        let others = paths.into_iter().filter(|path| !is_project(path));
        let left: Vec<PathBuf> = others.filter(|path| !self.with_room(room, |room, cx| room.accept(path, cx))).collect();
        if !left.is_empty() {
            self.import(left);
        }
    }

    fn import(&mut self, paths: Vec<PathBuf>) {
        let (character, folder) = (self.document().character.asset.clone(), self.library.folder().to_owned());
        let task = Task::start("Importing", self.wake.clone(), move |_| Ok(import(&paths, &character, &folder)));
        self.watches.push(task.watch().clone());
        self.filing.importing = Some(task);
    }

    fn fetch_import(&mut self) {
        let found: Import = match Task::finished(&mut self.filing.importing) {
            None => return,
            Some(Err(sentence)) => return self.notice = Some(Notice::trouble(sentence)),
            Some(Ok(found)) => found,
        };
        if let Some(sentence) = found.declined.first() {
            let more = found.declined.len() - 1;
            let more = if more > 0 { format!(" ({more} more were left out.)") } else { String::new() };
            self.notice = Some(Notice::trouble(format!("{sentence}{more}")));
        }
        if !found.is_empty() {
            found.character.iter().for_each(|asset| self.library.reload(asset));
            let (label, change) = (found.label(), move |document: &mut Document| found.apply(document));
            self.history.apply(Edit { label, gesture: None, change: Box::new(change) });
        }
    }

    fn fetch_sentences(&mut self, ctx: &egui::Context) {
        let told = |result: Result<String, String>| match result {
            Ok(sentence) => Notice::done(sentence),
            Err(sentence) => Notice::trouble(sentence),
        };
        let exported = Task::finished(&mut self.filing.exporting).map(told);
        let pictured = self.filing.picture.update(ctx, &self.filing.files, &self.filing.wake).map(told);
        let autosave = self.filing.autosave.as_mut().and_then(|autosave| autosave.trouble()).map(Notice::trouble);
        let preferences = self.filing.keeper.answer().and_then(Result::err).map(Notice::trouble);
        self.notice = [exported, pictured, autosave, preferences].into_iter().flatten().next().or(self.notice.take());
    }

    /// Opens a dialog.
    fn ask(&mut self, purpose: Purpose) {
        let folders: Vec<PathBuf> = self.preferences.folders.iter().map(PathBuf::from).collect();
        let own = self.filing.path.as_deref().and_then(Path::parent).map(Path::to_owned);
        let folder = own.or_else(|| folders.first().cloned()).or_else(home).unwrap_or_else(|| PathBuf::from("."));
        let request = Request { folder, folders, ..request(&purpose, &self.filing.name()) };
        let dialog = FileDialog::new(request, self.filing.files.clone(), self.wake.clone());
        self.filing.dialog = Some((dialog, purpose));
    }

    fn ask_export(&mut self) {
        let all = self.exportables();
        if all.is_empty() {
            self.notice = Some(Notice::hint("There is nothing to export yet; open a rig or make a take first."));
        } else {
            self.ask(Purpose::Export(all));
        }
    }

    /// What can be exported, the open room's own first.
    fn exportables(&mut self) -> Vec<Exportable> {
        let room = self.desk.room;
        let mut all = self.with_room(room, |room, cx| room.exports(cx));
        let asset = self.document().character.asset.clone();
        let loaded = if asset.is_empty() { None } else { self.library.ready(&asset) };
        let character = loaded.as_ref().zip(self.posed());
        let others = exportables(self.document(), character, self.library.folder());
        let more: Vec<Exportable> = others.into_iter().filter(|other| all.iter().all(|own| own.name != other.name)).collect();
        all.extend(more);
        all
    }

    fn chosen(&mut self, paths: Vec<PathBuf>, choice: usize) {
        let Some((_, purpose)) = self.filing.dialog.take() else { return };
        if let Some(folder) = paths.first().and_then(|path| path.parent()) {
            self.preferences.used_folder(folder);
        }
        let Some(first) = paths.first().cloned() else { return };
        match purpose {
            Purpose::Open => self.take_files(paths),
            Purpose::Save => self.save_to(first),
            Purpose::Screenshot => self.filing.picture.want(first),
            Purpose::Export(all) => self.export_one(&first, all.into_iter().nth(choice)),
            Purpose::Room(room, wanted) => self.with_room(room, |room, cx| room.take_files(wanted.what, paths, cx)),
        }
    }

    fn export(&mut self, path: &Path, choice: usize) {
        let one = self.exportables().into_iter().nth(choice);
        self.export_one(path, one);
    }

    fn export_one(&mut self, path: &Path, one: Option<Exportable>) {
        let Some(one) = one else {
            self.notice = Some(Notice::trouble("There is nothing to export; open a rig or make a take first."));
            return;
        };
        let (path, files) = (absolute(path), self.filing.files.clone());
        let task = Task::start(format!("Exporting {}", shown(&path)), self.wake.clone(), move |_| export(&one.make, &path, &*files));
        self.watches.push(task.watch().clone());
        self.filing.exporting = Some(task);
    }

    fn open_character(&mut self, asset: String) {
        if let Slot::Failed(_) = self.library.get(&asset) {
            self.library.reload(&asset);
        }
        let change = move |document: &mut Document| Import { character: Some(asset), ..Import::default() }.apply(document);
        self.history.apply(Edit { label: "Open rig".into(), gesture: None, change: Box::new(change) });
    }
}

fn request(purpose: &Purpose, name: &str) -> Request {
    let projects = || Kind::new("Pliant project", vec![ENDING.into()]);
    match purpose {
        Purpose::Open => {
            let all = Kind::new("Projects, meshes, rigs and clips", readable_endings());
            let kinds = vec![all, projects(), Kind::new("All files", Vec::new())];
            Request { title: "Open".into(), action: "Open".into(), kinds, ..Request::default() }
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
            let choices = all.iter().map(|one| Choice { name: one.name.clone(), kinds: one.kinds() }).collect();
            let (title, action, choice_label) = ("Export".into(), "Export".into(), "What".into());
            Request { title, action, saves: true, kinds, name: name.into(), choices, choice_label, ..Request::default() }
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

/// The desk with the frame that is shown.
fn kept_desk(desk: &Desk, clock: Clock) -> Desk {
    Desk { frame: clock.frame, ..desk.clone() }
}

fn is_project(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case(ENDING))
}

fn shown(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn drop_hint_ui(ctx: &egui::Context, hint: &str) {
    let painter = ctx.layer_painter(egui::LayerId::new(egui::Order::Foreground, egui::Id::unique("drop hint")));
    let (rect, visuals) = (ctx.content_rect(), ctx.global_style().visuals.clone());
    painter.rect_filled(rect, 0.0, visuals.panel_fill.gamma_multiply(0.8));
    let (center, font) = (egui::Align2::CENTER_CENTER, egui::FontId::proportional(20.0));
    painter.text(rect.center(), center, hint, font, visuals.strong_text_color());
}
