//! Writer of glTF: from objects and clips to a document with one buffer.
//!
//! | module | concept |
//! |---|---|
//! | `buffer_builder` | accessors, buffer views and the bytes of the one buffer |
//! | `nodes` | a node for each object, below nodes for its path |
//! | `mesh_layout` | attributes of the stored vertices of one object |
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
mod skin;

use std::collections::HashMap;

use serde_json::{Value, json};

use self::animation::FrameTargets;
use self::buffer_builder::BufferBuilder;
use self::material::{ImageStorage, MaterialWriter};
use self::skin::{Skins, with_playable_motions};
use crate::gltf::container::{pack, to_data_uri};
use crate::gltf::document::{Buffer, Document};
use crate::{Asset, Capabilities, EncodedAsset, UpAxes, UpAxis};

/// What a GLB can store; polygons, groups and names of frames are in its `extras`.
pub const CAPABILITIES: Capabilities = Capabilities {
    in_betweens: false,
    up_axes: UpAxes::Fixed(UpAxis::Y),
    ..Capabilities::ALL
};

/// The asset as a GLB.
#[must_use]
pub fn write(asset: &Asset) -> EncodedAsset {
    let (mut document, bytes, left_out) = DocumentWriter::write(asset, ImageStorage::Views);
    if !bytes.is_empty() {
        document.buffers = vec![Buffer {
            uri: None,
            byte_length: bytes.len(),
        }];
    }

    EncodedAsset {
        bytes: pack(to_json(&document), bytes),
        left_out,
        ..EncodedAsset::default()
    }
}

/// The asset as a JSON text with its buffer inside, as a `data:` URI.
#[must_use]
pub fn write_json(asset: &Asset) -> EncodedAsset {
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
    left_out: Vec<String>,
}

impl DocumentWriter {
    /// The document without its buffer, the bytes of the buffer, and what was left out.
    fn write(asset: &Asset, storage: ImageStorage) -> (Document, Vec<u8>, Vec<String>) {
        let mut writer = Self {
            left_out: CAPABILITIES.left_out_of(asset),
            looks: MaterialWriter::of(asset, storage),
            ..Self::default()
        };
        writer.document.asset = json!({ "version": "2.0", "generator": "pliant" });

        let asset = with_playable_motions(asset);
        let asset = asset.as_ref();
        let nodes = nodes::write(asset, &mut writer.document);
        let skins = Skins::write(asset, &nodes, &mut writer.document, &mut writer.buffer);

        let mut frames = FrameTargets::of(asset);
        for (k, object) in asset.objects.iter().enumerate() {
            let mesh = writer.mesh(k, object, &skins, &mut frames);
            writer.document.meshes.push(mesh);
        }

        let (animations, left_out) =
            animation::animations(asset, &nodes, &skins, &frames, &mut writer.buffer);
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
