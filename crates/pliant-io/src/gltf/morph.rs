//! Morph targets: names, displacements, and frames that our own clips store as targets.

use std::collections::HashSet;

use pliant_mesh::glam::{DMat3, Vec3};
use pliant_rig::{Rig, Target};
use serde_json::Value;

use super::accessor::Source;
use super::document::Mesh;
use super::memo::MeshMemo;
use super::read::moved;
use super::split::Displacements;
use crate::{Object, ReadError};

/// The name of a target that has none.
pub(super) fn default_name(index: usize) -> String {
    format!("target{index}")
}

/// The targets over welded vertices, of which the `speakers` tell the displacement.
pub(super) fn targets(
    mesh: &Mesh,
    stored: &[Displacements],
    vertex_of: &[u32],
    speakers: &[u32],
    turn: DMat3,
) -> Vec<Target> {
    let names = names(mesh, stored.len());
    stored
        .iter()
        .zip(names)
        .map(|(displacements, name)| target(name, displacements, vertex_of, speakers, turn))
        .collect()
}

fn target(
    name: String,
    displacements: &Displacements,
    vertex_of: &[u32],
    speakers: &[u32],
    turn: DMat3,
) -> Target {
    let mut entries = Vec::with_capacity(displacements.vertices.len());
    for (stored, delta) in moved(displacements) {
        let vertex = vertex_of[stored as usize];
        if speakers[vertex as usize] == stored {
            let delta = if turn == DMat3::IDENTITY {
                delta
            } else {
                (turn * delta.as_dvec3()).as_vec3()
            };
            entries.push((vertex, delta));
        }
    }
    if !entries.is_sorted_by_key(|entry| entry.0) {
        entries.sort_unstable_by_key(|entry| entry.0);
    }
    let (vertices, deltas): (Vec<u32>, Vec<Vec3>) = entries.into_iter().unzip();
    Target {
        name,
        vertices,
        deltas,
        in_betweens: Vec::new(),
    }
}

/// Names as `extras.targetNames` has them, made distinct.
fn names(mesh: &Mesh, count: usize) -> Vec<String> {
    let listed = mesh.extras.get("targetNames").and_then(Value::as_array);
    let mut taken = HashSet::new();
    let name = |k: usize| {
        let own = listed
            .and_then(|l| l.get(k))
            .and_then(Value::as_str)
            .filter(|name| !name.is_empty());
        let own = own.map_or_else(|| default_name(k), str::to_owned);
        let distinct = if taken.contains(&own) {
            format!("{own}#{k}")
        } else {
            own
        };
        taken.insert(distinct.clone());
        distinct
    };
    (0..count).map(name).collect()
}

/// How many numbers the frames of a clip may have as positions: 128 MiB, and more in a larger file.
const FRAME_NUMBERS: usize = 1 << 24;

/// Takes the frames of our own clips away from the targets, unless they are too many to be kept as
/// positions.
pub(super) fn without_frames(
    rig: Rig,
    memo: &MeshMemo,
    source: &Source<'_>,
) -> Result<(Rig, Vec<Target>), ReadError> {
    let count = rig.targets().len();
    let Some(real) = memo.targets.filter(|&real| real < count) else {
        return Ok((rig, Vec::new()));
    };
    let numbers = (count - real)
        .saturating_mul(rig.neutral().vertex_count())
        .saturating_mul(3);
    if numbers > FRAME_NUMBERS.saturating_add(source.buffers.budget.bytes().saturating_mul(16)) {
        return Ok((rig, Vec::new()));
    }
    let mut targets = rig.targets().to_vec();
    let frames = targets.split_off(real);
    Ok((Rig::new(rig.neutral().clone(), targets)?, frames))
}

/// The weights at which the file has the mesh rest.
pub(super) fn rest_weights(
    weights: Option<&Vec<f64>>,
    object: &Object,
    problems: &mut Vec<String>,
) -> Vec<f64> {
    let targets = object.rig.targets().len();
    let Some(weights) =
        weights.filter(|w| w.len() >= targets && w[..targets].iter().any(|&w| w != 0.0))
    else {
        return Vec::new();
    };
    let name = object.name();
    problems.push(format!(
        "mesh '{name}' rests at weights other than zero in its file; its neutral is taken at zero"
    ));
    weights[..targets].to_vec()
}
