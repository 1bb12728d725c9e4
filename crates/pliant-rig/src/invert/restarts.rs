//! Further starts of a frame whose first solution does not explain it.
//!
//! **Problem.** With in-betweens and combinations a frame has several local minima. A solve from rest
//! may end in one where the bend of one slider is imitated by others.
//!
//! **Method.** A frame that the first solution explains, up to the noise of the clip, is done. Any
//! other is solved from further starts: the solution without in-betweens and combinations, the
//! middle of all ranges, the solutions of its neighbours, and then, slider by slider, other places
//! on the path of the slider with all else as it is. The lowest objective is kept. The order is
//! fixed, so that the result does not depend on the number of threads.
//!
//! **Source.** Multi-start local search: Martí, "Multi-start methods", 2003.

use super::frame_problem::{Coupling, Frame, FrameProblem};

/// Places on the path of a slider, relative to its range.
const PLACES: [f64; 5] = [0.1, 0.3, 0.5, 0.75, 1.0];
/// Sliders whose paths are searched, those that move the frame most first. *Chosen*: a frame of a
/// face uses about as many.
const MOST_SLIDERS: usize = 24;
/// Rounds over these sliders.
const ROUNDS: usize = 2;
/// A lower objective counts from this part of the energy on.
const LEAST_GAIN: f64 = 1e-12;

/// The lowest solution so far.
struct Best {
    x: Vec<f64>,
    energy: f64,
    steps: usize,
}

impl FrameProblem {
    /// Solves a frame from rest, and from further starts while `unexplained`, the mean squared
    /// distance that noise explains, is exceeded. Returns the solution and the number of
    /// linearisations.
    pub(super) fn solve_with_restarts(
        &self,
        frame: &Frame<'_>,
        unexplained: f64,
    ) -> (Vec<f64>, usize) {
        let mut best = self.attempt(frame, self.start());
        if self.is_linear() {
            return (best.x, best.steps);
        }

        for start in [self.linear_start(frame), self.middle_start()] {
            if self.is_explained(frame, &best.x, unexplained) {
                break;
            }
            self.improve(frame, &mut best, start);
        }
        self.search_paths(frame, unexplained, &mut best);
        (best.x, best.steps)
    }

    /// Whether a frame is as near as noise allows.
    pub(super) fn is_explained(&self, frame: &Frame<'_>, x: &[f64], unexplained: f64) -> bool {
        /// The root of it is a ten-thousandth of the motion of the frame.
        const ROUNDING: f64 = 1e-8;
        let distance = self.squared_error(frame, x);
        distance <= unexplained.max(ROUNDING * frame.projection.energy)
    }

    /// The better of `x` and the solution from `start`; the number of linearisations.
    pub(super) fn better_from(
        &self,
        frame: &Frame<'_>,
        x: Vec<f64>,
        start: &[f64],
    ) -> (Vec<f64>, usize) {
        let mut best = Best {
            energy: self.energy(frame, &x),
            x,
            steps: 0,
        };
        self.improve(frame, &mut best, start.to_vec());
        (best.x, best.steps)
    }

    /// Starts with one slider elsewhere on its path.
    fn search_paths(&self, frame: &Frame<'_>, unexplained: f64, best: &mut Best) {
        for _ in 0..ROUNDS {
            let before = best.energy;
            for k in self.sliders_by_motion(frame, &best.x) {
                for place in PLACES {
                    if self.is_explained(frame, &best.x, unexplained) {
                        return;
                    }
                    let mut start = best.x.clone();
                    start[k] = self.lower[k] + place * (self.upper[k] - self.lower[k]);
                    self.improve(frame, best, start);
                }
            }
            if best.energy >= before {
                return;
            }
        }
    }

    /// The sliders with a path or a combination, in descending order of their part in the frame.
    fn sliders_by_motion(&self, frame: &Frame<'_>, x: &[f64]) -> Vec<usize> {
        let force = self.linearised(frame, x).force;
        let mut sliders: Vec<usize> = (0..self.size()).filter(|&k| self.is_bent[k]).collect();
        let part = |k: usize| x[k].abs() + force[k].abs();
        sliders.sort_by(|&a, &b| part(b).total_cmp(&part(a)).then(a.cmp(&b)));
        sliders.truncate(MOST_SLIDERS);
        sliders
    }

    fn improve(&self, frame: &Frame<'_>, best: &mut Best, start: Vec<f64>) {
        let other = self.attempt(frame, start);
        best.steps += other.steps;
        if other.energy < best.energy - LEAST_GAIN * frame.projection.energy {
            best.x = other.x;
            best.energy = other.energy;
        }
    }

    fn attempt(&self, frame: &Frame<'_>, mut x: Vec<f64>) -> Best {
        let zeros = vec![0.0; self.size()];
        let uncoupled = Coupling {
            stiffness: 0.0,
            roughness: &zeros,
            pull: &zeros,
        };
        let steps = self.solve(frame, uncoupled, &mut x);
        Best {
            energy: self.energy(frame, &x),
            x,
            steps,
        }
    }

    fn middle_start(&self) -> Vec<f64> {
        let bounds = self.lower.iter().zip(&self.upper);
        bounds.map(|(lower, upper)| 0.5 * (lower + upper)).collect()
    }
}
