use std::fmt;
use std::path::PathBuf;

use pliant_mesh::MeshError;
use pliant_rig::RigError;
use thiserror::Error;

/// Where in a file something is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// The file as a whole.
    Whole,
    /// A line of a text, counted from 1.
    Line(usize),
    /// An offset in bytes, counted from 0.
    Byte(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => Ok(()),
            Self::Line(line) => write!(f, ", line {line}"),
            Self::Byte(byte) => write!(f, ", byte {byte}"),
        }
    }
}

/// Why bytes could not be read as a format; the file's name is added by whoever opened it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct ReadError {
    /// Where.
    pub place: Place,
    /// What is wrong and what to do, without the place.
    pub message: String,
}

impl ReadError {
    /// Something wrong with the file as a whole.
    pub fn whole(message: impl Into<String>) -> Self {
        Self {
            place: Place::Whole,
            message: message.into(),
        }
    }

    /// Something wrong at a line, counted from 1.
    pub fn line(line: usize, message: impl Into<String>) -> Self {
        Self {
            place: Place::Line(line),
            message: message.into(),
        }
    }

    /// Something wrong at a byte, counted from 0.
    pub fn byte(byte: usize, message: impl Into<String>) -> Self {
        Self {
            place: Place::Byte(byte),
            message: message.into(),
        }
    }

    /// The same with the name of the file.
    #[must_use]
    pub fn in_file(self, file: impl Into<String>) -> IoError {
        IoError::Unreadable {
            file: file.into(),
            place: self.place,
            message: self.message,
        }
    }
}

impl From<MeshError> for ReadError {
    fn from(error: MeshError) -> Self {
        Self::whole(error.to_string())
    }
}

impl From<RigError> for ReadError {
    fn from(error: RigError) -> Self {
        Self::whole(error.to_string())
    }
}

/// Why an asset could not be read or written. Every message is one line.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum IoError {
    /// Nothing is at the path.
    #[error("'{}' does not exist; check the path", .path.display())]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// A folder where a file is needed.
    #[error("'{}' is a folder, not a file; {hint}", .path.display())]
    Directory {
        /// The folder.
        path: PathBuf,
        /// What to do.
        hint: &'static str,
    },
    /// A file of zero bytes.
    #[error("'{}' is empty; export it again", .path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The operating system declined to read.
    #[error("'{}' cannot be read: {source}", .path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// Its reason.
        source: std::io::Error,
    },
    /// The operating system declined to write.
    #[error("'{}' cannot be written: {source}; nothing was left behind", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Its reason.
        source: std::io::Error,
    },
    /// The folder to write into is not there.
    #[error("'{}' cannot be written: there is no folder '{}'; make it first", .path.display(), .folder.display())]
    NoFolder {
        /// The file.
        path: PathBuf,
        /// The folder it would be in.
        folder: PathBuf,
    },
    /// The content of a file is wrong.
    #[error("{file}{place}: {message}")]
    Unreadable {
        /// The file.
        file: String,
        /// Where in it.
        place: Place,
        /// What is wrong and what to do.
        message: String,
    },
    /// NaN or infinity where work needs numbers.
    #[error("{file}: {message}")]
    NotFinite {
        /// The file.
        file: String,
        /// Which vertex, target or frame.
        message: String,
    },
    /// An ending that no format here has, or one that goes the other way only.
    #[error("'{}' cannot be {verb}: {why}; formats that can: {known}", .path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// "read" or "written".
        verb: &'static str,
        /// What is the matter with its ending.
        why: String,
        /// Endings that work.
        known: String,
    },
    /// A `#name` that nothing in the file has.
    #[error("{file} holds nothing named '{name}'; it holds {found}")]
    NoSuchPart {
        /// The file.
        file: String,
        /// The name asked for.
        name: String,
        /// What there is.
        found: String,
    },
    /// A `#name` that several things in the file have.
    #[error("'{name}' in {file} may be any of {found}; name one by its path")]
    Ambiguous {
        /// The file.
        file: String,
        /// The name asked for.
        name: String,
        /// The paths it may mean.
        found: String,
    },
    /// A frame of something that has none, or of several clips at once.
    #[error("{file}: {message}")]
    Clip {
        /// The file.
        file: String,
        /// What is the matter.
        message: String,
    },
    /// A specimen that does not exist.
    #[error("there is no specimen named '{name}'; there are: {known}")]
    NoSuchSpecimen {
        /// The name asked for.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// A locator that cannot be parsed: wrong usage, whatever the files hold.
    #[error("'{text}' is not an asset: {why}")]
    Locator {
        /// The text.
        text: String,
        /// What is wrong and what to write instead.
        why: String,
    },
    /// A path outside the folder of the file that names it.
    #[error(
        "{file} names '{uri}', which is outside its folder; only files beside or below it are read"
    )]
    Outside {
        /// The file.
        file: String,
        /// What it names.
        uri: String,
    },
    /// A target or frame does not fit its mesh, or a mesh its faces.
    #[error("{file}: {source}")]
    Rig {
        /// The file.
        file: String,
        /// What is wrong.
        source: RigError,
    },
}

impl IoError {
    /// Whether the command line itself is wrong, rather than what it names.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Locator { .. })
    }

    /// The operating system's reason to decline reading `path`.
    #[must_use]
    pub fn reading(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        let path = path.into();
        match source.kind() {
            // A regular file in the middle of a path: nothing is there either.
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => {
                Self::Missing { path }
            }
            std::io::ErrorKind::IsADirectory => Self::Directory {
                path,
                hint: "name a file in it",
            },
            _ => Self::Read { path, source },
        }
    }
}
