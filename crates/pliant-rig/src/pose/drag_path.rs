//! A drag as a whole: the poses along a path of the pins.
//!
//! **Problem.** A recorded or scripted drag gives the displacements of the pins at each step. The
//! poses should be those that an interactive drag through the same steps shows.
//!
//! **Method.** All steps are displacements from the pose at which the pins were grabbed, and one
//! [`Grab`] solves them in order, so that each pose follows the one before it.

use pliant_mesh::glam::DVec3;

use super::{Grab, Pose};
use crate::{Interpolation, RigError, WeightTrack};

/// The poses of a drag, one for each step.
#[derive(Debug, Clone, PartialEq)]
pub struct DragPath {
    /// The poses in order; at least one.
    pub poses: Vec<Pose>,
}

impl Grab {
    /// The poses along a path: one list of displacements for each step, one displacement for each
    /// pin, all measured from where the pins were grabbed.
    ///
    /// # Errors
    /// [`RigError::NoSteps`] for a path without steps, [`RigError::PathPins`] for a step with
    /// another number of pins, [`RigError::PathNotFinite`] for a displacement that is not finite.
    pub fn follow(&mut self, path: &[Vec<DVec3>]) -> Result<DragPath, RigError> {
        let pins = self.system().pins().len();
        if path.is_empty() {
            return Err(RigError::NoSteps);
        }
        for (step, displacements) in path.iter().enumerate() {
            if displacements.len() != pins {
                return Err(RigError::PathPins {
                    step,
                    found: displacements.len(),
                    expected: pins,
                });
            }
            if let Some(pin) = displacements.iter().position(|d| !d.is_finite()) {
                return Err(RigError::PathNotFinite { step, pin });
            }
        }

        let poses = path.iter().map(|displacements| self.solve(displacements));
        Ok(DragPath {
            poses: poses.collect(),
        })
    }
}

impl DragPath {
    /// The weights of each step.
    pub fn weights(&self) -> impl Iterator<Item = &[f64]> {
        self.poses.iter().map(|pose| pose.weights.as_slice())
    }

    /// The largest change of a weight from one step to the next; zero for a single step.
    #[must_use]
    pub fn largest_change(&self) -> f64 {
        let mut largest: f64 = 0.0;
        for pair in self.poses.windows(2) {
            for (before, after) in pair[0].weights.iter().zip(&pair[1].weights) {
                largest = largest.max((after - before).abs());
            }
        }
        largest
    }

    /// The largest error of each pin over all steps.
    #[must_use]
    pub fn largest_errors(&self) -> Vec<f64> {
        let mut largest = vec![0.0_f64; self.poses[0].pins.len()];
        for pose in &self.poses {
            for (largest, pin) in largest.iter_mut().zip(&pose.pins) {
                *largest = largest.max(pin.error);
            }
        }
        largest
    }

    /// The weights as a track with a key for each step, `frames_per_second` of them in a second.
    ///
    /// # Errors
    /// [`RigError::KeyOrder`] for a rate that is not a number above zero.
    pub fn to_track(&self, frames_per_second: f64) -> Result<WeightTrack, RigError> {
        let times = (0..self.poses.len()).map(|step| step as f64 / frames_per_second);
        let keys = self.weights().map(<[f64]>::to_vec);
        WeightTrack::new(times.collect(), keys.collect(), Interpolation::Linear)
    }
}
