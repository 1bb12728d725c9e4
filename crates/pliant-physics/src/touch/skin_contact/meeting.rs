//! Pairs that may meet, over the particles of a soft body.

use pliant_mesh::glam::DVec3;

use super::SkinContact;
use crate::touch::particle::place_of;
use crate::touch::soft_body::SoftBody;
use crate::touch::soft_region::SoftRegion;

/// A frame in which parts of a mesh keep out of each other.
pub(crate) struct SkinMeeting<'a> {
    skin: &'a SkinContact,
    /// Vertices that may meet others and are soft, with their nodes.
    nodes: Vec<(u32, usize)>,
    positions: Vec<DVec3>,
    /// At the end of the last substep.
    before: Vec<DVec3>,
    inverse_masses: Vec<f64>,
}

impl<'a> SkinMeeting<'a> {
    /// With rigid vertices where they are in the animated shape, and soft ones `now`.
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

    /// Moves particles of `body` that are too close apart.
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
