//! One glTF mesh as a rig: welded vertices, polygons, UV sets, normals, colours and materials.

use std::collections::HashMap;
use std::sync::Arc;

use pliant_mesh::glam::{DAffine3, DMat3, DVec2, DVec3, DVec4};
use pliant_mesh::{CornerLayer, FaceLabels, MeshBuilder, VertexLayer};
use pliant_rig::Rig;
use serde_json::Value;

use super::accessor::Source;
use super::polygons::Polygons;
use super::primitive::{StoredMesh, add_displacements, read_primitives};
use super::scene::PlacedMesh;
use super::skin::BoundSkin;
use super::{extras, morph, weld};
use crate::gltf::document;
use crate::gltf::extras::{MeshExtras, parse};
use crate::gltf::seams::{Block, Displacements, Seams, representatives};
use crate::{ReadError, SkinBinding};

/// A mesh between its stored vertices and the finished object.
pub(super) struct MeshAssembly<'a> {
    source: &'a Source<'a>,
    mesh: &'a document::Mesh,
    pub(super) stored: StoredMesh,
    scene_from_mesh: DAffine3,
    /// What our own writer noted about the mesh; empty for files of other programs.
    own: MeshExtras,
    /// For each stored vertex, its vertex.
    vertex_of: Vec<u32>,
    vertices: usize,
}

impl<'a> MeshAssembly<'a> {
    /// Welds the stored vertices: as our own file says, or by their values.
    pub(super) fn new(
        source: &'a Source<'a>,
        mesh: &'a document::Mesh,
        stored: StoredMesh,
        scene_from_mesh: DAffine3,
        warnings: &mut Vec<String>,
    ) -> Self {
        let mut own: MeshExtras = parse(&mesh.extras).unwrap_or_default();
        let known = known_weld(source, &own, &stored);

        // A program that reordered vertices made the weld map, and all that builds on it, invalid.
        if known.is_none() && own.weld.is_some() {
            let name = mesh.name.as_deref().unwrap_or_default();
            warnings.push(format!(
                "mesh '{name}' was changed by another program after it was written; its original vertex order is lost"
            ));
            own = MeshExtras {
                targets: own.targets,
                ..MeshExtras::default()
            };
        }

        let vertex_of = known.unwrap_or_else(|| weld::weld(&stored));
        let vertices = vertex_of.iter().map(|&v| v as usize + 1).max().unwrap_or(0);

        Self {
            source,
            mesh,
            stored,
            scene_from_mesh,
            own,
            vertex_of,
            vertices,
        }
    }

    /// The rig, how the file stores its vertices, and the notes of our own writer.
    pub(super) fn build(mut self, name: String) -> Result<(Rig, Seams, MeshExtras), ReadError> {
        let polygons = self.polygons();
        let representatives = representatives(&self.vertex_of, self.vertices);
        let targets = morph::targets(
            self.mesh,
            std::mem::take(&mut self.stored.targets),
            &self.vertex_of,
            &representatives,
            self.scene_from_mesh.matrix3,
        );

        let positions = representatives
            .iter()
            .map(|&s| placed(&self.scene_from_mesh, self.stored.positions[s as usize]))
            .collect();

        let materials = self.material_labels(&polygons);
        let budget = &self.source.buffers.budget;
        budget.spend_texts(&materials.names, "the labels of faces")?;
        // Each layer has an index for each corner, each set a value for each vertex.
        let layers = self.stored.uvs.len() + usize::from(!self.stored.normals.is_empty());
        budget.spend(layers.saturating_mul(polygons.corners.len()), "the corners")?;
        let builder = MeshBuilder {
            name,
            positions,
            face_sizes: polygons.sizes.clone(),
            corners: polygons
                .corners
                .iter()
                .map(|&s| self.vertex_of[s as usize])
                .collect(),
            uv_layers: self.uv_layers(&polygons.corners),
            normals: self.normals(&polygons.corners),
            colors: self.colors(&representatives),
            groups: extras::labels(
                self.source,
                self.own.groups.as_ref(),
                "groups",
                polygons.sizes.len(),
            ),
            materials,
            material_library: self.own.material_library.clone(),
        };

        let rig = Rig::new(builder.build()?, targets)?;
        let materials = self.used_materials();
        let seams = Seams {
            vertex_of: self.vertex_of,
            corners: polygons.corners,
            blocks: self.stored.blocks,
            parts: self.stored.parts,
            part_of_face: polygons.parts,
            colors: self.stored.colors,
            materials,
        };

        Ok((rig, seams, self.own))
    }

    /// The skin of the welded vertices.
    pub(super) fn binding(
        &self,
        bound: &BoundSkin,
        name: &str,
        warnings: &mut Vec<String>,
    ) -> Result<SkinBinding, ReadError> {
        let representatives = representatives(&self.vertex_of, self.vertices);
        let (skin, warning) = bound.skin_of(&self.stored, &representatives)?;
        warnings.extend(warning.map(|warning| format!("mesh '{name}': {warning}")));

        Ok(SkinBinding {
            skin: Arc::new(skin),
            skeleton: Arc::clone(&bound.skeleton),
        })
    }

    fn polygons(&self) -> Polygons {
        let triangles = Polygons::triangles(&self.stored);
        let known = Polygons::known(self.source, &self.own, &self.stored);
        let mut polygons = known.unwrap_or(triangles);

        // A transformation that mirrors turns every face inside out.
        if self.scene_from_mesh.matrix3.determinant() < 0.0 {
            polygons.flip();
        }

        polygons
    }

    /// The material name of each face; no labels if no material has a name.
    fn material_labels(&self, polygons: &Polygons) -> FaceLabels {
        let name_of_part = |part: u32| {
            let material = self.stored.parts[part as usize].material;
            material.map_or("", |k| self.source.material_labels[k].as_str())
        };

        let labels = FaceLabels::from_names(polygons.parts.iter().map(|&part| name_of_part(part)));
        if labels.names.iter().all(String::is_empty) {
            FaceLabels::default()
        } else {
            labels
        }
    }

    /// The materials that this mesh uses; the parts are renumbered to index into them.
    fn used_materials(&mut self) -> Vec<Arc<Value>> {
        let mut used = Vec::new();
        let mut index_of = HashMap::new();
        for part in &mut self.stored.parts {
            let Some(material) = part.material else {
                continue;
            };
            let index = *index_of.entry(material).or_insert_with(|| {
                used.push(Arc::clone(&self.source.plain_materials[material]));
                used.len() - 1
            });
            part.material = Some(index);
        }

        used
    }

    fn colors(&self, representatives: &[u32]) -> Vec<VertexLayer<DVec4>> {
        let mut layers = Vec::with_capacity(self.stored.colors.len());
        for set in &self.stored.colors {
            let values = representatives
                .iter()
                .map(|&s| DVec4::from_array(set[s as usize].map(f64::from)))
                .collect();
            layers.push(VertexLayer {
                name: String::new(),
                values,
            });
        }

        layers
    }

    /// UV sets with `v` pointing up; in glTF it points down.
    fn uv_layers(&self, corners: &[u32]) -> Vec<CornerLayer<DVec2>> {
        let mut sets_of_stored = vec![0; self.stored.positions.len()];
        for block in &self.stored.blocks {
            sets_of_stored[block.range()].fill(block.uv_sets);
        }

        let mut layers = Vec::with_capacity(self.stored.uvs.len());
        for (k, set) in self.stored.uvs.iter().enumerate() {
            layers.push(CornerLayer {
                name: self.own.uv_names.get(k).cloned().unwrap_or_default(),
                values: set
                    .iter()
                    .map(|&[u, v]| DVec2::new(f64::from(u), 1.0 - f64::from(v)))
                    .collect(),
                corners: corners
                    .iter()
                    .map(|&s| (sets_of_stored[s as usize] > k).then_some(s))
                    .collect(),
            });
        }

        layers
    }

    fn normals(&self, corners: &[u32]) -> Option<CornerLayer<DVec3>> {
        if self.stored.normals.is_empty() || self.own.computed_normals {
            return None;
        }

        let mut has_normal = vec![false; self.stored.positions.len()];
        for block in &self.stored.blocks {
            has_normal[block.range()].fill(block.normals);
        }

        let matrix = normal_matrix(&self.scene_from_mesh);
        let identity = self.scene_from_mesh == DAffine3::IDENTITY;
        let mut values = Vec::with_capacity(self.stored.normals.len());
        for normal in &self.stored.normals {
            let normal = DVec3::from_array(normal.map(f64::from));
            values.push(if identity {
                normal
            } else {
                (matrix * normal).normalize_or_zero()
            });
        }

        Some(CornerLayer {
            name: String::new(),
            values,
            corners: corners
                .iter()
                .map(|&s| has_normal[s as usize].then_some(s))
                .collect(),
        })
    }
}

/// How the targets of a mesh at a place displace the normals of the stored vertices, in the scene;
/// empty if they do not.
pub(in crate::formats::gltf) fn target_normals(
    source: &Source<'_>,
    placed: &PlacedMesh,
    blocks: &[Block],
) -> Result<Vec<Displacements>, ReadError> {
    let mesh = &source.document.meshes[placed.mesh];
    let mut normals: Vec<Displacements> = Vec::new();
    let mut read = Vec::new();
    let mut blocks = blocks.iter();
    for primitive in read_primitives(mesh).iter().map(|&k| &mesh.primitives[k]) {
        let key = (&primitive.attributes, primitive.targets.as_slice());
        if read.contains(&key) {
            continue;
        }
        read.push(key);
        let Some(block) = blocks.next() else { break };
        for (k, target) in primitive.targets.iter().enumerate() {
            if let Some(&accessor) = target.get("NORMAL") {
                normals.resize_with(primitive.targets.len(), Displacements::default);
                add_displacements(source, accessor, block.range(), &mut normals[k])?;
            }
        }
    }

    if placed.scene_from_mesh != DAffine3::IDENTITY {
        let matrix = normal_matrix(&placed.scene_from_mesh);
        for delta in normals.iter_mut().flat_map(|d| &mut d.deltas) {
            let moved = matrix * DVec3::from_array(delta.map(f64::from));
            *delta = moved.as_vec3().to_array();
        }
    }
    Ok(normals)
}

/// The transformation of normals. A uniform scale keeps their lengths.
fn normal_matrix(transform: &DAffine3) -> DMat3 {
    let determinant = transform.matrix3.determinant();
    if determinant == 0.0 || !determinant.is_finite() {
        return transform.matrix3;
    }
    transform.matrix3.inverse().transpose() * determinant.abs().cbrt()
}

fn placed(transform: &DAffine3, position: [f32; 3]) -> DVec3 {
    let position = DVec3::from_array(position.map(f64::from));
    // The identity would turn infinity into NaN.
    if *transform == DAffine3::IDENTITY {
        position
    } else {
        transform.transform_point3(position)
    }
}

/// The weld map of our own file, if it still fits the stored vertices.
fn known_weld(source: &Source<'_>, own: &MeshExtras, stored: &StoredMesh) -> Option<Vec<u32>> {
    let vertex_of = extras::list(source, own.weld, "weld", stored.positions.len())?;
    if own.vertices > vertex_of.len() || vertex_of.iter().any(|&v| v as usize >= own.vertices) {
        return None;
    }

    // Stored vertices of one vertex must have the same position, and every vertex needs one.
    let representatives = representatives(&vertex_of, own.vertices);
    let bits = |stored_vertex: usize| stored.positions[stored_vertex].map(f32::to_bits);
    let together = vertex_of
        .iter()
        .enumerate()
        .all(|(s, &v)| bits(s) == bits(representatives[v as usize] as usize));

    (together && !representatives.contains(&u32::MAX)).then_some(vertex_of)
}
