//! Quadric error metrics: sums of squared distances from planes.

use std::ops::AddAssign;

use glam::DVec3;

/// `Q(p) = Σ w (n·p − d)²` over some planes, as the ten numbers of `pᵀ A p + 2 bᵀ p + c` and the
/// sum of the `w`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Quadric {
    diagonal: DVec3,
    /// `A`'s entries yz, zx and xy.
    mixed: DVec3,
    linear: DVec3,
    constant: f64,
    pub(super) weight: f64,
}

impl AddAssign for Quadric {
    fn add_assign(&mut self, other: Self) {
        self.diagonal += other.diagonal;
        self.mixed += other.mixed;
        self.linear += other.linear;
        self.constant += other.constant;
        self.weight += other.weight;
    }
}

impl Quadric {
    /// The plane through `point` with unit normal `n`, with weight `w`.
    pub(super) fn of_plane(n: DVec3, point: DVec3, weight: f64) -> Self {
        let d = n.dot(point);
        Self {
            diagonal: n * n * weight,
            mixed: DVec3::new(n.y * n.z, n.z * n.x, n.x * n.y) * weight,
            linear: n * (-d * weight),
            constant: d * d * weight,
            weight,
        }
    }

    fn times(&self, p: DVec3) -> DVec3 {
        let (d, m) = (self.diagonal, self.mixed);
        DVec3::new(
            d.x * p.x + m.z * p.y + m.y * p.z,
            m.z * p.x + d.y * p.y + m.x * p.z,
            m.y * p.x + m.x * p.y + d.z * p.z,
        )
    }

    /// `Q(p)`; rounding can leave it a little below zero.
    pub(super) fn at(&self, p: DVec3) -> f64 {
        p.dot(self.times(p)) + 2.0 * self.linear.dot(p) + self.constant
    }

    /// The minimum of `Q` near a point; in directions that the planes do not determine, `near`
    /// decides.
    ///
    /// Two proximal steps, each to the minimum of `Q(p) + ridge · weight · |p − last|²`: determined
    /// directions are reached to the square of `ridge`, the others keep their coordinates.
    pub(super) fn minimizer(&self, near: DVec3, ridge: f64) -> DVec3 {
        let d = self.diagonal + DVec3::splat(ridge * self.weight);
        let m = self.mixed;

        // A Cholesky factor of the 3 × 3 matrix; the ridge keeps every pivot positive.
        let l11 = d.x.sqrt();
        let (l21, l31) = (m.z / l11, m.y / l11);
        let l22 = (d.y - l21 * l21).sqrt();
        let l32 = (m.x - l31 * l21) / l22;
        let l33 = (d.z - l31 * l31 - l32 * l32).sqrt();

        // Forward and backward substitution with the factor.
        let solve = |r: DVec3| {
            let y1 = r.x / l11;
            let y2 = (r.y - l21 * y1) / l22;
            let y3 = (r.z - l31 * y1 - l32 * y2) / l33;
            let z = y3 / l33;
            let y = (y2 - l32 * z) / l22;
            DVec3::new((y1 - l21 * y - l31 * z) / l11, y, z)
        };

        let step = |p: DVec3| p - solve(self.times(p) + self.linear);
        let best = step(step(near));
        if best.is_finite() { best } else { near }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_shapes::random_points;

    #[test]
    fn a_quadric_sums_squared_distances_from_its_planes() {
        let samples = random_points(6, 20);
        let planes: Vec<(DVec3, DVec3)> = samples
            .chunks(2)
            .map(|pair| (pair[0].normalize(), pair[1]))
            .collect();

        let mut quadric = Quadric::default();
        for &(n, p) in planes.iter() {
            quadric += Quadric::of_plane(n, p, 2.0);
        }

        let q = DVec3::new(0.3, -0.2, 0.9);
        let expected: f64 = planes
            .iter()
            .map(|&(n, p)| 2.0 * n.dot(q - p).powi(2))
            .sum();

        assert!((quadric.at(q) - expected).abs() < 1e-13 * expected);
    }

    #[test]
    fn the_minimizer_is_where_three_planes_meet_or_the_projection_of_the_guess_onto_one() {
        let corner = DVec3::new(0.2, 0.5, -0.3);
        let mut quadric = Quadric::of_plane(DVec3::X, corner, 1.0);
        let guess = DVec3::new(0.1, 0.7, 0.1);
        let foot = DVec3::new(corner.x, guess.y, guess.z);
        assert!(quadric.minimizer(guess, 1e-6).distance(foot) < 1e-11);
        quadric += Quadric::of_plane(DVec3::new(1.0, 1.0, 0.0).normalize(), corner, 1.0);
        quadric += Quadric::of_plane(DVec3::new(1.0, 1.0, 1.0).normalize(), corner, 1.0);
        assert!(quadric.minimizer(guess, 1e-6).distance(corner) < 1e-9);
    }
}
