//! The clip that a model gives for moving control points, with confidence and warnings.

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, Progress};
use pliant_rig::Clip;
use thiserror::Error;
use web_time::Instant;

use super::{DriveFindings, DriveReport};
use crate::{
    Confidence, ControlConstraint, ControlTrack, DrivenPose, Driver, LearnError, Method, Model,
    SecondaryMotion, SecondaryMotionOptions,
};

/// How a model is driven.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DriveOptions {
    /// How control points are held; without it, as trained.
    pub hold: Option<ControlConstraint>,
    /// Whether an example's own control points return the example exactly; if not, as trained.
    pub exact: bool,
    /// Whether the learned detail is shown.
    pub with_detail: bool,
    /// Whether the confidence of every frame is computed.
    pub with_confidence: bool,
    /// Secondary motion of soft parts: frequency in Hz and damping ratio.
    pub jiggle: Option<(f64, f64)>,
}

/// A driven clip.
#[derive(Debug, Clone, PartialEq)]
pub struct DrivenClip {
    /// One position per vertex of the shown mesh, frame by frame.
    pub frames: Vec<Vec<DVec3>>,
    /// The confidence of every frame, if the options ask for it.
    pub confidence: Vec<Confidence>,
    /// Control points that were not followed, and frames outside the range of the examples.
    pub warnings: Vec<String>,
    /// What the warnings say, in a form that pieces of a clip can join.
    pub findings: DriveFindings,
    /// Mean time of a frame.
    pub ms_per_frame: f64,
}

/// Why a model cannot be driven.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DrivenError {
    /// The model rejects the options.
    #[error(transparent)]
    Options(#[from] LearnError),
    /// The model has no pose for a frame.
    #[error("frame {frame}: {source}")]
    Frame {
        /// Counted from 0.
        frame: usize,
        /// What is wrong with it.
        source: LearnError,
    },
    /// The method computes no confidence.
    #[error("method '{}' computes no confidence; train with `method = \"auto\"`", method.name())]
    NoConfidence {
        /// The method.
        method: Method,
    },
}

impl DrivenClip {
    /// The poses of `model` for `control`.
    ///
    /// # Errors
    /// Options out of range, a frame whose number of positions is not the number of control
    /// points, a confidence that the method does not compute.
    pub fn of(
        model: &Model,
        control: &ControlTrack,
        options: &DriveOptions,
    ) -> Result<Self, DrivenError> {
        Self::of_with_progress(model, control, options, &())
    }

    /// As [`of`](Self::of), reporting every frame to `progress`.
    ///
    /// # Errors
    /// As [`of`](Self::of); [`LearnError::Stopped`] if `progress` asks to stop.
    pub fn of_with_progress(
        model: &Model,
        control: &ControlTrack,
        options: &DriveOptions,
        progress: &dyn Progress,
    ) -> Result<Self, DrivenError> {
        let all: Vec<usize> = (0..control.frames.len()).collect();
        Self::of_frames(model, control, options, &all, progress)
    }

    /// As [`of_with_progress`](Self::of_with_progress), for some frames in ascending order; they are
    /// those of the whole clip to the bit. Frames do not depend on each other, except with secondary
    /// motion: then all frames up to the last of `selected` are computed.
    ///
    /// # Errors
    /// As [`of_with_progress`](Self::of_with_progress).
    ///
    /// # Panics
    /// For a frame after the last one.
    pub fn of_frames(
        model: &Model,
        control: &ControlTrack,
        options: &DriveOptions,
        selected: &[usize],
        progress: &dyn Progress,
    ) -> Result<Self, DrivenError> {
        let with_detail = options.with_detail && model.detail().is_some();
        let driver = driver(model, options)?;
        let mut secondary = match options.jiggle {
            Some(jiggle) => Some(secondary_motion(model, jiggle, with_detail, control.fps)?),
            None => None,
        };

        // Soft parts swing on from frame to frame.
        let end = selected.last().map_or(0, |last| last + 1);
        let steps: Vec<usize> = match &secondary {
            Some(_) => (0..end).collect(),
            None => selected.to_vec(),
        };

        let mut report = DriveReport::new(model);
        let mut frames = Vec::with_capacity(selected.len());
        let mut confidence = Vec::new();
        let began = Instant::now();

        for (step, &frame) in steps.iter().enumerate() {
            let done = step as f64 / steps.len() as f64;
            progress
                .proceed("driving", done)
                .map_err(LearnError::from)?;

            let goals = &control.frames[frame];
            let in_frame = |source| DrivenError::Frame { frame, source };
            let DrivenPose { positions, base } =
                driver.driven_pose(goals, with_detail).map_err(in_frame)?;
            if selected.binary_search(&frame).is_err() {
                if let Some(secondary) = &mut secondary {
                    secondary.advance(&positions).map_err(in_frame)?;
                }
                continue;
            }
            report.add(frame, goals, base.as_deref().unwrap_or(&positions));

            if options.with_confidence {
                let found = driver.confidence(goals).map_err(in_frame)?;
                let method = model.options().method();
                confidence.push(found.ok_or(DrivenError::NoConfidence { method })?);
            }

            frames.push(match &mut secondary {
                Some(secondary) => secondary.advance(&positions).map_err(in_frame)?,
                None => positions,
            });
        }

        let ms_per_frame = began.elapsed().as_secs_f64() * 1e3 / frames.len().max(1) as f64;
        Ok(Self {
            frames,
            confidence,
            warnings: report.warnings(),
            findings: report.into_findings(),
            ms_per_frame,
        })
    }
}

/// The mesh of the driven poses: that of the examples, or the detailed one without its heights.
#[must_use]
pub fn shown_mesh(model: &Model, with_detail: bool) -> &Mesh {
    match model.detail() {
        Some(layer) if with_detail => layer.mesh(),
        _ => model.examples().reference(),
    }
}

fn driver(model: &Model, options: &DriveOptions) -> Result<Driver, LearnError> {
    let driver = match options.hold {
        Some(hold) => model.driver_with(hold)?,
        None => model.driver(),
    };
    Ok(if options.exact {
        driver.with_exact_examples()
    } else {
        driver
    })
}

fn secondary_motion(
    model: &Model,
    (hertz, damping): (f64, f64),
    with_detail: bool,
    fps: Option<f64>,
) -> Result<SecondaryMotion, LearnError> {
    let jiggle = SecondaryMotionOptions {
        hertz,
        damping,
        frames_per_second: fps.unwrap_or(Clip::DEFAULT_FRAMES_PER_SECOND),
    };
    SecondaryMotion::new(shown_mesh(model, with_detail), model.control(), &jiggle)
}
