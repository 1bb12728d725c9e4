//! Nearest vertex of a mesh whose surface faces a given direction.

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, SurfaceIndex, triangle_normals};

use crate::TransferError;

/// A mesh, prepared for queries.
pub(crate) struct NearVertex<'a> {
    mesh: &'a Mesh,
    index: SurfaceIndex,
    normals: Vec<DVec3>,
}

impl<'a> NearVertex<'a> {
    pub(crate) fn new(mesh: &'a Mesh) -> Result<Self, TransferError> {
        let normals = triangle_normals(mesh);
        Ok(Self {
            mesh,
            index: SurfaceIndex::new(mesh)?,
            normals,
        })
    }

    /// The corner nearest to the closest point of the surface that does not face away from
    /// `facing`; of the whole surface if all of it faces away.
    pub(crate) fn of(&self, position: DVec3, facing: DVec3) -> u32 {
        let closest = self
            .index
            .closest_point_where(position, |t| self.normals[t as usize].dot(facing) > 0.0)
            .or_else(|| self.index.closest_point(position))
            .expect("a finite position has a closest point");

        // The corner with the largest barycentric coordinate.
        let barycentric = closest.place.barycentric;
        let mut corner = 0;
        for k in 1..3 {
            if barycentric[k] > barycentric[corner] {
                corner = k;
            }
        }
        self.mesh.triangles()[closest.place.triangle as usize][corner]
    }
}
