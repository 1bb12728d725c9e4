//! Debiasing: later solves towards raised goals remove the bias of the penalties.
//!
//! **Equation.** With the goal `m`, the residual `r₀ = m − B̄Δ₀` of the first solve, and
//! `m₁ = m + h r₀`, `mᵢ₊₁ = mᵢ + h (m − B̄Δᵢ)`, eight more solves have the goals `m₁` to `m₈`. The part `h`
//! falls from 1 to 0 where `|r₀|` grows from 50 to 90 % of `|m|`, and where goals leave the `reach`:
//! beyond it, raised goals would only drive sliders to their limits.
//!
//! The later solves are also bounded by the first one, with κ = 3:
//!
//! ```text
//! −d⁻ₖ ≤ xₖ ≤ d⁺ₖ        d±ₖ = κ max(0, ±x⁰ₖ) + h |m| / (β eₖ)
//! ```
//!
//! Short goals that are followed as nearly as the limits allow (`n` of `reach`) are solved once more, for
//! `m` itself with penalties that are 1024 times smaller. The weights are the part `n h` of the way from
//! those of `m₈` to those of this problem; both keep the same bounds.
//!
//! With `h = 0` the first solution is the last, unless it breaks a rule (`exclusion`). `|m| / (β eₖ)` is
//! the change of a slider that moves the pins by `|m|` on its own. All of this is continuous in the
//! goal.
//!
//! **Source.** Bregman iterations: Osher et al., "An iterative regularization method for total
//! variation-based image restoration", 2005. The bounds are those of the non-negative garrote:
//! Breiman, "Better subset regression using the nonnegative garrote", 1995. The fade `h` is ours.

use pliant_linalg::{BoxQuadratic, smoothstep};
use pliant_mesh::glam::DVec3;

use super::bounded_drag::{BoundedDrag, DragGoal, dot};
use super::reach::NearGoals;
use crate::pose::Outcome;

/// Residuals relative to the drag between which `h` falls. *Measured* together with the default
/// sparsity and damping.
const RESIDUAL_FADE: [f64; 2] = [0.5, 0.9];
/// Raised goals. *Measured* (ICT and facecap): with six, a tenth of the goals within reach is missed by
/// more than 3 %, with twelve the fastest changes along paths are a fifth faster.
const RAISES: usize = 8;
/// The factor of the penalties of the nearest pose. *Measured* on sheets with nine bumps, goals four times
/// as far as two of them reach: between 1/256 and 1/4096, and with sixty more raised goals in its place, the
/// errors above the least possible one differ by less than 1 % of the goal.
const NEAREST_PENALTIES: f64 = 1.0 / 1024.0;
/// Raised goals on rigs with in-betweens and combinations, where each solve takes several steps.
/// *Chosen*.
const NONLINEAR_RAISES: usize = 3;
/// The factor κ.
const BEYOND_FIRST: f64 = 3.0;

impl BoundedDrag {
    /// The pose for `goal`, whose displacements are those of `near`, raised by its residuals.
    pub(super) fn solve_debiased(
        &mut self,
        goal: &DragGoal<'_>,
        near: &NearGoals,
        weights: &mut [f64],
    ) -> Outcome {
        let unlimited = DragGoal {
            step_limit: None,
            rough: self.debiasing,
            ..*goal
        };
        let first = self.solve_goal(&unlimited, weights);
        let part = self.raised_part(goal, near.within_reach * near.raise, weights);

        if self.debiasing {
            self.bound_by_first(goal, part);
        }
        let ruled = self.apply_rules(weights);
        if part == 0.0 && !ruled {
            // The first solution is the last, but for the step limit.
            let is_exact = self.quadratic.is_some() || !unlimited.rough;
            let is_last = goal.step_limit.is_none() && is_exact;
            return if is_last {
                first
            } else {
                let last = DragGoal {
                    from_rest: false,
                    ..*goal
                };
                self.solve_goal(&last, weights)
            };
        }

        self.solve_raised(&unlimited, goal, [part, near.nearest], first, weights)
    }

    fn solve_raised(
        &mut self,
        unlimited: &DragGoal<'_>,
        goal: &DragGoal<'_>,
        [part, nearest]: [f64; 2],
        first: Outcome,
        weights: &mut [f64],
    ) -> Outcome {
        let usual = match self.quadratic {
            _ if part == 0.0 => 1,
            Some(_) => RAISES,
            None => NONLINEAR_RAISES,
        };
        let nearest = nearest * part.min(1.0);
        let is_nearer = self.quadratic.is_some() && nearest > 0.0;
        let mut iterations = first.iterations;
        let mut kkt = self.quadratic.as_ref().and(first.kkt);
        let mut held = first.held;
        let mut raised = goal.displacements.to_vec();
        for round in 1..=usual {
            self.add_residuals(goal, weights, part, &mut raised);
            let limits = if round == usual && !is_nearer {
                goal
            } else {
                unlimited
            };
            let raised_goal = DragGoal {
                displacements: &raised,
                from_rest: false,
                ..*limits
            };

            let next = self.solve_goal(&raised_goal, weights);
            iterations += next.iterations;
            held = next.held;

            // Rough solves have no certificate.
            if !raised_goal.rough || self.quadratic.is_some() {
                kkt = kkt.into_iter().chain(next.kkt).reduce(f64::max);
            }
        }

        if is_nearer {
            let usual_x = self.x.clone();
            let last = self.solve_nearest(goal, weights);
            iterations += last.iterations;
            held = last.held;
            kkt = kkt.into_iter().chain(last.kkt).reduce(f64::max);
            self.interpolate(&usual_x, nearest);
            self.write_weights(goal.system, weights);
        }
        Outcome {
            kkt,
            iterations,
            held,
        }
    }

    /// The part `nearest` of the way from the solution `usual_x` to the last one.
    fn interpolate(&mut self, usual_x: &[f64], nearest: f64) {
        for (x, usual) in self.x.iter_mut().zip(usual_x) {
            if nearest < 1.0 {
                *x = usual + nearest * (*x - usual);
            }
        }
    }

    /// `h`.
    fn raised_part(&self, goal: &DragGoal<'_>, raised: f64, weights: &[f64]) -> f64 {
        let residual = goal.residual_norm(weights) / goal.length;
        if !self.debiasing || residual == 0.0 {
            return 0.0;
        }

        falling(residual, RESIDUAL_FADE) * raised
    }

    /// The bounds that the first solution sets.
    fn bound_by_first(&mut self, goal: &DragGoal<'_>, part: f64) {
        let alone = part * goal.length / self.penalties.gain;
        for (k, bounds) in self.bounds.iter_mut().enumerate() {
            let extent = self.penalties.extents[k];
            let start = goal.system.weights()[self.candidates[k]];
            let alone = alone / self.penalties.efficiencies[k];
            let down = BEYOND_FIRST * (-self.x[k]).max(0.0) + alone;
            let up = BEYOND_FIRST * self.x[k].max(0.0) + alone;
            bounds[0] = bounds[0].max(start - down / extent);
            bounds[1] = bounds[1].min(start + up / extent);
        }
    }

    /// The problem of `goal` with small penalties.
    fn solve_nearest(&mut self, goal: &DragGoal<'_>, weights: &mut [f64]) -> Outcome {
        let mut projected = self.at_start.clone();
        projected.measure(goal.metric);
        let hessian = self.penalties.scaled_hessian(
            &projected,
            &self.candidates,
            NEAREST_PENALTIES,
            std::mem::take(&mut self.hessian_buffer),
        );
        let quadratic = BoxQuadratic::trusted(hessian);
        let outcome = self.solve_quadratic(
            goal,
            (&projected.columns, &quadratic),
            NEAREST_PENALTIES,
            weights,
        );
        self.hessian_buffer = quadratic.into_hessian();
        outcome
    }

    /// Adds the part `part` of the residual of each pin, in the coordinates that it constrains, to `sums`.
    fn add_residuals(&self, goal: &DragGoal<'_>, weights: &[f64], part: f64, sums: &mut [DVec3]) {
        let positions = goal.system.positions_at(weights);
        for (k, pin) in goal.system.pins().iter().enumerate() {
            let pin_goal = goal.system.positions()[k] + goal.displacements[k];
            let (projection, pin_goal) = pin.aim.projection_and_goal(positions[k], pin_goal);
            sums[k] += projection * (pin_goal - positions[k]) * part;
        }
    }

    /// Moves the pose back to the start where the pins passed `goal`: `p·(m − p) ≥ 0` holds
    /// afterwards for the displacements `p` of the pins, on rigs without in-betweens and
    /// combinations.
    pub(super) fn keep_before_goal(&mut self, goal: &DragGoal<'_>, weights: &mut [f64]) {
        let system = goal.system;
        let goals = system.residual(system.weights(), goal.displacements);
        let residual = system.residual(weights, goal.displacements);
        let reached: Vec<f64> = goals.iter().zip(&residual).map(|(m, r)| m - r).collect();

        let length_squared = dot(&reached, &reached);
        let along = dot(&reached, &goals);
        if along >= length_squared || !self.may_shrink(goal) {
            return;
        }

        let fraction = (along / length_squared).max(0.0);
        self.x.iter_mut().for_each(|x| *x *= fraction);
        self.write_weights(system, weights);
    }

    /// Whether a pose between the start and the last one keeps exclusive sliders apart.
    pub(super) fn may_shrink(&self, goal: &DragGoal<'_>) -> bool {
        let weights = goal.system.weights();
        let mut sliders = self.rules.exclusive.iter().flatten();
        sliders.all(|&slider| weights[slider] == 0.0)
    }
}

/// 1 up to the first of two values, 0 from the second one on, a smoothstep between.
pub(super) fn falling(value: f64, [first, last]: [f64; 2]) -> f64 {
    1.0 - smoothstep(((value - first) / (last - first)).clamp(0.0, 1.0))
}
