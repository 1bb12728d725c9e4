//! Errors of recipes and of the files that they name.

use pliant_io::IoError;
use pliant_learn::LearnError;
use pliant_transfer::TransferError;
use thiserror::Error;

/// What can be wrong with a recipe or with a file that it names.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RecipeError {
    /// The text is not TOML, or a key is missing, unknown or of another type.
    #[error("line {line}: {message}")]
    Syntax {
        /// The line, counted from 1.
        line: usize,
        /// What is wrong there.
        message: String,
    },
    /// A value is out of range or contradicts another one.
    #[error("{place}: {message}")]
    Meaning {
        /// The table and its key.
        place: String,
        /// What is wrong, and what to do.
        message: String,
    },
    /// A file that the recipe names.
    #[error(transparent)]
    File(#[from] IoError),
    /// The transfer fails.
    #[error("{place}: {source}")]
    Transfer {
        /// The source, file or layer.
        place: String,
        /// What is wrong.
        source: TransferError,
    },
    /// The examples or control points of a learn recipe are unsuitable, or the training fails.
    #[error("{place}: {source}")]
    Learn {
        /// The key.
        place: &'static str,
        /// What is wrong.
        source: LearnError,
    },
}

impl RecipeError {
    /// The parser's message about `text`, with the line.
    pub(crate) fn syntax(text: &str, error: &toml::de::Error) -> Self {
        let start = error.span().map_or(0, |span| span.start.min(text.len()));
        let before = &text.as_bytes()[..start];
        Self::Syntax {
            line: 1 + before.iter().filter(|&&byte| byte == b'\n').count(),
            message: error.message().to_owned(),
        }
    }

    /// The JSON parser's message, with the line.
    pub(crate) fn json(error: &serde_json::Error) -> Self {
        // The parser's own text ends with line and column.
        let text = error.to_string();
        let message = if error.is_data() {
            text.split(" at line ").next().unwrap_or(&text)
        } else {
            "the text is not JSON"
        };
        Self::Syntax {
            line: error.line(),
            message: message.to_owned(),
        }
    }

    pub(crate) fn meaning(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Meaning {
            place: place.into(),
            message: message.into(),
        }
    }

    pub(crate) fn transfer(place: impl Into<String>) -> impl FnOnce(TransferError) -> Self {
        let place = place.into();
        move |source| Self::Transfer { place, source }
    }

    pub(crate) fn learn(place: &'static str) -> impl FnOnce(LearnError) -> Self {
        move |source| Self::Learn { place, source }
    }
}
