use pliant_linalg::LinalgError;
use pliant_mesh::MeshError;
use pliant_rig::RigError;
use thiserror::Error;

/// What can be wrong with learning a deformation or with driving one.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum LearnError {
    /// A mesh.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// A clip or rig.
    #[error(transparent)]
    Rig(#[from] RigError),
    /// A linear system.
    #[error(transparent)]
    Linalg(#[from] LinalgError),
    /// A number outside its range.
    #[error("{what} is {value}; it must be {needed}")]
    BadNumber {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
        /// The range that works.
        needed: &'static str,
    },
    /// Too few examples to learn from.
    #[error("{found} examples besides the reference pose; at least {needed} are needed")]
    TooFewExamples {
        /// How many there are.
        found: usize,
        /// How many it takes.
        needed: usize,
    },
    /// A frame with NaN or infinite positions.
    #[error("frame {frame} of the examples has a position that is not a finite number, at vertex {vertex}; export the clip again")]
    FrameNotFinite {
        /// The frame, counted from 0.
        frame: usize,
        /// The first such vertex.
        vertex: usize,
    },
    /// More bones than the vertices can tell apart.
    #[error("{bones} bones are too many for {vertices} vertices; ask for at most {most}")]
    TooManyBones {
        /// How many were asked for.
        bones: usize,
        /// How many vertices there are.
        vertices: usize,
        /// How many make sense.
        most: usize,
    },
    /// A reference pose in one point.
    #[error("all vertices of the reference pose are in one place; give a mesh with an extent")]
    NoExtent,
}
