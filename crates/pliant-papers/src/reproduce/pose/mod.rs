//! Çetinaslan 2016, chapters 3 and 4: direct manipulation of a face by pins.
//!
//! - `circles`, `times`: the support of a pin and the cost of pins and edits.
//! - `alpha`, `localization`, `hybrid`: regularisation, localization and the hybrid solver.
//! - `recovery`, `production`: poses from pins, on several models.
//! - `drags`, `equal_reach`, `jumps`, `units`: comparisons beyond the thesis.
//! - `subject`: a model prepared for measurements; `methods`: the compared solvers; `pictures/`.

mod alpha;
mod circles;
mod drags;
mod equal_reach;
mod hybrid;
mod jumps;
mod localization;
mod methods;
mod pictures;
mod production;
mod recovery;
mod subject;
mod times;
mod units;

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Bounds, Progress, SurfacePoint};

use super::chapter::{self, Chapter, ChapterEntry, after_models};
use super::data::set_of;
use super::{Data, Model, ReproduceError, lcg, numerals};
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

fn chapters<'a>() -> [Chapter<[Subject<'a>]>; 10] {
    [
        Chapter::new(
            "geodesic circles",
            "table 3.1, figure 3.5",
            circles::section,
        ),
        Chapter::new("times", "tables 3.1 and 4.1", times::section),
        Chapter::new("regularisation", "figure 3.9", alpha::section),
        Chapter::new(
            "localization",
            "figures 3.10 to 3.14",
            localization::section,
        ),
        Chapter::new(
            "recovered poses",
            "figures 4.4 and 4.6, eq. 4.8",
            recovery::section,
        ),
        Chapter::new("a production model", "figure 4.5", production::section),
        Chapter::new("the hybrid", "figure 4.7, eq. 4.7", hybrid::section),
        Chapter::new("single drags", "beyond the thesis", drags::section),
        Chapter::new("jumps", "beyond the thesis", jumps::section),
        Chapter::new("units", "beyond the thesis", units::section),
    ]
}

pub(super) fn entries() -> Vec<ChapterEntry> {
    chapter::entries(&chapters())
}

pub(super) fn sections(
    data: &Data,
    progress: &dyn Progress,
) -> Result<Vec<Section>, ReproduceError> {
    let chapters = chapters();
    let progress = after_models(progress, chapters.len())?;
    let (faces, warnings) = faces(data)?;
    let subjects: Vec<Subject<'_>> = faces.iter().map(Subject::new).collect::<Result<_, _>>()?;

    chapter::sections(&subjects[..], &chapters, warnings, &progress)
}

/// The available faces, and a warning for each that a data folder lacks.
fn faces(data: &Data) -> Result<(Vec<Model>, Vec<String>), ReproduceError> {
    let mut faces = Vec::new();
    let mut warnings = Vec::new();
    for (name, locator, group) in FACES {
        let Some(model) = data.model(name, locator)? else {
            // Without a data folder, only the built-in face is expected.
            warnings.extend(data.folder().map(|folder| {
                format!(
                    "{name} is left out: there is no '{}' in '{}'",
                    set_of(locator),
                    folder.display()
                )
            }));
            continue;
        };
        faces.push(match group {
            Some(group) => model.only_group(group)?,
            None => model,
        });
    }
    Ok((faces, warnings))
}

/// A vertex that moves by less than this share of the largest displacement of a rig counts as still.
/// Chosen: scans leave noise where nothing moves.
const STILL: f64 = 0.02;

/// The largest displacement of each vertex by a target.
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
    // A scan has noise everywhere, so a threshold decides what moves.
    let least = STILL * reach.iter().copied().fold(0.0, f64::max);
    (0..reach.len() as u32)
        .filter(|&v| reach[v as usize] > least)
        .collect()
}

/// `count` pins spread evenly over the moving vertices.
fn spread_pins(model: &Model, count: usize) -> Vec<SurfacePoint> {
    let moving = moving_vertices(model);
    let count = count.min(moving.len());
    // The middle of each of `count` equal parts of the list.
    (0..count)
        .map(|k| SurfacePoint::Vertex(moving[(2 * k + 1) * moving.len() / (2 * count)]))
        .collect()
}

/// The diagonal of the moving part: the face, without the rest of the mesh.
fn face_diagonal(model: &Model) -> f64 {
    face_bounds(model).map_or(0.0, |bounds| bounds.diagonal())
}

/// The corners of the box around the moving part, for framing pictures.
fn face_box(model: &Model) -> Vec<DVec3> {
    let Some(bounds) = face_bounds(model) else {
        return Vec::new();
    };
    let sides = [bounds.min, bounds.max];
    (0..8)
        .map(|k| DVec3::new(sides[k & 1].x, sides[k >> 1 & 1].y, sides[k >> 2].z))
        .collect()
}

fn face_bounds(model: &Model) -> Option<Bounds> {
    let places: Vec<DVec3> = moving_vertices(model)
        .iter()
        .map(|&v| model.rig.neutral().positions()[v as usize])
        .collect();
    Bounds::of(&places)
}
