//! How well details of a pose that was not seen are predicted.

use pliant_mesh::Progress;
use pliant_mesh::glam::DVec3;

use super::blend::{BlendEntry, blend_of};
use super::examples::DetailedExamples;
use super::layer::{Details, lowered};
use super::maps::HeightMaps;
use super::options::{DetailOptions, DetailSettings};
use super::regression::{DetailRegression, HeightGrams};
use crate::validation::Unseen;
use crate::{ControlPoints, LearnError, LearnOptions, LeaveOneOut, TrainingLog};

/// The errors of one pose left out, as RMS / longest side of the base's bounding box.
#[derive(Debug, Clone, PartialEq)]
pub struct DetailError {
    /// Of the detailed surface, from the predicted base with predicted heights.
    pub rms: f64,
    /// The same with the reference's heights.
    pub static_rms: f64,
    /// The same without heights.
    pub base_rms: f64,
    /// Of the heights alone.
    pub height_rms: f64,
    /// Of the reference's heights for those of the pose.
    pub static_height_rms: f64,
    /// What was chosen from the other poses.
    pub chosen: Option<DetailSettings>,
}

/// The errors of all poses, each left out in turn.
#[derive(Debug, Clone, PartialEq)]
pub struct DetailLeaveOneOut {
    /// Those of the base.
    pub base: LeaveOneOut,
    /// Those with detail, one per frame, in order.
    pub details: Vec<DetailError>,
}

impl DetailLeaveOneOut {
    /// As [`LeaveOneOut::of`], with base and details trained without the frame that is judged.
    ///
    /// # Errors
    /// As there.
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

    /// As [`of`](Self::of), going on from the trials that `log` knows and adding to it.
    ///
    /// # Errors
    /// As there.
    pub fn logged(
        detailed: DetailedExamples,
        control: ControlPoints,
        options: &LearnOptions,
        detail: &DetailOptions,
        log: &mut TrainingLog,
        progress: &dyn Progress,
    ) -> Result<Self, LearnError> {
        let (examples, details) = detailed.into_parts();
        let judge = Judge::new(&examples, &control, &details, detail);
        let mut errors = Vec::new();
        let mut visit = |unseen: &Unseen<'_>| {
            errors.push(judge.error(unseen)?);
            Ok(())
        };
        let base = LeaveOneOut::visiting(
            examples.clone(),
            control.clone(),
            options,
            log,
            progress,
            Some(&mut visit),
        )?;
        Ok(Self {
            base,
            details: errors,
        })
    }

    /// The mean over the poses of one of their errors.
    #[must_use]
    pub fn mean(&self, error: impl Fn(&DetailError) -> f64) -> f64 {
        self.details.iter().map(error).sum::<f64>() / self.details.len() as f64
    }
}

/// What it takes to judge the details of any pose.
struct Judge<'a> {
    details: &'a Details,
    options: &'a DetailOptions,
    blend: Option<Vec<BlendEntry>>,
    grams: HeightGrams,
    longest_side: f64,
}

impl<'a> Judge<'a> {
    fn new(
        examples: &crate::Examples,
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

    fn error(&self, unseen: &Unseen<'_>) -> Result<DetailError, LearnError> {
        let &Unseen {
            bench, left_out, ..
        } = unseen;
        let Details {
            surface, heights, ..
        } = self.details;
        let rest: Vec<usize> = (0..heights.len())
            .filter(|&example| example != left_out)
            .collect();
        let regression = DetailRegression::train(bench, &self.grams, &rest, self.options)?;
        let maps = HeightMaps::new(
            heights,
            self.blend.as_deref().filter(|_| regression.is_blended()),
        );
        let truth = surface.raised(bench.examples.pose(left_out), |v| heights[left_out][v]);
        let (goals, base) = self.settled(unseen, &regression, &maps, &truth);
        let base = base.as_slice();
        let found = maps.sum(&regression.shares(bench, &goals, base));
        let apart = |positions: Vec<DVec3>| {
            self.root_mean(
                positions
                    .iter()
                    .zip(&truth)
                    .map(|(a, b)| a.distance_squared(*b)),
            )
        };
        let between = |height: &dyn Fn(usize) -> f32| {
            self.root_mean(
                (0..truth.len()).map(|v| f64::from(height(v) - heights[left_out][v]).powi(2)),
            )
        };
        Ok(DetailError {
            rms: apart(surface.raised(base, |v| found.at(v))),
            static_rms: apart(surface.raised(base, |v| heights[0][v])),
            base_rms: apart(surface.refine(base)),
            height_rms: between(&|v| found.at(v)),
            static_height_rms: between(&|v| heights[0][v]),
            chosen: regression.settings,
        })
    }

    /// Where the control points of the base are, and the base there: all that is known of the pose
    /// are the points that a person sees. Those of a base that was made by smoothing would tell
    /// what the pose is like around them.
    fn settled(
        &self,
        unseen: &Unseen<'_>,
        regression: &DetailRegression,
        maps: &HeightMaps,
        truth: &[DVec3],
    ) -> (Vec<DVec3>, Vec<DVec3>) {
        let Unseen {
            bench,
            left_out,
            drive,
            found,
        } = *unseen;
        if !self.details.steered {
            return (bench.points[left_out].clone(), found.to_vec());
        }
        let seen = bench.control.at(truth);
        let base = drive(&seen);
        let heights = maps.sum(&regression.shares(bench, &seen, &base));
        let goals = lowered(&self.details.surface, &heights, bench, &seen, &base);
        let base = drive(&goals);
        (goals, base)
    }

    fn root_mean(&self, squares: impl ExactSizeIterator<Item = f64>) -> f64 {
        let count = squares.len().max(1) as f64;
        (squares.sum::<f64>() / count).sqrt() / self.longest_side
    }
}
