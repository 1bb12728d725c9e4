//! Options of `pliant drive` that say how a file becomes control points.

use std::path::{Path, PathBuf};

use pliant::drive_job::{Control, DriveError, DriveJob, Effectors, marker_list};
use pliant_learn::{Align, Anchor, Axes, Model, Preparation, Window};
use serde_json::{Map, Value, json};

use super::failure::Failure;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Captured markers and end effectors")]
pub(crate) struct ControlArgs {
    /// The marker of each control point in the model's order, by name or number (`-`: none, the
    /// points around carry it); or a JSON file: a list of names, or an object of name and
    /// vertex.
    #[arg(long, value_name = "A,B,…|FILE", allow_hyphen_values = true)]
    markers: Option<String>,

    /// Use these frames of the take only, both included, counted from 0.
    #[arg(long, value_name = "FIRST-LAST", value_parser = frames)]
    frames: Option<[usize; 2]>,

    /// The length of the take's unit in the model's: 0.1 for millimetres to centimetres.
    #[arg(long, value_name = "S")]
    scale: Option<f64>,

    /// Which axis of the take is the model's x, y and z: `xz-y` for a take whose z is up.
    #[arg(long, value_name = "XYZ", allow_hyphen_values = true)]
    axes: Option<Axes>,

    /// Fill gaps of up to N frames along time, longer ones by the motion of neighbouring markers
    /// [default: 12 for takes with names].
    #[arg(long, value_name = "N")]
    max_gap: Option<usize>,

    /// Remove the motion of the whole in every frame: by `all` markers or by those on a part that
    /// stays rigid; one that drives no point says its vertex, as B1:120, or needs
    /// --rest-frame.
    #[arg(long, value_name = "NAMES|all|none", default_value = "none", value_parser = anchors)]
    align: Anchors,

    /// Align all frames as this one, which keeps the motion of the whole.
    #[arg(long, value_name = "N")]
    align_frame: Option<usize>,

    /// Also scale the take to the model's size.
    #[arg(long)]
    align_scale: bool,

    /// A frame of the take in the rest pose: what is off there counts as the markers' offset.
    #[arg(long, value_name = "N")]
    rest_frame: Option<usize>,

    /// Smooth over time with this deviation, in frames (`3`) or seconds (`0.03s`); nothing lags
    /// behind.
    #[arg(long, value_name = "S", value_parser = window)]
    smooth: Option<Window>,

    /// The take's frames per second, where its file does not tell.
    #[arg(long, value_name = "FPS")]
    take_fps: Option<f64>,

    /// Resample to so many frames per second; of points whose rate nothing tells, this is it.
    #[arg(long, value_name = "FPS")]
    fps: Option<f64>,

    /// The points are end effectors of this skeleton, in its order or by name; all others are
    /// solved.
    #[arg(long, value_name = "FILE")]
    skeleton: Option<PathBuf>,
}

/// What `--align` names; nothing for none.
#[derive(Debug, Clone)]
struct Anchors(Option<Vec<Anchor>>);

fn anchors(text: &str) -> Result<Anchors, String> {
    let anchor = |name: &str| match name.rsplit_once(':') {
        Some((marker, vertex)) if vertex.bytes().all(|b| b.is_ascii_digit()) => {
            let vertex = vertex
                .parse()
                .map_err(|_| format!("'{vertex}' is no vertex"))?;
            Ok(Anchor {
                marker: marker.to_owned(),
                vertex: Some(vertex),
            })
        }
        _ => Ok(Anchor {
            marker: name.trim().to_owned(),
            vertex: None,
        }),
    };
    Ok(Anchors(match text {
        "none" => None,
        "all" => Some(Vec::new()),
        names => Some(
            names
                .split(',')
                .map(anchor)
                .collect::<Result<_, String>>()?,
        ),
    }))
}

fn frames(text: &str) -> Result<[usize; 2], String> {
    let range = text
        .split_once('-')
        .and_then(|(first, last)| Some([first.parse().ok()?, last.parse().ok()?]));
    range.ok_or_else(|| format!("'{text}' is no range of frames; write it as 100-250"))
}

fn window(text: &str) -> Result<Window, String> {
    let (number, seconds) = text
        .strip_suffix('s')
        .map_or((text, false), |number| (number, true));
    let value: f64 = number
        .parse()
        .map_err(|_| format!("'{text}' is no time; write frames as 3 or seconds as 0.03s"))?;
    Ok(if seconds {
        Window::Seconds(value)
    } else {
        Window::Frames(value)
    })
}

impl ControlArgs {
    /// The control points of `model` in every frame of `points`.
    pub(crate) fn read(&self, points: &Path, model: &Model) -> Result<Control, Failure> {
        let markers = self
            .markers
            .as_deref()
            .map(|text| marker_list(text, model))
            .transpose()
            .map_err(told)?;
        let align = self
            .align
            .0
            .clone()
            .map_or(Align::None, |anchors| Align::By {
                anchors,
                frame: self.align_frame,
                scaled: self.align_scale,
            });
        let preparation = Preparation {
            markers,
            range: self.frames,
            scale: self.scale.unwrap_or(1.0),
            axes: self.axes.unwrap_or_default(),
            max_gap: self.max_gap,
            align,
            rest_frame: self.rest_frame,
            smooth: self.smooth,
            take_fps: self.take_fps,
            fps: self.fps,
        };
        DriveJob {
            preparation,
            skeleton: self.skeleton.clone(),
        }
        .read(points, model)
        .map_err(told)
    }
}

fn told(error: DriveError) -> Failure {
    match error {
        DriveError::File(error) => error.into(),
        error => Failure::could_not(error.to_string()),
    }
}

/// What `--json` holds of it.
pub(crate) fn tell(
    object: &mut Map<String, Value>,
    fps: Option<f64>,
    effectors: Option<Effectors>,
) {
    object.insert("fps".into(), json!(fps));
    if let Some(Effectors {
        miss,
        frame,
        ms_per_frame,
    }) = effectors
    {
        object.insert(
            "effectors".into(),
            json!({"miss": miss, "frame": frame, "ms_per_frame": ms_per_frame}),
        );
    }
}
