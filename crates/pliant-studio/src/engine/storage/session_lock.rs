//! The lock of a session, which is released when its program ends for any reason.
//!
//! On a desktop it is a lock of the file system. In a browser, locks are files in memory that no
//! page stores, so none outlives its page; sessions of other open pages are not in memory.

use std::io;
use std::path::Path;

/// A lock that this program holds.
#[derive(Debug)]
pub(super) struct SessionLock {
    #[cfg(not(target_arch = "wasm32"))]
    _file: std::fs::File,
}

#[cfg(not(target_arch = "wasm32"))]
impl SessionLock {
    /// Takes the lock at `path`, where no file is yet.
    pub(super) fn take(path: &Path) -> io::Result<Self> {
        let file = std::fs::File::create_new(path)?;
        // On a disk without locks a session counts as ended: another start may open a copy of it,
        // and nothing is lost.
        let _ = file.lock();
        Ok(Self { _file: file })
    }

    /// Whether no program holds the lock at `path`.
    pub(super) fn is_free(path: &Path) -> bool {
        let Ok(lock) = std::fs::File::open(path) else {
            return true;
        };
        !matches!(lock.try_lock(), Err(std::fs::TryLockError::WouldBlock))
    }
}

#[cfg(target_arch = "wasm32")]
impl SessionLock {
    pub(super) fn take(path: &Path) -> io::Result<Self> {
        pliant::io::MemoryDisk::of_program().write(path, b"")?;
        Ok(Self {})
    }

    pub(super) fn is_free(path: &Path) -> bool {
        !pliant::io::MemoryDisk::of_program().is_file(path)
    }
}
