//! What our own files say beyond glTF, in the `extras` of meshes and animations.
//!
//! Lists are accessors that nothing else uses, found by their number and their name: a tool that
//! renumbers accessors may leave the number behind, and then the name tells. What does not fit the
//! mesh is not used.

use pliant_mesh::FaceLabels;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::accessor::Source;

/// The entry in `extras` that is ours.
pub(super) const KEY: &str = "pliant";

/// What glTF has no place for in a mesh.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct MeshMemo {
    /// How many vertices the object has.
    pub(super) vertices: usize,
    /// For each stored vertex the object's vertex.
    pub(super) weld: Option<usize>,
    /// Number of corners of each face, in stored order; triangles where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) face_sizes: Option<usize>,
    /// For each stored face its number in the object; ascending where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) face_order: Option<usize>,
    /// Whether the object has no normals, and those in the file were computed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) computed_normals: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) groups: Option<LabelMemo>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) smoothing: Option<LabelMemo>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) material_library: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) uv_names: Vec<String>,
    /// For each vertex its index in the whole file's order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file_index: Option<usize>,
    /// How many targets are targets; those after them are frames of clips.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) targets: Option<usize>,
}

/// Labels of faces in the object's order.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct LabelMemo {
    pub(super) names: Vec<String>,
    pub(super) of_face: usize,
}

/// What glTF has no place for in an animation.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ClipMemo {
    pub(super) frames: usize,
    pub(super) frames_per_second: f64,
    pub(super) start_secs: f64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) frame_names: Vec<String>,
    /// Meshes whose frames are targets: (mesh, first of those targets).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) points: Vec<(usize, usize)>,
}

/// Our entry, where it is there and has the right form.
pub(super) fn of<T: for<'a> Deserialize<'a>>(extras: &Value) -> Option<T> {
    T::deserialize(extras.get(KEY)?).ok()
}

/// The name of the accessor that holds a list.
pub(super) fn accessor_name(list: &str) -> String {
    format!("{KEY}.{list}")
}

/// One of our lists, if it is one and has `count` numbers.
pub(super) fn list(
    source: &Source<'_>,
    accessor: Option<usize>,
    name: &str,
    count: usize,
) -> Option<Vec<u32>> {
    let accessor = accessor?;
    let about = source.document.accessors.get(accessor)?;
    if about.name.as_deref() != Some(&accessor_name(name)) || about.count != count {
        return None;
    }
    source.whole_numbers(accessor).ok()
}

/// Labels of `faces` faces.
pub(super) fn labels(
    source: &Source<'_>,
    memo: Option<&LabelMemo>,
    name: &str,
    faces: usize,
) -> FaceLabels {
    let read = || {
        let memo = memo?;
        let of_face = list(source, Some(memo.of_face), name, faces)?;
        let known = of_face.iter().all(|&k| (k as usize) < memo.names.len());
        known.then(|| FaceLabels {
            names: memo.names.clone(),
            of_face,
        })
    };
    read().unwrap_or_default()
}
