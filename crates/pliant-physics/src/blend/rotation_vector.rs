//! Rotation vectors: logarithm, exponential, mean and unwrapping of rotations.
//!
//! **Problem.** Blend rotations of several shapes by weights so that the order of the shapes does
//! not matter, and so that a limb rotated by 200° is at 100° half way, not at −80°.
//!
//! **Equation.** `exp(ω)` rotates by `|ω|` around `ω`. The mean `R̄` of rotations `Rₛ` satisfies
//!
//! ```text
//! Σₛ wₛ log(R̄ᵀ Rₛ) = 0        R̄ ← R̄ exp(Σₛ wₛ log(R̄ᵀ Rₛ))
//! ```
//!
//! **Source.** Moakher, "Means and averaging in the group of rotations", 2002, section 5; for two
//! rotations it is Shoemake's interpolation of quaternions, 1985.
//!
//! **Departures.** `ω` and `ω + 2π ω/|ω|` are one rotation; in a traversal of the springs each
//! vertex takes the vector nearest to that of the vertex it was reached from.

use pliant_linalg::rotation_vector;
use std::f64::consts::TAU;

use pliant_mesh::glam::{DQuat, DVec3};

/// Steps of the mean, which converges at least quadratically in the spread.
const MEAN_STEPS: usize = 20;
/// Beyond this angle from the mean the rotation vector is close to its discontinuity. Chosen below
/// π.
const NEAR: f64 = 2.8;

/// The mean of weighted rotations nearest to `start`. Where one of them is almost half a turn away
/// from `start`, its direction is ambiguous, and `start` is returned.
pub(crate) fn mean_rotation(
    rotations: impl Iterator<Item = (f64, DQuat)> + Clone,
    start: DQuat,
) -> DQuat {
    let mut mean = start;
    for _ in 0..MEAN_STEPS {
        // The weighted mean of the logarithms at the current estimate.
        let mut correction = DVec3::ZERO;
        for (weight, rotation) in rotations.clone().filter(|(weight, _)| *weight != 0.0) {
            let vector = rotation_vector(mean.conjugate() * rotation);
            if vector.length() > NEAR {
                return start;
            }
            correction += vector * weight;
        }

        mean = (mean * DQuat::from_scaled_axis(correction)).normalize();
        if correction.length() < 1e-14 {
            break;
        }
    }

    mean
}

/// The rotation at `share` of the shorter arc from one rotation to another, or on its continuation.
pub(crate) fn interpolated(from: DQuat, to: DQuat, share: f64) -> DQuat {
    (from * DQuat::from_scaled_axis(rotation_vector(from.conjugate() * to) * share)).normalize()
}

/// The vector of the same rotation as `vector` that is nearest to `near`.
pub(crate) fn unwrap_towards(vector: DVec3, near: DVec3) -> DVec3 {
    // A vector without direction continues along its neighbour.
    let angle = vector.length();
    let axis = if angle > 1e-9 {
        vector / angle
    } else {
        near.normalize_or_zero()
    };
    vector + axis * (TAU * ((near.dot(axis) - angle) / TAU).round())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn vector() -> impl Strategy<Value = DVec3> {
        prop::array::uniform3(-1.7..1.7_f64).prop_map(DVec3::from_array)
    }

    proptest! {
        #[test]
        fn the_logarithm_inverts_the_exponential(vector in vector()) {
            prop_assert!(rotation_vector(DQuat::from_scaled_axis(vector)).distance(vector) < 1e-12);
        }

        #[test]
        fn the_mean_of_two_rotations_is_their_interpolation(a in vector(), b in vector(), share in 0.0..1.0_f64) {
            let a = DQuat::from_scaled_axis(a);
            let b = DQuat::from_scaled_axis(b);
            let arc = rotation_vector(a.conjugate() * b);
            prop_assume!(arc.length() < 2.7);
            let mean = mean_rotation([(1.0 - share, a), (share, b)].into_iter(), a);
            prop_assert!(rotation_vector((a * DQuat::from_scaled_axis(arc * share)).conjugate() * mean).length() < 1e-12);
        }

        #[test]
        fn an_interpolated_rotation_is_uniform_up_to_half_a_turn_and_beyond(a in vector(), axis in vector(), angle in 0.1..3.1_f64, share in -1.0..2.0_f64) {
            let a = DQuat::from_scaled_axis(a);
            let vector = axis.normalize_or_zero() * angle;
            let found = interpolated(a, a * DQuat::from_scaled_axis(vector), share);
            prop_assert!((found.dot(a * DQuat::from_scaled_axis(vector * share)).abs() - 1.0).abs() < 1e-12);
        }

        #[test]
        fn the_order_and_the_frame_do_not_matter(a in vector(), b in vector(), c in vector(), frame in vector()) {
            let a = DQuat::from_scaled_axis(a * 0.5);
            let b = DQuat::from_scaled_axis(b * 0.5);
            let c = DQuat::from_scaled_axis(c * 0.5);
            let frame = DQuat::from_scaled_axis(frame);
            let one = mean_rotation([(0.2, a), (0.3, b), (0.5, c)].into_iter(), a);
            let two = mean_rotation([(0.5, frame * c), (0.2, frame * a), (0.3, frame * b)].into_iter(), frame * c);
            prop_assert!(rotation_vector((frame * one).conjugate() * two).length() < 1e-12);
        }

        #[test]
        fn unwrapping_keeps_the_rotation_and_comes_within_half_a_turn(vector in vector(), length in 0.0..20.0_f64) {
            let near = vector.normalize_or_zero() * length;
            let found = unwrap_towards(vector, near);
            prop_assert!((DQuat::from_scaled_axis(found).dot(DQuat::from_scaled_axis(vector)).abs() - 1.0).abs() < 1e-12);
            prop_assert!(found.distance(near) < std::f64::consts::PI + 1e-9);
        }
    }
}
