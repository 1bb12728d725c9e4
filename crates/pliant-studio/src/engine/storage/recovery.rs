//! Recovery of unsaved work of programs that ended unexpectedly.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use web_time::{Duration, SystemTime};

use super::autosave::{LOCK, Session, TEXT, results_folder, sessions_folder};
use super::files::{Files, is_unfinished};
use super::project_store::{Opened, open_with};
use super::session_lock::SessionLock;
use crate::model::blob::Blob;
use crate::model::project::{MAX_TEXT, ProjectError, SessionNote};

/// The ending of the note of how often unsaved work was opened.
const STARTS: &str = "starts";
/// A fault that unsaved work brings along shows within this time after it was opened.
pub const PERIL: Duration = Duration::from_secs(10);
/// The most bytes of such a note.
const MAX_NOTE: u64 = 64;
/// Once may have been another fault.
const MOST_STARTS: u32 = 2;

/// Unsaved work to be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsavedWork {
    /// Its text.
    pub text: PathBuf,
    /// When it was last kept.
    pub kept: SystemTime,
    /// The project it belongs to, if it has one.
    pub project: Option<PathBuf>,
    /// How many programs in a row opened it and ended within [`PERIL`].
    pub starts: u32,
}

impl UnsavedWork {
    /// Whether programs that opened it ended soon after, so that it is not opened automatically.
    #[must_use]
    pub fn ended_programs(&self) -> bool {
        self.starts >= MOST_STARTS
    }

    /// Its name in messages: that of the project.
    #[must_use]
    pub fn name(&self) -> String {
        let name = self.project.as_ref().and_then(|path| path.file_name());
        name.map_or_else(
            || "an untitled project".into(),
            |name| format!("'{}'", name.to_string_lossy()),
        )
    }
}

/// The unsaved work of programs that run no more, the newest first.
#[must_use]
pub fn lost_work(files: &dyn Files, state: &Path) -> Vec<UnsavedWork> {
    let mut found: Vec<UnsavedWork> = session_texts(files, state)
        .into_iter()
        .filter(|text| has_ended(text))
        .filter_map(|text| lost(files, text))
        .collect();
    found.sort_by(|a, b| (b.kept, &b.text).cmp(&(a.kept, &a.text)));
    found
}

fn session_texts(files: &dyn Files, state: &Path) -> Vec<PathBuf> {
    paths_in(files, &sessions_folder(state))
        .into_iter()
        .filter(|path| path.extension().is_some_and(|ending| ending == TEXT))
        .collect()
}

fn paths_in(files: &dyn Files, folder: &Path) -> Vec<PathBuf> {
    let entries = files.list(folder).unwrap_or_default();
    entries
        .into_iter()
        .map(|entry| folder.join(entry.name))
        .collect()
}

/// Whether the program of a session has ended: its lock is free.
fn has_ended(text: &Path) -> bool {
    SessionLock::is_free(&text.with_extension(LOCK))
}

fn lost(files: &dyn Files, text: PathBuf) -> Option<UnsavedWork> {
    #[derive(Deserialize, Default)]
    struct Head {
        #[serde(default)]
        session: Option<SessionNote>,
    }

    let kept = files.modified(&text).ok()?;
    // A damaged text is still listed, without the name of its project.
    let head: Head = serde_json::from_slice(&files.read(&text, MAX_TEXT).ok()?).unwrap_or_default();
    let starts = files
        .read(&text.with_extension(STARTS), MAX_NOTE)
        .ok()
        .and_then(|count| String::from_utf8(count).ok())
        .and_then(|count| count.trim().parse().ok())
        .unwrap_or(0);

    Some(UnsavedWork {
        text,
        kept,
        project: head.session.and_then(|note| note.project),
        starts,
    })
}

/// Notes, before unsaved work is opened, that it is: should it end the program, the next one knows.
pub fn count_start(files: &dyn Files, lost: &UnsavedWork) {
    // Without the note it is only opened once more than it should be.
    let _ = files.write(
        &lost.text.with_extension(STARTS),
        (lost.starts + 1).to_string().as_bytes(),
    );
}

/// The program continues, or ends normally, with the work that it [claimed](claim).
pub fn record_success(files: &dyn Files, session: &Session) {
    // Most sessions have no such note.
    let _ = files.remove(&session.text().with_extension(STARTS));
}

/// Reads unsaved work, which stays listed until a session [claims](claim) it.
pub fn read(
    files: &dyn Files,
    lost: &UnsavedWork,
    session: &Session,
) -> Result<Opened, ProjectError> {
    match open_with(files, &lost.text, None, session.results()) {
        // It would be reported at every start; it stays available under another name.
        Err(error @ (ProjectError::Broken { .. } | ProjectError::Foreign { .. })) => {
            let _ = files.rename(&lost.text, &lost.text.with_extension("damaged"));
            Err(error)
        }
        other => other,
    }
}

/// Makes unsaved work that of `session`, in one step that a crash cannot interrupt. The caller
/// must show what was [read].
pub fn claim(files: &dyn Files, lost: &UnsavedWork, session: &Session) -> Result<(), ProjectError> {
    files
        .rename(&lost.text, session.text())
        .map_err(|source| ProjectError::Read {
            path: lost.text.clone(),
            source,
        })?;

    // Nothing but a name or a count is left behind if these fail.
    let _ = files.rename(
        &lost.text.with_extension(STARTS),
        &session.text().with_extension(STARTS),
    );
    let _ = files.remove(&lost.text.with_extension(LOCK));
    Ok(())
}

/// A lock, a note or an attempt to write that is older than this is no longer on its way to be
/// used.
const GIVEN_UP: Duration = Duration::from_secs(3600);

/// Removes unused files: locks and notes of programs that ended without unsaved work, results
/// that no session names, and attempts to write that were cut short.
pub fn sweep(files: &dyn Files, state: &Path) {
    sweep_results(files, state);
    for path in [sessions_folder(state), results_folder(state)]
        .iter()
        .flat_map(|folder| paths_in(files, folder))
    {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // Locks and notes of programs that ended without unsaved work.
        let lock = path
            .extension()
            .is_some_and(|ending| ending == LOCK || ending == STARTS)
            && files.size(&path.with_extension(TEXT)).is_err()
            && has_ended(&path);

        let modified = files.modified(&path).ok();
        let age = modified.and_then(|at| at.elapsed().ok());

        // A young file may belong to a program that is just starting.
        if (lock || is_unfinished(&name)) && age.is_some_and(|age| age > GIVEN_UP) {
            let _ = files.remove(&path);
        }
    }
}

fn sweep_results(files: &dyn Files, state: &Path) {
    // Results are listed before texts are read: a session writes a result's name before the result.
    let results = results_folder(state);
    let listed = files.list(&results).unwrap_or_default();
    if listed.is_empty() {
        return;
    }

    let texts: Vec<String> = session_texts(files, state)
        .iter()
        .filter_map(|text| String::from_utf8(files.read(text, MAX_TEXT).ok()?).ok())
        .collect();
    let named = |name: &str| texts.iter().any(|text| text.contains(name));

    for entry in listed
        .iter()
        .filter(|entry| Blob::is_name(&entry.name) && !named(&entry.name))
    {
        let _ = files.remove(&results.join(&entry.name));
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;
    use std::time::Instant;

    use pliant::mesh::glam::DVec3;

    use super::*;
    use crate::engine::storage::autosave::Autosave;
    use crate::engine::storage::files::NativeFiles;
    use crate::model::project::Project;
    use crate::model::timeline::Take;

    fn work(project: &str) -> Project {
        let mut work = Project {
            session: Some(SessionNote {
                project: Some(project.into()),
                stamp: None,
            }),
            ..Project::default()
        };

        work.document.timeline.add_take(Take::made(
            project,
            "specimen:head",
            &[vec![DVec3::ONE; 9]],
            24.0,
        ));
        work
    }

    /// Unsaved work of a program that is over: its lock is let go.
    fn ended(state: &Path, project: &str) {
        let mut autosave = Autosave::new(
            Arc::new(Session::begin(Arc::new(NativeFiles), state).unwrap()),
            Arc::new(NativeFiles),
            Arc::new(|| ()),
        );
        let text = autosave.session().text().to_owned();
        let started = Instant::now();

        autosave.tick(1, true, started, || work(project));
        autosave.finish(true);
        while !has_ended(&text) {
            std::thread::yield_now();
        }
    }

    #[test]
    fn unsaved_work_is_found_newest_first_and_claimed() {
        let state = tempfile::tempdir().unwrap();
        for project in ["/a/old.pliant", "/a/new.pliant"] {
            ended(state.path(), project);
            // The order comes from the modification times, which need to differ.
            std::thread::sleep(Duration::from_millis(20));
        }

        let session = Session::begin(Arc::new(NativeFiles), state.path()).unwrap();
        let found = lost_work(&NativeFiles, state.path());
        assert_eq!(
            found.iter().map(UnsavedWork::name).collect::<Vec<_>>(),
            ["'new.pliant'", "'old.pliant'"]
        );

        let opened = read(&NativeFiles, &found[0], &session).unwrap();
        assert_eq!(
            (opened.warning(), opened.project),
            (None, work("/a/new.pliant"))
        );

        assert!(
            !session.text().exists() && lost_work(&NativeFiles, state.path()) == found,
            "what was only read is still lost"
        );
        claim(&NativeFiles, &found[0], &session).unwrap();

        assert!(session.text().exists());
        assert_eq!(
            lost_work(&NativeFiles, state.path()).len(),
            1,
            "what this program took over is no longer lost"
        );

        assert!(
            claim(&NativeFiles, &found[0], &session).is_err(),
            "nobody takes it over twice"
        );
    }

    #[test]
    fn unsaved_work_that_crashes_programs_is_not_opened_automatically() {
        let state = tempfile::tempdir().unwrap();
        ended(state.path(), "/a/b.pliant");
        for starts in 0..2 {
            let lost = lost_work(&NativeFiles, state.path()).remove(0);
            assert_eq!((lost.starts, lost.ended_programs()), (starts, false));
            count_start(&NativeFiles, &lost);
            // A program that ends releases its lock.
            claim(
                &NativeFiles,
                &lost,
                &Session::begin(Arc::new(NativeFiles), state.path()).unwrap(),
            )
            .unwrap();
        }

        let lost = lost_work(&NativeFiles, state.path()).remove(0);
        assert!(lost.ended_programs(), "{lost:?}");

        // The menu still opens it; a program that survives clears the count.
        let session = Session::begin(Arc::new(NativeFiles), state.path()).unwrap();
        count_start(&NativeFiles, &lost);
        read(&NativeFiles, &lost, &session).unwrap();
        claim(&NativeFiles, &lost, &session).unwrap();
        record_success(&NativeFiles, &session);
        drop(session);

        assert_eq!(lost_work(&NativeFiles, state.path()).remove(0).starts, 0);
    }

    #[test]
    fn unsaved_work_of_a_running_program_is_not_listed() {
        let state = tempfile::tempdir().unwrap();
        let mut autosave = Autosave::new(
            Arc::new(Session::begin(Arc::new(NativeFiles), state.path()).unwrap()),
            Arc::new(NativeFiles),
            Arc::new(|| ()),
        );

        autosave.tick(1, true, Instant::now(), || work("/a/b.pliant"));
        while !autosave.session().text().exists() {
            std::thread::yield_now();
        }

        assert_eq!(lost_work(&NativeFiles, state.path()), []);
    }

    #[test]
    fn damaged_unsaved_work_is_reported_once_and_renamed() {
        let state = tempfile::tempdir().unwrap();
        ended(state.path(), "/a/b.pliant");
        let found = lost_work(&NativeFiles, state.path());
        fs::write(&found[0].text, "{\"format\": \"pliant project\", \"vers").unwrap();

        let session = Session::begin(Arc::new(NativeFiles), state.path()).unwrap();
        assert!(
            read(
                &NativeFiles,
                &lost_work(&NativeFiles, state.path())[0],
                &session
            )
            .unwrap_err()
            .to_string()
            .contains("ends unexpectedly")
        );

        assert_eq!(lost_work(&NativeFiles, state.path()), []);
        assert!(found[0].text.with_extension("damaged").exists());
    }

    #[test]
    fn unreferenced_results_are_removed() {
        let state = tempfile::tempdir().unwrap();
        ended(state.path(), "/a/kept.pliant");
        let results = || {
            NativeFiles
                .list(&results_folder(state.path()))
                .unwrap()
                .len()
        };

        // A result that no recovery file refers to.
        let stray = Blob::new(b"stray".to_vec(), "npy");
        fs::write(
            results_folder(state.path()).join(stray.name()),
            stray.bytes(),
        )
        .unwrap();

        assert_eq!(results(), 2);
        sweep(&NativeFiles, state.path());
        assert_eq!(results(), 1);
        assert_eq!(lost_work(&NativeFiles, state.path()).len(), 1);
    }
}
