//! Files of the studio: the open project, whether it is saved, and running file operations.
//!
//! Nothing here blocks: workers save, open, import and export, and their results are fetched in the
//! next frame.
//!
//! - `commands`: file commands. `opening`, `saving`: projects.
//! - `question`: questions before data is lost. `picture`: screenshots.

mod commands;
mod opening;
mod picture;
mod question;
mod saving;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use eframe::egui;
use web_time::{Duration, Instant};

use super::dialog::FileDialog;
use crate::engine::command::RoomFileRequest;
use crate::engine::export::Exportable;
use crate::engine::import::Import;
use crate::engine::storage::autosave::{Autosave, Session};
use crate::engine::storage::files::{Files, files_of_program};
use crate::engine::storage::places::Places;
use crate::engine::storage::preferences::Preferences;
use crate::engine::storage::project_store::{self, BlobStore, Opened};
use crate::engine::storage::recovery::{self, UnsavedWork};
use crate::engine::work::{Inbox, Latest, Outbox, Task, Wake};
use crate::model::document::Document;
use crate::model::project::Project;
use crate::model::room::RoomName;

/// The action after unsaved changes are saved or discarded.
#[derive(Debug)]
pub(crate) enum PendingAction {
    /// Close the window.
    Quit,
    /// Begin again.
    New(Box<Document>, RoomName),
    /// Open a project.
    Open(PathBuf),
    /// Open unsaved work.
    Recover(UnsavedWork),
    /// Begin a project with what files hold.
    Begin(Import),
    /// Show the opened project.
    Show(Box<(Source, Opened)>),
}

/// How files come in; [`opening`] says what becomes of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ImportMode {
    Open,
    Import,
    Drop,
}

/// Purpose of the open dialog.
enum Purpose {
    Open,
    Import,
    Save,
    Export(Vec<Exportable>),
    Screenshot,
    Room(RoomName, RoomFileRequest),
}

/// A save that is requested.
struct SaveJob {
    path: PathBuf,
    generation: u64,
    project: Project,
    found: ExpectedFile,
}

/// State of the file to be replaced.
enum ExpectedFile {
    /// Nothing: the caller reports the result itself.
    Unknown,
    /// It was so when it was last opened or saved.
    As(String),
}

/// How it ended.
struct SaveEnd {
    path: PathBuf,
    generation: u64,
    document: Document,
    /// The current stamp of the file.
    result: Result<Option<String>, SaveFailure>,
}

/// Why a project was not saved.
enum SaveFailure {
    /// Another program wrote to its file.
    Changed,
    /// Something else, as a message.
    Other(String),
}

/// Where an opened project comes from.
#[derive(Debug)]
pub(crate) enum Source {
    Project(PathBuf),
    UnsavedWork(UnsavedWork),
}

/// Which unsaved work the program opens by itself when it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recover {
    /// The newest.
    Newest,
    /// That of this project; where there is none, the project itself is opened.
    Of(PathBuf),
    /// None; it waits in the menu.
    Nothing,
}

/// The state of files.
pub(crate) struct Filing {
    files: Arc<dyn Files>,
    places: Option<Places>,
    wake: Wake,
    /// The project's file, once it has one.
    path: Option<PathBuf>,
    /// What the file held when it was last opened or saved, to notice that another program wrote
    /// to it.
    stamp: Option<String>,
    /// The document as the file has it; `None` where no file has it.
    saved: Option<Document>,
    /// Whether the document of a revision differs from the saved one.
    unsaved: (u64, bool),
    autosave: Option<Autosave>,
    save_worker: Latest<SaveJob, SaveEnd>,
    /// A number that is another one for each project: a save may end when its project is no longer
    /// there.
    generation: u64,
    opening: Option<Task<(Source, Opened)>>,
    /// The revision that was left for `opening`.
    opening_from: u64,
    /// What waits for the end of `opening`, which nothing may drop.
    after_opening: Option<PendingAction>,
    importing: Option<Task<(ImportMode, Import)>>,
    exporting: Option<Task<String>>,
    looking: Option<Task<Vec<UnsavedWork>>>,
    recover: Recover,
    lost: Vec<UnsavedWork>,
    dialog: Option<(FileDialog, Purpose)>,
    question: Option<PendingAction>,
    /// The project's file, while the dialog about a change by another program is open.
    changed: Option<PathBuf>,
    /// What follows a save that was requested because of it.
    after_save: Option<PendingAction>,
    /// When unsaved work of an earlier start was opened, until it is known that the program
    /// outlives that.
    recovered: Option<Instant>,
    success_task: Option<Task<()>>,
    picture: picture::Picture,
    quitting: bool,
    title: String,
    kept_preferences: Preferences,
    preferences_worker: Latest<(Preferences, PathBuf), ()>,
    recent: Vec<(PathBuf, bool)>,
    recent_requested: Option<Instant>,
    recent_worker: Latest<Vec<String>, Vec<(PathBuf, bool)>>,
}

impl Filing {
    pub(crate) fn new(document: &Document, wake: Wake) -> Self {
        // Every worker has its own handle to the file system.
        let files = files_of_program();
        Self {
            places: None,
            path: None,
            stamp: None,
            saved: Some(document.clone()),
            unsaved: (0, false),
            autosave: None,
            save_worker: save_worker(files.clone(), wake.clone()),
            generation: 0,
            opening: None,
            opening_from: 0,
            after_opening: None,
            importing: None,
            exporting: None,
            looking: None,
            recover: Recover::Nothing,
            lost: Vec::new(),
            dialog: None,
            question: None,
            changed: None,
            after_save: None,
            recovered: None,
            success_task: None,
            picture: picture::Picture::default(),
            quitting: false,
            title: String::new(),
            kept_preferences: Preferences::default(),
            preferences_worker: preferences_worker(files.clone(), wake.clone()),
            recent: Vec::new(),
            recent_requested: None,
            recent_worker: recent_worker(files.clone(), wake.clone()),
            files,
            wake,
        }
    }

    /// Whether something is in progress whose end is still to be shown.
    pub(crate) fn busy(&self) -> bool {
        let tasks = self.opening.is_some()
            || self.importing.is_some()
            || self.exporting.is_some()
            || self.looking.is_some();
        tasks
            || self.save_worker.busy()
            || self.picture.busy()
            || self
                .dialog
                .as_ref()
                .is_some_and(|(dialog, _)| dialog.busy())
    }

    /// Whether a dialog or a question is open, so that keys are meant for it.
    pub(crate) fn has_open_dialog(&self) -> bool {
        self.dialog.is_some() || self.question.is_some() || self.changed.is_some()
    }

    /// Unsaved work of earlier programs.
    pub(crate) fn lost(&self) -> &[UnsavedWork] {
        &self.lost
    }

    /// Recent projects, and whether they are there; looked up by a worker, so a menu may be a
    /// moment behind.
    pub(crate) fn recent(&mut self) -> Vec<(PathBuf, bool)> {
        if let Some(Ok(recent)) = self.recent_worker.result() {
            self.recent = recent;
        }

        // Files are looked up again after a while, by a worker.
        if self
            .recent_requested
            .is_none_or(|at| at.elapsed() > Duration::from_secs(2))
        {
            self.recent_requested = Some(Instant::now());
            self.recent_worker
                .send(self.kept_preferences.recent.clone());
        }

        self.recent.clone()
    }

    /// Keeps unsaved work and preferences in the user's folders from now on, and looks for work
    /// that was lost.
    pub(crate) fn begin(&mut self, places: Places, recover: Recover) -> Result<(), String> {
        let session = Session::begin(self.files.clone(), &places.state);
        let state = places.state.clone();
        (self.places, self.recover) = (Some(places), recover);

        let session = session.map_err(|error| {
            format!(
                "Unsaved work will not be stored because {}.",
                crate::model::names::io_reason(&error)
            )
        })?;

        self.autosave = Some(Autosave::new(
            Arc::new(session),
            self.files.clone(),
            self.wake.clone(),
        ));

        let files = self.files.clone();
        self.looking = Some(Task::start(
            "Looking for unsaved work",
            self.wake.clone(),
            move |_| {
                // Old files are removed before unsaved work is listed.
                recovery::sweep(&*files, &state);
                Ok(recovery::lost_work(&*files, &state))
            },
        ));
        Ok(())
    }

    /// Whether the document of this revision differs from what the project's file holds.
    pub(crate) fn is_unsaved(&mut self, revision: u64, document: &Document) -> bool {
        // Documents are compared once per revision.
        if self.unsaved.0 != revision {
            self.unsaved = (
                revision,
                !self
                    .saved
                    .as_ref()
                    .is_some_and(|saved| saved.same_work(document)),
            );
        }
        self.unsaved.1
    }

    /// The document is another one now: as its file has it, or unsaved.
    fn replaced(
        &mut self,
        path: Option<PathBuf>,
        stamp: Option<String>,
        saved: Option<Document>,
        revision: u64,
    ) {
        self.generation += 1;
        self.after_save = None;

        // Running inspections belong to the previous project.
        self.importing = None;
        self.unsaved = (revision, saved.is_none());

        if let Some(autosave) = &mut self.autosave {
            autosave.restart(saved.is_none());
        }

        (self.path, self.stamp, self.saved) = (path, stamp, saved);
    }

    /// The project's name, for the user.
    pub(crate) fn name(&self) -> String {
        self.path.as_deref().and_then(Path::file_stem).map_or_else(
            || "Untitled".into(),
            |stem| stem.to_string_lossy().into_owned(),
        )
    }

    /// The project's file, once it has one.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Notes that the program still runs with recovered work, which may have
    /// crashed the earlier session.
    fn record_stable_start(&mut self, ctx: &egui::Context) {
        let _ = Task::finished(&mut self.success_task);
        let Some(waited) = self.recovered.map(|since| since.elapsed()) else {
            return;
        };
        // The program survived the critical time: the work is safe to open.
        let Some(left) = recovery::PERIL.checked_sub(waited) else {
            self.recovered = None;
            let files = self.files.clone();
            let session = self
                .autosave
                .as_ref()
                .map(|autosave| autosave.session().clone());

            self.success_task = Some(Task::start(
                "Recording the start",
                self.wake.clone(),
                move |_| {
                    if let Some(session) = &session {
                        recovery::record_success(&*files, session);
                    }
                    Ok(())
                },
            ));

            return;
        };

        ctx.request_repaint_after(left);
    }

    /// The end of the program: unsaved work stays for the next start unless the user let it go.
    pub(crate) fn finish(&mut self) {
        let stays = self.unsaved.1 && !self.quitting;
        if let Some(autosave) = self.autosave.take() {
            recovery::record_success(&*self.files, autosave.session());
            autosave.finish(stays);
        }

        // Preferences that were just changed.
        let started = Instant::now();
        while self.preferences_worker.at_work() && started.elapsed() < Duration::from_secs(1) {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

fn save_worker(files: Arc<dyn Files>, wake: Wake) -> Latest<SaveJob, SaveEnd> {
    Latest::new(
        "Saving",
        wake,
        move |inbox: &Inbox<SaveJob>, outbox: &Outbox<SaveEnd>| {
            let mut store = BlobStore::default();
            // What this program wrote itself, also for a save that was requested before the last
            // one ended.
            let mut own = None;

            while let Some(SaveJob {
                path,
                generation,
                project,
                found,
            }) = inbox.next()
            {
                let there = project_store::stamp(&*files, &path);
                let changed = matches!(found, ExpectedFile::As(stamp) if there.as_ref().is_some_and(|there| *there != stamp) && there != own);
                let result = if changed {
                    Err(SaveFailure::Changed)
                } else {
                    project_store::save(&*files, &path, &project, &mut store)
                        .map_err(|error| SaveFailure::Other(error.to_string()))
                };

                let result = result.map(|()| project_store::stamp(&*files, &path));
                if let Ok(stamp) = &result {
                    own.clone_from(stamp);
                }

                outbox.put(Ok(SaveEnd {
                    path,
                    generation,
                    document: project.document,
                    result,
                }));
            }
        },
    )
}

fn preferences_worker(files: Arc<dyn Files>, wake: Wake) -> Latest<(Preferences, PathBuf), ()> {
    Latest::new(
        "Saving preferences",
        wake,
        move |inbox: &Inbox<(Preferences, PathBuf)>, outbox: &Outbox<()>| {
            while let Some((preferences, config)) = inbox.next() {
                outbox.put(preferences.save(&*files, &config));
            }
        },
    )
}

fn recent_worker(files: Arc<dyn Files>, wake: Wake) -> Latest<Vec<String>, Vec<(PathBuf, bool)>> {
    Latest::new(
        "Looking for projects",
        wake,
        move |inbox: &Inbox<Vec<String>>, outbox: &Outbox<Vec<(PathBuf, bool)>>| {
            while let Some(recent) = inbox.next() {
                let look =
                    |path: String| (PathBuf::from(&path), files.size(Path::new(&path)).is_ok());
                outbox.put(Ok(recent.into_iter().map(look).collect()));
            }
        },
    )
}
