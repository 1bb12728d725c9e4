//! Rigid alignment of all control points with their rest positions.
//!
//! **Equation.** `Q = argmin_R Σₖ |(cₖ − c̄) − R (pₖ − p̄)|²` with the control points at rest `pₖ`
//! and now `cₖ`.
//!
//! **Source.** Kabsch, "A solution for the best rotation to relate two sets of vectors", 1976.
//!
//! **Departures.** A small multiple of the identity decides rotations that the points leave open.

use pliant_linalg::{nearest_rotation, outer};
use pliant_mesh::glam::{DMat3, DVec3};

/// Part of the identity in the covariance: for points on a line, it selects the smallest rotation.
const IDENTITY_PART: f64 = 1e-9;

/// The best rigid motion of all control points from their rest positions.
#[derive(Debug)]
pub(crate) struct Alignment {
    pub(crate) rotation: DMat3,
    rest_center: DVec3,
    center: DVec3,
}

impl Alignment {
    pub(crate) fn of(rest: &[DVec3], control: &[DVec3]) -> Self {
        let rest_center = mean(rest);
        let center = mean(control);
        let spread: f64 = rest.iter().map(|p| p.distance_squared(rest_center)).sum();

        // A small multiple of the identity makes the rotation unique if the points do not determine it.
        let mut covariance = DMat3::IDENTITY * (IDENTITY_PART * spread);
        for (p, q) in rest.iter().zip(control) {
            covariance += outer(*q - center, *p - rest_center);
        }

        Self {
            rotation: nearest_rotation(covariance),
            rest_center,
            center,
        }
    }

    /// Maps a point of the present pose to the rest pose.
    pub(crate) fn to_rest(&self, point: DVec3) -> DVec3 {
        self.rotation.transpose() * (point - self.center) + self.rest_center
    }

    /// Maps a point of the rest pose to the present pose.
    pub(crate) fn to_present(&self, point: DVec3) -> DVec3 {
        self.rotation * (point - self.rest_center) + self.center
    }
}

fn mean(points: &[DVec3]) -> DVec3 {
    points.iter().sum::<DVec3>() / points.len() as f64
}
