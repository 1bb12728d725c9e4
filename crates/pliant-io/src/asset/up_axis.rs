//! The axis of the coordinates that points up.

use std::fmt;

/// The axis of the coordinates that points up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UpAxis {
    /// X.
    X,
    /// Y, also if a file does not say.
    #[default]
    Y,
    /// Z.
    Z,
}

impl UpAxis {
    /// The axis of this letter, in either case.
    #[must_use]
    pub fn of(letter: &str) -> Option<Self> {
        [Self::X, Self::Y, Self::Z]
            .into_iter()
            .find(|axis| axis.to_string().eq_ignore_ascii_case(letter))
    }
}

impl fmt::Display for UpAxis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::X => "X",
            Self::Y => "Y",
            Self::Z => "Z",
        })
    }
}
