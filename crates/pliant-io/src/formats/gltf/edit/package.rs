//! The file of an edited document: a GLB, or JSON with its buffers.
//!
//! Files beside a JSON document are written beside the new one under the same names. A GLB gets their
//! bytes, so that it does not depend on the folder of the original.

use serde_json::{Value, json};

use crate::EncodedAsset;
use crate::asset::media_type_of;
use crate::files::{percent_decoded, plain_uri};
use crate::gltf::container::{self, base64_uri, to_data_uri};
use crate::gltf::original::Original;
use crate::gltf::read::Source;
use crate::gltf::write::BufferBuilder;

/// The kind of file to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::formats::gltf) enum Container {
    /// One binary file.
    Glb,
    /// JSON text.
    Json,
}

/// The buffer to which new bytes are added.
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

/// The original, if it is a file of this kind; a GLB that refers to other files is not.
pub(super) fn unchanged(original: &Original, container: Container) -> Option<EncodedAsset> {
    let is_glb = container::is_glb(&original.bytes);
    let same_kind = is_glb == (container == Container::Glb);
    let is_whole = original.files.is_empty() || container == Container::Json;
    (same_kind && is_whole).then(|| EncodedAsset {
        bytes: original.bytes.to_vec(),
        sidecar_files: all_files(original).collect(),
        ..EncodedAsset::default()
    })
}

/// The files beside the original, with their names.
fn all_files(original: &Original) -> impl Iterator<Item = (String, Vec<u8>)> {
    let files = original.files.iter();
    files.filter_map(|(uri, bytes)| Some((percent_decoded(uri)?, bytes.clone())))
}

/// Whether files beside a document stay files.
fn keeps_files(original: &Original, container: Container) -> bool {
    container == Container::Json && !container::is_glb(&original.bytes)
}

/// The file of a document whose buffer `main` holds the given parts, one after the other.
pub(super) fn pack<'a>(
    mut json: Value,
    main: usize,
    parts: &[&'a [u8]],
    source: &'a Source<'_>,
    original: &Original,
    container: Container,
) -> Option<EncodedAsset> {
    let mut sidecar_files = Vec::new();
    if keeps_files(original, container) {
        sidecar_files.extend(all_files(original));
    }
    let mut binary = embed_buffers(
        &mut json,
        main,
        parts,
        source,
        container,
        &mut sidecar_files,
    )?;
    let was_json = !container::is_glb(&original.bytes);
    if container == Container::Glb && was_json && main == 0 {
        join_buffers(&mut json, &mut binary, source)?;
    }
    let text = serde_json::to_vec(&json).ok()?;

    let bytes = match container {
        Container::Glb => container::pack(text, &binary, &source.chunks.others),
        Container::Json => text,
    };
    Some(EncodedAsset {
        bytes,
        sidecar_files,
        ..EncodedAsset::default()
    })
}

/// Puts the bytes of all buffers into the file, or into the files that they had, and returns the parts
/// of the binary chunk.
fn embed_buffers<'a>(
    json: &mut Value,
    main: usize,
    parts: &[&'a [u8]],
    source: &'a Source<'_>,
    container: Container,
    files: &mut [(String, Vec<u8>)],
) -> Option<Vec<&'a [u8]>> {
    let document = json.as_object_mut()?;
    let is_empty = parts.iter().all(|part| part.is_empty());
    if is_empty && source.document.buffers.is_empty() {
        return Some(Vec::new());
    }

    let buffers = document.entry("buffers").or_insert_with(|| json!([]));
    let buffers = buffers.as_array_mut()?;
    if main == buffers.len() && !is_empty {
        buffers.push(json!({}));
    }

    let mut binary = Vec::new();
    for (k, buffer) in buffers.iter_mut().enumerate() {
        let one;
        let bytes = if k == main {
            parts
        } else {
            let Some(bytes) = source.buffers.bytes(k) else {
                continue;
            };
            one = [bytes];
            &one[..]
        };

        let length: usize = bytes.iter().map(|part| part.len()).sum();
        let fields = buffer.as_object_mut()?;
        fields.insert("byteLength".into(), json!(length));
        let uri = fields.get("uri").and_then(Value::as_str);
        let name = uri.and_then(percent_decoded);
        let file = files
            .iter_mut()
            .find(|(known, _)| name.as_ref() == Some(known));
        if let Some((_, content)) = file {
            *content = bytes.concat();
        } else if k == 0 && container == Container::Glb {
            fields.remove("uri");
            binary = bytes.to_vec();
        } else {
            fields.insert("uri".into(), json!(to_data_uri(&bytes.concat())));
        }
    }

    Some(binary)
}

/// Replaces the files of images: in a GLB by buffer views, in JSON that was a GLB by `data:` URIs.
pub(super) fn embed_images(
    json: &mut Value,
    original: &Original,
    container: Container,
    buffer: &mut BufferBuilder,
) {
    if keeps_files(original, container) {
        return;
    }
    let images = json.get_mut("images").and_then(Value::as_array_mut);
    for image in images.into_iter().flatten() {
        // The reader has reported a file that is missing; its name stays.
        let uri = image.get("uri").and_then(Value::as_str);
        let bytes = uri.and_then(|uri| original.files.get(&plain_uri(uri)));
        let (Some(bytes), Some(fields)) = (bytes.cloned(), image.as_object_mut()) else {
            continue;
        };

        let media_type = media_type_of(&bytes).unwrap_or("application/octet-stream");
        if container == Container::Glb {
            fields.remove("uri");
            fields.insert("bufferView".into(), json!(buffer.image(&bytes)));
            fields.insert("mimeType".into(), json!(media_type));
        } else {
            fields.insert("uri".into(), json!(base64_uri(media_type, &bytes)));
        }
    }
}

/// Appends the bytes of all buffers to those of the first one, which alone can be in a GLB.
fn join_buffers<'a>(
    json: &mut Value,
    binary: &mut Vec<&'a [u8]>,
    source: &'a Source<'_>,
) -> Option<()> {
    let mut length: usize = binary.iter().map(|part| part.len()).sum();
    let mut offsets = vec![None; source.document.buffers.len()];
    let mut kept = Vec::new();
    let buffers = json.get_mut("buffers")?.as_array_mut()?;
    for (k, buffer) in buffers.drain(..).enumerate() {
        match source.buffers.bytes(k).filter(|_| k > 0) {
            Some(bytes) => {
                binary.push(&[0; 3][..length.next_multiple_of(4) - length]);
                length = length.next_multiple_of(4);
                offsets[k] = Some((0, length));
                binary.push(bytes);
                length += bytes.len();
            }
            None => {
                if let Some(offset) = offsets.get_mut(k) {
                    *offset = Some((kept.len(), 0));
                }
                kept.push(buffer);
            }
        }
    }
    kept.first_mut()?["byteLength"] = json!(length);
    *buffers = kept;

    let views = json.get_mut("bufferViews").and_then(Value::as_array_mut);
    for view in views.into_iter().flatten() {
        let extensions = view.get_mut("extensions").and_then(Value::as_object_mut);
        for compressed in extensions.into_iter().flat_map(|map| map.values_mut()) {
            move_view(compressed, &offsets);
        }
        move_view(view, &offsets);
    }

    Some(())
}

/// Moves a view to the buffer and the offset where its bytes are now.
fn move_view(view: &mut Value, offsets: &[Option<(usize, usize)>]) {
    let buffer = view.get("buffer").and_then(Value::as_u64);
    let moved = buffer.and_then(|k| *offsets.get(k as usize)?);
    if let (Some((buffer, shift)), Some(fields)) = (moved, view.as_object_mut()) {
        let offset = fields.get("byteOffset").and_then(Value::as_u64);
        let offset = offset.unwrap_or(0) as usize + shift;
        fields.insert("buffer".into(), json!(buffer));
        if offset > 0 {
            fields.insert("byteOffset".into(), json!(offset));
        }
    }
}
