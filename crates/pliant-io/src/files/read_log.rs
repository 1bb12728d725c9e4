//! Which files were read.
//!
//! **Problem.** An asset or a recipe names further files: buffers, images, layers, clips. Whoever
//! sends work to another machine, or asks whether a result is still valid, needs all of them.
//!
//! **Method.** While a closure runs, every file that the module `read` opens is noted with the hash
//! of the bytes that were read, also on other threads. Outside of it nothing is hashed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::ContentHash;

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRead {
    /// As it was named.
    pub path: PathBuf,
    /// The hash of what was read.
    pub hash: ContentHash,
}

/// The files of every recording that is under way.
static RECORDINGS: Mutex<Vec<Recording>> = Mutex::new(Vec::new());

struct Recording {
    id: usize,
    files: BTreeMap<PathBuf, ContentHash>,
}

/// Runs `work`; returns its result and the files that were read meanwhile in this process, sorted by
/// name, each once. In a browser no file is recorded.
pub fn record_reads<T>(work: impl FnOnce() -> T) -> (T, Vec<FileRead>) {
    let recording = Running::begin();
    let result = work();
    (result, recording.end())
}

/// Ends the recording also where the work panics.
struct Running {
    id: usize,
}

impl Running {
    fn begin() -> Self {
        let mut recordings = recordings();
        let id = recordings.iter().map(|r| r.id + 1).max().unwrap_or(0);
        recordings.push(Recording {
            id,
            files: BTreeMap::new(),
        });
        Self { id }
    }

    fn end(self) -> Vec<FileRead> {
        let mut files = Vec::new();
        for recording in recordings().iter_mut() {
            if recording.id == self.id {
                let found = std::mem::take(&mut recording.files);
                files.extend(
                    found
                        .into_iter()
                        .map(|(path, hash)| FileRead { path, hash }),
                );
            }
        }
        files
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        recordings().retain(|recording| recording.id != self.id);
    }
}

/// Notes that `bytes` were read from the file at `path`.
#[cfg_attr(target_arch = "wasm32", allow(dead_code))]
pub(super) fn note(path: &Path, bytes: &[u8]) {
    // A recording is rare; without one, bytes are not hashed.
    if recordings().is_empty() {
        return;
    }
    let hash = ContentHash::of(bytes);
    for recording in recordings().iter_mut() {
        recording.files.insert(path.to_owned(), hash);
    }
}

fn recordings() -> MutexGuard<'static, Vec<Recording>> {
    RECORDINGS.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LoadOptions, load, read_file};

    #[test]
    fn a_recording_holds_every_file_that_an_asset_is_read_from() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        std::fs::write(
            file("a.obj"),
            "mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
        )
        .unwrap();
        std::fs::write(file("a.mtl"), "newmtl red\nKd 1 0 0\n").unwrap();
        std::fs::write(file("b.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();

        let name = file("a.obj").to_string_lossy().into_owned();
        let (asset, reads) = record_reads(|| load(&name, &LoadOptions::default()));
        asset.unwrap();
        // Other tests of this process may read meanwhile.
        let own: Vec<&FileRead> = reads
            .iter()
            .filter(|read| read.path.starts_with(folder.path()))
            .collect();
        let names: Vec<_> = own
            .iter()
            .map(|read| read.path.file_name().unwrap())
            .collect();
        assert_eq!(names, ["a.mtl", "a.obj"]);
        let bytes = std::fs::read(file("a.obj")).unwrap();
        assert_eq!(own[1].hash, ContentHash::of(&bytes));

        read_file(&file("b.obj")).unwrap();
        let (_, reads) = record_reads(|| ());
        assert!(
            !reads
                .iter()
                .any(|read| read.path.starts_with(folder.path()))
        );
    }
}
