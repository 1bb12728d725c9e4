//! The symmetry plane that commands mirror or split at.

use pliant_mesh::Mesh;
use pliant_rig::MirrorPlane;
use schemars::JsonSchema;
use serde::Serialize;

use super::number;
use crate::cli::report::failure::Failure;

/// An axis and, if given, the coordinate at which the plane crosses it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PlaneChoice {
    axis: usize,
    at: Option<f64>,
}

/// Parses `x`, or `x:0.5`.
pub(crate) fn parse_plane(text: &str) -> Result<PlaneChoice, String> {
    let wrong = || {
        format!("'{text}' is not a plane; write x, y or z, or an axis and a coordinate, as x:0.5")
    };
    let (axis, at) = match text.split_once(':') {
        Some((axis, at)) => (axis, Some(number::finite(at).map_err(|_| wrong())?)),
        None => (text, None),
    };

    let axis = ["x", "y", "z"]
        .iter()
        .position(|known| axis.eq_ignore_ascii_case(known))
        .ok_or_else(wrong)?;
    Ok(PlaneChoice { axis, at })
}

/// The plane that the user gave, or else the symmetry plane of the mesh. `remedy` says what to do
/// where the mesh has none.
pub(crate) fn choose_plane(
    choice: Option<PlaneChoice>,
    mesh: &Mesh,
    locator: &str,
    remedy: &str,
) -> Result<MirrorPlane, Failure> {
    // With an axis alone, the coordinate is found from the mesh.
    let plane = match choice {
        Some(PlaneChoice { axis, at: Some(at) }) => Some(MirrorPlane::across(axis, at)),
        Some(PlaneChoice { axis, at: None }) => MirrorPlane::find_across(mesh, axis),
        None => MirrorPlane::find(mesh),
    };
    plane.ok_or_else(|| Failure::new(format!("{locator}: found no plane of symmetry; {remedy}")))
}

/// A plane in a report.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PlaneReport {
    /// Unit normal.
    normal: [f64; 3],
    /// Distance of the plane from the origin along the normal, in asset units.
    offset: f64,
}

impl From<MirrorPlane> for PlaneReport {
    fn from(plane: MirrorPlane) -> Self {
        Self {
            normal: plane.normal().to_array(),
            offset: plane.offset(),
        }
    }
}
