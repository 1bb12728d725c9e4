//! Autosave: unsaved work is written shortly after each change, so that a crash costs seconds.
//!
//! Each running program has a **session** in the user's state folder: a text in the project format,
//! its results in a store that all sessions share, and a lock that the system releases when the
//! program ends for any reason ([`recovery`](crate::engine::storage::recovery) tests it).
//!
//! Here the text is written first and results after it: a result that takes long to write delays no
//! edit, and a program that cleans the store finds the name of a result before the result.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use web_time::{Duration, Instant, SystemTime};

use super::files::{Files, program_number};
use super::project_store::{BlobStore, blobs};
use super::session_lock::SessionLock;
use crate::engine::work::{Inbox, Latest, Outbox, Wake};
use crate::model::names::{io_reason, to_message};
use crate::model::project::{Project, to_text};

/// The least time from one autosave to the next; no change waits longer than this and one write.
pub const INTERVAL: Duration = Duration::from_secs(1);

/// The ending of a session's text.
pub(crate) const TEXT: &str = "pliant";
/// The ending of a session's lock.
pub(crate) const LOCK: &str = "lock";

/// The folder of sessions in the state folder.
pub(crate) fn sessions_folder(state: &Path) -> PathBuf {
    state.join("sessions")
}

/// The folder of the results of all sessions.
pub(crate) fn results_folder(state: &Path) -> PathBuf {
    state.join("results")
}

/// The place of this program's unsaved work, locked while the session exists.
pub struct Session {
    files: Arc<dyn Files>,
    text: PathBuf,
    results: PathBuf,
    _lock: SessionLock,
}

impl Session {
    /// A new session in the state folder.
    pub fn begin(files: Arc<dyn Files>, state: &Path) -> std::io::Result<Self> {
        let folder = sessions_folder(state);
        files.create_folder(&folder)?;
        let since = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        let text = folder.join(format!("{}-{}.{TEXT}", program_number(), since.as_nanos()));

        let lock = SessionLock::take(&text.with_extension(LOCK))?;
        Ok(Self {
            files,
            text,
            results: results_folder(state),
            _lock: lock,
        })
    }

    /// Its text, which is there while there is unsaved work.
    #[must_use]
    pub fn text(&self) -> &Path {
        &self.text
    }

    /// Where its results are.
    #[must_use]
    pub fn results(&self) -> &Path {
        &self.results
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Without unsaved work the lock is not needed; otherwise the next start removes both.
        if self.files.size(&self.text).is_err() {
            let _ = self.files.remove(&self.text.with_extension(LOCK));
        }
    }
}

/// Request to the worker.
enum AutosaveRequest {
    /// Write this.
    Work(Box<Project>),
    /// There is no unsaved work any more.
    Nothing,
}

/// Keeps unsaved work.
pub struct Autosave {
    session: Arc<Session>,
    worker: Latest<AutosaveRequest, ()>,
    /// The revision that was last requested to be kept, and when; `None` while there is no unsaved
    /// work.
    requested: Option<(u64, Instant)>,
    reported: Option<String>,
}

impl Autosave {
    /// Keeps unsaved work in `session`.
    #[must_use]
    pub fn new(session: Arc<Session>, files: Arc<dyn Files>, wake: Wake) -> Self {
        let place = session.clone();
        let worker = Latest::new(
            "Autosave",
            wake,
            move |inbox: &Inbox<AutosaveRequest>, outbox: &Outbox<()>| {
                let mut store = BlobStore::new(place.results.clone());
                while let Some(request) = inbox.next() {
                    // A newer request interrupts the writing of results.
                    let kept = match request {
                        AutosaveRequest::Work(project) => {
                            keep(&*files, &place, &mut store, *project, &|| inbox.waits())
                        }
                        AutosaveRequest::Nothing => clear(&*files, &place),
                    };
                    outbox.put(kept);
                }
            },
        );

        Self {
            session,
            worker,
            requested: None,
            reported: None,
        }
    }

    /// The session that it keeps work in.
    #[must_use]
    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// Looks whether there is something to keep. Returns when to look again; called in every frame.
    pub fn tick(
        &mut self,
        revision: u64,
        unsaved: bool,
        now: Instant,
        work: impl FnOnce() -> Project,
    ) -> Option<Duration> {
        // Saved or undone work needs no autosave any more.
        if !unsaved {
            if self.requested.take().is_some() {
                self.worker.send(AutosaveRequest::Nothing);
            }
            return None;
        }

        let waited = self
            .requested
            .map(|(requested, at)| (requested == revision, now.saturating_duration_since(at)));

        // The first change is written at once, later ones after the interval.
        match waited {
            Some((true, _)) => None,
            Some((false, waited)) if waited < INTERVAL => Some(INTERVAL - waited),
            _ => {
                self.requested = Some((revision, now));
                self.worker.send(AutosaveRequest::Work(Box::new(work())));
                None
            }
        }
    }

    /// The document is another one, without unsaved work or with work that the session holds
    /// already.
    pub fn restart(&mut self, held: bool) {
        if held {
            // No revision equals this one, so the next call writes again, which does no harm.
            self.requested = None;
        } else if self.requested.is_some() {
            self.requested = None;
            self.worker.send(AutosaveRequest::Nothing);
        }
    }

    /// A message, once, when unsaved work can no longer be kept.
    pub fn error(&mut self) -> Option<String> {
        let failed = self.worker.result()?.err();
        let news = failed
            .clone()
            .filter(|message| self.reported.as_ref() != Some(message));
        self.reported = failed;
        news
    }

    /// Ends: unsaved work stays for the next start, or is removed. Waits for the worker for a
    /// limited time.
    pub fn finish(self, unsaved: bool) {
        if !unsaved {
            self.worker.send(AutosaveRequest::Nothing);
        }
        let started = Instant::now();
        while self.worker.at_work() && started.elapsed() < Duration::from_secs(3) {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Writes the text, then the results that are not there, until there is newer work to keep.
fn keep(
    files: &dyn Files,
    session: &Session,
    store: &mut BlobStore,
    mut project: Project,
    newer: &dyn Fn() -> bool,
) -> Result<(), String> {
    let text = to_text(&project, None).map_err(to_message)?;
    let failed = |error: &std::io::Error| {
        format!(
            "Unsaved work cannot be stored because {}; save the project",
            io_reason(error)
        )
    };

    files
        .write(&session.text, text.as_bytes())
        .map_err(|error| failed(&error))?;

    // Results follow the text; a newer text may need fewer of them.
    for blob in blobs(&mut project.document)
        .iter()
        .filter(|blob| !blob.bytes().is_empty())
    {
        store.keep(files, blob).map_err(|error| failed(&error))?;
        if newer() {
            break;
        }
    }
    Ok(())
}

fn clear(files: &dyn Files, session: &Session) -> Result<(), String> {
    match files.remove(&session.text) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(format!(
            "Old unsaved work was not removed because {}.",
            io_reason(&error)
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::engine::storage::files::NativeFiles;

    fn start(state: &Path) -> Autosave {
        Autosave::new(
            Arc::new(Session::begin(Arc::new(NativeFiles), state).unwrap()),
            Arc::new(NativeFiles),
            Arc::new(|| ()),
        )
    }

    fn settle(autosave: &Autosave) {
        while autosave.worker.at_work() {
            std::thread::yield_now();
        }
    }

    #[test]
    fn the_first_change_is_saved_immediately_and_later_ones_after_the_interval() {
        let state = tempfile::tempdir().unwrap();
        let mut autosave = start(state.path());
        let started = Instant::now();
        let after = |millis: u64| started + Duration::from_millis(millis);

        // A document without changes is never written.
        assert_eq!(autosave.tick(0, false, after(0), Project::default), None);
        assert_eq!(autosave.tick(1, true, after(1), Project::default), None);
        settle(&autosave);

        assert!(autosave.session().text().exists());
        assert_eq!(
            autosave.tick(2, true, after(401), || panic!("too soon")),
            Some(INTERVAL - Duration::from_millis(400))
        );

        assert_eq!(
            autosave.tick(1, true, after(402), || panic!("nothing new")),
            None
        );

        // After the interval the project is asked for again.
        let mut requested = false;
        autosave.tick(9, true, after(1001), || {
            requested = true;
            Project::default()
        });

        assert!(requested);
        assert_eq!(autosave.tick(9, false, after(1100), Project::default), None);
        settle(&autosave);

        assert!(
            !autosave.session().text().exists(),
            "what is saved needs no session"
        );
    }

    #[test]
    fn a_clean_exit_removes_the_autosave_and_a_crash_keeps_it() {
        let state = tempfile::tempdir().unwrap();
        let sessions = || {
            NativeFiles
                .list(&sessions_folder(state.path()))
                .unwrap()
                .len()
        };

        let mut autosave = start(state.path());
        autosave.tick(1, true, Instant::now(), Project::default);
        autosave.finish(false);

        // The worker shares the session until its thread ends.
        while sessions() > 0 {
            std::thread::yield_now();
        }

        let mut autosave = start(state.path());
        autosave.tick(1, true, Instant::now(), Project::default);
        autosave.finish(true);

        assert_eq!(sessions(), 2, "a text and a lock");
    }

    #[test]
    fn an_unwritable_folder_is_reported_once() {
        let state = tempfile::tempdir().unwrap();
        let mut autosave = start(state.path());
        fs::remove_dir_all(sessions_folder(state.path())).unwrap();

        let mut reported = Vec::new();
        for revision in 1..=3 {
            autosave.tick(
                revision,
                true,
                Instant::now() + INTERVAL * revision as u32 * 2,
                Project::default,
            );
            settle(&autosave);
            reported.extend(autosave.error());
        }

        assert_eq!(reported.len(), 1, "{reported:?}");
    }
}
