//! Vertices as glTF stores them: once for each side of a seam.
//!
//! **Problem.** A stored vertex has one UV, one normal and one colour, and belongs to one material.
//!
//! **Form.** Faces are grouped into parts that share a material and the attributes they have. In
//! each part a vertex is stored once for every distinct tuple of its attributes, in the order of
//! the vertices, so that a mesh without seams keeps its order. Vertices that no face uses are
//! stored with the first part.

use std::collections::HashMap;

use pliant_mesh::{CornerLayer, Mesh};
use serde_json::{Value, json};

/// How a glTF file stores, or is to store, the vertices of an object.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Seams {
    /// For each stored vertex the object's vertex.
    pub(super) vertex_of: Vec<u32>,
    /// For each face corner its stored vertex.
    pub(super) corners: Vec<u32>,
    /// Runs of stored vertices that have the same attributes.
    pub(super) blocks: Vec<Block>,
    /// The primitives.
    pub(super) parts: Vec<Part>,
    /// For each face its part.
    pub(super) part_of_face: Vec<u32>,
    /// Colours of the stored vertices, set by set; empty where the vertices' own are meant.
    pub(super) colors: Vec<Vec<[f32; 4]>>,
    /// Materials, as the file has them but for textures.
    pub(super) materials: Vec<Value>,
    /// Displacements of normals, target by target; empty where there are none.
    pub(super) target_normals: Vec<Displacements>,
}

/// Displacements of some of the stored vertices, ascending.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Displacements {
    pub(super) vertices: Vec<u32>,
    pub(super) deltas: Vec<[f32; 3]>,
}

/// A run of stored vertices.
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
    /// Which of the materials.
    pub(super) material: Option<usize>,
}

impl Seams {
    /// Whether these are seams of `mesh`: it may have been posed since, but not rebuilt.
    pub(super) fn fit(&self, mesh: &Mesh) -> bool {
        let vertex = |stored: u32| self.vertex_of.get(stored as usize).copied();
        let covered = {
            let mut covered = vec![false; mesh.vertex_count()];
            self.vertex_of
                .iter()
                .all(|&v| covered.get_mut(v as usize).map(|c| *c = true).is_some())
                && covered.iter().all(|&c| c)
        };
        covered
            && self.part_of_face.len() == mesh.face_count()
            && self.corners.len() == mesh.corner_count()
            && mesh
                .faces()
                .flatten()
                .zip(&self.corners)
                .all(|(&v, &stored)| vertex(stored) == Some(v))
    }

    /// The seams of a mesh that was never in such a file.
    pub(super) fn of(mesh: &Mesh) -> Self {
        let (parts, part_of_face) = parts_of(mesh);
        let mut seams = Self {
            corners: vec![0; mesh.corner_count()],
            part_of_face,
            ..Self::default()
        };
        let mut corners_of_part: Vec<Vec<(u32, u32)>> = vec![Vec::new(); parts.len()];
        let mut part_of_corner = Vec::with_capacity(mesh.corner_count());
        for (face, &part) in mesh.faces().zip(&seams.part_of_face) {
            part_of_corner.extend(std::iter::repeat_n(part, face.len()));
        }
        let vertex_of_corner: Vec<u32> = mesh.faces().flatten().copied().collect();
        let (corners, starts) = by_vertex(&vertex_of_corner, mesh.vertex_count());
        for (vertex, ends) in starts.windows(2).enumerate() {
            let own = &corners[ends[0] as usize..ends[1] as usize];
            own.iter().for_each(|&corner| {
                corners_of_part[part_of_corner[corner as usize] as usize]
                    .push((vertex as u32, corner))
            });
            if own.is_empty() {
                corners_of_part[0].push((vertex as u32, NO_CORNER));
            }
        }
        for (k, (corners, (key, name))) in corners_of_part.into_iter().zip(parts).enumerate() {
            let start = seams.vertex_of.len();
            seams.store(mesh, &key, &corners);
            let (uv_sets, normals) = (key.uv_sets, key.normals);
            seams.blocks.push(Block {
                start,
                count: seams.vertex_of.len() - start,
                uv_sets,
                normals,
            });
            let material = name.map(|name| {
                seams.materials.push(json!({ "name": name }));
                seams.materials.len() - 1
            });
            seams.parts.push(Part { block: k, material });
        }
        seams
    }

    /// Stores the vertices of one part, given its (vertex, corner) pairs in order.
    fn store(&mut self, mesh: &Mesh, key: &Key, corners: &[(u32, u32)]) {
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
                if let Some(place) = self.corners.get_mut(corner) {
                    *place = (first + known.unwrap_or(variants.len() - 1)) as u32;
                }
            }
        }
    }

    /// For each stored vertex a corner that shows it, where there is one.
    pub(super) fn corner_of_stored(&self) -> Vec<Option<u32>> {
        let mut corner_of = vec![None; self.vertex_of.len()];
        for (corner, &stored) in self.corners.iter().enumerate().rev() {
            corner_of[stored as usize] = Some(corner as u32);
        }
        corner_of
    }
}

/// Stands for the corner of a vertex that no face uses.
const NO_CORNER: u32 = u32::MAX;

/// For each vertex those whose vertex it is, ascending: all lists in one, and where each begins.
pub(super) fn by_vertex(vertex_of: &[u32], vertices: usize) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0; vertices + 1];
    vertex_of.iter().for_each(|&v| starts[v as usize + 1] += 1);
    for v in 0..vertices {
        starts[v + 1] += starts[v];
    }
    let mut next = starts.clone();
    let mut lists = vec![0; vertex_of.len()];
    for (k, &v) in vertex_of.iter().enumerate() {
        lists[next[v as usize] as usize] = k as u32;
        next[v as usize] += 1;
    }
    (lists, starts)
}

/// What all faces of a part share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    material: Option<u32>,
    uv_sets: usize,
    normals: bool,
}

impl Key {
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

/// The parts in order of first use, and the part of each face. A mesh without faces has one part.
fn parts_of(mesh: &Mesh) -> (Vec<(Key, Option<String>)>, Vec<u32>) {
    let mut index_of: HashMap<Key, u32> = HashMap::new();
    let mut parts = Vec::new();
    let mut part = |key: Key| {
        *index_of.entry(key).or_insert_with(|| {
            let material = key
                .material
                .map(|k| mesh.materials().names[k as usize].clone());
            parts.push((key, material.filter(|name| !name.is_empty())));
            parts.len() as u32 - 1
        })
    };
    // Faces of a part mostly stand together.
    let mut last: Option<(Key, u32)> = None;
    let part_of_face: Vec<u32> = (0..mesh.face_count())
        .map(|face| {
            let key = key_of(mesh, face);
            let index = last
                .filter(|(same, _)| *same == key)
                .map_or_else(|| part(key), |(_, index)| index);
            last = Some((key, index));
            index
        })
        .collect();
    if part_of_face.is_empty() {
        part(Key {
            material: None,
            uv_sets: 0,
            normals: false,
        });
    }
    (parts, part_of_face)
}

fn key_of(mesh: &Mesh, face: usize) -> Key {
    let corners = mesh.face_corners(face);
    let uv_sets = mesh
        .uv_layers()
        .iter()
        .rposition(|layer| layer.corners[corners.clone()].iter().any(Option::is_some));
    Key {
        material: mesh.materials().of_face.get(face).copied(),
        uv_sets: uv_sets.map_or(0, |k| k + 1),
        normals: mesh
            .normals()
            .is_some_and(|layer| layer.corners[corners].iter().any(Option::is_some)),
    }
}
