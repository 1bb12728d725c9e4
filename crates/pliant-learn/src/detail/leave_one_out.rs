//! Leave-one-out validation of the detail layer.

use pliant_mesh::Progress;
use pliant_mesh::glam::DVec3;

use super::blend::{BlendEntry, blend_of};
use super::examples::DetailedExamples;
use super::layer::{Details, base_control_points};
use super::maps::HeightMaps;
use super::options::{DetailOptions, DetailSettings};
use super::regression::{DetailRegression, HeightGrams};
use crate::validation::LeftOutPrediction;
use crate::{ControlPoints, Examples, LearnError, LearnOptions, LeaveOneOut, TrainingLog};

/// The errors of one left-out pose, as RMS / longest side of the base's bounding box.
#[derive(Debug, Clone, PartialEq)]
pub struct DetailError {
    /// Error of the detailed surface, from the predicted base with predicted heights.
    pub rms: f64,
    /// Error with the heights of the reference.
    pub static_rms: f64,
    /// Error without heights.
    pub base_rms: f64,
    /// Error of the predicted heights alone.
    pub height_rms: f64,
    /// Error of the reference's heights alone.
    pub static_height_rms: f64,
    /// The hyper-parameters chosen from the other poses.
    pub chosen: Option<DetailSettings>,
}

/// The errors of all poses, each left out in turn.
#[derive(Debug, Clone, PartialEq)]
pub struct DetailLeaveOneOut {
    /// The errors of the base.
    pub base: LeaveOneOut,
    /// The errors with detail, one per frame, in order.
    pub details: Vec<DetailError>,
}

impl DetailLeaveOneOut {
    /// As [`LeaveOneOut::of`], with base and detail trained without the left-out frame.
    ///
    /// # Errors
    /// As [`LeaveOneOut::of`].
    pub fn of(
        detailed: DetailedExamples,
        control: ControlPoints,
        options: &LearnOptions,
        detail: &DetailOptions,
        progress: &dyn Progress,
    ) -> Result<Self, LearnError> {
        let mut log = TrainingLog::new(detailed.base(), &control, options);
        Self::logged(detailed, control, options, detail, &mut log, progress)
    }

    /// As [`of`](Self::of), with a log: its trials are used, new ones are added.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub fn logged(
        detailed: DetailedExamples,
        control: ControlPoints,
        options: &LearnOptions,
        detail: &DetailOptions,
        log: &mut TrainingLog,
        progress: &dyn Progress,
    ) -> Result<Self, LearnError> {
        let all: Vec<usize> = (0..detailed.base().count() - 1).collect();
        Self::of_frames(detailed, control, options, detail, &all, log, progress)
    }

    /// As [`logged`](Self::logged), for some frames only, see [`LeaveOneOut::of_frames`].
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub fn of_frames(
        detailed: DetailedExamples,
        control: ControlPoints,
        options: &LearnOptions,
        detail: &DetailOptions,
        frames: &[usize],
        log: &mut TrainingLog,
        progress: &dyn Progress,
    ) -> Result<Self, LearnError> {
        let (examples, details) = detailed.into_parts();
        let evaluator = DetailEvaluator::new(&examples, &control, &details, detail);
        let mut errors = Vec::new();
        // The visitor evaluates the detail on each prediction of the base.
        let mut visitor = |prediction: &LeftOutPrediction<'_>| {
            errors.push(evaluator.error(prediction)?);
            Ok(())
        };

        let base = LeaveOneOut::with_visitor(
            examples.clone(),
            control.clone(),
            options,
            frames,
            log,
            progress,
            Some(&mut visitor),
        )?;

        Ok(Self {
            base,
            details: errors,
        })
    }

    /// The mean over the poses of one kind of error.
    #[must_use]
    pub fn mean(&self, error: impl Fn(&DetailError) -> f64) -> f64 {
        self.details.iter().map(error).sum::<f64>() / self.details.len() as f64
    }
}

/// Evaluates the detail of any left-out pose.
struct DetailEvaluator<'a> {
    details: &'a Details,
    options: &'a DetailOptions,
    blend: Option<Vec<BlendEntry>>,
    grams: HeightGrams,
    longest_side: f64,
}

impl<'a> DetailEvaluator<'a> {
    fn new(
        examples: &Examples,
        control: &ControlPoints,
        details: &'a Details,
        options: &'a DetailOptions,
    ) -> Self {
        let blend = options
            .may_blend()
            .then(|| blend_of(examples.reference(), control, &details.surface));
        let grams = HeightGrams::of(&details.heights, blend.as_deref(), control.count());
        Self {
            details,
            options,
            blend,
            grams,
            longest_side: examples.longest_side(),
        }
    }

    fn error(&self, prediction: &LeftOutPrediction<'_>) -> Result<DetailError, LearnError> {
        let &LeftOutPrediction { data, left_out, .. } = prediction;
        let surface = &self.details.surface;
        let heights = &self.details.heights;
        let mut rest = data.all_examples();
        rest.retain(|&example| example != left_out);

        // Trained without the left-out example, as the base.
        let regression = DetailRegression::train(data, &self.grams, &rest, self.options)?;
        let blend = self.blend.as_deref().filter(|_| regression.is_blended());
        let maps = HeightMaps::new(heights, blend);
        let truth = surface.displaced(data.examples.pose(left_out), |v| heights[left_out][v]);
        let (goals, base) = self.base_at(prediction, &regression, &maps, &truth);
        let predicted = maps.sum(&regression.weights(data, &goals, &base));

        // Errors of positions and of heights alone, over the longest side.
        let position_error = |positions: Vec<DVec3>| {
            let pairs = positions.iter().zip(&truth);
            self.relative_rms(pairs.map(|(a, b)| a.distance_squared(*b)))
        };
        let height_error = |height: &dyn Fn(usize) -> f32| {
            let own = &heights[left_out];
            self.relative_rms((0..truth.len()).map(|v| f64::from(height(v) - own[v]).powi(2)))
        };
        Ok(DetailError {
            rms: position_error(surface.displaced(&base, |v| predicted.at(v))),
            static_rms: position_error(surface.displaced(&base, |v| heights[0][v])),
            base_rms: position_error(surface.refine(&base)),
            height_rms: height_error(&|v| predicted.at(v)),
            static_height_rms: height_error(&|v| heights[0][v]),
            chosen: regression.settings,
        })
    }

    /// Goals of the control points on the base, and the base there.
    ///
    /// Only the control points that a user sees are known of a left-out pose. The control points of
    /// a base that was made by smoothing would reveal the pose around them.
    fn base_at(
        &self,
        prediction: &LeftOutPrediction<'_>,
        regression: &DetailRegression,
        maps: &HeightMaps,
        truth: &[DVec3],
    ) -> (Vec<DVec3>, Vec<DVec3>) {
        let LeftOutPrediction {
            data,
            left_out,
            predict,
            positions,
        } = *prediction;
        if !self.details.controls_detailed_surface {
            return (data.points[left_out].clone(), positions.to_vec());
        }

        // As in a driver: the second base has the heights of the control points subtracted.
        let visible = data.control.at(truth);
        let base = predict(&visible);
        let heights = maps.sum(&regression.weights(data, &visible, &base));
        let goals = base_control_points(&self.details.surface, &heights, data, &visible, &base);
        let base = predict(&goals);
        (goals, base)
    }

    fn relative_rms(&self, squares: impl ExactSizeIterator<Item = f64>) -> f64 {
        let count = squares.len().max(1) as f64;
        (squares.sum::<f64>() / count).sqrt() / self.longest_side
    }
}
