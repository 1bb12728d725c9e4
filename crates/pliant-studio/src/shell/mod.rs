//! The program around the rooms: window, menus, dialogs, panels, files.
//!
//! - `studio`: the program state; the only place that changes the document.
//! - `window`: bars, panels and viewports of a frame.
//! - `menu`, `file_menu`, `help`, `notices`: menus, help and messages.
//! - `tour`: five tasks for the first ten minutes.
//! - `dialog`: the file dialog.
//! - `filing`: opening, saving, importing and exporting.
//! - `panels`: sliders, explanation of the last solve, timeline.

pub mod dialog;
mod file_menu;
pub(crate) mod filing;
pub mod help;
mod menu;
mod notices;
pub mod panels;
mod studio;
mod tour;
mod window;

pub use file_menu::{EXPORT, IMPORT, NEW, OPEN, QUIT, SAVE, SAVE_AS};
pub use filing::Recover;
pub use studio::Studio;
pub use window::LEAST_WINDOW;
