//! The index of a vertex, as a type of its own.
//!
//! **Problem.** Vertices, triangles, sliders and frames are all counted from 0. A function that
//! takes a plain number accepts each of them for any other.
//!
//! **Implementation.** A 32-bit index, as in the faces of a [`Mesh`](crate::Mesh), that converts
//! from a `usize` but from no other index type. Lists of many vertices stay `u32`.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A vertex of a mesh, counted from 0 in the order of the file.
///
/// ```
/// use pliant_mesh::{VertexId, shapes};
///
/// let mesh = shapes::icosphere(1);
/// assert_eq!(mesh.require_vertex(3), Ok(()));
/// assert_eq!(VertexId::from(3).to_string(), "3");
/// ```
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct VertexId(u32);

impl VertexId {
    /// The vertex with this index, as faces and targets store it.
    #[must_use]
    pub const fn new(index: u32) -> Self {
        Self(index)
    }

    /// The index as faces and targets store it.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The index into a list with one entry per vertex.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl From<usize> for VertexId {
    /// An index beyond 32 bits becomes [`u32::MAX`]. No mesh has that vertex, so a check against
    /// the mesh fails; a truncated index could pass it.
    ///
    /// This is the only conversion from a number, so that literals need no suffix.
    fn from(index: usize) -> Self {
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }
}

impl fmt::Display for VertexId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_beyond_32_bits_is_no_vertex_of_any_mesh() {
        let wrapped = VertexId::from(usize::MAX - 3);
        assert_eq!(wrapped, VertexId::new(u32::MAX));
        assert!(
            crate::test_shapes::grid(2, 2)
                .require_vertex(wrapped)
                .is_err()
        );
    }

    #[test]
    fn a_vertex_is_written_as_its_bare_number() {
        let width = format!("{:>4}", VertexId::new(12));
        assert_eq!(
            (VertexId::new(12).to_string(), width),
            ("12".into(), "  12".into())
        );
    }
}
