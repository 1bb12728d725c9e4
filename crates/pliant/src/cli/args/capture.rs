//! Options of `pliant drive`: how a file of markers becomes the control points of a model.

use std::path::{Path, PathBuf};

use pliant::jobs::{DriveError, DriveJob, marker_list};
use pliant::learn::ControlTrack;
use pliant_learn::{Anchor, Axes, MarkerAlignment, MarkerPreparation, Model, Window};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::report::failure::Failure;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Captured markers and end effectors")]
pub(crate) struct CaptureArgs {
    /// The marker of each control point in the order of the model, by name or number; `-` for
    /// none. Or a JSON file: a list of names, or an object of names and vertices.
    #[arg(long, value_name = "A,B,…|FILE", allow_hyphen_values = true)]
    markers: Option<String>,

    /// Frames of the capture to use, both included, counted from 0. Unlike --frames, it cuts the
    /// capture before it is smoothed and resampled.
    #[arg(long, value_name = "FIRST-LAST", value_parser = parse_frames)]
    take_frames: Option<[usize; 2]>,

    /// Length of the unit of the capture in the unit of the model: 0.1 for millimetres to
    /// centimetres [default: 1].
    #[arg(long, value_name = "S")]
    scale: Option<f64>,

    /// The axes of the capture that are x, y and z of the model [default: xyz]. A capture with z
    /// up needs `xz-y`.
    #[arg(long, value_name = "XYZ", allow_hyphen_values = true)]
    axes: Option<Axes>,

    /// Fill gaps of up to N frames along time, and longer gaps from neighbouring markers
    /// [default: 12 for captures with names].
    #[arg(long, value_name = "N")]
    max_gap: Option<usize>,

    /// Remove the rigid motion of every frame, by `all` markers or by those on a rigid part. A
    /// marker that drives no control point needs its vertex, as B1:120, or --rest-frame.
    #[arg(long, value_name = "NAMES|all|none", default_value = "none", value_parser = parse_anchors)]
    align: Anchors,

    /// Align all frames like this one, which keeps the rigid motion.
    #[arg(long, value_name = "N")]
    align_frame: Option<usize>,

    /// Also scale the capture to the size of the model.
    #[arg(long)]
    align_scale: bool,

    /// A frame of the capture in the rest pose. Differences to the model in that frame become
    /// fixed offsets of the markers.
    #[arg(long, value_name = "N")]
    rest_frame: Option<usize>,

    /// Smooth over time without delay; standard deviation in frames (`3`) or seconds (`0.03s`).
    #[arg(long, value_name = "S", value_parser = parse_window)]
    smooth: Option<Window>,

    /// Frames per second of the capture, if its file does not contain them.
    #[arg(long, value_name = "FPS")]
    take_fps: Option<f64>,

    /// Resample to this number of frames per second. Points without a rate get this rate.
    #[arg(long, value_name = "FPS")]
    fps: Option<f64>,

    /// The points are end effectors of this skeleton, in its order or by name. All other joints
    /// are solved.
    #[arg(long, value_name = "FILE")]
    skeleton: Option<PathBuf>,
}

/// The markers of `--align`; none for no alignment.
#[derive(Debug, Clone)]
struct Anchors(Option<Vec<Anchor>>);

fn parse_anchors(text: &str) -> Result<Anchors, String> {
    match text {
        "none" => Ok(Anchors(None)),
        "all" => Ok(Anchors(Some(Vec::new()))),
        names => {
            let anchors: Result<Vec<Anchor>, String> = names.split(',').map(parse_anchor).collect();
            Ok(Anchors(Some(anchors?)))
        }
    }
}

/// Parses `MARKER` or `MARKER:VERTEX`.
fn parse_anchor(text: &str) -> Result<Anchor, String> {
    match text.rsplit_once(':') {
        // Names of markers may contain colons, as those of many capture systems do.
        Some((marker, vertex)) if vertex.bytes().all(|byte| byte.is_ascii_digit()) => {
            let vertex = vertex
                .parse()
                .map_err(|_| format!("'{vertex}' is not a vertex"))?;
            Ok(Anchor {
                marker: marker.to_owned(),
                vertex: Some(vertex),
            })
        }
        _ => Ok(Anchor {
            marker: text.trim().to_owned(),
            vertex: None,
        }),
    }
}

fn parse_frames(text: &str) -> Result<[usize; 2], String> {
    let range = text
        .split_once('-')
        .and_then(|(first, last)| Some([first.parse().ok()?, last.parse().ok()?]));
    range.ok_or_else(|| format!("'{text}' is not a range of frames; write it as 100-250"))
}

fn parse_window(text: &str) -> Result<Window, String> {
    let wrong = |_| format!("'{text}' is not a time; write frames as 3 or seconds as 0.03s");
    match text.strip_suffix('s') {
        Some(secs) => secs.parse().map(Window::Seconds).map_err(wrong),
        None => text.parse().map(Window::Frames).map_err(wrong),
    }
}

impl CaptureArgs {
    /// The control points of `model` in every frame of `points`.
    pub(crate) fn read(&self, points: &Path, model: &Model) -> Result<ControlTrack, Failure> {
        let job = DriveJob {
            preparation: self.preparation(model).map_err(failure)?,
            skeleton: self.skeleton.clone(),
        };
        job.read(points, model).map_err(failure)
    }

    fn preparation(&self, model: &Model) -> Result<MarkerPreparation, DriveError> {
        let markers = match &self.markers {
            Some(text) => Some(marker_list(text, model)?),
            None => None,
        };

        Ok(MarkerPreparation {
            markers,
            range: self.take_frames,
            scale: self.scale.unwrap_or(1.0),
            axes: self.axes.unwrap_or_default(),
            max_gap: self.max_gap,
            align: self.alignment(),
            rest_frame: self.rest_frame,
            smooth: self.smooth,
            take_fps: self.take_fps,
            fps: self.fps,
        })
    }

    fn alignment(&self) -> MarkerAlignment {
        match &self.align.0 {
            None => MarkerAlignment::None,
            Some(anchors) => MarkerAlignment::Rigid {
                anchors: anchors.clone(),
                frame: self.align_frame,
                scaled: self.align_scale,
            },
        }
    }
}

fn failure(error: DriveError) -> Failure {
    match error {
        DriveError::File(error) => error.into(),
        error => Failure::new(error.to_string()),
    }
}

/// How well end effectors reach their goals.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct EffectorReport {
    /// Largest distance of an end effector from its goal, in units of the model.
    miss: f64,
    /// The frame of that distance.
    frame: usize,
    /// Mean time of inverse kinematics for a frame, in milliseconds.
    ms_per_frame: f64,
}

impl From<pliant::learn::EffectorReport> for EffectorReport {
    fn from(effectors: pliant::learn::EffectorReport) -> Self {
        Self {
            miss: effectors.miss,
            frame: effectors.frame,
            ms_per_frame: effectors.ms_per_frame,
        }
    }
}
