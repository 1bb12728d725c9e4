//! How the regions of a base turned: what the cascaded variant predicts heights from.

use pliant_linalg::nearest_rotation;
use pliant_mesh::glam::{DMat3, DQuat, DVec3};
use pliant_mesh::triangle_area;

use crate::control_points::Alignment;
use crate::pose_graph::upper;
use crate::workbench::Workbench;

/// The quaternions of all regions in a pose of the base, seen from where the control points are as
/// a whole.
pub(crate) fn turns(bench: &Workbench, base: &[DVec3], alignment: &Alignment) -> Vec<f64> {
    let mesh = bench.examples.reference();
    let gradients = bench
        .gradients
        .at(base)
        .expect("one position per vertex of the base");
    let mut sums = vec![DMat3::ZERO; bench.regions.count()];
    for (t, (gradient, &region)) in gradients.iter().zip(&bench.regions.of_triangle).enumerate() {
        sums[region as usize] += *gradient * triangle_area(mesh.triangle_points(t));
    }
    let back = alignment.rotation.transpose();
    sums.iter()
        .flat_map(|sum| {
            upper(DQuat::from_mat3(&nearest_rotation(back * *sum)).normalize()).to_array()
        })
        .collect()
}
