//! How abstract bones turn, and what they make of the surface: the ground of the published methods.
//!
//! **Equation.** The rotation of bone `j` in example `i` is the one nearest to `Σ_{t∈j} A_t D_{it}`, with the deformation gradients
//! `D` of its triangles, seen from where the control points as a whole are.

use pliant_linalg::{nearest_rotation, parallel};
use pliant_mesh::glam::{DMat3, DQuat, DVec3};
use pliant_mesh::triangle_area;

use crate::control_points::Alignment;
use crate::poisson::Poisson;
use crate::workbench::Workbench;

/// The rotations of all bones in each example, as quaternions with `w ≥ 0`.
#[derive(Debug)]
pub(crate) struct BoneTurns {
    /// By example and bone.
    pub(crate) rotations: Vec<Vec<DQuat>>,
}

impl BoneTurns {
    /// The regions of the bench are the bones.
    pub(crate) fn of(bench: &Workbench) -> Self {
        let mesh = bench.examples.reference();
        let areas: Vec<f64> = (0..bench.triangle_count()).map(|t| triangle_area(mesh.triangle_points(t))).collect();
        let rotations = parallel::map(bench.examples.count(), 1, |example| {
            let mut sums = vec![DMat3::ZERO; bench.regions.count()];
            for (t, polar) in bench.polars[example].iter().enumerate() {
                sums[bench.regions.of_triangle[t] as usize] += polar.product() * areas[t];
            }
            let back = bench.alignments[example].rotation.transpose();
            sums.iter().map(|sum| upper(DQuat::from_mat3(&nearest_rotation(back * *sum)).normalize())).collect()
        });
        Self { rotations }
    }
}

/// The one of `q` and `−q`, which are the same rotation, with `w ≥ 0`.
pub(crate) fn upper(q: DQuat) -> DQuat {
    if q.w < 0.0 { -q } else { q }
}

/// The surface whose bones turn by `rotations`, seen from where the control points are as a whole.
pub(crate) fn pose_of_bones(
    bench: &Workbench,
    poisson: &Poisson,
    control: &[DVec3],
    alignment: &Alignment,
    rotations: &[DQuat],
) -> Vec<DVec3> {
    let matrices: Vec<DMat3> = rotations.iter().map(|q| alignment.rotation * DMat3::from_quat(*q)).collect();
    let gradients: Vec<DMat3> = bench.regions.of_triangle.iter().map(|&b| matrices[b as usize]).collect();
    poisson.solve(&gradients, &bench.carried_rest(alignment), control)
}

/// Places of some control points less those at rest, seen from where all control points are as a whole.
pub(crate) fn aligned_features(bench: &Workbench, points: &[u32], control: &[DVec3], alignment: &Alignment) -> Vec<f64> {
    points.iter().flat_map(|&k| (alignment.to_rest(control[k as usize]) - bench.points[0][k as usize]).to_array()).collect()
}
