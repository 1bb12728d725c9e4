//! Projects on disk: a text file, and large results beside it.
//!
//! Results are written first and the text last, so that a text names only results that exist, even
//! if a save was interrupted.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::files::{Files, sweep_unfinished};
use crate::model::blob::{Blob, fingerprint};
use crate::model::document::Document;
use crate::model::names::shown;
use crate::model::project::{MAX_TEXT, Project, ProjectError, absolute, from_text, to_text};
use crate::model::room::RoomName;

/// The size limit of a result.
const MAX_BLOB: u64 = 8 << 30;

/// A folder of results, each under the name of its content.
#[derive(Debug, Default)]
pub struct BlobStore {
    folder: PathBuf,
    /// Those that were written or compared since the program began: others of the right size may
    /// be damaged.
    sound: BTreeSet<String>,
}

impl BlobStore {
    /// The results in `folder`, which need not be there.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            sound: BTreeSet::new(),
        }
    }

    /// Where they are.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes a result, unless it is there.
    pub fn keep(&mut self, files: &dyn Files, blob: &Blob) -> io::Result<()> {
        let path = self.folder.join(blob.name());
        let there = files
            .size(&path)
            .is_ok_and(|size| size == blob.bytes().len() as u64);
        // The content is compared once per program; after that the name is trusted.
        let same = there
            && (self.sound.contains(blob.name())
                || files
                    .read(&path, MAX_BLOB)
                    .is_ok_and(|bytes| bytes == blob.bytes()));

        if !same {
            files.create_folder(&self.folder)?;
            files.write(&path, blob.bytes())?;
        }

        self.sound.insert(blob.name().to_owned());
        Ok(())
    }

    /// Removes results that `wanted` does not name; other files stay.
    pub fn sweep(&mut self, files: &dyn Files, wanted: &BTreeSet<String>) {
        sweep_unfinished(files, &self.folder, Blob::is_name);
        let results = files
            .list(&self.folder)
            .unwrap_or_default()
            .into_iter()
            .filter(|entry| Blob::is_name(&entry.name));

        for entry in results.filter(|entry| !wanted.contains(&entry.name)) {
            self.sound.remove(&entry.name);
            // A leftover file only takes space; the next save tries again.
            let _ = files.remove(&self.folder.join(&entry.name));
        }
    }
}

/// The folder of a project's results: `NAME.pliant-data` beside `NAME.pliant`.
#[must_use]
pub fn data_folder(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push("-data");
    path.with_file_name(name)
}

/// All results of a document that are in memory.
pub(crate) fn blobs(document: &mut Document) -> Vec<Blob> {
    let mut found = BTreeMap::new();
    document.for_each_blob(&mut |blob| {
        found.insert(blob.name().to_owned(), blob.clone());
    });
    found.into_values().collect()
}

/// Saves a project to `path`. Whatever happens, a project that was there is whole: the old one or
/// this one.
pub fn save(
    files: &dyn Files,
    path: &Path,
    project: &Project,
    store: &mut BlobStore,
) -> Result<(), ProjectError> {
    let path = absolute(path);
    let failed = |source| ProjectError::Write {
        path: path.clone(),
        source,
    };
    let folder = path
        .parent()
        .ok_or_else(|| failed(ErrorKind::InvalidInput.into()))?;

    let data = data_folder(&path);
    if store.folder != data {
        *store = BlobStore::new(data);
    }

    let mut document = project.document.clone();
    let blobs = blobs(&mut document);
    let text = to_text(
        &Project {
            document,
            view_state: project.view_state.clone(),
            session: None,
        },
        Some(folder),
    )?;

    // Results without bytes were missing when the project was opened; if their files reappear, they
    // are used.
    for blob in blobs.iter().filter(|blob| !blob.bytes().is_empty()) {
        store.keep(files, blob).map_err(failed)?;
    }

    sweep_unfinished(files, folder, |name| {
        path.file_name().is_some_and(|own| own == name)
    });
    files.write(&path, text.as_bytes()).map_err(failed)?;
    store.sweep(
        files,
        &blobs.iter().map(|blob| blob.name().to_owned()).collect(),
    );
    Ok(())
}

/// What a project's file holds, in short: another stamp after any change. `None` where there is no
/// file.
#[must_use]
pub fn stamp(files: &dyn Files, path: &Path) -> Option<String> {
    files.read(path, MAX_TEXT).ok().map(|text| stamp_of(&text))
}

fn stamp_of(text: &[u8]) -> String {
    format!("{:032x}", fingerprint(text))
}

/// A project that was opened.
#[derive(Debug, Default)]
pub struct Opened {
    /// The project.
    pub project: Project,
    /// The [`stamp`] of its file.
    pub stamp: String,
    /// Warnings, one phrase each: results that are missing or damaged.
    pub problems: Vec<String>,
}

impl Opened {
    /// The warnings as one message.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        (!self.problems.is_empty()).then(|| format!("Opened, but {}.", self.problems.join("; ")))
    }
}

/// Opens the project at `path`; its results are in [`data_folder`].
pub fn open(files: &dyn Files, path: &Path) -> Result<Opened, ProjectError> {
    let path = absolute(path);
    open_with(files, &path, path.parent(), &data_folder(&path))
}

/// Opens a text whose locators begin at `folder` and whose results are in `data`.
pub(crate) fn open_with(
    files: &dyn Files,
    path: &Path,
    folder: Option<&Path>,
    data: &Path,
) -> Result<Opened, ProjectError> {
    let text = files
        .read(path, MAX_TEXT)
        .map_err(|source| ProjectError::Read {
            path: path.into(),
            source,
        })?;

    let (mut project, mut problems) = from_text(&text, path, folder)?;
    // A project with missing results still opens; the results are empty.
    let missing = fill(files, data, &mut project.document);
    problems.extend(missing.into_iter().map(|name| {
        format!(
            "{} is empty because '{name}' is missing or damaged in {}",
            owner(&project.document, &name),
            shown(data)
        )
    }));

    Ok(Opened {
        project,
        stamp: stamp_of(&text),
        problems,
    })
}

/// Reads the results that a document names; returns the names of those that are not there as they
/// were.
fn fill(files: &dyn Files, data: &Path, document: &mut Document) -> BTreeSet<String> {
    let mut read: BTreeMap<String, Option<Blob>> = BTreeMap::new();
    document.for_each_blob(&mut |blob| {
        // Several takes may share a result; it is read once.
        let filled = read.entry(blob.name().to_owned()).or_insert_with(|| {
            let bytes = files
                .read(&data.join(blob.name()), MAX_BLOB)
                .unwrap_or_default();
            let mut filled = blob.clone();
            filled.fill(bytes).then_some(filled)
        });
        if let Some(filled) = filled {
            *blob = filled.clone();
        }
    });

    read.into_iter()
        .filter(|(_, filled)| filled.is_none())
        .map(|(name, _)| name)
        .collect()
}

/// Owner of a result, for a message.
fn owner(document: &Document, name: &str) -> String {
    let mut document = document.clone();
    if let Some(take) = document.timeline.takes.iter_mut().find_map(|take| {
        take.blob_mut()
            .filter(|blob| blob.name() == name)
            .is_some()
            .then_some(&take.name)
    }) {
        return format!("take '{take}'");
    }

    // Other results belong to a room.
    let mut found = None;
    for room in RoomName::ALL {
        document.for_each_blob_of(room, &mut |blob| {
            if blob.name() == name {
                found = Some(room.label());
            }
        });
    }

    found.map_or_else(
        || "a result".into(),
        |room| format!("a result of the {room} room"),
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use pliant::mesh::glam::DVec3;

    use super::*;
    use crate::engine::storage::files::{FolderEntry, NativeFiles};
    use crate::model::timeline::{Take, TakeFrames};

    fn project(takes: &[&str]) -> Project {
        let mut project = Project::default();
        for (k, name) in takes.iter().enumerate() {
            project.document.timeline.add_take(Take::made(
                *name,
                "specimen:head",
                &[vec![DVec3::splat(k as f64); 40]],
                24.0,
            ));
        }
        project
    }

    fn results(path: &Path) -> Vec<PathBuf> {
        let data = data_folder(path);
        NativeFiles
            .list(&data)
            .unwrap_or_default()
            .into_iter()
            .map(|entry| data.join(entry.name))
            .collect()
    }

    fn bytes_of(take: &Take) -> usize {
        let TakeFrames::Made(blob) = &take.frames else {
            panic!("made here")
        };
        blob.bytes().len()
    }

    #[test]
    fn a_saved_project_keeps_its_results_and_removes_old_ones() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("face.pliant");
        let mut store = BlobStore::default();
        let two = project(&["press", "pull"]);
        save(&NativeFiles, &path, &two, &mut store).unwrap();

        let opened = open(&NativeFiles, &path).unwrap();
        assert_eq!((&opened.project, opened.warning()), (&two, None));
        assert!(
            opened
                .project
                .document
                .timeline
                .takes
                .iter()
                .all(|take| bytes_of(take) > 480)
        );

        assert_eq!(results(&path).len(), 2);
        // Files that are no results of ours stay in the folder.
        std::fs::write(data_folder(&path).join("notes.txt"), "mine").unwrap();
        save(&NativeFiles, &path, &project(&["press"]), &mut store).unwrap();

        assert_eq!(results(&path).len(), 2, "one result and the notes");
        // A killed save leaves an unfinished result, which the next save removes.
        let cut_short = data_folder(&path).join(format!(".{:032x}.npy.0-1.unfinished", 7));
        std::fs::write(&cut_short, "half").unwrap();
        save(&NativeFiles, &path, &project(&["press"]), &mut store).unwrap();

        assert!(!cut_short.exists());
    }

    #[test]
    fn missing_and_damaged_results_are_reported_and_the_rest_opens() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("face.pliant");
        let whole = project(&["press", "pull", "poke"]);
        save(&NativeFiles, &path, &whole, &mut BlobStore::default()).unwrap();

        let of = |k: usize| {
            let TakeFrames::Made(blob) = &whole.document.timeline.takes[k].frames else {
                panic!("made here")
            };
            data_folder(&path).join(blob.name())
        };

        std::fs::remove_file(of(0)).unwrap();
        let mut bytes = std::fs::read(of(2)).unwrap();
        bytes[200] ^= 1;
        std::fs::write(of(2), bytes).unwrap();

        let opened = open(&NativeFiles, &path).unwrap();
        let message = opened.warning().unwrap();
        assert!(
            message.contains("take 'press'")
                && message.contains("take 'poke'")
                && !message.contains("pull"),
            "{message}"
        );

        assert_eq!(
            opened
                .project
                .document
                .timeline
                .takes
                .iter()
                .map(bytes_of)
                .map(|n| n > 0)
                .collect::<Vec<_>>(),
            [false, true, false]
        );

        // A save repairs the damaged result if its bytes are known.
        save(&NativeFiles, &path, &whole, &mut BlobStore::default()).unwrap();

        assert_eq!(open(&NativeFiles, &path).unwrap().warning(), None);
    }

    /// A disk with room for so many more bytes.
    struct Small(Mutex<usize>);

    impl Files for Small {
        fn list(&self, folder: &Path) -> io::Result<Vec<FolderEntry>> {
            NativeFiles.list(folder)
        }
        fn size(&self, path: &Path) -> io::Result<u64> {
            NativeFiles.size(path)
        }
        fn modified(&self, path: &Path) -> io::Result<web_time::SystemTime> {
            NativeFiles.modified(path)
        }
        fn read(&self, path: &Path, at_most: u64) -> io::Result<Vec<u8>> {
            NativeFiles.read(path, at_most)
        }
        fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
            let mut room = self.0.lock().unwrap();
            *room = room
                .checked_sub(bytes.len())
                .ok_or(ErrorKind::StorageFull)?;
            NativeFiles.write(path, bytes)
        }
        fn create_folder(&self, path: &Path) -> io::Result<()> {
            NativeFiles.create_folder(path)
        }
        fn remove(&self, path: &Path) -> io::Result<()> {
            NativeFiles.remove(path)
        }
        fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
            NativeFiles.rename(from, to)
        }
    }

    #[test]
    fn a_full_disk_at_any_write_keeps_the_old_project() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("face.pliant");
        let old = project(&["press"]);
        let new = project(&["poke", "press", "pull"]);

        let mut failures = 0;
        // Each step leaves room for a little more, so every write fails once.
        for room in (0..40_000).step_by(2_000) {
            save(&NativeFiles, &path, &old, &mut BlobStore::default()).unwrap();
            match save(
                &Small(Mutex::new(room)),
                &path,
                &new,
                &mut BlobStore::default(),
            ) {
                Ok(()) => assert_eq!(open(&NativeFiles, &path).unwrap().project, new),
                Err(error) => {
                    failures += 1;
                    assert!(
                        error.to_string().contains("the disk is full")
                            && error.to_string().contains("old file is unchanged"),
                        "{error}"
                    );

                    let opened = open(&NativeFiles, &path).unwrap();
                    assert_eq!(
                        (opened.warning(), opened.project),
                        (None, old.clone()),
                        "{room}"
                    );
                }
            }
        }

        assert!((1..20).contains(&failures), "{failures}");
    }
}
