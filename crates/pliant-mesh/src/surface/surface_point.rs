//! Points on a surface: vertices, and barycentric points in triangles.

use glam::DVec3;

use crate::{Mesh, MeshError};

/// A place on a mesh: a vertex, or a point of a triangle of the fan triangulation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SurfacePoint {
    /// A vertex by its index.
    Vertex(u32),
    /// A point of a triangle.
    InTriangle(TrianglePoint),
}

/// A point of a triangle, its border included: a place that keeps its meaning when vertices move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrianglePoint {
    /// Index into [`Mesh::triangles`].
    pub triangle: u32,
    /// Weights of the triangle's corners: none negative, with sum one.
    pub barycentric: [f64; 3],
}

impl TrianglePoint {
    /// Where the point is when the vertices of its mesh are at `positions`.
    ///
    /// # Panics
    /// If the triangle or a vertex of it is not there.
    #[must_use]
    pub fn position(&self, triangles: &[[u32; 3]], positions: &[DVec3]) -> DVec3 {
        let [a, b, c] = triangles[self.triangle as usize].map(|v| positions[v as usize]);
        let [u, v, w] = self.barycentric;
        // Weights from a file sum to one only to its precision.
        (u * a + v * b + w * c) / (u + v + w)
    }
}

impl From<TrianglePoint> for SurfacePoint {
    fn from(point: TrianglePoint) -> Self {
        Self::InTriangle(point)
    }
}

impl SurfacePoint {
    /// How far barycentric weights may sum away from one: files hold them as `f32`.
    const SUM_TOLERANCE: f64 = 1e-6;

    /// Declines a point that does not lie on `mesh`.
    pub fn check(&self, mesh: &Mesh) -> Result<(), MeshError> {
        match *self {
            Self::Vertex(vertex) => mesh.require_vertex(vertex as usize),
            Self::InTriangle(TrianglePoint {
                triangle,
                barycentric,
            }) => check_triangle(triangle, barycentric, mesh),
        }
    }

    /// The place in space.
    ///
    /// # Panics
    /// If the point does not pass [`SurfacePoint::check`] on `mesh`.
    #[must_use]
    pub fn position(&self, mesh: &Mesh) -> DVec3 {
        match *self {
            Self::Vertex(vertex) => mesh.positions()[vertex as usize],
            Self::InTriangle(point) => point.position(mesh.triangles(), mesh.positions()),
        }
    }
}

fn check_triangle(triangle: u32, barycentric: [f64; 3], mesh: &Mesh) -> Result<(), MeshError> {
    let triangles = mesh.triangles().len();
    if triangle as usize >= triangles {
        return Err(MeshError::NoSuchTriangle {
            triangle: triangle as usize,
            triangles,
        });
    }

    // Written so that NaN fails, too.
    if let Some(&value) = barycentric
        .iter()
        .find(|&&weight| !(0.0..=2.0).contains(&weight))
    {
        return Err(MeshError::BadNumber {
            what: "a barycentric weight",
            value,
            needed: "between 0 and 1",
        });
    }

    let value: f64 = barycentric.iter().sum();
    if (value - 1.0).abs() > SurfacePoint::SUM_TOLERANCE {
        return Err(MeshError::BadNumber {
            what: "the sum of barycentric weights",
            value,
            needed: "1",
        });
    }

    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn triangle() -> Mesh {
        Mesh::from_triangles(vec![DVec3::ZERO, DVec3::X, DVec3::Y], &[[0, 1, 2]]).unwrap()
    }

    #[test]
    fn the_position_is_the_weighted_mean_of_the_corners() {
        let point = SurfacePoint::InTriangle(TrianglePoint {
            triangle: 0,
            barycentric: [0.5, 0.25, 0.25],
        });
        assert_eq!(point.check(&triangle()), Ok(()));
        assert_eq!(point.position(&triangle()), DVec3::new(0.25, 0.25, 0.0));
        assert_eq!(SurfacePoint::Vertex(2).position(&triangle()), DVec3::Y);
    }

    #[test]
    fn points_off_the_mesh_are_declined() {
        let mesh = triangle();
        let inside = |barycentric| {
            SurfacePoint::InTriangle(TrianglePoint {
                triangle: 0,
                barycentric,
            })
        };

        assert_eq!(
            SurfacePoint::Vertex(3).check(&mesh),
            Err(MeshError::NoSuchVertex {
                vertex: 3,
                vertices: 3
            })
        );

        let beyond = SurfacePoint::InTriangle(TrianglePoint {
            triangle: 1,
            barycentric: [1.0, 0.0, 0.0],
        });

        assert_eq!(
            beyond.check(&mesh),
            Err(MeshError::NoSuchTriangle {
                triangle: 1,
                triangles: 1
            })
        );

        for weights in [
            [f64::NAN, 0.5, 0.5],
            [-0.5, 1.0, 0.5],
            [0.5, 0.5, 0.5],
            [f64::INFINITY, 0.0, 0.0],
        ] {
            assert!(
                matches!(
                    inside(weights).check(&mesh),
                    Err(MeshError::BadNumber { .. })
                ),
                "{weights:?}"
            );
        }
    }
}
