//! The transforms of chosen nodes over time, without evaluating the whole scene.
//!
//! **Equation.** `W = W_parent M(t)` with the local transform `M`. Under another inherit mode, the
//! scale of the parent applies component by component and not to the axes of the child.
//!
//! **Source.** ufbx, `ufbx_inherit_mode` and its evaluation of nodes.
//!
//! **Departures.** Animated geometry transforms are taken at rest.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use pliant_mesh::glam::{DAffine3, DQuat, DVec3};
use ufbx::InheritMode;

/// A node and its ancestors, from the node up.
pub(super) fn ancestors(node: &ufbx::Node) -> impl Iterator<Item = &ufbx::Node> {
    std::iter::successors(Some(node), |node| node.parent.as_deref())
}

/// Some nodes with all their ancestors, each after its parent.
pub(super) struct NodePoses<'a> {
    nodes: Vec<PosedNode<'a>>,
    /// Positions in `nodes`, by typed id.
    position: BTreeMap<u32, usize>,
}

struct PosedNode<'a> {
    node: &'a ufbx::Node,
    parent: Option<usize>,
    scale_parent: Option<usize>,
    is_animated: bool,
}

/// A node at a time.
#[derive(Clone, Copy)]
struct NodePose {
    world: DAffine3,
    unscaled_world: DAffine3,
    inherit_scale: DVec3,
}

impl<'a> NodePoses<'a> {
    /// Prepares `wanted` nodes; `animated` has the element ids that a stack animates.
    pub(super) fn new(
        scene: &'a ufbx::Scene,
        wanted: impl IntoIterator<Item = &'a ufbx::Node>,
        animated: &HashSet<u32>,
    ) -> Self {
        let mut ids: BTreeSet<u32> = BTreeSet::new();
        for node in wanted {
            for node in ancestors(node) {
                ids.insert(node.element.typed_id);
                ids.extend(node.inherit_scale_node.as_ref().map(|n| n.element.typed_id));
            }
        }

        // The library sorts nodes by depth, so that parents come before their children.
        let position: BTreeMap<u32, usize> = ids.iter().copied().zip(0..).collect();
        let at = |node: &ufbx::Node| position.get(&node.element.typed_id).copied();
        let mut nodes = Vec::with_capacity(ids.len());
        for &id in &ids {
            let node = &scene.nodes[id as usize];
            nodes.push(PosedNode {
                node,
                parent: node.parent.as_deref().and_then(at),
                scale_parent: node.inherit_scale_node.as_deref().and_then(at),
                is_animated: animated.contains(&node.element.element_id),
            });
        }

        Self { nodes, position }
    }

    /// How many nodes are evaluated.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Where a wanted node is in the lists of [`at`](Self::at).
    pub(super) fn position(&self, node: &ufbx::Node) -> usize {
        self.position[&node.element.typed_id]
    }

    /// The transforms of all nodes in the scene at a time.
    pub(super) fn at(&self, anim: &ufbx::Anim, time: f64) -> Vec<DAffine3> {
        let mut poses: Vec<NodePose> = Vec::with_capacity(self.nodes.len());
        for posed in &self.nodes {
            let local = if posed.is_animated {
                ufbx::evaluate_transform(anim, posed.node, time)
            } else {
                posed.node.local_transform
            };

            let parent = posed.parent.map(|k| poses[k]);
            let scale_parent = posed.scale_parent.map(|k| poses[k].inherit_scale);
            let normal = posed.node.inherit_mode == InheritMode::Normal;
            poses.push(NodePose::below(parent, local, normal, scale_parent));
        }

        poses.into_iter().map(|pose| pose.world).collect()
    }
}

impl NodePose {
    fn below(
        parent: Option<Self>,
        local: ufbx::Transform,
        normal: bool,
        scale_parent: Option<DVec3>,
    ) -> Self {
        let vector = |v: ufbx::Vec3| DVec3::new(v.x, v.y, v.z);
        let mut scale = vector(local.scale);
        let mut translation = vector(local.translation);
        let rotation = local.rotation;
        let rotation = DQuat::from_xyzw(rotation.x, rotation.y, rotation.z, rotation.w);

        let mut above = DAffine3::IDENTITY;
        if let Some(parent) = parent {
            above = if normal {
                parent.world
            } else {
                parent.unscaled_world
            };
            if !normal {
                scale *= scale_parent.unwrap_or(DVec3::ONE);
                translation *= parent.inherit_scale;
            }
        }

        let matrix =
            |scale| above * DAffine3::from_scale_rotation_translation(scale, rotation, translation);
        Self {
            world: matrix(scale),
            unscaled_world: matrix(DVec3::ONE),
            inherit_scale: scale,
        }
    }
}
