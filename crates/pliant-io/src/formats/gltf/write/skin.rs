//! Skins of written objects: joints as nodes, weights as attributes, motions as animations.
//!
//! **Method.** A joint is a node at its bind pose, or where it rests, below the node of its parent
//! joint or below one node for the skeleton. Its inverse bind matrix inverts the transform of the
//! bind pose, in which every vertex is where the mesh has it. In a frame in which a joint with bind transform `P` moves by
//! `T`, its node has the transform `T P`, written relative to its parent. Where positions are stored
//! relative to an offset `o`, the inverse bind matrix is `P⁻¹ o`, with `o` as a translation.
//!
//! **Source.** "glTF 2.0 Specification", section 3.7.3.

use pliant_mesh::glam::{DAffine3, DMat4, DVec3};
use pliant_rig::{Influence, Skeleton, Skin};

use super::buffer_builder::BufferBuilder;
use crate::gltf::document::{self, Attributes, Document, Node};
use crate::gltf::seams::{Block, Seams};
use crate::{Animation, Asset, Motion, Shape};

/// Influences in one pair of attributes `JOINTS_n`, `WEIGHTS_n`.
const INFLUENCES: usize = 4;

/// The skins of an asset, and the nodes of their joints.
pub(super) struct Skins<'a> {
    asset: &'a Asset,
    skeletons: Vec<SharedSkeleton<'a>>,
}

/// A skeleton that objects share.
struct SharedSkeleton<'a> {
    skeleton: &'a Skeleton,
    /// The first object that follows it; the others follow it with the same motions.
    object: usize,
    nodes: Vec<usize>,
}

impl<'a> Skins<'a> {
    /// Adds the joints to `document`, whose objects have the given `nodes` and `offsets`.
    pub(super) fn write(
        asset: &'a Asset,
        nodes: &[usize],
        offsets: &[DVec3],
        document: &mut Document,
        buffer: &mut BufferBuilder,
    ) -> Self {
        let mut skins = Self {
            asset,
            skeletons: Vec::new(),
        };

        let leaders = asset.joint_leaders();
        for (object, &node) in nodes.iter().enumerate() {
            let Some(binding) = asset.objects[object].fitting_skin() else {
                continue;
            };

            let known = skins
                .skeletons
                .iter()
                .position(|shared| leaders[object] == Some(shared.object));

            document.nodes[node].skin = Some(known.unwrap_or_else(|| {
                let rest = rest_motions(asset, object);
                let nodes = write_joints(&binding.skeleton, rest, document);
                let offset = offsets.get(object).copied().unwrap_or_default();
                write_skin(&binding.skeleton, offset, &nodes, document, buffer);
                skins.skeletons.push(SharedSkeleton {
                    skeleton: &binding.skeleton,
                    object,
                    nodes,
                });
                skins.skeletons.len() - 1
            }));
        }

        skins
    }

    /// Joints and weights of the stored vertices of an object.
    pub(super) fn attributes(
        &self,
        object: usize,
        seams: &Seams,
        block: &Block,
        buffer: &mut BufferBuilder,
        attributes: &mut Attributes,
    ) {
        if let Some(binding) = self.asset.objects[object].fitting_skin() {
            joint_attributes(&binding.skin, seams, block, buffer, attributes);
        }
    }

    /// The animated joints of a clip: each node with its transform relative to its parent, frame by
    /// frame.
    pub(super) fn moving_nodes(&self, clip: &Animation) -> Vec<(usize, Vec<DAffine3>)> {
        let mut moving = Vec::new();
        for shared in &self.skeletons {
            let frames = clip.joint_motions(shared.object);
            let Some(frames) = frames.filter(|frames| !frames.is_empty()) else {
                continue;
            };

            for (joint, &node) in shared.nodes.iter().enumerate() {
                let locals = frames
                    .iter()
                    .map(|frame| local(shared.skeleton, frame, joint))
                    .collect();
                moving.push((node, locals));
            }
        }

        moving
    }
}

/// Joints and weights of the stored vertices of a block, four to a set.
pub(in crate::formats::gltf) fn joint_attributes(
    skin: &Skin,
    seams: &Seams,
    block: &Block,
    buffer: &mut BufferBuilder,
    attributes: &mut Attributes,
) {
    if block.count == 0 {
        return;
    }

    for set in 0..skin.most_influences().div_ceil(INFLUENCES) {
        let own = |stored: usize| {
            skin.influences(seams.vertex_of[stored] as usize)
                .chunks(INFLUENCES)
                .nth(set)
                .unwrap_or_default()
        };

        // Each set of attributes stores four influences of each vertex.
        let joint = |influence: &Influence| influence.bone;
        let weight = |influence: &Influence| influence.weight as f32;
        let joints: Vec<[u32; 4]> = block
            .range()
            .map(|stored| four(own(stored), joint))
            .collect();

        let weights: Vec<[f32; 4]> = block
            .range()
            .map(|stored| four(own(stored), weight))
            .collect();

        attributes.insert(
            format!("JOINTS_{set}"),
            buffer.joints(&joints, skin.bone_count()),
        );
        attributes.insert(format!("WEIGHTS_{set}"), buffer.attribute(&weights));
    }
}

/// The values of up to four influences; the default for the missing ones.
fn four<T: Copy + Default>(own: &[Influence], value: impl Fn(&Influence) -> T) -> [T; INFLUENCES] {
    std::array::from_fn(|k| own.get(k).map_or_else(T::default, &value))
}

/// The transform of a joint relative to its parent, in one frame.
fn local(skeleton: &Skeleton, motions: &[DAffine3], joint: usize) -> DAffine3 {
    let world = |joint: usize| motions[joint] * skeleton.joints()[joint].bind();
    let Some(parent) = skeleton.joints()[joint].parent else {
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

/// The motions of the joints at rest. Frames of positions without a track of joints are where they
/// should be, so that joints then rest in the bind pose.
fn rest_motions(asset: &Asset, object: usize) -> Option<&[DAffine3]> {
    let (binding, motions) = asset.objects[object].rest_motions()?;
    let skeleton = |object: usize| asset.objects[object].skin.as_ref().map(|s| &s.skeleton);
    let is_baked = |motion: &Motion| {
        let is_points = matches!(motion.shape, Shape::Points(_));
        is_points && motion.skin.is_none() && skeleton(motion.object) == Some(&binding.skeleton)
    };
    let mut all = asset.clips.iter().flat_map(|clip| &clip.motions);
    (!all.any(is_baked)).then_some(motions)
}

/// Adds a node for each joint, below one node for the skeleton, which comes after them.
fn write_joints(
    skeleton: &Skeleton,
    rest: Option<&[DAffine3]>,
    document: &mut Document,
) -> Vec<usize> {
    let first = document.nodes.len();
    let joints = skeleton.joints();
    let bound = vec![DAffine3::IDENTITY; joints.len()];
    for (k, joint) in joints.iter().enumerate() {
        let local = local(skeleton, rest.unwrap_or(&bound), k);
        let (scale, rotation, translation) = local.to_scale_rotation_translation();
        let rotation = (!rotation.is_near_identity()).then(|| rotation.to_array());

        // Bind transforms are rigid, so that their scale is one.
        let scale = Some(scale).filter(|_| rest.is_some());
        let scale = scale.filter(|scale| !scale.abs_diff_eq(DVec3::ONE, 1e-6));
        document.nodes.push(Node {
            name: Some(joint.name.clone()),
            translation: Some(translation.to_array()),
            rotation,
            scale: scale.map(|scale| scale.to_array()),
            ..Node::default()
        });
    }

    let root = document.nodes.len();
    document.nodes.push(Node {
        name: Some("skeleton".into()),
        ..Node::default()
    });

    for (k, joint) in joints.iter().enumerate() {
        let parent = joint.parent.map_or(root, |parent| first + parent);
        document.nodes[parent].children.push(first + k);
    }

    if let Some(scene) = document.scenes.first_mut() {
        scene.nodes.push(root);
    }

    (first..root).collect()
}

fn write_skin(
    skeleton: &Skeleton,
    offset: DVec3,
    joints: &[usize],
    document: &mut Document,
    buffer: &mut BufferBuilder,
) {
    let back = |joint: &pliant_rig::Joint| {
        // Stored positions are relative to the offset.
        let from_stored = joint.bind().inverse() * DAffine3::from_translation(offset);
        DMat4::from(from_stored).as_mat4().to_cols_array()
    };
    let matrices: Vec<[f32; 16]> = skeleton.joints().iter().map(back).collect();
    let root = joints.last().map(|last| last + 1);
    let inverse_bind_matrices = Some(buffer.matrices(&matrices));

    document.skins.push(document::Skin {
        inverse_bind_matrices,
        joints: joints.to_vec(),
        skeleton: root,
    });
}
