//! Pieces of a job: the frames of one result, computed by several processes, and joined.
//!
//! **Problem.** A farm computes the frames of a clip on many machines. What comes back must be
//! joined to exactly the result of one undivided run, and pieces that are missing, that overlap or
//! that belong to another job must be recognised.
//!
//! **Method.** Beside every piece lies a [`Manifest`]: the program, the command and its arguments,
//! the inputs by the hash of their content, the frames of the piece and their number in the whole
//! result, and what the command needs to join it. Positions are kept as 64-bit numbers beside
//! formats that round them. [`JoinedPieces`] checks manifests against each other and puts rows into
//! the order of the whole; the command then writes the whole as it writes an undivided result.
//!
//! - `manifest`: what a piece is a piece of.
//! - `join`: pieces in order, or why they do not fit together.

mod join;
mod manifest;

pub use join::{JoinedPieces, Piece};
pub use manifest::{InputFile, Manifest, PieceFile};

use pliant_io::IoError;
use thiserror::Error;

/// Why pieces cannot be read or joined.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PieceError {
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] IoError),
    /// There is no manifest.
    #[error(
        "'{piece}' is not a piece: there is no '{manifest}'; make pieces with --frames, and keep the files beside them"
    )]
    NotAPiece {
        /// The piece.
        piece: String,
        /// Where its manifest is looked for.
        manifest: String,
    },
    /// A manifest that cannot be read.
    #[error("'{manifest}': {message}; make the piece again")]
    Manifest {
        /// The file.
        manifest: String,
        /// What is wrong.
        message: String,
    },
    /// A file of a piece has another content than its manifest says.
    #[error("'{file}' is not the file that '{manifest}' describes; make the piece again")]
    Changed {
        /// The file.
        file: String,
        /// The manifest.
        manifest: String,
    },
    /// A piece of another job.
    #[error("'{piece}' belongs to another job than '{first}': {difference}")]
    Foreign {
        /// The piece.
        piece: String,
        /// The first piece.
        first: String,
        /// What differs.
        difference: String,
    },
    /// Two pieces with the same frame.
    #[error("'{first}' and '{second}' both hold frame {frame}; leave out one of them")]
    Overlap {
        /// One piece.
        first: String,
        /// The other one.
        second: String,
        /// The first frame in both.
        frame: usize,
    },
    /// Frames that no piece holds.
    #[error("no piece holds frame(s) {frames} of {whole}; make them with --frames {frames}")]
    Missing {
        /// The frames.
        frames: String,
        /// Number of frames of the whole.
        whole: usize,
    },
    /// No pieces at all.
    #[error("there are no pieces to join")]
    None,
}
