//! Rotations of the regions of a base, the features of the cascaded variant (Huang et al. 2012,
//! figure 7).

use pliant_linalg::nearest_rotation;
use pliant_mesh::glam::{DMat3, DQuat, DVec3};
use pliant_mesh::triangle_area;

use crate::control::Alignment;
use crate::methods::with_positive_w;
use crate::training::TrainingData;

/// The quaternions of all regions in a pose of the base, relative to the alignment of the control
/// points.
pub(crate) fn region_rotations(
    data: &TrainingData,
    base: &[DVec3],
    alignment: &Alignment,
) -> Vec<f64> {
    let mesh = data.examples.reference();
    let gradients = data
        .gradients
        .at(base)
        .expect("one position per vertex of the base");
    // Area-weighted mean of the deformation gradients in each region.
    let mut sums = vec![DMat3::ZERO; data.regions.count()];
    for (t, (gradient, &region)) in gradients.iter().zip(&data.regions.of_triangle).enumerate() {
        sums[region as usize] += *gradient * triangle_area(mesh.triangle_points(t));
    }

    let back = alignment.rotation.transpose();
    let mut features = Vec::with_capacity(4 * sums.len());
    for sum in sums {
        let rotation = DQuat::from_mat3(&nearest_rotation(back * sum)).normalize();
        features.extend(with_positive_w(rotation).to_array());
    }
    features
}
