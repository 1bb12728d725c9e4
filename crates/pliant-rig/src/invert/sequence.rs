//! The inverse problem of a sequence of frames, with a penalty on second differences.
//!
//! **Problem.** Solved frame by frame, sliders with little effect on the frames jitter. A penalty
//! on second differences couples each frame with its two neighbours on either side.
//!
//! **Equation.** With the objectives `Eₜ` of the frames and `x` in units of moved surface
//!
//! ```text
//! min  Σₜ Eₜ(xₜ)  +  ½ Σₜ Σₖ μₖ (xₜ₋₁ − 2xₜ + xₜ₊₁)²ₖ
//! ```
//!
//! **Method.** Sweeps solve every frame exactly with its neighbours fixed (block coordinate
//! descent). Frames three apart are not coupled, so a third of them is solved in parallel, and the
//! result does not depend on the number of threads. A sweep finds the sliders at a limit or kink,
//! but propagates changes by a few frames only; between sweeps, a Newton step on all other
//! variables of all frames propagates them through the clip. Every step lowers the objective.

use pliant_linalg::{SparseMatrix, SpdSolver, parallel};
use pliant_mesh::{Progress, ProgressPart, Stopped, map_with_progress};

use super::InvertOptions;
use super::frame_problem::{Coupling, Frame, FrameProblem};

/// A clip to be solved.
pub(super) struct Sequence<'a> {
    progress: &'a dyn Progress,
    pub(super) problem: &'a FrameProblem,
    pub(super) frames: &'a [Frame<'a>],
    /// `μ`, one for each slider that may move.
    roughness: Vec<f64>,
    /// `D₂ᵀD₂`, row by row: the frames that a frame is coupled to, itself included.
    couplings: Vec<Vec<(usize, f64)>>,
}

/// How a sequence ended.
#[derive(Debug)]
pub(super) struct Solved {
    /// For each frame its sliders, in units of moved surface.
    pub(super) x: Vec<Vec<f64>>,
    pub(super) sweeps: usize,
    pub(super) linearisations: usize,
    pub(super) largest_change: f64,
    pub(super) objective: f64,
    /// For each frame.
    pub(super) kkt: Vec<f64>,
}

/// The Newton step of one slider of one frame.
#[derive(Debug, Clone, Copy)]
struct NewtonStep {
    frame: usize,
    candidate: usize,
    step: f64,
}

/// Beyond this number of entries of the joint matrix there are no Newton steps: the factorisation
/// would take a gigabyte.
const MOST_JOINT_ENTRIES: usize = 20_000_000;
/// The name of the work in progress reports.
const STAGE: &str = "solving weights";
/// The part of the work that the solves without coupling are.
const STARTS: f64 = 0.5;
/// Frames so far apart are not coupled.
const COLOURS: usize = 3;

impl<'a> Sequence<'a> {
    /// A clip with the penalty `roughness` on the curve of each slider that may move.
    pub(super) fn new(
        problem: &'a FrameProblem,
        frames: &'a [Frame<'a>],
        roughness: Vec<f64>,
        progress: &'a dyn Progress,
    ) -> Self {
        Self {
            progress,
            problem,
            frames,
            roughness,
            couplings: second_difference_rows(frames.len()),
        }
    }

    /// The same clip with other penalties on the curves.
    pub(super) fn with_roughness(self, roughness: Vec<f64>) -> Self {
        Self { roughness, ..self }
    }

    /// `μ`, one for each slider that may move.
    pub(super) fn roughness(&self) -> &[f64] {
        &self.roughness
    }

    /// Solves every frame from rest, without coupling. A frame that is further away than
    /// `unexplained`, a mean squared distance, is also solved from other starts and from its
    /// neighbours.
    pub(super) fn start(&self, unexplained: f64) -> Result<Solved, Stopped> {
        let part = ProgressPart {
            whole: self.progress,
            begin: 0.0,
            size: STARTS,
        };
        let first = map_with_progress(&part, STAGE, self.frames.len(), 1, |t| {
            self.problem
                .solve_with_restarts(&self.frames[t], unexplained)
        })?;

        let mut linearisations = first.iter().map(|(_, steps)| steps).sum();
        let mut x: Vec<Vec<f64>> = first.into_iter().map(|(x, _)| x).collect();
        if !self.problem.is_linear() {
            linearisations += self.start_from_neighbours(&mut x, unexplained)?;
        }

        Ok(Solved {
            x,
            sweeps: 1,
            linearisations,
            largest_change: 0.0,
            objective: 0.0,
            kkt: Vec::new(),
        })
    }

    /// Solves frames that are not explained from the solutions of their neighbours, forwards and
    /// backwards; returns the number of linearisations.
    fn start_from_neighbours(
        &self,
        x: &mut [Vec<f64>],
        unexplained: f64,
    ) -> Result<usize, Stopped> {
        let mut linearisations = 0;
        let forwards = (1..x.len()).map(|t| (t, t - 1));
        let backwards = (1..x.len()).rev().map(|t| (t - 1, t));
        for (t, neighbour) in forwards.chain(backwards) {
            self.progress.proceed(STAGE, STARTS)?;
            let frame = &self.frames[t];
            if self.problem.is_explained(frame, &x[t], unexplained) {
                continue;
            }
            let own = std::mem::take(&mut x[t]);
            let (better, steps) = self.problem.better_from(frame, own, &x[neighbour]);
            x[t] = better;
            linearisations += steps;
        }
        Ok(linearisations)
    }

    /// Solves the coupled problem from `solved`.
    pub(super) fn finish(
        &self,
        mut solved: Solved,
        options: &InvertOptions,
    ) -> Result<Solved, Stopped> {
        if self.is_coupled() {
            let most_sweeps = solved.sweeps + options.most_sweeps.max(2) - 1;
            self.smooth(options.tolerance, most_sweeps, &mut solved)?;
        }
        solved.objective = self.objective(&solved.x);

        // The certificate includes the coupling to the neighbours.
        solved.kkt = parallel::map(self.frames.len(), 1, |t| {
            let pull = self.pull(&solved.x, t);
            self.problem
                .certificate(&self.frames[t], self.coupling(t, &pull), &solved.x[t])
        });

        Ok(solved)
    }

    /// Whether the frames depend on each other.
    fn is_coupled(&self) -> bool {
        self.frames.len() > 2 && self.roughness.iter().any(|mu| *mu > 0.0)
    }

    /// Alternates Newton steps and sweeps until no weight changes by more than `tolerance`.
    pub(super) fn smooth(
        &self,
        tolerance: f64,
        most_sweeps: usize,
        solved: &mut Solved,
    ) -> Result<(), Stopped> {
        while solved.sweeps < most_sweeps {
            // How many sweeps are needed is not known; the share approaches 1.
            let share = |sweeps: usize| 1.0 - (1.0 - STARTS) / (1.0 + sweeps as f64 / 8.0);
            let part = ProgressPart {
                whole: self.progress,
                begin: share(solved.sweeps - 1),
                size: share(solved.sweeps) - share(solved.sweeps - 1),
            };
            self.newton_step(&mut solved.x, &part)?;
            let before = solved.x.clone();
            solved.linearisations += self.sweep(&mut solved.x, &part)?;
            solved.sweeps += 1;

            let changes = before
                .iter()
                .zip(&solved.x)
                .map(|(a, b)| self.problem.largest_change(a, b));

            solved.largest_change = changes.fold(0.0, f64::max);
            if solved.largest_change <= tolerance {
                break;
            }
        }
        Ok(())
    }

    /// Solves every frame once with its neighbours fixed; returns the number of linearisations.
    fn sweep(&self, x: &mut [Vec<f64>], progress: &dyn Progress) -> Result<usize, Stopped> {
        let mut linearisations = 0;
        for colour in 0..COLOURS {
            let part = ProgressPart {
                whole: progress,
                begin: colour as f64 / COLOURS as f64,
                size: 1.0 / COLOURS as f64,
            };
            // Frames of one colour are not coupled, so they are solved at once.
            let frames: Vec<usize> = (colour..x.len()).step_by(COLOURS).collect();
            let known = &*x;
            let solved = map_with_progress(&part, STAGE, frames.len(), 1, |k| {
                let t = frames[k];
                let mut own = known[t].clone();
                let pull = self.pull(known, t);
                let coupling = self.coupling(t, &pull);
                let steps = self.problem.solve(&self.frames[t], coupling, &mut own);
                (own, steps)
            })?;

            for (t, (own, steps)) in frames.into_iter().zip(solved) {
                x[t] = own;
                linearisations += steps;
            }
        }

        Ok(linearisations)
    }

    /// The coupling of frame `t` to neighbours with the pull `pull`.
    fn coupling<'p>(&'p self, t: usize, pull: &'p [f64]) -> Coupling<'p> {
        Coupling {
            stiffness: self.stiffness(t),
            roughness: &self.roughness,
            pull,
        }
    }

    /// `s` of the coupling of frame `t`.
    fn stiffness(&self, t: usize) -> f64 {
        let own = self.couplings[t].iter().find(|(u, _)| *u == t);
        own.map_or(0.0, |(_, coefficient)| *coefficient)
    }

    /// `p` of the coupling of frame `t`.
    fn pull(&self, x: &[Vec<f64>], t: usize) -> Vec<f64> {
        let mut pull = vec![0.0; self.problem.size()];
        for &(u, coefficient) in &self.couplings[t] {
            if u == t {
                continue;
            }
            for ((p, x), mu) in pull.iter_mut().zip(&x[u]).zip(&self.roughness) {
                *p -= coefficient * mu * x;
            }
        }
        pull
    }

    fn objective(&self, x: &[Vec<f64>]) -> f64 {
        let own = parallel::map(x.len(), 1, |t| self.problem.energy(&self.frames[t], &x[t]));
        let squared_difference = |w: &[Vec<f64>]| {
            (0..self.problem.size())
                .map(|k| self.roughness[k] * (w[0][k] - 2.0 * w[1][k] + w[2][k]).powi(2))
                .sum::<f64>()
        };
        let roughness = x.windows(3).map(squared_difference).sum::<f64>();
        own.iter().sum::<f64>() + 0.5 * roughness
    }

    /// One Newton step on all variables that are not at a limit or kink, halved until the objective
    /// falls.
    fn newton_step(&self, x: &mut Vec<Vec<f64>>, progress: &dyn Progress) -> Result<(), Stopped> {
        let Some(direction) = self.newton_direction(x, progress)? else {
            return Ok(());
        };

        let objective = self.objective(x);
        for halvings in 0..6 {
            progress.proceed(STAGE, 0.0)?;
            let length = 0.5_f64.powi(halvings);
            let mut moved = x.clone();
            for step in &direction {
                let from = x[step.frame][step.candidate];
                let to = self
                    .problem
                    .step_to_kink(step.candidate, from, length * step.step);
                moved[step.frame][step.candidate] = to;
            }

            // A step past a kink may not lower the objective.
            if self.objective(&moved) < objective {
                *x = moved;
                break;
            }
        }
        Ok(())
    }

    /// The Newton step of each variable that is not at a limit or kink; `None` if the joint matrix
    /// is too large or singular.
    fn newton_direction(
        &self,
        x: &[Vec<f64>],
        progress: &dyn Progress,
    ) -> Result<Option<Vec<NewtonStep>>, Stopped> {
        let free = self.free_variables(x);

        // Each frame contributes a dense block.
        if free.entry_count() > MOST_JOINT_ENTRIES {
            return Ok(None);
        }

        // The rows of each frame, in the order of the frames.
        let parts = parallel::map(x.len(), 1, |t| self.newton_rows(x, &free, t));
        let size = free.count;
        let mut triplets = Vec::new();
        let mut descent = Vec::with_capacity(size);
        for (rows, gradient) in parts {
            triplets.extend(rows);
            descent.extend(gradient);
        }

        progress.proceed(STAGE, 0.0)?;
        let matrix = SparseMatrix::from_triplets(size, size, &triplets);
        let solver = SpdSolver::factor(&matrix).ok();
        Ok(solver.map(|solver| free.steps(&solver.solve(&descent))))
    }

    /// The variables that are not at a limit or kink.
    fn free_variables(&self, x: &[Vec<f64>]) -> FreeVariables {
        let mut free = FreeVariables::default();
        for x in x {
            let candidates = 0..self.problem.size();
            let own: Vec<usize> = candidates
                .filter(|&k| !self.problem.at_kink(k, x[k]))
                .collect();
            free.starts.push(free.count);
            free.count += own.len();
            free.candidates.push(own);
        }

        free
    }

    /// The rows of frame `t` in the joint matrix, and the negative gradient.
    fn newton_rows(
        &self,
        x: &[Vec<f64>],
        free: &FreeVariables,
        t: usize,
    ) -> (Vec<(u32, u32, f64)>, Vec<f64>) {
        let problem = self.problem;
        let linearised = problem.linearised(&self.frames[t], &x[t]);
        let n = problem.size();
        let own = &free.candidates[t];

        // The frame's own Hessian.
        let mut rows = Vec::new();
        for (i, &k) in own.iter().enumerate() {
            for (j, &other) in own.iter().enumerate() {
                let entry = linearised.hessian[k * n + other];
                rows.push((free.index(t, i), free.index(t, j), entry));
            }
            rows.push((free.index(t, i), free.index(t, i), problem.ridge));
        }

        // The coupling of a slider with itself in the neighbouring frames.
        for &(u, coefficient) in &self.couplings[t] {
            for (i, k) in own.iter().enumerate() {
                if let Ok(j) = free.candidates[u].binary_search(k) {
                    let entry = coefficient * self.roughness[*k];
                    rows.push((free.index(t, i), free.index(u, j), entry));
                }
            }
        }

        (rows, self.descent(x, t, &linearised.force, own))
    }

    /// The negative gradient of the objective by the variables `own` of frame `t`.
    fn descent(&self, x: &[Vec<f64>], t: usize, force: &[f64], own: &[usize]) -> Vec<f64> {
        let problem = self.problem;
        let pull = self.pull(x, t);
        let stiffness = self.stiffness(t);

        let mut descent = Vec::with_capacity(own.len());
        for &k in own {
            let x = x[t][k];
            let sign = if x > 0.0 { 1.0 } else { -1.0 };
            descent.push(
                force[k] + pull[k]
                    - (problem.ridge + stiffness * self.roughness[k]) * x
                    - problem.penalty * sign,
            );
        }

        descent
    }
}

/// The free variables of all frames, numbered frame by frame.
#[derive(Debug, Default)]
struct FreeVariables {
    /// For each frame its free candidates, ascending.
    candidates: Vec<Vec<usize>>,
    /// The number of the first variable of each frame.
    starts: Vec<usize>,
    count: usize,
}

impl FreeVariables {
    /// The number of the `i`th free variable of a frame.
    fn index(&self, frame: usize, i: usize) -> u32 {
        (self.starts[frame] + i) as u32
    }

    /// Entries of the diagonal blocks of the joint matrix.
    fn entry_count(&self) -> usize {
        self.candidates
            .iter()
            .map(|own| own.len() * own.len())
            .sum()
    }

    /// The solution of the joint system as steps of variables.
    fn steps(&self, solution: &[f64]) -> Vec<NewtonStep> {
        let mut steps = Vec::with_capacity(self.count);
        for (frame, own) in self.candidates.iter().enumerate() {
            for (&candidate, &step) in own.iter().zip(&solution[self.starts[frame]..]) {
                steps.push(NewtonStep {
                    frame,
                    candidate,
                    step,
                });
            }
        }

        steps
    }
}

/// The rows of `D₂ᵀD₂` for `count` frames.
fn second_difference_rows(count: usize) -> Vec<Vec<(usize, f64)>> {
    const SECOND_DIFFERENCE: [f64; 3] = [1.0, -2.0, 1.0];

    let mut rows: Vec<Vec<(usize, f64)>> = vec![Vec::new(); count];
    for first in 0..count.saturating_sub(2) {
        for (i, a) in SECOND_DIFFERENCE.iter().enumerate() {
            for (j, b) in SECOND_DIFFERENCE.iter().enumerate() {
                let row = &mut rows[first + i];
                let column = first + j;
                let value = a * b;

                // Second differences overlap; their coefficients add up.
                match row.iter_mut().find(|(u, _)| *u == column) {
                    Some((_, sum)) => *sum += value,
                    None => row.push((column, value)),
                }
            }
        }
    }

    rows
}
