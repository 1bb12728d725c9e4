//! Çetinaslan's thesis, chapter 5: soft areas of a face that are pressed and let go.

mod constraints;
mod damping;
mod posed;
mod selection;
mod steps;
mod stiffness;
mod subject;
mod thesis;

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, Progress};
use pliant_physics::{PhysicsError, SoftPatch};
use pliant_rig::Rig;

use super::{Chapter, Data, ReproduceError, after_models, numerals, told};
use crate::page::Section;
use crate::pressing_ball::PressingBall;
use crate::touch_job::{TouchError, TouchJob};
use subject::Subject;

/// The middle of the built-in head's left cheek, and how far it is soft, in centimetres.
const CHEEK: SoftPatch = SoftPatch {
    center: 2134,
    radius: 4.0,
};
/// The ball that presses it, and how deep it goes, in parts of the radius of the patch. *Ours*: the
/// thesis tells neither.
const BALL: [f64; 2] = [0.35, 0.25];

/// All that is touched.
struct Cast {
    head: Rig,
    /// The skins on which times are measured.
    subjects: Vec<Subject>,
}

pub(super) fn sections(
    data: &Data,
    progress: &dyn Progress,
) -> Result<Vec<Section>, ReproduceError> {
    let chapters: [Chapter<&Cast>; 6] = [
        ("soft areas", selection::section),
        ("steps", steps::section),
        ("constraints", constraints::section),
        ("damping", damping::section),
        ("a posed face", posed::section),
        ("stiffness", stiffness::section),
    ];
    let progress = after_models(progress, chapters.len())?;
    let head = crate::load("specimen:head")?.rig()?;
    let cast = Cast {
        subjects: subject::all(&head, data)?,
        head,
    };
    told(
        &cast,
        &chapters,
        data.missing([subject::ICT_FACEKIT]),
        &progress,
    )
}

/// The ball that presses `patch`.
fn ball(mesh: &Mesh, patch: &SoftPatch) -> PressingBall {
    let [radius, depth] = BALL.map(|part| part * patch.radius);
    PressingBall::above(mesh, patch.center, radius, depth)
}

/// `patch` pressed by that ball.
fn pressed(mesh: &Mesh, patch: SoftPatch) -> Result<TouchJob, PhysicsError> {
    let collider = ball(mesh, &patch).collider()?;
    Ok(TouchJob {
        colliders: vec![collider],
        ..TouchJob::new(mesh.clone(), vec![patch])
    })
}

/// The head with its vertices at `places`.
fn posed_head(head: &Mesh, places: &[DVec3]) -> Result<Mesh, ReproduceError> {
    head.posed(places.to_vec())
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
