//! The options of a blend as its cage has them.

use pliant_mesh::Mesh;

use super::{BlendOptions, require_sound_options};
use crate::PhysicsError;
use crate::cage::Binding;

impl BlendOptions {
    /// Declines vertices beyond the last and maps that are none.
    pub(crate) fn check(&self, mesh: &Mesh) -> Result<(), PhysicsError> {
        require_sound_options(mesh, self)
    }

    /// Vertices that move linearly.
    pub(crate) fn fixed(&self) -> &[usize] {
        &self.fixed
    }

    /// Vertices that are pulled, with their places.
    pub(crate) fn pulls(&self) -> &[(usize, pliant_mesh::glam::DVec3)] {
        &self.pulls
    }

    /// The same on a cage of so many vertices: what is held there is what lies at a cage vertex.
    pub(crate) fn on_cage(&self, binding: &Binding, nodes: usize) -> Self {
        let unique = |list: Vec<usize>| list.into_iter().collect::<std::collections::BTreeSet<_>>().into_iter().collect();
        Self {
            anchor: unique(self.anchor.iter().filter_map(|&v| binding.main_node(v)).collect()),
            fixed: unique(self.fixed.iter().filter_map(|&v| binding.node_at(v)).collect()),
            pulls: self.pulls.iter().filter_map(|&(v, place)| Some((binding.node_at(v)?, place))).collect(),
            stiffness: self.stiffness.as_ref().map(|map| binding.gather(map, nodes)),
            ..self.clone()
        }
    }
}
