//! Similarity transformation: rotation, translation and scale of one shape onto another.
//!
//! **Equation.** `x ↦ R (s x) + t` with the least `Σ |R (s pᵢ) + t − qᵢ|²` for the rotation and the
//! translation; the scale is the ratio of the spreads, `s² = Σ |qᵢ − q̄|² / Σ |pᵢ − p̄|²`.
//!
//! **Source.** Horn, "Closed-form solution of absolute orientation using unit quaternions", 1987,
//! for the symmetric scale: the fit of `q` to `p` is the inverse, while the least-squares scale would
//! shrink in both directions.

use pliant_linalg::RigidMotion;
use pliant_mesh::glam::DVec3;

use crate::TransferError;

/// A scale about the origin, then a rigid motion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Similarity {
    /// The scale, applied first.
    pub scale: f64,
    /// The motion of the scaled shape.
    pub motion: RigidMotion,
}

impl Similarity {
    /// The identity.
    pub const IDENTITY: Self = Self {
        scale: 1.0,
        motion: RigidMotion::IDENTITY,
    };

    /// The similarity that takes `from` to `to` best; the scale is one if either has no extent.
    ///
    /// # Errors
    /// If the lists differ in length.
    pub fn fit(from: &[DVec3], to: &[DVec3]) -> Result<Self, TransferError> {
        // The ratio of the spreads: symmetric in both shapes.
        let ratio = (spread(to) / spread(from)).sqrt();
        let scale = if ratio.is_finite() && ratio > 0.0 {
            ratio
        } else {
            1.0
        };

        let scaled: Vec<DVec3> = from.iter().map(|&p| p * scale).collect();
        Ok(Self {
            scale,
            motion: RigidMotion::fit(&scaled, to, None)?,
        })
    }

    /// The image of `point`.
    #[must_use]
    pub fn apply(&self, point: DVec3) -> DVec3 {
        self.motion.apply(point * self.scale)
    }

    /// The images of all `points`.
    #[must_use]
    pub fn apply_all(&self, points: &[DVec3]) -> Vec<DVec3> {
        points.iter().map(|&p| self.apply(p)).collect()
    }
}

/// The sum of squared distances from the mean; zero for no points.
fn spread(points: &[DVec3]) -> f64 {
    let mean = points.iter().sum::<DVec3>() / points.len().max(1) as f64;
    points.iter().map(|p| p.distance_squared(mean)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_mesh::glam::DQuat;
    use pliant_mesh::shapes::bumpy_sheet;

    #[test]
    fn a_similar_copy_is_fitted_exactly_and_the_fit_back_is_the_inverse() {
        let points = bumpy_sheet(5, 0.3).positions().to_vec();
        let rotation = DQuat::from_scaled_axis(DVec3::new(1.0, -2.0, 0.5));
        let copy: Vec<DVec3> = points
            .iter()
            .map(|&p| rotation * p * 3.0 + DVec3::new(5.0, 6.0, -7.0))
            .collect();

        let there = Similarity::fit(&points, &copy).unwrap();
        let back = Similarity::fit(&copy, &points).unwrap();
        assert!(
            (there.scale - 3.0).abs() < 1e-12 && (there.scale * back.scale - 1.0).abs() < 1e-12
        );
        assert!(points.iter().zip(&copy).all(
            |(&p, &q)| there.apply(p).distance(q) < 1e-12 && back.apply(q).distance(p) < 1e-12
        ));
    }

    #[test]
    fn one_point_is_translated_without_a_scale() {
        let fit = Similarity::fit(&[DVec3::X], &[DVec3::Y]).unwrap();
        assert_eq!((fit.scale, fit.apply(DVec3::X)), (1.0, DVec3::Y));
    }
}
