//! Morph targets of a glTF mesh: names, displacements, and the frames that our own clips store as
//! targets.

use std::collections::HashSet;

use pliant_mesh::glam::{DMat3, Vec3};
use pliant_rig::{Rig, RigSettings, StoredSliders, Target};
use serde::Deserialize;
use serde_json::Value;

use super::accessor::Source;
use super::scene::PlacedMesh;
use crate::gltf::document::Mesh;
use crate::gltf::extras::{MeshExtras, default_target_name};
use crate::gltf::seams::Displacements;
use crate::{Object, ReadError};

/// The targets over welded vertices; each vertex moves like its representative stored vertex.
pub(super) fn targets(
    mesh: &Mesh,
    stored: Vec<Displacements>,
    vertex_of: &[u32],
    representatives: &[u32],
    transform: DMat3,
) -> Vec<Target> {
    // Where every stored vertex is a vertex, the lists stay where they are.
    let in_order = vertex_of.iter().enumerate().all(|(k, &v)| k == v as usize);
    let names = names(mesh, stored.len());
    let mut targets = Vec::with_capacity(stored.len());
    for (displacements, name) in stored.into_iter().zip(names) {
        targets.push(if in_order && transform == DMat3::IDENTITY {
            Target {
                name,
                vertices: displacements.vertices,
                deltas: displacements
                    .deltas
                    .into_iter()
                    .map(Vec3::from_array)
                    .collect(),
                in_betweens: Vec::new(),
            }
        } else {
            target(name, &displacements, vertex_of, representatives, transform)
        });
    }

    targets
}

fn target(
    name: String,
    displacements: &Displacements,
    vertex_of: &[u32],
    representatives: &[u32],
    transform: DMat3,
) -> Target {
    let mut entries: Vec<(u32, Vec3)> = Vec::with_capacity(displacements.vertices.len());
    for (&stored, &delta) in displacements.vertices.iter().zip(&displacements.deltas) {
        let vertex = vertex_of[stored as usize];
        if representatives[vertex as usize] != stored {
            continue;
        }

        let delta = Vec3::from_array(delta);
        let delta = if transform == DMat3::IDENTITY {
            delta
        } else {
            (transform * delta.as_dvec3()).as_vec3()
        };
        entries.push((vertex, delta));
    }

    if !entries.is_sorted_by_key(|entry| entry.0) {
        entries.sort_unstable_by_key(|entry| entry.0);
    }

    let (vertices, deltas) = entries.into_iter().unzip();
    Target {
        name,
        vertices,
        deltas,
        in_betweens: Vec::new(),
    }
}

/// The names in `extras.targetNames`, made distinct.
fn names(mesh: &Mesh, count: usize) -> Vec<String> {
    let listed = mesh.extras.get("targetNames").and_then(Value::as_array);
    let mut taken = HashSet::new();
    let mut names = Vec::with_capacity(count);

    for k in 0..count {
        let own = listed
            .and_then(|list| list.get(k))
            .and_then(Value::as_str)
            .filter(|name| !name.is_empty());
        let own = own.map_or_else(|| default_target_name(k), str::to_owned);

        let distinct = if taken.contains(&own) {
            format!("{own}#{k}")
        } else {
            own
        };
        taken.insert(distinct.clone());
        names.push(distinct);
    }

    names
}

/// Chosen: as positions, the frames of a clip may take this many numbers (128 MiB), and more in a
/// larger file.
const MOST_FRAME_NUMBERS: usize = 1 << 24;

/// Separates the frames of our own clips from the targets. They stay targets if there are too many
/// to keep as positions.
pub(super) fn without_frames(
    rig: Rig,
    own: &MeshExtras,
    source: &Source<'_>,
) -> Result<(Rig, Vec<Target>), ReadError> {
    let count = rig.targets().len();
    let Some(real) = own.targets.filter(|&real| real < count) else {
        return Ok((rig, Vec::new()));
    };

    let numbers = (count - real)
        .saturating_mul(rig.neutral().vertex_count())
        .saturating_mul(3);
    let file_bytes = source.buffers.budget.bytes();
    if numbers > MOST_FRAME_NUMBERS.saturating_add(file_bytes.saturating_mul(16)) {
        return Ok((rig, Vec::new()));
    }

    let mut targets = rig.targets().to_vec();
    let frames = targets.split_off(real);
    Ok((Rig::new(rig.neutral().clone(), targets)?, frames))
}

/// The rig with the settings that our own writer stored, and the sliders behind the targets of the
/// file if some of these are in-betweens or combinations.
pub(super) fn with_settings(
    rig: Rig,
    own: &MeshExtras,
    warnings: &mut Vec<String>,
) -> (Rig, Option<StoredSliders>) {
    if own.rig.is_null() {
        return (rig, None);
    }

    let name = rig.neutral().name();
    let settings: Result<RigSettings, _> = RigSettings::deserialize(&own.rig);
    let applied = match &settings {
        Ok(settings) => settings.apply(&rig).map_err(|e| e.to_string()),
        Err(error) => Err(error.to_string()),
    };
    let (Ok(settings), Ok(applied)) = (settings, &applied) else {
        let why = applied.err().unwrap_or_default();
        warnings.push(format!(
            "mesh '{name}': its rig settings do not fit its targets and were not read ({why})"
        ));
        return (rig, None);
    };

    let sliders = StoredSliders::of(&settings, &rig, applied);
    (applied.clone(), Some(sliders))
}

/// The weights at which the file rests; empty if all are zero.
pub(super) fn rest_weights(
    weights: Option<&Vec<f64>>,
    object: &Object,
    placed: &PlacedMesh,
    warnings: &mut Vec<String>,
) -> Vec<f64> {
    let weights = weights.and_then(|weights| weights.get(..placed.stored_targets));
    let Some(weights) = weights.filter(|weights| weights.iter().any(|&w| w != 0.0)) else {
        return Vec::new();
    };

    let name = object.name();
    warnings.push(format!(
        "mesh '{name}' rests at weights other than zero in its file; its neutral is taken at zero"
    ));

    match &placed.sliders {
        Some(sliders) => sliders.weights(weights),
        None => weights.to_vec(),
    }
}
