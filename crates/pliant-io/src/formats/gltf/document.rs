//! The JSON document of a glTF file: the part of the schema that is read and written.
//!
//! The crate has its own types because closed enumerations and required fields would reject files
//! for parts that nobody needs. What has no field here, such as cameras, lights and most extensions,
//! is not read. A file that is saved again keeps it, because its original JSON is edited (module
//! `edit`).
//!
//! **Source.** "glTF 2.0 Specification", chapter 5 (properties reference).

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// `componentType` of accessors.
pub(super) const I8: u32 = 5120;
pub(super) const U8: u32 = 5121;
pub(super) const I16: u32 = 5122;
pub(super) const U16: u32 = 5123;
pub(super) const U32: u32 = 5125;
pub(super) const F32: u32 = 5126;

/// `target` of buffer views.
pub(super) const VERTICES: u32 = 34962;
pub(super) const INDICES: u32 = 34963;

/// `mode` of primitives.
pub(super) const POINTS: u32 = 0;
pub(super) const TRIANGLES: u32 = 4;

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// A name; some programs write a number.
fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::String(name) => Some(name),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    })
}

/// A text; some programs write a number for the default.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::String(text) => Some(text),
        _ => None,
    })
}

/// The bounds of an accessor; none if some are missing, as for infinite values.
fn bounds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    let bounds = Vec::<Option<f64>>::deserialize(deserializer)?;
    Ok(bounds
        .into_iter()
        .collect::<Option<_>>()
        .unwrap_or_default())
}

/// The whole document.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document {
    #[serde(default)]
    pub(super) asset: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) scene: Option<usize>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) scenes: Vec<Scene>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) nodes: Vec<Node>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) meshes: Vec<Mesh>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) skins: Vec<Skin>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) materials: Vec<Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) animations: Vec<Animation>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) accessors: Vec<Accessor>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) buffer_views: Vec<BufferView>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) buffers: Vec<Buffer>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) extensions_required: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) extensions_used: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) textures: Vec<Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) images: Vec<Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) samplers: Vec<Value>,
    #[serde(default, skip_serializing)]
    pub(super) extras: Value,
    #[serde(default, skip_serializing)]
    pub(super) extensions: Value,
}

/// A scene: its root nodes.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct Scene {
    #[serde(default)]
    pub(super) nodes: Vec<usize>,
}

/// A node: a transform with children, and perhaps a mesh.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Node {
    #[serde(
        default,
        deserialize_with = "name",
        skip_serializing_if = "Option::is_none"
    )]
    pub(super) name: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) children: Vec<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) mesh: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) skin: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) matrix: Option<[f64; 16]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) translation: Option<[f64; 3]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) rotation: Option<[f64; 4]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) scale: Option<[f64; 3]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) weights: Option<Vec<f64>>,
    #[serde(default, skip_serializing)]
    pub(super) extensions: NodeExtensions,
}

/// Extensions of a node.
#[derive(Debug, Default, Deserialize)]
pub(super) struct NodeExtensions {
    #[serde(rename = "EXT_mesh_gpu_instancing", default)]
    pub(super) instances: Option<InstanceTable>,
    #[serde(rename = "KHR_node_visibility", default)]
    pub(super) visibility: Option<Visibility>,
}

/// The instances of the mesh of a node: an accessor for each part of their transforms.
#[derive(Debug, Default, Deserialize)]
pub(super) struct InstanceTable {
    #[serde(default)]
    pub(super) attributes: Attributes,
}

/// Whether a node and those below it are shown.
#[derive(Debug, Deserialize)]
pub(super) struct Visibility {
    #[serde(default = "shown")]
    pub(super) visible: bool,
}

fn shown() -> bool {
    true
}

/// A skin: joints and their inverse bind matrices.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Skin {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) inverse_bind_matrices: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) skeleton: Option<usize>,
    #[serde(default)]
    pub(super) joints: Vec<usize>,
}

/// A mesh: primitives that share their targets.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Mesh {
    #[serde(
        default,
        deserialize_with = "name",
        skip_serializing_if = "Option::is_none"
    )]
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) primitives: Vec<Primitive>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) weights: Option<Vec<f64>>,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub(super) extras: Value,
}

/// Names of attributes and their accessors.
pub(super) type Attributes = BTreeMap<String, usize>;

/// A primitive: vertices, faces and a material.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct Primitive {
    #[serde(default)]
    pub(super) attributes: Attributes,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) indices: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) material: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) mode: Option<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) targets: Vec<Attributes>,
    #[serde(default, skip_serializing)]
    pub(super) extensions: PrimitiveExtensions,
}

/// Extensions of a primitive.
#[derive(Debug, Default, Deserialize)]
pub(super) struct PrimitiveExtensions {
    #[serde(rename = "KHR_draco_mesh_compression", default)]
    pub(super) draco: Option<DracoPrimitive>,
}

/// Where the compressed vertices and faces of a primitive are.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DracoPrimitive {
    pub(super) buffer_view: usize,
    /// The number of each attribute in the compressed stream.
    #[serde(default)]
    pub(super) attributes: BTreeMap<String, u32>,
}

/// An accessor: a typed array in a buffer view.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Accessor {
    #[serde(
        default,
        deserialize_with = "name",
        skip_serializing_if = "Option::is_none"
    )]
    pub(super) name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) buffer_view: Option<usize>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) byte_offset: usize,
    pub(super) component_type: u32,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) normalized: bool,
    pub(super) count: usize,
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sparse: Option<Sparse>,
    #[serde(
        default,
        deserialize_with = "bounds",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub(super) min: Vec<f64>,
    #[serde(
        default,
        deserialize_with = "bounds",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub(super) max: Vec<f64>,
}

/// The rows of an accessor that replace those of its base.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct Sparse {
    pub(super) count: usize,
    pub(super) indices: SparseView,
    pub(super) values: SparseView,
}

/// Indices or values of a sparse accessor.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparseView {
    pub(super) buffer_view: usize,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) byte_offset: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) component_type: Option<u32>,
}

/// A buffer view: a range of bytes in a buffer.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BufferView {
    pub(super) buffer: usize,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) byte_offset: usize,
    pub(super) byte_length: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) byte_stride: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) target: Option<u32>,
    #[serde(default, skip_serializing)]
    pub(super) extensions: ViewExtensions,
}

/// Extensions of a buffer view.
#[derive(Debug, Default, Deserialize)]
pub(super) struct ViewExtensions {
    #[serde(
        rename = "EXT_meshopt_compression",
        alias = "KHR_meshopt_compression",
        default
    )]
    pub(super) meshopt: Option<CompressedView>,
}

/// The compressed bytes of a buffer view.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CompressedView {
    pub(super) buffer: usize,
    #[serde(default)]
    pub(super) byte_offset: usize,
    pub(super) byte_length: usize,
    pub(super) byte_stride: usize,
    pub(super) count: usize,
    pub(super) mode: String,
    #[serde(default)]
    pub(super) filter: Option<String>,
}

/// A buffer: inside the GLB, in a `data:` URI or in another file.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Buffer {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) uri: Option<String>,
    pub(super) byte_length: usize,
}

/// An animation: channels and the samplers they use.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct Animation {
    #[serde(
        default,
        deserialize_with = "name",
        skip_serializing_if = "Option::is_none"
    )]
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) channels: Vec<Channel>,
    #[serde(default)]
    pub(super) samplers: Vec<Sampler>,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub(super) extras: Value,
}

/// A channel: a sampler applied to a property of a node.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct Channel {
    pub(super) sampler: usize,
    pub(super) target: ChannelTarget,
}

/// The property of a node that a channel animates.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct ChannelTarget {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) node: Option<usize>,
    pub(super) path: String,
}

/// A sampler: key times, key values and their interpolation.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct Sampler {
    pub(super) input: usize,
    pub(super) output: usize,
    #[serde(
        default,
        deserialize_with = "text",
        skip_serializing_if = "Option::is_none"
    )]
    pub(super) interpolation: Option<String>,
}
