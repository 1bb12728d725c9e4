//! Targets as blend channels: one channel for each target, with a shape for each in-between.

use pliant_mesh::glam::DVec3;
use pliant_rig::Target;

use super::node::{Node, properties, property};
use super::scene::{Id, Scene};

/// A shape at a full weight.
struct Shape<'a> {
    name: &'a str,
    weight: f64,
    indices: Vec<i32>,
    offsets: Vec<f64>,
}

/// Adds the deformer of a geometry, to which channels are then connected.
pub(super) fn add_deformer(scene: &mut Scene, geometry: Id) -> Id {
    let children = [Node::of("Version", 100)];
    let deformer = scene.add("Deformer", ["", "Deformer", "BlendShape"], children);
    scene.connect(deformer, geometry);
    deformer
}

/// Adds the channel of a target that rests at `rest_weight`.
pub(super) fn add_target(scene: &mut Scene, deformer: Id, target: &Target, rest_weight: f64) -> Id {
    let shape = |name, weight, vertices: &[u32], deltas: &[pliant_mesh::glam::Vec3]| Shape {
        name,
        weight,
        indices: vertices.iter().map(|&v| v as i32).collect(),
        offsets: deltas
            .iter()
            .flat_map(|d| d.as_dvec3().to_array())
            .collect(),
    };

    let mut shapes = vec![shape(&target.name, 1.0, &target.vertices, &target.deltas)];
    for key in &target.in_betweens {
        shapes.push(shape(&key.name, key.weight, &key.vertices, &key.deltas));
    }
    shapes.sort_by(|a, b| a.weight.total_cmp(&b.weight));
    add_channel(scene, deformer, &target.name, rest_weight, shapes)
}

/// Adds a channel that moves the neutral to the positions of one frame.
pub(super) fn add_frame(
    scene: &mut Scene,
    deformer: Id,
    name: &str,
    neutral: &[DVec3],
    positions: &[DVec3],
) -> Id {
    let mut shape = Shape {
        name,
        weight: 1.0,
        indices: Vec::new(),
        offsets: Vec::new(),
    };
    for (vertex, (from, to)) in (0..).zip(neutral.iter().zip(positions)) {
        if from != to {
            shape.indices.push(vertex);
            shape.offsets.extend((*to - *from).to_array());
        }
    }
    add_channel(scene, deformer, name, 0.0, vec![shape])
}

fn add_channel(
    scene: &mut Scene,
    deformer: Id,
    name: &str,
    rest_weight: f64,
    shapes: Vec<Shape<'_>>,
) -> Id {
    let percent = rest_weight * 100.0;
    let weights: Vec<f64> = shapes.iter().map(|shape| shape.weight * 100.0).collect();
    let children = [
        Node::of("Version", 100),
        Node::of("DeformPercent", percent),
        Node::of("FullWeights", weights),
        properties([property("DeformPercent", "Number", "", "A").value(percent)]),
    ];
    let channel = scene.add(
        "Deformer",
        [name, "SubDeformer", "BlendShapeChannel"],
        children,
    );
    scene.connect(channel, deformer);

    for mut shape in shapes {
        // Some readers reject a shape that moves no vertex.
        if shape.indices.is_empty() {
            shape.indices.push(0);
            shape.offsets.extend([0.0; 3]);
        }
        let children = [
            Node::of("Version", 100),
            Node::of("Indexes", shape.indices),
            Node::of("Vertices", shape.offsets),
        ];
        let geometry = scene.add("Geometry", [shape.name, "Geometry", "Shape"], children);
        scene.connect(geometry, channel);
    }

    channel
}
