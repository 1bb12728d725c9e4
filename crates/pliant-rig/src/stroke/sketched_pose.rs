//! Poses from several strokes, each drawn on the pose so far.
//!
//! **Problem.** A user draws a brow, then the mouth on the face with the raised brow, then moves
//! one pin a little further. Earlier strokes should keep their effect.
//!
//! **Method.** The pins of each stroke are solved from the weights so far, together with the pins
//! of the strokes before it, which hold the positions that they reached. Fine tuning replaces the
//! pins of the last stroke.
//!
//! **Source.** Çetinaslan, "Position Manipulation Techniques for Facial Animation", PhD thesis,
//! Universidade do Porto, 2016, sections 3.2.1 (any number of further strokes) and 3.2.4 (dragging
//! a pin of the curve afterwards).
//!
//! **Departures.** The thesis does not define the treatment of earlier pins. They hold the
//! positions that they reached, not their goals: otherwise a goal beyond the limits at the mouth
//! would pull again with every stroke on the brow. A new pin replaces an earlier one at the same
//! point. If the feature of a stroke is known, only its sliders follow the stroke, unless none of
//! them moves a pin of it. If a stroke has several interpretations, the first one that the sliders can follow is
//! used.

use std::sync::Arc;

use glam::DVec3;

use crate::{Explanation, Pin, PinResult, Pose, PoseSolver, Poser, Range, RigError};

/// How to treat the pins of a stroke when the next one is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EarlierStrokes {
    /// They hold the positions that they reached.
    #[default]
    Held,
    /// They are released.
    Released,
}

/// A pose that is built stroke by stroke.
#[derive(Debug)]
pub struct SketchedPose {
    poser: Poser,
    solver: Arc<dyn PoseSolver>,
    range: Range,
    earlier: EarlierStrokes,
    start: Vec<f64>,
    weights: Vec<f64>,
    strokes: Vec<Vec<StrokePin>>,
    last: Option<Pose>,
    warnings: Vec<String>,
}

/// A pin of a stroke and its goal.
#[derive(Debug, Clone)]
struct StrokePin {
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
    /// The pose, with the result at each pin.
    pub pose: Pose,
    /// The contribution of each slider.
    pub explanation: Explanation,
}

impl SketchedPose {
    /// *Chosen*: an interpretation fits if its relative residual is at most this.
    const LARGEST_RESIDUAL: f64 = 0.5;

    /// A pose without strokes at `weights`; missing ones count as zero.
    #[must_use]
    pub fn new(
        poser: &Poser,
        mut weights: Vec<f64>,
        solver: Arc<dyn PoseSolver>,
        range: Range,
    ) -> Self {
        weights.resize(poser.rig().targets().len(), 0.0);
        Self {
            poser: poser.clone(),
            solver,
            range,
            earlier: EarlierStrokes::default(),
            start: weights.clone(),
            weights,
            strokes: Vec::new(),
            last: None,
            warnings: Vec::new(),
        }
    }

    /// How to treat the pins of earlier strokes. Default: they are held.
    #[must_use]
    pub fn with_earlier(self, earlier: EarlierStrokes) -> Self {
        Self { earlier, ..self }
    }

    /// The vertex positions of the pose so far, on which the next stroke is drawn.
    #[must_use]
    pub fn positions(&self) -> Vec<DVec3> {
        self.poser.rig().evaluate(&self.weights)
    }

    /// The weights so far.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Solves one more stroke, whose pins are on the pose so far.
    pub fn draw(&mut self, pins: &[Pin]) -> Result<(), RigError> {
        let pose = self.solve(pins)?;
        self.keep(pins, pose);
        Ok(())
    }

    /// Solves one of several interpretations of a stroke: the first whose pins cover at least half
    /// of their displacement, or else the one with the least residual. Returns its index.
    ///
    /// # Errors
    /// [`RigError::NoPins`] if there are none.
    pub fn draw_first_that_fits(
        &mut self,
        interpretations: &[Vec<Pin>],
    ) -> Result<usize, RigError> {
        self.draw_on(interpretations, None)
    }

    /// As [`draw_first_that_fits`](Self::draw_first_that_fits), but only sliders with `followers`
    /// move, as [`FaceFeatures::followers`](crate::FaceFeatures::followers) gives them for the
    /// feature of the stroke. If they do not move it at all, all sliders may.
    ///
    /// # Errors
    /// [`RigError::NoPins`] if there are no interpretations.
    pub fn draw_on(
        &mut self,
        interpretations: &[Vec<Pin>],
        followers: Option<&[bool]>,
    ) -> Result<usize, RigError> {
        let restricted = match followers {
            Some(followers) => self.poser_of(followers, interpretations)?,
            None => None,
        };
        let poser = restricted.as_ref().unwrap_or(&self.poser);

        let mut best: Option<(usize, Pose, f64)> = None;
        for (k, pins) in interpretations.iter().enumerate() {
            let pose = self.solve_with(poser, pins)?;
            let own = &pose.pins[pose.pins.len() - pins.len()..];
            let residual = relative_residual(pins, own);
            if best.as_ref().is_none_or(|(_, _, least)| residual < *least) {
                best = Some((k, pose, residual));
            }

            // The order of the interpretations is their priority.
            if residual <= Self::LARGEST_RESIDUAL {
                break;
            }
        }

        let (k, pose, _) = best.ok_or(RigError::NoPins)?;
        self.keep(&interpretations[k], pose);
        Ok(k)
    }

    /// Replaces the pins of the last stroke and solves from the pose so far: fine tuning.
    pub fn redraw(&mut self, pins: &[Pin]) -> Result<(), RigError> {
        self.strokes.pop();
        self.draw(pins)
    }

    /// The rig with all sliders locked that do not follow a stroke; `None` if no follower moves a
    /// pin of it.
    fn poser_of(
        &self,
        followers: &[bool],
        interpretations: &[Vec<Pin>],
    ) -> Result<Option<Poser>, RigError> {
        let rig = self.poser.rig();
        let moves = |slider: usize, pin: &Pin| {
            let target = &rig.targets()[slider];
            let shape = (&target.vertices[..], &target.deltas[..]);
            pin.support(rig.neutral()).displacement(shape) != DVec3::ZERO
        };
        let free = (0..rig.targets().len())
            .filter(|&k| followers.get(k) == Some(&true) && !rig.sliders()[k].locked);
        let pins: Vec<&Pin> = interpretations.iter().flatten().collect();
        for pin in &pins {
            pin.check(rig.neutral())?;
        }
        if !free.clone().any(|k| pins.iter().any(|pin| moves(k, pin))) {
            return Ok(None);
        }

        let mut sliders = rig.sliders().to_vec();
        for slider in &mut sliders {
            slider.locked = true;
        }
        for k in free {
            sliders[k].locked = false;
        }
        Ok(Some(Poser::new(&rig.clone().with_sliders(sliders)?)?))
    }

    /// The pose for more pins, together with earlier ones, which come first.
    fn solve(&self, pins: &[Pin]) -> Result<Pose, RigError> {
        self.solve_with(&self.poser, pins)
    }

    fn solve_with(&self, poser: &Poser, pins: &[Pin]) -> Result<Pose, RigError> {
        let mut all = Vec::new();
        if self.earlier == EarlierStrokes::Held {
            for earlier in self.strokes.iter().flatten() {
                if pins.iter().all(|pin| pin.at != earlier.pin.at) {
                    all.push(earlier.pin.held());
                }
            }
        }
        all.extend_from_slice(pins);

        let displacements: Vec<DVec3> = all.iter().map(|pin| pin.displacement).collect();
        let mut grab = poser.grab(&self.weights, &all, &*self.solver, self.range)?;
        Ok(grab.solve(&displacements))
    }

    /// Stores a stroke and its pose; its pins replace earlier ones at the same points.
    fn keep(&mut self, pins: &[Pin], pose: Pose) {
        for stroke in &mut self.strokes {
            stroke.retain(|earlier| pins.iter().all(|pin| pin.at != earlier.pin.at));
        }

        let positions = self.positions();
        let mesh = self.poser.rig().neutral();
        let mut stroke = Vec::with_capacity(pins.len());
        for pin in pins {
            stroke.push(StrokePin {
                goal: pin.support(mesh).of(&positions) + pin.displacement,
                pin: pin.clone(),
            });
        }
        self.strokes.push(stroke);

        self.weights.clone_from(&pose.weights);

        // A warning is reported once, whatever stroke gave it.
        for warning in &pose.warnings {
            if !self.warnings.contains(warning) {
                self.warnings.push(warning.clone());
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
        let before = self.poser.rig().evaluate(&self.start);
        let after = self.positions();

        let mut pins = Vec::new();
        let mut strokes = Vec::new();
        let mut results = Vec::new();
        for (k, stroke) in self.strokes.iter().enumerate() {
            for StrokePin { pin, goal } in stroke {
                let support = pin.support(mesh);
                pins.push(Pin {
                    displacement: *goal - support.of(&before),
                    ..pin.clone()
                });
                strokes.push(k);

                // The result is measured from the final pose.
                let reached = support.of(&after);
                let (projection, goal) = pin.aim.projection_and_goal(reached, *goal);
                results.push(PinResult {
                    goal,
                    reached,
                    error: (projection * (goal - reached)).length(),
                });
            }
        }

        let pose = Pose {
            weights: self.weights.clone(),
            pins: results,
            warnings: self.warnings.clone(),
            ..last.clone()
        };

        // One drag from the start with all pins explains the whole pose.
        let explanation = self
            .poser
            .grab(&self.start, &pins, &*self.solver, self.range)?
            .explain(&pose);

        Ok(SketchedDrag {
            pins,
            strokes,
            pose,
            explanation,
        })
    }
}

/// The root of the squared errors of pins relative to their squared displacements.
fn relative_residual(pins: &[Pin], results: &[PinResult]) -> f64 {
    let mut squared_error = 0.0;
    let mut squared_displacement = 0.0;
    for (pin, result) in pins.iter().zip(results) {
        squared_error += result.error * result.error;
        let start = result.goal - pin.displacement;
        let (projection, _) = pin.aim.projection_and_goal(start, result.goal);
        squared_displacement += (projection * pin.displacement).length_squared();
    }

    if squared_displacement > 0.0 {
        (squared_error / squared_displacement).sqrt()
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bounded, PseudoInverse, Rig, Target};
    use glam::Vec3;
    use pliant_mesh::shapes::flat_sheet;

    const SIDE: usize = 10;

    fn bump(center: DVec3, displacement: DVec3, reach: f64) -> Vec<Vec3> {
        let lift =
            |p: &DVec3| (displacement * (1.0 - p.distance(center) / reach).max(0.0)).as_vec3();
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
    fn an_earlier_stroke_is_held_unless_it_is_released() {
        let (rig, solver) = (rig(), Arc::new(PseudoInverse));
        let poser = Poser::new(&rig).unwrap();
        let miss = |earlier: EarlierStrokes| {
            let mut face = SketchedPose::new(&poser, Vec::new(), solver.clone(), Range::Free)
                .with_earlier(earlier);

            // The two sliders overlap.
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

        assert!(
            miss(EarlierStrokes::Held) < 1e-12,
            "{}",
            miss(EarlierStrokes::Held)
        );
        assert!(
            miss(EarlierStrokes::Released) > 1e-3,
            "the sliders overlap, so that the second stroke moves the first"
        );
    }

    #[test]
    fn a_goal_that_was_not_reached_does_not_pull_again_with_the_next_stroke() {
        let (rig, solver) = (rig(), Arc::new(Bounded::default()));
        let poser = Poser::new(&rig).unwrap();
        let mut face = SketchedPose::new(&poser, Vec::new(), solver.clone(), Range::Clip);
        face.draw(&[Pin::new(CORNERS[0], DVec3::new(0.0, 0.3, 0.5))])
            .unwrap();

        // The goal is beyond the limits; the pin holds the position that it reached.
        let weights = face.weights().to_vec();
        let reached = face.positions()[CORNERS[0]];
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
            "the report still has the error"
        );
        assert!(first.reached.distance(reached) < 1e-9);
    }

    #[test]
    fn fine_tuning_moves_one_pin_and_a_new_stroke_replaces_it() {
        let (rig, solver) = (rig(), Arc::new(PseudoInverse));
        let poser = Poser::new(&rig).unwrap();
        let mut face = SketchedPose::new(&poser, Vec::new(), solver.clone(), Range::Free);
        face.draw(&CORNERS.map(|v| Pin::new(v, DVec3::Z * 0.3)))
            .unwrap();
        face.redraw(&[Pin::hold(CORNERS[0]), Pin::new(CORNERS[1], DVec3::Z * 0.2)])
            .unwrap();

        // The first pin is held, the second moves by 0.2 from 0.3.
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
            "one pin at one point"
        );
        assert!(
            drag.pose.pins.iter().all(|pin| pin.error < 1e-12) && drag.pose.warnings.is_empty()
        );
        assert!(
            (drag.pins[1].displacement.z - 0.4).abs() < 1e-12,
            "displacements count from the start"
        );
    }

    #[test]
    fn the_first_interpretation_that_fits_is_used() {
        let (rig, solver) = (rig(), Arc::new(Bounded::default()));
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
            let mut face = SketchedPose::new(&poser, Vec::new(), solver.clone(), Range::Clip);
            assert_eq!(
                face.draw_first_that_fits(&readings.map(Clone::clone))
                    .unwrap(),
                taken
            );
            assert_eq!(face.finish().unwrap().pins, *readings[taken]);
        }
    }

    #[test]
    fn only_followers_move_unless_none_of_them_moves_the_stroke() {
        let rig = rig();
        let poser = Poser::new(&rig).unwrap();
        let lift = [vec![Pin::new(CORNERS[0], DVec3::Z * 0.5)]];
        let weights = |followers: [bool; 3]| {
            let solver = Arc::new(Bounded::default());
            let mut face = SketchedPose::new(&poser, Vec::new(), solver, Range::Clip);
            face.draw_on(&lift, Some(&followers)).unwrap();
            face.weights().to_vec()
        };

        // Slider a is at the corner; b and c reach it a little.
        let first = weights([true, false, false]);
        assert!(first[0] > 0.4 && first[1..] == [0.0, 0.0], "{first:?}");
        let second = weights([false, true, false]);
        assert!(
            second[1] > 0.0 && second[0] == 0.0 && second[2] == 0.0,
            "{second:?}"
        );
        assert!(weights([false; 3])[0] > 0.4, "no follower moves the pin");
    }

    #[test]
    fn a_pose_without_strokes_has_no_report() {
        let (rig, solver) = (rig(), Arc::new(PseudoInverse));
        let poser = Poser::new(&rig).unwrap();
        let face = SketchedPose::new(&poser, vec![0.25], solver, Range::Clip);

        assert_eq!(face.weights(), [0.25, 0.0, 0.0]);
        assert!(matches!(face.finish(), Err(RigError::NoPins)));

        let mut face = face;
        assert!(matches!(
            face.draw_first_that_fits(&[]),
            Err(RigError::NoPins)
        ));
    }
}
