//! Opening and importing: what replaces the project, and what is added to it.
//!
//! | | a project | a mesh or rig | a clip that fits the character |
//! |---|---|---|---|
//! | Open | replaces this one | a new project without a file | is added to this one |
//! | Drop | as Open | as Open, unless its clips fit the character: then these are added to this one | is added to this one |
//! | Import | is declined | its character and takes are added to this one | is added to this one |
//!
//! Before a project is replaced, the user is asked about unsaved changes. What is added to a
//! project is one undo step.

use std::path::{Path, PathBuf};

use eframe::egui;

use super::{ImportMode, PendingAction, Recover, Source};
use crate::engine::command::{Command, Notice};
use crate::engine::import::{Import, import, is_mesh_file, is_project};
use crate::engine::storage::project_store::{self, Opened};
use crate::engine::storage::recovery::{self, UnsavedWork};
use crate::engine::work::Task;
use crate::model::document::Document;
use crate::model::history::Edit;
use crate::model::names::{shown, to_message};
use crate::model::project::{Project, absolute};
use crate::model::room::RoomName;
use crate::model::view_state::{Clock, ViewState};
use crate::shell::notices::Topic;
use crate::shell::studio::Studio;

impl Studio {
    /// Opens a project or files, or recovers unsaved work.
    pub(super) fn open(&mut self, locator: &str, ctx: &egui::Context) {
        let path = Path::new(locator);
        if is_project(path) {
            self.guard(PendingAction::Open(absolute(path)), ctx);
        } else {
            self.import_files(vec![path.to_owned()], ImportMode::Open);
        }
    }

    /// Continues, after a question if changes would be lost.
    pub(super) fn guard(&mut self, then: PendingAction, ctx: &egui::Context) {
        let is_next_task = match &then {
            PendingAction::New(document, _) => self.tour.may_replace(document),
            _ => false,
        };
        if self.is_unsaved() && !is_next_task {
            self.filing.question = Some(then);
        } else {
            self.proceed(then, ctx);
        }
    }

    pub(super) fn proceed(&mut self, then: PendingAction, ctx: &egui::Context) {
        match then {
            PendingAction::Quit => {
                self.filing.quitting = true;
                ctx.send_viewport_cmd(egui::ViewportCommand::Close);
            }
            // A running open ends first.
            other if self.filing.opening.is_some() => self.filing.after_opening = Some(other),
            PendingAction::New(document, room) => self.begin_with(*document, room),
            PendingAction::Begin(found) => self.begin_with_files(found),
            PendingAction::Open(path) => self.open_project(path),
            PendingAction::Recover(lost) => self.open_lost(lost),
            PendingAction::Show(opened) => self.show_opened(opened.0, opened.1),
        }
    }

    /// A new project, without a file.
    fn begin_with(&mut self, document: Document, room: RoomName) {
        let view_state = ViewState {
            room,
            // Display options are kept for the new project.
            look: self.view_state.look,
            looping: self.view_state.looping,
            ..ViewState::default()
        };

        self.replace(Project {
            document: document.clone(),
            view_state,
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

        if let Some(asset) = &found.character {
            self.library.reload(asset);
        }
        let (has_sliders, takes) = (found.has_sliders, found.takes.len());
        found.apply(&mut document);

        // The other rooms do not show the character.
        let shows_it = matches!(self.view_state.room, RoomName::Pose | RoomName::Touch);
        self.begin_with(
            document,
            if shows_it {
                self.view_state.room
            } else {
                RoomName::Pose
            },
        );

        let clips = if has_sliders { takes } else { 0 };
        self.notify(Notice::done(match clips {
            0 => format!("Opened {name} as a new project."),
            1 => format!("Opened {name} as a new project; its clip is in the list of takes."),
            _ => format!(
                "Opened {name} as a new project; its {clips} clips are in the list of takes."
            ),
        }));
    }

    /// Another project replaces this one.
    fn replace(&mut self, project: Project) {
        self.clock = Clock {
            frame: project.view_state.frame,
            playing: false,
        };
        self.view_state = project.view_state;
        self.reset(project.document);
    }

    fn open_project(&mut self, path: PathBuf) {
        let files = self.filing.files.clone();
        let task = Task::start(
            format!("Opening {}", shown(&path)),
            self.wake.clone(),
            move |_| {
                let opened = project_store::open(&*files, &path).map_err(to_message)?;
                Ok((Source::Project(path), opened))
            },
        );

        self.await_opened(task);
    }

    fn open_lost(&mut self, lost: UnsavedWork) {
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
            // The start is counted before the work is read, in case reading crashes.
            recovery::count_start(&*files, &lost);
            let opened = recovery::read(&*files, &lost, &session).map_err(to_message)?;
            Ok((Source::UnsavedWork(lost), opened))
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
            Some(Err(message)) => self.notify(Notice::error(message)),
            // Edits made since the question need their own question.
            Some(Ok(opened))
                if self.history.revision() != self.filing.opening_from && self.is_unsaved() =>
            {
                self.filing.question = Some(PendingAction::Show(Box::new(opened)));
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
        // The work belongs to this session from now on; another program may have taken it.
        if let (Source::UnsavedWork(lost), Some(autosave)) = (&source, &self.filing.autosave)
            && let Err(error) = recovery::claim(&*self.filing.files, lost, autosave.session())
        {
            self.notify(Notice::error(error.to_string()));
            return;
        }

        let (error, Opened { project, stamp, .. }) = (opened.warning(), opened);
        let document = project.document.clone();
        let note = project.session.clone();
        self.replace(project);

        match source {
            Source::Project(path) => {
                self.notify(error.map_or_else(
                    || Notice::done(format!("Opened {}.", shown(&path))),
                    Notice::error,
                ));
                self.now_at(&path);
                self.filing
                    .replaced(Some(path), Some(stamp), Some(document), 0);
            }
            Source::UnsavedWork(lost) => {
                self.filing.lost.retain(|other| other.text != lost.text);
                let more = match self.filing.lost.len() {
                    0 => String::new(),
                    count => format!("; {count} more in File › Recover"),
                };

                let text = format!(
                    "Recovered unsaved work from {}; use File › Save to store it{more}.",
                    lost.name()
                );

                self.notify(Notice::hint(text));
                if let Some(error) = error {
                    self.notify(Notice::error(error));
                }
                self.filing
                    .replaced(lost.project, note.and_then(|note| note.stamp), None, 0);
                // If the program ends soon, the next one must not open this work by itself.
                self.filing.recovered = Some(web_time::Instant::now());
            }
        }
    }

    pub(super) fn fetch_lost(&mut self, ctx: &egui::Context) {
        let Some(looked) = Task::finished(&mut self.filing.looking) else {
            return;
        };

        let lost = looked.unwrap_or_default();
        // The user may have started to work before the search ended.
        let untouched = self.history.revision() == 0;
        let wanted = match &self.filing.recover {
            Recover::Newest => lost.first(),
            Recover::Of(path) => lost.iter().find(|lost| lost.project.as_ref() == Some(path)),
            Recover::Nothing => None,
        };

        match wanted.filter(|_| untouched).cloned() {
            Some(lost) if lost.ended_programs() => {
                self.notices.notify(Topic::Recovery, Notice::error(format!(
                    "Unsaved work from {} was not opened because the program ended soon after opening it {} times; it is available in File › Recover.",
                    lost.name(),
                    lost.starts
                )));
                self.reopen();
            }
            Some(lost) => self.proceed(PendingAction::Recover(lost), ctx),
            None if !lost.is_empty() => {
                let names: Vec<String> = lost.iter().map(UnsavedWork::name).collect();
                let message = format!(
                    "Unsaved work of an earlier session is available in File › Recover: {}.",
                    names.join(", ")
                );
                self.notices.notify(Topic::Recovery, Notice::error(message));
                self.reopen();
            }
            None => self.reopen(),
        }

        self.filing.lost = lost;
    }

    /// Opens the project whose unsaved work was looked for in vain.
    pub(super) fn reopen(&mut self) {
        if let Recover::Of(path) = std::mem::replace(&mut self.filing.recover, Recover::Nothing) {
            self.push(Command::Open(path.display().to_string()));
        }
    }

    /// Files that were dropped or chosen: the open room may take them, a project is opened, and
    /// others are looked into.
    pub(super) fn take_files(&mut self, paths: Vec<PathBuf>, how: ImportMode) {
        let (projects, mut others): (Vec<_>, Vec<_>) = paths
            .into_iter()
            .partition(|path| how != ImportMode::Import && is_project(path));

        // A project replaces everything, so it is opened alone.
        if let Some(project) = projects.first() {
            self.push(Command::Open(project.display().to_string()));
            if projects.len() + others.len() > 1 {
                self.notify(Notice::hint(format!(
                    "Only {} is opened; add the other files after that.",
                    shown(project)
                )));
            }
            return;
        }

        // The open room may take dropped files.
        if how == ImportMode::Drop {
            let room = self.view_state.room;
            others.retain(|path| !self.with_room(room, |room, cx| room.accept(path, cx)));
        }

        if !others.is_empty() {
            self.import_files(others, how);
        }
    }

    /// Looks into files.
    pub(super) fn import_files(&mut self, paths: Vec<PathBuf>, how: ImportMode) {
        if self.filing.importing.is_some() {
            self.notify(Notice::hint(
                "Other files are still being read; add these again after that.",
            ));
            return;
        }

        let own = self.document().character.asset.clone();
        let folder = self.library.folder().to_owned();

        let task = Task::start("Importing", self.wake.clone(), move |watch| {
            // An opened mesh does not depend on the present character.
            let anew =
                how == ImportMode::Open && paths.iter().any(|path| is_mesh_file(path, &folder));
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
            Some(Err(message)) => return self.notify(Notice::error(message)),
            Some(Ok(brought)) => brought,
        };
        let declined = found.declined.clone();

        if how != ImportMode::Import && found.brings_character() {
            self.guard(PendingAction::Begin(found), ctx);
        } else if !found.is_empty() {
            self.apply_import(found);
        }

        if let Some(message) = declined.first() {
            let more = declined.len() - 1;
            let more = if more > 0 {
                format!(" ({more} more were left out.)")
            } else {
                String::new()
            };
            self.notify(Notice::error(format!("{message}{more}")));
        }
    }

    /// One step that undo takes back.
    // The file may have changed since it was loaded.
    fn apply_import(&mut self, found: Import) {
        if let Some(asset) = &found.character {
            self.library.reload(asset);
        }

        let what = match (&found.character, &*found.targets, found.takes.len()) {
            (Some(asset), ..) => shown(Path::new(asset)),
            (None, [target], 0) => format!("target '{}'", target.name),
            (None, targets @ [_, ..], _) => format!("{} targets", targets.len()),
            (None, [], 0) => match &*found.poses {
                [pose] => format!("pose '{}'", pose.name),
                poses => format!("{} poses", poses.len()),
            },
            (None, [], 1) => format!("take '{}'", found.takes[0].name),
            (None, [], count) => format!("{count} takes"),
        };
        let label = found.label();
        let losses = found.losses.join(" ");
        let change = move |document: &mut Document| found.apply(document);

        self.history.apply(Edit {
            label,
            gesture: None,
            change: Box::new(change),
        });
        let done = format!("Imported {what}; undo removes it.");
        self.notify(if losses.is_empty() {
            Notice::done(done)
        } else {
            Notice::hint(format!("{done} {losses}"))
        });
    }
}
