//! Output of commands: results, messages, files and exit codes.
//!
//! - [`console`]: results on stdout, progress and messages on stderr
//! - [`failure`]: why a command ended, and its exit code
//! - [`interrupt`]: long work that Ctrl-C stops
//! - [`output`]: files that are written together or not at all
//! - [`schema`]: the JSON schema of a report

pub(crate) mod console;
pub(crate) mod failure;
pub(crate) mod interrupt;
pub(crate) mod output;
pub(crate) mod schema;

use std::time::Instant;

/// Milliseconds since `start`.
pub(crate) fn milliseconds_since(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// Microseconds since `start`.
pub(crate) fn microseconds_since(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e6
}
