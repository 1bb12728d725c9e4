//! The node hierarchy of a glTF scene and the transforms of its nodes.

use pliant_mesh::glam::{DAffine3, DMat4, DQuat, DVec3};

use crate::ReadError;
use crate::gltf::document::{Document, Node};

/// The transform of a node relative to its parent, in parts that can be animated separately.
#[derive(Debug, Clone, Copy)]
pub(super) struct LocalTransform {
    pub(super) scale: DVec3,
    pub(super) rotation: DQuat,
    pub(super) translation: DVec3,
}

impl LocalTransform {
    pub(super) fn of(node: &Node) -> Self {
        let rotation = node.rotation.map_or(DQuat::IDENTITY, DQuat::from_array);
        Self {
            scale: node.scale.map_or(DVec3::ONE, DVec3::from_array),
            rotation: unit_rotation(rotation),
            translation: node.translation.map_or(DVec3::ZERO, DVec3::from_array),
        }
    }

    pub(super) fn matrix(&self) -> DAffine3 {
        DAffine3::from_scale_rotation_translation(self.scale, self.rotation, self.translation)
    }
}

/// The normalised quaternion; the identity for a length of zero or infinity.
pub(super) fn unit_rotation(rotation: DQuat) -> DQuat {
    let length = rotation.length();
    if length > 0.0 && length.is_finite() {
        rotation / length
    } else {
        DQuat::IDENTITY
    }
}

/// The nodes of a document with their parents.
pub(in crate::formats::gltf) struct NodeTree<'a> {
    pub(in crate::formats::gltf) nodes: &'a [Node],
    parents: Vec<Option<usize>>,
}

impl<'a> NodeTree<'a> {
    /// Rejects nodes with two parents and cycles of nodes.
    pub(super) fn of(document: &'a Document) -> Result<Self, ReadError> {
        let nodes = &document.nodes;
        let mut parents = vec![None; nodes.len()];
        for (k, node) in nodes.iter().enumerate() {
            for &child in &node.children {
                let count = nodes.len();
                let Some(parent) = parents.get_mut(child) else {
                    let message = format!("has the child {child}, but there are {count} nodes");
                    return Err(node_error(k, &message));
                };

                if let Some(other) = parent.replace(k) {
                    let message = format!("is a child of both node {other} and node {k}");
                    return Err(node_error(child, &message));
                }
            }
        }

        let tree = Self { nodes, parents };
        tree.check_cycles()?;
        Ok(tree)
    }

    fn check_cycles(&self) -> Result<(), ReadError> {
        // A node that leads to a root is visited once; linear in the number of nodes.
        let mut leads_to_root = vec![false; self.nodes.len()];
        let mut seen_from = vec![usize::MAX; self.nodes.len()];

        for start in 0..self.nodes.len() {
            let mut at = Some(start);
            while let Some(node) = at.filter(|&node| !leads_to_root[node]) {
                if seen_from[node] == start {
                    return Err(node_error(node, "is its own ancestor"));
                }
                seen_from[node] = start;
                at = self.parents[node];
            }

            let mut at = Some(start);
            while let Some(node) = at.filter(|&node| !leads_to_root[node]) {
                leads_to_root[node] = true;
                at = self.parents[node];
            }
        }

        Ok(())
    }

    /// The node and its ancestors, from the node to its root.
    pub(super) fn ancestors(&self, node: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(node), |&node| self.parents[node])
    }

    /// The list of the node and its ancestors, from the node to its root.
    pub(in crate::formats::gltf) fn chain(&self, node: usize) -> Vec<usize> {
        self.ancestors(node).collect()
    }

    /// The parent of a node; `None` for a root.
    pub(in crate::formats::gltf) fn parent(&self, node: usize) -> Option<usize> {
        self.parents[node]
    }

    /// The nodes and all their ancestors, each once and after its parent.
    pub(super) fn with_ancestors(&self, nodes: &[usize]) -> Vec<usize> {
        let mut seen = vec![false; self.nodes.len()];
        let mut order = Vec::new();
        let mut chain = Vec::new();

        for &node in nodes {
            let mut at = Some(node);
            while let Some(node) = at.filter(|&node| !std::mem::replace(&mut seen[node], true)) {
                chain.push(node);
                at = self.parents[node];
            }
            order.extend(chain.drain(..).rev());
        }

        order
    }

    /// The transform of a node relative to its parent, at rest.
    pub(in crate::formats::gltf) fn local(&self, node: usize) -> DAffine3 {
        match &self.nodes[node].matrix {
            Some(matrix) => DAffine3::from_mat4(DMat4::from_cols_array(matrix)),
            None => LocalTransform::of(&self.nodes[node]).matrix(),
        }
    }

    /// The transform of the first node of a chain to the scene, at rest.
    pub(in crate::formats::gltf) fn world(&self, chain: &[usize]) -> DAffine3 {
        let mut transform = DAffine3::IDENTITY;
        for &node in chain {
            transform = self.local(node) * transform;
        }
        transform
    }

    /// The names along a chain: `/rig/child`, or the bare name of a root. Nodes without a name are
    /// skipped.
    pub(super) fn path(&self, chain: &[usize], fallback: &str) -> String {
        let name = |node: usize| self.nodes[node].name.as_deref().unwrap_or_default();
        let own = if name(chain[0]).is_empty() {
            fallback
        } else {
            name(chain[0])
        };

        let ancestors = chain[1..].iter().rev().map(|&node| name(node));
        let steps: Vec<&str> = ancestors
            .chain([own])
            .filter(|name| !name.is_empty())
            .collect();

        if steps.len() > 1 {
            format!("/{}", steps.join("/"))
        } else {
            steps.concat()
        }
    }
}

fn node_error(node: usize, message: &str) -> ReadError {
    ReadError::whole(format!("node {node} {message}; export the file again"))
}
