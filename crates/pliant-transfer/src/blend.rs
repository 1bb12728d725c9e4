//! Blending and compounding of deformations: turns along the shortest way, stretches in a straight
//! line.
//!
//! **Problem.** The mean of two matrices that turn in opposite directions is flat. Turns are to be
//! mixed as turns.
//!
//! **Equation.** With the polar parts `D = R S` and the logarithm `ω` of a rotation (its axis times
//! its angle),
//!
//! ```text
//! blend(A, B, w)   = R_A exp(w log(R_Aᵀ R_B)) · ((1 − w) S_A + w S_B)
//! power(D, w)      = exp(w log R) · ((1 − w) I + w S)
//! compound         = power(D_layer, w) · D_below
//! ```
//!
//! The first is slerp. The mean of several rotations is the point from which their weighted
//! logarithms sum to zero.
//!
//! **Source.** Wang and Lee, "Example-driven animation synthesis", 2008, section 3.2.2; Shoemake
//! and Duff, "Matrix animation and polar decomposition", 1992; for the mean, Moakher, "Means and
//! averaging in the group of rotations", 2002.
//!
//! **Ours.** A logarithm is a branch out of many, a full turn apart. `nearest_branch` picks the one
//! next to a given vector, so that a chain of neighbours that turns on beyond `π` is followed
//! instead of flipped.

use std::f64::consts::TAU;

use pliant_mesh::Polar;
use pliant_mesh::glam::{DMat3, DQuat, DVec3};

/// Below this angle the axis of a rotation is rounding noise.
const NO_AXIS: f64 = 1e-9;

/// Steps towards the mean of rotations. Measured: they leave 1e-14 rad where rotations are less
/// than a right angle apart, and 3e-6 where they are 150° apart.
const MEAN_STEPS: usize = 10;

/// Axis times angle of a rotation, the angle in `[0, π]`.
#[must_use]
pub(crate) fn rotation_log(rotation: DQuat) -> DVec3 {
    // Both signs of a quaternion are one rotation; this one turns the shorter way.
    let q = if rotation.w < 0.0 {
        -rotation
    } else {
        rotation
    };
    let axis = DVec3::new(q.x, q.y, q.z);
    let sine = axis.length();
    if sine < NO_AXIS {
        axis * 2.0
    } else {
        axis * (2.0 * sine.atan2(q.w) / sine)
    }
}

/// The rotation about `log` by its length, in radians.
#[must_use]
pub(crate) fn rotation_exp(log: DVec3) -> DQuat {
    let half = 0.5 * log.length();
    let (sine, cosine) = half.sin_cos();
    let axis = log
        * if half < NO_AXIS {
            0.5
        } else {
            0.5 * sine / half
        };
    DQuat::from_xyzw(axis.x, axis.y, axis.z, cosine)
}

/// The logarithm of the same rotation that is nearest to `reference`: `log` plus full turns about
/// its axis.
#[must_use]
pub(crate) fn nearest_branch(log: DVec3, reference: DVec3) -> DVec3 {
    let angle = log.length();
    if angle < NO_AXIS {
        // Whole turns about any axis come back to the identity; those of the reference go on.
        let turns = (reference.length() / TAU).round();
        return if turns == 0.0 {
            log
        } else {
            reference.normalize() * (turns * TAU)
        };
    }
    let turns = ((reference.dot(log) / angle - angle) / TAU).round();
    log * (1.0 + turns * TAU / angle)
}

/// The rotation that takes the turn of `from` to that of `to`, in the frame of `from`.
#[must_use]
pub(crate) fn relative_log(from: &DMat3, to: &DMat3) -> DVec3 {
    rotation_log(DQuat::from_mat3(&(from.transpose() * *to)))
}

/// The deformation a part `weight` of the way from `from` to `to`: slerp of turns, linear in
/// stretch.
#[must_use]
pub fn blend_gradients(from: DMat3, to: DMat3, weight: f64) -> DMat3 {
    let (a, b) = (Polar::of(from), Polar::of(to));
    let turn = a.rotation
        * DMat3::from_quat(rotation_exp(
            relative_log(&a.rotation, &b.rotation) * weight,
        ));
    turn * mix(a.stretch, b.stretch, weight)
}

/// `(1 − weight) a + weight b`.
#[inline]
pub(crate) fn mix(a: DMat3, b: DMat3, weight: f64) -> DMat3 {
    a * (1.0 - weight) + b * weight
}

/// The mean of several deformations by their polar parts; weights of sum one. For two it is the
/// blend of them.
///
/// # Panics
/// If there is none.
#[must_use]
pub fn mean_gradient(parts: &[(Polar, f64)]) -> DMat3 {
    let heaviest = (1..parts.len()).fold(
        0,
        |best, k| if parts[k].1 > parts[best].1 { k } else { best },
    );
    let mut rotation = parts[heaviest].0.rotation;
    for _ in 0..MEAN_STEPS {
        let step = parts
            .iter()
            .map(|(part, weight)| relative_log(&rotation, &part.rotation) * *weight)
            .sum::<DVec3>();
        rotation *= DMat3::from_quat(rotation_exp(step));
        if parts.len() < 3 || step.length_squared() < 1e-20 {
            break;
        }
    }
    rotation
        * parts.iter().fold(DMat3::ZERO, |sum, (part, weight)| {
            sum + part.stretch * *weight
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::f64::consts::PI;

    fn largest(m: DMat3) -> f64 {
        m.to_cols_array()
            .into_iter()
            .fold(0.0, |a: f64, b| a.max(b.abs()))
    }

    fn vector(size: f64) -> impl Strategy<Value = DVec3> {
        prop::array::uniform3(-size..size).prop_map(DVec3::from_array)
    }

    fn gradient() -> impl Strategy<Value = DMat3> {
        (vector(3.0), prop::array::uniform6(-0.2..0.2_f64)).prop_map(|(log, s)| {
            let stretch = DMat3::from_cols(
                DVec3::new(1.0 + s[0], s[1], s[2]),
                DVec3::new(s[1], 1.0 + s[3], s[4]),
                DVec3::new(s[2], s[4], 1.0 + s[5]),
            );
            DMat3::from_quat(rotation_exp(log)) * stretch
        })
    }

    proptest! {
        #[test]
        fn log_undoes_exp_up_to_a_half_turn_and_branches_beyond(log in vector(1.7), turns in -3..3_i32) {
            prop_assume!(log.length() < 3.1 && log.length() > 1e-3);
            prop_assert!(rotation_log(rotation_exp(log)).distance(log) < 1e-12);
            let beyond = log + log.normalize() * (f64::from(turns) * TAU);
            let found = nearest_branch(rotation_log(rotation_exp(beyond)), beyond * 1.02);
            prop_assert!(found.distance(beyond) < 1e-9, "{found} {beyond}");
        }

        #[test]
        fn the_ends_of_a_blend_are_its_parts(a in gradient(), b in gradient()) {
            prop_assert!(largest(blend_gradients(a, b, 0.0) - a) < 1e-12);
            prop_assert!(largest(blend_gradients(a, b, 1.0) - b) < 1e-12);
        }

        #[test]
        fn blending_turns_with_the_frame(a in gradient(), b in gradient(), log in vector(3.0), w in 0.0..1.0_f64) {
            let turn = DMat3::from_quat(rotation_exp(log));
            let apart = relative_log(&Polar::of(a).rotation, &Polar::of(b).rotation).length();
            prop_assume!(apart < 3.0);
            prop_assert!(largest(blend_gradients(turn * a, turn * b, w) - turn * blend_gradients(a, b, w)) < 1e-10);
        }

        #[test]
        fn the_mean_of_two_is_their_blend(a in gradient(), b in gradient(), w in 0.01..0.99_f64) {
            prop_assume!(relative_log(&Polar::of(a).rotation, &Polar::of(b).rotation).length() < 3.0);
            let mean = mean_gradient(&[(Polar::of(a), 1.0 - w), (Polar::of(b), w)]);
            prop_assert!(largest(mean - blend_gradients(a, b, w)) < 1e-11);
        }

        #[test]
        fn the_mean_of_equals_is_each_of_them(a in gradient(), w in 0.0..1.0_f64) {
            let parts = [(Polar::of(a), 0.5 * w), (Polar::of(a), 0.5 * w), (Polar::of(a), 1.0 - w)];
            prop_assert!(largest(mean_gradient(&parts) - a) < 1e-12);
        }
    }

    #[test]
    fn slerp_runs_through_the_angles_evenly() {
        let turn = |angle: f64| DMat3::from_rotation_y(angle);
        for k in 0..=10 {
            let w = f64::from(k) / 10.0;
            assert!(
                largest(blend_gradients(turn(0.3), turn(2.9), w) - turn(0.3 + 2.6 * w)) < 1e-14
            );
        }
    }

    #[test]
    fn the_mean_of_three_turns_about_one_axis_is_the_mean_angle() {
        let part = |angle: f64| Polar::of(DMat3::from_rotation_z(angle));
        let mean = mean_gradient(&[(part(0.1), 0.2), (part(0.5), 0.5), (part(1.0), 0.3)]);
        assert!(largest(mean - DMat3::from_rotation_z(0.02 + 0.25 + 0.3)) < 1e-14);
    }

    #[test]
    fn a_chain_of_turns_beyond_a_half_turn_is_followed() {
        let mut reference = DVec3::ZERO;
        for k in 0..100 {
            let angle = 0.13 * f64::from(k);
            reference = nearest_branch(rotation_log(DQuat::from_rotation_x(angle)), reference);
            assert!(
                reference.distance(DVec3::X * angle) < 1e-9,
                "{angle}: {reference}"
            );
        }
        assert!(reference.length() > 4.0 * PI);
    }

    #[test]
    fn the_power_of_the_identity_is_the_identity() {
        assert_eq!(
            blend_gradients(DMat3::IDENTITY, DMat3::IDENTITY, 0.37),
            DMat3::IDENTITY
        );
    }
}
