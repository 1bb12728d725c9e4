//! Why a command ended early, and with which exit code.

use std::error::Error;
use std::fmt;

use pliant::transfer_recipe::RecipeError;

/// A command that could not do its work.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    usage: bool,
}

impl Failure {
    /// Exit 1: the work could not be done.
    pub(crate) fn could_not(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            usage: false,
        }
    }

    /// Exit 2: the command was not asked rightly.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            usage: true,
        }
    }

    /// An error with what it happened to in front of it.
    pub(crate) fn about(what: impl fmt::Display, error: &dyn Error) -> Self {
        Self::could_not(format!("{what}: {}", chain(error)))
    }

    pub(crate) fn exit_code(&self) -> u8 {
        if self.usage { 2 } else { 1 }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A message is one line, whatever a file name or a cause holds.
        let words: Vec<&str> = self
            .message
            .split(['\n', '\r'])
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .collect();
        f.write_str(&words.join(" "))
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
            error => Self::could_not(error.to_string()),
        }
    }
}

/// The error and its causes, joined by colons; a cause that its effect already quotes is not
/// repeated.
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
