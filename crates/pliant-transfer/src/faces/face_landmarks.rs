//! Landmarks of a head-like mesh.
//!
//! **Problem.** A user says `mouth corner left` and means a vertex, on a mesh without any names.
//!
//! **Method.** [`FaceFit`] places a template face on the mesh. The template is then
//! [registered](register()) onto the part of the mesh around it, and the landmark is the vertex of
//! the mesh that is closest to the template's landmark and faces the same direction.
//!
//! **Equation.** The confidence of a landmark is `0.9 c exp(−(d / 0.04 L)²)` with the confidence `c`
//! of the fit, the distance `d` of the registered template from the vertex, and the height `L` of
//! the template on the mesh. Eyes and brows differ most between characters, so lids count half and
//! brows two thirds. All factors are *chosen*.

use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, vertex_normals};
use pliant_rig::{FaceLandmark, FacePlace, FoundLandmark};

use super::{FaceFit, FaceTemplate};
use crate::{RegistrationOptions, TransferError, register};

/// Triangles farther than this part of the template's height from its middle are left out.
const CROP: f64 = 0.75;
/// Stiffness of the registration, relative to the cropped mesh.
const LENGTHS: [f64; 2] = [0.3, 0.06];
const STEPS: usize = 6;
const MOST: f64 = 0.9;
const TOLERANCE: f64 = 0.04;

/// The landmarks of `mesh`, in the order of the template, and the fit that gave them. A confidence
/// near 0 means that the mesh shows no face.
///
/// # Errors
/// If a mesh has no faces or a position is not finite.
pub fn find_landmarks(
    template: &FaceTemplate,
    mesh: &Mesh,
) -> Result<(Vec<FoundLandmark>, FaceFit), TransferError> {
    let fit = FaceFit::find(template, mesh)?;
    let aligned = fit.similarity.apply_all(template.mesh.positions());
    let around = cropped(mesh, &aligned, CROP * fit.height)?;

    let options = RegistrationOptions::default()
        .with_lengths(LENGTHS[0], LENGTHS[1])
        .with_steps(STEPS);
    let registered = register(&template.mesh, &around, aligned, &[], &options)?;
    let face = template.mesh.posed(registered)?;

    let face_normals = vertex_normals(&face);
    let normals = vertex_normals(mesh);
    let mut found = Vec::with_capacity(template.landmarks.len());
    for &(landmark, vertex) in &template.landmarks {
        let place = face.positions()[vertex as usize];
        let normal = face_normals[vertex as usize];
        let Some(vertex) = nearest_facing(mesh, &normals, place, normal) else {
            continue;
        };

        let distance = mesh.positions()[vertex as usize].distance(place);
        let miss = distance / (TOLERANCE * fit.height);
        found.push(FoundLandmark {
            landmark,
            vertex,
            confidence: MOST * part(landmark) * fit.confidence() * (-miss * miss).exp(),
        });
    }
    Ok((found, fit))
}

/// How far a landmark can be trusted whose surroundings differ between characters.
fn part(landmark: FaceLandmark) -> f64 {
    match landmark.place {
        FacePlace::LidUpper | FacePlace::LidLower => 0.5,
        FacePlace::BrowInner | FacePlace::BrowMiddle | FacePlace::BrowOuter => 0.67,
        _ => 1.0,
    }
}

/// The triangles near the middle of `points`, with all vertices.
fn cropped(mesh: &Mesh, points: &[DVec3], reach: f64) -> Result<Mesh, TransferError> {
    let middle = points.iter().sum::<DVec3>() / points.len().max(1) as f64;
    let positions = mesh.positions();
    let mut new_vertex = vec![u32::MAX; positions.len()];
    let mut kept = Vec::new();
    let mut triangles = Vec::new();
    for triangle in mesh.triangles() {
        let is_near = |&v: &u32| positions[v as usize].distance(middle) < reach;
        if !triangle.iter().all(is_near) {
            continue;
        }
        triangles.push(triangle.map(|v| {
            let new = &mut new_vertex[v as usize];
            if *new == u32::MAX {
                *new = kept.len() as u32;
                kept.push(positions[v as usize]);
            }
            *new
        }));
    }

    // A face so small that no triangle is inside stays what it is.
    if triangles.is_empty() {
        return Ok(mesh.clone());
    }
    Ok(Mesh::from_triangles(kept, &triangles)?)
}

/// The closest vertex whose normal is within 70 degrees of `normal`.
fn nearest_facing(mesh: &Mesh, normals: &[DVec3], place: DVec3, normal: DVec3) -> Option<u32> {
    const FACING: f64 = 0.34;

    let mut best: Option<(f64, u32)> = None;
    for (v, position) in mesh.positions().iter().enumerate() {
        let distance = position.distance_squared(place);
        if best.is_none_or(|(least, _)| distance < least) && normals[v].dot(normal) > FACING {
            best = Some((distance, v as u32));
        }
    }
    best.map(|(_, vertex)| vertex)
}
