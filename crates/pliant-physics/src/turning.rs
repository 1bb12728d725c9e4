//! Rotations as vectors, their mean, and their extension over a mesh beyond half a turn.
//!
//! **Problem.** Blend rotations of several shapes by weights so that the order of the shapes does
//! not matter, and so that a limb turned by 200° is half way at 100°, not at −80°.
//!
//! **Equation.** `exp(ω)` turns by `|ω|` around `ω`. The mean `R̄` of rotations `Rₛ` satisfies
//!
//! ```text
//! Σₛ wₛ log(R̄ᵀ Rₛ) = 0        R̄ ← R̄ exp(Σₛ wₛ log(R̄ᵀ Rₛ))
//! ```
//!
//! **Source.** Moakher, "Means and averaging in the group of rotations", 2002, section 5; for two
//! rotations it is Shoemake's interpolation of quaternions, 1985.
//!
//! **Ours.** `ω` and `ω + 2π ω/|ω|` are one rotation; along a walk over the springs each vertex
//! takes the one nearest to that of the vertex it was reached from.

use std::f64::consts::TAU;

use pliant_mesh::glam::{DQuat, DVec3};

/// The vector of a rotation by at most half a turn.
pub(crate) fn log(rotation: DQuat) -> DVec3 {
    let rotation = if rotation.w < 0.0 {
        -rotation
    } else {
        rotation
    };
    let sine = rotation.xyz().length();
    // Near no turn the quotient is two to the last digit, and at none it does not exist.
    let scale = if sine < 1e-12 {
        2.0
    } else {
        2.0 * sine.atan2(rotation.w) / sine
    };
    rotation.xyz() * scale
}

/// The rotation of a vector.
pub(crate) fn exp(turn: DVec3) -> DQuat {
    DQuat::from_scaled_axis(turn)
}

/// Steps of the mean; it converges by at least the square of the spread per step, so few are taken.
const MEAN_STEPS: usize = 20;
/// Beyond this angle from the mean the vector of a rotation is about to jump to the other side:
/// ours, short of π.
const NEAR: f64 = 2.8;

/// The mean of weighted rotations nearest to `start`.
///
/// Where one of them is almost half a turn from `start` it has no definite direction, and `start`
/// is returned.
pub(crate) fn mean_rotation(
    rotations: impl Iterator<Item = (f64, DQuat)> + Clone,
    start: DQuat,
) -> DQuat {
    let mut mean = start;
    for _ in 0..MEAN_STEPS {
        let mut correction = DVec3::ZERO;
        for (weight, rotation) in rotations.clone().filter(|(weight, _)| *weight != 0.0) {
            let turn = log(mean.conjugate() * rotation);
            if turn.length() > NEAR {
                return start;
            }
            correction += turn * weight;
        }
        mean = (mean * exp(correction)).normalize();
        if correction.length() < 1e-14 {
            break;
        }
    }
    mean
}

/// The rotation at `share` of the shorter way from one rotation to another, or on its continuation.
pub(crate) fn interpolated(from: DQuat, to: DQuat, share: f64) -> DQuat {
    (from * exp(log(from.conjugate() * to) * share)).normalize()
}

/// The vector of the same rotation as `turn` that is nearest to `near`.
pub(crate) fn unwrap_towards(turn: DVec3, near: DVec3) -> DVec3 {
    let angle = turn.length();
    let axis = if angle > 1e-9 {
        turn / angle
    } else {
        near.normalize_or_zero()
    };
    turn + axis * (TAU * ((near.dot(axis) - angle) / TAU).round())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn turn() -> impl Strategy<Value = DVec3> {
        prop::array::uniform3(-1.7..1.7_f64).prop_map(DVec3::from_array)
    }

    proptest! {
        #[test]
        fn a_rotation_and_its_vector_are_one(turn in turn()) {
            prop_assert!(log(exp(turn)).distance(turn) < 1e-12);
        }

        #[test]
        fn the_mean_of_two_rotations_is_their_interpolation(a in turn(), b in turn(), share in 0.0..1.0_f64) {
            let (a, b) = (exp(a), exp(b));
            let way = log(a.conjugate() * b);
            prop_assume!(way.length() < 2.7);
            let mean = mean_rotation([(1.0 - share, a), (share, b)].into_iter(), a);
            prop_assert!(log((a * exp(way * share)).conjugate() * mean).length() < 1e-12);
        }

        #[test]
        fn what_is_interpolated_turns_evenly_up_to_half_a_turn_and_beyond(a in turn(), axis in turn(), angle in 0.1..3.1_f64, share in -1.0..2.0_f64) {
            let (a, turn) = (exp(a), axis.normalize_or_zero() * angle);
            let found = interpolated(a, a * exp(turn), share);
            prop_assert!((found.dot(a * exp(turn * share)).abs() - 1.0).abs() < 1e-12);
        }

        #[test]
        fn the_order_and_the_frame_do_not_matter(a in turn(), b in turn(), c in turn(), frame in turn()) {
            let (a, b, c, frame) = (exp(a * 0.5), exp(b * 0.5), exp(c * 0.5), exp(frame));
            let one = mean_rotation([(0.2, a), (0.3, b), (0.5, c)].into_iter(), a);
            let two = mean_rotation([(0.5, frame * c), (0.2, frame * a), (0.3, frame * b)].into_iter(), frame * c);
            prop_assert!(log((frame * one).conjugate() * two).length() < 1e-12);
        }

        #[test]
        fn unwrapping_keeps_the_rotation_and_comes_within_half_a_turn(turn in turn(), length in 0.0..20.0_f64) {
            let near = turn.normalize_or_zero() * length;
            let found = unwrap_towards(turn, near);
            prop_assert!((exp(found).dot(exp(turn)).abs() - 1.0).abs() < 1e-12);
            prop_assert!(found.distance(near) < std::f64::consts::PI + 1e-9);
        }
    }
}
