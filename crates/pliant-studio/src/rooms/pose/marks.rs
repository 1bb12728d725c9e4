//! Pins as the document remembers them.
//!
//! **Ours.** A free pin rides on the surface: it asks for something only while it is dragged, so
//! other pins and sliders move it along. Where a drag leaves it short of its goal it keeps that
//! goal, as a line on the screen and as work for the sculpt layer, but it pulls no more. A held pin
//! keeps its place in space and takes part in every drag; so do the pins that came with one stroke,
//! while one of them is dragged.

use pliant::mesh::glam::DVec3;
use pliant::rig::Aim;
use serde::{Deserialize, Serialize};

use super::Setup;
use crate::character::{Posed, Solve};
use crate::document::Weights;

/// A pin.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PinMark {
    /// The vertex it holds.
    pub vertex: u32,
    /// Where it should be, if it asks for a place: it is held, or it was dragged out of reach.
    pub goal: Option<[f64; 3]>,
    /// Whether it keeps its place while others are dragged.
    pub held: bool,
    /// The stroke it came with.
    pub stroke: Option<u32>,
}

/// A pin in a drag.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pulled {
    /// The vertex it holds.
    pub vertex: u32,
    /// Where it should go.
    pub goal: [f64; 3],
    /// Which coordinates matter.
    pub aim: Aim,
    /// Whether it should rather stay than the others arrive, where the method knows of that.
    #[serde(default)]
    pub held: bool,
}

/// The last drag: what another method does differently.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Pull {
    /// The weights at which it began.
    pub base: Weights,
    /// The weights at which it ended.
    pub result: Weights,
    /// Its pins.
    pub pins: Vec<Pulled>,
}

/// How far from its goal a pin may be, in parts of the rig's size, and count as there. *Ours*: a
/// millimetre on a head, which no line on the screen shows.
pub(super) const REACHED: f64 = 0.004;

impl PinMark {
    /// A free pin.
    #[must_use]
    pub fn new(vertex: u32) -> Self {
        Self {
            vertex,
            ..Self::default()
        }
    }

    /// Where it should be.
    #[must_use]
    pub fn goal(&self) -> Option<DVec3> {
        self.goal.map(DVec3::from_array)
    }

    /// Where it is.
    #[must_use]
    pub fn place(&self, positions: &[DVec3]) -> Option<DVec3> {
        positions.get(self.vertex as usize).copied()
    }
}

impl Pulled {
    /// A pin that is wanted at a place.
    #[must_use]
    pub fn new(vertex: u32, goal: DVec3, aim: Aim) -> Self {
        Self {
            vertex,
            goal: goal.to_array(),
            aim,
            held: false,
        }
    }

    /// Where it should go.
    #[must_use]
    pub fn goal(&self) -> DVec3 {
        DVec3::from_array(self.goal)
    }
}

/// The weights of a posed character by name.
#[must_use]
pub(super) fn weights_of(posed: &Posed) -> Weights {
    posed
        .rig
        .targets()
        .iter()
        .zip(&posed.weights)
        .filter(|(_, w)| **w != 0.0)
        .map(|(t, w)| (t.name.clone(), *w))
        .collect()
}

impl Setup {
    /// What holds still in a drag of the pins `dragged`: held pins, and those of the same strokes.
    #[must_use]
    pub fn held_beside(&self, dragged: &[usize], positions: &[DVec3]) -> Vec<Pulled> {
        let strokes: Vec<u32> = dragged
            .iter()
            .filter_map(|&k| self.pins.get(k)?.stroke)
            .collect();
        let beside = self
            .pins
            .iter()
            .enumerate()
            .filter(|(k, _)| !dragged.contains(k));
        let holds = beside.filter(|(_, mark)| {
            mark.held || mark.stroke.is_some_and(|stroke| strokes.contains(&stroke))
        });
        let pulled = holds.filter_map(|(_, mark)| {
            let place = mark.place(positions)?;
            let goal = if mark.held {
                mark.goal().unwrap_or(place)
            } else {
                place
            };
            Some(Pulled {
                held: true,
                ..Pulled::new(mark.vertex, goal, Aim::Point)
            })
        });
        pulled.collect()
    }

    /// Takes in what became of the last drag, of which `weights` are the result.
    pub fn settle(&mut self, solve: &Solve, weights: &Weights) {
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
            let (across, goal) = pulled.aim.measure(result.reached, result.goal);
            let wanted = result.reached + across * (goal - result.reached);
            mark.goal = (wanted.is_finite() && result.error > REACHED * solve.size)
                .then(|| wanted.to_array());
        }
    }

    /// The last drag, if the pose is still what it led to.
    #[must_use]
    pub fn current_pull(&self, weights: &Weights) -> Option<&Pull> {
        self.pull
            .as_ref()
            .filter(|pull| !pull.pins.is_empty() && pull.result == *weights)
    }

    /// A number that no stroke has.
    #[must_use]
    pub fn next_stroke(&self) -> u32 {
        self.pins
            .iter()
            .filter_map(|mark| mark.stroke)
            .max()
            .map_or(0, |last| last.saturating_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant::rig::{Explanation, PinResult, Pose};

    fn solve(pins: Vec<PinResult>) -> Solve {
        let pose = Pose {
            method: "",
            weights: vec![],
            pins,
            at_limit: vec![],
            kkt: None,
            iterations: 0,
            problems: vec![],
        };
        Solve {
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
            pins: vec![Pulled::new(3, DVec3::X, aim)],
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
    fn a_pin_that_arrived_asks_for_nothing_more_and_one_out_of_reach_keeps_its_goal() {
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
    fn depth_that_was_not_asked_for_is_no_part_of_a_goal() {
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
    fn held_pins_and_mates_of_a_stroke_stay_where_they_are() {
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
        let beside = |dragged: usize| {
            setup
                .held_beside(&[dragged], &places)
                .iter()
                .map(|p| (p.vertex, p.goal()))
                .collect::<Vec<_>>()
        };
        assert_eq!(beside(0), [(3, DVec3::splat(5.0))]);
        assert_eq!(beside(1), [(2, DVec3::Y), (3, DVec3::splat(5.0))]);
    }

    #[test]
    fn a_drag_is_over_once_sliders_were_moved_by_hand() {
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
