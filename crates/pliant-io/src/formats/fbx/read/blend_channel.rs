//! FBX blend channels as targets with in-betweens.

use std::collections::HashSet;

use pliant_mesh::glam::{DAffine3, Vec3};
use pliant_rig::{InBetween, Rig, Target};

use super::{one_line, vector};
use crate::ReadError;
use crate::formats::fbx::TARGET_COUNT;
use crate::parse::budget::Budget;

/// The channels of a mesh, in the order of its targets.
pub(super) fn channels(mesh: &ufbx::Mesh) -> impl Iterator<Item = &ufbx::BlendChannel> {
    mesh.blend_deformers
        .iter()
        .flat_map(|deformer| deformer.channels.iter())
        .map(|channel| &**channel)
}

/// Separates the frames of our own clips from the targets.
pub(super) fn without_frames(rig: Rig, node: &ufbx::Node) -> Result<(Rig, Vec<Target>), ReadError> {
    let real = ufbx::find_prop(&node.element.props, TARGET_COUNT);
    let real = real.and_then(|count| usize::try_from(count.value_int).ok());
    let Some(real) = real.filter(|&real| real < rig.targets().len()) else {
        return Ok((rig, Vec::new()));
    };

    let mut targets = rig.targets().to_vec();
    let frames = targets.split_off(real);
    Ok((Rig::new(rig.neutral().clone(), targets)?, frames))
}

/// The weights at which the first `targets` channels rest; empty if all are zero.
pub(super) fn rest_weights(mesh: &ufbx::Mesh, targets: usize) -> Vec<f64> {
    let weights: Vec<f64> = channels(mesh)
        .take(targets)
        .map(|channel| {
            Some(channel.weight)
                .filter(|w| w.is_finite())
                .unwrap_or(0.0)
        })
        .collect();
    if weights.iter().all(|&w| w == 0.0) {
        return Vec::new();
    }
    weights
}

/// Whether a property of another object drives the weight of a channel, as in 3ds Max 7.
pub(super) fn is_driven(channel: &ufbx::BlendChannel) -> bool {
    let weight = ufbx::find_prop(&channel.element.props, "DeformPercent");
    weight.is_some_and(|weight| weight.flags.has_any(ufbx::PropFlags::CONNECTED))
}

/// The targets of a mesh, one for each channel, with distinct names.
pub(super) fn read_targets(
    mesh: &ufbx::Mesh,
    scene_from_mesh: &DAffine3,
    budget: &Budget,
) -> Result<Vec<Target>, ReadError> {
    let mut names = HashSet::new();
    let mut targets = Vec::new();
    for channel in channels(mesh) {
        let keys = read_keys(channel, mesh.num_vertices, scene_from_mesh, budget)?;
        let own = slider_name(channel, mesh);
        let name = if names.contains(&own) {
            distinct_name(&own, &names)
        } else {
            own
        };

        names.insert(name.clone());
        targets.push(target(name, keys));
    }

    Ok(targets)
}

/// The name of a channel. Some exporters put the name of its deformer and a dot before it.
fn slider_name(channel: &ufbx::BlendChannel, mesh: &ufbx::Mesh) -> String {
    let name = one_line(&channel.element.name);
    let own = mesh.blend_deformers.iter().find_map(|deformer| {
        name.strip_prefix(&*deformer.element.name)?
            .strip_prefix('.')
    });
    own.filter(|own| !own.is_empty())
        .map_or_else(|| name.clone(), str::to_owned)
}

fn distinct_name(name: &str, taken: &HashSet<String>) -> String {
    (1..)
        .map(|k| format!("{name}_{k}"))
        .find(|other| !taken.contains(other))
        .expect("some number is free")
}

/// A shape at a weight, with the name of the shape.
type ShapeKey = InBetween;

fn read_keys(
    channel: &ufbx::BlendChannel,
    vertices: usize,
    scene_from_mesh: &DAffine3,
    budget: &Budget,
) -> Result<Vec<ShapeKey>, ReadError> {
    let mut keys: Vec<ShapeKey> = Vec::new();
    for key in &channel.keyframes {
        let shape = &*key.shape;
        let weight = key.target_weight;
        budget.spend(2 * shape.offset_vertices.len() + 8, "the blend shapes")?;

        // At weight zero, the mesh is neutral.
        if weight == 0.0 || !weight.is_finite() || keys.iter().any(|k| k.weight == weight) {
            continue;
        }

        let mut moved: Vec<(u32, Vec3)> = Vec::with_capacity(shape.offset_vertices.len());
        let offsets = shape.offset_vertices.iter().zip(&shape.position_offsets);
        for (k, (&vertex, offset)) in offsets.enumerate() {
            // Blender stores a factor for each moved vertex.
            let factor = shape.offset_weights.get(k).copied().unwrap_or(1.0);
            let delta = scene_from_mesh
                .transform_vector3(factor * vector(offset))
                .as_vec3();
            if (vertex as usize) < vertices && delta != Vec3::ZERO {
                moved.push((vertex, delta));
            }
        }
        moved.sort_by_key(|(v, _)| *v);
        moved.dedup_by_key(|(v, _)| *v);

        let (vertices, deltas) = moved.into_iter().unzip();
        keys.push(ShapeKey {
            name: one_line(&shape.element.name),
            weight,
            vertices,
            deltas,
        });
    }

    keys.sort_by(|a, b| a.weight.total_cmp(&b.weight));
    Ok(keys)
}

/// The target through all keys. Without a key at weight 1, it is interpolated or extrapolated there.
fn target(name: String, mut keys: Vec<ShapeKey>) -> Target {
    let full = keys.iter().position(|key| (key.weight - 1.0).abs() < 1e-9);
    let (vertices, deltas) = match full {
        Some(k) => {
            let key = keys.remove(k);
            (key.vertices, key.deltas)
        }
        None => at_one(&keys),
    };

    Target {
        name,
        vertices,
        deltas,
        in_betweens: keys,
    }
}

/// The displacements of the polyline from zero through the keys at weight 1.
fn at_one(keys: &[ShapeKey]) -> (Vec<u32>, Vec<Vec3>) {
    let zero = ShapeKey {
        name: String::new(),
        weight: 0.0,
        vertices: Vec::new(),
        deltas: Vec::new(),
    };

    let mut line: Vec<&ShapeKey> = keys.iter().collect();
    line.insert(keys.partition_point(|key| key.weight < 0.0), &zero);
    let upper = line
        .iter()
        .position(|key| key.weight > 1.0)
        .unwrap_or(line.len() - 1);

    let Some([from, to]) = upper.checked_sub(1).map(|k| [line[k], line[upper]]) else {
        return (Vec::new(), Vec::new());
    };

    let along = ((1.0 - from.weight) / (to.weight - from.weight)) as f32;
    let mut moved: Vec<u32> = [from, to]
        .iter()
        .flat_map(|key| &key.vertices)
        .copied()
        .collect();

    moved.sort_unstable();
    moved.dedup();
    let delta = |key: &ShapeKey, v: &u32| {
        key.vertices
            .binary_search(v)
            .map_or(Vec3::ZERO, |k| key.deltas[k])
    };

    let deltas = moved
        .iter()
        .map(|v| delta(from, v) * (1.0 - along) + delta(to, v) * along)
        .collect();

    (moved, deltas)
}

#[cfg(test)]
mod tests {
    use pliant_mesh::glam::DVec3;

    use super::*;

    fn key(weight: f64, delta: f32) -> ShapeKey {
        ShapeKey {
            name: String::new(),
            weight,
            vertices: vec![3],
            deltas: vec![Vec3::X * delta],
        }
    }

    #[test]
    fn the_polyline_through_the_keys_is_kept_at_any_weights() {
        for keys in [
            vec![key(0.5, 2.0)],
            vec![key(0.5, 1.0), key(2.0, 4.0)],
            vec![key(-1.0, 7.0), key(0.25, 1.0), key(0.5, 4.0)],
            vec![key(-0.5, 1.0)],
        ] {
            let mut whole = keys.clone();
            whole.insert(keys.partition_point(|k| k.weight < 0.0), key(0.0, 0.0));
            let target = target("t".into(), keys);

            for weight in [-0.75, 0.1, 0.3, 0.75, 1.0, 1.5, 3.0] {
                let upper = whole
                    .iter()
                    .position(|k| k.weight > weight)
                    .unwrap_or(whole.len() - 1)
                    .max(1);
                let (a, b) = (&whole[upper - 1], &whole[upper]);
                let along = (weight - a.weight) / (b.weight - a.weight);
                let expected =
                    f64::from(a.deltas[0].x) * (1.0 - along) + f64::from(b.deltas[0].x) * along;
                let mut positions = vec![DVec3::ZERO; 4];

                target.add_to(weight, &mut positions);
                assert!(
                    (positions[3].x - expected).abs() < 1e-6,
                    "{weight}: {} {expected}",
                    positions[3].x
                );
            }
        }
    }
}
