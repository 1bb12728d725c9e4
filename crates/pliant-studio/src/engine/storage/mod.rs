//! Files: projects on disk, unsaved work, preferences.
//!
//! - [`files`]: the only place that opens files.
//! - [`memory_files`]: files in memory, as a page has them.
//! - [`places`]: folders for unsaved work and preferences.
//! - [`preferences`]: user settings that no project stores.
//! - [`project_store`]: a project on disk: its text, and large results beside it.
//! - [`autosave`]: unsaved work, written shortly after each change.
//! - [`recovery`]: unsaved work of a program that ended unexpectedly; `session_lock` tells whether it
//!   ended.

pub mod autosave;
pub mod files;
pub mod memory_files;
pub mod places;
pub mod preferences;
pub mod project_store;
pub mod recovery;
mod session_lock;
