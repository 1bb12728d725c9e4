//! Failures of commands and their exit codes.

use std::error::Error;
use std::fmt;

use pliant::recipes::RecipeError;

/// Why a command ended without a result.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    usage: bool,
}

impl Failure {
    /// Exit code 1: the command could not do its work.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            usage: false,
        }
    }

    /// Exit code 2: the arguments are wrong.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            usage: true,
        }
    }

    /// Exit code 1: an error, after the name of the file or option that it is about.
    pub(crate) fn about(subject: impl fmt::Display, error: &dyn Error) -> Self {
        Self::new(format!("{subject}: {}", chain(error)))
    }

    pub(crate) fn exit_code(&self) -> u8 {
        if self.usage { 2 } else { 1 }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A message is one line, even where a file name or a cause contains line breaks.
        let lines: Vec<&str> = self
            .message
            .split(['\n', '\r'])
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        f.write_str(&lines.join(" "))
    }
}

impl From<pliant_io::IoError> for Failure {
    fn from(error: pliant_io::IoError) -> Self {
        Self {
            usage: error.is_usage(),
            message: chain(&error),
        }
    }
}

impl From<RecipeError> for Failure {
    fn from(error: RecipeError) -> Self {
        match error {
            RecipeError::File(error) => error.into(),
            error => Self::new(error.to_string()),
        }
    }
}

/// The error and its causes, joined by colons. A cause that is already quoted is not repeated.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();

    while let Some(error) = cause {
        let next = error.to_string();
        if !text.contains(&next) {
            text = format!("{text}: {next}");
        }
        cause = error.source();
    }

    text
}
