//! The bytes of a regular file.
//!
//! **Problem.** A pipe or a device keeps its reader waiting for ever or never ends, files of the
//! kernel have another length than they say, and a file that another program still writes is
//! incomplete. None of them is an asset.
//!
//! **Method.** The kind of the file is checked before it is opened, and no more bytes are read than
//! its length; a file with more or fewer bytes than that changed while it was read.

use std::fs::{self, File, FileType};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::IoError;

/// The bytes of a file. It must exist, be a regular file, and not be empty.
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
    require_regular_file(path)?;

    let failed = |source| IoError::reading(path, source);
    let file = File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();

    let mut bytes = Vec::new();
    let out_of_memory = |_| failed(io::ErrorKind::OutOfMemory.into());
    let size = usize::try_from(length).map_err(|_| failed(io::ErrorKind::OutOfMemory.into()))?;
    bytes.try_reserve_exact(size).map_err(out_of_memory)?;

    // One byte more than the file has, so that a file that grows is noticed.
    let count = file.take(length + 1).read_to_end(&mut bytes);
    if count.map_err(failed)? == size {
        super::read_log::note(path, &bytes);
        Ok(bytes)
    } else {
        Err(IoError::Changing { path: path.into() })
    }
}

/// Rejects folders, pipes, devices and sockets, which must not be opened.
pub(crate) fn require_regular_file(path: &Path) -> Result<(), IoError> {
    let about = fs::metadata(path).map_err(|e| IoError::reading(path, e))?;
    if about.is_dir() {
        return Err(IoError::Directory {
            path: path.into(),
            hint: "name a file in it",
        });
    }
    if about.is_file() {
        return Ok(());
    }

    Err(IoError::NotAFile {
        path: path.into(),
        kind: kind_of(about.file_type()),
    })
}

#[cfg(unix)]
fn kind_of(kind: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt as _;
    if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

#[cfg(not(unix))]
fn kind_of(_: FileType) -> &'static str {
    "a device"
}

/// Whether two paths name the same file, by whatever spelling or link. Files that do not exist are
/// the same if they have one name in one folder.
#[must_use]
pub fn is_same_file(first: &Path, second: &Path) -> bool {
    match (fs::canonicalize(first), fs::canonicalize(second)) {
        (Ok(a), Ok(b)) => a == b || has_same_identity(&a, &b),
        (Err(_), Err(_)) => {
            let folder = |path| fs::canonicalize(folder_of(path)).ok();
            let name = first.file_name();
            name.is_some() && name == second.file_name() && folder(first) == folder(second)
        }
        _ => false,
    }
}

/// The folder of a file, also of one that is named without a folder.
pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Whether two paths are names of one file that has several.
#[cfg(unix)]
fn has_same_identity(first: &Path, second: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    match (fs::metadata(first), fs::metadata(second)) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn has_same_identity(_: &Path, _: &Path) -> bool {
    false
}

/// The path of a file or folder that exists, from the root and without links.
pub(super) fn real_path(path: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(path)
}

/// Rejects paths at which nothing is, or nothing that may be looked at.
pub(crate) fn require_existing(path: &Path) -> Result<(), IoError> {
    fs::metadata(path).map_err(|e| IoError::reading(path, e))?;
    Ok(())
}

/// Whether there is a file or folder at `path`.
pub(crate) fn exists(path: &Path) -> bool {
    path.exists()
}

/// Whether there is a file at `path`.
#[must_use]
pub fn is_file(path: &Path) -> bool {
    path.is_file()
}

/// Whether there is a folder at `path`.
#[must_use]
pub fn is_folder(path: &Path) -> bool {
    path.is_dir()
}

/// The files in a folder with the given `ending` (without dot, ignoring case), sorted by name.
pub fn list_folder(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, IoError> {
    let entries = fs::read_dir(folder).map_err(|e| IoError::reading(folder, e))?;
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(|e| IoError::reading(folder, e))?.path();
        let extension = path.extension();
        if extension.is_some_and(|e| e.eq_ignore_ascii_case(ending)) && path.is_file() {
            paths.push(path);
        }
    }

    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_errors_say_what_is_wrong() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("empty.obj"), "").unwrap();
        let message = |name: &str| {
            read_file(&folder.path().join(name))
                .unwrap_err()
                .to_string()
        };

        assert!(message("none.obj").contains("none.obj' does not exist"));
        assert!(message("empty.obj").contains("empty.obj' is empty"));
        assert!(message("").contains("is a folder"));
        assert!(message("empty.obj/below").contains("does not exist"));
    }

    #[cfg(unix)]
    #[test]
    fn pipes_devices_and_sockets_are_refused_without_being_opened() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket.obj");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let pipe = folder.path().join("pipe.obj");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();

        let refusal = |path: &Path| read_file(path).unwrap_err().to_string();
        assert!(refusal(&socket).contains("is a socket, not a file"));
        assert!(refusal(Path::new("/dev/zero")).contains("is a device, not a file"));
        if made.is_ok_and(|status| status.success()) {
            assert!(refusal(&pipe).contains("is a pipe, not a file"));
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn files_of_the_kernel_without_a_length_are_refused() {
        let message = read_file(Path::new("/proc/self/maps")).unwrap_err();
        assert!(
            message.to_string().contains("while it was read"),
            "{message}"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_file_is_the_same_by_every_spelling_and_link() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.obj");
        fs::write(&file, "v 0 0 0").unwrap();
        fs::create_dir(folder.path().join("sub")).unwrap();
        std::os::unix::fs::symlink(&file, folder.path().join("link.obj")).unwrap();
        fs::hard_link(&file, folder.path().join("name.obj")).unwrap();
        fs::copy(&file, folder.path().join("copy.obj")).unwrap();

        for same in ["sub/../a.obj", "link.obj", "name.obj"] {
            assert!(is_same_file(&file, &folder.path().join(same)), "{same}");
        }
        for other in ["copy.obj", "none.obj"] {
            assert!(!is_same_file(&file, &folder.path().join(other)), "{other}");
        }

        let new = |name: &str| folder.path().join(name);
        assert!(is_same_file(&new("new.obj"), &new("sub/../new.obj")));
        assert!(!is_same_file(&new("new.obj"), &new("sub/new.obj")));
    }
}
