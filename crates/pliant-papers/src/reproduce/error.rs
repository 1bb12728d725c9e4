//! Errors of the reproductions.

use pliant_io::IoError;
use pliant_learn::LearnError;
use pliant_mesh::{MeshError, Stopped};
use pliant_physics::{PhysicsError, TouchError};
use pliant_rig::RigError;
use pliant_transfer::TransferError;
use pliant_view::ViewError;
use thiserror::Error;

/// Why a page could not be computed or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReproduceError {
    /// No reproduction has this name.
    #[error("there is no reproduction named '{name}'; there are: {known}")]
    Unknown {
        /// The given name.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// A model cannot be read, or a page cannot be written.
    #[error(transparent)]
    Io(#[from] IoError),
    /// A picture cannot be drawn.
    #[error(transparent)]
    View(#[from] ViewError),
    /// Work on a mesh fails.
    #[error("{model}: {source}")]
    Mesh {
        /// The model.
        model: String,
        /// The cause.
        source: MeshError,
    },
    /// Work on a rig fails.
    #[error("{model}: {source}")]
    Rig {
        /// The model.
        model: String,
        /// The cause.
        source: RigError,
    },
    /// A transfer fails.
    #[error("{model}: {source}")]
    Transfer {
        /// The model.
        model: String,
        /// The cause.
        source: TransferError,
    },
    /// A blend fails.
    #[error("{model}: {source}")]
    Physics {
        /// The model.
        model: String,
        /// The cause.
        source: PhysicsError,
    },
    /// A touch fails.
    #[error("{model}: {source}")]
    Touch {
        /// The model.
        model: String,
        /// The cause.
        source: TouchError,
    },
    /// Training fails.
    #[error("{model}: {source}")]
    Learn {
        /// The model.
        model: String,
        /// The cause.
        source: LearnError,
    },
    /// The caller stopped the work.
    #[error("the reproduction was stopped; nothing was written")]
    Stopped(#[from] Stopped),
}
