//! Pins held and dragged.

use pliant_mesh::glam::DVec3;

use super::explain::Explanation;
use super::{Factored, Near, Outcome, PinSystem, PoseSolver};
use crate::RigError;

/// What becomes of weights outside their limits after a solve that does not know them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Range {
    /// They are cut to their limits, as the thesis does.
    #[default]
    Clip,
    /// They stay.
    Free,
}

/// Pins held by a hand.
#[derive(Debug)]
pub struct Grab<'p> {
    system: PinSystem<'p>,
    factored: Box<dyn Factored>,
    method: &'static str,
    range: Range,
    weights: Vec<f64>,
}

/// The pose that a drag leads to.
#[derive(Debug, Clone, PartialEq)]
pub struct Pose {
    /// The solver's name.
    pub method: &'static str,
    /// The weight of each slider.
    pub weights: Vec<f64>,
    /// The pins, where they were to go and where they went.
    pub pins: Vec<PinResult>,
    /// Sliders that a limit holds back.
    pub at_limit: Vec<usize>,
    /// The largest violation of the conditions of optimality, for solvers that have some.
    pub kkt: Option<f64>,
    /// Iterations of the solver.
    pub iterations: usize,
    /// What a user should know, one sentence each.
    pub problems: Vec<String>,
}

/// What became of one pin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PinResult {
    /// Where it was to go.
    pub goal: DVec3,
    /// Where it went.
    pub reached: DVec3,
    /// The distance between them.
    pub error: f64,
}

impl Pose {
    /// A slider counts as active above this.
    pub const ACTIVE: f64 = 0.02;

    /// How many sliders are visibly away from zero.
    #[must_use]
    pub fn active_sliders(&self) -> usize {
        self.weights
            .iter()
            .filter(|w| w.abs() > Self::ACTIVE)
            .count()
    }
}

impl<'p> Grab<'p> {
    pub(super) fn new(
        system: PinSystem<'p>,
        solver: &dyn PoseSolver,
        range: Range,
    ) -> Result<Self, RigError> {
        let factored = solver.factor(&system)?;
        let weights = system.weights().to_vec();
        Ok(Self {
            system,
            factored,
            method: solver.name(),
            range,
            weights,
        })
    }

    /// The pins and the rows of the rig at them.
    #[must_use]
    pub fn system(&self) -> &PinSystem<'p> {
        &self.system
    }

    /// The weights that bring the pins `displacements` away from where they were grabbed, one for
    /// each pin.
    ///
    /// # Panics
    /// If there is not one displacement for each pin.
    pub fn solve(&mut self, displacements: &[DVec3]) -> Pose {
        self.solve_near(displacements, None)
    }

    /// As [`solve`](Self::solve), but no weight changes by more than `step` since the last solve or
    /// step.
    ///
    /// For a hand that moves in small steps: where a limit is met and other sliders take over, they
    /// do so over a few frames. On a rig without in-betweens and combinations, repeated with
    /// the same displacements it ends at the weights of `solve`.
    ///
    /// # Panics
    /// If there is not one displacement for each pin.
    pub fn step(&mut self, displacements: &[DVec3], step: f64) -> Pose {
        let last = self.weights.clone();
        self.solve_near(
            displacements,
            Some(Near {
                weights: &last,
                step,
            }),
        )
    }

    /// Takes the drag back: the next solve or step starts from the weights at which the pins were
    /// grabbed.
    pub fn reset(&mut self) {
        self.weights.copy_from_slice(self.system.weights());
        self.factored.reset();
    }

    fn solve_near(&mut self, displacements: &[DVec3], near: Option<Near<'_>>) -> Pose {
        assert_eq!(
            displacements.len(),
            self.system.pins().len(),
            "one displacement for each pin"
        );
        if let Some(pin) = displacements.iter().position(|d| !d.is_finite()) {
            let place = self.system.pins()[pin].place();
            let mut pose = self.report(
                &vec![DVec3::ZERO; displacements.len()],
                Outcome::default(),
                Vec::new(),
            );
            pose.problems.push(format!(
                "the goal of the pin on {place} is not finite; the pose stays as it was"
            ));
            return pose;
        }
        let outcome = self
            .factored
            .solve(&self.system, displacements, near, &mut self.weights);
        if let Some(near) = near {
            let step = near.step.max(0.0);
            self.weights
                .iter_mut()
                .zip(near.weights)
                .for_each(|(new, old)| *new = new.max(old - step).min(old + step));
        }
        let clipped = self.clip();
        self.report(displacements, outcome, clipped)
    }

    /// Cuts weights to their limits where that is asked for; returns the sliders that were cut.
    fn clip(&mut self) -> Vec<usize> {
        if self.range == Range::Free || self.factored.keeps_limits() {
            return Vec::new();
        }
        let sliders = self.system.rig().sliders();
        let mut clipped = Vec::new();
        for (slider, weight) in self.weights.iter_mut().enumerate() {
            let inside = sliders[slider].limits.clamp(*weight);
            // What was outside before the drag and did not move is left there.
            if inside != *weight && *weight != self.system.weights()[slider] {
                *weight = inside;
                clipped.push(slider);
            }
        }
        clipped
    }

    fn report(&self, displacements: &[DVec3], outcome: Outcome, clipped: Vec<usize>) -> Pose {
        let reached = self.system.places_at(&self.weights);
        let results = reached
            .iter()
            .zip(self.system.places())
            .zip(displacements)
            .zip(self.system.pins());
        let pins = results.map(|(((&reached, place), displacement), pin)| {
            let (across, goal) = pin.aim.measure(reached, *place + *displacement);
            PinResult {
                goal,
                reached,
                error: (across * (goal - reached)).length(),
            }
        });
        Pose {
            method: self.method,
            weights: self.weights.clone(),
            pins: pins.collect(),
            at_limit: if clipped.is_empty() {
                outcome.held
            } else {
                clipped
            },
            kkt: outcome.kkt,
            iterations: outcome.iterations,
            problems: self.problems(displacements, outcome.kkt),
        }
    }

    /// A certificate above this is worth a sentence.
    const GOOD_CERTIFICATE: f64 = 1e-6;

    fn problems(&self, displacements: &[DVec3], kkt: Option<f64>) -> Vec<String> {
        let pins = self.system.pins();
        let mut problems = Vec::new();
        for (k, pin) in pins.iter().enumerate() {
            let still = displacements[k] != DVec3::ZERO && !self.system.is_moved(k);
            if still {
                problems.push(format!(
                    "no target moves {}; the weights cannot reach its goal, a residual layer can",
                    pin.place()
                ));
            }
            let other = (0..k).find(|&j| {
                pins[j].at == pin.at
                    && displacements[j] != displacements[k]
                    && pins[j].aim == pin.aim
            });
            if other.is_some() {
                problems.push(format!(
                    "two pins on {} have different goals; the pose lies between them",
                    pin.place()
                ));
            }
        }
        if let Some(kkt) = kkt.filter(|kkt| kkt.is_nan() || *kkt > Self::GOOD_CERTIFICATE) {
            problems.push(format!("the solver did not converge (KKT {kkt:.0e}); the pose is near the best one, not at it"));
        }
        problems.extend(self.outside_limits());
        problems
    }

    fn outside_limits(&self) -> Option<String> {
        let rig = self.system.rig();
        let outside = (0..self.weights.len())
            .find(|&k| !rig.sliders()[k].limits.contains(self.system.weights()[k]))?;
        let (name, weight) = (&rig.targets()[outside].name, self.system.weights()[outside]);
        Some(format!(
            "slider '{name}' starts at {weight}, outside its limits; a drag does not pull it back"
        ))
    }

    /// Why the pose `pose` is as it is.
    #[must_use]
    pub fn explain(&self, pose: &Pose) -> Explanation {
        Explanation::of(&self.system, pose)
    }
}
