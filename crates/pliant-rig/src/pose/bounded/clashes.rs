//! Sliders that must not be used together.

use pliant_mesh::glam::DVec3;

use super::prepared::{Prepared, norm};
use crate::pose::system::PinSystem;
use crate::pose::{Near, Outcome};

/// Two sliders that must not be used together.
pub(super) enum Clash {
    Exclusive([usize; 2]),
    Opposites([usize; 2]),
}

/// A solve with one slider of an exclusive pair at zero.
struct Decision {
    place: usize,
    outcome: Outcome,
    weights: Vec<f64>,
    x: Vec<f64>,
}

impl Prepared {
    /// Of two opposites one stays where the other is weaker than this part of it. *Ours*.
    const ALIKE: f64 = 0.7;

    /// Two sliders that exclude each other and are both away from zero, of which the drag moved one
    /// there that is still free.
    pub(super) fn clashing_pair(&self, system: &PinSystem<'_>, weights: &[f64]) -> Option<Clash> {
        let opposites = self
            .prices
            .opposites
            .iter()
            .map(|pair| pair.map(|place| self.candidates[place]));
        let free = |slider: usize| {
            self.place(slider)
                .is_some_and(|place| self.bounds[place] != [0.0; 2])
        };
        let clashes = |pair: &[usize; 2]| {
            pair.iter().all(|&k| weights[k] != 0.0)
                && pair.iter().any(|&k| system.weights()[k] == 0.0)
                && pair.iter().any(|&k| free(k))
        };
        let exclusive = system
            .rig()
            .exclusive_pairs()
            .iter()
            .copied()
            .find(clashes)
            .map(Clash::Exclusive);
        exclusive.or_else(|| opposites.into_iter().find(clashes).map(Clash::Opposites))
    }

    fn place(&self, slider: usize) -> Option<usize> {
        self.candidates.binary_search(&slider).ok()
    }

    /// Solves without the weaker of two opposites, or without both where they are about as strong:
    /// then they were there for what they have in common, and the goal asks for neither side.
    pub(super) fn part(
        &mut self,
        pair: [usize; 2],
        system: &PinSystem<'_>,
        displacements: &[DVec3],
        near: Option<Near<'_>>,
        weights: &mut [f64],
    ) -> Outcome {
        let [a, b] = pair.map(|slider| self.place(slider).expect("opposites are candidates"));
        let [p, q] = [a, b].map(|place| self.x[place].abs());
        for (place, own, other) in [(a, p, q), (b, q, p)] {
            if Self::ALIKE * own <= other {
                self.bounds[place] = [0.0; 2];
            }
        }
        self.solve_within(system, displacements, near, weights)
    }

    /// Solves with either slider of a pair sent to zero, keeps the one whose objective is lower,
    /// and its bounds.
    pub(super) fn decide(
        &mut self,
        pair: [usize; 2],
        system: &PinSystem<'_>,
        displacements: &[DVec3],
        near: Option<Near<'_>>,
        weights: &mut [f64],
    ) -> Outcome {
        let length = norm(&system.missing(system.weights(), displacements));
        let places = pair.map(|slider| {
            self.place(slider)
                .filter(|&place| self.bounds[place] != [0.0; 2])
        });
        let mut best: Option<(f64, Decision)> = None;
        for place in places.into_iter().flatten() {
            let bounds = std::mem::replace(&mut self.bounds[place], [0.0; 2]);
            let outcome = self.solve_within(system, displacements, near, weights);
            self.bounds[place] = bounds;
            let objective = self.objective(system, displacements, weights, &self.x, length);
            if best.as_ref().is_none_or(|(lowest, ..)| objective < *lowest) {
                best = Some((
                    objective,
                    Decision {
                        place,
                        outcome,
                        weights: weights.to_vec(),
                        x: self.x.clone(),
                    },
                ));
            }
        }
        let (_, chosen) = best.expect("a clashing pair has a free slider");
        self.bounds[chosen.place] = [0.0; 2];
        weights.copy_from_slice(&chosen.weights);
        self.x = chosen.x;
        chosen.outcome
    }
}
