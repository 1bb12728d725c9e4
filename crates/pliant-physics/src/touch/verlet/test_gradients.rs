//! Gradients by differences, and single constraints, for tests.

use pliant_mesh::glam::DVec3;

use crate::touch::projection::constraint_group::Constraint;
use crate::touch::projection::lanes::{Lanes, Vectors};

/// The same place in every lane.
pub(super) fn lone(place: DVec3) -> Vectors {
    Vectors::splat(place)
}

/// Places in the unit cube that are no line, no plane and nowhere near.
pub(super) fn scattered<const N: usize>(seed: u64) -> [DVec3; N] {
    let mut state = seed
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(0x1234_5678_9abc_def1);
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };

    // Around the corners of a tetrahedron, so that none is degenerate.
    let corners = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
    std::array::from_fn(|v| corners[v] + DVec3::new(next(), next(), next()) * 0.4)
}

/// The gradient of `value` by each place, from differences on both sides.
pub(super) fn difference_gradients<const N: usize>(
    value: impl Fn([DVec3; N]) -> f64,
    positions: [DVec3; N],
) -> [DVec3; N] {
    let step = 1e-6;
    std::array::from_fn(|v| {
        let moved = |axis: DVec3| {
            let mut positions = positions;
            positions[v] += axis * step;
            value(positions)
        };
        DVec3::AXES
            .map(|axis| (moved(axis) - moved(-axis)) / (2.0 * step))
            .into()
    })
}

/// Places after one projection.
pub(super) fn projected<const N: usize, const P: usize>(
    constraint: &impl Constraint<N, P, 0>,
    positions: [DVec3; N],
    inverse_masses: [f64; N],
    parameters: [f64; P],
) -> [DVec3; N] {
    let mut lanes = positions.map(lone);
    constraint.project(
        &mut lanes,
        &inverse_masses.map(Lanes::splat),
        &parameters.map(Lanes::splat),
        &mut [],
    );

    lanes.map(|place| place.lane(5))
}

/// The angular momentum that a move of unit masses makes.
pub(super) fn torque(before: &[DVec3], after: &[DVec3]) -> DVec3 {
    before
        .iter()
        .zip(after)
        .map(|(old, new)| old.cross(*new - *old))
        .sum()
}
