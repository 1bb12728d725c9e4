//! Sums over a set of moving points, from which their best rigid motions follow without another
//! look at the points.
//!
//! **Equation.** With `n`, `Σr`, `Σp`, `Σ p rᵀ` over the points of a frame, the best rotation is
//! the one nearest to `S = Σ p rᵀ − Σp Σrᵀ / n`, the translation takes mean to mean, and what stays
//! is `Σ|p|² − |Σp|²/n + Σ|r|² − |Σr|²/n − 2 tr(Rᵀ S)`. Sums of two sets are those of their union.
//!
//! **Source.** Horn, "Closed-form solution of absolute orientation using unit quaternions", 1987.

use pliant_linalg::nearest_rotation;
use pliant_mesh::glam::{DMat3, DVec3};

use super::moving_points::Motion;

#[derive(Debug, Clone)]
pub(super) struct RigidMoments {
    count: f64,
    rest: DVec3,
    rest_square: f64,
    frames: Vec<FrameMoments>,
}

#[derive(Debug, Clone, Copy, Default)]
struct FrameMoments {
    moved: DVec3,
    moved_square: f64,
    /// `Σ p rᵀ`, which is zero for an empty set.
    cross: [DVec3; 3],
}

impl RigidMoments {
    pub(super) fn new(frames: usize) -> Self {
        Self {
            count: 0.0,
            rest: DVec3::ZERO,
            rest_square: 0.0,
            frames: vec![FrameMoments::default(); frames],
        }
    }

    pub(super) fn add(&mut self, rest: DVec3, moved: &[DVec3]) {
        self.count += 1.0;
        self.rest += rest;
        self.rest_square += rest.length_squared();
        for (frame, &place) in self.frames.iter_mut().zip(moved) {
            frame.moved += place;
            frame.moved_square += place.length_squared();
            for k in 0..3 {
                frame.cross[k] += place * rest[k];
            }
        }
    }

    pub(super) fn union(&self, other: &Self) -> Self {
        let mut union = self.clone();
        union.count += other.count;
        union.rest += other.rest;
        union.rest_square += other.rest_square;
        for (frame, more) in union.frames.iter_mut().zip(&other.frames) {
            frame.moved += more.moved;
            frame.moved_square += more.moved_square;
            for k in 0..3 {
                frame.cross[k] += more.cross[k];
            }
        }
        union
    }

    /// The best motion in each frame, and the sum of squares that stays; of no points, rest and
    /// nothing.
    pub(super) fn fit(&self) -> (Vec<Motion>, f64) {
        if self.count == 0.0 {
            return (vec![Motion::REST; self.frames.len()], 0.0);
        }
        let mean = self.rest / self.count;
        let rest_spread = self.rest_square - self.rest.dot(mean);
        let mut error = 0.0;
        let motions = self.frames.iter().map(|frame| {
            let [x, y, z] = [0, 1, 2].map(|k| frame.cross[k] - frame.moved * mean[k]);
            let covariance = DMat3::from_cols(x, y, z);
            let turn = nearest_rotation(covariance);
            let agreement = turn.x_axis.dot(x) + turn.y_axis.dot(y) + turn.z_axis.dot(z);
            let moved_mean = frame.moved / self.count;
            error += (frame.moved_square - frame.moved.dot(moved_mean) + rest_spread
                - 2.0 * agreement)
                .max(0.0);
            Motion {
                turn,
                shift: moved_mean - turn * mean,
            }
        });
        (motions.collect(), error)
    }
}

#[cfg(test)]
mod tests {
    use pliant_linalg::RigidMotion;

    use super::*;

    #[test]
    fn the_fit_is_that_of_procrustes_and_what_stays_is_measured() {
        let rest: Vec<DVec3> = (0..9)
            .map(|k| DVec3::new(f64::from(k % 3), f64::from(k * k % 5), f64::from(k) * 0.3))
            .collect();
        let moved: Vec<DVec3> = rest
            .iter()
            .map(|p| DVec3::new(p.y, -p.x, p.z * 1.3) + DVec3::ONE)
            .collect();
        let (mut all, mut halves) = (
            RigidMoments::new(1),
            [RigidMoments::new(1), RigidMoments::new(1)],
        );
        for (k, (&r, &p)) in rest.iter().zip(&moved).enumerate() {
            all.add(r, &[p]);
            halves[k % 2].add(r, &[p]);
        }
        let (motions, error) = all.fit();
        let wanted = RigidMotion::fit(&rest, &moved, None).unwrap();
        let misses: f64 = rest
            .iter()
            .zip(&moved)
            .map(|(&r, &p)| (motions[0].apply(r) - p).length_squared())
            .sum();
        assert!(
            rest.iter()
                .all(|&r| motions[0].apply(r).abs_diff_eq(wanted.apply(r), 1e-12))
        );
        assert!((misses - error).abs() < 1e-12 && misses > 0.1);
        let (_, of_union) = halves[0].union(&halves[1]).fit();
        assert!((of_union - error).abs() < 1e-12);
    }
}
