//! Access to the file system: the only module that opens files.
//!
//! | module | concept |
//! |---|---|
//! | `read` | the bytes of a regular file |
//! | `provider` | files to which a file refers |
//! | `write` | several files, all or none |
//! | `journal` | a commit that survives the end of the process |
//! | `unfinished` | temporary files, also those that a killed process left |
//! | `content_hash` | the hash of the content of a file |
//! | `read_log` | which files were read |
//! | `memory` | files in memory, where there is no file system |
//! | `browser` | in a browser: the functions of `read` and `write` over files in memory |

#[cfg(target_arch = "wasm32")]
mod browser;
mod content_hash;
#[cfg(not(target_arch = "wasm32"))]
mod journal;
mod memory;
mod provider;
#[cfg(not(target_arch = "wasm32"))]
mod read;
mod read_log;
#[cfg(not(target_arch = "wasm32"))]
mod unfinished;
#[cfg(not(target_arch = "wasm32"))]
mod write;

#[cfg(target_arch = "wasm32")]
use browser as read;
#[cfg(target_arch = "wasm32")]
use browser as unfinished;
#[cfg(target_arch = "wasm32")]
use browser as write;

pub use content_hash::ContentHash;
pub use memory::{MemoryDisk, MemoryFile};
pub use provider::{FileProvider, NoFiles};
pub(crate) use provider::{FolderFiles, percent_decoded, plain_uri};
pub(crate) use read::{exists, read_regular_file, require_existing};
pub use read::{is_file, is_folder, is_same_file, list_folder, read_file};
pub use read_log::{FileRead, record_reads};
pub use unfinished::discard_unfinished_files;
pub(crate) use write::finish_interrupted_writes;
pub use write::write_files;
