//! Opening and importing: what takes the place of the project, and what goes into it.
//!
//! | | a project | a mesh or rig | what only moves the character |
//! |---|---|---|---|
//! | Open | takes the place of this one | a new project without a file | goes into this one |
//! | Drop | as Open | as Open, unless its clips fit the character: then these go into this one | goes into this one |
//! | Import | is declined | its character and takes go into this one | goes into this one |
//!
//! Whatever takes the place of a project asks about unsaved changes first; whatever goes into one
//! is a step that undo takes back.

use std::path::{Path, PathBuf};

use eframe::egui;

use super::{Bring, Recover, Source, Then};
use crate::command::{Command, Notice};
use crate::desk::{Clock, Desk};
use crate::document::Document;
use crate::history::Edit;
use crate::import::{Import, import, is_mesh_file, is_project};
use crate::names::shown;
use crate::notices::Topic;
use crate::project::{self, Opened, Project, absolute};
use crate::recovery::{self, Lost};
use crate::rooms::RoomName;
use crate::studio::Studio;
use crate::work::Task;

impl Studio {
    /// Opens a project or files, or recovers unsaved work.
    pub(super) fn open(&mut self, locator: &str, ctx: &egui::Context) {
        let path = Path::new(locator);
        if is_project(path) {
            self.guard(Then::Open(absolute(path)), ctx);
        } else {
            self.bring(vec![path.to_owned()], Bring::Open);
        }
    }

    /// Goes on, after a question if changes would be lost.
    pub(super) fn guard(&mut self, then: Then, ctx: &egui::Context) {
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
            Then::New(document, room) => self.begin_with(*document, room),
            Then::Begin(found) => self.begin_with_files(found),
            Then::Open(path) => self.open_project(path),
            Then::Recover(lost) => self.open_lost(lost),
            Then::Show(opened) => self.show_opened(opened.0, opened.1),
        }
    }

    /// A new project, without a file.
    fn begin_with(&mut self, document: Document, room: RoomName) {
        let desk = Desk {
            room,
            look: self.desk.look,
            looping: self.desk.looping,
            ..Desk::default()
        };
        self.replace(Project {
            document: document.clone(),
            desk,
            session: None,
        });
        self.filing.replaced(None, None, Some(document), 0);
    }

    fn begin_with_files(&mut self, found: Import) {
        let mut document = Document::default();
        let name = found
            .character
            .as_deref()
            .map(|asset| shown(Path::new(asset)))
            .unwrap_or_default();
        found
            .character
            .iter()
            .for_each(|asset| self.library.reload(asset));
        found.apply(&mut document);
        // The others show no character.
        let shows_it = matches!(self.desk.room, RoomName::Pose | RoomName::Touch);
        self.begin_with(
            document,
            if shows_it {
                self.desk.room
            } else {
                RoomName::Pose
            },
        );
        self.tell(Notice::done(format!("Opened {name} as a new project.")));
    }

    /// Another project takes the place of this one.
    fn replace(&mut self, project: Project) {
        self.clock = Clock {
            frame: project.desk.frame,
            playing: false,
        };
        self.desk = project.desk;
        self.reset(project.document);
    }

    fn open_project(&mut self, path: PathBuf) {
        let files = self.filing.files.clone();
        let task = Task::start(
            format!("Opening {}", shown(&path)),
            self.wake.clone(),
            move |_| {
                let opened = project::open(&*files, &path).map_err(|error| error.to_string())?;
                Ok((Source::Project(path), opened))
            },
        );
        self.await_opened(task);
    }

    fn open_lost(&mut self, lost: Lost) {
        let Some(session) = self
            .filing
            .autosave
            .as_ref()
            .map(|autosave| autosave.session().clone())
        else {
            return;
        };
        let files = self.filing.files.clone();
        let task = Task::start("Recovering unsaved work", self.wake.clone(), move |_| {
            recovery::count_start(&*files, &lost);
            let opened =
                recovery::read(&*files, &lost, &session).map_err(|error| error.to_string())?;
            Ok((Source::Lost(lost), opened))
        });
        self.await_opened(task);
    }

    fn await_opened(&mut self, task: Task<(Source, Opened)>) {
        self.watches.push(task.watch().clone());
        self.filing.opening = Some(task);
        self.filing.opening_from = self.history.revision();
    }

    pub(super) fn fetch_opened(&mut self, ctx: &egui::Context) {
        // One question at a time.
        if self.filing.question.is_some() {
            return;
        }
        match Task::finished(&mut self.filing.opening) {
            None => {}
            Some(Err(sentence)) => self.tell(Notice::trouble(sentence)),
            // What was done since the question about unsaved changes is a question of its own.
            Some(Ok(opened))
                if self.history.revision() != self.filing.opening_from && self.is_unsaved() =>
            {
                self.filing.question = Some(Then::Show(Box::new(opened)));
            }
            Some(Ok((source, opened))) => self.show_opened(source, opened),
        }
        if self.filing.opening.is_none()
            && self.filing.question.is_none()
            && let Some(then) = self.filing.after_opening.take()
        {
            self.guard(then, ctx);
        }
    }

    fn show_opened(&mut self, source: Source, opened: Opened) {
        if let (Source::Lost(lost), Some(autosave)) = (&source, &self.filing.autosave)
            && let Err(error) = recovery::claim(&*self.filing.files, lost, autosave.session())
        {
            self.tell(Notice::trouble(error.to_string()));
            return;
        }
        let (trouble, Opened { project, stamp, .. }) = (opened.trouble(), opened);
        let document = project.document.clone();
        let note = project.session.clone();
        self.replace(project);
        match source {
            Source::Project(path) => {
                self.tell(trouble.map_or_else(
                    || Notice::done(format!("Opened {}.", shown(&path))),
                    Notice::trouble,
                ));
                self.now_at(&path);
                self.filing
                    .replaced(Some(path), Some(stamp), Some(document), 0);
            }
            Source::Lost(lost) => {
                self.filing.lost.retain(|other| other.text != lost.text);
                let more = match self.filing.lost.len() {
                    0 => String::new(),
                    count => format!("; {count} more in File › Recover"),
                };
                let text = format!(
                    "Recovered unsaved work from {}; File › Save to keep it{more}.",
                    lost.name()
                );
                self.tell(Notice::hint(text));
                trouble
                    .into_iter()
                    .for_each(|trouble| self.tell(Notice::trouble(trouble)));
                self.filing
                    .replaced(lost.project, note.and_then(|note| note.stamp), None, 0);
                self.filing.recovered = Some(web_time::Instant::now());
            }
        }
    }

    pub(super) fn fetch_lost(&mut self, ctx: &egui::Context) {
        let Some(looked) = Task::finished(&mut self.filing.looking) else {
            return;
        };
        let lost = looked.unwrap_or_default();
        let untouched = self.history.revision() == 0;
        let wanted = match &self.filing.recover {
            Recover::Newest => lost.first(),
            Recover::Of(path) => lost.iter().find(|lost| lost.project.as_ref() == Some(path)),
            Recover::Nothing => None,
        };
        match wanted.filter(|_| untouched).cloned() {
            Some(lost) if lost.is_perilous() => {
                self.notices.tell(Topic::Recovery, Notice::trouble(format!(
                    "Unsaved work from {} was not opened again because the program ended soon after it {} times; it waits in File › Recover.",
                    lost.name(),
                    lost.starts
                )));
                self.open_instead();
            }
            Some(lost) => self.proceed(Then::Recover(lost), ctx),
            None if !lost.is_empty() => {
                let names: Vec<String> = lost.iter().map(Lost::name).collect();
                let sentence = format!(
                    "Unsaved work of an earlier start waits in File › Recover: {}.",
                    names.join(", ")
                );
                self.notices
                    .tell(Topic::Recovery, Notice::trouble(sentence));
                self.open_instead();
            }
            None => self.open_instead(),
        }
        self.filing.lost = lost;
    }

    /// Opens the project whose unsaved work was looked for in vain.
    pub(super) fn open_instead(&mut self) {
        if let Recover::Of(path) = std::mem::replace(&mut self.filing.recover, Recover::Nothing) {
            self.push(Command::Open(path.display().to_string()));
        }
    }

    /// Files that were dropped or chosen: the open room may take them, a project is opened, and
    /// others are looked into.
    pub(super) fn take_files(&mut self, paths: Vec<PathBuf>, how: Bring) {
        let (projects, mut others): (Vec<_>, Vec<_>) = paths
            .into_iter()
            .partition(|path| how != Bring::Import && is_project(path));
        if let Some(project) = projects.first() {
            self.push(Command::Open(project.display().to_string()));
            if projects.len() + others.len() > 1 {
                self.tell(Notice::hint(format!(
                    "Only {} is opened; bring the other files when it is there.",
                    shown(project)
                )));
            }
            return;
        }
        if how == Bring::Drop {
            let room = self.desk.room;
            others.retain(|path| !self.with_room(room, |room, cx| room.accept(path, cx)));
        }
        if !others.is_empty() {
            self.bring(others, how);
        }
    }

    /// Looks into files.
    pub(super) fn bring(&mut self, paths: Vec<PathBuf>, how: Bring) {
        if self.filing.importing.is_some() {
            self.tell(Notice::hint(
                "Other files are still being looked into; bring these again when that is done.",
            ));
            return;
        }
        let (own, folder) = (
            self.document().character.asset.clone(),
            self.library.folder().to_owned(),
        );
        let task = Task::start("Importing", self.wake.clone(), move |watch| {
            // A mesh that is opened has nothing to do with the character that is there.
            let anew = how == Bring::Open && paths.iter().any(|path| is_mesh_file(path, &folder));
            Ok((
                how,
                import(&paths, if anew { "" } else { &own }, &folder, watch),
            ))
        });
        self.watches.push(task.watch().clone());
        self.filing.importing = Some(task);
    }

    pub(super) fn fetch_import(&mut self, ctx: &egui::Context) {
        // One question at a time.
        if self.filing.question.is_some() {
            return;
        }
        let (how, found) = match Task::finished(&mut self.filing.importing) {
            None => return,
            Some(Err(sentence)) => return self.tell(Notice::trouble(sentence)),
            Some(Ok(brought)) => brought,
        };
        let declined = found.declined.clone();
        if how != Bring::Import && found.brings_character() {
            self.guard(Then::Begin(found), ctx);
        } else if !found.is_empty() {
            self.put_in(found);
        }
        if let Some(sentence) = declined.first() {
            let more = declined.len() - 1;
            let more = if more > 0 {
                format!(" ({more} more were left out.)")
            } else {
                String::new()
            };
            self.tell(Notice::trouble(format!("{sentence}{more}")));
        }
    }

    /// One step that undo takes back.
    fn put_in(&mut self, found: Import) {
        found
            .character
            .iter()
            .for_each(|asset| self.library.reload(asset));
        let what = match (&found.character, found.takes.len()) {
            (Some(asset), _) => shown(Path::new(asset)),
            (None, 1) => format!("take '{}'", found.takes[0].name),
            (None, count) => format!("{count} takes"),
        };
        let (label, change) = (found.label(), move |document: &mut Document| {
            found.apply(document)
        });
        self.history.apply(Edit {
            label,
            gesture: None,
            change: Box::new(change),
        });
        self.tell(Notice::done(format!(
            "Imported {what}; undo takes it back."
        )));
    }
}
