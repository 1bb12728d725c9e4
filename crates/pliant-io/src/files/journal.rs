//! A commit that survives the end of the process.
//!
//! **Problem.** Several files get their names by several renames. A process that dies between two of
//! them leaves new files beside old ones.
//!
//! **Method.** Write-ahead journal: when all temporary files are on the disk, and before the first
//! rename, a journal in each folder lists which of them gets which name. Whoever next reads or writes
//! in that folder completes the renames of a journal that no living process has locked.
//!
//! **Departures.** A journal lists names in its own folder only, with the identities of the temporary
//! files on the disk, so that a journal that came with foreign files moves nothing. Files in several
//! folders have one journal in each, so that a process that dies while it writes the journals
//! completes some folders only.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use super::unfinished::{new_file, temporary_files};

const SUFFIX: &str = ".journal";

/// The largest journal that is read. Chosen: room for thousands of names.
const MOST_BYTES: u64 = 1 << 20;

/// A rename within one folder.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Rename {
    pub(super) from: OsString,
    pub(super) to: OsString,
    identity: Option<[u64; 2]>,
}

impl Rename {
    /// The rename of `file` in its own folder.
    pub(super) fn new(from: &Path, file: &File, to: &Path) -> Self {
        Self {
            from: from.file_name().unwrap_or_default().into(),
            to: to.file_name().unwrap_or_default().into(),
            identity: file.metadata().ok().and_then(|about| identity(&about)),
        }
    }

    /// Carries the rename out, unless it was or its file is another one.
    fn complete(&self, folder: &Path) {
        let is_name = |name: &OsString| Path::new(name).file_name() == Some(name);
        if !is_name(&self.from) || !is_name(&self.to) {
            return;
        }

        let from = folder.join(&self.from);
        let found = fs::symlink_metadata(&from).ok();
        let found = found.filter(fs::Metadata::is_file);
        let Some(found) = found.and_then(|about| identity(&about)) else {
            return;
        };
        if Some(found) == self.identity {
            let _ = fs::rename(from, folder.join(&self.to));
        }
    }
}

/// Writes the journal of renames in `folder`. It is removed when it is dropped.
pub(super) fn write(folder: &Path, renames: &[Rename]) -> io::Result<NamedTempFile> {
    let mut journal = new_file(folder, SUFFIX)?;
    let _ = journal.as_file().try_lock();
    let text = serde_json::to_vec(renames).map_err(io::Error::other)?;
    journal.write_all(&text)?;
    journal.as_file().sync_all()?;
    Ok(journal)
}

/// Completes the renames that killed processes left in `folder`.
pub(super) fn complete_left_renames(folder: &Path) {
    for path in temporary_files(folder, &[SUFFIX]) {
        // A journal that another process locked is at work.
        let file = File::open(&path).and_then(|file| {
            file.try_lock()?;
            Ok(file)
        });
        let Ok(file) = file else { continue };

        for rename in read(&file).unwrap_or_default() {
            rename.complete(folder);
        }
        let _ = fs::remove_file(path);
    }
}

/// `None` for a journal that is incomplete, so that no rename had begun.
fn read(file: &File) -> Option<Vec<Rename>> {
    let about = file.metadata().ok()?;
    if !about.is_file() || about.len() > MOST_BYTES {
        return None;
    }
    serde_json::from_reader(io::BufReader::new(file)).ok()
}

/// Numbers that no other file of this machine has at the same time.
#[cfg(unix)]
fn identity(about: &fs::Metadata) -> Option<[u64; 2]> {
    use std::os::unix::fs::MetadataExt as _;
    Some([about.dev(), about.ino()])
}

#[cfg(not(unix))]
fn identity(_: &fs::Metadata) -> Option<[u64; 2]> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// A folder with an old file, a complete temporary file, and a journal of a dead process.
    fn interrupted(rename: impl FnOnce(&Path, &File) -> Rename) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.obj"), "old").unwrap();
        let from = folder.path().join(".pliant-1.tmp");
        fs::write(&from, "new").unwrap();
        let rename = rename(&from, &File::open(&from).unwrap());
        let journal = write(folder.path(), &[rename]).unwrap();
        // Closed, and thereby not locked, but still there.
        let (file, path) = journal.keep().unwrap();
        drop(file);
        assert!(path.exists());
        folder
    }

    fn content(folder: &tempfile::TempDir) -> String {
        fs::read_to_string(folder.path().join("a.obj")).unwrap()
    }

    #[test]
    fn renames_of_a_dead_process_are_completed() {
        let folder = interrupted(|from, file| Rename::new(from, file, Path::new("a.obj")));
        complete_left_renames(folder.path());
        assert_eq!(content(&folder), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_journal_of_a_living_process_is_left_alone() {
        let folder = interrupted(|from, file| Rename::new(from, file, Path::new("a.obj")));
        let journal = temporary_files(folder.path(), &[SUFFIX]).remove(0);
        let owner = File::open(journal).unwrap();
        owner.lock().unwrap();
        complete_left_renames(folder.path());
        assert_eq!(content(&folder), "old");
    }

    #[test]
    fn foreign_journals_move_nothing() {
        let foreign = interrupted(|from, file| Rename {
            identity: Some([1, 2]),
            ..Rename::new(from, file, Path::new("a.obj"))
        });
        complete_left_renames(foreign.path());
        assert_eq!(content(&foreign), "old");

        let outside = interrupted(|from, file| Rename {
            to: "../stolen.obj".into(),
            ..Rename::new(from, file, Path::new("a.obj"))
        });
        complete_left_renames(outside.path());
        let stolen = outside.path().parent().unwrap().join("stolen.obj");
        assert!(!stolen.exists() && content(&outside) == "old");
    }

    #[test]
    fn a_damaged_journal_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        for (k, text) in ["", "[", "{}", "[{\"from\":3}]", "\u{0}"]
            .iter()
            .enumerate()
        {
            fs::write(folder.path().join(format!(".pliant-{k}{SUFFIX}")), text).unwrap();
        }
        complete_left_renames(folder.path());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
