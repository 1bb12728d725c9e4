//! Nodes of the written objects: one for each object, below nodes for the steps of its path.

use std::collections::HashMap;

use pliant_mesh::glam::DVec3;

use crate::Asset;
use crate::gltf::document::{Document, Node, Scene};

/// Adds the nodes of all objects to `document`, in one scene, and returns the node of each object.
/// Positions of an object are relative to its offset; without `offsets`, all are zero.
pub(super) fn write(asset: &Asset, offsets: &[DVec3], document: &mut Document) -> Vec<usize> {
    let mut tree = PathTree {
        nodes: &mut document.nodes,
        groups: HashMap::new(),
        roots: Vec::new(),
    };

    let mut node_of_object = Vec::with_capacity(asset.objects.len());
    for (k, object) in asset.objects.iter().enumerate() {
        node_of_object.push(tree.add_object(k, &object.path));
    }
    // The joints of a skinned object place it, its own node does not.
    for (k, &offset) in offsets.iter().enumerate() {
        if offset != DVec3::ZERO && asset.objects[k].fitting_skin().is_none() {
            tree.nodes[node_of_object[k]].translation = Some(offset.to_array());
        }
    }

    let roots = tree.roots;
    if !roots.is_empty() {
        document.scenes = vec![Scene { nodes: roots }];
        document.scene = Some(0);
    }

    node_of_object
}

struct PathTree<'a> {
    nodes: &'a mut Vec<Node>,
    /// Nodes of the inner steps of paths, by all steps up to them.
    groups: HashMap<Vec<&'a str>, usize>,
    roots: Vec<usize>,
}

impl<'a> PathTree<'a> {
    /// Adds the node of an object and those of its path that are new.
    fn add_object(&mut self, object: usize, path: &'a str) -> usize {
        // Without a leading slash, a path is a bare name, which may contain one.
        let steps: Vec<&str> = match path.strip_prefix('/') {
            Some(path) => path.split('/').collect(),
            None => vec![path],
        };
        let (name, groups) = steps.split_last().expect("a path has at least one step");

        let mut parent = None;
        for depth in 1..=groups.len() {
            let node = match self.groups.get(&groups[..depth]) {
                Some(&node) => node,
                None => {
                    let node = self.add_node(groups[depth - 1], None, parent);
                    self.groups.insert(groups[..depth].to_vec(), node);
                    node
                }
            };
            parent = Some(node);
        }

        self.add_node(name, Some(object), parent)
    }

    fn add_node(&mut self, name: &str, mesh: Option<usize>, parent: Option<usize>) -> usize {
        let node = self.nodes.len();
        self.nodes.push(Node {
            name: Some(name.to_owned()).filter(|name| !name.is_empty()),
            mesh,
            ..Node::default()
        });

        match parent {
            Some(parent) => self.nodes[parent].children.push(node),
            None => self.roots.push(node),
        }

        node
    }
}
