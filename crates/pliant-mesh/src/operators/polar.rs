//! Polar decomposition of a deformation gradient: `F = R S`.
//!
//! **Equation.** `R` is the proper rotation nearest to `F` and `S = Rᵀ F` is symmetric.
//! Where `det F > 0`, `S` is positive definite and this is the polar decomposition; where a
//! triangle is inverted or flattened, `R` stays a rotation (det +1) and `S`
//! carries the inversion as negative or zero stretch.

use glam::DMat3;
use pliant_linalg::nearest_rotation;

/// The polar decomposition of a deformation gradient: `F = rotation · stretch`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Polar {
    /// A rotation, det +1.
    pub rotation: DMat3,
    /// A symmetric matrix.
    pub stretch: DMat3,
}

impl Polar {
    /// Decomposes `gradient`.
    #[must_use]
    pub fn of(gradient: DMat3) -> Self {
        let rotation = nearest_rotation(gradient);
        let product = rotation.transpose() * gradient;

        // The product is symmetric up to rounding; the mean makes it exactly so, which callers rely
        // on.
        Self {
            rotation,
            stretch: (product + product.transpose()) * 0.5,
        }
    }

    /// `rotation · stretch`.
    #[must_use]
    pub fn product(&self) -> DMat3 {
        self.rotation * self.stretch
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;
    use proptest::prelude::*;

    fn largest(m: DMat3) -> f64 {
        m.to_cols_array()
            .into_iter()
            .fold(0.0, |a: f64, b| a.max(b.abs()))
    }

    proptest! {
        #[test]
        fn rotation_times_stretch_is_the_gradient_also_for_inverted_ones(m in prop::array::uniform9(-2.0..2.0_f64)) {
            let gradient = DMat3::from_cols_array(&m);
            let polar = Polar::of(gradient);
            prop_assert!(largest(polar.product() - gradient) < 1e-11);
            prop_assert!((polar.rotation.determinant() - 1.0).abs() < 1e-13);
            prop_assert!(polar.stretch == polar.stretch.transpose());
        }
    }

    #[test]
    fn a_known_rotation_and_stretch_are_recovered() {
        let rotation = DMat3::from_axis_angle(DVec3::new(1.0, -1.0, 0.5).normalize(), 2.9);
        let stretch = DMat3::from_cols(
            DVec3::new(2.0, 0.3, 0.1),
            DVec3::new(0.3, 1.0, -0.2),
            DVec3::new(0.1, -0.2, 0.7),
        );

        let polar = Polar::of(rotation * stretch);
        assert!(
            largest(polar.rotation - rotation) < 1e-14 && largest(polar.stretch - stretch) < 1e-14
        );
    }
}
