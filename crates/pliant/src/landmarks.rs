//! Landmarks of a face on any rig or mesh.
//!
//! **Problem.** Known expressions of a rig show some landmarks well, the shape of the head shows all
//! of them fairly, and a mesh without a face shows none.
//!
//! **Method.** Both sources are asked: [`landmarks_by_targets`], and [`find_landmarks`] with the face
//! of the built-in head as template. Of two vertices the one with the higher confidence is taken.
//! If they lie within 5 % of the height of the face, they confirm each other: the confidence is
//! `1 − (1 − a)(1 − b)`. If they lie farther apart than 15 %, it is 0.7 times the higher one.

use pliant_mesh::Mesh;
use pliant_rig::{FaceLandmark, FoundLandmark, Rig, landmarks_by_targets};
use pliant_transfer::{FaceTemplate, TransferError, find_landmarks};

/// Below this confidence a landmark is a guess, which commands decline.
pub const LEAST_CONFIDENCE: f64 = 0.3;
/// Below this confidence commands give a warning.
pub const GOOD_CONFIDENCE: f64 = 0.5;

const CONFIRMING: f64 = 0.05;
const CONTRADICTING: f64 = 0.15;
const DOUBT: f64 = 0.7;

/// The landmarks of a rig or of a mesh without targets, in the order of [`FaceLandmark::all`].
///
/// # Errors
/// If the mesh has no faces or a position is not finite.
pub fn of_rig(rig: &Rig) -> Result<Vec<FoundLandmark>, TransferError> {
    let mesh = rig.neutral();
    let (by_shape, fit) = find_landmarks(&template(), &rig.posable_surface())?;
    let by_targets = landmarks_by_targets(rig);

    let mut all = Vec::new();
    for landmark in FaceLandmark::all() {
        let find = |found: &[FoundLandmark]| found.iter().find(|l| l.landmark == landmark).copied();
        match (find(&by_shape), find(&by_targets)) {
            (Some(a), Some(b)) => all.push(better(mesh, a, b, fit.height)),
            (Some(only), None) | (None, Some(only)) => all.push(only),
            (None, None) => {}
        }
    }
    Ok(all)
}

/// The face of the built-in head.
#[must_use]
pub fn template() -> FaceTemplate {
    let face = pliant_specimens::head_face();
    FaceTemplate {
        mesh: face.mesh,
        landmarks: face.landmarks,
    }
}

fn better(mesh: &Mesh, a: FoundLandmark, b: FoundLandmark, height: f64) -> FoundLandmark {
    let [p, q] = [a, b].map(|found| mesh.positions()[found.vertex as usize]);
    let distance = p.distance(q) / height;
    let taken = if a.confidence > b.confidence { a } else { b };

    let confidence = if distance < CONFIRMING {
        1.0 - (1.0 - a.confidence) * (1.0 - b.confidence)
    } else if distance > CONTRADICTING && a.confidence > LEAST_CONFIDENCE {
        DOUBT * taken.confidence
    } else {
        taken.confidence
    };
    FoundLandmark {
        confidence,
        ..taken
    }
}
