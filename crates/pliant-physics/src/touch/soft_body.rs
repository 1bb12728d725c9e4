//! A soft patch in motion: small steps of XPBD.
//!
//! **Problem.** A patch of skin gives way to what touches it, swings, and comes back; with nothing
//! touching it, it is the animated shape to the last digit, whatever that shape does.
//!
//! **Equation.** With the animated shape `r` at the end of the frame as rest shape and `n` substeps
//! of `h` seconds,
//!
//! ```text
//! v ← v + h a        x ← x + h v        x ← projections of all constraints        v ← e^(−ch) (x − x_before) / h
//! ```
//!
//! and a bed that holds every vertex at `r` with the compliance `1/(A K)`, `x ← x + w/(w + α̃) (r −
//! x)`, firmer towards the rim: `K/s` at the softness `s`.
//!
//! **Source.** Macklin et al., "Small steps in physics simulation", SCA 2019, for one iteration in
//! many substeps; Macklin et al. 2016.
//!
//! **Ours.** Positions ride on the animated shape: a frame begins with `x ← x + r − r_before`, so
//! velocities are relative to it and a patch that nothing touches stays on it exactly. Particles
//! are cut into blocks, each with the constraints among its own; blocks are swept at the same time,
//! then what connects them. Blocks depend on the shape alone.

use std::collections::BTreeMap;

use pliant_linalg::parallel;
use pliant_mesh::glam::DVec3;

use super::block::Block;
use super::blocks::blocks;
use super::grip::Grip;
use super::particle::{Particle, place_of};
use super::seam::Seam;
use super::soft_material::SheetConstants;
use super::soft_mesh::SoftMesh;

/// Soft nodes in a block: measured by the bench `touch`; smaller ones have more seams, larger ones
/// leave no work for a second thread.
const BLOCK: usize = 900;

/// A vertex that belongs to no face has this part of the mean mass: ours.
const LEAST_MASS: f64 = 1e-3;

/// Soft nodes, their motion and what holds them together.
#[derive(Debug, Clone)]
pub(crate) struct SoftBody {
    blocks: Vec<Block>,
    seam: Seam,
    /// The block and the place in it of every soft node.
    places: Vec<[u32; 2]>,
}

/// What nodes are made of, and where they are.
pub(crate) struct SoftNodes<'a> {
    /// Rest places of all nodes.
    pub(crate) rest: &'a [DVec3],
    /// By node, held ones too.
    pub(crate) constants: &'a [SheetConstants],
    pub(crate) masses: &'a [f64],
    /// Zero where a node is held or pinned.
    pub(crate) inverse_masses: &'a [f64],
    /// Of the soft nodes.
    pub(crate) softness: &'a [f64],
}

/// One frame's time in substeps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) substeps: usize,
    pub(crate) substep_secs: f64,
    pub(crate) iterations: usize,
}

impl SoftBody {
    /// At rest.
    pub(crate) fn new(mesh: &SoftMesh, nodes: &SoftNodes<'_>) -> Self {
        let groups: Vec<Vec<u32>> = parts(mesh)
            .iter()
            .flat_map(|part| blocks(nodes.rest, part, BLOCK))
            .collect();
        let mut places = vec![[0, 0]; mesh.soft_count];
        for (block, group) in (0..).zip(&groups) {
            for (place, &node) in (0..).zip(group) {
                places[node as usize] = [block, place];
            }
        }
        let owner = |node: u32| places.get(node as usize).map(|&[block, _]| block);
        let (inner, between) = mesh.connections.split(groups.len(), owner);
        let blocks = groups
            .iter()
            .zip(&inner)
            .map(|(group, connections)| Block::new(group, connections, nodes))
            .collect();
        Self {
            blocks,
            seam: Seam::new(&between, nodes, &places),
            places,
        }
    }

    /// Another rest shape: particles are carried along by the difference.
    pub(crate) fn set_rest(&mut self, rest: &[DVec3]) {
        parallel::for_each_chunk_mut(&mut self.blocks, 1, |_, blocks| {
            blocks.iter_mut().for_each(|block| block.set_rest(rest))
        });
        self.seam.set_rest(rest);
    }

    /// The rest shape stays in this frame.
    pub(crate) fn stay(&mut self) {
        self.blocks.iter_mut().for_each(Block::stay);
    }

    /// What pushes soft nodes in the next frame, by node.
    pub(crate) fn set_accelerations(&mut self, accelerations: &[DVec3]) {
        self.blocks
            .iter_mut()
            .for_each(|block| block.set_accelerations(accelerations));
    }

    /// What pulls hold in the next frame; everything else is let go.
    pub(crate) fn set_pulls(&mut self, grips: &[Grip]) {
        self.blocks.iter_mut().for_each(Block::let_go);
        for grip in grips {
            let [block, place] = self.places[grip.node as usize];
            self.blocks[block as usize].grip(place as usize, grip);
        }
    }

    /// Moves through a frame. When all constraints have been projected in a substep, `meet` may
    /// move particles of different blocks, then `finish(block, substep)` those of each block;
    /// velocities are taken from where they leave them.
    pub(crate) fn advance(
        &mut self,
        pace: Pace,
        mut meet: impl FnMut(&mut Self),
        finish: impl Fn(&mut Block, usize) + Sync,
    ) {
        self.blocks
            .iter_mut()
            .for_each(|block| block.prepare(pace.substep_secs));
        // One start of threads for the end of a substep and the beginning of the next.
        for substep in 0..=pace.substeps {
            parallel::for_each_chunk_mut(&mut self.blocks, 1, |_, blocks| {
                for block in blocks {
                    if substep > 0 {
                        finish(block, substep - 1);
                    }
                    if substep < pace.substeps {
                        block.advance(pace, substep);
                    } else {
                        block.take_velocities();
                    }
                }
            });
            if substep < pace.substeps {
                self.seam.begin();
                self.seam.sweep(&mut self.blocks, pace);
                (1..pace.iterations).for_each(|_| self.sweep(pace));
                meet(self);
            }
        }
    }

    /// Projects all constraints once more.
    fn sweep(&mut self, pace: Pace) {
        parallel::for_each_chunk_mut(&mut self.blocks, 1, |_, blocks| {
            blocks.iter_mut().for_each(|block| block.sweep(pace))
        });
        self.seam.sweep(&mut self.blocks, pace);
    }

    /// The particle of a soft node.
    pub(crate) fn particle_mut(&mut self, node: usize) -> &mut Particle {
        let [block, place] = self.places[node];
        self.blocks[block as usize].particle_mut(place as usize)
    }

    /// Pushes a soft node to a place, where it rests.
    pub(crate) fn push(&mut self, node: usize, to: DVec3) {
        let [block, place] = self.places[node];
        self.blocks[block as usize].push(place as usize, to);
    }

    /// Where soft nodes are, in their order.
    pub(crate) fn soft_places(&self) -> impl Iterator<Item = DVec3> + '_ {
        self.places
            .iter()
            .map(|&[block, place]| place_of(self.blocks[block as usize].particle(place as usize)))
    }

    /// How many nodes were pushed in a substep of this frame, at most.
    pub(crate) fn pressed(&self) -> usize {
        self.blocks.iter().map(Block::pressed).sum()
    }

    #[cfg(test)]
    pub(crate) fn block_count(&self) -> usize {
        self.blocks.len()
    }
}

/// The soft nodes of each connected part, so that patches that do not touch do not see each other.
fn parts(mesh: &SoftMesh) -> Vec<Vec<u32>> {
    let is_soft = |node: u32| (node as usize) < mesh.soft_count;
    let mut root: Vec<u32> = (0..mesh.soft_count as u32).collect();
    for &[a, b] in mesh
        .connections
        .edges
        .iter()
        .filter(|edge| edge.iter().all(|&n| is_soft(n)))
    {
        let (a, b) = (find(&mut root, a), find(&mut root, b));
        root[a.max(b) as usize] = a.min(b);
    }
    let mut parts: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for node in 0..mesh.soft_count as u32 {
        parts.entry(find(&mut root, node)).or_default().push(node);
    }
    parts.into_values().collect()
}

/// The least node that is known to be connected to `node`.
fn find(root: &mut [u32], mut node: u32) -> u32 {
    while root[node as usize] != node {
        root[node as usize] = root[root[node as usize] as usize];
        node = root[node as usize];
    }
    node
}

/// A third of the area of its triangles for every node.
pub(crate) fn masses(mesh: &SoftMesh, rest: &[DVec3]) -> Vec<f64> {
    let mut masses = vec![0.0; rest.len()];
    for triangle in &mesh.connections.triangles {
        let area = pliant_mesh::triangle_area(triangle.map(|v| rest[v as usize]));
        triangle
            .iter()
            .for_each(|&v| masses[v as usize] += area / 3.0);
    }
    let mean = masses[..mesh.soft_count].iter().sum::<f64>() / mesh.soft_count.max(1) as f64;
    let least = if mean > 0.0 { LEAST_MASS * mean } else { 1.0 };
    masses.into_iter().map(|mass| mass.max(least)).collect()
}
