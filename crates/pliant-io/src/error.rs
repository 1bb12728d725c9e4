//! Errors of reading and writing files.

use std::fmt;
use std::path::PathBuf;

use pliant_mesh::MeshError;
use pliant_rig::RigError;
use thiserror::Error;

/// Where in a file an error is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FilePosition {
    /// The file as a whole.
    Whole,
    /// A line of a text, counted from 1.
    Line(usize),
    /// An offset in bytes, counted from 0.
    Byte(usize),
}

impl fmt::Display for FilePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => Ok(()),
            Self::Line(line) => write!(f, ", line {line}"),
            Self::Byte(byte) => write!(f, ", byte {byte}"),
        }
    }
}

/// Why bytes cannot be read in a format. The caller that opened the file adds its name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct ReadError {
    /// Where the error is.
    pub position: FilePosition,
    /// What is wrong and what to do, without the position.
    pub message: String,
}

impl ReadError {
    /// An error of the file as a whole.
    pub fn whole(message: impl Into<String>) -> Self {
        Self {
            position: FilePosition::Whole,
            message: message.into(),
        }
    }

    /// An error at a line, counted from 1.
    pub fn line(line: usize, message: impl Into<String>) -> Self {
        Self {
            position: FilePosition::Line(line),
            message: message.into(),
        }
    }

    /// An error at a byte, counted from 0.
    pub fn byte(byte: usize, message: impl Into<String>) -> Self {
        Self {
            position: FilePosition::Byte(byte),
            message: message.into(),
        }
    }

    /// The same error with the name of the file.
    #[must_use]
    pub fn in_file(self, file: impl Into<String>) -> IoError {
        IoError::Unreadable {
            file: file.into(),
            position: self.position,
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

/// Why an asset cannot be read or written. Every message is one line.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum IoError {
    /// The path does not exist.
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
    /// A pipe, a device or a socket where a file is needed.
    #[error("'{}' is {kind}, not a file; save its content to a file and name that", .path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// What it is.
        kind: &'static str,
    },
    /// The length of a file is not that of its content.
    #[error("'{}' changed while it was read; wait until the program that writes it is done", .path.display())]
    Changing {
        /// The file.
        path: PathBuf,
    },
    /// Two results for one file.
    #[error("cannot write two results to '{}', which is also named '{}'; give each result its own file", .first.display(), .second.display())]
    SameFile {
        /// The file, as it is named first.
        first: PathBuf,
        /// The file, as it is named then.
        second: PathBuf,
    },
    /// A file of zero bytes.
    #[error("'{}' is empty; export it again", .path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The operating system cannot read the file.
    #[error("'{}' cannot be read: {source}", .path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// The operating system cannot write the file.
    #[error("'{}' cannot be written: {source}; nothing was left behind", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// The folder of the file does not exist.
    #[error("'{}' cannot be written: there is no folder '{}'; make it first", .path.display(), .folder.display())]
    NoFolder {
        /// The file.
        path: PathBuf,
        /// The missing folder.
        folder: PathBuf,
    },
    /// The content of a file is wrong.
    #[error("{file}{position}: {message}")]
    Unreadable {
        /// The file.
        file: String,
        /// Where in it.
        position: FilePosition,
        /// What is wrong and what to do.
        message: String,
    },
    /// NaN or infinity where finite numbers are needed.
    #[error("{file}: {message}")]
    NotFinite {
        /// The file.
        file: String,
        /// Which vertex, target or frame.
        message: String,
    },
    /// Single precision is too coarse for an asset where it is.
    #[error("{file}: 32-bit numbers of .{format} cannot show it: {loss}; move it to the origin")]
    Imprecise {
        /// The asset.
        file: String,
        /// The ending of the format.
        format: &'static str,
        /// What would be lost.
        loss: String,
    },
    /// An unknown ending, or a format that can only be read or only be written.
    #[error("'{}' cannot be {verb}: {why}; formats that can: {known}", .path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// "read" or "written".
        verb: &'static str,
        /// What is wrong with its ending.
        why: String,
        /// Endings that work.
        known: String,
    },
    /// A `#name` that no object and no clip of the file has.
    #[error("{file} holds nothing named '{name}'; it holds {found}")]
    NoSuchPart {
        /// The file.
        file: String,
        /// The requested name.
        name: String,
        /// The names that exist.
        found: String,
    },
    /// A `#name` that several objects or clips of the file have.
    #[error("'{name}' in {file} may be any of {found}; name one by its path")]
    Ambiguous {
        /// The file.
        file: String,
        /// The requested name.
        name: String,
        /// The paths that match.
        found: String,
    },
    /// A clip is needed, but there is none or more than one.
    #[error("{file}: {message}")]
    Clip {
        /// The file.
        file: String,
        /// What is wrong and what to do.
        message: String,
    },
    /// A specimen that does not exist.
    #[error("there is no specimen named '{name}'; there are: {known}")]
    NoSuchSpecimen {
        /// The requested name.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// A locator that cannot be parsed.
    #[error("'{text}' is not an asset: {why}")]
    Locator {
        /// The text.
        text: String,
        /// What is wrong and what to write instead.
        why: String,
    },
    /// A path outside the folder of the file that refers to it.
    #[error(
        "{file} names '{uri}', which is outside its folder; only files in and below it are read"
    )]
    Outside {
        /// The file.
        file: String,
        /// The path.
        uri: String,
    },
    /// A target or frame does not fit its mesh.
    #[error("{file}: {source}")]
    Rig {
        /// The file.
        file: String,
        /// What is wrong.
        source: RigError,
    },
}

impl IoError {
    /// Whether the command line is wrong, not the files that it names.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Locator { .. })
    }

    /// The error of an operating system that cannot read `path`.
    #[must_use]
    pub fn reading(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        let path = path.into();
        match source.kind() {
            // A path below a regular file does not exist either.
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
