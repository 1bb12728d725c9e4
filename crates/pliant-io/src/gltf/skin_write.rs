//! Skins: joints as nodes, their weights as attributes, their motions as animations.
//!
//! **Form.** A joint is a node where it is bound, below its parent's or below one that stands for
//! the skeleton. Its inverse bind matrix takes that place back, so that at rest every vertex is
//! where the mesh has it. In a frame in which a joint bound at `P` moves by `T`, its node is at `T
//! P`, told relative to its parent's.
//!
//! **Source.** "glTF 2.0 Specification", section 3.7.3.

use std::borrow::Cow;
use std::sync::Arc;

use pliant_mesh::glam::{DAffine3, DMat4};
use pliant_rig::{Influence, Skeleton};

use super::document::{Attributes, Document, Node, Skin};
use super::split::{Block, Seams};
use super::store::Store;
use crate::{Animation, Asset, Motion, Object, SkinBinding};

/// Influences in one pair of attributes.
const INFLUENCES: usize = 4;

/// The asset with what a skinned node plays: its joints and its weights. All else that moves such
/// an object becomes positions.
pub(super) fn playable(asset: &Asset) -> Cow<'_, Asset> {
    let plays = |motion: &Motion| {
        let of_object = asset.objects.get(motion.object).and_then(binding);
        match &motion.skin {
            Some(track) => of_object == Some(&track.binding) && motion.placement.is_none(),
            None => of_object.is_none() || motion.placement.is_none(),
        }
    };
    if asset.clips.iter().flat_map(|clip| &clip.motions).all(plays) {
        return Cow::Borrowed(asset);
    }
    let mut baked = asset.clone();
    for (clip, own) in baked.clips.iter_mut().zip(&asset.clips) {
        clip.motions
            .iter_mut()
            .filter(|motion| !plays(motion))
            .for_each(|motion| *motion = asset.baked(own, motion.object));
    }
    Cow::Owned(baked)
}

/// The skin of an object, where it fits.
fn binding(object: &Object) -> Option<&SkinBinding> {
    object
        .skin
        .as_ref()
        .filter(|binding| binding.check(object.vertex_count()).is_ok())
}

/// The skins of an asset, and where their joints are.
pub(super) struct Skins<'a> {
    asset: &'a Asset,
    skeletons: Vec<Joints<'a>>,
}

/// A skeleton that objects share.
struct Joints<'a> {
    skeleton: &'a Skeleton,
    /// The first object that follows it: all others follow it through the same motions.
    object: usize,
    nodes: Vec<usize>,
}

impl<'a> Skins<'a> {
    /// Puts the joints into `document`, whose objects stand at `nodes`.
    pub(super) fn write(
        asset: &'a Asset,
        nodes: &[usize],
        document: &mut Document,
        store: &mut Store,
    ) -> Self {
        let mut skins = Self {
            asset,
            skeletons: Vec::new(),
        };
        for (object, &node) in nodes.iter().enumerate() {
            let Some(binding) = binding(&asset.objects[object]) else {
                continue;
            };
            let known = skins
                .skeletons
                .iter()
                .position(|joints| skins.alike(joints.object, object));
            document.nodes[node].skin = Some(known.unwrap_or_else(|| {
                let nodes = write_joints(&binding.skeleton, document);
                write_skin(&binding.skeleton, &nodes, document, store);
                skins.skeletons.push(Joints {
                    skeleton: &binding.skeleton,
                    object,
                    nodes,
                });
                skins.skeletons.len() - 1
            }));
        }
        skins
    }

    /// Whether two objects follow the same joints in all clips.
    fn alike(&self, a: usize, b: usize) -> bool {
        let skeleton =
            |object: usize| binding(&self.asset.objects[object]).map(|binding| &binding.skeleton);
        let same = |(a, b): (&Arc<Skeleton>, &Arc<Skeleton>)| Arc::ptr_eq(a, b) || a == b;
        skeleton(a).zip(skeleton(b)).is_some_and(same)
            && self
                .asset
                .clips
                .iter()
                .all(|clip| match (motions(clip, a), motions(clip, b)) {
                    (Some(a), Some(b)) => std::ptr::eq(a, b) || a == b,
                    (a, b) => a.is_none() && b.is_none(),
                })
    }

    /// Joints and weights of the stored vertices of an object, four to a set.
    pub(super) fn attributes(
        &self,
        object: usize,
        seams: &Seams,
        block: &Block,
        store: &mut Store,
        attributes: &mut Attributes,
    ) {
        let Some(binding) = binding(&self.asset.objects[object]).filter(|_| block.count > 0) else {
            return;
        };
        let skin = &binding.skin;
        for set in 0..skin.most_influences().div_ceil(INFLUENCES) {
            let own = |stored: usize| {
                skin.influences(seams.vertex_of[stored] as usize)
                    .chunks(INFLUENCES)
                    .nth(set)
                    .unwrap_or_default()
            };
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
                store.joints(&joints, skin.bone_count()),
            );
            attributes.insert(format!("WEIGHTS_{set}"), store.attribute(&weights));
        }
    }

    /// The moving nodes of a clip: each with its places, relative to the node above, frame by
    /// frame.
    pub(super) fn moving_nodes(&self, clip: &Animation) -> Vec<(usize, Vec<DAffine3>)> {
        let of_skeleton = |joints: &Joints<'_>| {
            let frames = motions(clip, joints.object).unwrap_or_default();
            let moving = |joint: usize| {
                (
                    joints.nodes[joint],
                    frames
                        .iter()
                        .map(|frame| local(joints.skeleton, frame, joint))
                        .collect(),
                )
            };
            (0..joints.nodes.len())
                .filter(|_| !frames.is_empty())
                .map(moving)
                .collect::<Vec<_>>()
        };
        self.skeletons.iter().flat_map(of_skeleton).collect()
    }
}

fn motions(clip: &Animation, object: usize) -> Option<&[Vec<DAffine3>]> {
    let motion = clip.motions.iter().find(|motion| motion.object == object)?;
    motion.skin.as_ref().map(|track| track.motions.as_slice())
}

fn four<T: Copy + Default>(own: &[Influence], value: impl Fn(&Influence) -> T) -> [T; INFLUENCES] {
    std::array::from_fn(|k| own.get(k).map_or_else(T::default, &value))
}

/// The place of a joint relative to its parent's, in one frame.
fn local(skeleton: &Skeleton, motions: &[DAffine3], joint: usize) -> DAffine3 {
    let place = |joint: usize| motions[joint] * skeleton.joints()[joint].bind();
    match skeleton.joints()[joint].parent {
        // Below a joint that is shrunk to a point, every place is that point.
        Some(parent) => Some(place(parent).inverse())
            .filter(DAffine3::is_finite)
            .map_or(DAffine3::IDENTITY, |above| above * place(joint)),
        None => place(joint),
    }
}

/// Nodes of the joints, below one for the skeleton, which comes after them.
fn write_joints(skeleton: &Skeleton, document: &mut Document) -> Vec<usize> {
    let first = document.nodes.len();
    let joints = skeleton.joints();
    for joint in joints {
        let above = joint
            .parent
            .map_or(DAffine3::IDENTITY, |parent| joints[parent].bind());
        let (_, rotation, translation) =
            (above.inverse() * joint.bind()).to_scale_rotation_translation();
        let rotation = (!rotation.is_near_identity()).then(|| rotation.to_array());
        document.nodes.push(Node {
            name: Some(joint.name.clone()),
            translation: Some(translation.to_array()),
            rotation,
            ..Node::default()
        });
    }
    let root = document.nodes.len();
    document.nodes.push(Node {
        name: Some("skeleton".into()),
        ..Node::default()
    });
    for (k, joint) in joints.iter().enumerate() {
        document.nodes[joint.parent.map_or(root, |parent| first + parent)]
            .children
            .push(first + k);
    }
    if let Some(scene) = document.scenes.first_mut() {
        scene.nodes.push(root);
    }
    (first..root).collect()
}

fn write_skin(skeleton: &Skeleton, joints: &[usize], document: &mut Document, store: &mut Store) {
    let back = |joint: &pliant_rig::Joint| {
        DMat4::from(joint.bind().inverse())
            .as_mat4()
            .to_cols_array()
    };
    let matrices: Vec<[f32; 16]> = skeleton.joints().iter().map(back).collect();
    let root = joints.last().map(|last| last + 1);
    let inverse_bind_matrices = Some(store.matrices(&matrices));
    document.skins.push(Skin {
        inverse_bind_matrices,
        joints: joints.to_vec(),
        skeleton: root,
    });
}
