//! Writer of glTF: from objects and clips to a document with one buffer.
//!
//! | module | concept |
//! |---|---|
//! | `buffer_builder` | accessors, buffer views and the bytes of the one buffer |
//! | `nodes` | a node for each object, below nodes for its path |
//! | `mesh_layout` | attributes of the stored vertices of one object |
//! | `normal_changes` | how normals turn when a target moves vertices |
//! | `material` | materials, textures and images |
//! | `mesh` | one object → a glTF mesh with primitives and targets |
//! | `skin` | joints as nodes, weights as attributes |
//! | `animation` | clips → animations |

mod animation;
mod buffer_builder;
mod material;
mod mesh;
mod mesh_layout;
mod nodes;
mod normal_changes;
mod skin;

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};

pub(super) use self::animation::{ClipWriter, FrameTargets};
pub(super) use self::buffer_builder::BufferBuilder;
use self::material::{ImageStorage, MaterialWriter};
pub(super) use self::mesh::mesh_extras;
pub(super) use self::mesh_layout::MeshLayout;
use self::skin::Skins;
pub(super) use self::skin::joint_attributes;
use crate::gltf::container::{pack, to_data_uri};
use crate::gltf::document::{Buffer, Document};
use crate::gltf::edit::{self, Container};
use crate::gltf::original::Original;
use crate::{Asset, Capabilities, EncodedAsset, UpAxes, UpAxis};

/// What a GLB can store; polygons, groups and names of frames are in its `extras`.
pub const CAPABILITIES: Capabilities = Capabilities {
    up_axes: UpAxes::Fixed(UpAxis::Y),
    ..Capabilities::ALL
};

/// The asset as a GLB. One that was read from glTF keeps everything of its file that did not change.
#[must_use]
pub fn write(asset: &Asset) -> EncodedAsset {
    if let Some(edited) = edit::edit(asset, Container::Glb) {
        return edited;
    }

    let (mut document, bytes, left_out) = DocumentWriter::write(asset, ImageStorage::Views);
    if !bytes.is_empty() {
        document.buffers = vec![Buffer {
            uri: None,
            byte_length: bytes.len(),
        }];
    }

    EncodedAsset {
        bytes: pack(to_json(&document), &[&bytes], &[]),
        left_out,
        ..EncodedAsset::default()
    }
}

/// The asset as a JSON text with its buffer inside, as a `data:` URI. One that was read from glTF
/// keeps everything of its file that did not change.
#[must_use]
pub fn write_json(asset: &Asset) -> EncodedAsset {
    if let Some(edited) = edit::edit(asset, Container::Json) {
        return edited;
    }

    let (mut document, bytes, left_out) = DocumentWriter::write(asset, ImageStorage::Text);
    if !bytes.is_empty() {
        document.buffers = vec![Buffer {
            uri: Some(to_data_uri(&bytes)),
            byte_length: bytes.len(),
        }];
    }

    EncodedAsset {
        bytes: to_json(&document),
        left_out,
        ..EncodedAsset::default()
    }
}

fn to_json(document: &Document) -> Vec<u8> {
    serde_json::to_vec(document).expect("a document of numbers and names is JSON")
}

/// The state of writing one document.
#[derive(Default)]
struct DocumentWriter {
    buffer: BufferBuilder,
    document: Document,
    /// Materials that are written already, by their JSON.
    material_of: HashMap<String, usize>,
    looks: MaterialWriter,
    /// Whether targets and frames get no normals.
    plain_targets: bool,
    /// The glTF file that the objects come from.
    original: Option<Arc<Original>>,
    left_out: Vec<String>,
}

impl DocumentWriter {
    /// The document without its buffer, the bytes of the buffer, and what was left out.
    fn write(asset: &Asset, storage: ImageStorage) -> (Document, Vec<u8>, Vec<String>) {
        let mut writer = Self {
            left_out: CAPABILITIES.left_out_of(asset),
            looks: MaterialWriter::of(asset, storage),
            plain_targets: asset.plain_targets,
            original: asset.original.clone(),
            ..Self::default()
        };
        // Materials keep their own entries, see `labelled_material`.
        writer.left_out.retain(|phrase| {
            !(phrase.starts_with("the extras of") && phrase.ends_with(" material(s)"))
        });
        writer.document.asset = json!({ "version": "2.0", "generator": "pliant" });

        // glTF is in metres and Y up; without a known unit, numbers stay.
        let asset = asset.in_space(UpAxis::Y, 1.0);
        let asset = asset.with_playable_motions();
        let (asset, settings) = asset.with_flat_rigs();
        let asset = asset.as_ref();
        // Positions are in single precision, those of nodes are not.
        let near = asset.recentred(&asset.joint_leaders());
        let (asset, offsets) = match &near {
            Some((near, offsets)) => (near, offsets.as_slice()),
            None => (asset, [].as_slice()),
        };
        let nodes = nodes::write(asset, offsets, &mut writer.document);
        let skins = Skins::write(
            asset,
            &nodes,
            offsets,
            &mut writer.document,
            &mut writer.buffer,
        );

        let mut frames = FrameTargets::of(asset);
        for (k, object) in asset.objects.iter().enumerate() {
            let mesh = writer.mesh(k, object, settings[k].as_ref(), &skins, &mut frames);
            writer.document.meshes.push(mesh);
        }

        let (animations, left_out) =
            animation::animations(asset, &nodes, offsets, &skins, &frames, &mut writer.buffer);
        writer.document.animations = animations;
        writer.left_out.extend(left_out);

        writer.document.accessors = writer.buffer.accessors;
        writer.document.buffer_views = writer.buffer.views;
        (writer.document, writer.buffer.bytes, writer.left_out)
    }

    /// The index of a material, which is written once.
    fn material(&mut self, material: &Value) -> usize {
        let materials = &mut self.document.materials;
        *self
            .material_of
            .entry(material.to_string())
            .or_insert_with(|| {
                materials.push(material.clone());
                materials.len() - 1
            })
    }
}
