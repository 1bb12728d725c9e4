//! Reach: how far single sliders move the pins, and goals that are not much farther.
//!
//! **Problem.** A hand goes wherever it likes. Beyond what the sliders at a pin are made for, every
//! slider that lowers the distance by a hair goes to its limit, and the face is none that an animator
//! would make.
//!
//! **Equation.** With the displacements `d` of a pin by each slider alone, from its start to either
//! limit, the reach in the direction of the goal `m` is `R = √ν max d·m / |m|`. The goal becomes
//! `m s(|m|) / |m|`; with `c = 1.2 R`, `a = 0.7 c`, `b = c − a`:
//!
//! ```text
//! s(ℓ) = ℓ  up to a,    a + b (t − t²/4)  with t = (ℓ − a) / b  up to t = 2,    c  beyond
//! ν    = (Σ |mₖ|)² / Σ |mₖ|²          the number of pins that pull
//! ```
//!
//! So a goal is untouched while one slider could nearly reach it, and constant from 1.56 R on. More
//! pins are evidence of a pose of several sliders.
//!
//! A hand far away says a direction and no place. Seen from there, a motion across the direction costs
//! little beside one along it; a shortened goal would make it expensive, and every slider that moves the
//! pin a little aside would call for another one against it. Residuals across the direction `m̂` of a
//! shortened goal therefore count less:
//!
//! ```text
//! |r|²  becomes  (m̂·r)² + ω |r − (m̂·r) m̂|²        ω = max(1/4, (s(ℓ) / ℓ)²)
//! ```
//!
//! A goal that several sliders reach together is followed all the same: with the residual `r` of a
//! solve for the whole goal, it is lengthened again, and `ω` raised to 1, by a part `f` that falls from 1 to 0 where `|r|`
//! grows from 60 to 90 % of `|m|`, and where `|m|` grows from 1.2 to 1.7 times `R`. From there on, the
//! pose is constant.
//!
//! A short goal whose three coordinates are all given says exactly where: it is followed at any
//! distance, as nearly as the limits allow. The second fade of `f` is then from 12 to 18 % of the size
//! of the rig, and the part `f (1 − fade)`, where `|m|` grows from 1.6 to 2.4 times `R`, controls the
//! further raises of `debiasing`. Pins in the plane of a picture are gestures; they have no such part.
//!
//! Beyond reach, few sliders are better than an error that is a little smaller: with the part `h` of
//! `debiasing`, the penalty λ is multiplied by `1 + 3 (1 − h)²`.
//!
//! **Source.** Ours. `max d·m / |m|` is the support function of the convex hull of what the sliders do
//! one by one.
//!
//! **Departures.** Pins on curves keep their goals, and so do pins that no slider moves.

use pliant_mesh::glam::{DMat3, DVec3};

use super::bounded_drag::{BoundedDrag, DragGoal};
use super::debiasing::falling;
use crate::Aim;
use crate::pose::PinSystem;
use crate::pose::pin_system::ProjectedSystem;

/// The part of the longest goal up to which goals are untouched. *Chosen*.
const UNTOUCHED: f64 = 0.7;

/// Distances of goals relative to the reach between which they leave the reach of single sliders.
/// *Chosen*.
const SINGLE_FADE: [f64; 2] = [1.0, 2.0];
/// Distances of goals relative to the reach between which they leave the reach of several sliders.
/// *Measured* by eye (`drag_sheets`): up to 2.5 and 3, four to seven sliders at their limits broke the
/// mouths of three rigs in one far drag of ten; the errors of goals within reach are the same.
const SEVERAL_FADE: [f64; 2] = [1.2, 1.7];
/// The lengths of goals, relative to the size of the rig, between which they are no longer short.
/// *Chosen*: the mouth of a face is a fifth of it wide; drags that leave a feature are longer.
const SHORT_FADE: [f64; 2] = [0.12, 0.18];
/// Distances of short goals relative to the reach between which they are raised further. *Measured*
/// (ICT and facecap, paths to twice a goal): fades that begin at 1 or at 1.4 change weights twice as fast.
const NEAREST_FADE: [f64; 2] = [1.6, 2.4];
/// Residuals relative to the drag between which a goal counts as out of the reach of several sliders.
/// *Measured*, as above.
const RESIDUAL_FADE: [f64; 2] = [0.6, 0.9];

/// The least `ω`. *Chosen*: that of a goal 2.4 times as far as a single slider reaches, from where on
/// the pose is constant. *Measured* by eye (`drag_sheets`): below it, drags across the way of a lid close it.
const LEAST_LATERAL: f64 = 0.25;

/// How much more than the goals of single sliders those of several ones are raised: the bias of the
/// penalties is larger there. *Measured*, as above.
const SEVERAL_RAISE: f64 = 1.5;
/// The factor of the sparsity far beyond reach. *Measured* (88 random far drags of ICT, facecap and
/// MakeHuman, with the other settings): before, a pose moved 3.8, 3.3 and 2.7 sliders; at 4 it moves 3.2,
/// 2.9 and 2.1. At 6, sliders that move the pin along the goal, but another place most, hardly follow.
const FAR_SPARSITY: f64 = 4.0;

/// The displacements of the pins by single sliders, projected and weighted.
#[derive(Debug, Default)]
pub(super) struct Reach {
    /// For each pin the displacements by the candidates that move it; empty for pins whose goals
    /// are not shortened.
    displacements: Vec<Vec<DVec3>>,
    /// The longest goal relative to the reach; `None` shortens no goal.
    limit: Option<f64>,
}

/// Goals within reach.
pub(super) struct NearGoals {
    pub(super) displacements: Vec<DVec3>,
    /// 1 where all goals are within reach, 0 where one is far beyond it.
    pub(super) within_reach: f64,
    /// How much more a goal is raised that only several sliders reach.
    pub(super) raise: f64,
    /// The part by which a short goal is followed as nearly as the limits allow.
    pub(super) nearest: f64,
    /// 1 where all goals are short and give all three coordinates.
    short: f64,
    /// `ω` of each pin.
    lateral: Vec<f64>,
    /// The largest `|m| / R` of the pins.
    distance: f64,
    /// The largest `|m|` of the pins.
    longest: f64,
}

impl NearGoals {
    /// The factor of the sparsity.
    pub(super) fn sparsity(&self) -> f64 {
        1.0 + (FAR_SPARSITY - 1.0) * (1.0 - self.within_reach).powi(2)
    }

    /// For each pin the root of its measure of residuals, `√ω I + (1 − √ω) m̂m̂ᵀ`, with the projected
    /// and weighted `goals`; empty where all are the identity.
    pub(super) fn metric(&self, goals: &[f64]) -> Vec<DMat3> {
        if self.lateral.iter().all(|lateral| *lateral == 1.0) {
            return Vec::new();
        }

        let mut metric = Vec::with_capacity(self.lateral.len());
        for (goal, lateral) in goals.chunks_exact(3).zip(&self.lateral) {
            let across = lateral.sqrt();
            let direction = DVec3::from_slice(goal).normalize_or_zero();
            let along = DMat3::from_cols(
                direction * direction.x,
                direction * direction.y,
                direction * direction.z,
            );
            metric.push(DMat3::from_diagonal(DVec3::splat(across)) + along * (1.0 - across));
        }
        metric
    }

    /// 1 where the goals say exactly where the pins shall be, and sliders follow them there.
    pub(super) fn exact_part(&self) -> f64 {
        self.short * self.within_reach
    }

    /// 1 where all goals are short and give all three coordinates.
    fn short_part(&self, system: &PinSystem) -> f64 {
        let points = system.pins().iter().all(|pin| pin.aim == Aim::Point);
        if points {
            falling(self.longest / system.poser().size(), SHORT_FADE)
        } else {
            0.0
        }
    }
}

impl Reach {
    /// Of `candidates`, whose weights have `bounds`.
    pub(super) fn of(
        system: &PinSystem,
        at_start: &ProjectedSystem,
        candidates: &[usize],
        bounds: &[[f64; 2]],
        limit: Option<f64>,
    ) -> Self {
        let mut displacements = vec![Vec::new(); system.pins().len()];
        if limit.is_none() {
            return Self {
                displacements,
                limit,
            };
        }

        for (&slider, ends) in candidates.iter().zip(bounds) {
            for &end in ends {
                let change = end - system.weights()[slider];
                if change == 0.0 {
                    continue;
                }
                let moved = displacements_at(system, at_start, slider, end);
                for (list, displacement) in displacements.iter_mut().zip(moved) {
                    if displacement != DVec3::ZERO {
                        list.push(displacement);
                    }
                }
            }
        }

        for (list, pin) in displacements.iter_mut().zip(system.pins()) {
            if matches!(pin.aim, Aim::Curve(_)) {
                list.clear();
            }
        }

        Self {
            displacements,
            limit,
        }
    }

    /// Whether goals keep their lengths.
    pub(super) fn is_unlimited(&self) -> bool {
        self.limit.is_none()
    }

    /// Shortens `displacements`, whose projected and weighted form is `goals`.
    pub(super) fn shorten(&self, displacements: &[DVec3], goals: &[f64]) -> NearGoals {
        let mut near = NearGoals {
            displacements: displacements.to_vec(),
            within_reach: 1.0,
            raise: 1.0,
            nearest: 0.0,
            short: 0.0,
            lateral: vec![1.0; displacements.len()],
            distance: 0.0,
            longest: 0.0,
        };
        let Some(limit) = self.limit else {
            return near;
        };

        let goals: Vec<DVec3> = goals.chunks_exact(3).map(DVec3::from_slice).collect();
        let pulling = self.pulling_pins(&goals).sqrt();
        for (k, goal) in goals.iter().enumerate() {
            let length = goal.length();
            if length == 0.0 || self.displacements[k].is_empty() {
                continue;
            }

            let direction = *goal / length;
            let farthest = self.displacements[k].iter().map(|d| d.dot(direction));
            let reach = pulling * farthest.fold(0.0, f64::max);
            near.distance = near.distance.max(length / reach);
            near.longest = near.longest.max(displacements[k].length().min(length));
            let part = shortened(length, limit * reach) / length;
            near.displacements[k] *= part;
            near.lateral[k] = (part * part).max(LEAST_LATERAL);
        }

        near.within_reach = falling(near.distance, SINGLE_FADE);
        near
    }

    /// `ν`, at least 1.
    fn pulling_pins(&self, goals: &[DVec3]) -> f64 {
        let (mut sum, mut squares) = (0.0, 0.0);
        for (goal, displacements) in goals.iter().zip(&self.displacements) {
            if !displacements.is_empty() {
                sum += goal.length();
                squares += goal.length_squared();
            }
        }

        if squares > 0.0 {
            (sum * sum / squares).max(1.0)
        } else {
            1.0
        }
    }
}

impl BoundedDrag {
    /// Lengthens the goals `near` again by the part of `whole` that several sliders together reach.
    pub(super) fn follow(
        &mut self,
        whole: &DragGoal<'_>,
        mut near: NearGoals,
        weights: &mut [f64],
    ) -> NearGoals {
        near.short = near.short_part(whole.system);
        let short = near.short;
        let reachable = falling(near.distance, SEVERAL_FADE).max(short);
        if !self.debiasing || reachable == 0.0 || near.displacements == whole.displacements {
            return near;
        }

        let unlimited = DragGoal {
            step_limit: None,
            rough: true,
            ..*whole
        };
        self.solve_goal(&unlimited, weights);
        let residual = whole.residual_norm(weights) / whole.length;
        let followed = reachable * falling(residual, RESIDUAL_FADE);
        for (near, whole) in near.displacements.iter_mut().zip(whole.displacements) {
            *near += (*whole - *near) * followed;
        }
        for lateral in &mut near.lateral {
            *lateral += (1.0 - *lateral) * followed;
        }
        near.nearest = short.min(followed) * (1.0 - falling(near.distance, NEAREST_FADE));
        near.raise = 1.0 + (SEVERAL_RAISE - 1.0) * followed * (1.0 - near.within_reach);
        near.within_reach = near.within_reach.max(followed);
        near
    }
}

/// The displacements of the pins when `slider` alone goes from its start to the weight `end`.
fn displacements_at(
    system: &PinSystem,
    at_start: &ProjectedSystem,
    slider: usize,
    end: f64,
) -> Vec<DVec3> {
    if system.is_constant() {
        let change = end - system.weights()[slider];
        let column = at_start.column(slider).chunks_exact(3);
        return column.map(|b| DVec3::from_slice(b) * change).collect();
    }

    // An in-between may start in another direction than it ends.
    let mut weights = system.weights().to_vec();
    weights[slider] = end;
    let moved = system.positions_at(&weights);
    let mut displacements = Vec::with_capacity(moved.len());
    for ((pin, &from), to) in system.pins().iter().zip(system.positions()).zip(moved) {
        let (projection, _) = pin.aim.projection_and_goal(from, to);
        displacements.push(projection * pin.stiffness.sqrt() * (to - from));
    }

    displacements
}

/// `s(ℓ)` with the longest length `c`.
fn shortened(length: f64, longest: f64) -> f64 {
    let untouched = UNTOUCHED * longest;
    let rest = longest - untouched;
    if length <= untouched {
        return length;
    }

    let t = (length - untouched) / rest;
    if t < 2.0 {
        untouched + rest * (t - 0.25 * t * t)
    } else {
        longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_untouched_near_constant_far_and_shortened_smoothly_between() {
        assert_eq!(shortened(0.5, 1.0), 0.5);
        assert_eq!(shortened(0.7, 1.0), 0.7);
        assert!((shortened(1.3, 1.0) - 1.0).abs() < 1e-15);
        assert_eq!(shortened(1e9, 1.0), 1.0);
        assert_eq!(shortened(1.0, 0.0), 0.0);

        // The slope falls from 1 to 0 and nowhere rises.
        let step = 1e-3;
        let mut slope = 1.0 + 1e-9;
        for k in 0..2000 {
            let at = f64::from(k) * step;
            let next = (shortened(at + step, 1.0) - shortened(at, 1.0)) / step;
            assert!(next <= slope + 1e-9 && next >= 0.0, "{at}: {next} {slope}");
            slope = next;
        }
    }
}
