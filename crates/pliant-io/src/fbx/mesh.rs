//! Polygons, their attributes, and blend channels.

use std::collections::HashSet;

use pliant_mesh::glam::{DAffine3, DVec2, DVec3, DVec4, Vec3};
use pliant_mesh::{CornerLayer, FaceLabels, MeshBuilder, VertexLayer};
use pliant_rig::{InBetween, Rig, Target};

use super::{affine, one_line, vector};
use crate::ReadError;
use crate::budget::Budget;

/// The mesh where `node` puts it, and its channels.
pub(super) fn read_rig(
    node: &ufbx::Node,
    mesh: &ufbx::Mesh,
    budget: &Budget,
    problems: &mut Vec<String>,
) -> Result<Rig, ReadError> {
    let scene_from_mesh = affine(&node.geometry_to_world);
    let faces = Faces::of(mesh);
    let mut builder = MeshBuilder {
        name: one_line(&node.element.name),
        positions: mesh
            .vertices
            .iter()
            .map(|v| scene_from_mesh.transform_point3(vector(v)))
            .collect(),
        face_sizes: faces.sizes(),
        corners: faces.pick(&mesh.vertex_indices).unwrap_or_default(),
        materials: faces.labels(
            &mesh.face_material,
            &node
                .materials
                .iter()
                .map(|m| &*m.element.name)
                .collect::<Vec<_>>(),
        ),
        groups: faces.labels(
            &mesh.face_group,
            &mesh
                .face_groups
                .iter()
                .map(|g| &*g.name)
                .collect::<Vec<_>>(),
        ),
        ..MeshBuilder::default()
    };
    let mut told = |count: usize, what: &str| {
        if count > 0 {
            problems.push(format!(
                "mesh '{}': {count} {what}",
                one_line(&node.element.name)
            ));
        }
    };
    told(
        mesh.faces.len() - faces.kept.len(),
        "face(s) with fewer than 3 corners were skipped",
    );
    let (uvs, without) = read_uvs(mesh, &faces);
    builder.uv_layers = uvs;
    told(without, "UV set(s) do not fit the faces and were skipped");
    builder.normals = read_normals(mesh, &faces, &scene_from_mesh);
    let (colors, mixed) = read_colors(mesh, &faces);
    builder.colors = colors;
    told(
        mixed,
        "set(s) of colours that differ between the corners of a vertex were skipped",
    );
    Ok(Rig::new(
        builder.build()?,
        read_targets(mesh, &scene_from_mesh, budget)?,
    )?)
}

/// The faces that are polygons.
struct Faces<'a> {
    mesh: &'a ufbx::Mesh,
    kept: Vec<usize>,
}

impl<'a> Faces<'a> {
    fn of(mesh: &'a ufbx::Mesh) -> Self {
        Self {
            mesh,
            kept: (0..mesh.faces.len())
                .filter(|&k| mesh.faces[k].num_indices >= 3)
                .collect(),
        }
    }

    fn sizes(&self) -> Vec<u32> {
        self.kept
            .iter()
            .map(|&k| self.mesh.faces[k].num_indices)
            .collect()
    }

    /// What the corners of the kept faces have in a list with an entry per corner.
    fn pick(&self, indices: &[u32]) -> Option<Vec<u32>> {
        let corners = self.kept.iter().map(|&k| {
            let (begin, count) = (
                self.mesh.faces[k].index_begin as usize,
                self.mesh.faces[k].num_indices as usize,
            );
            indices.get(begin..begin.checked_add(count)?)
        });
        Some(corners.collect::<Option<Vec<_>>>()?.concat())
    }

    fn labels(&self, of_face: &[u32], names: &[&str]) -> FaceLabels {
        let name = |k: &usize| {
            of_face
                .get(*k)
                .and_then(|&label| names.get(label as usize))
                .copied()
                .unwrap_or("")
        };
        if self.kept.iter().all(|k| name(k).is_empty()) {
            return FaceLabels::default();
        }
        FaceLabels::from_names(self.kept.iter().map(name))
    }
}

/// A layer with values that every corner finds.
fn layer<T>(name: &str, values: Vec<T>, corners: Vec<u32>) -> Option<CornerLayer<T>> {
    let known = corners.iter().all(|&k| (k as usize) < values.len());
    known.then(|| CornerLayer {
        name: name.into(),
        values,
        corners: corners.into_iter().map(Some).collect(),
    })
}

fn read_uvs(mesh: &ufbx::Mesh, faces: &Faces<'_>) -> (Vec<CornerLayer<DVec2>>, usize) {
    let read = |set: &ufbx::UvSet| {
        let values = set
            .vertex_uv
            .values
            .iter()
            .map(|uv| DVec2::new(uv.x, uv.y))
            .collect();
        layer(
            &one_line(&set.name),
            values,
            faces.pick(&set.vertex_uv.indices)?,
        )
    };
    let layers: Vec<_> = mesh.uv_sets.iter().filter_map(read).collect();
    let without = mesh.uv_sets.len() - layers.len();
    (layers, without)
}

fn read_normals(
    mesh: &ufbx::Mesh,
    faces: &Faces<'_>,
    scene_from_mesh: &DAffine3,
) -> Option<CornerLayer<DVec3>> {
    if !mesh.vertex_normal.exists || mesh.generated_normals {
        return None;
    }
    let turn = scene_from_mesh.matrix3.inverse().transpose();
    let same = scene_from_mesh.matrix3 == pliant_mesh::glam::DMat3::IDENTITY;
    let normal = |n: &ufbx::Vec3| {
        if same {
            vector(n)
        } else {
            (turn * vector(n)).normalize_or_zero()
        }
    };
    layer(
        "",
        mesh.vertex_normal.values.iter().map(normal).collect(),
        faces.pick(&mesh.vertex_normal.indices)?,
    )
}

/// Colours by vertex, and how many sets have none such.
fn read_colors(mesh: &ufbx::Mesh, faces: &Faces<'_>) -> (Vec<VertexLayer<DVec4>>, usize) {
    let read = |set: &ufbx::ColorSet| {
        let (vertices, colors) = (
            faces.pick(&mesh.vertex_indices)?,
            faces.pick(&set.vertex_color.indices)?,
        );
        let mut values: Vec<Option<DVec4>> = vec![None; mesh.num_vertices];
        for (&vertex, &color) in vertices.iter().zip(&colors) {
            let color = set.vertex_color.values.get(color as usize)?;
            let color = DVec4::new(color.x, color.y, color.z, color.w);
            if *values.get_mut(vertex as usize)?.get_or_insert(color) != color {
                return None;
            }
        }
        Some(VertexLayer {
            name: one_line(&set.name),
            values: values
                .into_iter()
                .map(|c| c.unwrap_or(DVec4::ONE))
                .collect(),
        })
    };
    let layers: Vec<_> = mesh.color_sets.iter().filter_map(read).collect();
    let without = mesh.color_sets.len() - layers.len();
    (layers, without)
}

/// The channels of a mesh, in the order of its targets.
pub(super) fn channels(mesh: &ufbx::Mesh) -> impl Iterator<Item = &ufbx::BlendChannel> {
    mesh.blend_deformers
        .iter()
        .flat_map(|deformer| deformer.channels.iter())
        .map(|channel| &**channel)
}

fn read_targets(
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
            unlike(&own, &names)
        } else {
            own
        };
        names.insert(name.clone());
        targets.push(target(name, keys));
    }
    Ok(targets)
}

/// The channel's name. Some exporters put that of its deformer and a dot before it.
fn slider_name(channel: &ufbx::BlendChannel, mesh: &ufbx::Mesh) -> String {
    let name = one_line(&channel.element.name);
    let own = mesh.blend_deformers.iter().find_map(|deformer| {
        name.strip_prefix(&*deformer.element.name)?
            .strip_prefix('.')
    });
    own.filter(|own| !own.is_empty())
        .map_or_else(|| name.clone(), str::to_owned)
}

fn unlike(name: &str, taken: &HashSet<String>) -> String {
    (1..)
        .map(|k| format!("{name}_{k}"))
        .find(|other| !taken.contains(other))
        .expect("some number is free")
}

/// A shape at a weight; the name is the shape's.
type Key = InBetween;

fn read_keys(
    channel: &ufbx::BlendChannel,
    vertices: usize,
    scene_from_mesh: &DAffine3,
    budget: &Budget,
) -> Result<Vec<Key>, ReadError> {
    let mut keys: Vec<Key> = Vec::new();
    for key in &channel.keyframes {
        let (shape, weight) = (&*key.shape, key.target_weight);
        budget.spend(2 * shape.offset_vertices.len() + 8, "the blend shapes")?;
        // At zero the mesh is neutral, whatever a shape says.
        if weight == 0.0 || !weight.is_finite() || keys.iter().any(|k| k.weight == weight) {
            continue;
        }
        let offset = |d: &ufbx::Vec3| scene_from_mesh.transform_vector3(vector(d)).as_vec3();
        let offsets = shape
            .offset_vertices
            .iter()
            .copied()
            .zip(shape.position_offsets.iter().map(offset));
        let mut moved: Vec<(u32, Vec3)> = offsets
            .filter(|(v, d)| (*v as usize) < vertices && *d != Vec3::ZERO)
            .collect();
        moved.sort_by_key(|(v, _)| *v);
        moved.dedup_by_key(|(v, _)| *v);
        let (vertices, deltas) = moved.into_iter().unzip();
        keys.push(Key {
            name: one_line(&shape.element.name),
            weight,
            vertices,
            deltas,
        });
    }
    keys.sort_by(|a, b| a.weight.total_cmp(&b.weight));
    Ok(keys)
}

/// The target through all keys. Where none stands at weight 1, the path there is followed.
fn target(name: String, mut keys: Vec<Key>) -> Target {
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

/// Where the polyline from zero through the keys is at weight 1.
fn at_one(keys: &[Key]) -> (Vec<u32>, Vec<Vec3>) {
    let zero = Key {
        name: String::new(),
        weight: 0.0,
        vertices: Vec::new(),
        deltas: Vec::new(),
    };
    let mut line: Vec<&Key> = keys.iter().collect();
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
    let of = |key: &Key, v: &u32| {
        key.vertices
            .binary_search(v)
            .map_or(Vec3::ZERO, |k| key.deltas[k])
    };
    let deltas = moved
        .iter()
        .map(|v| of(from, v) * (1.0 - along) + of(to, v) * along)
        .collect();
    (moved, deltas)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(weight: f64, delta: f32) -> Key {
        Key {
            name: String::new(),
            weight,
            vertices: vec![3],
            deltas: vec![Vec3::X * delta],
        }
    }

    #[test]
    fn the_path_through_full_weights_is_kept_whatever_they_are() {
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
                let wanted =
                    f64::from(a.deltas[0].x) * (1.0 - along) + f64::from(b.deltas[0].x) * along;
                let mut positions = vec![DVec3::ZERO; 4];
                target.add_to(weight, &mut positions);
                assert!(
                    (positions[3].x - wanted).abs() < 1e-6,
                    "{weight}: {} {wanted}",
                    positions[3].x
                );
            }
        }
    }
}
