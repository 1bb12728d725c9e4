//! Skin contact of a soft body in each substep.

use pliant_mesh::glam::DVec3;

use super::SkinContact;
use crate::touch::projection::particle::place_of;
use crate::touch::soft_region::SoftRegion;
use crate::touch::xpbd::soft_body::SoftBody;

/// A frame of skin contact.
pub(crate) struct SkinSeparation<'a> {
    skin: &'a SkinContact,
    /// Soft vertices of pairs, with their nodes.
    nodes: Vec<(u32, usize)>,
    positions: Vec<DVec3>,
    /// Positions at the end of the last substep.
    before: Vec<DVec3>,
    inverse_masses: Vec<f64>,
}

impl<'a> SkinSeparation<'a> {
    /// Rigid vertices are at the animated shape, soft ones at `now`.
    pub(crate) fn new(skin: &'a SkinContact, region: &SoftRegion, now: &[DVec3]) -> Self {
        let node = |&vertex: &u32| Some((vertex, region.node_of(vertex as usize)?));
        let nodes = skin.vertices().iter().filter_map(node).collect();
        Self {
            skin,
            nodes,
            positions: now.to_vec(),
            before: now.to_vec(),
            inverse_masses: vec![0.0; now.len()],
        }
    }

    /// Separates particles of `body` that are too close.
    pub(crate) fn separate(&mut self, body: &mut SoftBody) {
        for &(vertex, node) in &self.nodes {
            let particle = body.particle_mut(node);
            self.before[vertex as usize] = self.positions[vertex as usize];
            self.positions[vertex as usize] = place_of(particle);
            self.inverse_masses[vertex as usize] = particle[3];
        }
        if self.skin.separate(
            &mut self.positions,
            &self.inverse_masses,
            Some(&self.before),
        ) > 0
        {
            for &(vertex, node) in &self.nodes {
                body.push(node, self.positions[vertex as usize]);
            }
        }
    }
}
