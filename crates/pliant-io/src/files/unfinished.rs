//! Temporary files: complete or gone, also when the process is killed.
//!
//! **Problem.** A process that a signal ends runs no destructors, and SIGKILL runs nothing at all;
//! both leave temporary files beside the targets.
//!
//! **Method.** Every temporary file is in a list that [`discard_unfinished_files`] empties for
//! signal handlers, and is locked while its process lives. The next write to the same folder removes
//! those that are older than a minute and that nobody has locked.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tempfile::NamedTempFile;

/// How the names of temporary files begin.
pub(super) const PREFIX: &str = ".pliant-";

/// How the names of files end that are not complete yet.
pub(super) const SUFFIX: &str = ".tmp";

/// How the names of replaced files end that are kept until all files are in place.
pub(super) const BACKUP_SUFFIX: &str = ".old";

/// Age from which a file without a lock is left over. Chosen: much longer than the moment between
/// the creation of a file and its lock.
const LEFT_OVER: Duration = Duration::from_secs(60);

/// The temporary files of this process, for the handler of a signal.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Held while files get their names.
static COMMIT: Mutex<()> = Mutex::new(());

/// A temporary file with all bytes of its target, which is removed unless it gets that name.
#[derive(Debug)]
pub(super) struct UnfinishedFile {
    file: NamedTempFile,
}

impl UnfinishedFile {
    /// Writes `bytes` to a new file in `folder`, down to the disk.
    pub(super) fn write(folder: &Path, bytes: &[u8]) -> io::Result<Self> {
        let unfinished = Self {
            file: new_file(folder, SUFFIX)?,
        };
        list().push(unfinished.path().into());

        let mut file = unfinished.file.as_file();
        // Where files cannot be locked, left ones are not removed either.
        let _ = file.try_lock();
        file.write_all(bytes)?;
        file.sync_all()?;
        Ok(unfinished)
    }

    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    pub(super) fn as_file(&self) -> &File {
        self.file.as_file()
    }

    /// Gives the file its name, instead of one that has it.
    pub(super) fn rename(&self, target: &Path) -> io::Result<()> {
        fs::rename(self.path(), target)
    }
}

impl Drop for UnfinishedFile {
    fn drop(&mut self) {
        let path = self.file.path();
        list().retain(|listed| listed != path);
    }
}

/// A new file of this process in `folder`, which is removed when it is dropped.
pub(super) fn new_file(folder: &Path, suffix: &str) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(suffix);
    #[cfg(unix)]
    let builder = {
        use std::os::unix::fs::PermissionsExt as _;
        // As for any new file, the umask of the user decides.
        builder.permissions(fs::Permissions::from_mode(0o666))
    };
    builder.tempfile_in(folder)
}

/// Removes the temporary files of this process. Files that are being renamed are completed first.
///
/// For the handler of a signal that ends the process: what is written at that moment would stay.
pub fn discard_unfinished_files() {
    let _commit = hold_commit();
    for path in list().drain(..) {
        let _ = fs::remove_file(path);
    }
}

/// Keeps signal handlers waiting until the guard is dropped.
pub(super) fn hold_commit() -> MutexGuard<'static, ()> {
    COMMIT.lock().unwrap_or_else(PoisonError::into_inner)
}

fn list() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes temporary files that killed processes left in `folder`.
pub(super) fn remove_left_files(folder: &Path) {
    for path in temporary_files(folder, &[SUFFIX, BACKUP_SUFFIX]) {
        if is_left_over(&path) {
            let _ = fs::remove_file(path);
        }
    }
}

/// The temporary files in `folder` whose names end with one of `suffixes`.
pub(super) fn temporary_files(folder: &Path, suffixes: &[&str]) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let names = entries.flatten().map(|entry| entry.file_name());
    let own = names.filter(|name| {
        let name = name.to_string_lossy();
        name.starts_with(PREFIX) && suffixes.iter().any(|suffix| name.ends_with(suffix))
    });
    own.map(|name| folder.join(name)).collect()
}

fn is_left_over(path: &Path) -> bool {
    let is_old = || {
        let changed = fs::symlink_metadata(path).ok()?.modified().ok()?;
        Some(changed.elapsed().ok()? > LEFT_OVER)
    };
    let is_free = || File::open(path).is_ok_and(|file| file.try_lock().is_ok());
    is_old() == Some(true) && is_free()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    #[test]
    fn left_files_are_removed_and_those_at_work_stay() {
        let folder = tempfile::tempdir().unwrap();
        let long_ago = SystemTime::now() - 2 * LEFT_OVER;
        let at_work = UnfinishedFile::write(folder.path(), b"at work").unwrap();
        at_work.as_file().set_modified(long_ago).unwrap();

        let path = |name: &str| folder.path().join(name);
        for (name, modified) in [
            (".pliant-left.tmp", long_ago),
            (".pliant-left.old", long_ago),
            (".pliant-new.tmp", SystemTime::now()),
            (".other.tmp", long_ago),
        ] {
            let file = File::create(path(name)).unwrap();
            file.set_modified(modified).unwrap();
        }

        remove_left_files(folder.path());
        assert!(!path(".pliant-left.tmp").exists() && !path(".pliant-left.old").exists());
        assert!(path(".pliant-new.tmp").exists() && path(".other.tmp").exists());
        assert!(at_work.path().exists());
    }
}
