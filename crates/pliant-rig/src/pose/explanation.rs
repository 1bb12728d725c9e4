//! Explanation of a pose: the contribution of each slider, and what is out of reach.

use pliant_mesh::glam::DVec3;

use super::{Bounded, PinSystem, Pose, PoseSolver};
use crate::SliderId;

/// Which sliders moved, how they moved each pin, and which part of the goals is out of reach.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The sliders that moved, those with the largest effect first.
    pub moves: Vec<SliderMove>,
    /// For each pin the part of its goal that no weights inside their limits reach.
    pub unreachable: Vec<DVec3>,
}

/// The contribution of one slider.
#[derive(Debug, Clone, PartialEq)]
pub struct SliderMove {
    /// The slider.
    pub slider: SliderId,
    /// Its weight before the drag.
    pub from: f64,
    /// Its weight now.
    pub to: f64,
    /// Its contribution at each pin.
    pub shares: Vec<PinShare>,
}

/// The contribution of a slider at a pin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PinShare {
    /// The displacement of the pin by the slider.
    pub displacement: DVec3,
    /// The displacement along the goal, relative to the distance of the goal: 1 reaches it, below
    /// zero moves away from it.
    pub of_goal: f64,
}

/// A damping so small that what remains is out of reach, not penalised.
const NEGLIGIBLE_DAMPING: f64 = 1e-7;

impl Explanation {
    pub(super) fn of(system: &PinSystem, pose: &Pose) -> Self {
        let mut goals = Vec::with_capacity(pose.pins.len());
        for (pin, position) in pose.pins.iter().zip(system.positions()) {
            goals.push(pin.goal - *position);
        }

        let mut moves = Vec::new();
        for (slider, weight) in pose.weights.iter().enumerate() {
            if *weight != system.weights()[slider] {
                moves.push(slider_move(system, pose, &goals, slider));
            }
        }

        // Ties in the order of the sliders.
        moves.sort_by(|a, b| {
            let by_effect = largest_displacement(b).total_cmp(&largest_displacement(a));
            by_effect.then(a.slider.cmp(&b.slider))
        });

        Self {
            moves,
            unreachable: unreachable(system, pose, &goals),
        }
    }
}

fn largest_displacement(slider_move: &SliderMove) -> f64 {
    let shares = slider_move.shares.iter();
    shares
        .map(|share| share.displacement.length())
        .fold(0.0, f64::max)
}

/// The effect of moving the slider alone from its end back to its start. With combinations, the
/// contributions need not sum to the whole.
fn slider_move(system: &PinSystem, pose: &Pose, goals: &[DVec3], slider: usize) -> SliderMove {
    // The pose without this slider.
    let mut without = pose.weights.clone();
    without[slider] = system.weights()[slider];
    let positions_without = system.positions_at(&without);

    let mut shares = Vec::with_capacity(goals.len());
    for (k, goal) in goals.iter().enumerate() {
        let displacement = pose.pins[k].reached - positions_without[k];
        let length_squared = goal.length_squared();
        let of_goal = if length_squared > 0.0 {
            displacement.dot(*goal) / length_squared
        } else {
            0.0
        };
        shares.push(PinShare {
            displacement,
            of_goal,
        });
    }

    SliderMove {
        slider: slider.into(),
        from: system.weights()[slider],
        to: pose.weights[slider],
        shares,
    }
}

/// What remains of the goals after a solve with negligible penalties.
fn unreachable(system: &PinSystem, pose: &Pose, goals: &[DVec3]) -> Vec<DVec3> {
    let unpenalised = Bounded::default()
        .with_debiasing(false)
        .with_goal_limit(None)
        .with_sparsity(0.0)
        .with_damping(NEGLIGIBLE_DAMPING);
    let Ok(mut factored) = unpenalised.factor(system) else {
        return pose.pins.iter().map(|pin| pin.goal - pin.reached).collect();
    };

    // The nearest pose that the sliders reach within their limits.
    let mut weights = pose.weights.clone();
    factored.solve(system, goals, None, &mut weights);

    let nearest = system.positions_at(&weights);
    let mut remaining = Vec::with_capacity(nearest.len());
    for (k, pin) in system.pins().iter().enumerate() {
        let goal = pose.pins[k].goal;
        let (projection, goal) = pin.aim.projection_and_goal(nearest[k], goal);
        remaining.push(projection * (goal - nearest[k]));
    }

    remaining
}
