//! The file of an edited document: a GLB, or JSON with its buffers inside.
//!
//! Buffers and images in other files are put into the file, so that it does not depend on the folder
//! of the original.

use serde_json::{Value, json};

use crate::EncodedAsset;
use crate::asset::media_type_of;
use crate::gltf::container::{self, base64_uri, to_data_uri};
use crate::gltf::original::Original;
use crate::gltf::read::Source;

/// The kind of file to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::formats::gltf) enum Container {
    /// One binary file.
    Glb,
    /// JSON text.
    Json,
}

/// The buffer that holds new bytes.
#[derive(Clone, Copy)]
pub(super) struct MainBuffer<'a> {
    pub(super) index: usize,
    pub(super) bytes: &'a [u8],
}

/// The JSON text of the original.
pub(super) fn json_text(original: &Original) -> Option<&[u8]> {
    container::open(&original.bytes)
        .ok()
        .map(|chunks| chunks.json)
}

/// The first buffer with bytes; a new one if there is none.
pub(super) fn main_buffer<'a>(source: &'a Source<'_>) -> MainBuffer<'a> {
    let count = source.document.buffers.len();
    let known = (0..count).find_map(|index| {
        let bytes = source.buffers.bytes(index)?;
        Some(MainBuffer { index, bytes })
    });
    known.unwrap_or(MainBuffer {
        index: count,
        bytes: &[],
    })
}

/// The file of a document that did not change.
pub(super) fn unchanged(
    json: Value,
    source: &Source<'_>,
    original: &Original,
    container: Container,
) -> Option<EncodedAsset> {
    let is_glb = container::is_glb(&original.bytes);
    if is_glb == (container == Container::Glb) && original.files.is_empty() {
        return Some(EncodedAsset {
            bytes: original.bytes.clone(),
            ..EncodedAsset::default()
        });
    }

    pack(json, main_buffer(source), source, original, container)
}

/// The file of a document whose main buffer holds `main`.
pub(super) fn pack(
    mut json: Value,
    main: MainBuffer<'_>,
    source: &Source<'_>,
    original: &Original,
    container: Container,
) -> Option<EncodedAsset> {
    let mut left_out = Vec::new();
    embed_images(&mut json, original, &mut left_out);
    let binary = embed_buffers(&mut json, main, source, container)?;
    let text = serde_json::to_vec(&json).ok()?;

    let bytes = match container {
        Container::Glb => container::pack(text, binary),
        Container::Json => text,
    };
    Some(EncodedAsset {
        bytes,
        left_out,
        ..EncodedAsset::default()
    })
}

/// Puts the bytes of all buffers into the file, and returns those of the binary chunk.
fn embed_buffers(
    json: &mut Value,
    main: MainBuffer<'_>,
    source: &Source<'_>,
    container: Container,
) -> Option<Vec<u8>> {
    let document = json.as_object_mut()?;
    if main.bytes.is_empty() && source.document.buffers.is_empty() {
        return Some(Vec::new());
    }

    let buffers = document.entry("buffers").or_insert_with(|| json!([]));
    let buffers = buffers.as_array_mut()?;
    if main.index == buffers.len() && !main.bytes.is_empty() {
        buffers.push(json!({}));
    }

    let mut binary = Vec::new();
    for (k, buffer) in buffers.iter_mut().enumerate() {
        let is_main = k == main.index;
        let bytes = if is_main {
            Some(main.bytes)
        } else {
            source.buffers.bytes(k)
        };
        let Some(bytes) = bytes else { continue };

        let fields = buffer.as_object_mut()?;
        fields.insert("byteLength".into(), json!(bytes.len()));
        if k == 0 && container == Container::Glb {
            fields.remove("uri");
            binary = bytes.to_vec();
        } else {
            fields.insert("uri".into(), json!(to_data_uri(bytes)));
        }
    }

    Some(binary)
}

/// Replaces the files of images by `data:` URIs.
fn embed_images(json: &mut Value, original: &Original, left_out: &mut Vec<String>) {
    let images = json.get_mut("images").and_then(Value::as_array_mut);
    for image in images.into_iter().flatten() {
        let Some(uri) = image.get("uri").and_then(Value::as_str) else {
            continue;
        };
        if uri.starts_with("data:") {
            continue;
        }

        match original.files.get(uri) {
            Some(bytes) => {
                let media_type = media_type_of(bytes).unwrap_or("application/octet-stream");
                image["uri"] = json!(base64_uri(media_type, bytes));
            }
            None => left_out.push(format!("image '{uri}', whose file was not found")),
        }
    }
}
