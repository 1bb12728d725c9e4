//! Curves on a surface that move with it.
//!
//! **Problem.** A line that was drawn on a brow should stay on the brow when it moves.
//!
//! **Method.** A curve is a list of surface points; its shape in a pose is the polyline through
//! them. Points between them are the points of the surface nearest to the polyline.

use glam::DVec3;
use pliant_mesh::{Mesh, SurfaceIndex, SurfacePoint};

use super::polyline::Polyline;
use crate::RigError;

/// A curve on a mesh, open or closed.
#[derive(Debug, Clone, PartialEq)]
pub struct SurfaceCurve {
    /// Surface points along it, in order; a closed curve continues from the last to the first.
    pub points: Vec<SurfacePoint>,
    /// Whether it is a loop.
    pub closed: bool,
}

impl SurfaceCurve {
    /// An open curve through vertices, such as a row of edges.
    #[must_use]
    pub fn through_vertices(vertices: &[u32]) -> Self {
        Self {
            points: vertices.iter().map(|&v| SurfacePoint::Vertex(v)).collect(),
            closed: false,
        }
    }

    /// The open curve of the surface points nearest to `points`.
    pub(crate) fn nearest(index: &SurfaceIndex, points: &[DVec3]) -> Result<Self, RigError> {
        let found = index.closest_points(points)?;
        Ok(Self {
            points: found.into_iter().map(|p| p.place.into()).collect(),
            closed: false,
        })
    }

    /// The same points, as a loop.
    #[must_use]
    pub fn closed(self) -> Self {
        Self {
            closed: true,
            ..self
        }
    }

    /// Returns an error if a point is not on the mesh.
    pub fn check(&self, mesh: &Mesh) -> Result<(), RigError> {
        for point in &self.points {
            point.check(mesh)?;
        }
        Ok(())
    }

    /// Its points in space on a posed mesh.
    pub fn positions(&self, posed: &Mesh) -> Result<Vec<DVec3>, RigError> {
        self.check(posed)?;
        Ok(self
            .points
            .iter()
            .map(|point| point.position(posed))
            .collect())
    }

    /// Its length on a posed mesh.
    pub fn length(&self, posed: &Mesh) -> Result<f64, RigError> {
        Ok(self.polyline(posed)?.length())
    }

    pub(crate) fn polyline(&self, posed: &Mesh) -> Result<Polyline, RigError> {
        Polyline::new(
            "the curve on the surface",
            &self.positions(posed)?,
            self.closed,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::shapes::flat_sheet;

    #[test]
    fn a_row_of_edges_is_as_long_as_its_edges_and_follows_the_pose() {
        let sheet = flat_sheet(4, 0.0);
        let row = SurfaceCurve::through_vertices(&[0, 1, 2, 3, 4]);
        assert!((row.length(&sheet).unwrap() - 1.0).abs() < 1e-15);

        let wide = sheet
            .posed(sheet.positions().iter().map(|p| *p * 3.0).collect())
            .unwrap();

        assert!((row.length(&wide).unwrap() - 3.0).abs() < 1e-14);
        let around = SurfaceCurve::through_vertices(&[0, 4, 24, 20]).closed();
        assert!((around.length(&sheet).unwrap() - 4.0).abs() < 1e-14);
        assert!(
            SurfaceCurve::through_vertices(&[0, 99])
                .length(&sheet)
                .is_err()
        );
    }
}
