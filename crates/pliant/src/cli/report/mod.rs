//! Output of commands: results, messages, files and exit codes.
//!
//! - [`console`]: results on stdout, progress and messages on stderr
//! - [`defect`]: a panic becomes one line, with an exit code of its own
//! - [`failure`]: why a command ended, and its exit code
//! - [`interrupt`]: long work that Ctrl-C or SIGTERM stops
//! - [`output`]: files that are written together or not at all
//! - [`schema`]: the JSON schema of a report
//! - [`terminal_text`]: texts that cannot control a terminal

pub(crate) mod console;
pub(crate) mod defect;
pub(crate) mod failure;
pub(crate) mod interrupt;
pub(crate) mod output;
pub(crate) mod schema;
mod terminal_text;

use std::time::Instant;

/// Milliseconds since `start`.
pub(crate) fn milliseconds_since(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// Microseconds since `start`.
pub(crate) fn microseconds_since(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e6
}

/// A number with its noun: `1 face`, `3 faces`.
pub(crate) fn counted(count: usize, one: &str, several: &str) -> String {
    let noun = if count == 1 { one } else { several };
    format!("{count} {noun}")
}
