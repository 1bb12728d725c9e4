//! What the document keeps of a finished drag: final weights, and goals that no slider reaches.

use crate::engine::character::SolveReport;
use crate::model::document::Weights;
use crate::model::pose::{REACHED, Setup};

impl Setup {
    /// Stores the result of the last drag, whose final weights are `weights`.
    pub fn settle(&mut self, solve: &SolveReport, weights: &Weights) {
        let Some(pull) = self
            .pull
            .as_mut()
            .filter(|pull| pull.pins.len() == solve.pose.pins.len())
        else {
            return;
        };

        pull.result.clone_from(weights);
        for (pulled, result) in pull.pins.iter().zip(&solve.pose.pins) {
            let Some(mark) = self
                .pins
                .iter_mut()
                .find(|mark| mark.vertex == pulled.vertex && !mark.held)
            else {
                continue;
            };

            // The goal without the coordinates that are free.
            let (across, goal) = pulled.aim.projection_and_goal(result.reached, result.goal);
            let wanted = result.reached + across * (goal - result.reached);
            mark.goal = (wanted.is_finite() && result.error > REACHED * solve.size)
                .then(|| wanted.to_array());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::pose::{DraggedPin, PinMark, Pull};
    use pliant::mesh::glam::DVec3;
    use pliant::rig::Aim;
    use pliant::rig::{Explanation, PinResult, Pose};

    fn solve(pins: Vec<PinResult>) -> SolveReport {
        let pose = Pose {
            method: "",
            weights: vec![],
            pins,
            at_limit: vec![],
            kkt: None,
            iterations: 0,
            warnings: vec![],
        };
        SolveReport {
            gesture: 0,
            serial: 0,
            size: 1.0,
            pose,
            explanation: Explanation {
                moves: vec![],
                unreachable: vec![],
            },
            drags: vec![],
            secs: 0.0,
        }
    }

    fn setup(aim: Aim) -> Setup {
        let pull = Pull {
            pins: vec![DraggedPin::new(3, DVec3::X, aim)],
            ..Pull::default()
        };
        Setup {
            pins: vec![PinMark {
                goal: Some([9.0; 3]),
                ..PinMark::new(3)
            }],
            pull: Some(pull),
            ..Setup::default()
        }
    }

    #[test]
    fn a_reached_pin_drops_its_goal_and_an_unreached_pin_keeps_it() {
        // An error of a thousandth of the size counts as reached.
        let mut near = setup(Aim::Point);
        near.settle(
            &solve(vec![PinResult {
                goal: DVec3::X,
                reached: DVec3::X * 0.999,
                error: 0.001,
            }]),
            &Weights::new(),
        );

        assert_eq!(near.pins[0].goal, None);
        // An error of the whole size does not: the user still sees the goal.
        let mut far = setup(Aim::Point);
        far.settle(
            &solve(vec![PinResult {
                goal: DVec3::X,
                reached: DVec3::ZERO,
                error: 1.0,
            }]),
            &Weights::new(),
        );

        assert_eq!(far.pins[0].goal, Some([1.0, 0.0, 0.0]));
    }

    #[test]
    fn an_unconstrained_depth_is_not_part_of_a_goal() {
        let mut setup = setup(Aim::Across(DVec3::Z));
        let reached = DVec3::new(0.0, 0.0, -5.0);
        setup.settle(
            &solve(vec![PinResult {
                goal: DVec3::X,
                reached,
                error: 1.0,
            }]),
            &Weights::new(),
        );

        assert_eq!(setup.pins[0].goal, Some([1.0, 0.0, -5.0]));
    }

    #[test]
    fn held_pins_and_pins_of_the_same_stroke_keep_their_positions() {
        let places = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
        let stroke = |vertex| PinMark {
            stroke: Some(7),
            ..PinMark::new(vertex)
        };

        let held = PinMark {
            held: true,
            goal: Some([5.0; 3]),
            ..PinMark::new(3)
        };

        let setup = Setup {
            pins: vec![PinMark::new(0), stroke(1), stroke(2), held],
            ..Setup::default()
        };

        // Pins that stay while one is dragged: vertex and goal of each.
        let beside = |dragged: usize| {
            setup
                .held_beside(&[dragged], &places)
                .iter()
                .map(|p| (p.vertex.get(), p.goal()))
                .collect::<Vec<_>>()
        };

        assert_eq!(beside(0), [(3, DVec3::splat(5.0))]);
        assert_eq!(beside(1), [(2, DVec3::Y), (3, DVec3::splat(5.0))]);
    }

    #[test]
    fn moving_a_slider_ends_the_last_drag() {
        let mut setup = setup(Aim::Point);
        let weights: Weights = [("smile".to_owned(), 0.5)].into();
        setup.settle(
            &solve(vec![PinResult {
                goal: DVec3::X,
                reached: DVec3::X,
                error: 0.0,
            }]),
            &weights,
        );

        assert!(setup.current_pull(&weights).is_some());
        assert!(setup.current_pull(&Weights::new()).is_none());
    }
}
