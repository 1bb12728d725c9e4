//! Corner normals with a crease angle: smooth over forms and sharp at edges.
//!
//! **Equation.** The normal at a triangle's corner is the mean of the area vectors of those
//! triangles around the vertex whose own normals lie within the crease angle of this triangle's.
//!
//! **Departures.** If all triangles of a vertex are within half the angle of the mean at the vertex,
//! they are within the angle of each other, and all corners use the mean. Only vertices at creases
//! need the pairwise test.

use glam::{DVec3, Vec3};
use pliant_linalg::parallel;
use pliant_linalg::portable::sin_cos;
use pliant_mesh::Mesh;

use crate::camera::projection::to_single;

const TRIANGLES_PER_TASK: usize = 4096;

/// Face normals and corner normals of the triangles of a mesh; zero for triangles without area or
/// with corners that are not finite.
#[derive(Debug, Default)]
pub(crate) struct Normals {
    pub(crate) faces: Vec<Vec3>,
    pub(crate) corners: Vec<[Vec3; 3]>,
    /// One per vertex, the mean over all its triangles.
    pub(crate) vertices: Vec<Vec3>,
}

impl Normals {
    /// Normals of `mesh` with its vertices at `positions`.
    pub(crate) fn of(mesh: &Mesh, positions: &[DVec3], crease_rad: f64) -> Self {
        let triangles = mesh.triangles();
        let areas = parallel::map(triangles.len(), TRIANGLES_PER_TASK, |t| {
            area_vector(positions, triangles[t])
        });
        let faces = parallel::map(triangles.len(), TRIANGLES_PER_TASK, |t| {
            areas[t].normalize_or_zero()
        });

        // At each vertex: the mean, and whether all its triangles are near the mean.
        let around = mesh.topology().vertex_triangles();
        let crease = crease_rad.clamp(0.0, std::f64::consts::PI);
        let half_cos = sin_cos(crease * 0.5).1 as f32;
        let means = parallel::map(positions.len(), TRIANGLES_PER_TASK, |v| {
            let row = around.row(v);
            let mean = row
                .iter()
                .map(|&t| areas[t as usize])
                .sum::<Vec3>()
                .normalize_or_zero();

            let smooth = crease > 0.0
                && row.iter().all(|&t| {
                    faces[t as usize].dot(mean) >= half_cos || faces[t as usize] == Vec3::ZERO
                });

            (mean, smooth)
        });

        // At each corner: the mean, the face normal, or the mean over the near triangles.
        let cos = sin_cos(crease).1 as f32;
        let corners = parallel::map(triangles.len(), TRIANGLES_PER_TASK, |t| {
            triangles[t].map(|v| match means[v as usize] {
                (mean, true) => mean,
                _ if crease == 0.0 => faces[t],
                _ => creased(around.row(v as usize), faces[t], &areas, &faces, cos),
            })
        });

        Self {
            faces,
            corners,
            vertices: means.into_iter().map(|(mean, _)| mean).collect(),
        }
    }
}

/// The mean normal of the triangles around a vertex that are within the crease angle of `own`.
fn creased(around: &[u32], own: Vec3, areas: &[Vec3], faces: &[Vec3], cos: f32) -> Vec3 {
    let agreeing = around
        .iter()
        .map(|&t| t as usize)
        .filter(|&t| faces[t].dot(own) >= cos);
    let mean = agreeing.map(|t| areas[t]).sum::<Vec3>().normalize_or_zero();
    if mean == Vec3::ZERO { own } else { mean }
}

/// Twice the area times the normal, scaled up so that small triangles keep their bits in single
/// precision.
fn area_vector(positions: &[DVec3], triangle: [u32; 3]) -> Vec3 {
    let [a, b, c] = triangle.map(|v| positions[v as usize]);
    let area = (b - a).cross(c - a) * 1e6;
    if area.is_finite() {
        to_single(area)
    } else {
        Vec3::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two unit squares that meet at `angle_rad` along the y axis.
    fn roof(angle_rad: f64) -> Mesh {
        let (s, c) = angle_rad.sin_cos();
        let wing = |x: f64, y: f64| DVec3::new(x * c, y, x * s);
        let positions = vec![
            DVec3::ZERO,
            DVec3::Y,
            DVec3::new(-1.0, 1.0, 0.0),
            DVec3::new(-1.0, 0.0, 0.0),
            wing(1.0, 0.0),
            wing(1.0, 1.0),
        ];

        Mesh::from_polygons(positions, &[vec![0, 1, 2, 3], vec![0, 4, 5, 1]]).unwrap()
    }

    #[test]
    fn a_fold_below_the_crease_angle_is_smooth_and_a_sharper_one_is_not() {
        let gentle = roof(0.3);
        let normals = Normals::of(&gentle, gentle.positions(), 1.0);
        assert_eq!(normals.corners[0][0], normals.corners[2][0]);
        let sharp = roof(1.5);
        let normals = Normals::of(&sharp, sharp.positions(), 1.0);
        assert!((normals.corners[0][0] - normals.faces[0]).length() < 1e-6);
        assert!((normals.corners[2][0] - normals.faces[2]).length() < 1e-6);
    }
}
