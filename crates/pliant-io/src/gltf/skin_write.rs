//! Skins: joints as nodes, their weights as attributes, their motions as animations.
//!
//! **Form.** A joint is a node at its origin, below its parent's or below one that stands for the skeleton. Its inverse
//! bind matrix moves its origin to zero, so that at rest every vertex is where the mesh has it. In a frame in which a
//! joint with origin `o` moves by `T`, its node is at `T · translation(o)`, told relative to its parent's.
//!
//! **Source.** "glTF 2.0 Specification", section 3.7.3.

use std::sync::Arc;

use pliant_mesh::glam::{DAffine3, DVec3};
use pliant_rig::Skeleton;

use super::document::{Attributes, Document, Node, Skin};
use super::split::{Block, Seams};
use super::store::Store;
use crate::{Animation, Asset, SkinTrack};

/// Influences of a vertex that every engine plays.
const INFLUENCES: usize = 4;

/// The one clip whose objects are written as skins, and where their joints are.
pub(super) struct Skins<'a> {
    clip: Option<&'a Animation>,
    /// The skeletons, and the nodes of their joints.
    skeletons: Vec<(&'a Arc<Skeleton>, Vec<usize>)>,
}

impl<'a> Skins<'a> {
    /// Puts the joints into `document`, whose objects stand at `nodes`.
    pub(super) fn write(asset: &'a Asset, nodes: &[usize], document: &mut Document, store: &mut Store) -> Self {
        let clip = asset.clips.iter().find(|clip| clip.motions.iter().any(|motion| motion.skin.is_some()));
        let mut skins = Self { clip, skeletons: Vec::new() };
        for (object, &node) in nodes.iter().enumerate() {
            let Some(track) = clip.and_then(|clip| skins.track(clip, object)) else { continue };
            let known = skins.skeletons.iter().position(|(skeleton, _)| Arc::ptr_eq(skeleton, &track.skeleton));
            document.nodes[node].skin = Some(known.unwrap_or_else(|| {
                let joints = write_joints(&track.skeleton, document);
                write_skin(&track.skeleton, &joints, document, store);
                skins.skeletons.push((&track.skeleton, joints));
                skins.skeletons.len() - 1
            }));
        }
        skins
    }

    /// The skin of an object in a clip, where it is written as one.
    pub(super) fn track(&self, clip: &Animation, object: usize) -> Option<&'a SkinTrack> {
        let own = self.clip.filter(|own| std::ptr::eq(*own, clip))?;
        own.motions.iter().find(|motion| motion.object == object)?.skin.as_ref()
    }

    /// Joints and weights of the stored vertices of an object.
    pub(super) fn attributes(&self, object: usize, seams: &Seams, block: &Block, store: &mut Store, attributes: &mut Attributes) {
        let Some(track) = self.clip.and_then(|clip| self.track(clip, object)).filter(|_| block.count > 0) else { return };
        let (mut joints, mut weights) = (Vec::with_capacity(block.count), Vec::with_capacity(block.count));
        for stored in block.range() {
            let own = track.skin.influences(seams.vertex_of[stored] as usize);
            let kept = &own[..own.len().min(INFLUENCES)];
            let sum: f64 = kept.iter().map(|influence| influence.weight).sum();
            let (mut joint, mut weight) = ([0; INFLUENCES], [0.0; INFLUENCES]);
            for (k, influence) in kept.iter().enumerate() {
                (joint[k], weight[k]) = (influence.bone, (influence.weight / sum) as f32);
            }
            joints.push(joint);
            weights.push(weight);
        }
        attributes.insert("JOINTS_0".into(), store.joints(&joints, track.skin.bone_count()));
        attributes.insert("WEIGHTS_0".into(), store.attribute(&weights));
    }

    /// The moving nodes of a clip: each with its places, relative to the node above, frame by frame.
    pub(super) fn moving_nodes(&self, clip: &Animation) -> Vec<(usize, Vec<DAffine3>)> {
        let own = self.clip.filter(|own| std::ptr::eq(*own, clip));
        let tracks: Vec<&SkinTrack> = own.into_iter().flat_map(|own| &own.motions).filter_map(|motion| motion.skin.as_ref()).collect();
        let of_skeleton = |(skeleton, nodes): &(&Arc<Skeleton>, Vec<usize>)| {
            let motions = tracks.iter().find(|track| Arc::ptr_eq(&track.skeleton, skeleton)).map(|track| &track.motions);
            let moving =
                |joint: usize| (nodes[joint], motions.iter().flat_map(|m| m.iter()).map(|frame| local(skeleton, frame, joint)).collect());
            (0..nodes.len()).map(moving).collect::<Vec<_>>()
        };
        self.skeletons.iter().flat_map(of_skeleton).collect()
    }

    /// What engines do not play of the skins.
    pub(super) fn left_out(&self) -> Option<String> {
        let tracks = self.clip?.motions.iter().filter_map(|motion| motion.skin.as_ref());
        let most = tracks.map(|track| track.skin.most_influences()).max().unwrap_or(0);
        (most > INFLUENCES).then(|| format!("all but the {INFLUENCES} strongest of up to {most} influences on a vertex"))
    }
}

/// The place of a joint relative to its parent's, in one frame.
fn local(skeleton: &Skeleton, motions: &[DAffine3], joint: usize) -> DAffine3 {
    let place = |joint: usize| motions[joint] * DAffine3::from_translation(skeleton.joints()[joint].origin);
    match skeleton.joints()[joint].parent {
        Some(parent) => place(parent).inverse() * place(joint),
        None => place(joint),
    }
}

/// Nodes of the joints, below one for the skeleton, which comes after them.
fn write_joints(skeleton: &Skeleton, document: &mut Document) -> Vec<usize> {
    let first = document.nodes.len();
    let joints = skeleton.joints();
    let origin = |joint: usize| joints[joint].origin;
    for (k, joint) in joints.iter().enumerate() {
        let offset = origin(k) - joint.parent.map_or(DVec3::ZERO, origin);
        document.nodes.push(Node { name: Some(joint.name.clone()), translation: Some(offset.to_array()), ..Node::default() });
    }
    let root = document.nodes.len();
    document.nodes.push(Node { name: Some("skeleton".into()), ..Node::default() });
    for (k, joint) in joints.iter().enumerate() {
        document.nodes[joint.parent.map_or(root, |parent| first + parent)].children.push(first + k);
    }
    if let Some(scene) = document.scenes.first_mut() {
        scene.nodes.push(root);
    }
    (first..root).collect()
}

fn write_skin(skeleton: &Skeleton, joints: &[usize], document: &mut Document, store: &mut Store) {
    let to_origin = |joint: &pliant_rig::Joint| {
        let [x, y, z] = joint.origin.to_array().map(|x| -x as f32);
        [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, x, y, z, 1.0]
    };
    let matrices: Vec<[f32; 16]> = skeleton.joints().iter().map(to_origin).collect();
    let root = joints.last().map(|last| last + 1);
    document.skins.push(Skin { inverse_bind_matrices: store.matrices(&matrices), joints: joints.to_vec(), skeleton: root });
}
