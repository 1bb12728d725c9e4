//! Çetinaslan 2016, chapter 5: soft areas of a face that are pressed and released.
//!
//! - `selection`, `steps`: the cost of selecting a soft area and of a simulated step.
//! - `constraints`, `damping`: the constraints and the damping of the thesis beside our material.
//! - `posed`: a posed face, touched inside and outside of the soft area.
//! - `stiffness`: how stiffness depends on steps and iterations.
//! - `subject`: skins of the sizes of the thesis' heads; `thesis`: its measurements.

mod constraints;
mod damping;
mod posed;
mod selection;
mod steps;
mod stiffness;
mod subject;
mod thesis;

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, Progress, VertexId};
use pliant_physics::{PhysicsError, SoftPatch, TouchError, TouchJob};
use pliant_rig::Rig;

use super::chapter::{self, Chapter, ChapterEntry, after_models};
use super::{Data, ReproduceError, numerals};
use crate::page::Section;
use crate::subjects::PressingBall;
use subject::Subject;

/// The soft patch: the middle of the built-in head's left cheek, and its radius in centimetres.
const CHEEK: SoftPatch = SoftPatch {
    center: VertexId::new(2134),
    radius: 4.0,
};
/// Radius and depth of the ball that presses the patch, relative to the radius of the patch.
/// *Chosen*: the thesis gives neither.
const BALL: [f64; 2] = [0.35, 0.25];

/// The touched models.
struct Models {
    head: Rig,
    /// The skins on which times are measured.
    subjects: Vec<Subject>,
}

fn chapters() -> [Chapter<Models>; 6] {
    [
        Chapter::new(
            "soft areas",
            "table 5.1, figures 5.7 and 5.8",
            selection::section,
        ),
        Chapter::new("steps", "table 5.2, figure 5.9", steps::section),
        Chapter::new("constraints", "figure 5.5", constraints::section),
        Chapter::new("damping", "figure 5.6", damping::section),
        Chapter::new("a posed face", "figures 5.10 and 5.11", posed::section),
        Chapter::new("stiffness", "beyond the thesis", stiffness::section),
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
    let head = pliant_specimens::load("specimen:head")?.rig()?;
    let models = Models {
        subjects: subject::all(&head, data)?,
        head,
    };

    let missing = data.missing([subject::ICT_FACEKIT]);
    chapter::sections(&models, &chapters, missing, &progress)
}

/// The ball that presses `patch`.
fn ball(mesh: &Mesh, patch: &SoftPatch) -> PressingBall {
    let [radius, depth] = BALL.map(|part| part * patch.radius);
    PressingBall::above(mesh, patch.center, radius, depth)
}

/// A touch in which that ball presses `patch`.
fn pressed(mesh: &Mesh, patch: SoftPatch) -> Result<TouchJob, PhysicsError> {
    let collider = ball(mesh, &patch).collider()?;
    Ok(TouchJob {
        colliders: vec![collider],
        ..TouchJob::new(mesh.clone(), vec![patch])
    })
}

/// The head with its vertices at `positions`.
fn posed_head(head: &Mesh, positions: &[DVec3]) -> Result<Mesh, ReproduceError> {
    head.posed(positions.to_vec())
        .map_err(|source| ReproduceError::Mesh {
            model: "head".to_owned(),
            source,
        })
}

/// Names the model in an error.
fn failed<E: Into<TouchError>>(model: &str) -> impl Fn(E) -> ReproduceError + use<'_, E> {
    move |error| ReproduceError::Touch {
        model: model.to_owned(),
        source: error.into(),
    }
}
