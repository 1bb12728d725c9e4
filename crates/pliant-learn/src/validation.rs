//! Leave-one-out validation: how well a method predicts a pose that it has not seen.
//!
//! **Source.** Huang et al. 2012, section 8 and table 2. The reference pose is always in training and never left out.

use pliant_mesh::Progress;
use pliant_mesh::glam::DVec3;

use crate::model::{Trainer, report};
use crate::selection::SHARPNESS;
use crate::workbench::Workbench;
use crate::{ControlPoints, Examples, LearnError, LearnOptions, LocalSettings};

/// The error of one pose left out.
#[derive(Debug, Clone, PartialEq)]
pub struct PoseError {
    /// The frame's name.
    pub name: String,
    /// RMS distance / longest side of the reference's bounding box.
    pub rms: f64,
    /// What the method chose from the other poses, where it chooses.
    pub chosen: Option<LocalSettings>,
}

/// Looks at a prediction: the bench, which example was left out, and the pose found for it.
pub(crate) type Visit<'a> = dyn FnMut(&Workbench, usize, &[DVec3]) -> Result<(), LearnError> + 'a;

/// The errors of all poses, each left out in turn.
#[derive(Debug, Clone, PartialEq)]
pub struct LeaveOneOut {
    /// One per frame, in order.
    pub poses: Vec<PoseError>,
}

impl LeaveOneOut {
    /// Trains without each frame in turn, and drives with that frame's own control points.
    ///
    /// # Errors
    /// As [`Model::train`](crate::Model::train).
    pub fn of(examples: Examples, control: ControlPoints, options: &LearnOptions, progress: &dyn Progress) -> Result<Self, LearnError> {
        Self::visiting(examples, control, options, progress, &mut |_, _, _| Ok(()))
    }

    /// The same, with a look at each prediction.
    pub(crate) fn visiting(
        examples: Examples,
        control: ControlPoints,
        options: &LearnOptions,
        progress: &dyn Progress,
        visit: &mut Visit<'_>,
    ) -> Result<Self, LearnError> {
        let trainer = Trainer::new(examples, control, options, &SHARPNESS)?;
        let bench = &trainer.bench;
        let count = bench.examples.count();
        let mut poses = Vec::with_capacity(count - 1);
        for left_out in 1..count {
            report(progress, "validating", (left_out - 1) as f64 / (count - 1) as f64)?;
            let rest: Vec<usize> = (0..count).filter(|&example| example != left_out).collect();
            let (predictor, chosen) = trainer.train(&rest)?;
            let found = predictor.pose(bench, &trainer.poisson, &bench.points[left_out]);
            visit(bench, left_out, &found)?;
            poses.push(PoseError {
                name: bench.examples.names()[left_out - 1].clone(),
                rms: bench.examples.error(&found, left_out),
                chosen,
            });
        }
        Ok(Self { poses })
    }

    /// The settings that were chosen most often, in words; none where the method does not choose.
    #[must_use]
    pub fn chosen(&self) -> Option<String> {
        let times = |settings: &LocalSettings| self.poses.iter().filter(|pose| pose.chosen.as_ref() == Some(settings)).count();
        let all = self.poses.iter().filter_map(|pose| pose.chosen);
        // The first of those chosen equally often.
        let most = all.fold(None, |best: Option<LocalSettings>, next| match best {
            Some(best) if times(&best) >= times(&next) => Some(best),
            _ => Some(next),
        })?;
        Some(format!("{most} ({} of {} poses)", times(&most), self.poses.len()))
    }

    /// The mean over the poses.
    #[must_use]
    pub fn mean_rms(&self) -> f64 {
        self.poses.iter().map(|pose| pose.rms).sum::<f64>() / self.poses.len() as f64
    }
}
