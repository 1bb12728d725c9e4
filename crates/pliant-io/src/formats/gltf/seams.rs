//! How glTF stores the vertices of an object: once for each side of a seam.
//!
//! **Problem.** A stored vertex has one UV, one normal and one colour, and belongs to one material.
//!
//! **Method.** Faces are grouped into parts (glTF primitives) that have the same material and the
//! same attributes. Each part stores a vertex once for every distinct tuple of its attributes, in
//! the order of the vertices; a mesh without seams keeps its order. Vertices that no face uses are
//! stored with the first part.

use std::collections::HashMap;
use std::sync::Arc;

use pliant_mesh::{CornerLayer, Mesh};
use serde_json::{Value, json};

/// How a glTF file stores the vertices of an object, or how the writer will store them.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Seams {
    /// For each stored vertex, the vertex of the object.
    pub(super) vertex_of: Vec<u32>,
    /// For each face corner, its stored vertex.
    pub(super) corners: Vec<u32>,
    /// Runs of stored vertices with the same attributes.
    pub(super) blocks: Vec<Block>,
    /// The primitives.
    pub(super) parts: Vec<Part>,
    /// For each face, its part.
    pub(super) part_of_face: Vec<u32>,
    /// Colours of the stored vertices, set by set; empty if the colours of the mesh apply.
    pub(super) colors: Vec<Vec<[f32; 4]>>,
    /// Materials as in the file, without textures.
    pub(super) materials: Vec<Arc<Value>>,
}

/// Displacements of some of the stored vertices, ascending.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Displacements {
    pub(super) vertices: Vec<u32>,
    pub(super) deltas: Vec<[f32; 3]>,
}

/// Consecutive stored vertices with the same attributes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Block {
    pub(super) start: usize,
    pub(super) count: usize,
    pub(super) uv_sets: usize,
    pub(super) normals: bool,
}

impl Block {
    pub(super) fn range(&self) -> std::ops::Range<usize> {
        self.start..self.start + self.count
    }
}

/// A primitive: faces of one material over one block.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Part {
    pub(super) block: usize,
    /// Index into the materials.
    pub(super) material: Option<usize>,
}

impl Seams {
    /// Whether these are seams of `mesh`. New positions are allowed, new faces are not.
    pub(super) fn fit(&self, mesh: &Mesh) -> bool {
        if self.part_of_face.len() != mesh.face_count() || self.corners.len() != mesh.corner_count()
        {
            return false;
        }

        self.cover(mesh.vertex_count())
            && mesh
                .faces()
                .flatten()
                .zip(&self.corners)
                .all(|(v, &stored)| self.vertex_of.get(stored as usize) == Some(v))
    }

    /// Whether every one of `vertices` vertices, and no other, is stored.
    fn cover(&self, vertices: usize) -> bool {
        let mut covered = vec![false; vertices];
        for &vertex in &self.vertex_of {
            match covered.get_mut(vertex as usize) {
                Some(covered) => *covered = true,
                None => return false,
            }
        }

        covered.iter().all(|&covered| covered)
    }

    /// The seams of a mesh with other faces, with the materials of the file where names agree.
    pub(crate) fn for_mesh(&self, mesh: &Mesh) -> Self {
        let mut seams = Self::of(mesh);
        for material in &mut seams.materials {
            let mut known = self.materials.iter();
            if let Some(same) = known.find(|other| other["name"] == material["name"]) {
                *material = Arc::clone(same);
            }
        }
        seams
    }

    /// The seams of a mesh that does not come from a glTF file.
    pub(super) fn of(mesh: &Mesh) -> Self {
        let (parts, part_of_face) = parts_of(mesh);
        let mut seams = Self {
            corners: vec![0; mesh.corner_count()],
            part_of_face,
            ..Self::default()
        };

        let corners_of_part = seams.corners_of_parts(mesh, parts.len());
        for (k, (corners, (key, material_name))) in
            corners_of_part.into_iter().zip(parts).enumerate()
        {
            let start = seams.vertex_of.len();
            seams.store(mesh, &key, &corners);
            seams.blocks.push(Block {
                start,
                count: seams.vertex_of.len() - start,
                uv_sets: key.uv_sets,
                normals: key.normals,
            });

            let material = material_name.map(|name| {
                seams.materials.push(Arc::new(json!({ "name": name })));
                seams.materials.len() - 1
            });
            seams.parts.push(Part { block: k, material });
        }

        seams
    }

    /// For each part, its (vertex, corner) pairs in the order of the vertices.
    fn corners_of_parts(&self, mesh: &Mesh, parts: usize) -> Vec<Vec<(u32, u32)>> {
        let mut part_of_corner = Vec::with_capacity(mesh.corner_count());
        for (face, &part) in mesh.faces().zip(&self.part_of_face) {
            part_of_corner.extend(std::iter::repeat_n(part, face.len()));
        }

        let vertex_of_corner: Vec<u32> = mesh.faces().flatten().copied().collect();
        let (corners, starts) = by_vertex(&vertex_of_corner, mesh.vertex_count());
        let mut corners_of_part = vec![Vec::new(); parts];

        for (vertex, ends) in starts.windows(2).enumerate() {
            let own = &corners[ends[0] as usize..ends[1] as usize];
            for &corner in own {
                let part = part_of_corner[corner as usize] as usize;
                corners_of_part[part].push((vertex as u32, corner));
            }
            if own.is_empty() {
                corners_of_part[0].push((vertex as u32, NO_CORNER));
            }
        }

        corners_of_part
    }

    /// Stores the vertices of one part, given its (vertex, corner) pairs in order.
    fn store(&mut self, mesh: &Mesh, key: &PartKey, corners: &[(u32, u32)]) {
        // The distinct corners of the current vertex, each a stored vertex.
        let mut variants: Vec<usize> = Vec::new();
        for group in corners.chunk_by(|a, b| a.0 == b.0) {
            let first = self.vertex_of.len();
            variants.clear();
            for &(vertex, corner) in group {
                let corner = corner as usize;
                let known = variants
                    .iter()
                    .position(|&other| key.same(mesh, other, corner));

                if known.is_none() {
                    variants.push(corner);
                    self.vertex_of.push(vertex);
                }

                if let Some(stored) = self.corners.get_mut(corner) {
                    *stored = (first + known.unwrap_or(variants.len() - 1)) as u32;
                }
            }
        }
    }

    /// For each stored vertex, the first corner that uses it.
    pub(super) fn corner_of_stored(&self) -> Vec<Option<u32>> {
        let mut corner_of = vec![None; self.vertex_of.len()];
        for (corner, &stored) in self.corners.iter().enumerate().rev() {
            corner_of[stored as usize] = Some(corner as u32);
        }
        corner_of
    }
}

/// The corner of a vertex that no face uses.
const NO_CORNER: u32 = u32::MAX;

/// For each vertex, its first stored vertex; `u32::MAX` if there is none.
pub(super) fn representatives(vertex_of: &[u32], vertices: usize) -> Vec<u32> {
    let mut representatives = vec![u32::MAX; vertices];
    for (stored, &vertex) in vertex_of.iter().enumerate().rev() {
        representatives[vertex as usize] = stored as u32;
    }
    representatives
}

/// The inverse of `vertex_of`: for each vertex, the indices that map to it, ascending. All lists
/// follow each other in the first result; the second holds where each begins.
pub(super) fn by_vertex(vertex_of: &[u32], vertices: usize) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0; vertices + 1];
    for &v in vertex_of {
        starts[v as usize + 1] += 1;
    }
    for v in 0..vertices {
        starts[v + 1] += starts[v];
    }

    // A counting sort keeps the indices of each vertex ascending.
    let mut next = starts.clone();
    let mut lists = vec![0; vertex_of.len()];
    for (k, &v) in vertex_of.iter().enumerate() {
        lists[next[v as usize] as usize] = k as u32;
        next[v as usize] += 1;
    }

    (lists, starts)
}

/// What all faces of a part have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct PartKey {
    material: Option<u32>,
    uv_sets: usize,
    normals: bool,
}

impl PartKey {
    /// Whether two corners of one vertex can be one stored vertex.
    fn same(&self, mesh: &Mesh, a: usize, b: usize) -> bool {
        let layers = &mesh.uv_layers()[..self.uv_sets];
        layers
            .iter()
            .all(|layer| same_value(layer, a, b, |uv| uv.as_vec2().to_array().map(f32::to_bits)))
            && (!self.normals
                || mesh.normals().is_none_or(|layer| {
                    same_value(layer, a, b, |n| n.as_vec3().to_array().map(f32::to_bits))
                }))
    }
}

fn same_value<T: Copy, B: PartialEq>(
    layer: &CornerLayer<T>,
    a: usize,
    b: usize,
    bits: impl Fn(T) -> B,
) -> bool {
    let [a, b] = [a, b].map(|corner| layer.corners.get(corner).copied().flatten());
    a == b
        || matches!((a, b), (Some(a), Some(b)) if bits(layer.values[a as usize]) == bits(layer.values[b as usize]))
}

/// The parts with their material names, in order of first use, and the part of each face. A mesh
/// without faces has one part.
fn parts_of(mesh: &Mesh) -> (Vec<(PartKey, Option<String>)>, Vec<u32>) {
    let mut keys: Vec<PartKey> = Vec::new();
    let mut index_of: HashMap<PartKey, u32> = HashMap::new();
    let mut part_of_face = Vec::with_capacity(mesh.face_count());

    // Most faces belong to the part of the face before, which saves the look-up.
    let mut last: Option<(PartKey, u32)> = None;
    for face in 0..mesh.face_count() {
        let key = key_of(mesh, face);
        let index = match last {
            Some((same, index)) if same == key => index,
            _ => *index_of.entry(key).or_insert_with(|| {
                keys.push(key);
                keys.len() as u32 - 1
            }),
        };

        last = Some((key, index));
        part_of_face.push(index);
    }

    if keys.is_empty() {
        keys.push(PartKey {
            material: None,
            uv_sets: 0,
            normals: false,
        });
    }

    let mut parts = Vec::with_capacity(keys.len());
    for key in keys {
        let name = key
            .material
            .map(|k| mesh.materials().names[k as usize].clone())
            .filter(|name| !name.is_empty());
        parts.push((key, name));
    }

    (parts, part_of_face)
}

fn key_of(mesh: &Mesh, face: usize) -> PartKey {
    let corners = mesh.face_corners(face);
    let uv_sets = mesh
        .uv_layers()
        .iter()
        .rposition(|layer| layer.corners[corners.clone()].iter().any(Option::is_some));

    PartKey {
        material: mesh.materials().of_face.get(face).copied(),
        uv_sets: uv_sets.map_or(0, |k| k + 1),
        normals: mesh
            .normals()
            .is_some_and(|layer| layer.corners[corners].iter().any(Option::is_some)),
    }
}
