//! Polylines parametrised by arc length.
//!
//! **Equation.** With the lengths `ℓᵢ` from the start to corner `i`, the point at distance `s` is
//! `pᵢ + (s − ℓᵢ)/(ℓᵢ₊₁ − ℓᵢ) (pᵢ₊₁ − pᵢ)` on the segment that contains `s`. A closed polyline
//! continues from its start.

use glam::DVec3;

use crate::RigError;

/// A polyline with the distances of its corners from the start.
#[derive(Debug, Clone)]
pub(crate) struct Polyline {
    /// Corners; a closed polyline repeats the first at the end.
    corners: Vec<DVec3>,
    distances: Vec<f64>,
    closed: bool,
}

impl Polyline {
    /// Needs finite points, at least two different ones, or three for a closed polyline; `what`
    /// names it in errors.
    pub(crate) fn new(
        what: &'static str,
        points: &[DVec3],
        closed: bool,
    ) -> Result<Self, RigError> {
        if let Some(point) = points.iter().position(|p| !p.is_finite()) {
            return Err(RigError::PointNotFinite { what, point });
        }

        // Repeated points have no direction between them.
        let mut corners = points.to_vec();
        corners.dedup();
        if closed && corners.len() > 1 && corners.first() == corners.last() {
            corners.pop();
        }

        let needed = if closed { 3 } else { 2 };
        if corners.len() < needed {
            return Err(RigError::TooShort {
                what,
                found: corners.len(),
                needed,
            });
        }

        if closed {
            corners.push(corners[0]);
        }

        // Cumulative arc length.
        let mut distances = vec![0.0];
        for pair in corners.windows(2) {
            distances.push(distances[distances.len() - 1] + pair[0].distance(pair[1]));
        }

        Ok(Self {
            corners,
            distances,
            closed,
        })
    }

    /// From the start to the end, or once around.
    pub(crate) fn length(&self) -> f64 {
        self.distances[self.distances.len() - 1]
    }

    /// Corners; a closed polyline repeats the first at the end.
    pub(crate) fn corners(&self) -> &[DVec3] {
        &self.corners
    }

    /// The relative arc lengths of the corners, from 0 to 1.
    pub(crate) fn parameters(&self) -> Vec<f64> {
        self.distances.iter().map(|d| d / self.length()).collect()
    }

    /// The point at a relative arc length; clamped to the ends, or periodic if closed.
    pub(crate) fn at(&self, parameter: f64) -> DVec3 {
        let parameter = if self.closed {
            parameter.rem_euclid(1.0)
        } else {
            parameter.clamp(0.0, 1.0)
        };
        let distance = parameter * self.length();

        let next = self.distances.partition_point(|&d| d <= distance);
        let segment = next.clamp(1, self.corners.len() - 1) - 1;
        let step = self.distances[segment + 1] - self.distances[segment];

        // Corners may be closer than the rounding of their distances.
        let along = if step > 0.0 {
            (distance - self.distances[segment]) / step
        } else {
            0.0
        };

        self.corners[segment].lerp(self.corners[segment + 1], along.clamp(0.0, 1.0))
    }

    /// `count` points at equal arc length, including both ends; the start only once if closed.
    pub(crate) fn samples(&self, count: usize) -> Vec<DVec3> {
        self.sample_parameters(count)
            .map(|parameter| self.at(parameter))
            .collect()
    }

    /// The relative arc lengths of [`samples`](Self::samples).
    pub(crate) fn sample_parameters(&self, count: usize) -> impl Iterator<Item = f64> + use<> {
        let steps = if self.closed { count } else { count.max(2) - 1 };
        (0..count).map(move |k| k as f64 / steps as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_of_a_square_lie_at_equal_arc_length() {
        let square = [DVec3::ZERO, DVec3::X, DVec3::new(1.0, 1.0, 0.0), DVec3::Y];
        let around = Polyline::new("a curve", &square, true).unwrap();
        assert_eq!(around.length(), 4.0);
        assert_eq!(around.samples(8)[7], DVec3::Y * 0.5);
        assert_eq!(around.at(1.25), DVec3::X, "periodic");
        let open = Polyline::new("a curve", &square, false).unwrap();
        assert_eq!(open.samples(7)[1], DVec3::X * 0.5);
        assert_eq!((open.at(-1.0), open.at(2.0)), (square[0], square[3]));
    }

    #[test]
    fn a_polyline_with_too_few_points_is_an_error() {
        let two = [DVec3::X, DVec3::Y, DVec3::X];
        assert!(matches!(
            Polyline::new("a curve", &[DVec3::X; 5], false),
            Err(RigError::TooShort {
                found: 1,
                needed: 2,
                ..
            })
        ));
        assert!(matches!(
            Polyline::new("a curve", &two, true),
            Err(RigError::TooShort {
                found: 2,
                needed: 3,
                ..
            })
        ));
        assert!(matches!(
            Polyline::new("a curve", &[DVec3::X, DVec3::NAN], false),
            Err(RigError::PointNotFinite { point: 1, .. })
        ));
        assert!(matches!(
            Polyline::new("a curve", &[], true),
            Err(RigError::TooShort { found: 0, .. })
        ));
    }
}
