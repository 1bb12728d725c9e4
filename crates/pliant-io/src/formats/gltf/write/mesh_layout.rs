//! The stored vertices of one object: positions, normals, UV sets, colours and triangles.

use pliant_mesh::glam::{DVec2, DVec3};
use pliant_mesh::{CornerLayer, Mesh};
use pliant_rig::Target;

use super::buffer_builder::BufferBuilder;
use super::normal_changes::NormalChanges;
use crate::Object;
use crate::gltf::document::Attributes;
use crate::gltf::seams::{Block, Displacements, Seams, by_vertex, representatives};

/// An object with its seams, prepared for writing attributes.
pub(in crate::formats::gltf) struct MeshLayout<'a> {
    pub(in crate::formats::gltf) object: &'a Object,
    pub(in crate::formats::gltf) mesh: &'a Mesh,
    pub(in crate::formats::gltf) seams: &'a Seams,
    /// For each stored vertex, a corner that uses it.
    corner_of: Vec<Option<u32>>,
    /// The stored vertices of each vertex, as [`by_vertex`] returns them; `None` if every vertex is
    /// stored once, in order.
    stored_of: Option<(Vec<u32>, Vec<u32>)>,
    /// Normals of vertices, for an object without normals.
    pub(in crate::formats::gltf) computed_normals: Option<Vec<DVec3>>,
    /// The faces of each part, ascending.
    pub(in crate::formats::gltf) faces_of_parts: Vec<Vec<u32>>,
    /// How normals follow displacements; `None` for a mesh without faces.
    normal_changes: Option<NormalChanges>,
    /// For each set of colours, whether the stored colours are still those of the mesh.
    stored_colors: Vec<bool>,
}

impl<'a> MeshLayout<'a> {
    pub(in crate::formats::gltf) fn of(object: &'a Object, seams: &'a Seams) -> Self {
        let mesh = object.rig.neutral();
        let mut faces_of_parts = vec![Vec::new(); seams.parts.len()];
        for (face, &part) in seams.part_of_face.iter().enumerate() {
            faces_of_parts[part as usize].push(face as u32);
        }

        // Without seams, the stored vertices are the vertices.
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
            computed_normals: (mesh.normals().is_none() && mesh.face_count() > 0)
                .then(|| smooth_normals(mesh)),
            faces_of_parts,
            normal_changes: (mesh.face_count() > 0).then(|| NormalChanges::of(mesh)),
            stored_colors: (0..mesh.colors().len())
                .map(|set| colors_are_as_stored(mesh, seams, set))
                .collect(),
        }
    }

    /// The same layout, whose targets get no normals.
    pub(in crate::formats::gltf) fn without_target_normals(self) -> Self {
        Self {
            normal_changes: None,
            ..self
        }
    }

    /// The wanted vertex attributes of a block, without joints.
    pub(in crate::formats::gltf) fn attributes(
        &self,
        block: &Block,
        buffer: &mut BufferBuilder,
        wanted: impl Fn(&str) -> bool,
    ) -> Attributes {
        let mut attributes = Attributes::new();
        if block.count == 0 {
            return attributes;
        }

        if wanted("POSITION") {
            attributes.insert("POSITION".into(), self.positions(block, buffer));
        }

        // Points have no normals.
        let has_normals = block.normals || self.computed_normals.is_some();
        if wanted("NORMAL") && self.has_faces(block) && has_normals {
            let normals: Vec<[f32; 3]> = block.range().map(|s| self.normal(s)).collect();
            attributes.insert("NORMAL".into(), buffer.attribute(&normals));
        }

        for (k, layer) in self.mesh.uv_layers().iter().enumerate().take(block.uv_sets) {
            let name = format!("TEXCOORD_{k}");
            if wanted(&name) {
                attributes.insert(name, self.uvs(layer, block, buffer));
            }
        }

        for k in 0..self.mesh.colors().len() {
            let name = format!("COLOR_{k}");
            if wanted(&name) {
                let colors: Vec<[f32; 4]> = self.colors(k, block);
                attributes.insert(name, buffer.attribute(&colors));
            }
        }

        attributes
    }

    fn positions(&self, block: &Block, buffer: &mut BufferBuilder) -> usize {
        let positions: Vec<[f32; 3]> = block
            .range()
            .map(|s| single(self.mesh.positions()[self.seams.vertex_of[s] as usize]))
            .collect();
        buffer.positions(&positions)
    }

    fn uvs(&self, layer: &CornerLayer<DVec2>, block: &Block, buffer: &mut BufferBuilder) -> usize {
        let mut uvs: Vec<[f32; 2]> = Vec::with_capacity(block.count);
        for stored in block.range() {
            let uv = self.value(layer, stored);
            uvs.push(uv.map_or([0.0; 2], |uv| [uv.x as f32, (1.0 - uv.y) as f32]));
        }
        buffer.attribute(&uvs)
    }

    /// Displacements of stored vertices as the attribute `name` of each block.
    pub(in crate::formats::gltf) fn add_displacements(
        &self,
        name: &str,
        moved: &Displacements,
        buffer: &mut BufferBuilder,
        attributes: &mut [Attributes],
    ) {
        for (block, attributes) in self.seams.blocks.iter().zip(attributes) {
            let range = block.range();
            let from = moved
                .vertices
                .partition_point(|&v| (v as usize) < range.start);
            let to = moved
                .vertices
                .partition_point(|&v| (v as usize) < range.end);
            let own = Displacements {
                vertices: moved.vertices[from..to]
                    .iter()
                    .map(|v| v - block.start as u32)
                    .collect(),
                deltas: moved.deltas[from..to].to_vec(),
            };

            // glTF demands bounds for positions only.
            let with_bounds = name == "POSITION";
            let accessor = buffer.displacements(block.count, &own, with_bounds);
            attributes.insert(name.into(), accessor);
        }
    }

    /// A target of the rig as the attributes of each block.
    pub(in crate::formats::gltf) fn target_attributes(
        &self,
        target: &Target,
        normals: Option<&Displacements>,
        buffer: &mut BufferBuilder,
    ) -> Vec<Attributes> {
        let deltas = target.deltas.iter().map(|d| d.to_array());
        let moved: Vec<_> = target.vertices.iter().copied().zip(deltas).collect();
        self.shape_attributes(moved, normals, buffer)
    }

    /// A frame of a clip as the target attributes of each block.
    pub(in crate::formats::gltf) fn frame_attributes(
        &self,
        positions: &[DVec3],
        buffer: &mut BufferBuilder,
    ) -> Vec<Attributes> {
        self.shape_attributes(self.moved_to(positions), None, buffer)
    }

    /// Displacements of vertices, and how normals turn, as the attributes of each block. Without
    /// stored `normals`, the displacements of normals are computed.
    fn shape_attributes(
        &self,
        moved: Vec<(u32, [f32; 3])>,
        normals: Option<&Displacements>,
        buffer: &mut BufferBuilder,
    ) -> Vec<Attributes> {
        let computed;
        let normals = match (normals, &self.normal_changes) {
            (Some(normals), _) => Some(normals),
            (None, Some(changes)) => {
                computed = changes.displacements(self, &moved);
                Some(&computed)
            }
            (None, None) => None,
        };

        let moved = self.stored(moved.into_iter());
        let mut attributes = vec![Attributes::new(); self.seams.blocks.len()];
        self.add_displacements("POSITION", &moved, buffer, &mut attributes);
        if let Some(normals) = normals {
            self.add_displacements("NORMAL", normals, buffer, &mut attributes);
        }

        // glTF allows displacements only of attributes that the vertices have.
        for (block, attributes) in self.seams.blocks.iter().zip(&mut attributes) {
            if !self.has_faces(block) || !(block.normals || self.computed_normals.is_some()) {
                attributes.remove("NORMAL");
            }
        }

        attributes
    }

    /// Whether a part over this block has faces.
    fn has_faces(&self, block: &Block) -> bool {
        let mut parts = self.seams.parts.iter().zip(&self.faces_of_parts);
        parts.any(|(part, faces)| self.seams.blocks[part.block] == *block && !faces.is_empty())
    }

    /// The value of a layer at a stored vertex: that of its corner. A vertex that no face uses has
    /// a value of its own in layers that were read from glTF.
    fn value<T: Copy>(&self, layer: &CornerLayer<T>, stored: usize) -> Option<T> {
        let index = match self.corner_of[stored] {
            Some(corner) => layer.corners[corner as usize].map(|k| k as usize),
            None => Some(stored).filter(|_| layer.values.len() == self.seams.vertex_of.len()),
        };
        index.map(|k| layer.values[k])
    }

    pub(super) fn normal(&self, stored: usize) -> [f32; 3] {
        let own = match (&self.computed_normals, self.mesh.normals()) {
            (Some(computed), _) => computed[self.seams.vertex_of[stored] as usize],
            (None, Some(layer)) => self.value(layer, stored).unwrap_or(DVec3::ZERO),
            (None, None) => DVec3::ZERO,
        };

        // A normal of about unit length keeps its bits, so that files survive a round trip.
        let length = own.length();
        let unit = if (length - 1.0).abs() < 1e-4 {
            own
        } else {
            own.normalize_or(DVec3::Z)
        };

        single(unit)
    }

    /// The stored colours, if they are still those of the mesh.
    fn colors(&self, set: usize, block: &Block) -> Vec<[f32; 4]> {
        let own = &self.mesh.colors()[set].values;
        let of_vertex = |s: usize| own[self.seams.vertex_of[s] as usize].as_vec4().to_array();
        match self.seams.colors.get(set) {
            Some(stored) if self.stored_colors[set] => stored[block.range()].to_vec(),
            _ => block.range().map(of_vertex).collect(),
        }
    }

    /// The number of corners without UV in parts with UV, over all sets.
    pub(in crate::formats::gltf) fn unset_uvs(&self) -> usize {
        let layers = self.mesh.uv_layers();
        let mut unset = 0;
        for (face, &part) in self.seams.part_of_face.iter().enumerate() {
            let block = self.seams.parts[part as usize].block;
            let sets = self.seams.blocks[block].uv_sets.min(layers.len());
            let corners = self.mesh.face_corners(face);
            for layer in &layers[..sets] {
                let values = &layer.corners[corners.clone()];
                unset += values.iter().filter(|value| value.is_none()).count();
            }
        }

        unset
    }

    /// The triangle fans of faces, counted from the first vertex of their block.
    pub(in crate::formats::gltf) fn indices(&self, faces: &[u32], start: usize) -> Vec<u32> {
        let mut indices = Vec::with_capacity(faces.len() * 6);
        for &face in faces {
            let corners = &self.seams.corners[self.mesh.face_corners(face as usize)];
            for k in 1..corners.len() - 1 {
                indices.extend([corners[0], corners[k], corners[k + 1]].map(|s| s - start as u32));
            }
        }
        indices
    }

    /// The displacements of stored vertices, ascending, from those of vertices, ascending.
    pub(in crate::formats::gltf) fn stored(
        &self,
        moved: impl Iterator<Item = (u32, [f32; 3])>,
    ) -> Displacements {
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

    /// The stored vertices of a vertex.
    pub(super) fn stored_vertices(&self, vertex: u32) -> impl Iterator<Item = u32> {
        let all = self.stored_of.as_ref();
        let (list, only): (&[u32], Option<u32>) = match all {
            None => (&[], Some(vertex)),
            Some((stored, starts)) => {
                let from = starts[vertex as usize] as usize;
                let to = starts[vertex as usize + 1] as usize;
                (&stored[from..to], None)
            }
        };
        list.iter().copied().chain(only)
    }

    /// The displacements from the neutral, as rounded in the file, to `positions`.
    pub(in crate::formats::gltf) fn moved_to(&self, positions: &[DVec3]) -> Vec<(u32, [f32; 3])> {
        let mut moved = Vec::new();
        for (v, (rest, to)) in self.mesh.positions().iter().zip(positions).enumerate() {
            // A vertex whose stored position is the same in both did not move; the rounding of its
            // neutral would otherwise make every frame dense.
            let stored = single(*rest);
            if stored == single(*to) {
                continue;
            }
            let delta = single(*to - DVec3::from_array(stored.map(f64::from)));
            moved.push((v as u32, delta));
        }

        moved
    }
}

/// Whether the stored colours of a set are those of the mesh.
fn colors_are_as_stored(mesh: &Mesh, seams: &Seams, set: usize) -> bool {
    let Some(stored) = seams
        .colors
        .get(set)
        .filter(|stored| stored.len() == seams.vertex_of.len())
    else {
        return false;
    };

    let representatives = representatives(&seams.vertex_of, mesh.vertex_count());
    representatives
        .iter()
        .zip(&mesh.colors()[set].values)
        .all(|(&s, color)| stored[s as usize] == color.as_vec4().to_array())
}

/// A point in single precision, clamped to its range.
fn single(point: DVec3) -> [f32; 3] {
    point
        .to_array()
        .map(|x| (x as f32).clamp(f32::MIN, f32::MAX))
}

/// Normals of vertices: the mean of the triangle normals, weighted by area. Viewers need some
/// normals, and this needs no topology.
fn smooth_normals(mesh: &Mesh) -> Vec<DVec3> {
    let mut normals = vec![DVec3::ZERO; mesh.vertex_count()];
    for (triangle, corners) in mesh.triangles().iter().enumerate() {
        let [a, b, c] = mesh.triangle_points(triangle);
        let area = (b - a).cross(c - a);
        for &v in corners {
            normals[v as usize] += area;
        }
    }

    for normal in &mut normals {
        *normal = normal.normalize_or(DVec3::Z);
    }

    normals
}
