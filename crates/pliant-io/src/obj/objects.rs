//! The objects of an OBJ file, cut out of its one list of vertices.

use pliant_mesh::{CornerLayer, FaceLabels, MeshBuilder, MeshError, VertexLayer};
use pliant_rig::Rig;

use super::read::Start;
use crate::Object;

/// Cuts `whole` where objects start. What stands before the first start is an object without a
/// name.
pub(super) fn split(
    whole: MeshBuilder,
    smoothing: FaceLabels,
    mut starts: Vec<Start>,
    problems: &mut Vec<String>,
) -> Result<Vec<Object>, MeshError> {
    if starts.first().is_none_or(|first| first.face > 0) {
        starts.insert(
            0,
            Start {
                name: String::new(),
                vertex: 0,
                uv: 0,
                normal: 0,
                face: 0,
            },
        );
    } else if let Some(first) = starts.first_mut() {
        // No face comes before the first object, so the values before it are its own.
        (first.vertex, first.uv, first.normal) = (0, 0, 0);
    }
    if starts.len() == 1 {
        let name = starts.swap_remove(0).name;
        let object = Object::new(Rig::still(MeshBuilder { name, ..whole }.build()?));
        return Ok(vec![Object {
            smoothing,
            ..object
        }]);
    }
    let cutter = Cutter::new(&whole, &smoothing);
    let mut objects = Vec::new();
    for (k, start) in starts.iter().enumerate() {
        match cutter.cut(start, starts.get(k + 1))? {
            Some(object) => objects.push(object),
            None => problems.push(format!(
                "object '{}' has neither faces nor vertices and was left out",
                start.name
            )),
        }
    }
    Ok(objects)
}

struct Cutter<'a> {
    whole: &'a MeshBuilder,
    smoothing: &'a FaceLabels,
    corner_starts: Vec<usize>,
    used_vertices: Vec<bool>,
    used_uvs: Vec<bool>,
    used_normals: Vec<bool>,
}

impl<'a> Cutter<'a> {
    fn new(whole: &'a MeshBuilder, smoothing: &'a FaceLabels) -> Self {
        let mut corner_starts = vec![0];
        for &size in &whole.face_sizes {
            corner_starts.push(corner_starts[corner_starts.len() - 1] + size as usize);
        }
        let used = |count: usize, indices: &mut dyn Iterator<Item = u32>| {
            let mut used = vec![false; count];
            indices.for_each(|k| used[k as usize] = true);
            used
        };
        let layer_corners = |corners: Option<&'a Vec<Option<u32>>>| {
            corners.into_iter().flatten().flatten().copied()
        };
        Self {
            whole,
            smoothing,
            corner_starts,
            used_vertices: used(whole.positions.len(), &mut whole.corners.iter().copied()),
            used_uvs: used(
                whole.uv_layers.first().map_or(0, |l| l.values.len()),
                &mut layer_corners(whole.uv_layers.first().map(|l| &l.corners)),
            ),
            used_normals: used(
                whole.normals.as_ref().map_or(0, |l| l.values.len()),
                &mut layer_corners(whole.normals.as_ref().map(|l| &l.corners)),
            ),
        }
    }

    /// The object from `start` to `end`; nothing where it has no vertex.
    fn cut(&self, start: &Start, end: Option<&Start>) -> Result<Option<Object>, MeshError> {
        let whole = self.whole;
        let faces = start.face..end.map_or(whole.face_sizes.len(), |e| e.face);
        let corners = self.corner_starts[faces.start]..self.corner_starts[faces.end];
        let vertex_end = end.map_or(whole.positions.len(), |e| e.vertex);
        let own = own_entries(
            whole.corners[corners.clone()].iter().copied(),
            &self.used_vertices,
            start.vertex..vertex_end,
        );
        if own.is_empty() {
            return Ok(None);
        }
        let uv_end = |layer: &CornerLayer<_>| end.map_or(layer.values.len(), |e| e.uv);
        let uv_layers = whole
            .uv_layers
            .iter()
            .map(|l| cut_layer(l, corners.clone(), &self.used_uvs, start.uv..uv_end(l)));
        let normals = whole.normals.as_ref().map(|l| {
            let declared = start.normal..end.map_or(l.values.len(), |e| e.normal);
            cut_layer(l, corners.clone(), &self.used_normals, declared)
        });
        let color = |layer: &VertexLayer<_>| VertexLayer {
            name: layer.name.clone(),
            values: own.iter().map(|&v| layer.values[v as usize]).collect(),
        };
        let mesh = MeshBuilder {
            name: start.name.clone(),
            positions: own.iter().map(|&v| whole.positions[v as usize]).collect(),
            face_sizes: whole.face_sizes[faces.clone()].to_vec(),
            corners: whole.corners[corners.clone()]
                .iter()
                .map(|v| place(&own, *v))
                .collect(),
            uv_layers: uv_layers.filter(|l| !l.values.is_empty()).collect(),
            normals: normals.filter(|l| !l.values.is_empty()),
            colors: whole.colors.iter().map(color).collect(),
            groups: cut_labels(&whole.groups, faces.clone()),
            materials: cut_labels(&whole.materials, faces.clone()),
            material_library: whole.material_library.clone(),
        };
        let object = Object::new(Rig::still(mesh.build()?));
        Ok(Some(Object {
            file_index: Some(own),
            smoothing: cut_labels(self.smoothing, faces),
            ..object
        }))
    }
}

/// The entries that are used here, and those declared here that are used nowhere; ascending.
fn own_entries(
    used_here: impl Iterator<Item = u32>,
    used: &[bool],
    declared: std::ops::Range<usize>,
) -> Vec<u32> {
    let unused = declared.filter(|&k| !used[k]).map(|k| k as u32);
    let mut own: Vec<u32> = used_here.chain(unused).collect();
    own.sort_unstable();
    own.dedup();
    own
}

fn place(own: &[u32], index: u32) -> u32 {
    own.binary_search(&index)
        .expect("every used entry is listed") as u32
}

fn cut_layer<T: Copy>(
    layer: &CornerLayer<T>,
    corners: std::ops::Range<usize>,
    used: &[bool],
    declared: std::ops::Range<usize>,
) -> CornerLayer<T> {
    let corners = &layer.corners[corners];
    let own = own_entries(corners.iter().flatten().copied(), used, declared);
    CornerLayer {
        name: layer.name.clone(),
        values: own.iter().map(|&k| layer.values[k as usize]).collect(),
        corners: corners.iter().map(|c| c.map(|k| place(&own, k))).collect(),
    }
}

fn cut_labels(labels: &FaceLabels, faces: std::ops::Range<usize>) -> FaceLabels {
    if labels.of_face.is_empty() {
        return FaceLabels::default();
    }
    FaceLabels::from_names(faces.map(|face| labels.of(face).unwrap_or("")))
}
