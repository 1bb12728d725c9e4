//! Skins as clusters of vertices that follow bones.
//!
//! **Method.** A joint is a bone that rests in its bind pose `L`, below the bone of its parent or
//! below one node for the skeleton. Meshes are written where they are in the scene, so that the
//! matrix from a mesh to a bone is `L⁻¹`. In a frame in which the joint moves by `T`, its bone has
//! the transform `T L`, written relative to its parent.

use pliant_mesh::glam::{DAffine3, DMat4};
use pliant_rig::Skeleton;

use super::models;
use super::node::{Node, properties, property};
use super::scene::{Id, ROOT, Scene};
use super::transform::Transform;
use crate::SkinBinding;

/// The bones of a skeleton.
pub(super) struct Bones<'a> {
    pub(super) skeleton: &'a Skeleton,
    /// The first object that follows the skeleton; its motions are those of all that do.
    pub(super) object: usize,
    pub(super) models: Vec<Id>,
}

impl<'a> Bones<'a> {
    /// Adds the bones of a skeleton below one node.
    pub(super) fn add(scene: &mut Scene, skeleton: &'a Skeleton, object: usize) -> Self {
        let root = models::add_group(scene, "skeleton", ROOT);
        let joints = skeleton.joints();
        let mut models = Vec::with_capacity(joints.len());
        for joint in joints {
            let above = joint
                .parent
                .map_or(DAffine3::IDENTITY, |parent| joints[parent].bind());
            let rest = Transform::of(&(above.inverse() * joint.bind()));
            let model = models::add(scene, &joint.name, "LimbNode", &rest);

            let size = property("Size", "double", "Number", "").value(1.0);
            let children = [properties([size]), Node::of("TypeFlags", "Skeleton")];
            let attribute = ["", "NodeAttribute", "LimbNode"];
            let attribute = scene.add("NodeAttribute", attribute, children);
            scene.connect(attribute, model);
            models.push(model);
        }

        // Parents may come after their children.
        for (joint, &model) in joints.iter().zip(&models) {
            scene.connect(model, joint.parent.map_or(root, |parent| models[parent]));
        }

        Self {
            skeleton,
            object,
            models,
        }
    }
}

/// The transform of a joint relative to its parent in one frame.
pub(super) fn local_motion(skeleton: &Skeleton, motions: &[DAffine3], joint: usize) -> DAffine3 {
    let joints = skeleton.joints();
    let world = |joint: usize| motions[joint] * joints[joint].bind();
    let Some(parent) = joints[joint].parent else {
        return world(joint);
    };

    // Below a joint that is scaled to a point, every transform gives that point.
    let parent_inverse = world(parent).inverse();
    if parent_inverse.is_finite() {
        parent_inverse * world(joint)
    } else {
        DAffine3::IDENTITY
    }
}

/// Adds the skin of a geometry whose vertices follow `bones`.
pub(super) fn add_skin(scene: &mut Scene, geometry: Id, binding: &SkinBinding, bones: &Bones<'_>) {
    let children = [
        Node::of("Version", 101),
        Node::of("Link_DeformAcuracy", 50.0),
    ];
    let deformer = scene.add("Deformer", ["", "Deformer", "Skin"], children);
    scene.connect(deformer, geometry);

    let joints = bones.skeleton.joints();
    let mut vertices: Vec<Vec<i32>> = vec![Vec::new(); joints.len()];
    let mut weights: Vec<Vec<f64>> = vec![Vec::new(); joints.len()];
    for vertex in 0..binding.skin.vertex_count() {
        for influence in binding.skin.influences(vertex) {
            vertices[influence.bone as usize].push(vertex as i32);
            weights[influence.bone as usize].push(influence.weight);
        }
    }

    for (k, joint) in joints.iter().enumerate() {
        let children = [
            Node::of("Version", 100),
            Node::of("UserData", "").value(""),
            Node::of("Indexes", std::mem::take(&mut vertices[k])),
            Node::of("Weights", std::mem::take(&mut weights[k])),
            Node::of("Transform", matrix(&joint.bind().inverse())),
            Node::of("TransformLink", matrix(&joint.bind())),
        ];
        let names = [joint.name.as_str(), "SubDeformer", "Cluster"];
        let cluster = scene.add("Deformer", names, children);
        scene.connect(cluster, deformer);
        scene.connect(bones.models[k], cluster);
    }
}

/// Adds the bind pose of all bones and of the meshes that follow them.
pub(super) fn add_bind_pose(scene: &mut Scene, bones: &[Bones<'_>], meshes: &[Id]) {
    let at = |model: Id, transform: &DAffine3| {
        Node::new("PoseNode")
            .child(Node::of("Node", model))
            .child(Node::of("Matrix", matrix(transform)))
    };

    let mut nodes: Vec<Node> = meshes
        .iter()
        .map(|&mesh| at(mesh, &DAffine3::IDENTITY))
        .collect();
    for bones in bones {
        let joints = bones.skeleton.joints().iter();
        nodes.extend(
            bones
                .models
                .iter()
                .zip(joints)
                .map(|(&m, j)| at(m, &j.bind())),
        );
    }

    let count = nodes.len() as i32;
    let children = [
        Node::of("Type", "BindPose"),
        Node::of("Version", 100),
        Node::of("NbPoseNodes", count),
    ];
    scene.add(
        "Pose",
        ["bind pose", "Pose", "BindPose"],
        children.into_iter().chain(nodes),
    );
}

fn matrix(transform: &DAffine3) -> Vec<f64> {
    DMat4::from(*transform).to_cols_array().to_vec()
}
