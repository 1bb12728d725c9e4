//! A model driven frame by frame: its poses, how sure it is of them, and what did not go as asked.

use pliant_learn::{
    Confidence, Driven, Driver, Hold, Jiggle, LearnError, Method, Model, SecondaryMotion,
};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, Progress};
use pliant_rig::Clip;
use thiserror::Error;
use web_time::Instant;

use crate::drive_job::Control;
use crate::drive_report::DriveReport;

/// How a model is driven.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DriveOptions {
    /// How control points are held; without it, as learned.
    pub hold: Option<Hold>,
    /// Whether an example's own points return it to the last digit; if not, as learned.
    pub exact: bool,
    /// Whether the details that a model has learned are shown.
    pub with_detail: bool,
    /// Whether the model tells how sure it is.
    pub with_confidence: bool,
    /// How soft parts swing: how often a second, and how much of it is damped.
    pub jiggle: Option<(f64, f64)>,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct DrivenClip {
    /// One position per vertex of the mesh that is shown, frame by frame.
    pub frames: Vec<Vec<DVec3>>,
    /// Frame by frame, where it was asked for.
    pub confidence: Vec<Confidence>,
    /// Points that were not followed, and frames beyond the examples.
    pub problems: Vec<String>,
    /// Mean time of a frame.
    pub ms_per_frame: f64,
}

/// Why a model does not follow its control points.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DrivenError {
    /// Options that the model declines.
    #[error(transparent)]
    Options(#[from] LearnError),
    /// A frame without a pose.
    #[error("frame {frame}: {source}")]
    Frame {
        /// Counted from 0.
        frame: usize,
        /// What is wrong with it.
        source: LearnError,
    },
    /// Confidence asked of a method without any.
    #[error("method '{}' cannot tell how sure it is; learn with `method = \"auto\"`", method.name())]
    CannotTell {
        /// The method.
        method: Method,
    },
}

impl DrivenClip {
    /// The poses of `model` for `control`.
    ///
    /// # Errors
    /// Options out of range, a frame with other places than the model has control points,
    /// confidence that the method does not have.
    pub fn of(
        model: &Model,
        control: &Control,
        options: &DriveOptions,
    ) -> Result<Self, DrivenError> {
        Self::watched(model, control, options, &())
    }

    /// As [`of`](Self::of), telling `progress` of every frame.
    ///
    /// # Errors
    /// As there; [`LearnError::Cancelled`] where `progress` asks to stop.
    pub fn watched(
        model: &Model,
        control: &Control,
        options: &DriveOptions,
        progress: &dyn Progress,
    ) -> Result<Self, DrivenError> {
        let with_detail = options.with_detail && model.detail().is_some();
        let driver = driver(model, options)?;
        let mut swinging = options
            .jiggle
            .map(|jiggle| swinging(model, jiggle, with_detail, control.fps))
            .transpose()?;
        let mut report = DriveReport::new(model);
        let (mut frames, mut confidence) = (Vec::with_capacity(control.frames.len()), Vec::new());
        let began = Instant::now();
        for (frame, goals) in control.frames.iter().enumerate() {
            if progress
                .report("driving", frame as f64 / control.frames.len() as f64)
                .is_break()
            {
                return Err(LearnError::Cancelled.into());
            }
            let in_frame = |source| DrivenError::Frame { frame, source };
            let Driven { positions, held } = driver.driven(goals, with_detail).map_err(in_frame)?;
            report.note(frame, goals, held.as_deref().unwrap_or(&positions));
            if options.with_confidence {
                let cannot_tell = || DrivenError::CannotTell {
                    method: model.options().method(),
                };
                confidence.push(
                    driver
                        .confidence(goals)
                        .map_err(in_frame)?
                        .ok_or_else(cannot_tell)?,
                );
            }
            frames.push(match &mut swinging {
                Some(swinging) => swinging.advance(&positions),
                None => positions,
            });
        }
        let ms_per_frame = began.elapsed().as_secs_f64() * 1e3 / frames.len().max(1) as f64;
        Ok(Self {
            frames,
            confidence,
            problems: report.problems(),
            ms_per_frame,
        })
    }
}

/// The mesh that poses are shown on, without the heights of its details.
#[must_use]
pub fn shown_mesh(model: &Model, with_detail: bool) -> &Mesh {
    model
        .detail()
        .filter(|_| with_detail)
        .map_or(model.examples().reference(), |layer| layer.mesh())
}

fn driver<'a>(model: &'a Model, options: &DriveOptions) -> Result<Driver<'a>, LearnError> {
    let driver = options
        .hold
        .map_or_else(|| Ok(model.driver()), |hold| model.driver_with(hold))?;
    Ok(if options.exact {
        driver.exactly()
    } else {
        driver
    })
}

fn swinging(
    model: &Model,
    (hertz, damping): (f64, f64),
    with_detail: bool,
    fps: Option<f64>,
) -> Result<SecondaryMotion, LearnError> {
    let jiggle = Jiggle {
        hertz,
        damping,
        frames_per_second: fps.unwrap_or(Clip::DEFAULT_FRAMES_PER_SECOND),
    };
    SecondaryMotion::new(shown_mesh(model, with_detail), model.control(), &jiggle)
}
