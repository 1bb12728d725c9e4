//! A bending sheet: poses, control points and a recipe of `pliant learn`.

use std::fs;

use pliant::io::npy;
use pliant::mesh::glam::DVec3;
use pliant::mesh::{Mesh, shapes};
use tempfile::TempDir;

use crate::command::{folder, inside};

/// The vertices that steer it.
pub(crate) const POINTS: [usize; 6] = [0, 4, 8, 40, 72, 80];

/// How far it bends in the poses that are learned.
pub(crate) const AMOUNTS: [f64; 4] = [0.1, 0.2, 0.3, -0.2];

pub(crate) fn sheet() -> Mesh {
    shapes::flat_sheet(8, 0.0)
}

pub(crate) fn bent(amount: f64) -> Vec<DVec3> {
    sheet()
        .positions()
        .iter()
        .map(|p| *p + DVec3::Z * amount * p.x * p.x)
        .collect()
}

/// Where the points are when it bends.
pub(crate) fn points(amount: f64) -> Vec<DVec3> {
    POINTS.map(|v| bent(amount)[v]).to_vec()
}

pub(crate) fn array(frames: &[Vec<DVec3>]) -> Vec<u8> {
    npy::write_points(&[frames.len(), frames[0].len()], frames.iter().flatten())
}

pub(crate) fn frames_of(path: &str) -> Vec<Vec<DVec3>> {
    npy::read(&fs::read(path).unwrap())
        .unwrap()
        .into_point_rows("frames")
        .unwrap()
}

pub(crate) fn obj(mesh: &Mesh, positions: &[DVec3]) -> String {
    let vertices: String = positions
        .iter()
        .map(|p| format!("v {} {} {}\n", p.x, p.y, p.z))
        .collect();

    let faces: String = mesh
        .triangles()
        .iter()
        .map(|[a, b, c]| format!("f {} {} {}\n", a + 1, b + 1, c + 1))
        .collect();

    vertices + &faces
}

/// A folder with a clip of the sheet, and a recipe for it with the points and `more`.
pub(crate) fn sheet_recipe(more: &str) -> (TempDir, String) {
    studio_with(&format!("{POINTS:?}"), more)
}

/// As [`sheet_recipe`], with other control points.
pub(crate) fn studio_with(control: &str, more: &str) -> (TempDir, String) {
    let folder = folder();
    fs::write(
        inside(&folder, "bend.reference.obj"),
        obj(&sheet(), &bent(0.0)),
    )
    .unwrap();

    fs::write(
        inside(&folder, "bend.frames.npy"),
        array(&AMOUNTS.map(bent)),
    )
    .unwrap();

    let recipe = inside(&folder, "bend.toml");
    fs::write(
        &recipe,
        format!(
            "examples = \"bend.reference.obj+bend.frames.npy\"\ncontrol_points = {control}\n{more}"
        ),
    )
    .unwrap();

    (folder, recipe)
}
