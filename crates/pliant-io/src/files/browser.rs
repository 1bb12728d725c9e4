//! The functions of this module in a browser: over the [`MemoryDisk`] of the program.

use std::path::{Path, PathBuf};

use super::memory::{MemoryDisk, normal};
use crate::IoError;

fn disk() -> &'static MemoryDisk {
    MemoryDisk::of_program()
}

/// The bytes of a file. It must exist and not be empty.
pub fn read_file(path: &Path) -> Result<Vec<u8>, IoError> {
    let bytes = read_regular_file(path)?;
    if bytes.is_empty() {
        Err(IoError::Empty { path: path.into() })
    } else {
        Ok(bytes)
    }
}

/// As [`read_file`], for files that may be empty.
pub(crate) fn read_regular_file(path: &Path) -> Result<Vec<u8>, IoError> {
    if disk().is_folder(path) {
        return Err(IoError::Directory {
            path: path.into(),
            hint: "name a file in it",
        });
    }
    let file = disk().file(path).map_err(|e| IoError::reading(path, e))?;
    Ok(file.bytes.to_vec())
}

/// Whether two paths name the same file.
#[must_use]
pub fn is_same_file(first: &Path, second: &Path) -> bool {
    normal(first) == normal(second)
}

/// The path from the root of a file or folder that exists.
pub(crate) fn real_path(path: &Path) -> std::io::Result<PathBuf> {
    if exists(path) {
        Ok(normal(path))
    } else {
        Err(std::io::ErrorKind::NotFound.into())
    }
}

/// Rejects paths at which nothing is.
pub(crate) fn require_existing(path: &Path) -> Result<(), IoError> {
    if exists(path) {
        Ok(())
    } else {
        Err(IoError::Missing { path: path.into() })
    }
}

/// Whether there is a file or folder at `path`.
pub(crate) fn exists(path: &Path) -> bool {
    is_file(path) || is_folder(path)
}

/// Whether there is a file at `path`.
#[must_use]
pub fn is_file(path: &Path) -> bool {
    disk().is_file(path)
}

/// Whether there is a folder at `path`.
#[must_use]
pub fn is_folder(path: &Path) -> bool {
    disk().is_folder(path)
}

/// The files in a folder with the given `ending` (without dot, ignoring case), sorted by name.
pub fn list_folder(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, IoError> {
    let entries = disk()
        .list(folder)
        .map_err(|e| IoError::reading(folder, e))?;
    let files = entries.into_iter().filter(|(_, size)| size.is_some());
    let paths = files.map(|(name, _)| folder.join(name));
    let has_ending = |path: &PathBuf| {
        let extension = path.extension();
        extension.is_some_and(|e| e.eq_ignore_ascii_case(ending))
    };
    Ok(paths.filter(has_ending).collect())
}

/// Writes all of `files` or none of them.
pub fn write_files(files: &[(PathBuf, Vec<u8>)]) -> Result<(), IoError> {
    for (path, _) in files {
        if disk().is_folder(path) {
            return Err(IoError::Directory {
                path: path.into(),
                hint: "name the file to write",
            });
        }
    }
    for (path, bytes) in files {
        let written = disk().write(path, bytes);
        written.map_err(|source| IoError::Write {
            path: path.into(),
            source,
        })?;
    }
    Ok(())
}

/// Nothing: writes in memory are not interrupted.
pub(crate) fn finish_interrupted_writes(_: &Path) {}

/// Nothing: there are no temporary files in memory.
pub fn discard_unfinished_files() {}
