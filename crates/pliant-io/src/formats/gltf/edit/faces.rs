//! New primitives of a mesh whose faces or joints changed.
//!
//! The mesh, its nodes, its name and its `extras` stay. A new primitive keeps the `extras` and
//! extensions of the old one of the same material; primitives of lines stay as they are. Tangents and
//! attributes of other programs belong to the old vertices and are reported as left out.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::DocumentEdit;
use super::mesh::TargetSource;
use crate::gltf::document::{Attributes, POINTS};
use crate::gltf::write::{FrameTargets, MeshLayout, joint_attributes};

/// Extensions that describe how the old vertices were stored.
const OF_STORAGE: [&str; 2] = ["KHR_draco_mesh_compression", "EXT_mesh_gpu_instancing"];

impl<'a> DocumentEdit<'a> {
    /// Replaces the primitives of the mesh of an object.
    pub(super) fn new_primitives(&mut self, k: usize, frames: &FrameTargets<'a>) -> Option<()> {
        let object = &self.asset.objects[k];
        let mesh = object.rig.neutral();
        let known = object.seams.clone()?;
        let seams = if known.fit(mesh) {
            known
        } else {
            Arc::new(known.for_mesh(mesh))
        };
        let mut layout = MeshLayout::of(object, &seams);
        if !self.stores_target_normals(k) {
            layout = layout.without_target_normals();
        }

        let mut attributes: Vec<Attributes> = Vec::with_capacity(seams.blocks.len());
        for block in &seams.blocks {
            let mut own = layout.attributes(block, &mut self.buffer, |_| true);
            if let Some(binding) = object.fitting_skin() {
                joint_attributes(&binding.skin, &seams, block, &mut self.buffer, &mut own);
            }
            attributes.push(own);
        }

        let targets = self.target_sources(k, &layout, frames);
        let primitives = self.primitives(k, &layout, &attributes, &targets)?;
        self.report_lost_attributes(k, &attributes);
        let count = targets.len();
        self.mesh_json(k)?
            .insert("primitives".into(), Value::Array(primitives));
        self.remap_mesh_weights(k, count)?;
        self.own_extras(k, &layout, count)?;
        self.target_names(k, frames)
    }

    fn primitives(
        &mut self,
        k: usize,
        layout: &MeshLayout<'_>,
        attributes: &[Attributes],
        targets: &[TargetSource],
    ) -> Option<Vec<Value>> {
        let old = self.mesh_json(k)?.get("primitives")?.as_array()?.clone();
        let read = self.primitives_of_parts(k);
        let mut primitives = Vec::new();
        for (part, faces) in layout.seams.parts.iter().zip(&layout.faces_of_parts) {
            let block = &layout.seams.blocks[part.block];
            if block.count == 0 {
                continue;
            }

            let label = faces.first();
            let label = label.and_then(|&face| layout.mesh.materials().of(face as usize));
            let material = self.material_of(label, &old);
            let mut fields = rest_of_primitive(&old, material);
            fields.insert("attributes".into(), json!(attributes[part.block]));
            // A part without faces shows its vertices as points.
            let indices = layout.indices(faces, block.start);
            if indices.is_empty() {
                fields.insert("mode".into(), json!(POINTS));
            } else {
                let indices = self.buffer.triangles(&indices, block.count);
                fields.insert("indices".into(), json!(indices));
            }

            let mut of_part = Vec::with_capacity(targets.len());
            for target in targets {
                let TargetSource::New(of_blocks) = target else {
                    return None;
                };
                of_part.push(json!(of_blocks[part.block]));
            }
            if !of_part.is_empty() {
                fields.insert("targets".into(), Value::Array(of_part));
            }
            primitives.push(Value::Object(fields));
        }

        let mut others = old.into_iter().enumerate();
        primitives.extend(
            others
                .by_ref()
                .filter(|(index, _)| !read.contains(index))
                .map(|(_, primitive)| primitive),
        );
        Some(primitives)
    }

    /// The material of faces with a label; without one, that of the first primitive.
    fn material_of(&self, label: Option<&str>, old: &[Value]) -> Option<usize> {
        let labels = &self.source.material_labels;
        let label = label.filter(|label| !label.is_empty());
        match label {
            Some(label) => labels.iter().position(|known| known == label),
            None => {
                let first = old.iter().find_map(material_of_primitive)?;
                labels.get(first).filter(|label| label.is_empty())?;
                Some(first)
            }
        }
    }

    fn report_lost_attributes(&mut self, k: usize, attributes: &[Attributes]) {
        let mesh = &self.source.document.meshes[self.before.placed[k].mesh];
        let old = mesh.primitives.iter().flat_map(|p| p.attributes.keys());
        let new: BTreeSet<&String> = attributes.iter().flat_map(Attributes::keys).collect();
        let lost: BTreeSet<&String> = old
            .filter(|name| name.starts_with('_') || *name == "TANGENT")
            .filter(|name| !new.contains(name))
            .collect();
        for attribute in lost {
            self.left_out.push(format!(
                "the vertex attribute '{}' of mesh '{}', whose faces changed",
                attribute.escape_debug(),
                self.asset.objects[k].name()
            ));
        }
    }
}

fn material_of_primitive(primitive: &Value) -> Option<usize> {
    let material = primitive.get("material").and_then(Value::as_u64)?;
    Some(material as usize)
}

/// The fields of the first old primitive of a material that do not describe its vertices.
fn rest_of_primitive(old: &[Value], material: Option<usize>) -> Map<String, Value> {
    let mut same = old.iter().filter(|p| material_of_primitive(p) == material);
    let mut fields = match same.next() {
        Some(Value::Object(fields)) => fields.clone(),
        _ => Map::new(),
    };
    for key in ["attributes", "indices", "targets", "mode"] {
        fields.remove(key);
    }
    if let Some(extensions) = fields.get_mut("extensions").and_then(Value::as_object_mut) {
        extensions.retain(|name, _| !OF_STORAGE.contains(&name.as_str()));
        if extensions.is_empty() {
            fields.remove("extensions");
        }
    }
    if let Some(material) = material {
        fields.insert("material".into(), json!(material));
    }
    fields
}
