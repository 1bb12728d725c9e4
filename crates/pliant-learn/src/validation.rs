//! Leave-one-out validation: how well a method predicts a pose that it has not seen.
//!
//! **Source.** Huang et al. 2012, section 8 and table 2. The reference pose is always in training
//! and never left out.

use pliant_mesh::Progress;
use pliant_mesh::glam::DVec3;

use crate::exact::Residuals;
use crate::model::{Trainer, report};
use crate::selection::Watch;
use crate::workbench::Workbench;
use crate::{ControlPoints, Examples, LearnError, LearnOptions, LocalSettings, TrainingLog};

/// What progress is told.
const STAGE: &str = "validating";

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

/// A pose as one predicts it who has not seen it.
pub(crate) struct Unseen<'a> {
    pub(crate) bench: &'a Workbench,
    /// Which example was left out.
    pub(crate) left_out: usize,
    /// The pose for any places of the control points.
    pub(crate) drive: &'a dyn Fn(&[DVec3]) -> Vec<DVec3>,
    /// The pose for its own.
    pub(crate) found: &'a [DVec3],
}

/// Looks at a prediction.
pub(crate) type Visit<'a> = dyn FnMut(&Unseen<'_>) -> Result<(), LearnError> + 'a;

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
    pub fn of(
        examples: Examples,
        control: ControlPoints,
        options: &LearnOptions,
        progress: &dyn Progress,
    ) -> Result<Self, LearnError> {
        let mut log = TrainingLog::new(&examples, &control, options);
        Self::logged(examples, control, options, &mut log, progress)
    }

    /// As [`of`](Self::of), going on from what `log` knows and adding to it: one that was cancelled
    /// can be resumed.
    ///
    /// # Errors
    /// As there.
    pub fn logged(
        examples: Examples,
        control: ControlPoints,
        options: &LearnOptions,
        log: &mut TrainingLog,
        progress: &dyn Progress,
    ) -> Result<Self, LearnError> {
        Self::visiting(examples, control, options, log, progress, None)
    }

    /// The same, with a look at each prediction: then each is made, known or not.
    pub(crate) fn visiting(
        examples: Examples,
        control: ControlPoints,
        options: &LearnOptions,
        log: &mut TrainingLog,
        progress: &dyn Progress,
        mut visit: Option<&mut Visit<'_>>,
    ) -> Result<Self, LearnError> {
        report(progress, STAGE, 0.0)?;
        let trainer = Trainer::new(examples, control, options, None)?;
        let count = trainer.bench.examples.count();
        let mut poses = Vec::with_capacity(count - 1);
        for left_out in 1..count {
            let part = |k: usize| k as f64 / (count - 1) as f64;
            report(progress, STAGE, part(left_out - 1))?;
            let known = log.judged(left_out).filter(|_| visit.is_none());
            let mut watch = Watch {
                log,
                progress,
                stage: STAGE,
                span: (part(left_out - 1), part(left_out)),
            };
            let (rms, chosen) = match known {
                Some(known) => known,
                None => judge(&trainer, left_out, &mut watch, visit.as_deref_mut())?,
            };
            poses.push(PoseError {
                name: trainer.bench.examples.names()[left_out - 1].clone(),
                rms,
                chosen,
            });
        }
        Ok(Self { poses })
    }

    /// The settings that were chosen most often, in words; none where the method does not choose.
    #[must_use]
    pub fn chosen(&self) -> Option<String> {
        let times = |settings: &LocalSettings| {
            self.poses
                .iter()
                .filter(|pose| pose.chosen.as_ref() == Some(settings))
                .count()
        };
        let all = self.poses.iter().filter_map(|pose| pose.chosen);
        // The first of those chosen equally often.
        let most = all.fold(None, |best: Option<LocalSettings>, next| match best {
            Some(best) if times(&best) >= times(&next) => Some(best),
            _ => Some(next),
        })?;
        Some(format!(
            "{most} ({} of {} poses)",
            times(&most),
            self.poses.len()
        ))
    }

    /// The errors alone.
    #[must_use]
    pub fn rms(&self) -> Vec<f64> {
        self.poses.iter().map(|pose| pose.rms).collect()
    }

    /// The mean over the poses.
    #[must_use]
    pub fn mean_rms(&self) -> f64 {
        self.poses.iter().map(|pose| pose.rms).sum::<f64>() / self.poses.len() as f64
    }
}

/// Trains without one pose, and measures how well it is predicted.
fn judge(
    trainer: &Trainer,
    left_out: usize,
    watch: &mut Watch<'_>,
    visit: Option<&mut Visit<'_>>,
) -> Result<(f64, Option<LocalSettings>), LearnError> {
    let bench = &trainer.bench;
    let rest: Vec<usize> = (0..bench.examples.count())
        .filter(|&example| example != left_out)
        .collect();
    let (predictor, chosen) = trainer.train(&rest, watch)?;
    let residuals = trainer
        .options
        .exact()
        .then(|| Residuals::new(bench, &*predictor, &trainer.poisson, &rest));
    let drive = |control: &[DVec3]| {
        let mut found = predictor.pose(bench, &trainer.poisson, control);
        residuals
            .iter()
            .for_each(|residuals| residuals.add(bench, control, &mut found));
        found
    };
    let found = drive(&bench.points[left_out]);
    if let Some(visit) = visit {
        visit(&Unseen {
            bench,
            left_out,
            drive: &drive,
            found: &found,
        })?;
    }
    let rms = bench.examples.error(&found, left_out);
    watch.log.add_judged(left_out, rms, chosen);
    Ok((rms, chosen))
}
