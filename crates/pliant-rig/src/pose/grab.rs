//! Drags: pins that are held and moved, and the poses that result.

use pliant_mesh::glam::DVec3;

use super::explanation::Explanation;
use super::{Factored, Outcome, PinSystem, PoseSolver, StepLimit};
use crate::{RigError, SliderId};

/// How to treat weights outside their limits after a solve that does not know the limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Range {
    /// Clip them to their limits, as Çetinaslan 2016 does.
    #[default]
    Clip,
    /// Leave them.
    Free,
}

/// A drag in progress: a set of pins and the solver factorised for them.
#[derive(Debug)]
pub struct Grab {
    system: PinSystem,
    factored: Box<dyn Factored>,
    method: &'static str,
    range: Range,
    weights: Vec<f64>,
}

/// The pose that a drag gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Pose {
    /// The name of the solver.
    pub method: &'static str,
    /// The weight of each slider.
    pub weights: Vec<f64>,
    /// Goal and reached position of each pin.
    pub pins: Vec<PinResult>,
    /// Sliders that a limit holds back.
    pub at_limit: Vec<SliderId>,
    /// The KKT residual, for solvers that have one.
    pub kkt: Option<f64>,
    /// Iterations of the solver.
    pub iterations: usize,
    /// Warnings for the user, one sentence each.
    pub warnings: Vec<String>,
}

/// The result at one pin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PinResult {
    /// The goal.
    pub goal: DVec3,
    /// The position that the pose gives.
    pub reached: DVec3,
    /// The distance between them, in the coordinates that the pin constrains.
    pub error: f64,
}

impl Pose {
    /// A slider counts as active above this weight.
    pub const ACTIVE: f64 = 0.02;

    /// The number of sliders that are visibly away from zero.
    #[must_use]
    pub fn active_sliders(&self) -> usize {
        let active = self.weights.iter().filter(|w| w.abs() > Self::ACTIVE);
        active.count()
    }
}

impl Grab {
    /// A KKT residual above this gives a warning.
    const LARGEST_GOOD_KKT: f64 = 1e-6;

    pub(super) fn new(
        system: PinSystem,
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
    pub fn system(&self) -> &PinSystem {
        &self.system
    }

    /// The pose whose pins are `displacements` away from where they were grabbed, one for each pin.
    ///
    /// # Panics
    /// If there is not one displacement for each pin.
    pub fn solve(&mut self, displacements: &[DVec3]) -> Pose {
        self.solve_limited(displacements, None)
    }

    /// As [`solve`](Self::solve), but no weight changes by more than `step` since the last solve or
    /// step.
    ///
    /// This is for a hand that moves in small steps: where a slider meets its limit and others take
    /// over, they do so over a few frames. On a rig without in-betweens and combinations, repeated
    /// steps with the same displacements end at the weights of `solve`.
    ///
    /// # Panics
    /// If there is not one displacement for each pin.
    pub fn step(&mut self, displacements: &[DVec3], step: f64) -> Pose {
        let last = self.weights.clone();
        let limit = StepLimit {
            weights: &last,
            step,
        };
        self.solve_limited(displacements, Some(limit))
    }

    /// Undoes the drag: the next solve or step starts from the weights at which the pins were
    /// grabbed.
    pub fn reset(&mut self) {
        self.weights.copy_from_slice(self.system.weights());
        self.factored.reset();
    }

    fn solve_limited(
        &mut self,
        displacements: &[DVec3],
        step_limit: Option<StepLimit<'_>>,
    ) -> Pose {
        assert_eq!(
            displacements.len(),
            self.system.pins().len(),
            "one displacement for each pin"
        );
        if let Some(pin) = displacements.iter().position(|d| !d.is_finite()) {
            return self.unchanged_pose(pin);
        }

        // The solver writes the weights; limits follow.
        let outcome =
            self.factored
                .solve(&self.system, displacements, step_limit, &mut self.weights);

        // For solvers that ignore the step limit.
        if let Some(limit) = step_limit {
            let step = limit.step.max(0.0);
            for (new, old) in self.weights.iter_mut().zip(limit.weights) {
                *new = new.max(old - step).min(old + step);
            }
        }

        let clipped = self.clip();
        self.report(displacements, outcome, clipped)
    }

    /// The pose as it was, with a warning about a goal that is not finite.
    fn unchanged_pose(&self, pin: usize) -> Pose {
        let pins = self.system.pins();
        let mut pose = self.report(
            &vec![DVec3::ZERO; pins.len()],
            Outcome::default(),
            Vec::new(),
        );

        pose.warnings.push(format!(
            "the goal of the pin on {} is not finite; the pose stays as it was",
            pins[pin].place()
        ));
        pose
    }

    /// Clips weights to their limits if [`Range::Clip`] is set; returns the clipped sliders.
    fn clip(&mut self) -> Vec<usize> {
        let mut clipped = Vec::new();
        if self.range == Range::Free || self.factored.keeps_limits() {
            return clipped;
        }

        let sliders = self.system.rig().sliders();
        for (slider, weight) in self.weights.iter_mut().enumerate() {
            let inside = sliders[slider].limits.clamp(*weight);

            // A weight that was outside before the drag and did not move stays there.
            if inside != *weight && *weight != self.system.weights()[slider] {
                *weight = inside;
                clipped.push(slider);
            }
        }

        clipped
    }

    fn report(&self, displacements: &[DVec3], outcome: Outcome, clipped: Vec<usize>) -> Pose {
        let at_limit = if clipped.is_empty() {
            outcome.held
        } else {
            clipped
        };

        Pose {
            method: self.method,
            weights: self.weights.clone(),
            pins: self.pin_results(displacements),
            at_limit: at_limit.into_iter().map(SliderId::from).collect(),
            kkt: outcome.kkt,
            iterations: outcome.iterations,
            warnings: self.warnings(displacements, outcome.kkt),
        }
    }

    fn pin_results(&self, displacements: &[DVec3]) -> Vec<PinResult> {
        let reached = self.system.positions_at(&self.weights);
        let mut results = Vec::with_capacity(reached.len());
        for (k, pin) in self.system.pins().iter().enumerate() {
            let goal = self.system.positions()[k] + displacements[k];
            let (projection, goal) = pin.aim.projection_and_goal(reached[k], goal);
            results.push(PinResult {
                goal,
                reached: reached[k],
                error: (projection * (goal - reached[k])).length(),
            });
        }

        results
    }

    fn warnings(&self, displacements: &[DVec3], kkt: Option<f64>) -> Vec<String> {
        let mut warnings = Vec::new();
        for (k, pin) in self.system.pins().iter().enumerate() {
            if displacements[k] != DVec3::ZERO && !self.system.is_moved(k) {
                warnings.push(format!(
                    "no target moves {}; the weights cannot reach its goal, a residual layer can",
                    pin.place()
                ));
            }
            if self.contradicts_earlier_pin(k, displacements) {
                warnings.push(format!(
                    "two pins on {} have different goals; the pose lies between them",
                    pin.place()
                ));
            }
        }

        if let Some(kkt) = kkt.filter(|kkt| kkt.is_nan() || *kkt > Self::LARGEST_GOOD_KKT) {
            warnings.push(format!(
                "the solver did not converge (KKT {kkt:.0e}); the pose is near the best one, not at it"
            ));
        }

        warnings.extend(self.warning_about_limits());
        warnings
    }

    /// Whether a pin before pin `k` has the same point and aim, but another goal.
    fn contradicts_earlier_pin(&self, k: usize, displacements: &[DVec3]) -> bool {
        let pins = self.system.pins();
        (0..k).any(|j| {
            pins[j].at == pins[k].at
                && displacements[j] != displacements[k]
                && pins[j].aim == pins[k].aim
        })
    }

    /// A warning about the first slider that started outside its limits.
    fn warning_about_limits(&self) -> Option<String> {
        let rig = self.system.rig();
        let weights = self.system.weights();
        let outside =
            (0..weights.len()).find(|&k| !rig.sliders()[k].limits.contains(weights[k]))?;

        Some(format!(
            "slider '{}' starts at {}, outside its limits; a drag does not pull it back",
            rig.targets()[outside].name,
            weights[outside]
        ))
    }

    /// The contribution of each slider to `pose`, and the part of the goals that is out of reach.
    #[must_use]
    pub fn explain(&self, pose: &Pose) -> Explanation {
        Explanation::of(&self.system, pose)
    }
}
