//! Files to which a file refers, such as glTF buffers and FBX caches.

use std::path::{Component, Path, PathBuf};

use super::read::{read_file, real_path};
use crate::IoError;

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
        let real_folder = real_path(named_folder).map_err(|e| IoError::reading(folder, e))?;
        let real_file = real_path(&path).map_err(|e| IoError::reading(&path, e))?;
        if real_file.starts_with(real_folder) {
            read_file(&path)
        } else {
            Err(outside())
        }
    }
}

/// Decodes `%41` to `A`; `None` for a broken escape or bytes that are not UTF-8.
pub(crate) fn percent_decoded(uri: &str) -> Option<String> {
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

/// One spelling for all spellings of a path: `./a%2ebin` as `a.bin`.
pub(crate) fn plain_uri(uri: &str) -> String {
    let decoded = percent_decoded(uri).unwrap_or_else(|| uri.to_owned());
    let steps = decoded.split('/').filter(|step| !matches!(*step, "" | "."));
    steps.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

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
