//! The program itself.
//!
//! - [`completions`]: scripts for shells
//! - [`demo`]: every capability on the built-in models
//! - [`job`]: a command as a job of a render farm
//! - [`join`]: the whole result of a job from its pieces
//! - [`man`]: man pages
//! - [`reproduce`]: tables and figures of the published methods
//! - [`schema`]: JSON schemas of the reports
//! - [`studio`]: start the interactive program

pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod job;
pub(crate) mod join;
pub(crate) mod man;
pub(crate) mod reproduce;
pub(crate) mod schema;
pub(crate) mod studio;
