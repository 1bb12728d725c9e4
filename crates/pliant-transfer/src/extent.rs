//! Size, moments and areas of a surface.
//!
//! **Problem.** Where a length decides which triangles correspond, a rotation of the model must not
//! change its meaning. The diagonal of the bounding box does change under rotation, by up to a
//! factor of √3. Lengths that are reported, or that users give, are relative to the diagonal, which
//! everybody can see.
//!
//! **Equation.** With the root mean square distance `r` of the surface from its centroid, the size
//! is `√12 r`, which is the length of a thin rod.

use pliant_mesh::glam::{DMat3, DVec3};
use pliant_mesh::{Mesh, triangle_area};

/// The size of a surface, which does not depend on its orientation; zero for one without area.
pub(crate) fn size(mesh: &Mesh) -> f64 {
    let (_, covariance) = moments(mesh);
    (12.0 * (covariance.x_axis.x + covariance.y_axis.y + covariance.z_axis.z)).sqrt()
}

/// The diagonal of the bounding box of a mesh.
pub(crate) fn diagonal(mesh: &Mesh) -> f64 {
    mesh.bounds().map_or(0.0, |bounds| bounds.diagonal())
}

/// The diagonal of `target` over that of `source`; one if either is zero.
pub(crate) fn diagonal_ratio(target: &Mesh, source: &Mesh) -> f64 {
    let target = diagonal(target);
    let source = diagonal(source);
    if target > 0.0 && source > 0.0 {
        target / source
    } else {
        1.0
    }
}

/// The mean of the corners of a triangle.
pub(crate) fn triangle_centroid(mesh: &Mesh, triangle: usize) -> DVec3 {
    mesh.triangle_points(triangle).into_iter().sum::<DVec3>() / 3.0
}

/// A third of the area of the triangles around each vertex.
pub(crate) fn vertex_areas(mesh: &Mesh) -> Vec<f64> {
    let mut areas = vec![0.0; mesh.vertex_count()];
    for (t, triangle) in mesh.triangles().iter().enumerate() {
        let third = triangle_area(mesh.triangle_points(t)) / 3.0;
        for &v in triangle {
            areas[v as usize] += third;
        }
    }
    areas
}

/// The centroid of a surface and the covariance of its points, summed over triangles.
pub(crate) fn moments(mesh: &Mesh) -> (DVec3, DMat3) {
    let areas: Vec<f64> = (0..mesh.triangles().len())
        .map(|t| triangle_area(mesh.triangle_points(t)))
        .collect();
    let total: f64 = areas.iter().sum();
    let total = if total > 0.0 { total } else { 1.0 };

    let mut sum = DVec3::ZERO;
    for (t, &area) in areas.iter().enumerate() {
        sum += triangle_centroid(mesh, t) * area;
    }
    let center = sum / total;

    // Exact for a triangle: the squares of its corners and of their sum, over 12.
    let mut covariance = DMat3::ZERO;
    for (t, &area) in areas.iter().enumerate() {
        let [a, b, c] = mesh.triangle_points(t).map(|p| p - center);
        covariance +=
            (square(a) + square(b) + square(c) + square(a + b + c)) * (area / (12.0 * total));
    }
    (center, covariance)
}

/// The outer product `d dᵀ`.
fn square(d: DVec3) -> DMat3 {
    DMat3::from_cols(d * d.x, d * d.y, d * d.z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::glam::DQuat;
    use pliant_mesh::shapes::{bumpy_sheet, flat_sheet, icosphere};

    #[test]
    fn a_rigid_motion_keeps_the_size_and_a_scale_scales_it() {
        let sheet = flat_sheet(4, 0.3);
        let rotation = DQuat::from_scaled_axis(DVec3::new(1.0, 2.0, 3.0));
        let moved = sheet
            .posed(
                sheet
                    .positions()
                    .iter()
                    .map(|&p| rotation * p * 5.0 + DVec3::ONE)
                    .collect(),
            )
            .unwrap();

        assert!((size(&moved) / size(&sheet) - 5.0).abs() < 1e-12);
    }

    #[test]
    fn the_size_of_squares_and_spheres_has_its_closed_form_for_every_meshing() {
        // A unit square has r² = 1/6, a unit sphere r = 1.
        for n in [1, 5] {
            assert!((size(&flat_sheet(n, 0.0)) - 2.0_f64.sqrt()).abs() < 1e-12);
        }
        assert!((size(&icosphere(5)) / 12.0_f64.sqrt() - 1.0).abs() < 1e-3);
    }

    #[test]
    fn the_ratio_of_diagonals_is_the_scale() {
        let sheet = bumpy_sheet(3, 0.2);
        let large = sheet
            .posed(sheet.positions().iter().map(|p| *p * 8.0).collect())
            .unwrap();

        assert_eq!(diagonal_ratio(&large, &sheet), 8.0);
        let point = sheet
            .posed(vec![sheet.positions()[0]; sheet.vertex_count()])
            .unwrap();

        assert_eq!(
            (
                diagonal_ratio(&point, &sheet),
                diagonal_ratio(&sheet, &point)
            ),
            (1.0, 1.0)
        );
    }
}
