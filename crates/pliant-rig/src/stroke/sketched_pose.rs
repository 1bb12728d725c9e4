//! One stroke after the other, each on the pose so far.
//!
//! **Problem.** A brow is drawn, then the mouth on the face with the raised brow, then one pin is
//! pulled a little further. What was drawn before should stay.
//!
//! **Method.** Each stroke's pins are solved from the weights so far, together with the pins of the
//! strokes before it, which hold the places they have reached. Fine tuning replaces the pins of the
//! last stroke.
//!
//! **Source.** Çetinaslan, "Position Manipulation Techniques for Facial Animation", PhD thesis,
//! Universidade do Porto, 2016, sections 3.2.1 (any number of further strokes) and 3.2.4 (dragging
//! a pin of the curve afterwards).
//!
//! **Ours.** The thesis does not say what becomes of earlier pins. They hold what they reached, not
//! what they were asked for: else what a limit held back in the mouth would pull again with every
//! stroke on the brow. A new pin replaces an earlier one in the same place. Where a stroke can be
//! read in several ways, the rig decides: what its sliders can follow was meant.

use glam::DVec3;

use crate::{Explanation, Pin, PinResult, Pose, PoseSolver, Poser, Range, RigError};

/// What becomes of a stroke's pins when the next one is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Earlier {
    /// They hold the places they have reached.
    #[default]
    Held,
    /// They let go.
    LetGo,
}

/// A pose that grows stroke by stroke.
#[derive(Debug)]
pub struct SketchedPose<'p> {
    poser: &'p Poser<'p>,
    solver: &'p dyn PoseSolver,
    range: Range,
    earlier: Earlier,
    start: Vec<f64>,
    weights: Vec<f64>,
    strokes: Vec<Vec<Drawn>>,
    last: Option<Pose>,
    problems: Vec<String>,
}

/// A pin and the place that its stroke asked for.
#[derive(Debug, Clone)]
struct Drawn {
    pin: Pin,
    goal: DVec3,
}

/// All strokes together, as one drag from the start.
#[derive(Debug, Clone)]
pub struct SketchedDrag {
    /// The pins of every stroke in their order; displacements are from the start.
    pub pins: Vec<Pin>,
    /// For each pin its stroke, counted from 0.
    pub strokes: Vec<usize>,
    /// The pose, with what became of each pin.
    pub pose: Pose,
    /// Why it is as it is.
    pub explanation: Explanation,
}

impl<'p> SketchedPose<'p> {
    /// *Ours*: a reading that leaves more than half of its way undone was not meant.
    const HALF_WAY: f64 = 0.5;

    /// A pose without strokes at `weights`; missing ones count as zero.
    #[must_use]
    pub fn new(
        poser: &'p Poser<'p>,
        mut weights: Vec<f64>,
        solver: &'p dyn PoseSolver,
        range: Range,
    ) -> Self {
        weights.resize(poser.rig().targets().len(), 0.0);
        let (start, strokes, problems) = (weights.clone(), Vec::new(), Vec::new());
        Self {
            poser,
            solver,
            range,
            earlier: Earlier::default(),
            start,
            weights,
            strokes,
            last: None,
            problems,
        }
    }

    /// What becomes of earlier strokes. Default: they are held.
    #[must_use]
    pub fn with_earlier(self, earlier: Earlier) -> Self {
        Self { earlier, ..self }
    }

    /// The vertices in the pose so far: what the next stroke is drawn on.
    #[must_use]
    pub fn positions(&self) -> Vec<DVec3> {
        self.poser.rig().evaluate(&self.weights)
    }

    /// The weights so far.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Follows one more stroke, whose pins are on the pose so far.
    pub fn draw(&mut self, pins: &[Pin]) -> Result<(), RigError> {
        let pose = self.solve(pins)?;
        self.keep(pins, pose);
        Ok(())
    }

    /// Follows one of several readings of a stroke: the first that comes at least half of its way,
    /// else the one that comes closest. Returns which.
    ///
    /// # Errors
    /// [`RigError::NoPins`] if there are none.
    pub fn draw_first_that_fits(&mut self, readings: &[Vec<Pin>]) -> Result<usize, RigError> {
        let mut best: Option<(usize, Pose, f64)> = None;
        for (k, pins) in readings.iter().enumerate() {
            let pose = self.solve(pins)?;
            let miss = relative_miss(pins, &pose.pins[pose.pins.len() - pins.len()..]);
            if best.as_ref().is_none_or(|(_, _, least)| miss < *least) {
                best = Some((k, pose, miss));
            }
            if miss <= Self::HALF_WAY {
                break;
            }
        }
        let (k, pose, _) = best.ok_or(RigError::NoPins)?;
        self.keep(&readings[k], pose);
        Ok(k)
    }

    /// Follows other pins in the place of the last stroke's, from the pose so far: fine tuning.
    pub fn redraw(&mut self, pins: &[Pin]) -> Result<(), RigError> {
        self.strokes.pop();
        self.draw(pins)
    }

    /// The pose for more pins, with earlier ones held first.
    fn solve(&self, pins: &[Pin]) -> Result<Pose, RigError> {
        let replaced = |drawn: &&Drawn| pins.iter().any(|pin| pin.at == drawn.pin.at);
        let held = self
            .strokes
            .iter()
            .flatten()
            .filter(|drawn| self.earlier == Earlier::Held && !replaced(drawn));
        let all: Vec<Pin> = held
            .map(|drawn| drawn.pin.held())
            .chain(pins.iter().cloned())
            .collect();
        let mut grab = self
            .poser
            .grab(&self.weights, &all, self.solver, self.range)?;
        Ok(grab.solve(&all.iter().map(|pin| pin.displacement).collect::<Vec<_>>()))
    }

    fn keep(&mut self, pins: &[Pin], pose: Pose) {
        let places = self.positions();
        for stroke in &mut self.strokes {
            stroke.retain(|earlier| pins.iter().all(|pin| pin.at != earlier.pin.at));
        }
        let goal =
            |pin: &Pin| pin.support(self.poser.rig().neutral()).of(&places) + pin.displacement;
        self.strokes.push(
            pins.iter()
                .map(|pin| Drawn {
                    goal: goal(pin),
                    pin: pin.clone(),
                })
                .collect(),
        );
        self.weights.clone_from(&pose.weights);
        for problem in &pose.problems {
            if !self.problems.contains(problem) {
                self.problems.push(problem.clone());
            }
        }
        self.last = Some(pose);
    }

    /// All strokes as one drag from the start, for a report.
    ///
    /// # Errors
    /// [`RigError::NoPins`] if nothing was drawn.
    pub fn finish(&self) -> Result<SketchedDrag, RigError> {
        let last = self.last.as_ref().ok_or(RigError::NoPins)?;
        let mesh = self.poser.rig().neutral();
        let (before, after) = (self.poser.rig().evaluate(&self.start), self.positions());
        let (mut pins, mut strokes, mut results) = (Vec::new(), Vec::new(), Vec::new());
        for (stroke, drawn) in self
            .strokes
            .iter()
            .enumerate()
            .flat_map(|(k, stroke)| stroke.iter().map(move |drawn| (k, drawn)))
        {
            let support = drawn.pin.support(mesh);
            let reached = support.of(&after);
            let (across, goal) = drawn.pin.aim.measure(reached, drawn.goal);
            results.push(PinResult {
                goal,
                reached,
                error: (across * (goal - reached)).length(),
            });
            pins.push(Pin {
                displacement: drawn.goal - support.of(&before),
                ..drawn.pin.clone()
            });
            strokes.push(stroke);
        }
        let pose = Pose {
            weights: self.weights.clone(),
            pins: results,
            problems: self.problems.clone(),
            ..last.clone()
        };
        let explanation = self
            .poser
            .grab(&self.start, &pins, self.solver, self.range)?
            .explain(&pose);
        Ok(SketchedDrag {
            pins,
            strokes,
            pose,
            explanation,
        })
    }
}

/// How much of the way of pins is left, as a root mean square.
fn relative_miss(pins: &[Pin], results: &[PinResult]) -> f64 {
    let left: f64 = results
        .iter()
        .map(|result| result.error * result.error)
        .sum();
    let way = |(pin, result): (&Pin, &PinResult)| {
        let (across, _) = pin.aim.measure(result.goal - pin.displacement, result.goal);
        (across * pin.displacement).length_squared()
    };
    let way: f64 = pins.iter().zip(results).map(way).sum();
    if way > 0.0 { (left / way).sqrt() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bounded, PseudoInverse, Rig, Target};
    use glam::Vec3;
    use pliant_mesh::shapes::flat_sheet;

    const SIDE: usize = 10;

    fn bump(center: DVec3, way: DVec3, reach: f64) -> Vec<Vec3> {
        let lift = |p: &DVec3| (way * (1.0 - p.distance(center) / reach).max(0.0)).as_vec3();
        flat_sheet(SIDE, 0.0).positions().iter().map(lift).collect()
    }

    /// A sheet whose two corners rise by a slider each, overlapping in the middle.
    fn rig() -> Rig {
        let targets = [("a", DVec3::ZERO), ("b", DVec3::X), ("c", DVec3::Y)];
        let targets = targets.map(|(name, at)| Target::from_dense(name, bump(at, DVec3::Z, 1.2)));
        Rig::new(flat_sheet(SIDE, 0.0), targets.to_vec()).unwrap()
    }

    const CORNERS: [usize; 2] = [0, SIDE * (SIDE + 1)];

    #[test]
    fn an_earlier_stroke_stays_where_it_was_unless_it_lets_go() {
        let (rig, solver) = (rig(), PseudoInverse);
        let poser = Poser::new(&rig).unwrap();
        let miss = |earlier: Earlier| {
            let mut face =
                SketchedPose::new(&poser, Vec::new(), &solver, Range::Free).with_earlier(earlier);
            face.draw(&[Pin::new(CORNERS[0], DVec3::Z * 0.5)]).unwrap();
            face.draw(&[Pin::new(CORNERS[1], DVec3::Z * 0.4)]).unwrap();
            let drag = face.finish().unwrap();
            assert_eq!(drag.strokes, [0, 1]);
            assert!(
                drag.pose.pins[1].error < 1e-12,
                "the new stroke is followed: {:?}",
                drag.pose.pins
            );
            drag.pose.pins[0].error
        };
        assert!(miss(Earlier::Held) < 1e-12, "{}", miss(Earlier::Held));
        assert!(
            miss(Earlier::LetGo) > 1e-3,
            "the sliders overlap, so that the second stroke moves the first"
        );
    }

    #[test]
    fn a_goal_that_was_not_reached_does_not_pull_again_with_the_next_stroke() {
        let (rig, solver) = (rig(), Bounded::default());
        let poser = Poser::new(&rig).unwrap();
        let mut face = SketchedPose::new(&poser, Vec::new(), &solver, Range::Clip);
        face.draw(&[Pin::new(CORNERS[0], DVec3::new(0.0, 0.3, 0.5))])
            .unwrap();
        let (weights, reached) = (face.weights().to_vec(), face.positions()[CORNERS[0]]);
        face.draw(&[Pin::hold(CORNERS[1])]).unwrap();
        let worst = face
            .weights()
            .iter()
            .zip(&weights)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max);
        assert!(worst < 1e-9, "nothing new was asked for: {worst}");
        let first = face.finish().unwrap().pose.pins[0];
        assert!(
            (first.goal - DVec3::new(0.0, 0.3, 0.5)).length() < 1e-12 && first.error > 0.29,
            "the report still tells the miss"
        );
        assert!(first.reached.distance(reached) < 1e-9);
    }

    #[test]
    fn fine_tuning_moves_one_pin_and_overdrawing_replaces_it() {
        let (rig, solver) = (rig(), PseudoInverse);
        let poser = Poser::new(&rig).unwrap();
        let mut face = SketchedPose::new(&poser, Vec::new(), &solver, Range::Free);
        face.draw(&CORNERS.map(|v| Pin::new(v, DVec3::Z * 0.3)))
            .unwrap();
        face.redraw(&[Pin::hold(CORNERS[0]), Pin::new(CORNERS[1], DVec3::Z * 0.2)])
            .unwrap();
        let heights = CORNERS.map(|v| face.positions()[v].z);
        assert!(
            (heights[0] - 0.3).abs() < 1e-12 && (heights[1] - 0.5).abs() < 1e-12,
            "{heights:?}"
        );
        face.draw(&[Pin::new(CORNERS[1], DVec3::Z * -0.1)]).unwrap();
        let drag = face.finish().unwrap();
        assert_eq!(
            (drag.pins.len(), &drag.strokes[..]),
            (2, &[0, 1][..]),
            "one pin in one place"
        );
        assert!(
            drag.pose.pins.iter().all(|pin| pin.error < 1e-12) && drag.pose.problems.is_empty()
        );
        assert!(
            (drag.pins[1].displacement.z - 0.4).abs() < 1e-12,
            "displacements count from the start"
        );
    }

    #[test]
    fn the_first_reading_that_can_be_followed_is_taken() {
        let (rig, solver) = (rig(), Bounded::default());
        let poser = Poser::new(&rig).unwrap();
        let up = vec![Pin::new(CORNERS[0], DVec3::Z * 0.5)];
        let higher = vec![Pin::new(CORNERS[0], DVec3::Z * 0.9)];
        let aside = vec![Pin::new(CORNERS[0], DVec3::X * 0.5)];
        let askew = vec![Pin::new(CORNERS[0], DVec3::new(0.5, 0.0, 0.1))];
        for (readings, taken) in [
            ([&up, &higher], 0),
            ([&aside, &up], 1),
            ([&askew, &aside], 0),
            ([&aside, &askew], 1),
        ] {
            let mut face = SketchedPose::new(&poser, Vec::new(), &solver, Range::Clip);
            assert_eq!(
                face.draw_first_that_fits(&readings.map(Clone::clone))
                    .unwrap(),
                taken
            );
            assert_eq!(face.finish().unwrap().pins, *readings[taken]);
        }
    }

    #[test]
    fn a_pose_without_strokes_has_nothing_to_report() {
        let (rig, solver) = (rig(), PseudoInverse);
        let poser = Poser::new(&rig).unwrap();
        let face = SketchedPose::new(&poser, vec![0.25], &solver, Range::Clip);
        assert_eq!(face.weights(), [0.25, 0.0, 0.0]);
        assert!(matches!(face.finish(), Err(RigError::NoPins)));
        let mut face = face;
        assert!(matches!(
            face.draw_first_that_fits(&[]),
            Err(RigError::NoPins)
        ));
    }
}
