//! Where the scene has each mesh: the chain of nodes above it.

use pliant_mesh::glam::{DAffine3, DMat4, DQuat, DVec3};

use super::document::{Document, Node};
use crate::ReadError;

/// A node's own place as scale, rotation and translation, so that each can be animated alone.
#[derive(Debug, Clone, Copy)]
pub(super) struct Local {
    pub(super) scale: DVec3,
    pub(super) rotation: DQuat,
    pub(super) translation: DVec3,
}

impl Local {
    pub(super) fn of(node: &Node) -> Self {
        let rotation = node.rotation.map_or(DQuat::IDENTITY, DQuat::from_array);
        Self {
            scale: node.scale.map_or(DVec3::ONE, DVec3::from_array),
            rotation: unit(rotation),
            translation: node.translation.map_or(DVec3::ZERO, DVec3::from_array),
        }
    }

    pub(super) fn matrix(&self) -> DAffine3 {
        DAffine3::from_scale_rotation_translation(self.scale, self.rotation, self.translation)
    }
}

/// The rotation of a quaternion of any length; none for zero.
pub(super) fn unit(rotation: DQuat) -> DQuat {
    let length = rotation.length();
    if length > 0.0 && length.is_finite() {
        rotation / length
    } else {
        DQuat::IDENTITY
    }
}

/// The nodes of a document with their parents.
pub(super) struct Nodes<'a> {
    pub(super) nodes: &'a [Node],
    parents: Vec<Option<usize>>,
}

impl<'a> Nodes<'a> {
    /// Declines nodes with two parents and rings of nodes.
    pub(super) fn of(document: &'a Document) -> Result<Self, ReadError> {
        let nodes = &document.nodes;
        let mut parents = vec![None; nodes.len()];
        for (k, node) in nodes.iter().enumerate() {
            for &child in &node.children {
                let count = nodes.len();
                let parent = parents.get_mut(child).ok_or_else(|| {
                    wrong(
                        k,
                        format!("has the child {child}, but there are {count} nodes"),
                    )
                })?;
                if let Some(other) = parent.replace(k) {
                    return Err(wrong(
                        child,
                        format!("is a child of both node {other} and node {k}"),
                    ));
                }
            }
        }
        let this = Self { nodes, parents };
        this.check_rings()?;
        Ok(this)
    }

    fn check_rings(&self) -> Result<(), ReadError> {
        // Every node on a way to a root is fine, and is walked once.
        let mut fine = vec![false; self.nodes.len()];
        let mut seen_from = vec![usize::MAX; self.nodes.len()];
        for start in 0..self.nodes.len() {
            let mut at = Some(start);
            while let Some(node) = at.filter(|&node| !fine[node]) {
                if seen_from[node] == start {
                    return Err(wrong(node, "is its own ancestor".into()));
                }
                seen_from[node] = start;
                at = self.parents[node];
            }
            let mut at = Some(start);
            while let Some(node) = at.filter(|&node| !fine[node]) {
                fine[node] = true;
                at = self.parents[node];
            }
        }
        Ok(())
    }

    /// The node and those above it, from the node to its root.
    pub(super) fn chain(&self, node: usize) -> Vec<usize> {
        std::iter::successors(Some(node), |&node| self.parents[node]).collect()
    }

    /// The node above.
    pub(super) fn parent(&self, node: usize) -> Option<usize> {
        self.parents[node]
    }

    /// The nodes and all above them, each once and after the one above it.
    pub(super) fn with_those_above(&self, nodes: &[usize]) -> Vec<usize> {
        let mut seen = vec![false; self.nodes.len()];
        let (mut order, mut way) = (Vec::new(), Vec::new());
        for &node in nodes {
            let mut at = Some(node);
            while let Some(node) = at.filter(|&node| !std::mem::replace(&mut seen[node], true)) {
                way.push(node);
                at = self.parents[node];
            }
            order.extend(way.drain(..).rev());
        }
        order
    }

    /// The node's own place at rest.
    pub(super) fn local(&self, node: usize) -> DAffine3 {
        match &self.nodes[node].matrix {
            Some(matrix) => DAffine3::from_mat4(DMat4::from_cols_array(matrix)),
            None => Local::of(&self.nodes[node]).matrix(),
        }
    }

    /// The node's place in the scene at rest.
    pub(super) fn world(&self, chain: &[usize]) -> DAffine3 {
        chain
            .iter()
            .fold(DAffine3::IDENTITY, |below, &node| self.local(node) * below)
    }

    /// The names on the way to a node: `/rig/child`, or the bare name of a root. Nodes without a
    /// name are no step.
    pub(super) fn path(&self, chain: &[usize], fallback: &str) -> String {
        let name = |node: usize| self.nodes[node].name.as_deref().unwrap_or_default();
        let own = if name(chain[0]).is_empty() {
            fallback
        } else {
            name(chain[0])
        };
        let above = chain[1..].iter().rev().map(|&node| name(node));
        let steps: Vec<&str> = above.chain([own]).filter(|name| !name.is_empty()).collect();
        if let [] | [_] = steps[..] {
            steps.concat()
        } else {
            format!("/{}", steps.join("/"))
        }
    }
}

fn wrong(node: usize, message: String) -> ReadError {
    ReadError::whole(format!("node {node} {message}; export the file again"))
}
