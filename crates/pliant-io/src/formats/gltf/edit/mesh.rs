//! Edits of a mesh: new attributes, targets, names and weights; everything else stays.

use serde_json::{Map, Value, json};

use super::DocumentEdit;
use crate::gltf::document::Attributes;
use crate::gltf::extras::KEY;
use crate::gltf::read::read_primitives;
use crate::gltf::seams::Seams;
use crate::gltf::write::{FrameTargets, MeshLayout, mesh_extras};

/// A target as the attributes of each block, or a target that the file has already.
enum TargetSource {
    Stored(usize),
    New(Vec<Attributes>),
}

impl<'a> DocumentEdit<'a> {
    /// Edits the mesh of an object where it differs from its original.
    pub(super) fn mesh(&mut self, k: usize, frames: &mut FrameTargets<'a>) -> Option<()> {
        let object = &self.asset.objects[k];
        frames.begin(k, object.rig.targets().len());
        let changes = self.changes[k].clone();
        if !changes.any() {
            return Some(());
        }

        self.changed = true;
        let seams = object.seams.clone()?;
        let mut layout = MeshLayout::of(object, &seams);
        if !self.stores_target_normals(k) {
            layout = layout.without_target_normals();
        }
        if changes.attributes() {
            self.attributes(k, &layout)?;
        }

        let mut names: Vec<String> = object
            .rig
            .targets()
            .iter()
            .map(|t| t.name.clone())
            .collect();
        let frame_names: Vec<String> = frames.of_object(k).map(|(name, _)| name).collect();
        let real = names.len();
        names.extend(frame_names);
        if changes.target_list() {
            let sources = self.target_sources(k, &layout, frames);
            self.targets(k, &seams, &sources)?;
        }
        if changes.target_list() || changes.rest_weights {
            self.rest_weights(k, names.len())?;
        }

        // The weld map keeps the order of vertices whatever targets are there.
        if changes.attributes() || changes.target_list() || changes.labels {
            let mut own = mesh_extras(object, self.settings[k].as_ref(), &layout, &mut self.buffer);
            own.targets = (names.len() > real).then_some(real);
            let extras = self.mesh_extras(k)?;
            extras.insert(KEY.into(), json!(own));
            if changes.target_list() {
                extras.insert("targetNames".into(), json!(names));
            }
        }

        Some(())
    }

    /// The JSON of the mesh of an object.
    fn mesh_json(&mut self, k: usize) -> Option<&mut Map<String, Value>> {
        let mesh = self.before.placed[k].mesh;
        self.json.get_mut("meshes")?.get_mut(mesh)?.as_object_mut()
    }

    /// Whether new targets get normals: as those in the file, or if it has none.
    fn stores_target_normals(&self, k: usize) -> bool {
        let mesh = &self.source.document.meshes[self.before.placed[k].mesh];
        let mut targets = mesh.primitives.iter().flat_map(|p| &p.targets).peekable();
        targets.peek().is_none() || targets.any(|target| target.contains_key("NORMAL"))
    }

    fn mesh_extras(&mut self, k: usize) -> Option<&mut Map<String, Value>> {
        let extras = self.mesh_json(k)?.entry("extras").or_insert(Value::Null);
        if !extras.is_object() {
            *extras = json!({});
        }
        extras.as_object_mut()
    }

    /// For each part of the mesh, its primitive in the document.
    fn primitives_of_parts(&self, k: usize) -> Vec<usize> {
        let mesh = self.before.placed[k].mesh;
        read_primitives(&self.source.document.meshes[mesh])
    }

    fn primitive_json(&mut self, k: usize, primitive: usize) -> Option<&mut Map<String, Value>> {
        let primitives = self.mesh_json(k)?.get_mut("primitives")?;
        primitives.get_mut(primitive)?.as_object_mut()
    }

    /// Replaces the attributes that differ.
    fn attributes(&mut self, k: usize, layout: &MeshLayout<'_>) -> Option<()> {
        let changes = self.changes[k].clone();
        let wanted = |name: &str| match name {
            "POSITION" => changes.positions,
            "NORMAL" => changes.positions || changes.normals,
            _ if name.starts_with("TEXCOORD_") => changes.uvs,
            _ => changes.colors,
        };

        let mut of_blocks = Vec::with_capacity(layout.seams.blocks.len());
        for block in &layout.seams.blocks {
            of_blocks.push(layout.attributes(block, &mut self.buffer, wanted));
        }

        let primitives = self.primitives_of_parts(k);
        for (part, primitive) in layout.seams.parts.iter().zip(primitives) {
            let attributes = self.primitive_json(k, primitive)?.get_mut("attributes")?;
            let attributes = attributes.as_object_mut()?;
            for (name, accessor) in &of_blocks[part.block] {
                attributes.insert(name.clone(), json!(accessor));
            }

            // Tangents belong to the old normals; viewers compute missing ones.
            if wanted("NORMAL") || changes.uvs {
                attributes.remove("TANGENT");
            }
        }

        Some(())
    }

    /// The targets of the rig and the frames of clips, in the order of the file.
    fn target_sources(
        &mut self,
        k: usize,
        layout: &MeshLayout<'_>,
        frames: &FrameTargets<'_>,
    ) -> Vec<TargetSource> {
        let stored = &self.changes[k].stored_target;
        let mut sources = Vec::new();
        for (target, stored) in layout.object.rig.targets().iter().zip(stored) {
            sources.push(match stored {
                Some(index) => TargetSource::Stored(*index),
                None => TargetSource::New(layout.target_attributes(target, None, &mut self.buffer)),
            });
        }

        for (_, positions) in frames.of_object(k) {
            let attributes = layout.frame_attributes(positions, &mut self.buffer);
            sources.push(TargetSource::New(attributes));
        }

        sources
    }

    /// Replaces the targets of all primitives.
    fn targets(&mut self, k: usize, seams: &Seams, sources: &[TargetSource]) -> Option<()> {
        let primitives = self.primitives_of_parts(k);
        for (part, primitive) in seams.parts.iter().zip(primitives) {
            let json = self.primitive_json(k, primitive)?;
            let old = json.remove("targets").unwrap_or_default();
            let mut targets = Vec::with_capacity(sources.len());
            for source in sources {
                targets.push(match source {
                    TargetSource::Stored(index) => old.get(*index)?.clone(),
                    TargetSource::New(of_blocks) => json!(of_blocks[part.block]),
                });
            }

            if !targets.is_empty() {
                json.insert("targets".into(), Value::Array(targets));
            }
        }

        Some(())
    }

    /// Writes the rest weights of the mesh and of the nodes that override them.
    fn rest_weights(&mut self, k: usize, count: usize) -> Option<()> {
        let mut weights = self.asset.objects[k].rest_weights.clone();
        weights.resize(count, 0.0);
        let weights = json!(weights);

        let mesh = self.mesh_json(k)?;
        if count == 0 {
            mesh.remove("weights");
        } else {
            mesh.insert("weights".into(), weights.clone());
        }

        let index = self.before.placed[k].mesh;
        let nodes = self.json.get_mut("nodes").and_then(Value::as_array_mut);
        for node in nodes.into_iter().flatten() {
            let shows = node.get("mesh").and_then(Value::as_u64) == Some(index as u64);
            let node = node.as_object_mut().filter(|_| shows);
            if let Some(node) = node.filter(|node| node.contains_key("weights")) {
                if count == 0 {
                    node.remove("weights");
                } else {
                    node.insert("weights".into(), weights.clone());
                }
            }
        }

        Some(())
    }
}
