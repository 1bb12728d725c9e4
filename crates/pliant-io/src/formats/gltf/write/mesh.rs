//! One object as a glTF mesh: primitives, morph targets and `extras`.

use std::sync::Arc;

use pliant_mesh::FaceLabels;
use pliant_rig::RigSettings;
use serde_json::{Value, json};

use super::DocumentWriter;
use super::animation::FrameTargets;
use super::buffer_builder::BufferBuilder;
use super::mesh_layout::MeshLayout;
use super::skin::Skins;
use crate::Object;
use crate::gltf::document::{self, Attributes, POINTS, Primitive};
use crate::gltf::extras::{KEY, LabelExtras, MeshExtras, default_target_name};
use crate::gltf::seams::{Displacements, Seams};

/// For each target, its attributes block by block; and the names of all targets.
type WrittenTargets = (Vec<Vec<Attributes>>, Vec<String>);

impl DocumentWriter {
    /// The mesh of object `index`.
    pub(super) fn mesh(
        &mut self,
        index: usize,
        object: &Object,
        settings: Option<&RigSettings>,
        skins: &Skins<'_>,
        frames: &mut FrameTargets<'_>,
    ) -> document::Mesh {
        let mesh = object.rig.neutral();
        let seams = match &object.seams {
            Some(seams) if seams.fit(mesh) => Arc::clone(seams),
            _ => Arc::new(Seams::of(mesh)),
        };

        let mut layout = MeshLayout::of(object, &seams);
        if self.plain_targets {
            layout = layout.without_target_normals();
        }
        let attributes = self.attributes(index, &layout, skins);
        let unset_uvs = layout.unset_uvs();
        if unset_uvs > 0 {
            self.left_out.push(format!(
                "{unset_uvs} corner(s) without UV among corners with UV (written as 0, 0)"
            ));
        }

        let (targets, names) = self.targets(index, &layout, frames);
        let primitives = self.primitives(&layout, &attributes, &targets);

        let mut own = mesh_extras(object, settings, &layout, &mut self.buffer);
        let real_targets = object.rig.targets().len();
        own.targets = (names.len() > real_targets).then_some(real_targets);
        let mut extras = json!({ KEY: own });
        let mut numbered = names.iter().enumerate();
        if numbered.any(|(k, name)| *name != default_target_name(k)) {
            extras["targetNames"] = json!(names);
        }

        let weights = (!names.is_empty()).then(|| {
            let mut weights = object.rest_weights.clone();
            weights.resize(names.len(), 0.0);
            weights
        });

        document::Mesh {
            name: Some(mesh.name().to_owned()).filter(|name| !name.is_empty()),
            primitives,
            weights,
            extras,
        }
    }

    /// The vertex attributes of each block of stored vertices.
    fn attributes(
        &mut self,
        index: usize,
        layout: &MeshLayout<'_>,
        skins: &Skins<'_>,
    ) -> Vec<Attributes> {
        let seams = layout.seams;
        let mut attributes = Vec::with_capacity(seams.blocks.len());
        for block in &seams.blocks {
            attributes.push(layout.attributes(block, &mut self.buffer, |_| true));
        }

        for (block, attributes) in seams.blocks.iter().zip(&mut attributes) {
            skins.attributes(index, seams, block, &mut self.buffer, attributes);
        }

        attributes
    }

    /// The primitive of each part that has vertices.
    fn primitives(
        &mut self,
        layout: &MeshLayout<'_>,
        attributes: &[Attributes],
        targets: &[Vec<Attributes>],
    ) -> Vec<Primitive> {
        let seams = layout.seams;
        let mut primitives = Vec::new();
        for (part, faces) in seams.parts.iter().zip(&layout.faces_of_parts) {
            let block = &seams.blocks[part.block];
            if block.count == 0 {
                continue;
            }

            // A part without faces shows its vertices as points.
            let indices = layout.indices(faces, block.start);
            let (indices, mode) = if indices.is_empty() {
                (None, Some(POINTS))
            } else {
                (Some(self.buffer.triangles(&indices, block.count)), None)
            };

            let label = faces.first();
            let label = label.and_then(|&face| layout.mesh.materials().of(face as usize));
            let material = part
                .material
                .map(|k| self.labelled_material(label, &seams.materials[k]));
            primitives.push(Primitive {
                attributes: attributes[part.block].clone(),
                indices,
                mode,
                material,
                targets: targets
                    .iter()
                    .map(|of_block| of_block[part.block].clone())
                    .collect(),
                ..Primitive::default()
            });
        }

        primitives
    }

    /// The targets, then the frames of clips.
    fn targets(
        &mut self,
        index: usize,
        layout: &MeshLayout<'_>,
        frames: &mut FrameTargets<'_>,
    ) -> WrittenTargets {
        let rig = &layout.object.rig;
        let wanted = layout.mesh.normals().is_some() && !self.plain_targets;
        let normals = if wanted {
            self.stored_normals(layout)
        } else {
            Vec::new()
        };
        let with_normals = normals.len() == rig.targets().len();

        let mut targets = Vec::new();
        let mut names = Vec::new();
        for (k, target) in rig.targets().iter().enumerate() {
            let normals = with_normals.then(|| &normals[k]);
            targets.push(layout.target_attributes(target, normals, &mut self.buffer));
            names.push(target.name.clone());
        }

        frames.begin(index, names.len());
        for (name, positions) in frames.of_object(index) {
            targets.push(layout.frame_attributes(positions, &mut self.buffer));
            names.push(name);
        }

        (targets, names)
    }
}

impl DocumentWriter {
    /// How targets displace normals, as the file says that the object was read from; empty if it was
    /// read from no glTF file.
    fn stored_normals(&self, layout: &MeshLayout<'_>) -> Vec<Displacements> {
        let (Some(original), Some(object)) = (&self.original, layout.object.original) else {
            return Vec::new();
        };
        let seams = layout.object.seams.as_deref();
        if !seams.is_some_and(|seams| std::ptr::eq(seams, layout.seams)) {
            return Vec::new(); // Other vertices are stored now.
        }
        original
            .target_normals(object, &layout.seams.blocks)
            .unwrap_or_default()
    }
}

/// What glTF cannot store of the object and the `settings` of its rig. The order of the lists is their order in the file.
pub(in crate::formats::gltf) fn mesh_extras(
    object: &Object,
    settings: Option<&RigSettings>,
    layout: &MeshLayout<'_>,
    buffer: &mut BufferBuilder,
) -> MeshExtras {
    let mesh = layout.mesh;
    let order: Vec<u32> = layout.faces_of_parts.iter().flatten().copied().collect();
    let face_sizes = mesh.faces().any(|face| face.len() != 3).then(|| {
        let size = |&face: &u32| mesh.face(face as usize).len() as u32;
        let sizes: Vec<u32> = order.iter().map(size).collect();
        buffer.list("face_sizes", &sizes)
    });
    let face_order = (!order.is_sorted()).then(|| buffer.list("face_order", &order));

    let mut uv_names: Vec<String> = mesh
        .uv_layers()
        .iter()
        .map(|layer| layer.name.clone())
        .collect();
    if uv_names.iter().all(String::is_empty) {
        uv_names.clear();
    }

    MeshExtras {
        vertices: mesh.vertex_count(),
        weld: Some(buffer.list("weld", &layout.seams.vertex_of)),
        face_sizes,
        face_order,
        computed_normals: layout.computed_normals.is_some(),
        groups: label_extras(buffer, "groups", mesh.groups()),
        smoothing: label_extras(buffer, "smoothing", &object.smoothing),
        material_library: mesh.material_library().to_vec(),
        uv_names,
        file_index: object
            .file_index
            .as_ref()
            .map(|index| buffer.list("file_index", index)),
        targets: None,
        rig: settings.map_or(Value::Null, |settings| json!(settings)),
    }
}

fn label_extras(
    buffer: &mut BufferBuilder,
    name: &str,
    labels: &FaceLabels,
) -> Option<LabelExtras> {
    if labels.of_face.is_empty() {
        return None;
    }
    Some(LabelExtras {
        names: labels.names.clone(),
        of_face: buffer.list(name, &labels.of_face),
    })
}
