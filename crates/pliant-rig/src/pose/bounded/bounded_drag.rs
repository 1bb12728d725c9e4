//! Solves of one drag with known penalties and limits: one quadratic problem, or Gauss–Newton.
//!
//! Gauss–Newton linearises the pins at the current weights and solves the quadratic problem inside
//! a trust region, which shrinks until the true objective falls.

use pliant_linalg::{BoxQuadratic, BoxWorkspace};
use pliant_mesh::glam::{DMat3, DVec3};

use super::exclusion::SliderRules;
use super::penalties::Penalties;
use super::reach::Reach;
use super::{BoxProblem, OwnedBoxTerms};
use crate::pose::pin_system::{PinSystem, ProjectedSystem, measure};
use crate::pose::{Factored, Outcome, StepLimit};

/// *Chosen*: poses of heads need fewer than ten.
const MOST_LINEARISATIONS: usize = 60;
/// Gauss–Newton ends when no slider moves by this part of its range.
const STEP_TOLERANCE: f64 = 1e-12;
/// The same for solves from which others start. *Chosen*: weights differ by less than 1e-3.
const ROUGH_STEP_TOLERANCE: f64 = 1e-4;
/// Displacements below this part of the size of the rig are rounding.
const REST_TOLERANCE: f64 = 1e-13;

/// All that does not change while pins are dragged, and the last solution.
#[derive(Debug)]
pub(super) struct BoundedDrag {
    pub(super) candidates: Vec<usize>,
    /// For each slider its index among the candidates.
    pub(super) candidate_of: Vec<Option<usize>>,
    /// Lower and upper weights of the candidates.
    pub(super) bounds: Vec<[f64; 2]>,
    /// Their ranges, the unit of steps.
    pub(super) ranges: Vec<f64>,
    pub(super) sparsity: f64,
    pub(super) debiasing: bool,
    pub(super) penalties: Penalties,
    pub(super) rules: SliderRules,
    pub(super) reach: Reach,
    /// The factorised problem, where it does not change with the weights.
    pub(super) quadratic: Option<BoxQuadratic>,
    /// The same for the measure of residuals of the current goal, where that is not the usual one.
    pub(super) measured: Option<MeasuredProblem>,
    /// The system at the weights at which the pins were grabbed.
    pub(super) at_start: ProjectedSystem,
    /// The last solution, in units of moved surface.
    pub(super) x: Vec<f64>,
    pub(super) workspace: BoxWorkspace,
    /// The buffer of a Hessian that changes with the weights.
    pub(super) hessian_buffer: Vec<f64>,
}

/// A constant problem in another measure of residuals.
#[derive(Debug)]
pub(super) struct MeasuredProblem {
    columns: Vec<f64>,
    quadratic: BoxQuadratic,
}

/// The input of one solve.
#[derive(Clone, Copy)]
pub(super) struct DragGoal<'a> {
    pub(super) system: &'a PinSystem,
    /// Of the pins, from where they were grabbed.
    pub(super) displacements: &'a [DVec3],
    /// For each pin the root of the measure of its residual (`reach`); empty for the identity.
    pub(super) metric: &'a [DMat3],
    /// `|m|`, projected and weighted; debiasing raises the goal but keeps this length.
    pub(super) length: f64,
    /// The factor of the sparsity (`reach`).
    pub(super) sparsity: f64,
    pub(super) step_limit: Option<StepLimit<'a>>,
    /// Whether Gauss–Newton starts from no change rather than from the last solution.
    pub(super) from_rest: bool,
    /// Whether another solve starts from the solution.
    pub(super) rough: bool,
}

impl DragGoal<'_> {
    /// `|r|`: the projected and weighted distance from the pins at `weights` to their goals.
    pub(super) fn residual_norm(&self, weights: &[f64]) -> f64 {
        norm(&self.system.residual(weights, self.displacements))
    }
}

impl Factored for BoundedDrag {
    fn solve(
        &mut self,
        system: &PinSystem,
        displacements: &[DVec3],
        step_limit: Option<StepLimit<'_>>,
        weights: &mut [f64],
    ) -> Outcome {
        weights.copy_from_slice(system.weights());
        if self.candidates.is_empty() {
            return at_optimum();
        }

        let goals = system.residual(system.weights(), displacements);
        let whole = DragGoal {
            system,
            displacements,
            metric: &[],
            length: norm(&goals),
            sparsity: 1.0,
            step_limit,
            from_rest: true,
            rough: false,
        };
        let near = self.reach.shorten(displacements, &goals);
        let near = self.follow(&whole, near, weights);
        let metric = near.metric(&goals);
        let goal = DragGoal {
            displacements: &near.displacements,
            metric: &metric,
            length: norm(&system.residual(system.weights(), &near.displacements)),
            sparsity: near.sparsity(),
            ..whole
        };
        if Self::is_at_rest(&goal) {
            weights.copy_from_slice(system.weights());
            self.x.fill(0.0);
            return at_optimum();
        }

        // The measure and the bounds that follow from the first solution hold for this solve only.
        self.measured = self.measured_problem(&metric);
        let bounds = self.bounds.clone();
        let mut outcome = self.solve_debiased(&goal, &near, weights);
        self.bounds = bounds;
        self.measured = None;

        self.keep_before_goal(&whole, weights);
        if self.debiasing {
            self.limit_exaggeration(&whole, &near, weights);
        }
        let sliders = system.rig().sliders();
        let at_limit = |slider: &usize| {
            let limits = sliders[*slider].limits;
            [limits.min, limits.max].contains(&weights[*slider])
        };
        outcome.held.retain(at_limit);
        outcome
    }

    fn keeps_limits(&self) -> bool {
        true
    }

    fn reset(&mut self) {
        self.x.fill(0.0);
    }
}

impl BoundedDrag {
    /// The problem at the start, with `x = g Δ` undone, so that unknowns are changes of weights.
    pub(super) fn problem(&self, system: &PinSystem, displacements: &[DVec3]) -> BoxProblem {
        let goals = system.residual(system.weights(), displacements);
        let near = self.reach.shorten(displacements, &goals);
        let mut projected = system.project(system.weights(), &near.displacements);
        projected.measure(&near.metric(&goals));
        let window = self.window(system, None, None);
        let length = near.sparsity() * norm(&projected.goals);
        let terms = self.terms(&projected.columns, &projected.goals, length, &window);

        let n = self.candidates.len();
        let g = &self.penalties.extents;

        // With x = g Δ, H in Δ is g H g.
        let mut hessian = self
            .penalties
            .hessian(&projected, &self.candidates, Vec::new());
        for (k, h) in hessian.iter_mut().enumerate() {
            *h = *h * g[k / n] * g[k % n];
        }

        BoxProblem {
            sliders: self.candidates.clone(),
            hessian,
            linear: products(&terms.linear, g),
            penalties: products(&terms.penalties, g),
            lower: window.iter().map(|bounds| bounds[0]).collect(),
            upper: window.iter().map(|bounds| bounds[1]).collect(),
        }
    }

    /// The pose for the goals, biased by the penalties.
    pub(super) fn solve_goal(&mut self, goal: &DragGoal<'_>, weights: &mut [f64]) -> Outcome {
        if self.quadratic.is_some() {
            self.solve_constant(goal, weights)
        } else {
            self.solve_gauss_newton(goal, weights)
        }
    }

    /// The constant problem in the measure of `metric`; `None` for the identity.
    fn measured_problem(&self, metric: &[DMat3]) -> Option<MeasuredProblem> {
        if metric.is_empty() || self.quadratic.is_none() {
            return None;
        }

        let mut projected = self.at_start.clone();
        projected.measure(metric);
        let hessian = self
            .penalties
            .hessian(&projected, &self.candidates, Vec::new());
        Some(MeasuredProblem {
            columns: projected.columns,
            quadratic: BoxQuadratic::trusted(hessian),
        })
    }

    /// One quadratic problem, where `B̄` does not depend on the weights.
    fn solve_constant(&mut self, goal: &DragGoal<'_>, weights: &mut [f64]) -> Outcome {
        // Taken out for the solve, which needs the other fields.
        let measured = self.measured.take();
        let quadratic = self.quadratic.take();
        let columns = std::mem::take(&mut self.at_start.columns);
        let problem = match &measured {
            Some(measured) if !goal.metric.is_empty() => (&measured.columns, &measured.quadratic),
            _ => {
                let usual = quadratic.as_ref();
                (
                    &columns,
                    usual.expect("a constant system has its quadratic"),
                )
            }
        };

        let outcome = self.solve_quadratic(goal, problem, 1.0, weights);
        self.measured = measured;
        self.quadratic = quadratic;
        self.at_start.columns = columns;
        outcome
    }

    /// The quadratic problem with the columns `B̄` and `factor` times the penalty λ.
    pub(super) fn solve_quadratic(
        &mut self,
        goal: &DragGoal<'_>,
        (columns, quadratic): (&Vec<f64>, &BoxQuadratic),
        factor: f64,
        weights: &mut [f64],
    ) -> Outcome {
        let mut goals = goal.system.projected_displacements(goal.displacements);
        measure(goal.metric, &mut goals);
        let window = self.window(goal.system, goal.step_limit, None);
        let length = factor * goal.sparsity * goal.length;
        let terms = self.terms(columns, &goals, length, &window);
        let report = quadratic.solve(&terms.borrow(), &mut self.x, &mut self.workspace);

        self.write_weights(goal.system, weights);
        Outcome {
            kkt: Some(report.kkt),
            iterations: report.iterations,
            held: self.held_sliders(goal.system, &terms),
        }
    }

    /// Gauss–Newton with a trust region on the change of each slider relative to its range.
    fn solve_gauss_newton(&mut self, goal: &DragGoal<'_>, weights: &mut [f64]) -> Outcome {
        self.start_gauss_newton(goal);
        self.write_weights(goal.system, weights);
        let mut objective = self.objective(goal, weights);
        let mut trust_radius = 1.0;
        let mut iterations = 0;
        let tolerance = if goal.rough {
            ROUGH_STEP_TOLERANCE
        } else {
            STEP_TOLERANCE
        };

        while iterations < MOST_LINEARISATIONS {
            iterations += 1;
            let (quadratic, terms) = self.linearised(goal, weights, Some(trust_radius));
            let before = self.x.clone();
            quadratic.solve(&terms.borrow(), &mut self.x, &mut self.workspace);
            self.hessian_buffer = quadratic.into_hessian();
            let step = self.largest_step_from(&before);
            self.write_weights(goal.system, weights);

            let new_objective = self.objective(goal, weights);
            if new_objective < objective {
                objective = new_objective;
                trust_radius = (2.0 * trust_radius).min(1.0);
            } else {
                self.x = before;
                self.write_weights(goal.system, weights);

                // Well inside the step that failed.
                trust_radius = 0.25 * trust_radius.min(step);
            }

            if step < tolerance || trust_radius < 0.1 * tolerance {
                break;
            }
        }

        // The certificate is that of the problem without the trust region.
        let (quadratic, terms) = self.linearised(goal, weights, None);
        let kkt = quadratic.certificate(&terms.borrow(), &self.x, &mut self.workspace);
        Outcome {
            kkt: Some(kkt),
            iterations,
            held: self.held_sliders(goal.system, &terms),
        }
    }

    /// Starts from the centre of the step limit, from no change, or from the last solution inside
    /// the bounds.
    fn start_gauss_newton(&mut self, goal: &DragGoal<'_>) {
        let Some(limit) = goal.step_limit else {
            if goal.from_rest {
                self.x.fill(0.0);
            }
            self.clamp_to_bounds(goal.system);
            return;
        };

        for (k, &slider) in self.candidates.iter().enumerate() {
            let change = limit.weights[slider] - goal.system.weights()[slider];
            self.x[k] = change * self.penalties.extents[k];
        }
    }

    fn clamp_to_bounds(&mut self, system: &PinSystem) {
        for (k, &slider) in self.candidates.iter().enumerate() {
            let start = system.weights()[slider];
            let [low, high] = self.bounds[k].map(|b| (b - start) * self.penalties.extents[k]);
            self.x[k] = self.x[k].max(low).min(high);
        }
    }

    /// The largest change since `before`, relative to the ranges of the sliders.
    fn largest_step_from(&self, before: &[f64]) -> f64 {
        let mut largest = 0.0_f64;
        for (k, a) in before.iter().enumerate() {
            let change = (a - self.x[k]) / (self.penalties.extents[k] * self.ranges[k]);
            largest = largest.max(change.abs());
        }

        largest
    }

    /// The quadratic problem that agrees with the true one at `weights` to first order.
    fn linearised(
        &mut self,
        goal: &DragGoal<'_>,
        weights: &[f64],
        trust_radius: Option<f64>,
    ) -> (BoxQuadratic, OwnedBoxTerms) {
        // The unknown is the change since the start: B̄ x is added back to the residual.
        let mut projected = goal.system.project(weights, goal.displacements);
        projected.measure(goal.metric);
        let mut goals = projected.goals.clone();
        for (k, &slider) in self.candidates.iter().enumerate() {
            let change = self.x[k] / self.penalties.extents[k];
            for (m, b) in goals.iter_mut().zip(projected.column(slider)) {
                *m += b * change;
            }
        }

        let window = self.window(goal.system, goal.step_limit, trust_radius);
        let length = goal.sparsity * goal.length;
        let terms = self.terms(&projected.columns, &goals, length, &window);
        let buffer = std::mem::take(&mut self.hessian_buffer);
        let hessian = self.penalties.hessian(&projected, &self.candidates, buffer);

        (BoxQuadratic::trusted(hessian), terms)
    }

    /// Lower and upper changes of the weights: slider limits, step limit and trust region.
    fn window(
        &self,
        system: &PinSystem,
        step_limit: Option<StepLimit<'_>>,
        trust_radius: Option<f64>,
    ) -> Vec<[f64; 2]> {
        let mut windows = Vec::with_capacity(self.candidates.len());
        for (k, &slider) in self.candidates.iter().enumerate() {
            // Bounds are relative to the weights at the start.
            let start = system.weights()[slider];
            let mut window = self.bounds[k].map(|bound| bound - start);

            if let Some(limit) = step_limit {
                window = clamped_around(window, limit.weights[slider] - start, limit.step);
            }
            if let Some(radius) = trust_radius {
                let centre = self.x[k] / self.penalties.extents[k];
                window = clamped_around(window, centre, radius * self.ranges[k]);
            }

            windows.push(window);
        }

        windows
    }

    /// The linear part, penalties and bounds in units of moved surface.
    fn terms(
        &self,
        columns: &[f64],
        goals: &[f64],
        length: f64,
        window: &[[f64; 2]],
    ) -> OwnedBoxTerms {
        let rows = goals.len();
        let extents = &self.penalties.extents;
        let gain = self.penalties.gain;

        // f = B̄ᵀm / (g β²).
        let mut linear = Vec::with_capacity(self.candidates.len());
        for (&slider, extent) in self.candidates.iter().zip(extents) {
            let column = &columns[slider * rows..][..rows];
            linear.push(dot(column, goals) / (extent * gain * gain));
        }

        OwnedBoxTerms {
            linear,
            penalties: self
                .penalties
                .efficiencies
                .iter()
                .map(|e| self.sparsity * length / (gain * e))
                .collect(),
            lower: window.iter().zip(extents).map(|(w, g)| w[0] * g).collect(),
            upper: window.iter().zip(extents).map(|(w, g)| w[1] * g).collect(),
        }
    }

    /// Writes the weights of `x`, exactly at a limit where `x` is.
    pub(super) fn write_weights(&self, system: &PinSystem, weights: &mut [f64]) {
        for (k, &slider) in self.candidates.iter().enumerate() {
            let start = system.weights()[slider];
            let extent = self.penalties.extents[k];
            let [min, max] = self.bounds[k];

            // At a bound the weight is the bound itself, without rounding.
            weights[slider] = match self.x[k] {
                x if x >= (max - start) * extent => max,
                x if x <= (min - start) * extent => min,
                x => start + x / extent,
            };
        }
    }

    /// Sliders at a limit that would go further if it were not there.
    fn held_sliders(&self, system: &PinSystem, terms: &OwnedBoxTerms) -> Vec<usize> {
        let gradient = self.workspace.gradient();

        // Forces below this part of the largest are rounding.
        let least = 1e-12 * terms.linear.iter().map(|f| f.abs()).fold(0.0, f64::max);

        let mut held = Vec::new();
        for (k, &slider) in self.candidates.iter().enumerate() {
            let limits = system.rig().sliders()[slider].limits;
            let start = system.weights()[slider];
            let extent = self.penalties.extents[k];
            let x = self.x[k];

            // One-sided derivatives of the objective, with the subgradient of the penalty.
            let penalty = terms.penalties[k];
            let beyond_upper = -(gradient[k] + if x >= 0.0 { penalty } else { -penalty });
            let beyond_lower = gradient[k] + if x > 0.0 { penalty } else { -penalty };

            let at_upper = x == (limits.max - start) * extent;
            let at_lower = x == (limits.min - start) * extent;
            if (at_upper && beyond_upper > least) || (at_lower && beyond_lower > least) {
                held.push(slider);
            }
        }

        held
    }

    /// The true objective of the last solution, whose weights are `weights`.
    pub(super) fn objective(&self, goal: &DragGoal<'_>, weights: &[f64]) -> f64 {
        let gain = self.penalties.gain;
        let mut residual = goal.system.residual(weights, goal.displacements);
        measure(goal.metric, &mut residual);
        let residual = norm(&residual) / gain;

        // Σ |xₖ| / eₖ.
        let absolute: f64 = self
            .x
            .iter()
            .zip(&self.penalties.efficiencies)
            .map(|(x, e)| x.abs() / e)
            .sum();

        let sparse = self.sparsity * goal.sparsity * goal.length / gain * absolute;
        0.5 * residual * residual + self.penalties.motion_energy(&self.x) + sparse
    }

    /// Whether the drag is shorter than rounding.
    pub(super) fn is_at_rest(goal: &DragGoal<'_>) -> bool {
        goal.length <= REST_TOLERANCE * goal.system.poser().size()
    }
}

/// The outcome of a solve without unknowns or without a goal.
pub(super) fn at_optimum() -> Outcome {
    Outcome {
        kkt: Some(0.0),
        iterations: 0,
        held: Vec::new(),
    }
}

/// A window moved into `centre ± step`; where the two do not overlap, the nearest point of the
/// latter, which is a step towards the limits.
fn clamped_around(window: [f64; 2], centre: f64, step: f64) -> [f64; 2] {
    window.map(|bound| bound.max(centre - step).min(centre + step))
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum::<f64>().sqrt()
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn products(values: &[f64], factors: &[f64]) -> Vec<f64> {
    values
        .iter()
        .zip(factors)
        .map(|(value, g)| value * g)
        .collect()
}
