use pliant_linalg::LinalgError;
use thiserror::Error;

use crate::Stopped;

/// Invalid meshes and invalid arguments of mesh operations.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum MeshError {
    /// A face names a vertex that does not exist.
    #[error(
        "face {face} names vertex {vertex}, but there are {vertices} vertices (counted from 0); remove the face or add the vertex"
    )]
    VertexOutOfRange {
        /// The face, counted from 0.
        face: usize,
        /// The vertex it names.
        vertex: usize,
        /// How many vertices there are.
        vertices: usize,
    },
    /// A face has fewer than three corners.
    #[error("face {face} has {corners} corner(s); a face needs at least 3")]
    TooFewCorners {
        /// The face, counted from 0.
        face: usize,
        /// How many corners it has.
        corners: usize,
    },
    /// More vertices or corners than a 32-bit index can name.
    #[error("{count} {what} are more than a mesh can hold ({})", u32::MAX)]
    TooLarge {
        /// Vertices or corners.
        what: &'static str,
        /// How many.
        count: usize,
    },
    /// A vertex index that the caller gave does not exist.
    #[error("vertex {vertex} does not exist; the mesh has {vertices} vertices, counted from 0")]
    NoSuchVertex {
        /// The index asked for.
        vertex: usize,
        /// How many vertices there are.
        vertices: usize,
    },
    /// A triangle index that the caller gave does not exist.
    #[error(
        "triangle {triangle} does not exist; the mesh has {triangles} triangles, counted from 0"
    )]
    NoSuchTriangle {
        /// The index asked for.
        triangle: usize,
        /// How many triangles there are.
        triangles: usize,
    },
    /// A position is NaN or infinite.
    #[error(
        "vertex {vertex} has a coordinate that is NaN or infinite ({found} vertices in all); export the file again"
    )]
    NotFinite {
        /// The first such vertex.
        vertex: usize,
        /// How many there are.
        found: usize,
    },
    /// A query point is NaN, infinite or too far away to compute with.
    #[error(
        "query point {query} has a coordinate that is not a finite number below 1e70; leave it out"
    )]
    QueryNotFinite {
        /// The first such point, counted from 0.
        query: usize,
    },
    /// The mesh has no face.
    #[error("the mesh has no faces; this operation needs a surface")]
    NoFaces,
    /// An array does not have one entry per vertex, face or corner.
    #[error("{what}: {found} entries where {expected} are needed")]
    Count {
        /// The array.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length that fits.
        expected: usize,
    },
    /// A layer or a label names a value that its list does not hold.
    #[error(
        "{what}: value {index} is named, but the list holds {size} (counted from 0); export the mesh again"
    )]
    NoSuchValue {
        /// The layer or labels.
        what: &'static str,
        /// The value named.
        index: usize,
        /// How many values there are.
        size: usize,
    },
    /// An empty list of sources or a source without extent.
    #[error("no source is given; name at least one vertex or point to measure from")]
    NoSource,
    /// A length, radius or other number outside its range.
    #[error("{what} is {value}; it must be {needed}")]
    BadNumber {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
        /// The range that works.
        needed: &'static str,
    },
    /// The number of exact paths exceeds its limit.
    #[error(
        "after {reached} vertices the number of exact shortest paths exceeds its limit, as on duplicate faces with different diagonals; remove the duplicate faces or use the heat method"
    )]
    CoincidentSheets {
        /// How many vertices had been reached.
        reached: usize,
    },
    /// The caller stopped the work.
    #[error("stopped")]
    Stopped(#[from] Stopped),
    /// A linear system could not be solved.
    #[error("the linear system on the surface could not be solved: {0}")]
    Linalg(#[from] LinalgError),
}

impl MeshError {
    /// Rejects an array that does not have the `expected` number of entries.
    pub fn require_count(what: &'static str, found: usize, expected: usize) -> Result<(), Self> {
        if found == expected {
            Ok(())
        } else {
            Err(Self::Count {
                what,
                found,
                expected,
            })
        }
    }
}
