//! Files in memory, as a page has them.

use std::io::{self, ErrorKind};
use std::path::Path;

use pliant::io::MemoryDisk;
use web_time::{Duration, SystemTime};

use super::files::{Files, FolderEntry};

/// The files of a [`MemoryDisk`].
#[derive(Debug, Clone, Copy)]
pub struct MemoryFiles<'d>(pub &'d MemoryDisk);

impl Files for MemoryFiles<'_> {
    fn list(&self, folder: &Path) -> io::Result<Vec<FolderEntry>> {
        let entry = |(name, size): (String, Option<usize>)| FolderEntry {
            name,
            folder: size.is_none(),
            size: size.unwrap_or(0) as u64,
        };
        let mut entries: Vec<_> = self.0.list(folder)?.into_iter().map(entry).collect();
        entries.sort_by_cached_key(|entry| (!entry.folder, entry.name.to_lowercase()));
        Ok(entries)
    }

    fn is_folder(&self, path: &Path) -> bool {
        self.0.is_folder(path)
    }

    fn size(&self, path: &Path) -> io::Result<u64> {
        Ok(self.0.file(path)?.bytes.len() as u64)
    }

    /// The order of writes as times: later writes are younger.
    fn modified(&self, path: &Path) -> io::Result<SystemTime> {
        Ok(SystemTime::UNIX_EPOCH + Duration::from_secs(self.0.file(path)?.written))
    }

    fn read(&self, path: &Path, at_most: u64) -> io::Result<Vec<u8>> {
        let bytes = self.0.file(path)?.bytes;
        if bytes.len() as u64 > at_most {
            return Err(ErrorKind::FileTooLarge.into());
        }
        Ok(bytes.to_vec())
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.0.write(path, bytes)
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        self.0.create_folder(path);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.0.remove(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.rename(from, to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::storage::project_store::{BlobStore, open, save};
    use crate::model::project::Project;
    use crate::model::timeline::Take;

    #[test]
    fn a_project_with_results_is_saved_and_opened_in_memory() {
        let disk = MemoryDisk::default();
        let files = MemoryFiles(&disk);
        let mut project = Project::default();
        let frames = [vec![pliant::mesh::glam::DVec3::ONE; 9]];
        let take = Take::made("press", "specimen:head", &frames, 24.0);
        project.document.timeline.add_take(take);

        let path = Path::new("/files/face.pliant");
        save(&files, path, &project, &mut BlobStore::default()).unwrap();
        let opened = open(&files, path).unwrap();
        assert_eq!((opened.warning(), opened.project), (None, project));
        let names = files.list(Path::new("/files")).unwrap();
        assert_eq!(
            names.iter().map(|entry| &*entry.name).collect::<Vec<_>>(),
            ["face.pliant-data", "face.pliant"]
        );
    }
}
