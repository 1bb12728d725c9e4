//! Edits of a mesh: new attributes, targets, names and weights; everything else stays.

use serde_json::{Map, Value, json};

use super::DocumentEdit;
use crate::gltf::document::Attributes;
use crate::gltf::extras::KEY;
use crate::gltf::read::read_primitives;
use crate::gltf::seams::Seams;
use crate::gltf::write::{FrameTargets, MeshLayout, mesh_extras};

/// A target as the attributes of each block, or a target that the file has already.
pub(super) enum TargetSource {
    Stored(usize),
    New(Vec<Attributes>),
}

impl<'a> DocumentEdit<'a> {
    /// Edits the mesh of an object where it differs from its original.
    pub(super) fn mesh(&mut self, k: usize, frames: &mut FrameTargets<'a>) -> Option<()> {
        let object = &self.asset.objects[k];
        frames.begin(k, object.rig.targets().len());
        let count = object.rig.targets().len() + frames.of_object(k).count();
        self.target_counts.push(count);
        let changes = self.changes[k].clone();
        if !changes.any() {
            return Some(());
        }

        self.changed = true;
        if self.follows(k) {
            return self.node_weights(k, count);
        }
        if changes.new_faces {
            self.new_primitives(k, frames)?;
            return self.node_weights(k, count);
        }

        let seams = object.seams.clone()?;
        let mut layout = MeshLayout::of(object, &seams);
        if !self.stores_target_normals(k) {
            layout = layout.without_target_normals();
        }
        if changes.attributes() {
            self.attributes(k, &layout)?;
        }
        if changes.target_list() {
            let sources = self.target_sources(k, &layout, frames);
            self.targets(k, &seams, &sources)?;
            self.remap_mesh_weights(k, count)?;
        }
        self.node_weights(k, count)?;

        // The weld map keeps the order of vertices whatever targets are there.
        if changes.attributes() || changes.target_list() || changes.labels {
            self.own_extras(k, &layout, count)?;
        }
        if changes.target_list() || changes.names {
            self.target_names(k, frames)?;
        }

        Some(())
    }

    /// The weights of the nodes that show the mesh of an object.
    fn node_weights(&mut self, k: usize, count: usize) -> Option<()> {
        if self.changes[k].target_list() {
            let sources = self.changes[k].source_target.clone();
            for node in self.nodes_of(k) {
                remap(self.node_json(node)?, &sources, count, false);
            }
        }
        if self.changes[k].rest_weights {
            self.rest_weights(k, count)?;
        }
        Some(())
    }

    /// Replaces our own notes on the mesh, which is written with `count` targets.
    pub(super) fn own_extras(
        &mut self,
        k: usize,
        layout: &MeshLayout<'_>,
        count: usize,
    ) -> Option<()> {
        let object = layout.object;
        let settings = self.settings[k].as_ref();
        let mut own = mesh_extras(object, settings, layout, &mut self.buffer);
        let real = object.rig.targets().len();
        own.targets = (count > real).then_some(real);
        self.mesh_extras(k)?.insert(KEY.into(), json!(own));
        Some(())
    }

    /// Replaces the names of the targets.
    pub(super) fn target_names(&mut self, k: usize, frames: &FrameTargets<'a>) -> Option<()> {
        let targets = self.asset.objects[k].rig.targets().iter();
        let mut names: Vec<String> = targets.map(|target| target.name.clone()).collect();
        names.extend(frames.of_object(k).map(|(name, _)| name));
        self.mesh_extras(k)?
            .insert("targetNames".into(), json!(names));
        Some(())
    }

    /// The JSON of the mesh of an object.
    pub(super) fn mesh_json(&mut self, k: usize) -> Option<&mut Map<String, Value>> {
        self.mesh_value(k)?.as_object_mut()
    }

    /// Whether new targets get normals: if the vertices have some, and as those in the file.
    pub(super) fn stores_target_normals(&self, k: usize) -> bool {
        if self.asset.plain_targets {
            return false;
        }
        let mesh = &self.source.document.meshes[self.before.placed[k].mesh];
        let mut primitives = mesh.primitives.iter();
        if !primitives.all(|p| p.attributes.contains_key("NORMAL")) {
            return false;
        }

        let mut targets = mesh.primitives.iter().flat_map(|p| &p.targets).peekable();
        targets.peek().is_none() || targets.any(|target| target.contains_key("NORMAL"))
    }

    /// The `extras` of the mesh of an object.
    fn mesh_extras(&mut self, k: usize) -> Option<&mut Map<String, Value>> {
        let extras = self.mesh_json(k)?.entry("extras").or_insert(Value::Null);
        if !extras.is_object() {
            *extras = json!({});
        }
        extras.as_object_mut()
    }

    /// For each part of the mesh, its primitive in the document.
    pub(super) fn primitives_of_parts(&self, k: usize) -> Vec<usize> {
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
    pub(super) fn target_sources(
        &mut self,
        k: usize,
        layout: &MeshLayout<'_>,
        frames: &FrameTargets<'_>,
    ) -> Vec<TargetSource> {
        let stored = &self.changes[k].stored_target;
        let tangents = self
            .stored_tangents(k)
            .filter(|_| !self.asset.plain_targets);
        let buffer = &mut self.buffer;
        let mut sources = Vec::new();
        for (target, stored) in layout.object.rig.targets().iter().zip(stored) {
            sources.push(match stored {
                Some(index) => TargetSource::Stored(*index),
                None => {
                    let mut attributes = layout.target_attributes(target, None, buffer);
                    if let Some(tangents) = &tangents {
                        tangents.add_target(layout, target, buffer, &mut attributes);
                    }
                    TargetSource::New(attributes)
                }
            });
        }

        for (_, positions) in frames.of_object(k) {
            let attributes = layout.frame_attributes(positions, buffer);
            sources.push(TargetSource::New(attributes));
        }

        sources
    }

    /// Replaces the targets of all primitives.
    fn targets(&mut self, k: usize, seams: &Seams, sources: &[TargetSource]) -> Option<()> {
        let plain = self.asset.plain_targets;
        let primitives = self.primitives_of_parts(k);
        for (part, primitive) in seams.parts.iter().zip(primitives) {
            let json = self.primitive_json(k, primitive)?;
            let old = json.remove("targets").unwrap_or_default();
            let mut targets = Vec::with_capacity(sources.len());
            for source in sources {
                targets.push(match source {
                    TargetSource::Stored(index) => {
                        let mut target = old.get(*index)?.clone();
                        if plain {
                            remove_directions(&mut target);
                        }
                        target
                    }
                    TargetSource::New(of_blocks) => json!(of_blocks[part.block]),
                });
            }

            if !targets.is_empty() {
                json.insert("targets".into(), Value::Array(targets));
            }
        }

        Some(())
    }

    fn node_json(&mut self, node: usize) -> Option<&mut Map<String, Value>> {
        self.json.get_mut("nodes")?.get_mut(node)?.as_object_mut()
    }

    /// The weights of a mesh in the file, adapted to the new list of `count` targets.
    pub(super) fn remap_mesh_weights(&mut self, k: usize, count: usize) -> Option<()> {
        let sources = self.changes[k].source_target.clone();
        remap(self.mesh_json(k)?, &sources, count, true);
        Some(())
    }

    /// Writes the rest weights where the node of the object takes them from. Other nodes keep theirs.
    fn rest_weights(&mut self, k: usize, count: usize) -> Option<()> {
        let mut weights = self.asset.objects[k].rest_weights.clone();
        weights.resize(count, 0.0);
        let is_instanced = self.is_instanced(k);
        let node = self.before.placed[k].chain.first().copied();
        let of_node = match node {
            Some(node) => is_instanced || self.node_json(node)?.contains_key("weights"),
            None => false,
        };

        let fields = match node.filter(|_| of_node) {
            Some(node) => self.node_json(node)?,
            None => self.mesh_json(k)?,
        };
        fields.insert("weights".into(), json!(weights));

        Some(())
    }
}

/// Removes the displacements of normals and tangents of a target.
fn remove_directions(target: &mut Value) {
    if let Some(attributes) = target.as_object_mut() {
        attributes.remove("NORMAL");
        attributes.remove("TANGENT");
    }
}

/// Replaces a list of weights by those of `count` targets with the given `sources`; new targets have
/// weight 0. A `required` list is added if it is missing.
fn remap(fields: &mut Map<String, Value>, sources: &[Option<usize>], count: usize, required: bool) {
    let old = fields.remove("weights");
    if count == 0 || (old.is_none() && !required) {
        return;
    }

    let old = old.as_ref().and_then(Value::as_array);
    let weight = |source: &Option<usize>| source.and_then(|k| old?.get(k).cloned());
    let mut weights: Vec<Value> = sources
        .iter()
        .map(|source| weight(source).unwrap_or_else(|| json!(0.0)))
        .collect();
    weights.resize(count, json!(0.0));
    fields.insert("weights".into(), Value::Array(weights));
}
