//! Meshes as FBX geometry: polygons with normals, UV sets, colours and materials.

use pliant_mesh::glam::{DVec2, DVec3, DVec4};
use pliant_mesh::{CornerLayer, FaceLabels, Mesh};

use super::node::Node;

/// The number of corner values that a file gives none, for a message.
pub(super) type Unmapped = usize;

/// The children of the geometry of a mesh, and how many corners have a layer without a value.
pub(super) fn geometry(mesh: &Mesh) -> (Vec<Node>, Unmapped) {
    let points = mesh.positions().iter().flat_map(|p| p.to_array());
    let mut nodes = vec![
        Node::of("Vertices", points.collect::<Vec<f64>>()),
        Node::of("PolygonVertexIndex", polygon_indices(mesh)),
        Node::of("GeometryVersion", 124),
    ];

    let mut layers = Layers::default();
    let mut unmapped = 0;
    if let Some(normals) = mesh.normals() {
        let values = normals.values.iter().map(DVec3::to_array);
        let indices = layers.element("LayerElementNormal", 0);
        let element = CornerElement::of(normals, values, &mut unmapped);
        nodes.push(element.node(indices, 101, ["Normals", "NormalsIndex"]));
    }
    for (k, uvs) in mesh.uv_layers().iter().enumerate() {
        let values = uvs.values.iter().map(DVec2::to_array);
        let indices = layers.element("LayerElementUV", k);
        let element = CornerElement::of(uvs, values, &mut unmapped);
        nodes.push(element.node(indices, 101, ["UV", "UVIndex"]));
    }
    for (k, colors) in mesh.colors().iter().enumerate() {
        let head = layers.element("LayerElementColor", k);
        let element = CornerElement {
            name: colors.name.clone(),
            values: colors.values.iter().flat_map(DVec4::to_array).collect(),
            indices: mesh.faces().flatten().map(|&v| v as i32).collect(),
        };
        nodes.push(element.node(head, 101, ["Colors", "ColorIndex"]));
    }
    if let Some(element) = materials(mesh.materials(), &mut layers) {
        nodes.push(element);
    }

    nodes.extend(layers.nodes());
    (nodes, unmapped)
}

/// The vertices of the faces; the last one of each face is negative.
fn polygon_indices(mesh: &Mesh) -> Vec<i32> {
    let mut indices = Vec::with_capacity(mesh.corner_count());
    for face in mesh.faces() {
        indices.extend(face.iter().map(|&v| v as i32));
        if let Some(last) = indices.last_mut() {
            *last = !*last;
        }
    }
    indices
}

/// The material of each face.
fn materials(labels: &FaceLabels, layers: &mut Layers) -> Option<Node> {
    if labels.of_face.is_empty() {
        return None;
    }
    let faces: Vec<i32> = labels.of_face.iter().map(|&k| k as i32).collect();
    let element = layers.element("LayerElementMaterial", 0);
    Some(
        element
            .child(Node::of("Version", 101))
            .child(Node::of("Name", ""))
            .child(Node::of("MappingInformationType", "ByPolygon"))
            .child(Node::of("ReferenceInformationType", "IndexToDirect"))
            .child(Node::of("Materials", faces)),
    )
}

/// Values with one index for each corner.
struct CornerElement {
    name: String,
    values: Vec<f64>,
    indices: Vec<i32>,
}

impl CornerElement {
    /// A layer with its values as numbers. Corners without a value get zeros.
    fn of<T, const N: usize>(
        layer: &CornerLayer<T>,
        values: impl Iterator<Item = [f64; N]>,
        unmapped: &mut Unmapped,
    ) -> Self {
        let mut values: Vec<f64> = values.flatten().collect();
        let zero = layer.values.len() as i32;
        let missing = layer
            .corners
            .iter()
            .filter(|corner| corner.is_none())
            .count();
        if missing > 0 {
            values.extend([0.0; N]);
            *unmapped += missing;
        }

        let index = |corner: &Option<u32>| corner.map_or(zero, |k| k as i32);
        Self {
            name: layer.name.clone(),
            values,
            indices: layer.corners.iter().map(index).collect(),
        }
    }

    fn node(self, element: Node, version: i32, [values, indices]: [&'static str; 2]) -> Node {
        element
            .child(Node::of("Version", version))
            .child(Node::of("Name", self.name))
            .child(Node::of("MappingInformationType", "ByPolygonVertex"))
            .child(Node::of("ReferenceInformationType", "IndexToDirect"))
            .child(Node::of(values, self.values))
            .child(Node::of(indices, self.indices))
    }
}

/// The numbered layers, each with one element of each kind.
#[derive(Default)]
struct Layers {
    elements: Vec<Vec<&'static str>>,
}

impl Layers {
    /// Registers element number `index` of a kind, and begins its node.
    fn element(&mut self, kind: &'static str, index: usize) -> Node {
        if self.elements.len() <= index {
            self.elements.resize(index + 1, Vec::new());
        }
        self.elements[index].push(kind);
        Node::of(kind, index as i32)
    }

    fn nodes(self) -> impl Iterator<Item = Node> {
        let element = |(kind, index): (&'static str, i32)| {
            Node::new("LayerElement")
                .child(Node::of("Type", kind))
                .child(Node::of("TypedIndex", index))
        };
        (0..).zip(self.elements).map(move |(index, kinds)| {
            Node::of("Layer", index)
                .child(Node::of("Version", 100))
                .children(kinds.into_iter().map(|kind| element((kind, index))))
        })
    }
}
