//! Particles with the constraints among them.

use pliant_mesh::glam::DVec3;

use super::elements::{Elements, RestShape};
use super::soft_body::SoftNodes;
use crate::touch::projection::connections::{Connections, Numbering};
use crate::touch::projection::particle::{Particle, particle};
use crate::touch::soft_material::SheetConstants;

/// Some nodes of a soft body, as particles.
#[derive(Debug, Clone)]
pub(crate) struct Cluster {
    /// The node of each particle; the last particle has none, empty lanes of groups refer to it.
    pub(crate) nodes: Vec<u32>,
    pub(crate) particles: Vec<Particle>,
    /// By particle.
    pub(crate) rest: Vec<DVec3>,
    pub(crate) constants: Vec<SheetConstants>,
    elements: Elements,
}

impl Cluster {
    /// The nodes `first`, and then all others that `connections` use.
    pub(crate) fn new(first: &[u32], connections: &Connections, body: &SoftNodes<'_>) -> Self {
        let mut numbering = Numbering::starting_with(first);
        let connections = connections.renumbered(&mut numbering);
        let nodes = numbering.into_items();
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

        // The last particle fills empty lanes and has no mass.
        let shape = RestShape {
            places: &cluster.rest,
            constants: &cluster.constants,
        };

        cluster.elements = Elements::new(&connections, &shape, cluster.nodes.len() as u32);
        cluster.elements.measure(&shape);
        cluster
    }

    /// Sets the rest positions from those of all nodes. Particles do not move.
    pub(crate) fn measure(&mut self, rest: &[DVec3]) {
        for (own, &node) in self.rest.iter_mut().zip(&self.nodes) {
            *own = rest[node as usize];
        }
        self.elements.measure(&RestShape {
            places: &self.rest,
            constants: &self.constants,
        });
    }

    /// Sets all multipliers to zero at the start of a substep.
    pub(crate) fn reset_multipliers(&mut self) {
        self.elements.reset_multipliers();
    }

    /// Projects all constraints once.
    #[inline(always)]
    pub(crate) fn sweep(&mut self, substep_secs: f64) {
        self.elements.sweep(substep_secs, &mut self.particles);
    }

    /// Whether a strain limit is so tight that it needs sweeps of its own.
    pub(crate) fn has_tight_limit(&self) -> bool {
        self.elements.has_tight_limit()
    }

    /// Projects the strain limits once.
    #[inline(always)]
    pub(crate) fn limit_strain(&mut self) {
        self.elements.limit_strain(&mut self.particles);
    }
}
