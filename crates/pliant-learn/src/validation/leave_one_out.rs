//! Leave-one-out validation: the error of each example, predicted by a model trained without it.
//!
//! **Source.** Huang et al. 2012, section 8 and table 2. The reference pose is always part of the
//! training and never left out.

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Progress, ProgressPart};

use crate::methods::{ResidualCorrection, Trained, Trainer, TrainingMonitor};
use crate::training::TrainingData;
use crate::{ControlPoints, Examples, LearnError, LearnOptions, LocalSettings, TrainingLog};

/// The name of the work in progress reports.
const STAGE: &str = "validating";

/// The error of one left-out pose.
#[derive(Debug, Clone, PartialEq)]
pub struct PoseError {
    /// The name of the frame.
    pub name: String,
    /// RMS distance / longest side of the reference's bounding box.
    pub rms: f64,
    /// The hyper-parameters chosen from the other poses, if the method chooses any.
    pub chosen: Option<LocalSettings>,
}

/// The prediction of a pose by a model that was trained without it.
pub(crate) struct LeftOutPrediction<'a> {
    pub(crate) data: &'a TrainingData,
    /// The example that was left out.
    pub(crate) left_out: usize,
    /// The pose for any positions of the control points.
    pub(crate) predict: &'a dyn Fn(&[DVec3]) -> Vec<DVec3>,
    /// The pose for the control points of the left-out example.
    pub(crate) positions: &'a [DVec3],
}

/// Receives each prediction.
pub(crate) type PredictionVisitor<'a> =
    dyn FnMut(&LeftOutPrediction<'_>) -> Result<(), LearnError> + 'a;

/// The errors of all poses, each left out in turn.
#[derive(Debug, Clone, PartialEq)]
pub struct LeaveOneOut {
    /// One per frame, in order.
    pub poses: Vec<PoseError>,
}

impl LeaveOneOut {
    /// Trains without each frame in turn, and drives the model with the control points of that
    /// frame.
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

    /// As [`of`](Self::of), with a log: results in `log` are used, new ones are added, so that a
    /// cancelled validation can resume.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub fn logged(
        examples: Examples,
        control: ControlPoints,
        options: &LearnOptions,
        log: &mut TrainingLog,
        progress: &dyn Progress,
    ) -> Result<Self, LearnError> {
        let all: Vec<usize> = (0..examples.count() - 1).collect();
        Self::of_frames(examples, control, options, &all, log, progress)
    }

    /// As [`logged`](Self::logged), for some frames only, which are counted from 0 without the
    /// reference pose. Frames do not depend on each other, so the errors are those of the whole
    /// validation.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    ///
    /// # Panics
    /// For a frame after the last one.
    pub fn of_frames(
        examples: Examples,
        control: ControlPoints,
        options: &LearnOptions,
        frames: &[usize],
        log: &mut TrainingLog,
        progress: &dyn Progress,
    ) -> Result<Self, LearnError> {
        Self::with_visitor(examples, control, options, frames, log, progress, None)
    }

    /// As [`logged`](Self::logged). With a visitor, every prediction is computed, also those whose
    /// errors are in the log.
    pub(crate) fn with_visitor(
        examples: Examples,
        control: ControlPoints,
        options: &LearnOptions,
        frames: &[usize],
        log: &mut TrainingLog,
        progress: &dyn Progress,
        mut visitor: Option<&mut PredictionVisitor<'_>>,
    ) -> Result<Self, LearnError> {
        progress.proceed(STAGE, 0.0)?;
        // The preparation serves all poses; it counts as nothing.
        let preparing = ProgressPart {
            whole: progress,
            begin: 0.0,
            size: 0.0,
        };
        let trainer = Trainer::new(examples, control, options, None, &preparing)?;
        let count = trainer.data.examples.count();
        let part = |k: usize| k as f64 / frames.len() as f64;

        let mut poses = Vec::with_capacity(frames.len());
        for (done, &frame) in frames.iter().enumerate() {
            // The reference pose is the first example.
            let left_out = frame + 1;
            assert!(left_out < count, "frame {frame} is after the last one");
            progress.proceed(STAGE, part(done))?;
            // A visitor needs the prediction itself, not only its error.
            let known = log.pose_result(left_out).filter(|_| visitor.is_none());
            let mut monitor = TrainingMonitor {
                log,
                progress,
                stage: STAGE,
                span: (part(done), part(done + 1)),
            };
            let (rms, chosen) = match known {
                Some(known) => known,
                None => validate(&trainer, left_out, &mut monitor, visitor.as_deref_mut())?,
            };

            poses.push(PoseError {
                name: trainer.data.examples.names()[left_out - 1].clone(),
                rms,
                chosen,
            });
        }

        Ok(Self { poses })
    }

    /// The hyper-parameters that were chosen most often, as text; `None` if the method does not
    /// choose any.
    #[must_use]
    pub fn chosen(&self) -> Option<String> {
        // The first of those that were chosen equally often.
        let mut best: Option<(LocalSettings, usize)> = None;
        for settings in self.poses.iter().filter_map(|pose| pose.chosen) {
            let times = self.times_chosen(&settings);
            if best.is_none_or(|(_, most)| times > most) {
                best = Some((settings, times));
            }
        }

        let (settings, times) = best?;
        Some(format!(
            "{settings} ({times} of {} poses)",
            self.poses.len()
        ))
    }

    fn times_chosen(&self, settings: &LocalSettings) -> usize {
        self.poses
            .iter()
            .filter(|pose| pose.chosen.as_ref() == Some(settings))
            .count()
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

/// Trains without one pose and measures the error of its prediction.
fn validate(
    trainer: &Trainer,
    left_out: usize,
    monitor: &mut TrainingMonitor<'_>,
    visitor: Option<&mut PredictionVisitor<'_>>,
) -> Result<(f64, Option<LocalSettings>), LearnError> {
    let data = &trainer.data;
    let mut rest = data.all_examples();
    rest.retain(|&example| example != left_out);

    let Trained { predictor, chosen } = trainer.train(&rest, monitor)?;
    // The correction, too, is fitted to the training examples only.
    let correction = trainer
        .options
        .exact()
        .then(|| ResidualCorrection::new(data, &*predictor, &trainer.poisson, &rest));
    let predict = |control: &[DVec3]| {
        let mut positions = predictor.pose(data, &trainer.poisson, control);
        if let Some(correction) = &correction {
            correction.add(data, control, &mut positions);
        }
        positions
    };

    let positions = predict(&data.points[left_out]);
    if let Some(visitor) = visitor {
        visitor(&LeftOutPrediction {
            data,
            left_out,
            predict: &predict,
            positions: &positions,
        })?;
    }

    let rms = data.examples.error(&positions, left_out);
    monitor.log.add_pose_result(left_out, rms, chosen);
    Ok((rms, chosen))
}
