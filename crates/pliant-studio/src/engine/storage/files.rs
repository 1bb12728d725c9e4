//! File access as bytes; the only place that opens files.
//!
//! A browser provides its own [`Files`]; all other code sees folders, names and bytes. Calls can
//! take long (a sleeping disk, a network share that is gone), so only workers make them.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use web_time::SystemTime;

/// Something in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderEntry {
    /// Its name.
    pub name: String,
    /// Whether it is a folder.
    pub folder: bool,
    /// How many bytes a file has.
    pub size: u64,
}

/// Where bytes are kept under names.
pub trait Files: Send + Sync {
    /// Contents of a folder: folders first, then by name.
    fn list(&self, folder: &Path) -> io::Result<Vec<FolderEntry>>;

    /// Whether there is a folder of this name.
    fn is_folder(&self, path: &Path) -> bool {
        self.list(path).is_ok()
    }

    /// How many bytes a file has; an error where there is no file.
    fn size(&self, path: &Path) -> io::Result<u64>;

    /// When a file was last written.
    fn modified(&self, path: &Path) -> io::Result<SystemTime>;

    /// The bytes of a file, if they are no more than `at_most`.
    fn read(&self, path: &Path, at_most: u64) -> io::Result<Vec<u8>>;

    /// Replaces a file by `bytes` atomically: a reader always finds all of the old bytes or all of
    /// the new ones.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Makes a folder and those above it.
    fn create_folder(&self, path: &Path) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Gives a file another name, instead of one that has it.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
}

/// The files that this program works with: those of the machine, or in a browser those in memory.
#[must_use]
pub fn files_of_program() -> Arc<dyn Files> {
    #[cfg(not(target_arch = "wasm32"))]
    return Arc::new(NativeFiles);
    #[cfg(target_arch = "wasm32")]
    Arc::new(super::memory_files::MemoryFiles(
        pliant::io::MemoryDisk::of_program(),
    ))
}

/// A number that no other running program has; 0 in a browser, whose files no other program sees.
pub(super) fn program_number() -> u32 {
    if cfg!(target_arch = "wasm32") {
        0
    } else {
        std::process::id()
    }
}

/// The files of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct NativeFiles;

impl Files for NativeFiles {
    fn list(&self, folder: &Path) -> io::Result<Vec<FolderEntry>> {
        let mut entries = Vec::new();
        for found in fs::read_dir(folder)? {
            let found = found?;
            // A name that is not Unicode cannot be shown or stored; a broken link cannot be opened.
            let (Ok(name), Ok(about)) =
                (found.file_name().into_string(), fs::metadata(found.path()))
            else {
                continue;
            };

            entries.push(FolderEntry {
                name,
                folder: about.is_dir(),
                size: about.len(),
            });
        }

        entries.sort_by_cached_key(|entry| {
            (!entry.folder, entry.name.to_lowercase(), entry.name.clone())
        });
        Ok(entries)
    }

    fn is_folder(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn size(&self, path: &Path) -> io::Result<u64> {
        let about = fs::metadata(path)?;
        // A pipe or a device could keep its reader waiting forever.
        if about.is_file() {
            Ok(about.len())
        } else {
            Err(io::Error::new(ErrorKind::InvalidInput, "it is not a file"))
        }
    }

    fn modified(&self, path: &Path) -> io::Result<SystemTime> {
        #[cfg(not(target_arch = "wasm32"))]
        return fs::metadata(path)?.modified();
        #[cfg(target_arch = "wasm32")]
        Err(io::Error::new(
            ErrorKind::Unsupported,
            path.display().to_string(),
        ))
    }

    fn read(&self, path: &Path, at_most: u64) -> io::Result<Vec<u8>> {
        if self.size(path)? > at_most {
            return Err(io::Error::new(
                ErrorKind::FileTooLarge,
                format!("it is larger than {} MB", at_most >> 20),
            ));
        }
        fs::read(path)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        replace_with(path, |file| file.write_all(bytes))
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)?;
        sync_folder(to);
        Ok(())
    }
}

/// Ending of a file that is not complete yet.
const UNFINISHED: &str = ".unfinished";

/// Puts what `write` writes instead of `path`: into a file beside it, down to the disk, and then
/// under its name.
fn replace_with(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    // Through a symbolic link, so that the link survives the rename.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if fs::metadata(&target).is_ok_and(|about| about.permissions().readonly()) {
        return Err(ErrorKind::PermissionDenied.into());
    }

    let unfinished = unfinished_beside(&target);
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&unfinished)
        .and_then(|mut file| {
            write(&mut file)?;
            file.sync_all()
        });

    let done = written.and_then(|()| fs::rename(&unfinished, &target));
    match &done {
        Ok(()) => sync_folder(&target),
        // What is left of the attempt only takes room; if it cannot be removed either, the first
        // error says more.
        Err(_) => drop(fs::remove_file(&unfinished)),
    }
    done
}

/// A name beside `target` that no other save uses.
fn unfinished_beside(target: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    target.with_file_name(format!(".{name}.{}-{number}{UNFINISHED}", program_number()))
}

/// Removes what saves that were killed left in `folder` of files whose names are `of` some kind.
/// Those of this process are at work, so they stay.
pub fn sweep_unfinished(files: &dyn Files, folder: &Path, of: impl Fn(&str) -> bool) {
    let own = format!("{}-", program_number());
    for entry in files.list(folder).unwrap_or_default() {
        let left = entry
            .name
            .strip_prefix('.')
            .and_then(|rest| rest.strip_suffix(UNFINISHED))
            .and_then(|rest| rest.rsplit_once('.'));
        if left.is_some_and(|(name, by)| of(name) && !by.starts_with(&own)) {
            // Someone else may have removed it meanwhile.
            let _ = files.remove(&folder.join(&entry.name));
        }
    }
}

/// Whether a name is that of a file that is not complete.
pub(crate) fn is_unfinished(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(UNFINISHED)
}

/// A new name is on the disk only when its folder is.
fn sync_folder(path: &Path) {
    // Some systems cannot open folders; they have no such gap either.
    if let Some(folder) = path.parent().and_then(|folder| File::open(folder).ok()) {
        let _ = folder.sync_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::names::io_reason;

    fn names(folder: &Path) -> Vec<String> {
        NativeFiles
            .list(folder)
            .unwrap()
            .into_iter()
            .map(|entry| entry.name)
            .collect()
    }

    #[test]
    fn a_write_that_fails_half_way_keeps_the_old_file_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("face.pliant");
        NativeFiles.write(&path, b"old").unwrap();

        // The disk fills after none, one or many bytes of the new file.
        for bytes in [0, 1, 100] {
            let full = replace_with(&path, |file| {
                file.write_all(&vec![b'n'; bytes])?;
                Err(ErrorKind::StorageFull.into())
            });

            assert_eq!(io_reason(&full.unwrap_err()), "the disk is full");
            assert_eq!(
                (fs::read(&path).unwrap(), names(folder.path())),
                (b"old".to_vec(), vec!["face.pliant".to_owned()])
            );
        }

        NativeFiles.write(&path, b"new").unwrap();
        assert_eq!(
            (fs::read(&path).unwrap(), names(folder.path())),
            (b"new".to_vec(), vec!["face.pliant".to_owned()])
        );
    }

    #[test]
    fn unfinished_files_of_killed_saves_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("face.pliant");
        let own = unfinished_beside(&path);

        for name in [
            ".face.pliant.0-7.unfinished",
            ".other.pliant.0-7.unfinished",
            "face.pliant",
        ] {
            fs::write(folder.path().join(name), "x").unwrap();
        }

        fs::write(&own, "x").unwrap();
        // Files of this process and of other projects may still be in use.
        sweep_unfinished(&NativeFiles, folder.path(), |name| name == "face.pliant");
        assert!(
            own.exists()
                && path.exists()
                && folder.path().join(".other.pliant.0-7.unfinished").exists()
        );

        assert!(!folder.path().join(".face.pliant.0-7.unfinished").exists());
    }

    #[test]
    fn folders_come_first_and_a_file_that_is_too_large_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("zoo")).unwrap();
        fs::write(folder.path().join("Ape.obj"), "0123456789").unwrap();
        fs::write(folder.path().join("bat.obj"), "").unwrap();

        assert_eq!(names(folder.path()), ["zoo", "Ape.obj", "bat.obj"]);
        assert_eq!(
            NativeFiles
                .read(&folder.path().join("Ape.obj"), 9)
                .unwrap_err()
                .kind(),
            ErrorKind::FileTooLarge
        );

        assert!(NativeFiles.read(&folder.path().join("zoo"), 9).is_err());
    }

    #[test]
    #[cfg(unix)]
    fn writing_through_a_symbolic_link_keeps_the_link() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("real");
        let link = folder.path().join("link");
        fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        NativeFiles.write(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&real).unwrap(), b"new");
    }
}
