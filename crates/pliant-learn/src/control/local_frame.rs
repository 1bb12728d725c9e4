//! Local frame: the rigid motion of the control points near a region.
//!
//! **Problem.** The motion of a foot is mostly that of its leg. Relative to the frame of its own
//! control points, a region moves little, so that little is left to learn.
//!
//! **Equation.** With the `k_c` nearest control points at rest `pₖ` and now `cₖ`, their distances
//! `dₖ` along the surface and weights that fall with distance,
//!
//! ```text
//! Q = argmin_R Σ wₖ |(cₖ − c̄) − R (pₖ − p̄)|²        wₖ = exp(−s (dₖ/d_last)²)        φₖ = √wₖ (Qᵀ(cₖ − c̄) − (pₖ − p̄))
//! ```
//!
//! `φ` are the features of a regression. They are zero at rest and invariant to rigid motion.
//!
//! **Source.** The neighbourhood: Huang et al., "Detail-preserving controllable deformation from
//! sparse examples", 2012, section 6.1.1. The frame is our own.

use pliant_linalg::{nearest_rotation, outer};
use pliant_mesh::glam::{DMat3, DVec3};

use super::alignment::Alignment;

/// Part of an even weight that every neighbour keeps in the fit. Without it, a large sharpness
/// could leave too few points to determine a rotation.
const LEAST_WEIGHT: f64 = 1e-3;

/// Part of the motion of all control points in the fit: it only decides rotations that the
/// neighbours leave open.
const GLOBAL_PART: f64 = 1e-7;

/// The control points near one region, with weights.
#[derive(Debug, Clone)]
pub(crate) struct LocalFrame {
    /// Indices into the control points, nearest first.
    pub(crate) points: Vec<u32>,
    /// The weights, of sum one.
    weights: Vec<f64>,
    rest_center: DVec3,
    /// Rest positions relative to the centre.
    rest: Vec<DVec3>,
}

/// Rotation and centre of a frame.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FramePose {
    pub(crate) rotation: DMat3,
    center: DVec3,
}

impl LocalFrame {
    /// The frame of the `count` points nearest by `distances`, with the sharpness `s` of the
    /// weights.
    pub(crate) fn new(rest: &[DVec3], distances: &[f64], count: usize, sharpness: f64) -> Self {
        let mut points: Vec<u32> = (0..rest.len() as u32).collect();
        // Nearest first; equal distances by index.
        points.sort_by(|a, b| {
            distances[*a as usize]
                .total_cmp(&distances[*b as usize])
                .then(a.cmp(b))
        });
        points.truncate(count.max(1));

        let weights = distance_weights(&points, distances, sharpness);
        let rest_center = weighted_center(&points, &weights, rest);
        let rest = points
            .iter()
            .map(|&k| rest[k as usize] - rest_center)
            .collect();

        Self {
            points,
            weights,
            rest_center,
            rest,
        }
    }

    /// The frame for positions `control` of all control points, whose common rigid motion is
    /// `global`.
    pub(crate) fn fit(&self, control: &[DVec3], global: &Alignment) -> FramePose {
        let center = weighted_center(&self.points, &self.weights, control);
        let spread: f64 = self
            .rest
            .iter()
            .zip(&self.weights)
            .map(|(p, w)| p.length_squared() * w)
            .sum();

        let mut covariance = global.rotation * (GLOBAL_PART * spread);
        for ((&k, p), w) in self.points.iter().zip(&self.rest).zip(&self.weights) {
            covariance += outer((control[k as usize] - center) * *w, *p);
        }

        FramePose {
            rotation: nearest_rotation(covariance),
            center,
        }
    }

    /// `φ`, in the unit of the scene.
    pub(crate) fn features(&self, control: &[DVec3], pose: &FramePose) -> Vec<f64> {
        let to_frame = pose.rotation.transpose();
        let mut features = Vec::with_capacity(3 * self.points.len());
        for ((&k, p), w) in self.points.iter().zip(&self.rest).zip(&self.weights) {
            let deviation = to_frame * (control[k as usize] - pose.center) - *p;
            features.extend((deviation * w.sqrt()).to_array());
        }
        features
    }

    /// The position of a point of the rest pose that moves with the frame.
    pub(crate) fn apply(&self, pose: &FramePose, rest: DVec3) -> DVec3 {
        pose.rotation * (rest - self.rest_center) + pose.center
    }
}

/// `wₖ` of sum one, for points in the order of their distance.
fn distance_weights(points: &[u32], distances: &[f64], sharpness: f64) -> Vec<f64> {
    let last = distances[*points.last().expect("there are control points") as usize];
    let weight = |k: &u32| {
        let relative = if last > 0.0 {
            distances[*k as usize] / last
        } else {
            0.0
        };
        (-sharpness * relative * relative).exp() + LEAST_WEIGHT
    };

    let total: f64 = points.iter().map(weight).sum();
    points.iter().map(|k| weight(k) / total).collect()
}

fn weighted_center(points: &[u32], weights: &[f64], positions: &[DVec3]) -> DVec3 {
    let pairs = points.iter().zip(weights);
    pairs.map(|(&k, w)| positions[k as usize] * *w).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rest() -> Vec<DVec3> {
        (0..8)
            .map(|i| DVec3::new((i * i % 7) as f64, (i * 3 % 5) as f64, i as f64 * 0.4))
            .collect()
    }

    fn distances() -> Vec<f64> {
        (0..8).map(|i| 0.5 + i as f64).collect()
    }

    fn bent() -> Vec<DVec3> {
        rest()
            .iter()
            .map(|p| *p + DVec3::new(0.1 * p.y * p.y, 0.0, 0.2 * p.x))
            .collect()
    }

    #[test]
    fn a_rigid_motion_rotates_the_frame_and_keeps_the_features() {
        let rest = rest();
        let bent = bent();
        let frame = LocalFrame::new(&rest, &distances(), 5, 4.0);
        let rotation = DMat3::from_axis_angle(DVec3::new(0.3, -1.0, 0.4).normalize(), 2.5);
        let moved: Vec<DVec3> = bent
            .iter()
            .map(|p| rotation * *p + DVec3::new(5.0, 6.0, -7.0))
            .collect();

        let before = frame.fit(&bent, &Alignment::of(&rest, &bent));
        let after = frame.fit(&moved, &Alignment::of(&rest, &moved));
        let apart = (after.rotation - rotation * before.rotation).to_cols_array();

        assert!(apart.iter().all(|x| x.abs() < 1e-9));
        // Features are invariant, points move with the frame.
        let features = frame.features(&bent, &before);
        assert!(
            features
                .iter()
                .zip(frame.features(&moved, &after))
                .all(|(a, b)| (a - b).abs() < 1e-9)
        );

        assert!(
            frame
                .apply(&after, rest[3])
                .distance(rotation * frame.apply(&before, rest[3]) + DVec3::new(5.0, 6.0, -7.0))
                < 1e-9
        );
    }

    #[test]
    fn at_rest_the_features_are_zero_and_a_point_stays() {
        let rest = rest();
        let frame = LocalFrame::new(&rest, &distances(), 7, 2.0);
        let place = frame.fit(&rest, &Alignment::of(&rest, &rest));

        assert!(
            frame
                .features(&rest, &place)
                .iter()
                .all(|x| x.abs() < 1e-12)
        );

        assert!(frame.apply(&place, DVec3::ONE).distance(DVec3::ONE) < 1e-12);
    }

    #[test]
    fn points_outside_the_neighbourhood_do_not_rotate_the_frame() {
        let rest = rest();
        let bent = bent();
        let frame = LocalFrame::new(&rest, &distances(), 5, 4.0);
        let mut pulled = bent.clone();
        pulled[6] += DVec3::new(3.0, 4.0, 5.0);

        let before = frame.fit(&bent, &Alignment::of(&rest, &bent));
        let after = frame.fit(&pulled, &Alignment::of(&rest, &pulled));
        assert!(
            (after.rotation - before.rotation)
                .to_cols_array()
                .iter()
                .all(|x| x.abs() < 1e-5)
        );

        assert_eq!(frame.points, vec![0, 1, 2, 3, 4]);
    }

    #[test]
    fn too_few_points_and_coincident_points_have_a_frame() {
        let rest = vec![DVec3::ONE; 3];
        let frame = LocalFrame::new(&rest, &[0.0; 3], 7, 4.0);
        let place = frame.fit(&rest, &Alignment::of(&rest, &rest));
        assert!(
            place.rotation.is_finite() && frame.features(&rest, &place).iter().all(|x| *x == 0.0)
        );
    }
}
