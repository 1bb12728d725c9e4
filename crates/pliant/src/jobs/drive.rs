//! Control points of a model from a file: positions, a captured take, a clip of the mesh, or goals
//! for the end effectors of a skeleton.

use std::path::{Path, PathBuf};

use pliant_io::{IoError, read_file};
use pliant_learn::{
    ControlTrack, IkSolver, LearnError, MarkerPreparation, Model, control_markers, effector_markers,
};
use pliant_rig::MarkerTrack;
use serde_json::{Map, Value};
use thiserror::Error;

use crate::recipes::SkeletonFile;

/// How a file becomes control points.
#[derive(Debug, Clone, Default)]
pub struct DriveJob {
    /// How the take is prepared.
    pub preparation: MarkerPreparation,
    /// The file of the skeleton whose end effectors the points give.
    pub skeleton: Option<PathBuf>,
}

/// Why a file gives no control points.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DriveError {
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] IoError),
    /// The content of a file does not fit the model.
    #[error("{file}: {source}")]
    Learn {
        /// The file.
        file: String,
        /// What is wrong.
        source: LearnError,
    },
    /// A list or skeleton has another form.
    #[error("{file}: {message}")]
    Text {
        /// The file.
        file: String,
        /// What is wrong.
        message: String,
    },
}

impl DriveError {
    fn learn(file: &Path) -> impl FnOnce(LearnError) -> Self {
        let file = file.display().to_string();
        move |source| Self::Learn { file, source }
    }

    fn text(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Text {
            file: file.into(),
            message: message.into(),
        }
    }
}

impl DriveJob {
    /// Reads `points` as control points of `model`.
    ///
    /// # Errors
    /// Files that cannot be read, markers or skeletons that do not fit the model.
    pub fn read(&self, points: &Path, model: &Model) -> Result<ControlTrack, DriveError> {
        let read_clip = names_clip(points);
        let (mut track, named) = if read_clip {
            (clip_markers(points, model)?, false)
        } else {
            let file = pliant_io::read_markers(points)?;
            (file.track, file.named)
        };

        // A plain list of positions has no gaps, unless the caller lists markers.
        let mut preparation = self.preparation.clone();
        if named || preparation.markers.is_some() {
            preparation.max_gap = preparation
                .max_gap
                .or(Some(MarkerPreparation::DEFAULT_MAX_GAP));
        }

        let Some(skeleton) = &self.skeleton else {
            return ControlTrack::from_markers(&track, model, &preparation)
                .map_err(DriveError::learn(points));
        };

        // With a skeleton the points are goals of its end effectors.
        let solver = read_solver(skeleton, model)?;
        if read_clip {
            track = effector_markers(&track, solver.skeleton());
        }
        ControlTrack::from_effectors(&track, model, &solver, &preparation)
            .map_err(DriveError::learn(points))
    }
}

fn read_solver(skeleton: &Path, model: &Model) -> Result<IkSolver, DriveError> {
    let file = SkeletonFile::parse(&read_text(skeleton)?)
        .map_err(|error| DriveError::text(skeleton.display().to_string(), error.to_string()))?;
    file.solver(model).map_err(DriveError::learn(skeleton))
}

/// Whether `points` names a moving mesh rather than positions of markers.
fn names_clip(points: &Path) -> bool {
    let is_array = points
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("npy"));
    // A locator such as `a.obj+a.npy` is no file of its own.
    let is_pair = !points.is_file() && points.to_string_lossy().contains('+');
    is_pair || !(is_array || pliant_io::is_marker_file(points))
}

/// The control points of the model in a clip of its mesh.
fn clip_markers(points: &Path, model: &Model) -> Result<MarkerTrack, DriveError> {
    let name = points.to_string_lossy();
    let asset = crate::load(&name)?;
    let clip = match model.examples().meters_per_unit() {
        Some(unit) => asset.in_space(asset.up_axis, unit).clip()?,
        None => asset.clip()?,
    };

    let found = clip.reference().vertex_count();
    let expected = model.examples().reference().vertex_count();
    if found != expected {
        return Err(DriveError::text(
            name,
            format!(
                "it has {found} vertices, the model {expected}; give a clip of the same mesh, or positions of its control points"
            ),
        ));
    }

    control_markers(model, &clip).map_err(|error| DriveError::text(name, error.to_string()))
}

/// The marker of each control point: names separated by commas with `-` for none, or a JSON file
/// with a list of names in the order of the control points or an object of names and vertices.
///
/// # Errors
/// A file that cannot be read or has another form.
pub fn marker_list(text: &str, model: &Model) -> Result<Vec<Option<String>>, DriveError> {
    if !Path::new(text).is_file() {
        return Ok(text.split(',').map(marker_name).collect());
    }

    let content = read_text(Path::new(text))?;
    let value: Value = serde_json::from_str(&content)
        .map_err(|error| DriveError::text(text, pliant_io::json_problem(&error)))?;

    let list = match value {
        Value::Array(names) => names.iter().map(listed_marker).collect(),
        Value::Object(entries) => markers_by_vertex(entries, model),
        _ => Err("it holds neither a list of names nor an object of name and vertex".to_owned()),
    };
    list.map_err(|message| DriveError::text(text, message))
}

/// The name between two commas; none for `-` and for an empty name.
fn marker_name(text: &str) -> Option<String> {
    match text.trim() {
        "" | "-" => None,
        name => Some(name.to_owned()),
    }
}

/// An entry of a list of markers.
fn listed_marker(entry: &Value) -> Result<Option<String>, String> {
    match entry {
        Value::Null => Ok(None),
        Value::String(name) => Ok(Some(name.clone())),
        Value::Number(number) => Ok(Some(number.to_string())),
        other => Err(format!(
            "{other} is no marker; write names, numbers, or null for none"
        )),
    }
}

/// The markers of an object of names and vertices, in the order of the control points.
fn markers_by_vertex(
    entries: Map<String, Value>,
    model: &Model,
) -> Result<Vec<Option<String>>, String> {
    let control = model.control();
    let mut list = vec![None; control.count()];
    for (name, vertex) in entries {
        let point = control
            .vertices()
            .iter()
            .position(|&point| vertex.as_u64() == Some(point.into()));
        let Some(point) = point else {
            return Err(format!(
                "marker '{name}' is given to {vertex}, which is no control point of the model"
            ));
        };
        list[point] = Some(name);
    }
    Ok(list)
}

fn read_text(path: &Path) -> Result<String, DriveError> {
    let bytes = read_file(path)?;
    String::from_utf8(bytes).map_err(|error| {
        DriveError::text(
            path.display().to_string(),
            format!("{error}; save it as UTF-8 text"),
        )
    })
}
