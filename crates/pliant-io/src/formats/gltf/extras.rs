//! The entry `extras.pliant` of meshes and animations: what glTF itself cannot store.
//!
//! The entry refers to lists of numbers, which are accessors that nothing else uses. A list is
//! identified by its index and its name: a tool that renumbers accessors may leave the index
//! unchanged, and then the name does not match. A list that does not fit the mesh is ignored.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The key of the entry in `extras`.
pub(super) const KEY: &str = "pliant";

/// What glTF cannot store of the document.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct DocumentExtras {
    /// The clip that stands for the file where it has several.
    pub(super) main_clip: Option<String>,
}

/// What glTF cannot store of a mesh.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct MeshExtras {
    /// The number of vertices of the object.
    pub(super) vertices: usize,
    /// List: for each stored vertex, the vertex of the object.
    pub(super) weld: Option<usize>,
    /// List: the number of corners of each face, in stored order; absent if all are triangles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) face_sizes: Option<usize>,
    /// List: for each stored face, its index in the object; absent if ascending.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) face_order: Option<usize>,
    /// Whether the object has no normals, so that those in the file were computed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) computed_normals: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) groups: Option<LabelExtras>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) smoothing: Option<LabelExtras>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) material_library: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) uv_names: Vec<String>,
    /// List: for each vertex, its index in the order of the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file_index: Option<usize>,
    /// The number of real targets; the targets after them are frames of clips.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) targets: Option<usize>,
    /// Limits, in-betweens, combinations and other settings of the sliders, by the names of targets:
    /// the JSON of `pliant_rig::RigSettings`.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub(super) rig: Value,
}

/// Labels of faces, in the face order of the object.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct LabelExtras {
    pub(super) names: Vec<String>,
    /// List: for each face, the index of its name.
    pub(super) of_face: usize,
}

/// What glTF cannot store of an animation.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ClipExtras {
    pub(super) frames: usize,
    pub(super) frames_per_second: f64,
    pub(super) start_secs: f64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) frame_names: Vec<String>,
    /// Meshes whose frames are stored as targets: (mesh, first of those targets).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) points: Vec<(usize, usize)>,
}

/// Our entry, if it is present and well-formed.
pub(super) fn parse<T: for<'a> Deserialize<'a>>(extras: &Value) -> Option<T> {
    T::deserialize(extras.get(KEY)?).ok()
}

/// The name of the accessor that stores a list.
pub(super) fn accessor_name(list: &str) -> String {
    format!("{KEY}.{list}")
}

/// The name of a target that has none.
pub(super) fn default_target_name(index: usize) -> String {
    format!("target{index}")
}
