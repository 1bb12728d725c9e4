//! Nodes of the written scene: one for each object, below nodes for the steps of its path.

use std::collections::HashMap;

use super::node::{Node, properties, property};
use super::scene::{Id, ROOT, Scene};
use super::transform::Transform;
use crate::formats::fbx::TARGET_COUNT;

/// Adds a node of a type such as `Mesh`, not yet below any other.
pub(super) fn add(scene: &mut Scene, name: &str, kind: &str, rest: &Transform) -> Id {
    add_with(scene, name, kind, rest, None)
}

fn add_with(
    scene: &mut Scene,
    name: &str,
    kind: &str,
    rest: &Transform,
    own_property: Option<Node>,
) -> Id {
    let default = property("DefaultAttributeIndex", "int", "Integer", "").value(0);
    let list = rest.properties().into_iter().chain([default]);
    let list = list.chain(own_property);
    let children = [
        Node::of("Version", 232),
        properties(list),
        Node::of("Shading", true),
        Node::of("Culling", "CullingOff"),
    ];
    scene.add("Model", [name, "Model", kind], children)
}

/// Adds a node without a mesh.
pub(super) fn add_group(scene: &mut Scene, name: &str, parent: Id) -> Id {
    let model = add(scene, name, "Null", &Transform::IDENTITY);
    let children = [Node::of("TypeFlags", "Null")];
    let attribute = scene.add("NodeAttribute", ["", "NodeAttribute", "Null"], children);
    scene.connect(attribute, model);
    scene.connect(model, parent);
    model
}

/// The nodes of the paths that exist already.
#[derive(Default)]
pub(super) struct PathTree<'a> {
    groups: HashMap<Vec<&'a str>, Id>,
}

impl<'a> PathTree<'a> {
    /// Adds the node of an object and those of its path that are new. `targets` is the number of
    /// its targets, if further channels are frames of clips.
    pub(super) fn add_object(
        &mut self,
        scene: &mut Scene,
        path: &'a str,
        targets: Option<usize>,
    ) -> Id {
        // Without a leading slash, a path is a bare name, which may contain one.
        let steps: Vec<&str> = match path.strip_prefix('/') {
            Some(path) => path.split('/').collect(),
            None => vec![path],
        };
        let (name, groups) = steps.split_last().expect("a path has at least one step");

        let mut parent = ROOT;
        for depth in 1..=groups.len() {
            parent = match self.groups.get(&groups[..depth]) {
                Some(&group) => group,
                None => {
                    let group = add_group(scene, groups[depth - 1], parent);
                    self.groups.insert(groups[..depth].to_vec(), group);
                    group
                }
            };
        }

        let count =
            targets.map(|count| property(TARGET_COUNT, "int", "Integer", "U").value(count as i32));
        let model = add_with(scene, name, "Mesh", &Transform::IDENTITY, count);
        scene.connect(model, parent);
        model
    }
}
