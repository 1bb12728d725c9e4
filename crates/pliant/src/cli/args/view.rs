//! `--view` and `--camera`: from where a picture is seen.

use std::path::Path;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use pliant_mesh::glam::DVec3;
use pliant_rig::SketchCamera;
use pliant_view::{Framing, View};
use serde::Deserialize;

use crate::cli::report::failure::Failure;

/// A parser of the named views, so that help lists them.
pub(crate) fn view_parser() -> impl TypedValueParser<Value = View> {
    PossibleValuesParser::new(View::NAMED.map(|(name, _)| name))
        .map(|name| View::from_name(&name).expect("the parser accepts named views only"))
}

/// A camera that looks along a named view. It frames nothing: only its axes have a meaning.
pub(crate) fn camera_along(view: View) -> SketchCamera {
    SketchCamera {
        eye: view.direction(),
        target: DVec3::ZERO,
        up: DVec3::Y,
        fov_y_degrees: Framing::DEFAULT_VERTICAL_FOV_RAD.to_degrees(),
        width: 1,
        height: 1,
    }
}

/// A file with a camera: the camera itself, or an object that has one, such as a stroke file or
/// the report of `render --json`.
#[derive(Deserialize)]
#[serde(untagged)]
enum CameraFile {
    Inside { camera: SketchCamera },
    Alone(SketchCamera),
}

/// Reads a camera in the form of a stroke file.
pub(crate) fn read_camera(path: &Path) -> Result<SketchCamera, Failure> {
    let parsed = serde_json::from_slice(&pliant_io::read_file(path)?);
    let file: CameraFile = parsed.map_err(|_| {
        Failure::new(format!(
            "{}: this is not a camera; give {{\"eye\": [x, y, z], \"target\": [x, y, z], \"up\": [x, y, z], \
             \"fov_y_degrees\": a, \"width\": w, \"height\": h}}, as `pliant render --json` prints it",
            path.display()
        ))
    })?;

    let (CameraFile::Inside { camera } | CameraFile::Alone(camera)) = file;
    camera
        .check()
        .map_err(|error| Failure::about(path.display(), &error))?;
    Ok(camera)
}

/// Parses the size of a picture, `WxH`.
pub(crate) fn parse_size(text: &str) -> Result<[usize; 2], String> {
    let numbers: Option<Vec<usize>> = text
        .split(['x', 'X', '×'])
        .map(|part| part.trim().parse().ok())
        .collect();
    match numbers.as_deref() {
        Some(&[width, height]) if width > 0 && height > 0 => Ok([width, height]),
        _ => Err(format!(
            "'{text}' is not WIDTHxHEIGHT in pixels, as in 800x600"
        )),
    }
}
