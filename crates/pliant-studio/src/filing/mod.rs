//! The studio's files: the project that is open, whether it is saved, and everything under way
//! between it and the disk.
//!
//! Nothing here waits: saving, opening, importing and exporting are done by workers, and their ends
//! are fetched in the next frame.

mod commands;
mod opening;
mod picture;
mod question;
mod saving;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use eframe::egui;
use web_time::{Duration, Instant};

use crate::autosave::{Autosave, Session};
use crate::command::Wanted;
use crate::dialog::FileDialog;
use crate::document::Document;
use crate::export::Exportable;
use crate::files::{Files, NativeFiles};
use crate::import::Import;
use crate::places::Places;
use crate::preferences::Preferences;
use crate::project::{self, BlobStore, Opened, Project};
use crate::recovery::{self, Lost};
use crate::rooms::RoomName;
use crate::work::{Inbox, Latest, Outbox, Task, Wake};

/// What is to be done once unsaved changes are dealt with.
#[derive(Debug)]
pub(crate) enum Then {
    /// Close the window.
    Quit,
    /// Begin anew.
    New(Box<Document>, RoomName),
    /// Open a project.
    Open(PathBuf),
    /// Open unsaved work.
    Recover(Lost),
    /// Begin a project with what files hold.
    Begin(Import),
    /// Show what was opened.
    Show(Box<(Source, Opened)>),
}

/// How files come in; [`opening`] says what becomes of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bring {
    Open,
    Import,
    Drop,
}

/// What the open dialog is for.
enum Purpose {
    Open,
    Import,
    Save,
    Export(Vec<Exportable>),
    Screenshot,
    Room(RoomName, Wanted),
}

/// A save that is asked for.
struct SaveJob {
    path: PathBuf,
    generation: u64,
    project: Project,
    found: Stays,
}

/// What is known of the file that is written over.
enum Stays {
    /// Nothing: whoever asked for it knows that it goes.
    Unknown,
    /// It was so when it was last opened or saved.
    As(String),
}

/// How it ended.
struct SaveEnd {
    path: PathBuf,
    generation: u64,
    document: Document,
    /// The stamp of the file as it is now.
    result: Result<Option<String>, SaveFailure>,
}

/// Why a project was not saved.
enum SaveFailure {
    /// Another program wrote to its file.
    Changed,
    /// Something else, as a sentence.
    Other(String),
}

/// Where an opened project comes from.
#[derive(Debug)]
pub(crate) enum Source {
    Project(PathBuf),
    Lost(Lost),
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
    saver: Latest<SaveJob, SaveEnd>,
    /// A number that is another one for each project: a save may end when its project is no longer
    /// there.
    generation: u64,
    opening: Option<Task<(Source, Opened)>>,
    /// The revision that was left for `opening`.
    opening_from: u64,
    /// What waits for the end of `opening`, which nothing may drop.
    after_opening: Option<Then>,
    importing: Option<Task<(Bring, Import)>>,
    exporting: Option<Task<String>>,
    looking: Option<Task<Vec<Lost>>>,
    recover: Recover,
    lost: Vec<Lost>,
    dialog: Option<(FileDialog, Purpose)>,
    question: Option<Then>,
    /// The project's file, while it is asked what to do because another program changed it.
    changed: Option<PathBuf>,
    /// What follows a save that was asked for because of it.
    after_save: Option<Then>,
    /// When unsaved work of an earlier start was opened, until it is known that the program
    /// outlives that.
    recovered: Option<Instant>,
    outlived: Option<Task<()>>,
    picture: picture::Picture,
    quitting: bool,
    title: String,
    kept_preferences: Preferences,
    keeper: Latest<(Preferences, PathBuf), ()>,
    recent: Vec<(PathBuf, bool)>,
    recent_asked: Option<Instant>,
    recent_looker: Latest<Vec<String>, Vec<(PathBuf, bool)>>,
}

impl Filing {
    pub(crate) fn new(document: &Document, wake: Wake) -> Self {
        let files: Arc<dyn Files> = Arc::new(NativeFiles);
        Self {
            places: None,
            path: None,
            stamp: None,
            saved: Some(document.clone()),
            unsaved: (0, false),
            autosave: None,
            saver: saver(files.clone(), wake.clone()),
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
            outlived: None,
            picture: picture::Picture::default(),
            quitting: false,
            title: String::new(),
            kept_preferences: Preferences::default(),
            keeper: keeper(files.clone(), wake.clone()),
            recent: Vec::new(),
            recent_asked: None,
            recent_looker: recent_looker(files.clone(), wake.clone()),
            files,
            wake,
        }
    }

    /// Whether something is under way whose end is still to be shown.
    pub(crate) fn busy(&self) -> bool {
        let tasks = self.opening.is_some()
            || self.importing.is_some()
            || self.exporting.is_some()
            || self.looking.is_some();
        tasks
            || self.saver.busy()
            || self.picture.busy()
            || self
                .dialog
                .as_ref()
                .is_some_and(|(dialog, _)| dialog.busy())
    }

    /// Whether a dialog or a question is open, so that keys are meant for it.
    pub(crate) fn is_asking(&self) -> bool {
        self.dialog.is_some() || self.question.is_some() || self.changed.is_some()
    }

    /// Unsaved work of earlier programs.
    pub(crate) fn lost(&self) -> &[Lost] {
        &self.lost
    }

    /// Recent projects, and whether they are there; looked up beside the window, so a menu may be a
    /// moment behind.
    pub(crate) fn recent(&mut self) -> Vec<(PathBuf, bool)> {
        if let Some(Ok(recent)) = self.recent_looker.answer() {
            self.recent = recent;
        }
        if self
            .recent_asked
            .is_none_or(|at| at.elapsed() > Duration::from_secs(2))
        {
            self.recent_asked = Some(Instant::now());
            self.recent_looker.ask(self.kept_preferences.recent.clone());
        }
        self.recent.clone()
    }

    /// Keeps unsaved work and preferences in the person's folders from now on, and looks for work
    /// that was lost.
    pub(crate) fn begin(&mut self, places: Places, recover: Recover) -> Result<(), String> {
        let session = Session::begin(&places.state);
        let state = places.state.clone();
        (self.places, self.recover) = (Some(places), recover);
        let session = session.map_err(|error| {
            format!(
                "Unsaved work will not be kept because {}.",
                crate::files::why(&error)
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
                recovery::sweep(&*files, &state);
                Ok(recovery::lost_work(&state))
            },
        ));
        Ok(())
    }

    /// Whether the document of this revision differs from what the project's file holds.
    pub(crate) fn is_unsaved(&mut self, revision: u64, document: &Document) -> bool {
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
        // What is still looked into was meant for the project that is left.
        self.importing = None;
        self.unsaved = (revision, saved.is_none());
        if let Some(autosave) = &mut self.autosave {
            autosave.restart(saved.is_none());
        }
        (self.path, self.stamp, self.saved) = (path, stamp, saved);
    }

    /// The project's name, for people.
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

    /// Notes that the program lives on with unsaved work that an earlier one may have died of.
    fn outlive_start(&mut self, ctx: &egui::Context) {
        let _ = Task::finished(&mut self.outlived);
        let Some(waited) = self.recovered.map(|since| since.elapsed()) else {
            return;
        };
        let Some(left) = recovery::PERIL.checked_sub(waited) else {
            self.recovered = None;
            let (files, session) = (
                self.files.clone(),
                self.autosave
                    .as_ref()
                    .map(|autosave| autosave.session().clone()),
            );
            self.outlived = Some(Task::start(
                "Noting the start",
                self.wake.clone(),
                move |_| {
                    session
                        .iter()
                        .for_each(|session| recovery::outlived(&*files, session));
                    Ok(())
                },
            ));
            return;
        };
        ctx.request_repaint_after(left);
    }

    /// The end of the program: unsaved work stays for the next start unless the person let it go.
    pub(crate) fn finish(&mut self) {
        let stays = self.unsaved.1 && !self.quitting;
        if let Some(autosave) = self.autosave.take() {
            recovery::outlived(&*self.files, autosave.session());
            autosave.finish(stays);
        }
        // Preferences that were just changed.
        let begun = Instant::now();
        while self.keeper.at_work() && begun.elapsed() < Duration::from_secs(1) {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

fn saver(files: Arc<dyn Files>, wake: Wake) -> Latest<SaveJob, SaveEnd> {
    Latest::new(
        "Saving",
        wake,
        move |inbox: &Inbox<SaveJob>, outbox: &Outbox<SaveEnd>| {
            let mut store = BlobStore::default();
            // What this program wrote itself, also for a save that was asked for before the last
            // one ended.
            let mut own = None;
            while let Some(SaveJob {
                path,
                generation,
                project,
                found,
            }) = inbox.next()
            {
                let there = project::stamp(&*files, &path);
                let changed = matches!(found, Stays::As(stamp) if there.as_ref().is_some_and(|there| *there != stamp) && there != own);
                let result = if changed {
                    Err(SaveFailure::Changed)
                } else {
                    project::save(&*files, &path, &project, &mut store)
                        .map_err(|error| SaveFailure::Other(error.to_string()))
                };
                let result = result.map(|()| project::stamp(&*files, &path));
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

fn keeper(files: Arc<dyn Files>, wake: Wake) -> Latest<(Preferences, PathBuf), ()> {
    Latest::new(
        "Keeping preferences",
        wake,
        move |inbox: &Inbox<(Preferences, PathBuf)>, outbox: &Outbox<()>| {
            while let Some((preferences, config)) = inbox.next() {
                outbox.put(preferences.save(&*files, &config));
            }
        },
    )
}

fn recent_looker(files: Arc<dyn Files>, wake: Wake) -> Latest<Vec<String>, Vec<(PathBuf, bool)>> {
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
