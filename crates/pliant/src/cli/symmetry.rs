//! The plane that commands mirror or split at.

use pliant_mesh::Mesh;
use pliant_rig::MirrorPlane;
use serde_json::{Value, json};

use super::failure::Failure;

/// An axis and, if given, where the plane crosses it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PlaneChoice {
    axis: usize,
    at: Option<f64>,
}

/// Reads `x`, or `x:0.5`.
pub(crate) fn parse_plane(text: &str) -> Result<PlaneChoice, String> {
    let wrong = || format!("'{text}' is not a plane; write x, y or z, or with its place, as x:0.5");
    let (axis, at) = match text.split_once(':') {
        Some((axis, at)) => (
            axis,
            Some(
                at.parse::<f64>()
                    .ok()
                    .filter(|at| at.is_finite())
                    .ok_or_else(wrong)?,
            ),
        ),
        None => (text, None),
    };
    let axis = ["x", "y", "z"]
        .iter()
        .position(|known| axis.eq_ignore_ascii_case(known))
        .ok_or_else(wrong)?;
    Ok(PlaneChoice { axis, at })
}

/// The plane that was asked for, or the one the mesh is symmetric about; where there is none,
/// `remedy` says what to do.
pub(crate) fn plane(
    choice: Option<PlaneChoice>,
    mesh: &Mesh,
    locator: &str,
    remedy: &str,
) -> Result<MirrorPlane, Failure> {
    let found = match choice {
        Some(PlaneChoice { axis, at: Some(at) }) => Some(MirrorPlane::across(axis, at)),
        Some(PlaneChoice { axis, at: None }) => MirrorPlane::find_across(mesh, axis),
        None => MirrorPlane::find(mesh),
    };
    found.ok_or_else(|| {
        Failure::could_not(format!(
            "{locator}: no plane of symmetry was found; {remedy}"
        ))
    })
}

pub(crate) fn plane_json(plane: MirrorPlane) -> Value {
    json!({"normal": plane.normal().to_array(), "offset": plane.offset()})
}
