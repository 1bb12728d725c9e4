//! Sliders that are not used together, and sliders that need another one.
//!
//! **Problem.** Both sliders of a pair that the rig declares as exclusive, or of two that undo each
//! other, must not be used together. Choosing one of them makes a pose jump where the choice changes.
//! `mouthClose` closes the lips of an open jaw; without it, it pulls the lips over the nose. Cheeks are
//! puffed with closed lips.
//!
//! **Equation.** The first solve uses both of a pair, with activities `s = g |w|`. The bounds of the
//! later solves follow from it continuously, and at most one of two bounds is not zero:
//!
//! ```text
//! |wᵢ| ≤ κ max(0, sᵢ − sⱼ) / gᵢ            |wⱼ| ≤ κ max(0, sⱼ − sᵢ) / gⱼ
//! ```
//!
//! Where only slider `j` of a pair that nobody declared is in use at the start, it keeps its bounds, and
//! slider `i` alone has that of the first line; with weights in place of activities if the drag does not
//! move `j`.
//!
//! A slider `i` that needs slider `j` is bounded by the weight of `j` at the start in the first solve,
//! and then by `c = min(wᵢ, wⱼ)` of that solve: `wᵢ ≤ c ≤ wⱼ`.
//!
//! **Source.** Ours.

use super::bounded_drag::BoundedDrag;
use crate::pose::PinSystem;
use crate::{Rig, SliderId, SliderName};

/// The factor κ: how far beyond the difference of a pair its stronger slider may go. *Measured* (ICT,
/// 36 curved paths): at 3 the fastest change of a weight is twice as large, and as many goals are missed.
const BEYOND_DIFFERENCE: f64 = 1.5;
/// More pins than these tell whether sliders are meant that undo each other. *Chosen*.
const MOST_VAGUE_PINS: usize = 4;
/// Names of sliders, without separators and in lower case, that need another slider.
const NEEDS: [(&str, &str); 1] = [("mouthclose", "jawopen")];

/// Names of sliders that no face uses together: cheeks are puffed with closed lips.
const APART: [(&str, &str); 1] = [("cheekpuff", "jawopen")];

/// Pairs of sliders with rules about both.
#[derive(Debug, Default)]
pub(super) struct SliderRules {
    /// Pairs that are not used together.
    pub(super) exclusive: Vec<[usize; 2]>,
    /// Pairs of a slider at rest and the one in use that it gives way to.
    yielding: Vec<[usize; 2]>,
    /// Pairs of a slider and the one that it needs.
    pub(super) needing: Vec<[usize; 2]>,
}

impl SliderRules {
    /// The rules for a drag: pairs that the rig declares, `mirrored` and `opposing` pairs of
    /// sliders.
    ///
    /// A pair that is in use at the start stays in use. Sliders that only move against each other
    /// (`opposing`) are kept apart if few pins tell what is meant.
    pub(super) fn of(
        system: &PinSystem,
        mirrored: impl Iterator<Item = [usize; 2]>,
        opposing: impl Iterator<Item = [usize; 2]>,
    ) -> Self {
        let weights = system.weights();
        let mut apart = named_pairs(system.rig());
        if system.pins().len() <= MOST_VAGUE_PINS {
            apart.extend(opposing);
        }

        let mut exclusive = Self::declared(system, mirrored).exclusive;
        let mut yielding = Vec::new();
        for [a, b] in apart {
            match [a, b].map(|slider| weights[slider] == 0.0) {
                [true, true] => exclusive.push([a, b]),
                [true, false] => yielding.push([a, b]),
                [false, true] => yielding.push([b, a]),
                [false, false] => {}
            }
        }

        let mut needing = needing_pairs(system.rig());
        needing.retain(|[slider, needed]| weights[*slider] <= weights[*needed]);

        Self {
            exclusive,
            yielding,
            needing,
        }
    }

    /// As [`of`](Self::of) without opposing pairs and sliders that need others.
    pub(super) fn declared(system: &PinSystem, mirrored: impl Iterator<Item = [usize; 2]>) -> Self {
        let declared = system.rig().exclusive_pairs().iter();
        let declared = declared.map(|pair| pair.map(SliderId::index));
        let mut exclusive: Vec<[usize; 2]> = declared.chain(mirrored).collect();
        exclusive.retain(|pair| pair.iter().any(|&slider| system.weights()[slider] == 0.0));

        Self {
            exclusive,
            ..Self::default()
        }
    }
}

/// Pairs of sliders by name that no face uses together.
fn named_pairs(rig: &Rig) -> Vec<[usize; 2]> {
    pairs_by_name(rig, &APART)
}

/// Sliders by name whose motion only makes sense with another slider.
fn needing_pairs(rig: &Rig) -> Vec<[usize; 2]> {
    pairs_by_name(rig, &NEEDS)
}

/// The sliders that have a pair of names, both sides of each.
fn pairs_by_name(rig: &Rig, names: &[(&str, &str)]) -> Vec<[usize; 2]> {
    let stems: Vec<String> = rig
        .targets()
        .iter()
        .map(|target| SliderName::parse(&target.name).stem())
        .collect();

    let mut pairs = Vec::new();
    for (slider, stem) in stems.iter().enumerate() {
        for (name, other) in names {
            // A prefix, such as the name of the mesh, is the same for both.
            let Some(prefix) = stem.strip_suffix(name) else {
                continue;
            };
            let other = format!("{prefix}{other}");
            let others = (0..stems.len()).filter(|&k| stems[k] == other);
            pairs.extend(others.map(|k| [slider, k]));
        }
    }

    pairs
}

impl BoundedDrag {
    /// Bounds a slider by the weight at the start of the one that it needs.
    pub(super) fn bound_needing_sliders(&mut self, system: &PinSystem) {
        for [slider, needed] in self.rules.needing.clone() {
            let highest = system.weights()[needed];
            match self.candidate(slider) {
                Some(k) => self.bounds[k][1] = self.bounds[k][1].min(highest),
                None => self.keep_above(needed, system.weights()[slider]),
            }
        }
    }

    /// Narrows the bounds to the rules, with the weights of the first solve; returns whether those
    /// weights break a rule.
    pub(super) fn apply_rules(&mut self, weights: &[f64]) -> bool {
        for k in 0..self.rules.exclusive.len() {
            let [a, b] = self.rules.exclusive[k];
            let activity_a = self.activity(a, weights);
            let activity_b = self.activity(b, weights);
            self.narrow(a, activity_a - activity_b);
            self.narrow(b, activity_b - activity_a);
        }

        for k in 0..self.rules.yielding.len() {
            let [a, b] = self.rules.yielding[k];
            let difference = match (self.candidate(a), self.candidate(b)) {
                (Some(k), None) => {
                    self.penalties.extents[k] * (weights[a].abs() - weights[b].abs())
                }
                _ => self.activity(a, weights) - self.activity(b, weights),
            };
            self.narrow(a, difference);
        }

        for k in 0..self.rules.needing.len() {
            let [slider, needed] = self.rules.needing[k];
            let between = weights[slider].min(weights[needed]);
            if let Some(k) = self.candidate(slider) {
                self.bounds[k][1] = self.bounds[k][1].min(between).max(self.bounds[k][0]);
                self.keep_above(needed, between);
            }
        }

        let mut used = self.candidates.iter().map(|&slider| weights[slider]);
        let mut bounds = self.bounds.iter();
        used.any(|weight| {
            bounds
                .next()
                .is_some_and(|[low, high]| weight < *low || weight > *high)
        })
    }

    /// `g |w|`; a slider in use that the drag cannot move excludes the other one altogether.
    fn activity(&self, slider: usize, weights: &[f64]) -> f64 {
        match self.candidate(slider) {
            Some(k) => self.penalties.extents[k] * weights[slider].abs(),
            None if weights[slider] == 0.0 => 0.0,
            None => f64::MAX,
        }
    }

    /// Bounds the weight of a slider by κ times `difference` of activities.
    fn narrow(&mut self, slider: usize, difference: f64) {
        let Some(k) = self.candidate(slider) else {
            return;
        };
        let largest = BEYOND_DIFFERENCE * difference.max(0.0) / self.penalties.extents[k];
        self.bounds[k] = self.bounds[k].map(|bound| bound.clamp(-largest, largest));
    }

    fn keep_above(&mut self, slider: usize, least: f64) {
        if let Some(k) = self.candidate(slider) {
            self.bounds[k][0] = self.bounds[k][0].max(least.min(self.bounds[k][1]));
        }
    }

    /// The index of a slider among the candidates.
    fn candidate(&self, slider: usize) -> Option<usize> {
        self.candidate_of[slider]
    }
}
