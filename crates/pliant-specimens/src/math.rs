//! Curves and rotations for procedural models, with the same bits on every machine.

use pliant_mesh::glam::{DQuat, DVec3};

pub(crate) use pliant_linalg::portable::{cos, exp, sin};
use pliant_linalg::smoothstep;

/// 0 below `from`, 1 above `to`, and a smooth cubic between.
pub(crate) fn smoothstep_between(from: f64, to: f64, x: f64) -> f64 {
    let t = ((x - from) / (to - from)).clamp(0.0, 1.0);
    smoothstep(t)
}

/// The bell `exp(-x²)`.
pub(crate) fn bell(x: f64) -> f64 {
    exp(-x * x)
}

/// The rotation about the unit vector `axis`.
pub(crate) fn rotation_about(axis: DVec3, angle_rad: f64) -> DQuat {
    let v = axis * sin(0.5 * angle_rad);
    DQuat::from_xyzw(v.x, v.y, v.z, cos(0.5 * angle_rad))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotation_by_90_degrees_about_y_maps_z_to_x() {
        let rotated = rotation_about(DVec3::Y, std::f64::consts::FRAC_PI_2) * DVec3::Z;
        assert!(rotated.distance(DVec3::X) < 1e-15);
    }
}
