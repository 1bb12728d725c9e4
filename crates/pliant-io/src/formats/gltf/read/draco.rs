//! Vertices and faces that are compressed with Draco.
//!
//! **Format.** A primitive names a buffer view with a Draco stream. Its accessors describe the decoded
//! arrays, but have no bytes of their own.
//!
//! **Source.** The Khronos Group, `KHR_draco_mesh_compression`; the crate `draco-core`.
//!
//! **Departures.** Where the accessors have bytes, too, these are read and the stream is not decoded. The number
//! of rows is that of the stream, as in other programs: some exporters announce another one.

use std::collections::HashMap;

use draco_core::{DecodeLimits, DecoderBuffer, Mesh, MeshDecoder, PointAttribute};

use super::accessor::{Source, size_of, width_of};
use crate::ReadError;
use crate::gltf::document::{Accessor, DracoPrimitive, F32, I8, I16, Primitive, U8, U16, U32};

/// Chosen: a stream of a thousand bytes may describe millions of points; real characters have a tenth
/// of this.
const MOST_POINTS: u64 = 8_000_000;

/// The decoded rows of an accessor, in its component type.
pub(in crate::formats::gltf) struct DecodedArray {
    pub(super) rows: usize,
    pub(super) bytes: Vec<u8>,
}

/// Decoded arrays by the numbers of their accessors.
pub(in crate::formats::gltf) type DecodedArrays = HashMap<usize, DecodedArray>;

/// Decodes the arrays of all compressed primitives.
pub(super) fn decode(source: &Source<'_>) -> Result<DecodedArrays, ReadError> {
    let mut arrays = DecodedArrays::new();
    for (k, mesh) in source.document.meshes.iter().enumerate() {
        for primitive in &mesh.primitives {
            let Some(draco) = &primitive.extensions.draco else {
                continue;
            };
            decode_primitive(source, primitive, draco, &mut arrays).map_err(|error| ReadError {
                message: format!("mesh {k}: {}", error.message),
                ..error
            })?;
        }
    }
    Ok(arrays)
}

fn decode_primitive(
    source: &Source<'_>,
    primitive: &Primitive,
    draco: &DracoPrimitive,
    arrays: &mut DecodedArrays,
) -> Result<(), ReadError> {
    // Accessors that several primitives share, or that have bytes, are known.
    let all = primitive.attributes.values().chain(&primitive.indices);
    let needed = |index: &usize| {
        let accessor = source.document.accessors.get(*index);
        accessor.is_some_and(|a| a.buffer_view.is_none() && a.sparse.is_none())
            && !arrays.contains_key(index)
    };
    if !all.copied().any(|index| needed(&index)) {
        return Ok(());
    }

    let mesh = decode_stream(source.buffers.view(draco.buffer_view)?.0)?;
    let points = mesh.num_points();
    for (name, &number) in &draco.attributes {
        let Some(&index) = primitive.attributes.get(name) else {
            continue;
        };
        let accessor = accessor(source, index)?;
        let attribute = mesh.attribute_by_unique_id(number);
        let attribute = attribute
            .ok_or_else(|| damaged(format!("has no attribute {number}, which should be {name}")))?;
        let array = DecodedArray {
            rows: points,
            bytes: rows(attribute, accessor, points),
        };
        arrays.insert(index, array);
    }

    if let Some(index) = primitive.indices {
        let accessor = accessor(source, index)?;
        let corners = mesh.faces().as_flattened();
        let mut bytes = Vec::new();
        for corner in corners {
            push(&mut bytes, f64::from(corner.0), accessor.component_type);
        }
        let rows = corners.len();
        arrays.insert(index, DecodedArray { rows, bytes });
    }

    let own = primitive.attributes.values().chain(&primitive.indices);
    let decoded = own.filter_map(|index| arrays.get(index));
    let decoded = decoded.map(|array| array.bytes.len()).sum();
    // One stream may be named by many primitives.
    source
        .buffers
        .unpacking
        .spend(decoded, "the Draco streams")?;
    source.buffers.budget.grow(decoded);
    Ok(())
}

fn decode_stream(bytes: &[u8]) -> Result<Mesh, ReadError> {
    let limits = DecodeLimits::default()
        .with_max_points(MOST_POINTS)
        .with_max_faces(2 * MOST_POINTS)
        .with_max_decoded_bytes(64 * MOST_POINTS);
    let mut buffer = DecoderBuffer::new(bytes).with_limits(limits);
    let mut mesh = Mesh::new();
    match MeshDecoder::new().decode(&mut buffer, &mut mesh) {
        Ok(_) => Ok(mesh),
        Err(error) => {
            let why = error.to_string().replace(char::is_control, " ");
            Err(damaged(format!("cannot be decoded ({why})")))
        }
    }
}

fn damaged(what: String) -> ReadError {
    ReadError::whole(format!("its Draco stream {what}; export the file again"))
}

fn accessor<'a>(source: &'a Source<'_>, index: usize) -> Result<&'a Accessor, ReadError> {
    let known = source.document.accessors.get(index);
    known.ok_or_else(|| damaged(format!("belongs to accessor {index}, which does not exist")))
}

/// The values of an attribute, point by point, in the component type of its accessor.
fn rows(attribute: &PointAttribute, accessor: &Accessor, points: usize) -> Vec<u8> {
    let width = width_of(&accessor.kind).unwrap_or(1);
    let size = size_of(accessor.component_type).unwrap_or(4);
    let mut bytes = Vec::with_capacity(points * width * size);
    for value in attribute.read_f32s(points, width) {
        push(&mut bytes, f64::from(value), accessor.component_type);
    }
    bytes
}

fn push(bytes: &mut Vec<u8>, value: f64, component: u32) {
    match component {
        U8 => bytes.push(value as u8),
        I8 => bytes.extend((value as i8).to_le_bytes()),
        U16 => bytes.extend((value as u16).to_le_bytes()),
        I16 => bytes.extend((value as i16).to_le_bytes()),
        U32 => bytes.extend((value as u32).to_le_bytes()),
        F32 => bytes.extend((value as f32).to_le_bytes()),
        _ => {}
    }
}
