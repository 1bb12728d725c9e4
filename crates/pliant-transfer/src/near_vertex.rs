//! The vertex of a mesh nearest to a place, on the side that faces the same way.

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, SurfaceIndex, triangle_normals};

use crate::TransferError;

/// Finds vertices beside places.
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

    /// The corner beside the closest point of the surface that does not face away from `facing`; of
    /// all if it all does.
    pub(crate) fn of(&self, place: DVec3, facing: DVec3) -> u32 {
        let closest = self
            .index
            .closest_point_where(place, |t| self.normals[t as usize].dot(facing) > 0.0);
        let closest = closest
            .or_else(|| self.index.closest_point(place))
            .expect("a finite place has a closest point");
        let corners = self.mesh.triangles()[closest.place.triangle as usize];
        let share = closest.place.barycentric;
        corners[(0..3).fold(0, |best, k| if share[k] > share[best] { k } else { best })]
    }
}
