//! Settings chosen by validation inside the training examples, never on the pose to be judged.
//!
//! **Method.** Each training pose but the reference is left out in turn, predicted from the others and measured. The settings are
//! tried one coordinate after the other: the sharpness of the neighbourhoods, the ridge, the refits; each keeps the best.

use std::sync::Arc;

use crate::LearnError;
use crate::local_blend::{LocalBlend, LocalPoses, LocalSettings};
use crate::poisson::Poisson;
use crate::workbench::{Predictor, Workbench};

/// From even weights over the neighbours to the two or three nearest.
pub(crate) const SHARPNESS: [f64; 3] = [2.0, 5.0, 10.0];
/// From examples followed to the letter, which a cyclic motion rewards, to a cautious mean.
const RIDGES: [f64; 5] = [1e-5, 0.003, 0.03, 0.1, 0.4];
/// The place in [`RIDGES`] that the other settings are compared with.
const MIDDLE_RIDGE: usize = 2;
/// Refits, when they are on.
const REFITS: usize = 2;
/// Poses left out at most; of more, evenly spread ones are taken.
const MOST_FOLDS: usize = 12;

/// The examples seen with each sharpness.
#[derive(Debug)]
pub(crate) struct Library {
    shelves: Vec<(f64, Arc<LocalPoses>)>,
}

/// A choice and its error, RMS / longest side, over the poses left out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Choice {
    pub(crate) settings: LocalSettings,
    pub(crate) error: f64,
}

impl Library {
    /// For settings with these sharpnesses.
    pub(crate) fn new(bench: &Workbench, neighbors: usize, sharpness: &[f64]) -> Self {
        Self { shelves: sharpness.iter().map(|&s| (s, Arc::new(LocalPoses::new(bench, neighbors, s)))).collect() }
    }

    pub(crate) fn train(&self, trained_on: &[usize], settings: &LocalSettings) -> Result<LocalBlend, LearnError> {
        let shelf = self.shelves.iter().find(|(sharpness, _)| *sharpness == settings.sharpness);
        let (_, poses) = shelf.expect("the library was made for this sharpness");
        LocalBlend::train(poses.clone(), trained_on, settings)
    }

    /// The settings that predict the training examples best from each other.
    pub(crate) fn choose(&self, bench: &Workbench, poisson: &Poisson, trained_on: &[usize]) -> Result<Choice, LearnError> {
        let try_all = |candidates: Vec<LocalSettings>, best: Option<Choice>| {
            candidates.into_iter().try_fold(best, |best: Option<Choice>, settings| {
                let error = self.inner_error(bench, poisson, trained_on, &settings)?;
                let better = best.is_none_or(|best| error < best.error);
                Ok::<_, LearnError>(if better { Some(Choice { settings, error }) } else { best })
            })
        };
        let first = LocalSettings { sharpness: self.shelves[0].0, ridge: RIDGES[MIDDLE_RIDGE], refits: 0 };
        let best = try_all(self.shelves.iter().map(|&(sharpness, _)| LocalSettings { sharpness, ..first }).collect(), None)?;
        let settings = best.map_or(first, |best| best.settings);
        let other_ridges = RIDGES.iter().enumerate().filter(|(k, _)| *k != MIDDLE_RIDGE);
        let best = try_all(other_ridges.map(|(_, &ridge)| LocalSettings { ridge, ..settings }).collect(), best)?;
        let settings = best.map_or(settings, |best| best.settings);
        let best = try_all(vec![LocalSettings { refits: REFITS, ..settings }], best)?;
        Ok(best.expect("at least one was tried"))
    }

    /// The mean error of training poses predicted from the other ones.
    fn inner_error(&self, bench: &Workbench, poisson: &Poisson, trained_on: &[usize], settings: &LocalSettings) -> Result<f64, LearnError> {
        let poses: Vec<usize> = trained_on.iter().copied().filter(|&example| example != 0).collect();
        let folds = poses.len().min(MOST_FOLDS);
        let mut sum = 0.0;
        for k in 0..folds {
            let left_out = poses[k * poses.len() / folds];
            let rest: Vec<usize> = trained_on.iter().copied().filter(|&example| example != left_out).collect();
            let found = self.train(&rest, settings)?.pose(bench, poisson, &bench.points[left_out]);
            sum += bench.examples.error(&found, left_out);
        }
        Ok(sum / folds as f64)
    }
}
