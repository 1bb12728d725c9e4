//! How large a surface is, whichever way it is turned.
//!
//! **Problem.** Where a length decides which triangles belong together, turning a model must not
//! change what it means; the diagonal of its box does change, by up to a factor of √3. Lengths that
//! are reported, or given by a person, are parts of the diagonal all the same, which everybody can
//! see.
//!
//! **Equation.** With the root mean square distance `r` of the surface from its centroid, the size
//! is `√12 r`, which is the length of a thin rod.

use pliant_mesh::glam::{DMat3, DVec3};
use pliant_mesh::{Mesh, triangle_area};

/// The size of a surface that does not depend on how it is turned; zero for one without area.
pub(crate) fn size(mesh: &Mesh) -> f64 {
    let (_, covariance) = moments(mesh);
    (12.0 * (covariance.x_axis.x + covariance.y_axis.y + covariance.z_axis.z)).sqrt()
}

/// The diagonal of the box around a mesh.
pub(crate) fn diagonal(mesh: &Mesh) -> f64 {
    mesh.bounds().map_or(0.0, |bounds| bounds.diagonal())
}

/// The centroid of a surface and the covariance of its points about it, triangle by triangle.
pub(crate) fn moments(mesh: &Mesh) -> (DVec3, DMat3) {
    let areas: Vec<f64> = (0..mesh.triangles().len())
        .map(|t| triangle_area(mesh.triangle_points(t)))
        .collect();
    let total: f64 = areas.iter().sum();
    let total = if total > 0.0 { total } else { 1.0 };
    let centroid = |t: usize| mesh.triangle_points(t).into_iter().sum::<DVec3>() / 3.0;
    let center = areas
        .iter()
        .enumerate()
        .map(|(t, &area)| centroid(t) * area)
        .sum::<DVec3>()
        / total;
    let mut covariance = DMat3::ZERO;
    for (t, &area) in areas.iter().enumerate() {
        // Exact for a triangle: its corners' and its centroid's squares in the ratio 1 : 9.
        let [a, b, c] = mesh.triangle_points(t).map(|p| p - center);
        let square = |d: DVec3| DMat3::from_cols(d * d.x, d * d.y, d * d.z);
        covariance +=
            (square(a) + square(b) + square(c) + square(a + b + c)) * (area / (12.0 * total));
    }
    (center, covariance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::glam::DQuat;
    use pliant_mesh::shapes::{flat_sheet, icosphere};

    #[test]
    fn turning_and_moving_changes_no_size_and_scaling_scales_it() {
        let sheet = flat_sheet(4, 0.3);
        let turn = DQuat::from_scaled_axis(DVec3::new(1.0, 2.0, 3.0));
        let turned = sheet
            .posed(
                sheet
                    .positions()
                    .iter()
                    .map(|&p| turn * p * 5.0 + DVec3::ONE)
                    .collect(),
            )
            .unwrap();
        assert!((size(&turned) / size(&sheet) - 5.0).abs() < 1e-12);
    }

    #[test]
    fn squares_and_spheres_have_their_closed_form_however_they_are_meshed() {
        // A unit square has r² = 1/6, a unit sphere r = 1.
        for n in [1, 5] {
            assert!((size(&flat_sheet(n, 0.0)) - 2.0_f64.sqrt()).abs() < 1e-12);
        }
        assert!((size(&icosphere(5)) / 12.0_f64.sqrt() - 1.0).abs() < 1e-3);
    }
}
