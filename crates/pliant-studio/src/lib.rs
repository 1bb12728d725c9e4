//! The program in which a person poses, touches, blends, transfers and learns.
//!
//! The modules form layers; each knows only those above it in this list (`tests/layers.rs` checks
//! this):
//!
//! - [`model`]: the [`Document`](model::document::Document) and its
//!   [`History`](model::history::History); no user interface.
//! - [`engine`]: workers that load, solve and simulate; no user interface.
//! - [`view`]: viewports, drawn by the graphics card.
//! - [`widgets`]: widgets that rooms and panels share.
//! - [`rooms`]: tools and panels of Pose, Touch, Blend, Transfer and Learn.
//! - [`shell`]: the window around them. [`Studio`] is the only place that changes the document.

pub mod engine;
pub mod model;
pub mod rooms;
pub mod shell;
pub mod view;
pub mod widgets;

pub use shell::{EXPORT, IMPORT, LEAST_WINDOW, NEW, OPEN, QUIT, Recover, SAVE, SAVE_AS, Studio};
