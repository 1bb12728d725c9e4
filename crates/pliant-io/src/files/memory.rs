//! Files in memory, where there is no file system.
//!
//! **Problem.** A program in a browser has no file system, but assets refer to files beside them,
//! projects to results in folders, and dialogs list folders.
//!
//! **Method.** [`MemoryDisk`] maps absolute paths to bytes. A folder exists if it was made or holds
//! something. The page copies changed files ([`MemoryDisk::take_changes`]) to the storage of the
//! browser, and back when it starts.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Error, ErrorKind, Result};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Files in memory.
#[derive(Debug, Default)]
pub struct MemoryDisk {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    files: BTreeMap<PathBuf, MemoryFile>,
    folders: BTreeSet<PathBuf>,
    changes: BTreeSet<PathBuf>,
    writes: u64,
}

/// A file in memory.
#[derive(Debug, Clone)]
pub struct MemoryFile {
    /// Its bytes.
    pub bytes: Arc<[u8]>,
    /// A number that grows with each write to the disk.
    pub written: u64,
}

impl MemoryDisk {
    /// The disk of this program.
    #[must_use]
    pub fn of_program() -> &'static Self {
        static DISK: MemoryDisk = MemoryDisk {
            state: Mutex::new(State {
                files: BTreeMap::new(),
                folders: BTreeSet::new(),
                changes: BTreeSet::new(),
                writes: 0,
            }),
        };
        &DISK
    }

    /// The file at `path`.
    pub fn file(&self, path: &Path) -> Result<MemoryFile> {
        let path = normal(path);
        let state = self.state();
        match state.files.get(&path) {
            Some(file) => Ok(file.clone()),
            None if state.is_folder(&path) => Err(ErrorKind::IsADirectory.into()),
            None => Err(ErrorKind::NotFound.into()),
        }
    }

    /// Replaces the file at `path`, and makes the folders above it.
    pub fn write(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        let path = normal(path);
        let mut state = self.state();
        let is_below_file = path
            .ancestors()
            .skip(1)
            .any(|a| state.files.contains_key(a));
        if state.is_folder(&path) || is_below_file {
            return Err(Error::new(ErrorKind::InvalidInput, "it is not a file"));
        }

        state.writes += 1;
        let file = MemoryFile {
            bytes: bytes.into(),
            written: state.writes,
        };
        state.files.insert(path.clone(), file);
        state.changes.insert(path);
        Ok(())
    }

    /// Removes the file at `path`.
    pub fn remove(&self, path: &Path) -> Result<()> {
        let path = normal(path);
        let mut state = self.state();
        match state.files.remove(&path) {
            Some(_) => {
                state.changes.insert(path);
                Ok(())
            }
            None => Err(ErrorKind::NotFound.into()),
        }
    }

    /// Gives a file another name, instead of one that has it.
    pub fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        let file = self.file(from)?;
        self.write(to, &file.bytes)?;
        if normal(from) == normal(to) {
            return Ok(());
        }
        self.remove(from)
    }

    /// Makes a folder.
    pub fn create_folder(&self, path: &Path) {
        self.state().folders.insert(normal(path));
    }

    /// Whether there is a folder at `path`.
    #[must_use]
    pub fn is_folder(&self, path: &Path) -> bool {
        self.state().is_folder(&normal(path))
    }

    /// Whether there is a file at `path`.
    #[must_use]
    pub fn is_file(&self, path: &Path) -> bool {
        self.state().files.contains_key(&normal(path))
    }

    /// The files and folders in `folder`, by name, and the size of each file; `None` for folders.
    pub fn list(&self, folder: &Path) -> Result<Vec<(String, Option<usize>)>> {
        let folder = normal(folder);
        let state = self.state();
        if !state.is_folder(&folder) {
            return Err(ErrorKind::NotFound.into());
        }

        let mut entries = BTreeMap::new();
        let files = state.files.iter().map(|(path, file)| (path, Some(file)));
        let folders = state.folders.iter().map(|path| (path, None));
        for (path, file) in files.chain(folders) {
            let Ok(below) = path.strip_prefix(&folder) else {
                continue;
            };
            let mut names = below.components();
            if let Some(name) = names.next() {
                let name = name.as_os_str().to_string_lossy().into_owned();
                let is_here = names.next().is_none();
                let size = file.filter(|_| is_here).map(|file| file.bytes.len());
                entries.insert(name, size);
            }
        }
        Ok(entries.into_iter().collect())
    }

    /// The paths that were written or removed since the last call.
    pub fn take_changes(&self) -> Vec<PathBuf> {
        std::mem::take(&mut self.state().changes)
            .into_iter()
            .collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn is_folder(&self, path: &Path) -> bool {
        path == Path::new("/")
            || self.folders.iter().any(|folder| folder.starts_with(path))
            || self
                .files
                .keys()
                .any(|file| file != path && file.starts_with(path))
    }
}

/// The path from the root, without `.` and `..`.
pub(super) fn normal(path: &Path) -> PathBuf {
    let mut whole = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::Normal(name) => whole.push(name),
            Component::ParentDir => drop(whole.pop()),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> &Path {
        Path::new(text)
    }

    #[test]
    fn a_file_is_found_by_every_spelling_of_its_path() {
        let disk = MemoryDisk::default();
        disk.write(path("/files/head.obj"), b"v").unwrap();
        for spelling in [
            "files/head.obj",
            "/files/./head.obj",
            "/x/../files/head.obj",
        ] {
            assert_eq!(&*disk.file(path(spelling)).unwrap().bytes, b"v");
        }
        assert!(disk.is_file(path("/files/head.obj")) && disk.is_folder(path("/files")));
        assert!(
            !disk.is_folder(path("/fil")),
            "a name is no folder of its beginning"
        );
    }

    #[test]
    fn folders_list_what_is_in_them_and_not_what_is_below() {
        let disk = MemoryDisk::default();
        disk.create_folder(path("/files/empty"));
        disk.write(path("/files/face.pliant"), b"text").unwrap();
        disk.write(path("/files/face.pliant-data/a.npy"), b"123")
            .unwrap();

        let listed = disk.list(path("/files")).unwrap();
        let expected = [
            ("empty", None),
            ("face.pliant", Some(4)),
            ("face.pliant-data", None),
        ];
        assert_eq!(listed, expected.map(|(name, size)| (name.to_owned(), size)));
        assert!(disk.list(path("/none")).is_err());
    }

    #[test]
    fn a_rename_replaces_and_every_change_is_told_once() {
        let disk = MemoryDisk::default();
        disk.write(path("/a"), b"new").unwrap();
        disk.write(path("/b"), b"old").unwrap();
        let first = disk.take_changes();
        assert_eq!(first, [PathBuf::from("/a"), PathBuf::from("/b")]);

        disk.rename(path("/a"), path("/b")).unwrap();
        assert_eq!(&*disk.file(path("/b")).unwrap().bytes, b"new");
        assert!(!disk.is_file(path("/a")));
        assert_eq!(disk.take_changes().len(), 2);
        assert!(disk.take_changes().is_empty());
    }

    #[test]
    fn a_file_is_not_written_over_a_folder_or_below_a_file() {
        let disk = MemoryDisk::default();
        disk.write(path("/a/b"), b"1").unwrap();
        assert!(disk.write(path("/a"), b"2").is_err());
        assert!(disk.write(path("/a/b/c"), b"2").is_err());
        let kind = disk.file(path("/a")).unwrap_err().kind();
        assert_eq!(kind, ErrorKind::IsADirectory);
    }
}
