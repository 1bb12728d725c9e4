//! The rigid frame of a few control points, and how they lie in it.
//!
//! **Problem.** What a foot does is mostly where its leg has taken it. Say how a region turns
//! *relative to its own control points*, and little is left to learn.
//!
//! **Equation.** With the `k_c` nearest control points at rest `pₖ` and now `cₖ`, their distances
//! `dₖ` along the surface and weights that fall with them,
//!
//! ```text
//! Q = argmin_R Σ wₖ |(cₖ − c̄) − R (pₖ − p̄)|²        wₖ = exp(−s (dₖ/d_last)²)        φₖ = √wₖ (Qᵀ(cₖ − c̄) − (pₖ − p̄))
//! ```
//!
//! `φ` are the features to learn from: zero at rest, and untouched by rigid motion.
//!
//! **Source.** The neighbourhood: Huang et al., "Detail-preserving controllable deformation from
//! sparse examples", 2012, section 6.1.1. The frame is *ours*.

use pliant_linalg::{nearest_rotation, outer};
use pliant_mesh::glam::{DMat3, DVec3};

use crate::control_points::Alignment;

/// Part of an even weight that every neighbour keeps in the fit, so that a sharp weight cannot
/// leave points on a line.
const LEAST_WEIGHT: f64 = 1e-3;

/// Part of the motion of all control points in the fit: decides a turn that the neighbours leave
/// open, and nothing else.
const GLOBAL_PART: f64 = 1e-7;

/// The neighbourhood of one region.
#[derive(Debug, Clone)]
pub(crate) struct LocalFrame {
    /// Indices into the control points, nearest first.
    pub(crate) points: Vec<u32>,
    /// Of sum one.
    weights: Vec<f64>,
    rest_center: DVec3,
    /// From the centre.
    rest: Vec<DVec3>,
}

/// Where a frame is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FramePlace {
    pub(crate) rotation: DMat3,
    center: DVec3,
}

impl LocalFrame {
    /// The frame of the `count` points nearest by `distances`, with the sharpness `s` of the
    /// weights.
    pub(crate) fn new(rest: &[DVec3], distances: &[f64], count: usize, sharpness: f64) -> Self {
        let mut order: Vec<u32> = (0..rest.len() as u32).collect();
        order.sort_by(|a, b| {
            distances[*a as usize]
                .total_cmp(&distances[*b as usize])
                .then(a.cmp(b))
        });
        order.truncate(count.max(1));
        let last = distances[*order.last().expect("there are control points") as usize];
        let weight = |k: &u32| {
            let relative = if last > 0.0 {
                distances[*k as usize] / last
            } else {
                0.0
            };
            (-sharpness * relative * relative).exp() + LEAST_WEIGHT
        };
        let total: f64 = order.iter().map(weight).sum();
        let weights: Vec<f64> = order.iter().map(|k| weight(k) / total).collect();
        let rest_center = order
            .iter()
            .zip(&weights)
            .map(|(&k, w)| rest[k as usize] * *w)
            .sum();
        let rest = order
            .iter()
            .map(|&k| rest[k as usize] - rest_center)
            .collect();
        Self {
            points: order,
            weights,
            rest_center,
            rest,
        }
    }

    /// The frame at the places `control` of all control points, which as a whole moved by `global`.
    pub(crate) fn place(&self, control: &[DVec3], global: &Alignment) -> FramePlace {
        let center = self
            .points
            .iter()
            .zip(&self.weights)
            .map(|(&k, w)| control[k as usize] * *w)
            .sum();
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
        FramePlace {
            rotation: nearest_rotation(covariance),
            center,
        }
    }

    /// `φ`, in the unit of the scene.
    pub(crate) fn features(&self, control: &[DVec3], place: &FramePlace) -> Vec<f64> {
        let to_frame = place.rotation.transpose();
        let neighbors = self.points.iter().zip(&self.rest).zip(&self.weights);
        neighbors
            .flat_map(|((&k, p), w)| {
                ((to_frame * (control[k as usize] - place.center) - *p) * w.sqrt()).to_array()
            })
            .collect()
    }

    /// Where a point of the rest pose is carried by the frame.
    pub(crate) fn carry(&self, place: &FramePlace, rest: DVec3) -> DVec3 {
        place.rotation * (rest - self.rest_center) + place.center
    }
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
    fn a_rigid_motion_turns_the_frame_and_leaves_the_features() {
        let (rest, bent) = (rest(), bent());
        let frame = LocalFrame::new(&rest, &distances(), 5, 4.0);
        let turn = DMat3::from_axis_angle(DVec3::new(0.3, -1.0, 0.4).normalize(), 2.5);
        let moved: Vec<DVec3> = bent
            .iter()
            .map(|p| turn * *p + DVec3::new(5.0, 6.0, -7.0))
            .collect();
        let before = frame.place(&bent, &Alignment::of(&rest, &bent));
        let after = frame.place(&moved, &Alignment::of(&rest, &moved));
        let apart = (after.rotation - turn * before.rotation).to_cols_array();
        assert!(apart.iter().all(|x| x.abs() < 1e-9));
        let features = frame.features(&bent, &before);
        assert!(
            features
                .iter()
                .zip(frame.features(&moved, &after))
                .all(|(a, b)| (a - b).abs() < 1e-9)
        );
        assert!(
            frame
                .carry(&after, rest[3])
                .distance(turn * frame.carry(&before, rest[3]) + DVec3::new(5.0, 6.0, -7.0))
                < 1e-9
        );
    }

    #[test]
    fn at_rest_the_features_are_zero_and_a_point_stays() {
        let rest = rest();
        let frame = LocalFrame::new(&rest, &distances(), 7, 2.0);
        let place = frame.place(&rest, &Alignment::of(&rest, &rest));
        assert!(
            frame
                .features(&rest, &place)
                .iter()
                .all(|x| x.abs() < 1e-12)
        );
        assert!(frame.carry(&place, DVec3::ONE).distance(DVec3::ONE) < 1e-12);
    }

    #[test]
    fn points_beyond_the_neighbourhood_do_not_turn_it() {
        let (rest, bent) = (rest(), bent());
        let frame = LocalFrame::new(&rest, &distances(), 5, 4.0);
        let mut pulled = bent.clone();
        pulled[6] += DVec3::new(3.0, 4.0, 5.0);
        let before = frame.place(&bent, &Alignment::of(&rest, &bent));
        let after = frame.place(&pulled, &Alignment::of(&rest, &pulled));
        assert!(
            (after.rotation - before.rotation)
                .to_cols_array()
                .iter()
                .all(|x| x.abs() < 1e-5)
        );
        assert_eq!(frame.points, vec![0, 1, 2, 3, 4]);
    }

    #[test]
    fn fewer_points_than_asked_and_points_in_one_place_have_a_frame() {
        let rest = vec![DVec3::ONE; 3];
        let frame = LocalFrame::new(&rest, &[0.0; 3], 7, 4.0);
        let place = frame.place(&rest, &Alignment::of(&rest, &rest));
        assert!(
            place.rotation.is_finite() && frame.features(&rest, &place).iter().all(|x| *x == 0.0)
        );
    }
}
