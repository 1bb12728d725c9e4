//! Why a pose is as it is.

use pliant_mesh::glam::DVec3;

use super::bounded::Bounded;
use super::{PinSystem, Pose, PoseSolver};

/// Which sliders moved, what they did at each pin, and what no slider can do.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The sliders that moved, the ones that matter most first.
    pub moves: Vec<SliderMove>,
    /// For each pin the part of its goal that no weights inside their limits reach.
    pub unreachable: Vec<DVec3>,
}

/// What one slider did.
#[derive(Debug, Clone, PartialEq)]
pub struct SliderMove {
    /// The slider.
    pub slider: usize,
    /// Its weight before the drag.
    pub from: f64,
    /// Its weight now.
    pub to: f64,
    /// What that did at each pin.
    pub shares: Vec<PinShare>,
}

/// What a slider did at a pin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PinShare {
    /// How it moved the pin.
    pub displacement: DVec3,
    /// How much of the way to the pin's goal that is: 1 is all of it, below zero is away from it.
    pub of_goal: f64,
}

impl Explanation {
    /// Prices so low that what is left is out of reach, not spared.
    const NEXT_TO_NOTHING: f64 = 1e-7;

    pub(super) fn of(system: &PinSystem<'_>, pose: &Pose) -> Self {
        let goals: Vec<DVec3> = pose
            .pins
            .iter()
            .zip(system.places())
            .map(|(pin, place)| pin.goal - *place)
            .collect();
        let moved = (0..pose.weights.len()).filter(|&k| pose.weights[k] != system.weights()[k]);
        let mut moves: Vec<SliderMove> = moved
            .map(|slider| slider_move(system, pose, &goals, slider))
            .collect();
        let effect = |m: &SliderMove| {
            m.shares
                .iter()
                .map(|s| s.displacement.length())
                .fold(0.0, f64::max)
        };
        moves.sort_by(|a, b| {
            effect(b)
                .total_cmp(&effect(a))
                .then(a.slider.cmp(&b.slider))
        });
        Self {
            moves,
            unreachable: unreachable(system, pose, &goals),
        }
    }
}

/// The slider moved alone from its end back to its start: through combinations shares need not add
/// up to the whole.
fn slider_move(system: &PinSystem<'_>, pose: &Pose, goals: &[DVec3], slider: usize) -> SliderMove {
    let mut without = pose.weights.clone();
    without[slider] = system.weights()[slider];
    let back = system.places_at(&without);
    let share = |((pin, back), goal): ((&super::PinResult, &DVec3), &DVec3)| {
        let displacement = pin.reached - *back;
        let length = goal.length_squared();
        PinShare {
            displacement,
            of_goal: if length > 0.0 {
                displacement.dot(*goal) / length
            } else {
                0.0
            },
        }
    };
    let shares = pose.pins.iter().zip(&back).zip(goals).map(share).collect();
    SliderMove {
        slider,
        from: system.weights()[slider],
        to: pose.weights[slider],
        shares,
    }
}

fn unreachable(system: &PinSystem<'_>, pose: &Pose, goals: &[DVec3]) -> Vec<DVec3> {
    let eager = Bounded::default()
        .with_refund(false)
        .with_sparsity(0.0)
        .with_damping(Explanation::NEXT_TO_NOTHING);
    let missing: Vec<DVec3> = pose.pins.iter().map(|pin| pin.goal - pin.reached).collect();
    let Ok(mut factored) = eager.factor(system) else {
        return missing;
    };
    let mut weights = pose.weights.clone();
    factored.solve(system, goals, None, &mut weights);
    let best = system.places_at(&weights);
    let left = |((result, pin), best): ((&super::PinResult, &crate::Pin), DVec3)| {
        let (across, goal) = pin.aim.measure(best, result.goal);
        across * (goal - best)
    };
    pose.pins
        .iter()
        .zip(system.pins())
        .zip(best)
        .map(left)
        .collect()
}
