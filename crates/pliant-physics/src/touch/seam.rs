//! Constraints between blocks, on copies of their particles.

use pliant_linalg::wide::{Kernel, run_wide};
use pliant_mesh::glam::DVec3;

use super::block::Block;
use super::cluster::Cluster;
use super::connections::Connections;
use super::particle::put;
use super::soft_body::{Pace, SoftNodes};

/// What connects blocks.
#[derive(Debug, Clone)]
pub(crate) struct Seam {
    cluster: Cluster,
    /// Block and place of each particle that stands for a soft node.
    copies: Vec<(usize, [u32; 2])>,
}

impl Seam {
    /// `places` are the block and the place in it of every soft node.
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

    /// Another rest shape, by node. Held particles are put there; soft ones are copied before every
    /// sweep.
    pub(crate) fn set_rest(&mut self, rest: &[DVec3]) {
        self.cluster.measure(rest);
        for (particle, place) in self.cluster.particles.iter_mut().zip(&self.cluster.rest) {
            put(particle, *place);
        }
    }

    /// Forgets all multipliers: a substep begins.
    pub(crate) fn begin(&mut self) {
        self.cluster.begin();
    }

    /// Projects all constraints between `blocks` once.
    pub(crate) fn sweep(&mut self, blocks: &mut [Block], pace: Pace) {
        if self.copies.is_empty() {
            return;
        }
        for &(k, [block, place]) in &self.copies {
            self.cluster.particles[k] = *blocks[block as usize].particle(place as usize);
        }
        run_wide(SeamSweep {
            cluster: &mut self.cluster,
            pace,
        });
        for &(k, [block, place]) in &self.copies {
            *blocks[block as usize].particle_mut(place as usize) = self.cluster.particles[k];
        }
    }
}

struct SeamSweep<'a> {
    cluster: &'a mut Cluster,
    pace: Pace,
}

impl Kernel for SeamSweep<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.cluster.sweep(self.pace.substep_secs);
    }
}
