//! Unsaved work, kept a moment after each change, so that a crash costs seconds.
//!
//! Each running program has a **session** in the person's state folder: a text as a project's, its
//! results in a store that all sessions share, and a lock that the system lets go when the program
//! ends, however it ends ([`recovery`](crate::recovery) asks for it).
//!
//! The text goes first here and results after it: a result that takes long to write holds up no
//! edit, and whoever clears the store finds the name of a result before the result.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use web_time::{Duration, Instant, SystemTime};

use crate::files::{Files, why};
use crate::project::{BlobStore, Project, blobs, to_text};
use crate::work::{Inbox, Latest, Outbox, Wake};

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

/// The place of this program's unsaved work, locked as long as it lives.
#[derive(Debug)]
pub struct Session {
    text: PathBuf,
    results: PathBuf,
    _lock: File,
}

impl Session {
    /// A new session in the state folder.
    pub fn begin(state: &Path) -> std::io::Result<Self> {
        let folder = sessions_folder(state);
        fs::create_dir_all(&folder)?;
        let since = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        let text = folder.join(format!(
            "{}-{}.{TEXT}",
            std::process::id(),
            since.as_nanos()
        ));
        let lock = File::create_new(text.with_extension(LOCK))?;
        // On a disk without locks a session counts as ended: another start may open a copy of it,
        // and nothing is lost.
        let _ = lock.lock();
        Ok(Self {
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
        // Without unsaved work nobody needs the lock; with it, the next start removes both.
        if !self.text.exists() {
            let _ = fs::remove_file(self.text.with_extension(LOCK));
        }
    }
}

/// What the worker is asked.
enum Keep {
    /// Write this.
    Work(Box<Project>),
    /// There is no unsaved work any more.
    Nothing,
}

/// Keeps unsaved work.
pub struct Autosave {
    session: Arc<Session>,
    worker: Latest<Keep, ()>,
    /// The revision that was last asked to be kept, and when; `None` while there is no unsaved
    /// work.
    asked: Option<(u64, Instant)>,
    told: Option<String>,
}

impl Autosave {
    /// Keeps unsaved work in `session`.
    #[must_use]
    pub fn new(session: Arc<Session>, files: Arc<dyn Files>, wake: Wake) -> Self {
        let place = session.clone();
        let worker = Latest::new(
            "Autosave",
            wake,
            move |inbox: &Inbox<Keep>, outbox: &Outbox<()>| {
                let mut store = BlobStore::new(place.results.clone());
                while let Some(question) = inbox.next() {
                    let kept = match question {
                        Keep::Work(project) => {
                            keep(&*files, &place, &mut store, *project, &|| inbox.waits())
                        }
                        Keep::Nothing => clear(&*files, &place),
                    };
                    outbox.put(kept);
                }
            },
        );
        Self {
            session,
            worker,
            asked: None,
            told: None,
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
        if !unsaved {
            if self.asked.take().is_some() {
                self.worker.ask(Keep::Nothing);
            }
            return None;
        }
        let waited = self
            .asked
            .map(|(asked, at)| (asked == revision, now.saturating_duration_since(at)));
        match waited {
            Some((true, _)) => None,
            Some((false, waited)) if waited < INTERVAL => Some(INTERVAL - waited),
            _ => {
                self.asked = Some((revision, now));
                self.worker.ask(Keep::Work(Box::new(work())));
                None
            }
        }
    }

    /// The document is another one, without unsaved work or with work that the session holds
    /// already.
    pub fn restart(&mut self, held: bool) {
        if held {
            // No revision is equal to it, and it was never asked: the next look writes again, which
            // does no harm.
            self.asked = None;
        } else if self.asked.is_some() {
            self.asked = None;
            self.worker.ask(Keep::Nothing);
        }
    }

    /// A sentence, once, when unsaved work can no longer be kept.
    pub fn trouble(&mut self) -> Option<String> {
        let failed = self.worker.answer()?.err();
        let news = failed
            .clone()
            .filter(|sentence| self.told.as_ref() != Some(sentence));
        self.told = failed;
        news
    }

    /// The program ends: unsaved work stays for the next start, or goes. Waits for the worker, no
    /// longer than a person would.
    pub fn finish(self, unsaved: bool) {
        if !unsaved {
            self.worker.ask(Keep::Nothing);
        }
        let begun = Instant::now();
        while self.worker.at_work() && begun.elapsed() < Duration::from_secs(3) {
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
    let text = to_text(&project, None).map_err(|error| error.to_string())?;
    let failed = |error: &std::io::Error| {
        format!(
            "Unsaved work cannot be kept because {}; save the project",
            why(error)
        )
    };
    files
        .write(&session.text, text.as_bytes())
        .map_err(|error| failed(&error))?;
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
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("Old unsaved work stays because {}.", why(&error)))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::NativeFiles;

    fn start(state: &Path) -> Autosave {
        Autosave::new(
            Arc::new(Session::begin(state).unwrap()),
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
    fn the_first_change_is_kept_at_once_and_others_after_the_interval() {
        let state = tempfile::tempdir().unwrap();
        let mut autosave = start(state.path());
        let begun = Instant::now();
        let after = |millis: u64| begun + Duration::from_millis(millis);
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
        let mut asked = false;
        autosave.tick(9, true, after(1001), || {
            asked = true;
            Project::default()
        });
        assert!(asked);
        assert_eq!(autosave.tick(9, false, after(1100), Project::default), None);
        settle(&autosave);
        assert!(
            !autosave.session().text().exists(),
            "what is saved needs no session"
        );
    }

    #[test]
    fn a_clean_end_leaves_nothing_and_another_leaves_the_work() {
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
        // The worker has a share in the session until its thread ends.
        while sessions() > 0 {
            std::thread::yield_now();
        }
        let mut autosave = start(state.path());
        autosave.tick(1, true, Instant::now(), Project::default);
        autosave.finish(true);
        assert_eq!(sessions(), 2, "a text and a lock");
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_told_once() {
        let state = tempfile::tempdir().unwrap();
        let mut autosave = start(state.path());
        fs::remove_dir_all(sessions_folder(state.path())).unwrap();
        let mut told = Vec::new();
        for revision in 1..=3 {
            autosave.tick(
                revision,
                true,
                Instant::now() + INTERVAL * revision as u32 * 2,
                Project::default,
            );
            settle(&autosave);
            told.extend(autosave.trouble());
        }
        assert_eq!(told.len(), 1, "{told:?}");
    }
}
