//! Posing by dragging: pins in, slider weights out.
//!
//! [`Poser`] is made once per rig, [`Poser::grab`] once per set of pins, and [`Grab::solve`] runs
//! with every move of the hand. How pins become weights is a [`PoseSolver`]: [`Bounded`] by
//! default, or one of the thesis.

mod bounded;
mod box_problem;
mod explain;
mod grab;
mod pin_discs;
mod prices;
mod surface_gram;
mod system;
mod thesis;

#[cfg(test)]
mod tests;

use std::fmt::Debug;
use std::sync::{Mutex, OnceLock};

use pliant_mesh::SurfacePoint;
use pliant_mesh::glam::DVec3;

pub use bounded::Bounded;
pub use box_problem::BoxProblem;
pub use explain::{Explanation, PinShare, SliderMove};
pub use grab::{Grab, PinResult, Pose, Range};
pub use system::PinSystem;
pub use thesis::{Hybrid, Localized, PseudoInverse, Tikhonov, Transpose, Units, weight_error};

use crate::{Pin, Rig, RigError};
use pin_discs::PinDiscs;
pub(crate) use surface_gram::SurfaceGram;

/// A way from displacements of pins to weights.
pub trait PoseSolver: Debug + Send + Sync {
    /// Its name, as `pliant pose --method` knows it.
    fn name(&self) -> &'static str;

    /// Does all that depends on the pins' places only.
    fn factor(&self, system: &PinSystem<'_>) -> Result<Box<dyn Factored>, RigError>;
}

/// A solver that is ready for its pins.
pub trait Factored: Debug + Send {
    /// Writes the weights for pins that are wanted `displacements` away from the system's pose.
    ///
    /// With `near`, a solver that can keeps every weight within a step of others.
    fn solve(
        &mut self,
        system: &PinSystem<'_>,
        displacements: &[DVec3],
        near: Option<Near<'_>>,
        weights: &mut [f64],
    ) -> Outcome;

    /// Forgets earlier solves, if it starts from them.
    fn reset(&mut self) {}

    /// Whether its weights are inside the sliders' limits by themselves.
    fn keeps_limits(&self) -> bool {
        false
    }
}

/// Weights that a solve may leave by a step only.
#[derive(Debug, Clone, Copy)]
pub struct Near<'a> {
    /// The weights, one for each slider.
    pub weights: &'a [f64],
    /// The most that any of them may change.
    pub step: f64,
}

/// How a solve ended.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// The largest violation of the conditions of optimality, relative to the largest force on a
    /// slider; `None` for methods that have none.
    pub kkt: Option<f64>,
    /// Iterations.
    pub iterations: usize,
    /// Sliders at a limit that the goals push further.
    pub held: Vec<usize>,
}

/// A rig made ready to be dragged.
#[derive(Debug)]
pub struct Poser<'r> {
    rig: &'r Rig,
    size: f64,
    gram: OnceLock<SurfaceGram>,
    discs: Mutex<Option<PinDiscs>>,
}

impl<'r> Poser<'r> {
    /// Declines a rig without targets, or with numbers that are not finite.
    pub fn new(rig: &'r Rig) -> Result<Self, RigError> {
        if rig.targets().is_empty() {
            return Err(RigError::NoTargets);
        }
        rig.require_finite()?;
        Ok(Self {
            rig,
            size: size_of_what_moves(rig),
            gram: OnceLock::new(),
            discs: Mutex::new(None),
        })
    }

    /// The rig.
    #[must_use]
    pub fn rig(&self) -> &'r Rig {
        self.rig
    }

    /// The unit of relative lengths: `√12` times the root mean square distance from their mean of
    /// the vertices that targets move.
    ///
    /// For a box filled with vertices that is its diagonal, but unlike the diagonal of bounds it
    /// does not change when the scene is turned; and a face on a whole body has the size of a
    /// face.
    #[must_use]
    pub fn size(&self) -> f64 {
        self.size
    }

    /// Takes hold of `pins` at the pose `weights` (missing ones count as zero).
    pub fn grab(
        &self,
        weights: &[f64],
        pins: &[Pin],
        solver: &dyn PoseSolver,
        range: Range,
    ) -> Result<Grab<'_>, RigError> {
        if pins.is_empty() {
            return Err(RigError::NoPins);
        }
        Grab::new(PinSystem::new(self, weights, pins)?, solver, range)
    }

    /// Grabs, drags and lets go: the weights for `pins` with the default solver.
    pub fn pose(&self, weights: &[f64], pins: &[Pin]) -> Result<Pose, RigError> {
        let displacements: Vec<DVec3> = pins.iter().map(|pin| pin.displacement).collect();
        Ok(self
            .grab(weights, pins, &Bounded::default(), Range::Clip)?
            .solve(&displacements))
    }

    fn gram(&self) -> &SurfaceGram {
        self.gram.get_or_init(|| SurfaceGram::of(self.rig))
    }

    /// The vertices within `reach` of the pins, each with the share of its motion that is near: 1
    /// at a pin, 0 at the rim.
    ///
    /// Distances run along the neutral's surface; pins on a mesh without faces are near to nothing
    /// but themselves.
    fn near_pins(&self, system: &PinSystem<'_>, reach: f64) -> Result<Vec<(u32, f64)>, RigError> {
        if self.rig.neutral().require_surface().is_err() {
            return Ok(Vec::new());
        }
        let sources: Vec<SurfacePoint> = system.pins().iter().map(|pin| pin.at).collect();
        let mut kept = self
            .discs
            .lock()
            .expect("no thread panics while it measures");
        if kept.is_none() {
            *kept = Some(PinDiscs::new(self.rig.neutral())?);
        }
        let disc = kept.as_mut().expect("just made").around(&sources, reach)?;
        let share = |distance: f64| {
            let t = if reach > 0.0 {
                (distance / reach).min(1.0)
            } else {
                1.0
            };
            1.0 - t * t * (3.0 - 2.0 * t)
        };
        Ok(disc
            .into_iter()
            .map(|(v, d)| (v, share(d)))
            .filter(|(_, share)| *share > 0.0)
            .collect())
    }
}

/// A vertex counts as moved above this part of the largest displacement. *Ours*: scans leave noise
/// everywhere.
const MOVED: f32 = 0.01;

fn size_of_what_moves(rig: &Rig) -> f64 {
    let positions = rig.neutral().positions();
    let mut motion = vec![0.0_f32; positions.len()];
    for (target, slider) in rig.targets().iter().zip(rig.sliders()) {
        // Over the slider's range, so that its scale does not matter.
        let range = slider.limits.range() as f32;
        target
            .vertices
            .iter()
            .zip(&target.deltas)
            .for_each(|(&v, d)| motion[v as usize] = motion[v as usize].max(range * d.length()));
    }
    let least = MOVED * motion.iter().copied().fold(0.0, f32::max);
    let moved: Vec<DVec3> = positions
        .iter()
        .zip(&motion)
        .filter(|(_, m)| **m > least)
        .map(|(p, _)| *p)
        .collect();
    let spread = spread(&moved);
    // A single vertex has no spread.
    if spread > 0.0 {
        spread
    } else {
        self::spread(positions)
    }
}

fn spread(positions: &[DVec3]) -> f64 {
    let count = positions.len().max(1) as f64;
    let mean = positions.iter().sum::<DVec3>() / count;
    (12.0
        * positions
            .iter()
            .map(|p| p.distance_squared(mean))
            .sum::<f64>()
        / count)
        .sqrt()
}

impl Rig {
    /// The pose that brings `pins` to their goals, from the neutral, with the default solver.
    ///
    /// Prepares the rig anew each time; a [`Poser`] does so once.
    pub fn pose(&self, pins: &[Pin]) -> Result<Pose, RigError> {
        Poser::new(self)?.pose(&[], pins)
    }
}
