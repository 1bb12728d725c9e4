//! All frames together: curves that bend little.
//!
//! **Problem.** Frame by frame, sliders that the frames hardly show jitter. A price on bends
//! couples each frame with its two neighbours on either side.
//!
//! **Equation.** With the frames' own objectives `Eₜ` and `x` in units of moved surface
//!
//! ```text
//! min  Σₜ Eₜ(xₜ)  +  ½ μ Σₜ |xₜ₋₁ − 2xₜ + xₜ₊₁|²
//! ```
//!
//! **Ours.** Sweeps in which every frame is solved exactly with its neighbours held. Frames three
//! apart do not meet, so that a third of them go at once and the result does not depend on the
//! number of threads. A sweep finds which sliders are at an edge but carries news by a few frames
//! only; between sweeps Newton's step on all the others, all frames at once, carries it through the
//! clip. Every step lowers the objective.

use pliant_linalg::{SparseMatrix, SpdSolver, parallel};

use super::InvertOptions;
use super::frame_problem::{Coupling, Frame, FrameProblem};

/// A clip to be solved.
#[derive(Debug)]
pub(super) struct Sequence<'a> {
    pub(super) problem: &'a FrameProblem<'a>,
    pub(super) frames: &'a [Frame<'a>],
    roughness: f64,
    /// `μ D₂ᵀD₂`, row by row: the frames that a frame meets, itself among them.
    bends: Vec<Vec<(usize, f64)>>,
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

/// How far one slider of one frame should go.
#[derive(Debug, Clone, Copy)]
struct Move {
    frame: usize,
    place: usize,
    step: f64,
}

/// Entries of the joint matrix beyond which sweeps go on alone: a gigabyte of factor.
const MOST_JOINT_ENTRIES: usize = 20_000_000;
/// Frames so far apart have no bend in common.
const COLOURS: usize = 3;

impl<'a> Sequence<'a> {
    pub(super) fn new(
        problem: &'a FrameProblem<'a>,
        frames: &'a [Frame<'a>],
        roughness: f64,
    ) -> Self {
        Self {
            problem,
            frames,
            roughness,
            bends: bends(frames.len(), roughness),
        }
    }

    /// Solves from rest.
    pub(super) fn solve(&self, options: &InvertOptions) -> Solved {
        let alone = vec![0.0; self.problem.size()];
        let first = parallel::map(self.frames.len(), 1, |t| {
            let mut x = self.problem.start();
            let steps = self.problem.solve(
                &self.frames[t],
                Coupling {
                    stiffness: 0.0,
                    pull: &alone,
                },
                &mut x,
            );
            (x, steps)
        });
        let linearisations = first.iter().map(|(_, steps)| steps).sum();
        let x = first.into_iter().map(|(x, _)| x).collect();
        let mut solved = Solved {
            x,
            sweeps: 1,
            linearisations,
            largest_change: 0.0,
            objective: 0.0,
            kkt: Vec::new(),
        };
        if self.roughness > 0.0 && self.frames.len() > 2 {
            self.smooth(options, &mut solved);
        }
        solved.objective = self.objective(&solved.x);
        solved.kkt = parallel::map(self.frames.len(), 1, |t| {
            let pull = self.pull(&solved.x, t);
            self.problem.certificate(
                &self.frames[t],
                Coupling {
                    stiffness: self.stiffness(t),
                    pull: &pull,
                },
                &solved.x[t],
            )
        });
        solved
    }

    fn smooth(&self, options: &InvertOptions, solved: &mut Solved) {
        while solved.sweeps < options.most_sweeps.max(2) {
            self.newton(&mut solved.x);
            let before = solved.x.clone();
            solved.linearisations += self.sweep(&mut solved.x);
            solved.sweeps += 1;
            let changes = before
                .iter()
                .zip(&solved.x)
                .map(|(a, b)| self.problem.largest_change(a, b));
            solved.largest_change = changes.fold(0.0, f64::max);
            if solved.largest_change <= options.tolerance {
                break;
            }
        }
    }

    /// Solves every frame once with its neighbours held; the number of linearisations.
    fn sweep(&self, x: &mut [Vec<f64>]) -> usize {
        let mut linearisations = 0;
        for colour in 0..COLOURS {
            let frames: Vec<usize> = (colour..x.len()).step_by(COLOURS).collect();
            let known = &*x;
            let solved = parallel::map(frames.len(), 1, |k| {
                let t = frames[k];
                let (pull, mut own) = (self.pull(known, t), known[t].clone());
                let coupling = Coupling {
                    stiffness: self.stiffness(t),
                    pull: &pull,
                };
                let steps = self.problem.solve(&self.frames[t], coupling, &mut own);
                (own, steps)
            });
            for (t, (own, steps)) in frames.into_iter().zip(solved) {
                x[t] = own;
                linearisations += steps;
            }
        }
        linearisations
    }

    fn stiffness(&self, t: usize) -> f64 {
        self.bends[t]
            .iter()
            .find(|(u, _)| *u == t)
            .map_or(0.0, |(_, bend)| *bend)
    }

    /// What the neighbours of frame `t` want of it.
    fn pull(&self, x: &[Vec<f64>], t: usize) -> Vec<f64> {
        let mut pull = vec![0.0; self.problem.size()];
        for &(u, bend) in self.bends[t].iter().filter(|(u, _)| *u != t) {
            pull.iter_mut().zip(&x[u]).for_each(|(p, x)| *p -= bend * x);
        }
        pull
    }

    fn objective(&self, x: &[Vec<f64>]) -> f64 {
        let own = parallel::map(x.len(), 1, |t| self.problem.energy(&self.frames[t], &x[t]));
        let bend = |w: &[Vec<f64>]| {
            (0..self.problem.size())
                .map(|k| (w[0][k] - 2.0 * w[1][k] + w[2][k]).powi(2))
                .sum::<f64>()
        };
        own.iter().sum::<f64>() + 0.5 * self.roughness * x.windows(3).map(bend).sum::<f64>()
    }

    /// One step of Newton's method on all variables that are not at an edge, shortened until the
    /// objective falls.
    fn newton(&self, x: &mut Vec<Vec<f64>>) {
        let Some(direction) = self.newton_direction(x) else {
            return;
        };
        let objective = self.objective(x);
        for halvings in 0..6 {
            let length = 0.5_f64.powi(halvings);
            let mut moved = x.clone();
            for &Move { frame, place, step } in &direction {
                moved[frame][place] =
                    self.problem
                        .step_to_edge(place, x[frame][place], length * step);
            }
            if self.objective(&moved) < objective {
                *x = moved;
                return;
            }
        }
    }

    /// How far each variable that is not at an edge should go; nothing where the joint matrix is
    /// too large or singular.
    fn newton_direction(&self, x: &[Vec<f64>]) -> Option<Vec<Move>> {
        let edge = |t: usize, k: usize| self.problem.at_edge(k, x[t][k]);
        let free: Vec<Vec<usize>> = (0..x.len())
            .map(|t| (0..self.problem.size()).filter(|&k| !edge(t, k)).collect())
            .collect();
        if free.iter().map(|own| own.len() * own.len()).sum::<usize>() > MOST_JOINT_ENTRIES {
            return None;
        }
        let starts: Vec<usize> = free
            .iter()
            .scan(0, |end, own| Some(std::mem::replace(end, *end + own.len())))
            .collect();
        let size = free.iter().map(Vec::len).sum();
        let parts = parallel::map(x.len(), 1, |t| self.newton_rows(x, &free, &starts, t));
        let mut descent = Vec::with_capacity(size);
        let mut triplets = Vec::new();
        for (rows, slopes) in parts {
            triplets.extend(rows);
            descent.extend(slopes);
        }
        let solver = SpdSolver::factor(&SparseMatrix::from_triplets(size, size, &triplets)).ok()?;
        let variables = free
            .iter()
            .enumerate()
            .flat_map(|(frame, own)| own.iter().map(move |&place| (frame, place)));
        Some(
            variables
                .zip(solver.solve(&descent))
                .map(|((frame, place), step)| Move { frame, place, step })
                .collect(),
        )
    }

    /// Frame `t`'s rows of the joint matrix, in which each frame's free variables start at
    /// `starts`, and the way down.
    fn newton_rows(
        &self,
        x: &[Vec<f64>],
        free: &[Vec<usize>],
        starts: &[usize],
        t: usize,
    ) -> (Vec<(u32, u32, f64)>, Vec<f64>) {
        let problem = self.problem;
        let near = problem.linearised(&self.frames[t], &x[t]);
        let (first, n, own) = (starts[t], problem.size(), &free[t]);
        let mut rows = Vec::new();
        for (i, &k) in own.iter().enumerate() {
            rows.extend(own.iter().enumerate().map(|(j, &other)| {
                (
                    (first + i) as u32,
                    (first + j) as u32,
                    near.hessian[k * n + other],
                )
            }));
            rows.push(((first + i) as u32, (first + i) as u32, problem.ridge));
        }
        for &(u, bend) in &self.bends[t] {
            let start = starts[u];
            for (i, k) in own.iter().enumerate() {
                rows.extend(
                    free[u]
                        .binary_search(k)
                        .ok()
                        .map(|j| ((first + i) as u32, (start + j) as u32, bend)),
                );
            }
        }
        let (pull, stiffness) = (self.pull(x, t), self.stiffness(t));
        let down = |&k: &usize| {
            let x = x[t][k];
            near.force[k] + pull[k]
                - (problem.ridge + stiffness) * x
                - problem.prices[k] * if x > 0.0 { 1.0 } else { -1.0 }
        };
        (rows, own.iter().map(down).collect())
    }
}

/// The rows of `μ D₂ᵀD₂` for `count` frames.
fn bends(count: usize, roughness: f64) -> Vec<Vec<(usize, f64)>> {
    const SECOND_DIFFERENCE: [f64; 3] = [1.0, -2.0, 1.0];
    let mut rows: Vec<Vec<(usize, f64)>> = vec![Vec::new(); count];
    for first in 0..count.saturating_sub(2) {
        for (i, a) in SECOND_DIFFERENCE.iter().enumerate() {
            for (j, b) in SECOND_DIFFERENCE.iter().enumerate() {
                let (row, column, value) = (&mut rows[first + i], first + j, roughness * a * b);
                match row.iter_mut().find(|(u, _)| *u == column) {
                    Some((_, sum)) => *sum += value,
                    None => row.push((column, value)),
                }
            }
        }
    }
    rows
}
