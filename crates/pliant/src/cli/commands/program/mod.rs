//! The program itself.
//!
//! - [`completions`]: scripts for shells
//! - [`demo`]: every capability on the built-in models
//! - [`man`]: man pages
//! - [`reproduce`]: tables and figures of the published methods
//! - [`schema`]: JSON schemas of the reports
//! - [`studio`]: start the interactive program

pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod man;
pub(crate) mod reproduce;
pub(crate) mod schema;
pub(crate) mod studio;
