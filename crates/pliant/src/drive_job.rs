//! Control points for a model from a file: places as they are, a captured take, a clip of the mesh,
//! or end effectors of a skeleton.

use std::path::{Path, PathBuf};

use pliant_io::{IoError, read_file, read_markers};
use pliant_learn::{IkSkeleton, LearnError, MarkerSource, Model, Preparation};
use pliant_mesh::glam::DVec3;
use pliant_rig::MarkerTrack;
use serde_json::Value;
use thiserror::Error;
use web_time::Instant;

use crate::skeleton_file::SkeletonFile;

/// How a file becomes control points.
#[derive(Debug, Clone, Default)]
pub struct DriveJob {
    /// What is done to the take.
    pub preparation: Preparation,
    /// The skeleton whose end effectors the file gives.
    pub skeleton: Option<PathBuf>,
}

/// Control points over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Control {
    /// One place per control point and frame.
    pub frames: Vec<Vec<DVec3>>,
    /// Frames per second, where known.
    pub fps: Option<f64>,
    /// What was filled, guessed or left out.
    pub problems: Vec<String>,
    /// How the end effectors were followed.
    pub effectors: Option<Effectors>,
}

/// How end effectors were followed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effectors {
    /// The largest distance of an effector from its goal, in the model's units.
    pub miss: f64,
    /// The frame it is in.
    pub frame: usize,
    /// Mean time of a frame.
    pub ms_per_frame: f64,
}

/// Why a file does not drive a model.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DriveError {
    /// A file that cannot be read.
    #[error(transparent)]
    File(#[from] IoError),
    /// What is in it.
    #[error("{file}: {source}")]
    Learn {
        /// The file.
        file: String,
        /// What is wrong.
        source: LearnError,
    },
    /// A list or skeleton of another form.
    #[error("{file}: {message}")]
    Text {
        /// The file.
        file: String,
        /// What is wrong.
        message: String,
    },
}

impl DriveJob {
    /// Reads `points` as control points of `model`.
    ///
    /// # Errors
    /// Files that cannot be read, markers or skeletons that do not fit the model.
    pub fn read(&self, points: &Path, model: &Model) -> Result<Control, DriveError> {
        let (track, named) = if is_clip(points) {
            (clip_track(points, model)?, false)
        } else {
            read_take(points)?
        };
        let mut preparation = self.preparation.clone();
        // A plain list of places has no gaps, unless someone knows that it has.
        if named || self.preparation.markers.is_some() {
            preparation.max_gap = preparation.max_gap.or(Some(Preparation::DEFAULT_MAX_GAP));
        }
        let in_file = |path: &Path| {
            let file = path.display().to_string();
            move |source| DriveError::Learn { file, source }
        };
        let reference = model.examples().reference().positions();
        let rest = model.control().at(reference);
        let Some(path) = &self.skeleton else {
            let prepared = preparation
                .run(
                    &track,
                    &MarkerSource {
                        rest: &rest,
                        names: &[],
                        reference,
                    },
                )
                .map_err(in_file(points))?;
            return Ok(Control {
                frames: prepared.frames,
                fps: prepared.fps,
                problems: prepared.problems,
                effectors: None,
            });
        };
        let skeleton =
            SkeletonFile::parse(&read_text(path)?).map_err(|message| DriveError::Text {
                file: path.display().to_string(),
                message,
            })?;
        let solver = skeleton.solver(model).map_err(in_file(path))?;
        let (names, rest): (Vec<&str>, Vec<DVec3>) = solver
            .skeleton()
            .effectors()
            .map(|joint| (joint.name.as_str(), joint.at))
            .unzip();
        let track = if is_clip(points) {
            effectors_of(&track, solver.skeleton())
        } else {
            track
        };
        let mut prepared = preparation
            .run(
                &track,
                &MarkerSource {
                    rest: &rest,
                    names: &names,
                    reference,
                },
            )
            .map_err(in_file(points))?;
        let began = Instant::now();
        let poses = solver
            .solve_all(&prepared.frames)
            .map_err(in_file(points))?;
        let ms_per_frame = began.elapsed().as_secs_f64() * 1e3 / poses.len() as f64;
        let (frame, miss) = poses
            .iter()
            .map(|pose| pose.miss)
            .enumerate()
            .fold((0, 0.0), |most, it| if it.1 > most.1 { it } else { most });
        if miss > UNREACHED * solver.skeleton().reach() {
            prepared.problems.push(format!("goals are out of reach: in frame {frame} an effector stays {miss:.4} away from its own"));
        }
        let frames = poses
            .iter()
            .map(|pose| {
                solver
                    .skeleton()
                    .controls(&pose.places, model.control().count())
            })
            .collect();
        Ok(Control {
            frames,
            fps: prepared.fps,
            problems: prepared.problems,
            effectors: Some(Effectors {
                miss,
                frame,
                ms_per_frame,
            }),
        })
    }
}

/// Whether `points` names a mesh that moves rather than places of markers.
fn is_clip(points: &Path) -> bool {
    let is_array = points
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("npy"));
    let is_pair = !points.is_file() && points.to_string_lossy().contains('+');
    is_pair || !(is_array || pliant_io::holds_markers(points))
}

fn read_take(points: &Path) -> Result<(MarkerTrack, bool), DriveError> {
    let file = read_markers(points)?;
    Ok((file.track, file.named))
}

/// Where the control points of the model are in a clip of its mesh.
fn clip_track(points: &Path, model: &Model) -> Result<MarkerTrack, DriveError> {
    let name = points.to_string_lossy();
    let clip = crate::load(&name)?.clip()?;
    let (found, expected) = (
        clip.reference().vertex_count(),
        model.examples().reference().vertex_count(),
    );
    let wrong = |message: String| DriveError::Text {
        file: name.clone().into_owned(),
        message,
    };
    if found != expected {
        return Err(wrong(format!(
            "it has {found} vertices, the model {expected}; give a clip of the same mesh, or places of its control points"
        )));
    }
    let frames = clip
        .frames()
        .iter()
        .map(|frame| model.control().at(frame).into_iter().map(Some).collect())
        .collect();
    let names = model
        .control()
        .vertices()
        .iter()
        .map(u32::to_string)
        .collect();
    MarkerTrack::new(names, Some(clip.frames_per_second()), frames)
        .map_err(|error| wrong(error.to_string()))
}

/// The places of the effectors that sit at control points.
fn effectors_of(track: &MarkerTrack, skeleton: &IkSkeleton) -> MarkerTrack {
    let controls: Vec<usize> = skeleton
        .effectors()
        .filter_map(|joint| joint.control)
        .collect();
    let names = skeleton
        .effectors()
        .filter(|joint| joint.control.is_some())
        .map(|joint| joint.name.clone())
        .collect();
    let frames = track
        .frames()
        .iter()
        .map(|frame| controls.iter().map(|&k| frame[k]).collect())
        .collect();
    MarkerTrack::new(names, track.fps(), frames).expect("a part of a track is one")
}

/// A miss beyond this part of the longest chain is told.
const UNREACHED: f64 = 1e-3;

/// The marker of each control point: names parted by commas with `-` for none, or a JSON file with
/// a list of names in the model's order or an object of name and vertex.
///
/// # Errors
/// A file that cannot be read or understood.
pub fn marker_list(text: &str, model: &Model) -> Result<Vec<Option<String>>, DriveError> {
    if !Path::new(text).is_file() {
        let named = |name: &str| {
            Some(name.trim().to_owned()).filter(|name| name != "-" && !name.is_empty())
        };
        return Ok(text.split(',').map(named).collect());
    }
    let wrong = |message: String| DriveError::Text {
        file: text.to_owned(),
        message,
    };
    let value: Value = serde_json::from_str(&read_text(Path::new(text))?)
        .map_err(|error| wrong(error.to_string()))?;
    match value {
        Value::Array(names) => {
            let named = |name: &Value| match name {
                Value::Null => Ok(None),
                Value::String(name) => Ok(Some(name.clone())),
                Value::Number(number) => Ok(Some(number.to_string())),
                other => Err(wrong(format!(
                    "{other} is no marker; write names, numbers, or null for none"
                ))),
            };
            names.iter().map(named).collect()
        }
        Value::Object(entries) => {
            let mut list = vec![None; model.control().count()];
            for (name, vertex) in entries {
                let point = model
                    .control()
                    .vertices()
                    .iter()
                    .position(|&point| vertex.as_u64() == Some(point.into()));
                let unknown = || {
                    wrong(format!(
                        "marker '{name}' is given to {vertex}, which is no control point of the model"
                    ))
                };
                let point = point.ok_or_else(unknown)?;
                list[point] = Some(name);
            }
            Ok(list)
        }
        _ => Err(wrong(
            "it holds neither a list of names nor an object of name and vertex".into(),
        )),
    }
}

fn read_text(path: &Path) -> Result<String, DriveError> {
    let bytes = read_file(path)?;
    String::from_utf8(bytes).map_err(|error| DriveError::Text {
        file: path.display().to_string(),
        message: format!("{error}; save it as UTF-8 text"),
    })
}
