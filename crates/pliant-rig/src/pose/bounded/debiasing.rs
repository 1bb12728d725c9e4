//! Debiasing: a second solve towards a raised goal removes the bias of the penalties.
//!
//! **Equation.** With the residual `r = m − B̄Δ` of the first solve, the second one has the goal
//! `m + h r`. `h` is 1 up to `|r| = 6 %` of `|m|`, 0 from 25 % on, and a smoothstep between them.
//!
//! **Source.** One Bregman iteration: Osher et al., "An iterative regularization method for total
//! variation-based image restoration", 2005. The fade `h` is chosen.

use pliant_linalg::smoothstep;
use pliant_mesh::glam::DVec3;

use super::bounded_drag::{BoundedDrag, DragGoal, at_optimum, dot};
use crate::pose::{Outcome, PinSystem};

/// Residuals relative to the drag up to which the bias is removed completely, and from which on not
/// at all. *Measured* together with the default sparsity and damping.
const FADE: [f64; 2] = [0.06, 0.25];

impl BoundedDrag {
    /// The pose for the goals, without the bias of the penalties where the goals are within reach.
    pub(super) fn solve_debiased(&mut self, goal: &DragGoal<'_>, weights: &mut [f64]) -> Outcome {
        if Self::is_at_rest(goal) {
            self.x.fill(0.0);
            return at_optimum();
        }

        let first = self.solve_goal(goal, weights);
        let Some(raised) = self.raised_goals(goal, weights) else {
            return first;
        };

        let first_x = self.x.clone();
        let first_weights = weights.to_vec();
        let raised_goal = DragGoal {
            displacements: &raised,
            ..*goal
        };
        let second = self.solve_goal(&raised_goal, weights);

        // Stop the step from the first to the second solution where the pins would pass the goal.
        let fraction =
            fraction_up_to_goal(goal.system, goal.displacements, &first_weights, weights);
        if fraction < 1.0 {
            for (x, before) in self.x.iter_mut().zip(&first_x) {
                *x = before + fraction * (*x - before);
            }
            self.write_weights(goal.system, weights);
        }

        Outcome {
            kkt: first.kkt.zip(second.kkt).map(|(a, b)| a.max(b)),
            iterations: first.iterations + second.iterations,
            ..second
        }
    }

    /// Displacements raised by the residuals of the pins at `weights`; `None` where there is no
    /// residual, or too large a one.
    fn raised_goals(&self, goal: &DragGoal<'_>, weights: &[f64]) -> Option<Vec<DVec3>> {
        let [complete, none] = FADE;
        let residual = goal.residual_norm(weights);
        if !self.debiasing || residual == 0.0 || residual >= none * goal.length {
            return None;
        }

        // h, a smoothstep between the two ends of the fade.
        let t = ((residual / goal.length - complete) / (none - complete)).max(0.0);
        let fade = 1.0 - smoothstep(t);

        // Each goal is raised in the coordinates that its pin constrains.
        let positions = goal.system.positions_at(weights);
        let mut raised = Vec::with_capacity(positions.len());
        for (k, pin) in goal.system.pins().iter().enumerate() {
            let displacement = goal.displacements[k];
            let pin_goal = goal.system.positions()[k] + displacement;
            let (projection, pin_goal) = pin.aim.projection_and_goal(positions[k], pin_goal);
            raised.push(displacement + projection * (pin_goal - positions[k]) * fade);
        }

        Some(raised)
    }
}

/// The fraction of the step between two poses, at most 1, up to which `p·(m − p) ≥ 0` holds for the
/// displacements `p` of the pins and `m` of their goals: beyond it the pins pass their goals.
fn fraction_up_to_goal(
    system: &PinSystem<'_>,
    displacements: &[DVec3],
    from: &[f64],
    to: &[f64],
) -> f64 {
    let goals = system.residual(system.weights(), displacements);
    let start = differences(&goals, &system.residual(from, displacements));
    let end = differences(&goals, &system.residual(to, displacements));
    let step = differences(&end, &start);

    // (s + t d)·(m − s − t d) = c + b t − a t².
    let a = dot(&step, &step);
    let b = dot(&step, &goals) - 2.0 * dot(&start, &step);
    let c = dot(&start, &goals) - dot(&start, &start);
    if a == 0.0 || c + b - a >= 0.0 {
        return 1.0;
    }

    // The positive root.
    ((b + (b * b + 4.0 * a * c.max(0.0)).sqrt()) / (2.0 * a)).clamp(0.0, 1.0)
}

fn differences(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(x, y)| x - y).collect()
}
