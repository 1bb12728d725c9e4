//! Moments of point trajectories: sums from which the best rigid motions and their errors follow.
//!
//! **Equation.** With `n`, `Σr`, `Σp`, `Σ p rᵀ` over the points of a frame, the best rotation is
//! the one nearest to `S = Σ p rᵀ − Σp Σrᵀ / n`, the translation maps mean to mean, and the
//! remaining squared error is `Σ|p|² − |Σp|²/n + Σ|r|² − |Σr|²/n − 2 tr(Rᵀ S)`. The sums of a union
//! are those of its parts added.
//!
//! **Source.** Horn, "Closed-form solution of absolute orientation using unit quaternions", 1987.

use pliant_linalg::nearest_rotation;
use pliant_mesh::glam::{DMat3, DVec3};

use super::trajectories::Motion;

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

        for (frame, &position) in self.frames.iter_mut().zip(moved) {
            frame.moved += position;
            frame.moved_square += position.length_squared();
            for k in 0..3 {
                frame.cross[k] += position * rest[k];
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

    /// The best motion in each frame, and the remaining squared error; rest and zero for an empty
    /// set.
    pub(super) fn fit(&self) -> (Vec<Motion>, f64) {
        if self.count == 0.0 {
            return (vec![Motion::REST; self.frames.len()], 0.0);
        }

        let mean = self.rest / self.count;
        let rest_spread = self.rest_square - self.rest.dot(mean);
        let mut motions = Vec::with_capacity(self.frames.len());
        let mut error = 0.0;
        for frame in &self.frames {
            let [x, y, z] = [0, 1, 2].map(|k| frame.cross[k] - frame.moved * mean[k]);
            let rotation = nearest_rotation(DMat3::from_cols(x, y, z));
            let moved_mean = frame.moved / self.count;
            motions.push(Motion {
                linear: rotation,
                translation: moved_mean - rotation * mean,
            });

            // tr(Rᵀ S); rounding may leave a negative sum of squares.
            let trace = rotation.x_axis.dot(x) + rotation.y_axis.dot(y) + rotation.z_axis.dot(z);
            let moved_spread = frame.moved_square - frame.moved.dot(moved_mean);
            error += (moved_spread + rest_spread - 2.0 * trace).max(0.0);
        }
        (motions, error)
    }
}

#[cfg(test)]
mod tests {
    use pliant_linalg::RigidMotion;

    use super::*;

    #[test]
    fn motion_and_error_are_those_of_the_procrustes_fit() {
        let rest: Vec<DVec3> = (0..9)
            .map(|k| DVec3::new(f64::from(k % 3), f64::from(k * k % 5), f64::from(k) * 0.3))
            .collect();
        let moved: Vec<DVec3> = rest
            .iter()
            .map(|p| DVec3::new(p.y, -p.x, p.z * 1.3) + DVec3::ONE)
            .collect();

        let mut all = RigidMoments::new(1);
        let mut halves = [RigidMoments::new(1), RigidMoments::new(1)];

        for (k, (&r, &p)) in rest.iter().zip(&moved).enumerate() {
            all.add(r, &[p]);
            halves[k % 2].add(r, &[p]);
        }

        let (motions, error) = all.fit();
        let expected = RigidMotion::fit(&rest, &moved, None).unwrap();
        let squares: f64 = rest
            .iter()
            .zip(&moved)
            .map(|(&r, &p)| (motions[0].apply(r) - p).length_squared())
            .sum();

        assert!(
            rest.iter()
                .all(|&r| motions[0].apply(r).abs_diff_eq(expected.apply(r), 1e-12))
        );
        assert!((squares - error).abs() < 1e-12 && squares > 0.1);

        // Moments of the halves add up to those of the whole.
        let (_, of_union) = halves[0].union(&halves[1]).fit();
        assert!((of_union - error).abs() < 1e-12);
    }
}
