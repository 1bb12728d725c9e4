//! The objects of an OBJ file, split from its one list of vertices.

use pliant_mesh::glam::DVec4;
use pliant_mesh::{CornerLayer, FaceLabels, MeshBuilder, MeshError, VertexLayer};
use pliant_rig::Rig;

use super::read::Start;
use crate::parse::budget::Budget;
use crate::{Object, ReadError};

/// Splits `whole` where objects start. Faces before the first start are an object without a name.
pub(super) fn split(
    whole: MeshBuilder,
    smoothing: FaceLabels,
    mut starts: Vec<Start>,
    budget: &Budget,
    warnings: &mut Vec<String>,
) -> Result<Vec<Object>, ReadError> {
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
        first.vertex = 0;
        first.uv = 0;
        first.normal = 0;
    }

    if starts.len() == 1 {
        let name = starts.swap_remove(0).name;
        let object = Object::new(Rig::without_targets(MeshBuilder { name, ..whole }.build()?));
        return Ok(vec![Object {
            smoothing,
            ..object
        }]);
    }

    let splitter = Splitter::new(&whole, &smoothing);
    let mut objects = Vec::new();
    for (k, start) in starts.iter().enumerate() {
        match splitter.object(start, starts.get(k + 1))? {
            Some(object) => {
                // Each object has its own copies of labels and libraries.
                let mesh = object.rig.neutral();
                let labels = [mesh.groups(), mesh.materials(), &object.smoothing];
                for labels in labels {
                    budget.spend_texts(&labels.names, "the labels of the objects")?;
                }
                budget.spend_texts(mesh.material_library(), "the libraries of the objects")?;
                objects.push(object);
            }
            None => warnings.push(format!(
                "object '{}' has neither faces nor vertices and was left out",
                start.name
            )),
        }
    }

    Ok(objects)
}

struct Splitter<'a> {
    whole: &'a MeshBuilder,
    smoothing: &'a FaceLabels,
    /// The first corner of each face.
    corner_starts: Vec<usize>,
    used_vertices: Vec<bool>,
    used_uvs: Vec<bool>,
    used_normals: Vec<bool>,
}

impl<'a> Splitter<'a> {
    fn new(whole: &'a MeshBuilder, smoothing: &'a FaceLabels) -> Self {
        let mut corner_starts = vec![0];
        for (face, &size) in whole.face_sizes.iter().enumerate() {
            corner_starts.push(corner_starts[face] + size as usize);
        }

        let corners = whole.corners.iter().copied();
        Self {
            whole,
            smoothing,
            corner_starts,
            used_vertices: used(whole.positions.len(), corners),
            used_uvs: used_values(whole.uv_layers.first()),
            used_normals: used_values(whole.normals.as_ref()),
        }
    }

    /// The object from `start` to `end`; `None` if it has no vertex.
    fn object(&self, start: &Start, end: Option<&Start>) -> Result<Option<Object>, MeshError> {
        let whole = self.whole;
        let faces = start.face..end.map_or(whole.face_sizes.len(), |e| e.face);
        let corners = self.corner_starts[faces.start]..self.corner_starts[faces.end];
        let declared = start.vertex..end.map_or(whole.positions.len(), |e| e.vertex);
        let used_here = whole.corners[corners.clone()].iter().copied();
        let own = own_entries(used_here, &self.used_vertices, declared);
        if own.is_empty() {
            return Ok(None);
        }

        let mut uv_layers = Vec::new();
        for layer in &whole.uv_layers {
            let declared = start.uv..end.map_or(layer.values.len(), |e| e.uv);
            uv_layers.push(split_layer(
                layer,
                corners.clone(),
                &self.used_uvs,
                declared,
            ));
        }
        let normals = whole.normals.as_ref().map(|layer| {
            let declared = start.normal..end.map_or(layer.values.len(), |e| e.normal);
            split_layer(layer, corners.clone(), &self.used_normals, declared)
        });

        // An object that uses no value of a layer does not have the layer.
        uv_layers.retain(|layer| !layer.values.is_empty());
        let mesh = MeshBuilder {
            name: start.name.clone(),
            positions: own.iter().map(|&v| whole.positions[v as usize]).collect(),
            face_sizes: whole.face_sizes[faces.clone()].to_vec(),
            corners: whole.corners[corners]
                .iter()
                .map(|&v| index_in(&own, v))
                .collect(),
            uv_layers,
            normals: normals.filter(|layer| !layer.values.is_empty()),
            colors: split_colors(&whole.colors, &own),
            groups: split_labels(&whole.groups, faces.clone()),
            materials: split_labels(&whole.materials, faces.clone()),
            material_library: whole.material_library.clone(),
        };

        Ok(Some(Object {
            file_index: Some(own),
            smoothing: split_labels(self.smoothing, faces),
            ..Object::new(Rig::without_targets(mesh.build()?))
        }))
    }
}

/// For each of `count` entries, whether `indices` contain it.
fn used(count: usize, indices: impl Iterator<Item = u32>) -> Vec<bool> {
    let mut used = vec![false; count];
    for index in indices {
        used[index as usize] = true;
    }
    used
}

/// For each value of a layer, whether a corner uses it.
fn used_values<T>(layer: Option<&CornerLayer<T>>) -> Vec<bool> {
    layer.map_or_else(Vec::new, |layer| {
        let indices = layer.corners.iter().flatten().copied();
        used(layer.values.len(), indices)
    })
}

/// The entries that are used here, and those that are declared here and used nowhere; ascending.
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

/// The index of an entry of the file in the entries of the object.
fn index_in(own: &[u32], index: u32) -> u32 {
    own.binary_search(&index)
        .expect("every used entry is listed") as u32
}

fn split_layer<T: Copy>(
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
        corners: corners
            .iter()
            .map(|c| c.map(|k| index_in(&own, k)))
            .collect(),
    }
}

fn split_colors(colors: &[VertexLayer<DVec4>], own: &[u32]) -> Vec<VertexLayer<DVec4>> {
    let mut layers = Vec::with_capacity(colors.len());
    for layer in colors {
        layers.push(VertexLayer {
            name: layer.name.clone(),
            values: own.iter().map(|&v| layer.values[v as usize]).collect(),
        });
    }
    layers
}

fn split_labels(labels: &FaceLabels, faces: std::ops::Range<usize>) -> FaceLabels {
    if labels.of_face.is_empty() {
        return FaceLabels::default();
    }
    FaceLabels::from_names(faces.map(|face| labels.of(face).unwrap_or("")))
}
