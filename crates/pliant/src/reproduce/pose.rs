//! Çetinaslan's thesis, chapters 3 and 4: faces that follow pins.

mod alpha;
mod circles;
mod drags;
mod equal_reach;
mod hybrid;
mod jumps;
mod localization;
mod methods;
mod outline;
mod portrait;
mod production;
mod recovery;
mod subject;
mod times;
mod units;

use pliant_mesh::Progress;
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Bounds, SurfacePoint};

use super::data::set_of;
use super::{Chapter, Data, Model, ReproduceError, after_models, lcg, numerals, told};
use crate::page::Section;
use subject::Subject;

/// The faces: name, locator, and the group of faces that is the skin where others are helpers.
const FACES: [(&str, &str, Option<&str>); 4] = [
    ("built-in head", "specimen:head", None),
    ("Face Cap", "facecap-head/facecap-plain.glb", None),
    (
        "MakeHuman",
        "makehuman-face/base.obj+makehuman-face/expression-units-caucasian",
        Some("body"),
    ),
    (
        "ICT FaceKit",
        "ict-facekit/generic_neutral_mesh.obj+ict-facekit/expressions.delta.npy",
        None,
    ),
];

pub(super) fn sections(
    data: &Data,
    progress: &dyn Progress,
) -> Result<Vec<Section>, ReproduceError> {
    let chapters: [Chapter<&[Subject<'_>]>; 10] = [
        ("geodesic circles", circles::section),
        ("times", times::section),
        ("regularisation", alpha::section),
        ("localization", localization::section),
        ("recovered poses", recovery::section),
        ("a production model", production::section),
        ("the hybrid", hybrid::section),
        ("single drags", drags::section),
        ("jumps", jumps::section),
        ("units", units::section),
    ];
    let progress = after_models(progress, chapters.len())?;
    let (faces, problems) = faces(data)?;
    let subjects: Vec<Subject<'_>> = faces.iter().map(Subject::new).collect::<Result<_, _>>()?;
    told(&subjects[..], &chapters, problems, &progress)
}

/// The faces there are, and a line for each that a data folder lacks.
fn faces(data: &Data) -> Result<(Vec<Model>, Vec<String>), ReproduceError> {
    let (mut faces, mut problems) = (Vec::new(), Vec::new());
    for (name, locator, group) in FACES {
        match (data.model(name, locator)?, data.folder()) {
            (Some(model), _) => faces.push(match group {
                Some(group) => model.only_group(group)?,
                None => model,
            }),
            (None, Some(folder)) => problems.push(format!(
                "{name} is left out: there is no '{}' in '{}'",
                set_of(locator),
                folder.display()
            )),
            (None, None) => {}
        }
    }
    Ok((faces, problems))
}

/// The share of the largest displacement of a rig below which a vertex counts as still. Ours: scans
/// leave noise where nothing moves.
const STILL: f64 = 0.02;

/// How far the targets move each vertex at most.
fn reach(model: &Model) -> Vec<f64> {
    let mut reach = vec![0.0_f64; model.rig.neutral().vertex_count()];
    for target in model.rig.targets() {
        for (&v, delta) in target.vertices.iter().zip(&target.deltas) {
            reach[v as usize] = reach[v as usize].max(f64::from(delta.length()));
        }
    }
    reach
}

/// The vertices that some target moves, ascending.
fn moving_vertices(model: &Model) -> Vec<u32> {
    let reach = reach(model);
    let least = STILL * reach.iter().copied().fold(0.0, f64::max);
    (0..reach.len() as u32)
        .filter(|&v| reach[v as usize] > least)
        .collect()
}

/// `count` of the vertices that move, spread over them: the pins that a user might set.
fn spread_pins(model: &Model, count: usize) -> Vec<SurfacePoint> {
    let moving = moving_vertices(model);
    let count = count.min(moving.len());
    (0..count)
        .map(|k| SurfacePoint::Vertex(moving[(2 * k + 1) * moving.len() / (2 * count)]))
        .collect()
}

/// The diagonal of the part that moves: the face, whatever else the mesh holds.
fn face_diagonal(model: &Model) -> f64 {
    face_bounds(model).map_or(0.0, |bounds| bounds.diagonal())
}

/// The corners of the box around the part that moves, for framing pictures.
fn face_box(model: &Model) -> Vec<DVec3> {
    let corners = |Bounds { min, max }| {
        let sides = [min, max];
        (0..8)
            .map(|k| DVec3::new(sides[k & 1].x, sides[k >> 1 & 1].y, sides[k >> 2].z))
            .collect()
    };
    face_bounds(model).map_or_else(Vec::new, corners)
}

fn face_bounds(model: &Model) -> Option<Bounds> {
    let places: Vec<DVec3> = moving_vertices(model)
        .iter()
        .map(|&v| model.rig.neutral().positions()[v as usize])
        .collect();
    Bounds::of(&places)
}
