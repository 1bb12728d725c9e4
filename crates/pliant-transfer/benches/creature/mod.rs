//! Individuals of one kind, for benches that bring two of them together.

use pliant_mesh::Mesh;
use pliant_mesh::glam::{DQuat, DVec3};
use pliant_mesh::shapes::icosphere;

/// A sphere with limbs, `limb` long, turned so that no two individuals share a point.
pub(crate) fn creature(levels: usize, limb: f64) -> Mesh {
    let ball = icosphere(levels);
    let tips = [
        DVec3::X,
        DVec3::new(-0.5, 0.8, 0.3),
        DVec3::new(-0.4, -0.7, 0.6),
        DVec3::new(0.1, 0.2, -1.0),
    ]
    .map(|d| d.normalize());

    let turn = DQuat::from_scaled_axis(DVec3::new(0.1, 0.2, 0.3) * limb);
    let grow = |p: DVec3| {
        p * (1.0
            + tips
                .iter()
                .map(|&tip| limb * (-12.0 * p.distance_squared(tip)).exp())
                .sum::<f64>())
    };

    let positions = ball.positions().iter().map(|&p| turn * grow(p)).collect();
    ball.posed(positions).expect("the same vertices")
}
