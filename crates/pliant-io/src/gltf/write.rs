//! From objects to a document: vertices are split at seams, targets stored sparse, and all of it
//! put into one buffer.

use std::collections::HashMap;
use std::sync::Arc;

use pliant_mesh::glam::DVec3;
use pliant_mesh::{CornerLayer, FaceLabels, Mesh};
use serde_json::{Value, json};

use super::animation_write::{self, Frames};
use super::container::{pack, to_data_uri};
use super::document::{self, Attributes, Buffer, Document, Node, POINTS, Primitive, Scene};
use super::memo::{KEY, LabelMemo, MeshMemo};
use super::morph::default_name;
use super::skin_write::{Skins, playable};
use super::split::{Block, Displacements, Seams, by_vertex};
use super::store::Store;
use crate::{Asset, Holds, Object, UpAxes, UpAxis, Written};

/// What a GLB can hold; polygons, groups and names of frames are in its `extras`.
pub const HOLDS: Holds = Holds {
    in_betweens: false,
    up_axes: UpAxes::Fixed(UpAxis::Y),
    ..Holds::ALL
};

/// The asset as a GLB.
#[must_use]
pub fn write(asset: &Asset) -> Written {
    let (mut document, bytes, left_out) = Writer::write(asset);
    if !bytes.is_empty() {
        document.buffers = vec![Buffer {
            uri: None,
            byte_length: bytes.len(),
        }];
    }
    Written {
        bytes: pack(to_json(&document), bytes),
        left_out,
        ..Written::default()
    }
}

/// The asset as a JSON text that has its buffer inside.
#[must_use]
pub fn write_text(asset: &Asset) -> Written {
    let (mut document, bytes, left_out) = Writer::write(asset);
    if !bytes.is_empty() {
        document.buffers = vec![Buffer {
            uri: Some(to_data_uri(&bytes)),
            byte_length: bytes.len(),
        }];
    }
    Written {
        bytes: to_json(&document),
        left_out,
        ..Written::default()
    }
}

fn to_json(document: &Document) -> Vec<u8> {
    serde_json::to_vec(document).expect("a document of numbers and names is JSON")
}

#[derive(Default)]
struct Writer {
    store: Store,
    document: Document,
    material_of: HashMap<String, usize>,
    left_out: Vec<String>,
}

impl Writer {
    fn write(asset: &Asset) -> (Document, Vec<u8>, Vec<String>) {
        let mut writer = Self {
            left_out: HOLDS.left_out_of(asset),
            ..Self::default()
        };
        writer.document.asset = json!({ "version": "2.0", "generator": "pliant" });
        let asset = playable(asset);
        let asset = asset.as_ref();
        let nodes = writer.nodes(asset);
        let skins = Skins::write(asset, &nodes, &mut writer.document, &mut writer.store);
        let mut frames = Frames::of(asset);
        for (k, object) in asset.objects.iter().enumerate() {
            let mesh = writer.mesh(k, object, &skins, &mut frames);
            writer.document.meshes.push(mesh);
        }
        let (animations, left_out) =
            animation_write::animations(asset, &nodes, &skins, &frames, &mut writer.store);
        writer.document.animations = animations;
        writer.left_out.extend(left_out);
        let Self {
            store,
            mut document,
            left_out,
            ..
        } = writer;
        document.accessors = store.accessors;
        document.buffer_views = store.views;
        (document, store.bytes, left_out)
    }

    /// A node for each object, below nodes for the steps of its path.
    fn nodes(&mut self, asset: &Asset) -> Vec<usize> {
        let nodes = &mut self.document.nodes;
        let (mut groups, mut roots, mut own) = (HashMap::new(), Vec::new(), Vec::new());
        for (k, object) in asset.objects.iter().enumerate() {
            // Without a leading slash a path is a bare name, which may hold one.
            let steps: Vec<&str> = match object.path.strip_prefix('/') {
                Some(path) => path.split('/').collect(),
                None => vec![object.path.as_str()],
            };
            let mut parent: Option<usize> = None;
            for depth in 1..=steps.len() {
                let is_object = depth == steps.len();
                let known = groups.get(&steps[..depth]).copied().filter(|_| !is_object);
                let node = known.unwrap_or_else(|| {
                    let name = Some(steps[depth - 1].to_owned()).filter(|name| !name.is_empty());
                    nodes.push(Node {
                        name,
                        mesh: is_object.then_some(k),
                        ..Node::default()
                    });
                    let node = nodes.len() - 1;
                    match parent {
                        Some(parent) => nodes[parent].children.push(node),
                        None => roots.push(node),
                    }
                    if !is_object {
                        groups.insert(steps[..depth].to_vec(), node);
                    }
                    node
                });
                parent = Some(node);
            }
            own.extend(parent);
        }
        if !roots.is_empty() {
            self.document.scenes = vec![Scene { nodes: roots }];
            self.document.scene = Some(0);
        }
        own
    }

    fn mesh(
        &mut self,
        index: usize,
        object: &Object,
        skins: &Skins<'_>,
        frames: &mut Frames<'_>,
    ) -> document::Mesh {
        let mesh = object.rig.neutral();
        let seams = match &object.seams {
            Some(seams) if seams.fit(mesh) => Arc::clone(seams),
            _ => Arc::new(Seams::of(mesh)),
        };
        let plan = Plan::of(object, &seams);
        let mut attributes: Vec<Attributes> = seams
            .blocks
            .iter()
            .map(|block| plan.attributes(block, &mut self.store))
            .collect();
        for (block, attributes) in seams.blocks.iter().zip(&mut attributes) {
            skins.attributes(index, &seams, block, &mut self.store, attributes);
        }
        if plan.unset_uvs() > 0 {
            self.left_out.push(format!(
                "{} corner(s) without UV among corners with UV (written as 0, 0)",
                plan.unset_uvs()
            ));
        }
        let (targets, names) = self.targets(index, &plan, frames);
        let mut primitives = Vec::new();
        for (part, faces) in plan.faces_of_parts.iter().enumerate() {
            let block = seams.parts[part].block;
            if seams.blocks[block].count == 0 {
                continue;
            }
            let indices = plan.indices(faces, seams.blocks[block].start);
            let (indices, mode) = match indices.is_empty() {
                true => (None, Some(POINTS)),
                false => (
                    Some(self.store.triangles(&indices, seams.blocks[block].count)),
                    None,
                ),
            };
            primitives.push(Primitive {
                attributes: attributes[block].clone(),
                indices,
                mode,
                material: seams.parts[part]
                    .material
                    .map(|k| self.material(&seams.materials[k])),
                targets: targets
                    .iter()
                    .map(|of_block| of_block[block].clone())
                    .collect(),
            });
        }
        let mut memo = self.memo(object, &plan);
        memo.targets =
            (names.len() > object.rig.targets().len()).then_some(object.rig.targets().len());
        let mut extras = json!({ KEY: memo });
        if names
            .iter()
            .enumerate()
            .any(|(k, name)| *name != default_name(k))
        {
            extras["targetNames"] = json!(names);
        }
        let name = Some(mesh.name().to_owned()).filter(|name| !name.is_empty());
        let weights = (!names.is_empty()).then(|| {
            let mut weights = object.rest_weights.clone();
            weights.resize(names.len(), 0.0);
            weights
        });
        document::Mesh {
            name,
            primitives,
            weights,
            extras,
        }
    }

    fn material(&mut self, material: &Value) -> usize {
        *self
            .material_of
            .entry(material.to_string())
            .or_insert_with(|| {
                self.document.materials.push(material.clone());
                self.document.materials.len() - 1
            })
    }

    /// The targets, then the frames of clips: for each its attributes block by block, and all
    /// names.
    fn targets(
        &mut self,
        index: usize,
        plan: &Plan<'_>,
        frames: &mut Frames<'_>,
    ) -> (Vec<Vec<Attributes>>, Vec<String>) {
        let (mut targets, mut names) = (Vec::new(), Vec::new());
        let normals = &plan.seams.target_normals;
        let with_normals =
            normals.len() == plan.object.rig.targets().len() && plan.mesh.normals().is_some();
        for (k, target) in plan.object.rig.targets().iter().enumerate() {
            let moved = plan.stored(
                target
                    .vertices
                    .iter()
                    .copied()
                    .zip(target.deltas.iter().map(|d| d.to_array())),
            );
            let mut attributes = self.displacements(plan, "POSITION", &moved, None);
            if with_normals {
                attributes = self.displacements(plan, "NORMAL", &normals[k], Some(attributes));
            }
            targets.push(attributes);
            names.push(target.name.clone());
        }
        frames.begin(index, names.len());
        for (name, positions) in frames.of_object(index) {
            let moved = plan.moved_to(positions);
            let moved = plan.stored(moved.into_iter());
            targets.push(self.displacements(plan, "POSITION", &moved, None));
            names.push(name);
        }
        (targets, names)
    }

    fn displacements(
        &mut self,
        plan: &Plan<'_>,
        name: &str,
        moved: &Displacements,
        add_to: Option<Vec<Attributes>>,
    ) -> Vec<Attributes> {
        let mut attributes =
            add_to.unwrap_or_else(|| vec![Attributes::new(); plan.seams.blocks.len()]);
        for (block, attributes) in plan.seams.blocks.iter().zip(&mut attributes) {
            let [from, to] = [block.start, block.start + block.count]
                .map(|end| moved.vertices.partition_point(|&v| (v as usize) < end));
            let own = Displacements {
                vertices: moved.vertices[from..to]
                    .iter()
                    .map(|v| v - block.start as u32)
                    .collect(),
                deltas: moved.deltas[from..to].to_vec(),
            };
            attributes.insert(
                name.into(),
                self.store
                    .displacements(block.count, &own, name == "POSITION"),
            );
        }
        attributes
    }

    fn memo(&mut self, object: &Object, plan: &Plan<'_>) -> MeshMemo {
        let mesh = plan.mesh;
        let order: Vec<u32> = plan.faces_of_parts.iter().flatten().copied().collect();
        let polygons = mesh.faces().any(|face| face.len() != 3);
        let sizes = || {
            order
                .iter()
                .map(|&face| mesh.face(face as usize).len() as u32)
                .collect::<Vec<_>>()
        };
        let store = &mut self.store;
        let face_sizes = polygons.then(|| store.list("face_sizes", &sizes()));
        let face_order = (!order.is_sorted()).then(|| store.list("face_order", &order));
        let names: Vec<String> = mesh
            .uv_layers()
            .iter()
            .map(|layer| layer.name.clone())
            .collect();
        MeshMemo {
            vertices: mesh.vertex_count(),
            weld: Some(store.list("weld", &plan.seams.vertex_of)),
            face_sizes,
            face_order,
            computed_normals: plan.computed.is_some(),
            groups: label_memo(store, "groups", mesh.groups()),
            smoothing: label_memo(store, "smoothing", &object.smoothing),
            material_library: mesh.material_library().to_vec(),
            uv_names: if names.iter().all(String::is_empty) {
                Vec::new()
            } else {
                names
            },
            file_index: object
                .file_index
                .as_ref()
                .map(|index| store.list("file_index", index)),
            targets: None,
        }
    }
}

fn label_memo(store: &mut Store, name: &str, labels: &FaceLabels) -> Option<LabelMemo> {
    if labels.of_face.is_empty() {
        return None;
    }
    Some(LabelMemo {
        names: labels.names.clone(),
        of_face: store.list(name, &labels.of_face),
    })
}

/// An object with its seams, as attributes need them.
struct Plan<'a> {
    object: &'a Object,
    mesh: &'a Mesh,
    seams: &'a Seams,
    corner_of: Vec<Option<u32>>,
    /// Stored vertices of each vertex, and where each list begins; `None` where every vertex is
    /// stored once, in order.
    stored_of: Option<(Vec<u32>, Vec<u32>)>,
    /// Normals of vertices, where the object has none of its own.
    computed: Option<Vec<DVec3>>,
    /// The faces of each part, ascending.
    faces_of_parts: Vec<Vec<u32>>,
    /// Whether each set of colours still is as it was stored.
    stored_colors: Vec<bool>,
}

impl<'a> Plan<'a> {
    fn of(object: &'a Object, seams: &'a Seams) -> Self {
        let mesh = object.rig.neutral();
        let mut faces_of_parts = vec![Vec::new(); seams.parts.len()];
        for (face, &part) in seams.part_of_face.iter().enumerate() {
            faces_of_parts[part as usize].push(face as u32);
        }
        let in_order = seams
            .vertex_of
            .iter()
            .enumerate()
            .all(|(k, &v)| k == v as usize);
        Self {
            object,
            mesh,
            seams,
            corner_of: seams.corner_of_stored(),
            stored_of: (!in_order).then(|| by_vertex(&seams.vertex_of, mesh.vertex_count())),
            computed: (mesh.normals().is_none() && mesh.face_count() > 0)
                .then(|| smooth_normals(mesh)),
            faces_of_parts,
            stored_colors: (0..mesh.colors().len())
                .map(|set| colors_are_as_stored(mesh, seams, set))
                .collect(),
        }
    }

    fn attributes(&self, block: &Block, store: &mut Store) -> Attributes {
        let mut attributes = Attributes::new();
        if block.count == 0 {
            return attributes;
        }
        let positions: Vec<[f32; 3]> = block
            .range()
            .map(|s| single(self.mesh.positions()[self.seams.vertex_of[s] as usize]))
            .collect();
        attributes.insert("POSITION".into(), store.positions(&positions));
        let faces = self
            .seams
            .parts
            .iter()
            .zip(&self.faces_of_parts)
            .any(|(p, f)| self.seams.blocks[p.block] == *block && !f.is_empty());
        if faces && (block.normals || self.computed.is_some()) {
            let normals: Vec<[f32; 3]> = block.range().map(|s| self.normal(s)).collect();
            attributes.insert("NORMAL".into(), store.attribute(&normals));
        }
        for (k, layer) in self.mesh.uv_layers().iter().enumerate().take(block.uv_sets) {
            let uvs: Vec<[f32; 2]> = block
                .range()
                .map(|s| {
                    self.value(layer, s)
                        .map_or([0.0; 2], |uv| [uv.x as f32, (1.0 - uv.y) as f32])
                })
                .collect();
            attributes.insert(format!("TEXCOORD_{k}"), store.attribute(&uvs));
        }
        for k in 0..self.mesh.colors().len() {
            let colors: Vec<[f32; 4]> = self.colors(k, block);
            attributes.insert(format!("COLOR_{k}"), store.attribute(&colors));
        }
        attributes
    }

    /// A layer's value at a stored vertex: that of a corner, or its own where no face shows it.
    fn value<T: Copy>(&self, layer: &CornerLayer<T>, stored: usize) -> Option<T> {
        let index = match self.corner_of[stored] {
            Some(corner) => layer.corners[corner as usize].map(|k| k as usize),
            None => Some(stored).filter(|_| layer.values.len() == self.seams.vertex_of.len()),
        };
        index.map(|k| layer.values[k])
    }

    fn normal(&self, stored: usize) -> [f32; 3] {
        let own = match (&self.computed, self.mesh.normals()) {
            (Some(computed), _) => computed[self.seams.vertex_of[stored] as usize],
            (None, Some(layer)) => self.value(layer, stored).unwrap_or(DVec3::ZERO),
            (None, None) => DVec3::ZERO,
        };
        // What is about a unit vector keeps its bits.
        let length = own.length();
        let unit = if (length - 1.0).abs() < 1e-4 {
            own
        } else {
            own.normalize_or(DVec3::Z)
        };
        single(unit)
    }

    /// Colours as they were stored, if they still are the vertices' own.
    fn colors(&self, set: usize, block: &Block) -> Vec<[f32; 4]> {
        let own = &self.mesh.colors()[set].values;
        let of_vertex = |s: usize| own[self.seams.vertex_of[s] as usize].as_vec4().to_array();
        match self.seams.colors.get(set) {
            Some(stored) if self.stored_colors[set] => stored[block.range()].to_vec(),
            _ => block.range().map(of_vertex).collect(),
        }
    }

    /// How many corners have no UV although their part has.
    fn unset_uvs(&self) -> usize {
        let layers = self.mesh.uv_layers();
        let sets_of_part: Vec<usize> = self
            .seams
            .parts
            .iter()
            .map(|part| self.seams.blocks[part.block].uv_sets)
            .collect();
        let unset = |face: usize| {
            let sets = sets_of_part[self.seams.part_of_face[face] as usize].min(layers.len());
            let corners = self.mesh.face_corners(face);
            layers[..sets]
                .iter()
                .map(|layer| {
                    layer.corners[corners.clone()]
                        .iter()
                        .filter(|c| c.is_none())
                        .count()
                })
                .sum::<usize>()
        };
        if layers.is_empty() {
            0
        } else {
            (0..self.mesh.face_count()).map(unset).sum()
        }
    }

    /// The fans of faces, counted from the first vertex of their block.
    fn indices(&self, faces: &[u32], start: usize) -> Vec<u32> {
        let mut indices = Vec::with_capacity(faces.len() * 6);
        for &face in faces {
            let corners = &self.seams.corners[self.mesh.face_corners(face as usize)];
            for k in 1..corners.len() - 1 {
                indices.extend([corners[0], corners[k], corners[k + 1]].map(|s| s - start as u32));
            }
        }
        indices
    }

    /// Displacements of vertices, ascending, as those of stored vertices.
    fn stored(&self, moved: impl Iterator<Item = (u32, [f32; 3])>) -> Displacements {
        let Some((stored_of, starts)) = &self.stored_of else {
            let (vertices, deltas) = moved.unzip();
            return Displacements { vertices, deltas };
        };
        let mut entries: Vec<(u32, [f32; 3])> = Vec::with_capacity(moved.size_hint().0);
        for (vertex, delta) in moved {
            let range = starts[vertex as usize] as usize..starts[vertex as usize + 1] as usize;
            entries.extend(stored_of[range].iter().map(|&stored| (stored, delta)));
        }
        if !entries.is_sorted_by_key(|entry| entry.0) {
            entries.sort_unstable_by_key(|entry| entry.0);
        }
        let (vertices, deltas) = entries.into_iter().unzip();
        Displacements { vertices, deltas }
    }

    /// What takes the neutral, as the file has it, to `positions`.
    fn moved_to(&self, positions: &[DVec3]) -> Vec<(u32, [f32; 3])> {
        let delta = |(rest, to): (&DVec3, &DVec3)| {
            single(*to - DVec3::from_array(single(*rest).map(f64::from)))
        };
        let deltas = self.mesh.positions().iter().zip(positions).map(delta);
        deltas
            .enumerate()
            .filter(|(_, d)| *d != [0.0; 3])
            .map(|(v, d)| (v as u32, d))
            .collect()
    }
}

fn colors_are_as_stored(mesh: &Mesh, seams: &Seams, set: usize) -> bool {
    let Some(stored) = seams
        .colors
        .get(set)
        .filter(|stored| stored.len() == seams.vertex_of.len())
    else {
        return false;
    };
    let speakers = super::weld::speakers(&seams.vertex_of, mesh.vertex_count());
    speakers
        .iter()
        .zip(&mesh.colors()[set].values)
        .all(|(&s, color)| stored[s as usize] == color.as_vec4().to_array())
}

/// Single precision, within its range.
fn single(point: DVec3) -> [f32; 3] {
    point
        .to_array()
        .map(|x| (x as f32).clamp(f32::MIN, f32::MAX))
}

/// Normals of vertices, each the mean of its triangles' by area: a display default, without
/// building a topology.
fn smooth_normals(mesh: &Mesh) -> Vec<DVec3> {
    let mut normals = vec![DVec3::ZERO; mesh.vertex_count()];
    for (triangle, corners) in mesh.triangles().iter().enumerate() {
        let [a, b, c] = mesh.triangle_points(triangle);
        let area = (b - a).cross(c - a);
        corners.iter().for_each(|&v| normals[v as usize] += area);
    }
    normals
        .iter_mut()
        .for_each(|n| *n = n.normalize_or(DVec3::Z));
    normals
}
