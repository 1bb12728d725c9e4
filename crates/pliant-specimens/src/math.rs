//! Curves and turns that models are made of, with the same bits on every machine.

use pliant_mesh::glam::{DQuat, DVec3};

pub(crate) use pliant_linalg::portable::{cos, exp, sin};

/// 0 below `from`, 1 above `to`, and a smooth cubic between.
pub(crate) fn smooth_step(from: f64, to: f64, x: f64) -> f64 {
    let t = ((x - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// The bell `exp(-x²)`.
pub(crate) fn bell(x: f64) -> f64 {
    exp(-x * x)
}

/// The rotation about the unit vector `axis`.
pub(crate) fn turn(axis: DVec3, angle_rad: f64) -> DQuat {
    let v = axis * sin(0.5 * angle_rad);
    DQuat::from_xyzw(v.x, v.y, v.z, cos(0.5 * angle_rad))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_turn_about_y_takes_z_to_x() {
        let turned = turn(DVec3::Y, std::f64::consts::FRAC_PI_2) * DVec3::Z;
        assert!(turned.distance(DVec3::X) < 1e-15);
    }
}
