//! Particles and the constraints among them.

use pliant_mesh::glam::DVec3;

use super::connections::{Connections, Numbering};
use super::elements::{Elements, RestShape};
use super::particle::{Particle, particle};
use super::soft_body::SoftNodes;
use super::soft_material::SheetConstants;

/// Some nodes of a soft body, as particles that constraints move.
#[derive(Debug, Clone)]
pub(crate) struct Cluster {
    /// The node of each particle; the last particle is none, it fills empty places of groups.
    pub(crate) nodes: Vec<u32>,
    pub(crate) particles: Vec<Particle>,
    /// By particle.
    pub(crate) rest: Vec<DVec3>,
    pub(crate) constants: Vec<SheetConstants>,
    elements: Elements,
}

impl Cluster {
    /// The nodes `first`, and then all others that `connections` need.
    pub(crate) fn new(first: &[u32], connections: &Connections, body: &SoftNodes<'_>) -> Self {
        let mut numbering = Numbering::beginning_with(first);
        let connections = connections.renumbered(&mut numbering);
        let nodes = numbering.into_things();
        let mut cluster = Self {
            particles: nodes
                .iter()
                .map(|&n| particle(body.rest[n as usize], body.inverse_masses[n as usize]))
                .collect(),
            rest: nodes.iter().map(|&n| body.rest[n as usize]).collect(),
            constants: nodes.iter().map(|&n| body.constants[n as usize]).collect(),
            elements: Elements::default(),
            nodes,
        };
        cluster.particles.push([0.0; 4]);
        cluster.rest.push(DVec3::ZERO);
        cluster.constants.push(SheetConstants {
            strain_limit: f64::INFINITY,
            ..SheetConstants::default()
        });
        let shape = RestShape {
            places: &cluster.rest,
            constants: &cluster.constants,
        };
        cluster.elements = Elements::new(&connections, &shape, cluster.nodes.len() as u32);
        cluster.elements.measure(&shape);
        cluster
    }

    /// Takes rest places from those of all nodes. Particles stay where they are.
    pub(crate) fn measure(&mut self, rest: &[DVec3]) {
        for (own, &node) in self.rest.iter_mut().zip(&self.nodes) {
            *own = rest[node as usize];
        }
        self.elements.measure(&RestShape {
            places: &self.rest,
            constants: &self.constants,
        });
    }

    /// Forgets all multipliers: a substep begins.
    pub(crate) fn begin(&mut self) {
        self.elements.begin();
    }

    /// Projects all constraints once.
    #[inline(always)]
    pub(crate) fn sweep(&mut self, substep_secs: f64) {
        self.elements.sweep(substep_secs, &mut self.particles);
    }
}
