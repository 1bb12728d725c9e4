//! Exaggeration: poses displace no vertex much farther than single sliders do.
//!
//! **Problem.** Two sliders that move the same place are each made to be used up to their limits, and
//! seldom both: a lid that closes and one that looks down together close twice.
//!
//! **Equation.** The landmarks are the vertices that each slider moves most. With the displacement
//! `p(w)` of a landmark from the neutral, and the largest one `M` that a single slider gives it, the
//! change `Δ` of a drag is shortened to `tΔ`, `t ≤ 1`, such that at every landmark
//!
//! ```text
//! |p(w₀) + t (p(w₀ + Δ) − p(w₀))| ≤ max((1 + 0.1 h + f) M, |p(w₀)|)
//! ```
//!
//! Within reach (`h = 1` of `debiasing`) several sliders together may go a little farther, and up to
//! twice as far where a short goal is followed as nearly as limits allow (`f`; see `reach`). The lids
//! are an exception, `f = 0`: they would pass through each other.
//!
//! **Source.** Ours.

use pliant_mesh::glam::DVec3;

use super::bounded_drag::{BoundedDrag, DragGoal};
use super::reach::NearGoals;
use crate::model::SurfaceGram;
use crate::{Feature, Rig, Target};

/// How much farther than single sliders several ones move a landmark within reach. *Chosen*.
const SLACK: f64 = 0.1;

/// A vertex that some slider moves more than any other vertex.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::pose) struct Landmark {
    vertex: usize,
    /// `M`.
    largest: f64,
    /// Whether a slider of a lid moves the vertex at least half as far.
    on_lid: bool,
}

/// The landmarks of a rig, by vertex.
pub(in crate::pose) fn landmarks(rig: &Rig) -> Vec<Landmark> {
    let mut largest = vec![0.0_f64; rig.neutral().vertex_count()];
    let mut by_lids = vec![0.0_f64; rig.neutral().vertex_count()];
    let mut vertices = Vec::new();
    for (target, slider) in rig.targets().iter().zip(rig.sliders()) {
        let limit = slider.limits.max.abs().max(slider.limits.min.abs());
        let is_of_lid = Feature::of_name(&target.name) == Some(Feature::Lid);
        let mut most = (0.0, 0);
        for (&v, delta) in target.vertices.iter().zip(&target.deltas) {
            let length = limit * delta.as_dvec3().length();
            largest[v as usize] = largest[v as usize].max(length);
            if is_of_lid {
                by_lids[v as usize] = by_lids[v as usize].max(length);
            }
            if length > most.0 {
                most = (length, v as usize);
            }
        }
        for in_between in &target.in_betweens {
            for (&v, delta) in in_between.vertices.iter().zip(&in_between.deltas) {
                largest[v as usize] = largest[v as usize].max(delta.as_dvec3().length());
            }
        }
        if most.0 > 0.0 {
            vertices.push(most.1);
        }
    }

    vertices.sort_unstable();
    vertices.dedup();
    let landmark = |vertex| Landmark {
        vertex,
        largest: largest[vertex],
        on_lid: by_lids[vertex] >= 0.5 * largest[vertex],
    };
    vertices.into_iter().map(landmark).collect()
}

/// The largest displacement by each target at weight 1.
pub(in crate::pose) fn peaks(rig: &Rig) -> Vec<f64> {
    let peak = |target: &Target| {
        let lengths = target.deltas.iter().map(|delta| delta.length());
        f64::from(lengths.fold(0.0, f32::max))
    };
    rig.targets().iter().map(peak).collect()
}

impl BoundedDrag {
    /// Shortens the change of the weights for landmarks and walls.
    pub(super) fn limit_exaggeration(
        &mut self,
        goal: &DragGoal<'_>,
        near: &NearGoals,
        weights: &mut [f64],
    ) {
        if self.reach.is_unlimited() || !self.may_shrink(goal) {
            return;
        }

        let system = goal.system;
        let activation = system.rig().activation();
        let start = activation.coefficients(system.weights());
        let end = activation.coefficients(weights);
        let gram = system.poser().gram();
        let slack = 1.0 + SLACK * near.within_reach;
        let mut fraction = 1.0_f64;
        for landmark in system.poser().landmarks() {
            let nearest = if landmark.on_lid { 0.0 } else { near.nearest };
            fraction = fraction.min(landmark.fraction(gram, &start, &end, slack + nearest));
        }
        // Goals that say exactly where to go are followed; a hand that pulls is stopped.
        let exact = near.exact_part();
        for wall in system.poser().walls() {
            let stopped = wall.fraction(&start, &end);
            fraction = fraction.min(stopped + (1.0 - stopped) * exact);
        }

        if fraction < 1.0 {
            self.x.iter_mut().for_each(|x| *x *= fraction);
            self.write_weights(system, weights);
        }
    }
}

impl Landmark {
    /// `t` of this landmark between two poses.
    fn fraction(&self, gram: &SurfaceGram, start: &[f64], end: &[f64], slack: f64) -> f64 {
        let from = gram.displacement(self.vertex, start);
        let step = gram.displacement(self.vertex, end) - from;
        let bound = (slack * self.largest).max(from.length());
        first_crossing(from, step, bound)
    }
}

/// The largest `t ≤ 1` with `|from + t step| ≤ bound`, where `|from| ≤ bound`.
fn first_crossing(from: DVec3, step: DVec3, bound: f64) -> f64 {
    if (from + step).length() <= bound {
        return 1.0;
    }

    // a t² + 2 b t − c = 0 with c ≥ 0.
    let a = step.length_squared();
    let b = from.dot(step);
    let c = (bound * bound - from.length_squared()).max(0.0);
    let root = (b * b + a * c).sqrt();
    ((root - b) / a).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_ends_where_it_leaves_the_sphere() {
        let from = DVec3::new(0.3, -0.2, 0.1);
        let step = DVec3::new(1.0, 2.0, -0.5);
        let t = first_crossing(from, step, 0.9);
        assert!(((from + step * t).length() - 0.9).abs() < 1e-12);
        assert_eq!(first_crossing(from, step * 0.01, 0.9), 1.0);
        assert!(first_crossing(DVec3::X, DVec3::X, 1.0) == 0.0);
    }
}
