//! Motions of nodes below other nodes that move.
//!
//! **Problem.** A clip has the motion of each joint and object in the scene, glTF that of each node
//! relative to its parent. An object below a joint must not move twice.
//!
//! **Equation.** With the places `W(t)` of a node and `P(t)` of its parent in the scene, the
//! animated local transform is `L(t) = P(t)⁻¹ W(t)`. A joint is at `W = T (B M⁻¹)⁻¹` (see `space`),
//! an object with the motion `T` at `T W(0)`, any other node at `P(t) L(0)`.

use std::collections::HashMap;

use pliant_mesh::glam::DAffine3;

use super::{DocumentEdit, space};
use crate::{Animation, PlacementTrack};

/// Where the nodes of joints and objects are in each frame of a clip.
pub(super) struct NodeMotions {
    /// Joints, by node.
    joints: HashMap<usize, Vec<DAffine3>>,
    /// The placements of objects, by node.
    placed: HashMap<usize, PlacementTrack>,
}

impl DocumentEdit<'_> {
    /// The motions of all nodes that `clip` moves.
    pub(super) fn node_motions(&self, clip: &Animation) -> NodeMotions {
        let mut joints = HashMap::new();
        for (&index, skin) in &self.before.skins {
            // Objects that share a skin share its motions, and skins may share joints.
            let follows = |object: usize| self.before.placed[object].skin == Some(index);
            let mut motions = clip.motions.iter().filter(|motion| follows(motion.object));
            let Some(track) = motions.find_map(|motion| motion.skin.as_ref()) else {
                continue;
            };
            for (k, (&node, from_neutral)) in skin.joints.iter().zip(&skin.from_neutral).enumerate()
            {
                let neutral = from_neutral.inverse();
                let worlds: Vec<DAffine3> =
                    track.motions.iter().map(|row| row[k] * neutral).collect();
                if worlds.iter().all(DAffine3::is_finite) {
                    joints.entry(node).or_insert(worlds);
                }
            }
        }

        let mut placed = HashMap::new();
        for motion in &clip.motions {
            let place = &self.before.placed[motion.object];
            if let (Some(track), Some(&node)) = (&motion.placement, place.chain.first()) {
                placed.entry(node).or_insert_with(|| track.clone());
            }
        }
        NodeMotions { joints, placed }
    }

    /// The animated local transforms of the node of an object; `None` in the first place if they cannot
    /// be expressed, in the second if the node rests.
    pub(super) fn placement_of(
        &self,
        clip: &Animation,
        motions: &NodeMotions,
        node: usize,
    ) -> Option<Option<PlacementTrack>> {
        let nodes = &self.before.nodes;
        let chain = nodes.chain(node);
        let moves =
            |node: &usize| motions.joints.contains_key(node) || motions.placed.contains_key(node);
        if motions.joints.contains_key(&node) {
            return Some(None);
        }

        let own = motions.placed.get(&node);
        if !chain[1..].iter().any(moves) {
            return match own {
                Some(track) => Some(Some(space::local_track(track, nodes, node)?)),
                None => Some(None),
            };
        }

        let rest = nodes.world(&chain);
        let mut locals = Vec::with_capacity(clip.frame_count);
        for frame in 0..clip.frame_count {
            let time = clip.time_secs(frame);
            let world = own.map_or(rest, |track| track.at(time) * rest);
            let parent = self.world_at(clip, motions, &chain[1..], frame);
            let local = parent.inverse() * world;
            if !local.is_finite() {
                return None;
            }
            locals.push(local);
        }

        let local = nodes.local(node);
        if locals.iter().all(|moved| moved.abs_diff_eq(local, 1e-9)) {
            return Some(None);
        }
        let times = (0..clip.frame_count).map(|frame| clip.time_secs(frame));
        Some(Some(PlacementTrack {
            times_secs: times.collect(),
            moved_from_rest: locals,
        }))
    }

    /// Where the first node of a chain is in a frame.
    fn world_at(
        &self,
        clip: &Animation,
        motions: &NodeMotions,
        chain: &[usize],
        frame: usize,
    ) -> DAffine3 {
        let nodes = &self.before.nodes;
        let mut below = DAffine3::IDENTITY;
        for (k, node) in chain.iter().enumerate() {
            if let Some(worlds) = motions.joints.get(node) {
                return worlds[frame] * below;
            }
            if let Some(track) = motions.placed.get(node) {
                return track.at(clip.time_secs(frame)) * nodes.world(&chain[k..]) * below;
            }
            below = nodes.local(*node) * below;
        }
        below
    }
}
