//! The program in which a person poses, touches, blends, transfers and learns.
//!
//! What a person makes is a [`Document`](document::Document); a [`Studio`] shows it, and changes it
//! in one place, so that every gesture is a step of the [`History`](history::History). The window
//! is `eframe`'s; nothing else here knows of one.

pub mod autosave;
pub mod blob;
pub mod character;
pub mod command;
pub mod desk;
pub mod dialog;
pub mod document;
pub mod export;
mod file_menu;
pub mod files;
mod filing;
pub mod help;
pub mod history;
pub mod import;
pub mod library;
mod menu;
mod names;
mod notices;
pub mod panels;
pub mod places;
pub mod preferences;
pub mod project;
pub mod recovery;
pub mod rooms;
pub mod shared;
mod shell;
mod studio;
pub mod theme;
pub mod timeline;
pub mod view;
pub mod work;

pub use file_menu::{EXPORT, IMPORT, NEW, OPEN, QUIT, SAVE, SAVE_AS};
pub use filing::Recover;
pub use shell::LEAST_WINDOW;
pub use studio::Studio;
