//! The document and everything that a project stores: data without user interface.
//!
//! - [`document`]: everything that is edited; [`history`]: undo and redo.
//! - [`timeline`]: keys and takes.
//! - [`project`]: the text of a project file.
//! - [`pose`], [`touch`], [`blend`], [`transfer`], [`learn`]: settings of each room.
//! - [`room`], [`view_state`], [`camera`], [`look`]: what is displayed, and how.
//! - [`examples`]: documents to start with; [`tour`]: tasks on them.
//! - [`blob`], [`shared`], [`names`]: large results, shared arrays, names.

pub mod blend;
pub mod blob;
pub mod camera;
pub mod document;
pub mod examples;
pub mod history;
pub mod learn;
pub mod look;
pub mod names;
pub mod pose;
pub mod project;
pub mod room;
pub mod shared;
pub mod timeline;
pub mod touch;
pub mod tour;
pub mod transfer;
pub mod view_state;
