//! Several files, all or none.
//!
//! **Method.** Bytes go to temporary files in the folders of their targets, down to the disk. Only
//! when all of them are complete do they get their names. If a rename fails, the files that were
//! replaced before are put back; if the process dies, the [`journal`](super::journal) completes the
//! rest. A file keeps its mode bits, and the target of a symbolic link is replaced while the link
//! stays.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::journal::{self, Rename};
use super::read::{folder_of, is_same_file};
use super::unfinished::{self, BACKUP_SUFFIX, UnfinishedFile};
use crate::IoError;

/// The most links that are followed from one path, as on Linux.
const MOST_LINKS: usize = 40;

/// Writes all of `files` or none of them; when it returns, they are on the disk.
pub fn write_files(files: &[(PathBuf, Vec<u8>)]) -> Result<(), IoError> {
    make_folders_below_first(files)?;
    let mut ready: Vec<CompleteFile> = Vec::new();
    for (path, bytes) in files {
        let Some(complete) = CompleteFile::prepare(path, bytes)? else {
            continue;
        };
        if let Some(earlier) = ready
            .iter()
            .find(|file| is_same_file(&file.target, &complete.target))
        {
            return Err(IoError::SameFile {
                first: earlier.path.clone(),
                second: path.clone(),
            });
        }
        ready.push(complete);
    }
    commit(&ready)
}

/// Files beside the first one may be in folders below its own, which are made where they are missing.
fn make_folders_below_first(files: &[(PathBuf, Vec<u8>)]) -> Result<(), IoError> {
    let Some((first, others)) = files.split_first() else {
        return Ok(());
    };
    let below = folder_of(&first.0);
    for (path, _) in others {
        let folder = folder_of(path);
        if below.is_dir() && !folder.is_dir() && folder.starts_with(below) {
            fs::create_dir_all(folder).map_err(|source| write_error(path, source))?;
        }
    }
    Ok(())
}

/// Completes what a killed process left beside the file at `path`, before it is read.
pub(crate) fn finish_interrupted_writes(path: &Path) {
    journal::complete_left_renames(folder_of(path));
}

/// A temporary file with all bytes, and the name that it will get.
struct CompleteFile {
    /// As the caller named it.
    path: PathBuf,
    /// Where the links of that path lead.
    target: PathBuf,
    file: UnfinishedFile,
}

impl CompleteFile {
    /// `None` for a device, which is written in place.
    fn prepare(path: &Path, bytes: &[u8]) -> Result<Option<Self>, IoError> {
        let failed = |source| write_error(path, source);
        let target = link_target(path);
        let about = fs::metadata(&target).ok();
        if let Some(about) = &about {
            if about.is_dir() {
                return Err(IoError::Directory {
                    path: path.into(),
                    hint: "name the file to write",
                });
            }
            if !about.is_file() {
                fs::write(&target, bytes).map_err(failed)?;
                return Ok(None);
            }
            if about.permissions().readonly() {
                return Err(failed(io::ErrorKind::PermissionDenied.into()));
            }
        }

        // The temporary file must be on the same file system, so that renaming is atomic.
        let folder = folder_of(&target);
        if !folder.is_dir() {
            return Err(IoError::NoFolder {
                path: path.into(),
                folder: folder.into(),
            });
        }
        journal::complete_left_renames(folder);
        unfinished::remove_left_files(folder);

        let file = UnfinishedFile::write(folder, bytes).map_err(failed)?;
        if let Some(about) = about {
            let kept = file.as_file().set_permissions(about.permissions());
            kept.map_err(failed)?;
        }
        Ok(Some(Self {
            path: path.into(),
            target,
            file,
        }))
    }
}

/// Renames all files, or puts back what was there.
fn commit(files: &[CompleteFile]) -> Result<(), IoError> {
    let _commit = unfinished::hold_commit();
    // A single rename is atomic by itself.
    if let [file] = files {
        let renamed = file.file.rename(&file.target);
        renamed.map_err(|source| write_error(&file.path, source))?;
        sync_folders(files);
        return Ok(());
    }

    let journals = write_journals(files)?;
    let mut replaced = Vec::new();
    for file in files {
        match Replaced::replace(file) {
            Ok(done) => replaced.push(done),
            Err(source) => {
                // Without its journal, a process that dies now completes nothing.
                drop(journals);
                for done in replaced.into_iter().rev() {
                    done.put_back();
                }
                return Err(write_error(&file.path, source));
            }
        }
    }

    sync_folders(files);
    Ok(())
}

/// A journal for each folder with at least one file.
fn write_journals(files: &[CompleteFile]) -> Result<Vec<NamedTempFile>, IoError> {
    let mut by_folder: BTreeMap<&Path, Vec<&CompleteFile>> = BTreeMap::new();
    for file in files {
        let folder = folder_of(&file.target);
        by_folder.entry(folder).or_default().push(file);
    }

    let write = |(folder, files): (&Path, Vec<&CompleteFile>)| {
        let rename =
            |file: &&CompleteFile| Rename::new(file.file.path(), file.file.as_file(), &file.target);
        let renames: Vec<Rename> = files.iter().map(rename).collect();
        let written = journal::write(folder, &renames);
        written.map_err(|source| write_error(&files[0].path, source))
    };
    by_folder.into_iter().map(write).collect()
}

/// A target that was replaced, and another name of what was there before. That name is removed when
/// this is dropped.
struct Replaced {
    target: PathBuf,
    backup: Option<NamedTempFile>,
}

impl Replaced {
    fn replace(file: &CompleteFile) -> io::Result<Self> {
        let target = file.target.clone();
        let backup = if target.exists() {
            Some(second_name(&target)?)
        } else {
            None
        };
        file.file.rename(&target)?;
        Ok(Self { target, backup })
    }

    fn put_back(self) {
        // There is no more to do where even this fails; the error of the commit is reported.
        let _ = match self.backup {
            Some(backup) => backup.persist(&self.target).map(drop).map_err(|e| e.error),
            None => fs::remove_file(&self.target),
        };
    }
}

/// Gives the file at `target` a second, temporary name.
fn second_name(target: &Path) -> io::Result<NamedTempFile> {
    let backup = unfinished::new_file(folder_of(target), BACKUP_SUFFIX)?;
    fs::remove_file(backup.path())?;
    // Some file systems have no hard links.
    fs::hard_link(target, backup.path()).or_else(|_| fs::copy(target, backup.path()).map(drop))?;
    Ok(backup)
}

/// Where the links of `path` lead; the last of them may lead to a file that does not exist.
fn link_target(path: &Path) -> PathBuf {
    let mut target = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&target) {
            Ok(next) => target = folder_of(&target).join(next),
            Err(_) => return target,
        }
    }
    target
}

/// A new name is on the disk only when its folder is.
fn sync_folders(files: &[CompleteFile]) {
    for file in files {
        // Some systems cannot open folders; they have no such gap either.
        if let Ok(folder) = File::open(folder_of(&file.target)) {
            let _ = folder.sync_all();
        }
    }
}

fn write_error(path: &Path, source: io::Error) -> IoError {
    IoError::Write {
        path: path.into(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = entries
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let good = folder.path().join("kept");
        let bad = folder.path().join("kept/below");
        fs::write(&good, "old").unwrap();

        let error = write_files(&[(good.clone(), b"new".to_vec()), (bad, b"new".to_vec())])
            .unwrap_err()
            .to_string();

        assert!(error.contains("kept/below' cannot be written"), "{error}");
        assert_eq!(fs::read(&good).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["kept"]);
        write_files(&[(good.clone(), b"new".to_vec())]).unwrap();

        assert_eq!(fs::read(&good).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["kept"]);
    }

    #[test]
    fn a_rename_that_fails_puts_back_the_files_before_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("a"), "old").unwrap();
        let prepare = |name: &str| {
            let file = CompleteFile::prepare(&path(name), b"new").unwrap();
            file.expect("a regular file")
        };
        let ready = [prepare("a"), prepare("b"), prepare("c")];
        // The third name becomes a folder after all checks.
        fs::create_dir(path("c")).unwrap();

        let error = commit(&ready).unwrap_err().to_string();
        drop(ready);
        assert!(error.contains("c' cannot be written"), "{error}");
        assert_eq!(fs::read(path("a")).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["a", "c"]);
    }

    #[test]
    fn several_files_appear_together_and_leave_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("sub")).unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("a"), "old").unwrap();
        let bytes = |text: &str| text.as_bytes().to_vec();
        write_files(&[
            (path("a"), bytes("1")),
            (path("b"), bytes("2")),
            (path("sub/c"), bytes("3")),
        ])
        .unwrap();

        let read = |name: &str| fs::read_to_string(path(name)).unwrap();
        assert_eq!([read("a"), read("b"), read("sub/c")], ["1", "2", "3"]);
        assert_eq!(names(folder.path()), ["a", "b", "sub"]);
        assert_eq!(names(&path("sub")), ["c"]);
    }

    #[test]
    fn a_folder_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let error = write_files(&[(folder.path().into(), vec![1])])
            .unwrap_err()
            .to_string();
        assert!(error.contains("is a folder"), "{error}");
    }

    #[test]
    fn two_results_for_one_file_are_refused_by_every_spelling() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("sub")).unwrap();
        let first = folder.path().join("a");
        for second in ["a", "sub/../a", "./a"] {
            let second = folder.path().join(second);
            let error = write_files(&[(first.clone(), vec![1]), (second, vec![2])]).unwrap_err();
            assert!(error.to_string().contains("two results"), "{error}");
            assert_eq!(names(folder.path()), ["sub"]);
        }
    }

    #[cfg(unix)]
    #[test]
    fn mode_bits_and_links_stay() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("a"), "old").unwrap();
        fs::set_permissions(path("a"), fs::Permissions::from_mode(0o640)).unwrap();
        symlink("a", path("link")).unwrap();
        symlink("none", path("dangling")).unwrap();

        write_files(&[(path("link"), b"new".to_vec())]).unwrap();
        write_files(&[(path("dangling"), b"made".to_vec())]).unwrap();
        let mode = fs::metadata(path("a")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        assert_eq!(fs::read(path("a")).unwrap(), b"new");
        assert_eq!(fs::read(path("none")).unwrap(), b"made");
        for link in ["link", "dangling"] {
            assert!(fs::symlink_metadata(path(link)).unwrap().is_symlink());
        }
    }
}
