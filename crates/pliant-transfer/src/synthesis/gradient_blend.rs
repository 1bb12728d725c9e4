//! Interpolation and mean of deformation gradients by their polar factors.
//!
//! **Problem.** The mean of two matrices that rotate in opposite directions is flat. Rotations are
//! interpolated as rotations.
//!
//! **Equation.** With the polar decomposition `D = R S` and the logarithm `ω` of a rotation (its
//! axis times its angle),
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
//! **Departures.** A logarithm has many branches, `2π` apart. `nearest_branch` takes the one nearest
//! to a given vector, so that a chain of neighbours that rotates beyond `π` does not flip.

use pliant_linalg::{rotation_from_vector, rotation_vector};
use std::f64::consts::TAU;

use pliant_mesh::Polar;
use pliant_mesh::glam::{DMat3, DQuat, DVec3};

/// Below this angle the axis of a rotation is rounding noise.
const NO_AXIS: f64 = 1e-9;

/// Iterations towards the mean of rotations. Measured: the error is 1e-14 rad if rotations are less
/// than 90° apart, and 3e-6 if they are 150° apart.
const MEAN_STEPS: usize = 10;

/// The rotation vector of the same rotation that is nearest to `reference`: `log` plus multiples of
/// `2π` about its axis.
#[must_use]
pub(crate) fn nearest_branch(log: DVec3, reference: DVec3) -> DVec3 {
    let angle = log.length();
    if angle < NO_AXIS {
        // Multiples of 2π about any axis are the identity; the axis of the reference continues.
        let revolutions = (reference.length() / TAU).round();
        return if revolutions == 0.0 {
            log
        } else {
            reference.normalize() * (revolutions * TAU)
        };
    }

    let revolutions = ((reference.dot(log) / angle - angle) / TAU).round();
    log * (1.0 + revolutions * TAU / angle)
}

/// The rotation vector from the rotation `from` to the rotation `to`, in the frame of `from`.
#[must_use]
pub(crate) fn relative_log(from: &DMat3, to: &DMat3) -> DVec3 {
    rotation_vector(DQuat::from_mat3(&(from.transpose() * *to)))
}

/// The interpolation from `from` to `to` by `weight`: slerp of rotations, linear in stretch.
#[must_use]
pub fn blend_gradients(from: DMat3, to: DMat3, weight: f64) -> DMat3 {
    let from = Polar::of(from);
    let to = Polar::of(to);
    let log = relative_log(&from.rotation, &to.rotation) * weight;
    let rotation = from.rotation * DMat3::from_quat(rotation_from_vector(log));
    rotation * mix(from.stretch, to.stretch, weight)
}

/// `(1 − weight) a + weight b`.
#[inline]
pub(crate) fn mix(a: DMat3, b: DMat3, weight: f64) -> DMat3 {
    a * (1.0 - weight) + b * weight
}

/// The mean of several deformations by their polar factors, with weights of sum one. The mean of
/// two is their interpolation.
///
/// # Panics
/// If the list is empty.
#[must_use]
pub fn mean_gradient(factors: &[(Polar, f64)]) -> DMat3 {
    let mut heaviest = factors[0];
    for &factor in factors {
        if factor.1 > heaviest.1 {
            heaviest = factor;
        }
    }

    // Fixed-point iteration for the mean of rotations; one step is exact for two.
    let mut rotation = heaviest.0.rotation;
    for _ in 0..MEAN_STEPS {
        let mut step = DVec3::ZERO;
        for (factor, weight) in factors {
            step += relative_log(&rotation, &factor.rotation) * *weight;
        }
        rotation *= DMat3::from_quat(rotation_from_vector(step));
        if factors.len() < 3 || step.length_squared() < 1e-20 {
            break;
        }
    }

    let mut stretch = DMat3::ZERO;
    for (factor, weight) in factors {
        stretch += factor.stretch * *weight;
    }
    rotation * stretch
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
            DMat3::from_quat(rotation_from_vector(log)) * stretch
        })
    }

    proptest! {
        #[test]
        fn log_inverts_exp_up_to_pi_and_branches_beyond(log in vector(1.7), turns in -3..3_i32) {
            prop_assume!(log.length() < 3.1 && log.length() > 1e-3);
            prop_assert!(rotation_vector(rotation_from_vector(log)).distance(log) < 1e-12);
            let beyond = log + log.normalize() * (f64::from(turns) * TAU);
            let found = nearest_branch(rotation_vector(rotation_from_vector(beyond)), beyond * 1.02);
            prop_assert!(found.distance(beyond) < 1e-9, "{found} {beyond}");
        }

        #[test]
        fn a_blend_with_weight_zero_or_one_is_an_end(a in gradient(), b in gradient()) {
            prop_assert!(largest(blend_gradients(a, b, 0.0) - a) < 1e-12);
            prop_assert!(largest(blend_gradients(a, b, 1.0) - b) < 1e-12);
        }

        #[test]
        fn a_rotated_input_gives_a_rotated_blend(a in gradient(), b in gradient(), log in vector(3.0), w in 0.0..1.0_f64) {
            let turn = DMat3::from_quat(rotation_from_vector(log));
            let apart = relative_log(&Polar::of(a).rotation, &Polar::of(b).rotation).length();
            prop_assume!(apart < 3.0);
            prop_assert!(largest(blend_gradients(turn * a, turn * b, w) - turn * blend_gradients(a, b, w)) < 1e-10);
        }

        #[test]
        fn the_mean_of_two_is_their_interpolation(a in gradient(), b in gradient(), w in 0.01..0.99_f64) {
            prop_assume!(relative_log(&Polar::of(a).rotation, &Polar::of(b).rotation).length() < 3.0);
            let mean = mean_gradient(&[(Polar::of(a), 1.0 - w), (Polar::of(b), w)]);
            prop_assert!(largest(mean - blend_gradients(a, b, w)) < 1e-11);
        }

        #[test]
        fn the_mean_of_equal_gradients_is_that_gradient(a in gradient(), w in 0.0..1.0_f64) {
            let parts = [(Polar::of(a), 0.5 * w), (Polar::of(a), 0.5 * w), (Polar::of(a), 1.0 - w)];
            prop_assert!(largest(mean_gradient(&parts) - a) < 1e-12);
        }
    }

    #[test]
    fn slerp_is_linear_in_the_angle() {
        let turn = |angle: f64| DMat3::from_rotation_y(angle);
        for k in 0..=10 {
            let w = f64::from(k) / 10.0;
            assert!(
                largest(blend_gradients(turn(0.3), turn(2.9), w) - turn(0.3 + 2.6 * w)) < 1e-14
            );
        }
    }

    #[test]
    fn the_mean_of_three_rotations_about_one_axis_has_the_mean_angle() {
        let part = |angle: f64| Polar::of(DMat3::from_rotation_z(angle));
        let mean = mean_gradient(&[(part(0.1), 0.2), (part(0.5), 0.5), (part(1.0), 0.3)]);
        assert!(largest(mean - DMat3::from_rotation_z(0.02 + 0.25 + 0.3)) < 1e-14);
    }

    #[test]
    fn a_chain_of_rotations_beyond_pi_is_followed() {
        let mut reference = DVec3::ZERO;
        for k in 0..100 {
            let angle = 0.13 * f64::from(k);
            reference = nearest_branch(rotation_vector(DQuat::from_rotation_x(angle)), reference);
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
