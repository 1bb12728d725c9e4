//! Sliders that exclude each other: declared pairs and opposites.

use super::bounded_drag::{BoundedDrag, DragGoal};
use crate::SliderId;
use crate::pose::{Outcome, PinSystem};

/// Of two opposites one stays if the other is weaker than this part of it. *Chosen*.
const SIMILAR_STRENGTH: f64 = 0.7;
/// The bounds of a slider that is excluded from a solve.
const EXCLUDED: [f64; 2] = [0.0; 2];

/// Two sliders that are in use and must not be used together.
pub(super) enum Exclusion {
    /// A pair that the rig declares as exclusive.
    Declared([usize; 2]),
    /// Mirror images that undo each other.
    Opposites([usize; 2]),
}

/// A solve with one slider of an exclusive pair at zero.
struct Alternative {
    excluded: usize,
    objective: f64,
    outcome: Outcome,
    weights: Vec<f64>,
    x: Vec<f64>,
}

impl BoundedDrag {
    /// The first pair that is used against an exclusion, declared pairs first.
    pub(super) fn violated_exclusion(
        &self,
        system: &PinSystem<'_>,
        weights: &[f64],
    ) -> Option<Exclusion> {
        for pair in system.rig().exclusive_pairs() {
            let pair = pair.map(SliderId::index);
            if self.violates(pair, system, weights) {
                return Some(Exclusion::Declared(pair));
            }
        }

        for opposites in &self.penalties.opposites {
            let pair = opposites.map(|k| self.candidates[k]);
            if self.violates(pair, system, weights) {
                return Some(Exclusion::Opposites(pair));
            }
        }

        None
    }

    /// Whether both sliders are away from zero, the drag moved one of them there, and one of them
    /// can still be excluded.
    fn violates(&self, pair: [usize; 2], system: &PinSystem<'_>, weights: &[f64]) -> bool {
        pair.iter().all(|&slider| weights[slider] != 0.0)
            && pair.iter().any(|&slider| system.weights()[slider] == 0.0)
            && pair
                .iter()
                .any(|&slider| self.free_candidate(slider).is_some())
    }

    /// The index of a slider among the candidates, if it is one and not excluded.
    fn free_candidate(&self, slider: usize) -> Option<usize> {
        let k = self.candidates.binary_search(&slider).ok()?;
        (self.bounds[k] != EXCLUDED).then_some(k)
    }

    /// Solves without the weaker of two opposites, or without both if they are about as strong:
    /// then only their common part helped, and the goal asks for neither side.
    pub(super) fn solve_without_weaker(
        &mut self,
        pair: [usize; 2],
        goal: &DragGoal<'_>,
        weights: &mut [f64],
    ) -> Outcome {
        let [a, b] = pair.map(|slider| {
            let found = self.candidates.binary_search(&slider);
            found.expect("opposites are candidates")
        });

        let strength_a = self.x[a].abs();
        let strength_b = self.x[b].abs();
        if SIMILAR_STRENGTH * strength_a <= strength_b {
            self.bounds[a] = EXCLUDED;
        }
        if SIMILAR_STRENGTH * strength_b <= strength_a {
            self.bounds[b] = EXCLUDED;
        }

        self.solve_debiased(goal, weights)
    }

    /// Solves with either slider of a pair at zero, keeps the solution with the lower objective,
    /// and excludes its slider from later solves of this drag.
    pub(super) fn solve_without_either(
        &mut self,
        pair: [usize; 2],
        goal: &DragGoal<'_>,
        weights: &mut [f64],
    ) -> Outcome {
        let free = pair.map(|slider| self.free_candidate(slider));
        let mut best: Option<Alternative> = None;
        for k in free.into_iter().flatten() {
            let alternative = self.solve_without(k, goal, weights);
            if best
                .as_ref()
                .is_none_or(|best| alternative.objective < best.objective)
            {
                best = Some(alternative);
            }
        }

        let best = best.expect("a violated exclusion has a free slider");
        self.bounds[best.excluded] = EXCLUDED;
        weights.copy_from_slice(&best.weights);
        self.x = best.x;

        best.outcome
    }

    fn solve_without(
        &mut self,
        excluded: usize,
        goal: &DragGoal<'_>,
        weights: &mut [f64],
    ) -> Alternative {
        // The bounds are restored, so that both alternatives start from the same problem.
        let bounds = std::mem::replace(&mut self.bounds[excluded], EXCLUDED);
        let outcome = self.solve_debiased(goal, weights);
        self.bounds[excluded] = bounds;

        Alternative {
            excluded,
            objective: self.objective(goal, weights),
            outcome,
            weights: weights.to_vec(),
            x: self.x.clone(),
        }
    }
}
