//! Access to the file system: the only module that opens files.
//!
//! Writing is atomic: bytes go to temporary files in the folders of their targets, which are
//! renamed only after all of them are complete. A failure before that leaves nothing behind.

use std::fs;
use std::io::Write as _;
use std::path::{Component, Path, PathBuf};

use tempfile::NamedTempFile;

use crate::IoError;

/// The bytes of a file. It must exist, be a file, and not be empty.
pub fn read_file(path: &Path) -> Result<Vec<u8>, IoError> {
    let about = fs::metadata(path).map_err(|e| IoError::reading(path, e))?;
    if about.is_dir() {
        return Err(IoError::Directory {
            path: path.into(),
            hint: "name a file in it",
        });
    }

    let bytes = fs::read(path).map_err(|e| IoError::reading(path, e))?;
    if bytes.is_empty() {
        Err(IoError::Empty { path: path.into() })
    } else {
        Ok(bytes)
    }
}

/// The files in a folder with the given `ending` (without dot, ignoring case), sorted by name.
pub(crate) fn list_folder(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, IoError> {
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

/// Writes all of `files` or none of them.
pub fn write_files(files: &[(PathBuf, Vec<u8>)]) -> Result<(), IoError> {
    let mut ready = Vec::new();
    for (path, bytes) in files {
        if let Some((target, file)) = prepare(path, bytes)? {
            ready.push((path, target, file));
        }
    }

    for (path, target, file) in ready {
        file.persist(&target).map_err(|e| IoError::Write {
            path: path.clone(),
            source: e.error,
        })?;
    }

    Ok(())
}

/// A complete temporary file in the folder of its target. `None` for a device, which is written in
/// place.
fn prepare(path: &Path, bytes: &[u8]) -> Result<Option<(PathBuf, NamedTempFile)>, IoError> {
    let failed = |source| IoError::Write {
        path: path.into(),
        source,
    };

    // The target of a symbolic link is replaced, and the link stays.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.into());
    match fs::metadata(&target) {
        Ok(about) if about.is_dir() => {
            return Err(IoError::Directory {
                path: path.into(),
                hint: "name the file to write",
            });
        }
        Ok(about) if !about.is_file() => {
            fs::write(&target, bytes).map_err(failed)?;
            return Ok(None);
        }
        Ok(about) if about.permissions().readonly() => {
            return Err(failed(std::io::ErrorKind::PermissionDenied.into()));
        }
        _ => {}
    }

    // The temporary file must be on the same file system, so that renaming is atomic.
    let folder = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };

    if !folder.is_dir() {
        return Err(IoError::NoFolder {
            path: path.into(),
            folder: folder.into(),
        });
    }

    let mut file = temporary(folder).map_err(failed)?;
    file.write_all(bytes)
        .and_then(|()| file.flush())
        .map_err(failed)?;

    Ok(Some((target, file)))
}

fn temporary(folder: &Path) -> std::io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".pliant-").suffix(".tmp");
    #[cfg(unix)]
    let builder = {
        use std::os::unix::fs::PermissionsExt as _;
        // As for any new file, the umask of the user decides.
        builder.permissions(fs::Permissions::from_mode(0o666))
    };
    builder.tempfile_in(folder)
}

/// Opens the files to which a file refers, such as glTF buffers and FBX caches.
pub trait FileProvider {
    /// The bytes of the file at `uri`, relative to the folder of the file that refers to it.
    fn read(&self, uri: &str) -> Result<Vec<u8>, IoError>;
}

/// Opens nothing, for bytes that do not come from a file.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoFiles;

impl FileProvider for NoFiles {
    fn read(&self, uri: &str) -> Result<Vec<u8>, IoError> {
        Err(IoError::Missing { path: uri.into() })
    }
}

/// Opens files in and below the folder of one file, and no others.
#[derive(Debug, Clone)]
pub(crate) struct FolderFiles {
    file: PathBuf,
}

impl FolderFiles {
    pub(crate) fn new(file: &Path) -> Self {
        Self { file: file.into() }
    }
}

impl FileProvider for FolderFiles {
    fn read(&self, uri: &str) -> Result<Vec<u8>, IoError> {
        let outside = || IoError::Outside {
            file: self.file.display().to_string(),
            uri: uri.into(),
        };
        let name = percent_decoded(uri).ok_or_else(outside)?;
        let below = Path::new(&name)
            .components()
            .all(|c| matches!(c, Component::Normal(_) | Component::CurDir));
        if !below || name.contains(['\\', ':', '\0']) {
            return Err(outside());
        }

        let folder = self.file.parent().unwrap_or(Path::new(""));
        let path = folder.join(&name);
        let named_folder = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };

        // A symbolic link can still lead outside.
        let real_folder =
            fs::canonicalize(named_folder).map_err(|e| IoError::reading(folder, e))?;
        let real_path = fs::canonicalize(&path).map_err(|e| IoError::reading(&path, e))?;
        if real_path.starts_with(real_folder) {
            read_file(&path)
        } else {
            Err(outside())
        }
    }
}

/// Decodes `%41` to `A`; `None` for a broken escape or bytes that are not UTF-8.
fn percent_decoded(uri: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(uri.len());
    let mut rest = uri.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?].map(|d| char::from(d).to_digit(16));
            bytes.push((digits[0]? * 16 + digits[1]?) as u8);
        } else {
            bytes.push(byte);
        }
    }

    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_folder_contains(folder: &Path, expected: &[&str]) {
        let mut names: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, expected);
    }

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
        assert_folder_contains(folder.path(), &["kept"]);
        write_files(&[(good.clone(), b"new".to_vec())]).unwrap();

        assert_eq!(fs::read(&good).unwrap(), b"new");
        assert_folder_contains(folder.path(), &["kept"]);
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
    fn only_files_in_and_below_the_folder_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("in/side")).unwrap();
        for name in ["secret", "in/a b.bin", "in/side/c.bin"] {
            fs::write(folder.path().join(name), name).unwrap();
        }

        let files = FolderFiles::new(&folder.path().join("in/scene.gltf"));
        assert_eq!(files.read("a%20b.bin").unwrap(), b"in/a b.bin");
        assert_eq!(files.read("./side/c.bin").unwrap(), b"in/side/c.bin");

        let secret = folder.path().join("secret").display().to_string();
        for uri in [
            "../secret",
            "%2e%2e/secret",
            "side/../../secret",
            "..\\secret",
            "http://host/x",
            "file:///x",
            "%zz",
            &secret,
        ] {
            let error = files.read(uri).unwrap_err().to_string();
            assert!(
                error.contains("outside its folder") && error.contains("scene.gltf"),
                "{uri}: {error}"
            );
        }

        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(folder.path().join("secret"), folder.path().join("in/link"))
                .unwrap();
            assert!(
                files
                    .read("link")
                    .unwrap_err()
                    .to_string()
                    .contains("outside")
            );
        }
    }
}
