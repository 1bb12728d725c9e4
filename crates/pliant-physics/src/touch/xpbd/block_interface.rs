//! Constraints between blocks, on copies of their particles.

use pliant_linalg::simd::{Kernel, run_vectorized};
use pliant_mesh::glam::DVec3;

use super::block::{Block, LimitSweep};
use super::cluster::Cluster;
use super::soft_body::{SoftNodes, TimeSteps};
use crate::touch::projection::connections::Connections;
use crate::touch::projection::particle::put;

/// The connections between blocks.
#[derive(Debug, Clone)]
pub(crate) struct BlockInterface {
    cluster: Cluster,
    /// Block and index of each particle that is a copy of a soft node.
    copies: Vec<(usize, [u32; 2])>,
}

impl BlockInterface {
    /// `places` are the block and the index in it of every soft node.
    pub(crate) fn new(
        connections: &Connections,
        body: &SoftNodes<'_>,
        places: &[[u32; 2]],
    ) -> Self {
        let cluster = Cluster::new(&[], connections, body);
        let copy = |(k, &node): (usize, &u32)| places.get(node as usize).map(|&place| (k, place));
        let copies = cluster.nodes.iter().enumerate().filter_map(copy).collect();
        Self { cluster, copies }
    }

    /// Sets another rest shape, by node. Held particles move there; soft ones are copied before
    /// every sweep.
    pub(crate) fn set_rest(&mut self, rest: &[DVec3]) {
        self.cluster.measure(rest);
        for (particle, place) in self.cluster.particles.iter_mut().zip(&self.cluster.rest) {
            put(particle, *place);
        }
    }

    /// Sets all multipliers to zero at the start of a substep.
    pub(crate) fn reset_multipliers(&mut self) {
        self.cluster.reset_multipliers();
    }

    /// Projects all constraints between `blocks` once.
    pub(crate) fn sweep(&mut self, blocks: &mut [Block], steps: TimeSteps) {
        if self.copies.is_empty() {
            return;
        }

        self.read(blocks);
        run_vectorized(InterfaceSweep {
            cluster: &mut self.cluster,
            steps,
        });
        self.write(blocks);
    }

    /// Projects the strain limits between `blocks` once.
    pub(crate) fn limit_strain(&mut self, blocks: &mut [Block]) {
        if self.copies.is_empty() {
            return;
        }

        self.read(blocks);
        run_vectorized(LimitSweep(&mut self.cluster));
        self.write(blocks);
    }

    fn read(&mut self, blocks: &[Block]) {
        for &(k, [block, place]) in &self.copies {
            self.cluster.particles[k] = *blocks[block as usize].particle(place as usize);
        }
    }

    fn write(&self, blocks: &mut [Block]) {
        for &(k, [block, place]) in &self.copies {
            *blocks[block as usize].particle_mut(place as usize) = self.cluster.particles[k];
        }
    }
}

struct InterfaceSweep<'a> {
    cluster: &'a mut Cluster,
    steps: TimeSteps,
}

impl Kernel for InterfaceSweep<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.cluster.sweep(self.steps.substep_secs);
    }
}
