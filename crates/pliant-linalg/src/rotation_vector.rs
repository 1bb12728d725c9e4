//! Rotations as vectors: axis times angle, the logarithm of SO(3).
//!
//! **Equation.** For a unit quaternion `q = (v, w)` with `w ≥ 0`,
//!
//! ```text
//! log q = 2 atan2(|v|, w) v / |v|        exp ω = (sin(|ω|/2) ω / |ω|, cos(|ω|/2))
//! ```
//!
//! **Source.** Grassia, "Practical parameterization of rotations using the exponential map", 1998.

use glam::{DQuat, DVec3};

use crate::portable;

/// Below this sine or angle the quotient is its limit to the last bit.
const SMALL_ANGLE: f64 = 1e-9;

/// The rotation vector of a rotation: its axis times its angle, which is at most `π`.
#[must_use]
pub fn rotation_vector(rotation: DQuat) -> DVec3 {
    // Both signs of a quaternion are one rotation; this one has the smaller angle.
    let q = if rotation.w < 0.0 {
        -rotation
    } else {
        rotation
    };

    let axis = DVec3::new(q.x, q.y, q.z);
    let sine = axis.length();
    if sine < SMALL_ANGLE {
        axis * 2.0
    } else {
        axis * (2.0 * sine.atan2(q.w) / sine)
    }
}

/// The rotation by `|vector|` radians about `vector`.
#[must_use]
pub fn rotation_from_vector(vector: DVec3) -> DQuat {
    let half = 0.5 * vector.length();
    let (sine, cosine) = half.sin_cos();
    let scale = if half < SMALL_ANGLE {
        0.5
    } else {
        0.5 * sine / half
    };
    let axis = vector * scale;
    DQuat::from_xyzw(axis.x, axis.y, axis.z, cosine)
}

/// [`rotation_from_vector`] with the same bits on every machine.
#[must_use]
pub fn portable_rotation_from_vector(vector: DVec3) -> DQuat {
    let angle = vector.length();
    if angle < SMALL_ANGLE {
        return DQuat::from_xyzw(0.5 * vector.x, 0.5 * vector.y, 0.5 * vector.z, 1.0).normalize();
    }
    let (sine, cosine) = portable::sin_cos(0.5 * angle);
    let axis = vector * (sine / angle);
    DQuat::from_xyzw(axis.x, axis.y, axis.z, cosine)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_logarithm_of_the_exponential_is_the_vector(
            x in -1.7..1.7_f64, y in -1.7..1.7_f64, z in -1.7..1.7_f64,
        ) {
            let vector = DVec3::new(x, y, z);
            prop_assume!(vector.length() < 3.1);
            let back = rotation_vector(rotation_from_vector(vector));
            let portable = rotation_vector(portable_rotation_from_vector(vector));
            prop_assert!(back.distance(vector) < 1e-12);
            prop_assert!(portable.distance(vector) < 1e-12);
        }
    }

    #[test]
    fn a_rotation_by_90_degrees_about_z_maps_x_to_y() {
        let quarter = DVec3::Z * std::f64::consts::FRAC_PI_2;
        let rotated = rotation_from_vector(quarter) * DVec3::X;
        assert!(rotated.distance(DVec3::Y) < 1e-15);
    }

    #[test]
    fn tiny_and_zero_rotation_vectors_are_recovered() {
        for vector in [
            DVec3::ZERO,
            DVec3::X * 1e-13,
            DVec3::new(1e-10, -2e-10, 0.0),
        ] {
            let back = rotation_vector(rotation_from_vector(vector));
            assert!(back.distance(vector) <= 1e-16 * (1.0 + vector.length()));
        }
    }
}
