//! Objects that share a mesh of the document, and edits that tell them apart.
//!
//! **Problem.** Several nodes may show one mesh. An asset has an object for each of them, which may be
//! edited alike, differently, or only some of them.
//!
//! **Method.** Objects of one mesh that were edited alike keep sharing it; the first of them edits it for
//! all. Any other group of them gets a copy of the mesh, at the end of the list, which its nodes show
//! instead.

use pliant_mesh::glam::Vec3;
use pliant_rig::Target;
use serde_json::{Value, json};

use super::DocumentEdit;
use crate::Object;

/// Chosen: how far the displacements of targets of two instances may differ, relative to the longest.
/// They were transformed to the scene and back in single precision.
const TOLERANCE: f32 = 1e-5;

/// The mesh that an object is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SharedMesh {
    /// The mesh in the edited document.
    pub(super) mesh: usize,
    /// The object that edits it for all that share it.
    pub(super) leader: usize,
}

impl DocumentEdit<'_> {
    /// Finds the objects that keep sharing a mesh, and gives the others copies. `None` if the nodes
    /// cannot be told apart.
    pub(super) fn share_meshes(&mut self) -> Option<()> {
        // Objects that were not edited keep the mesh of the file.
        let count = self.asset.objects.len();
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&object| self.changes[object].of_mesh());

        let mut shared: Vec<Option<SharedMesh>> = vec![None; count];
        let mut leaders: Vec<usize> = Vec::new();
        for object in order {
            let mesh = self.before.placed[object].mesh;
            let of_mesh = |leader: &&usize| self.before.placed[**leader].mesh == mesh;
            let known: Vec<usize> = leaders.iter().filter(of_mesh).copied().collect();
            let like = known
                .iter()
                .find(|&&leader| self.edited_alike(leader, object));
            shared[object] = match like {
                Some(&leader) => shared[leader],
                None => {
                    leaders.push(object);
                    let mesh = if known.is_empty() {
                        mesh
                    } else {
                        self.copy_mesh(mesh)?
                    };
                    Some(SharedMesh {
                        mesh,
                        leader: object,
                    })
                }
            };
        }

        self.shared = shared.into_iter().collect::<Option<_>>()?;
        (0..count).try_for_each(|object| self.show(object))
    }

    /// Whether two objects of one mesh differ from it in the same way.
    fn edited_alike(&self, a: usize, b: usize) -> bool {
        let (first, second) = (&self.changes[a], &self.changes[b]);
        let same_rest = super::changes::ObjectChanges {
            rest_weights: first.rest_weights,
            ..second.clone()
        };
        if same_rest != *first {
            return false;
        }

        // Whatever is stored per vertex would have to be compared in the space of the mesh.
        let of_vertices = first.attributes() || first.labels || first.frames || first.new_faces;
        let same_list = !first.target_list() && !first.names;
        !of_vertices && (same_list || same_targets(&self.asset.objects[a], &self.asset.objects[b]))
    }

    /// Adds a copy of a mesh of the original document.
    fn copy_mesh(&mut self, mesh: usize) -> Option<usize> {
        let meshes = self.json.get_mut("meshes")?.as_array_mut()?;
        let copy = meshes.get(mesh)?.clone();
        meshes.push(copy);
        self.changed = true;
        Some(meshes.len() - 1)
    }

    /// Makes the node of an object show the mesh that it is written to.
    fn show(&mut self, object: usize) -> Option<()> {
        let place = &self.before.placed[object];
        let mesh = self.shared[object].mesh;
        let Some(&node) = place.chain.first() else {
            return Some(());
        };

        // All instances of one table show the mesh of their node.
        let placed = self.before.placed.iter().zip(&self.shared);
        let mut others = placed.filter(|(other, _)| other.chain.first() == Some(&node));
        if others.any(|(_, shared)| shared.mesh != mesh) {
            return None;
        }
        if place.mesh != mesh {
            let node = self.json.get_mut("nodes")?.get_mut(node)?;
            *node.get_mut("mesh")? = json!(mesh);
        }
        Some(())
    }

    /// Whether another object edits the mesh of this one.
    pub(super) fn follows(&self, object: usize) -> bool {
        self.shared[object].leader != object
    }

    /// The nodes that show the mesh of an object: its own, and those that no object has.
    pub(super) fn nodes_of(&self, object: usize) -> Vec<usize> {
        let own = self.before.placed[object].chain.first().copied();
        let mesh = self.before.placed[object].mesh;
        let is_first = self.first_of_mesh(mesh) == Some(object);
        let owned = |node: usize| {
            let mut placed = self.before.placed.iter();
            placed.any(|place| place.chain.first() == Some(&node))
        };

        let nodes = self.source.document.nodes.iter().enumerate();
        let unowned = nodes
            .filter(|(node, known)| is_first && known.mesh == Some(mesh) && !owned(*node))
            .map(|(node, _)| node);
        own.into_iter().chain(unowned).collect()
    }

    fn first_of_mesh(&self, mesh: usize) -> Option<usize> {
        self.before
            .placed
            .iter()
            .position(|place| place.mesh == mesh)
    }

    /// Whether the original document shows the mesh of an object several times.
    pub(super) fn is_instanced(&self, object: usize) -> bool {
        let mesh = self.before.placed[object].mesh;
        let nodes = self.source.document.nodes.iter();
        nodes.filter(|node| node.mesh == Some(mesh)).count() > 1
    }

    /// The mesh of an object in the edited document.
    pub(super) fn mesh_value(&mut self, object: usize) -> Option<&mut Value> {
        let mesh = self.shared[object].mesh;
        self.json.get_mut("meshes")?.get_mut(mesh)
    }
}

fn same_targets(a: &Object, b: &Object) -> bool {
    let mut pairs = a.rig.targets().iter().zip(b.rig.targets());
    a.rig.targets().len() == b.rig.targets().len() && pairs.all(|(a, b)| same_target(a, b))
}

fn same_target(a: &Target, b: &Target) -> bool {
    let length = |target: &Target| target.deltas.iter().map(|d| d.length()).fold(0.0, f32::max);
    let tolerance = TOLERANCE * length(a).max(length(b));
    let near = |(a, b): (&Vec3, &Vec3)| a.distance(*b) <= tolerance;
    a.name == b.name
        && a.vertices == b.vertices
        && a.deltas.len() == b.deltas.len()
        && a.deltas.iter().zip(&b.deltas).all(near)
}
