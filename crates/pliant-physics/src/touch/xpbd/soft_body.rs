//! XPBD body of a soft region, with small substeps.
//!
//! **Problem.** A patch of skin yields to contact, oscillates, and returns; without contact it is
//! the animated shape to the last bit, for any animation.
//!
//! **Equation.** With the animated shape `r` at the end of the frame as rest shape and `n` substeps
//! of `h` seconds,
//!
//! ```text
//! v ← v + h a        x ← x + h v        x ← projections of all constraints        v ← e^(−ch) (x − x_before) / h
//! ```
//!
//! and an elastic foundation that holds every vertex at `r` with the compliance `1/(A K)`, `x ← x +
//! w/(w + α̃) (r − x)`, stiffer towards the rim: `K/s` at the softness `s`.
//!
//! **Source.** Macklin et al., "Small steps in physics simulation", SCA 2019, for one iteration in
//! many substeps; Macklin et al. 2016.
//!
//! **Departures.** Positions move with the animated shape: a frame begins with `x ← x + r −
//! r_before`, so velocities are relative to it and a patch without contact stays on it exactly.
//! Particles are divided into blocks, each with its inner constraints; blocks are swept in
//! parallel, then their interface. Blocks depend on the shape alone.

use std::collections::BTreeMap;

use pliant_linalg::{DisjointSets, SolveWorkspace, parallel};
use pliant_mesh::glam::DVec3;

use super::block::Block;
use super::block_interface::BlockInterface;
use super::volume_layer::VolumeLayer;
use crate::PhysicsError;
use crate::touch::projection::particle::{Particle, place_of};
use crate::touch::soft_material::SheetConstants;
use crate::touch::soft_mesh::SoftMesh;
use crate::touch::xpbd::partition::blocks;
use crate::touch::xpbd::pull::PulledNode;

/// Soft nodes in a block. Measured by the bench `touch`: smaller blocks have larger interfaces,
/// larger ones leave no work for a second thread.
const BLOCK: usize = 900;

/// The mass of a vertex without a face, relative to the mean. Chosen.
const LEAST_MASS: f64 = 1e-3;

/// Soft nodes, their motion and their constraints.
#[derive(Debug, Clone)]
pub(crate) struct SoftBody {
    blocks: Vec<Block>,
    block_interface: BlockInterface,
    volume_layer: Option<VolumeLayer>,
    /// The block and the index in it of every soft node.
    places: Vec<[u32; 2]>,
}

/// Materials and positions of nodes.
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

/// The substeps of a frame.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimeSteps {
    pub(crate) substeps: usize,
    pub(crate) substep_secs: f64,
    pub(crate) iterations: usize,
}

/// Sweeps that enforce tight strain limits in a substep. Chosen: a patch has some tens of edges
/// across, and there are tens of substeps.
const LIMIT_SWEEPS: usize = 4;

impl TimeSteps {
    /// Equal steps of a frame.
    pub(crate) fn of_frame(secs: f64, substeps: usize, iterations: usize) -> Self {
        Self {
            substeps,
            substep_secs: secs / substeps as f64,
            iterations,
        }
    }
}

impl SoftBody {
    /// A body at rest.
    pub(crate) fn new(mesh: &SoftMesh, nodes: &SoftNodes<'_>) -> Self {
        // Blocks of each connected component.
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

        // Constraints within a block, and those between blocks.
        let owner = |node: u32| places.get(node as usize).map(|&[block, _]| block);
        let (inner, between) = mesh.connections.split(groups.len(), owner);
        let blocks = groups
            .iter()
            .zip(&inner)
            .map(|(group, connections)| Block::new(group, connections, nodes))
            .collect();

        Self {
            blocks,
            block_interface: BlockInterface::new(&between, nodes, &places),
            volume_layer: VolumeLayer::new(mesh, nodes),
            places,
        }
    }

    /// Sets another rest shape; particles move by the difference.
    pub(crate) fn set_rest(&mut self, rest: &[DVec3]) {
        parallel::for_each_chunk_mut(&mut self.blocks, 1, |_, blocks| {
            for block in blocks.iter_mut() {
                block.set_rest(rest);
            }
        });
        self.block_interface.set_rest(rest);
        if let Some(layer) = &mut self.volume_layer {
            layer.set_rest(rest);
        }
    }

    /// Keeps the rest shape for this frame.
    pub(crate) fn keep_rest(&mut self) {
        self.blocks.iter_mut().for_each(Block::keep_rest);
    }

    /// Sets the accelerations of the soft nodes for the next frame.
    pub(crate) fn set_accelerations(&mut self, accelerations: &[DVec3]) {
        for block in &mut self.blocks {
            block.set_accelerations(accelerations);
        }
    }

    /// Sets the pulls of the next frame; all others are released.
    pub(crate) fn set_pulls(&mut self, pulled_nodes: &[PulledNode]) {
        self.blocks.iter_mut().for_each(Block::release_pulls);
        for pulled_node in pulled_nodes {
            let [block, place] = self.places[pulled_node.node as usize];
            self.blocks[block as usize].pull_node(place as usize, pulled_node);
        }
    }

    /// Simulates a frame. After all constraints of a substep have been projected, `meet(body,
    /// substep)` may move particles of different blocks, then `finish(block, substep)` those of
    /// each block; velocities follow from the final positions.
    ///
    /// # Errors
    /// A volume layer that cannot be factored.
    pub(crate) fn advance(
        &mut self,
        steps: TimeSteps,
        mut meet: impl FnMut(&mut Self, usize),
        finish: impl Fn(&mut Block, usize) + Sync,
    ) -> Result<(), PhysicsError> {
        if let Some(layer) = &mut self.volume_layer {
            layer.prepare(steps.substep_secs)?;
        }
        let mut workspace = SolveWorkspace::new();
        for block in &mut self.blocks {
            block.prepare(steps.substep_secs);
        }

        // One parallel section for the end of a substep and the start of the next.
        for substep in 0..=steps.substeps {
            parallel::for_each_chunk_mut(&mut self.blocks, 1, |_, blocks| {
                for block in blocks {
                    if substep > 0 {
                        finish(block, substep - 1);
                    }
                    if substep < steps.substeps {
                        block.advance(steps, substep);
                    } else {
                        block.update_velocities();
                    }
                }
            });
            if substep < steps.substeps {
                self.block_interface.reset_multipliers();
                if let Some(layer) = &mut self.volume_layer {
                    layer.reset_multipliers();
                }
                self.block_interface.sweep(&mut self.blocks, steps);
                self.keep_volume(&mut workspace);
                for _ in 1..steps.iterations {
                    self.sweep(steps);
                    self.keep_volume(&mut workspace);
                }
                for _ in 0..LIMIT_SWEEPS {
                    self.limit_strain();
                }
                meet(self, substep);
            }
        }

        Ok(())
    }

    /// Moves particles so that the layer under them keeps its volume.
    fn keep_volume(&mut self, workspace: &mut SolveWorkspace) {
        // The layer reads and writes particles of all blocks.
        if let Some(mut layer) = self.volume_layer.take() {
            layer.project(self, workspace);
            self.volume_layer = Some(layer);
        }
    }

    /// Moves particles so that edges keep within tight strain limits.
    pub(crate) fn limit_strain(&mut self) {
        if !self.blocks.iter().any(Block::has_tight_limit) {
            return;
        }
        parallel::for_each_chunk_mut(&mut self.blocks, 1, |_, blocks| {
            for block in blocks.iter_mut() {
                block.limit_strain();
            }
        });
        self.block_interface.limit_strain(&mut self.blocks);
    }

    /// Whether a strain limit is so tight that it needs sweeps of its own.
    pub(crate) fn has_tight_limit(&self) -> bool {
        self.blocks.iter().any(Block::has_tight_limit)
    }

    /// Projects all constraints once more.
    fn sweep(&mut self, steps: TimeSteps) {
        parallel::for_each_chunk_mut(&mut self.blocks, 1, |_, blocks| {
            for block in blocks.iter_mut() {
                block.sweep(steps);
            }
        });
        self.block_interface.sweep(&mut self.blocks, steps);
    }

    /// Calls `act` for every block, in parallel.
    pub(crate) fn for_each_block(&mut self, act: impl Fn(&mut Block) + Sync) {
        parallel::for_each_chunk_mut(&mut self.blocks, 1, |_, blocks| {
            blocks.iter_mut().for_each(&act);
        });
    }

    /// The position of a soft node before the substep.
    pub(crate) fn place_before(&self, node: usize) -> DVec3 {
        let [block, place] = self.places[node];
        self.blocks[block as usize].place_before(place as usize)
    }

    /// The particle of a soft node.
    pub(crate) fn particle(&self, node: usize) -> &Particle {
        let [block, place] = self.places[node];
        self.blocks[block as usize].particle(place as usize)
    }

    /// The particle of a soft node.
    pub(crate) fn particle_mut(&mut self, node: usize) -> &mut Particle {
        let [block, place] = self.places[node];
        self.blocks[block as usize].particle_mut(place as usize)
    }

    /// Moves a soft node to a position, where it is at rest.
    pub(crate) fn push(&mut self, node: usize, to: DVec3) {
        let [block, place] = self.places[node];
        self.blocks[block as usize].push(place as usize, to);
    }

    /// Moves a soft node after the end of a frame, to where it is at rest.
    pub(crate) fn stop(&mut self, node: usize, to: DVec3) {
        let [block, place] = self.places[node];
        self.blocks[block as usize].stop(place as usize, to);
    }

    /// The positions of the soft nodes, in their order.
    pub(crate) fn soft_places(&self) -> impl Iterator<Item = DVec3> + '_ {
        self.places
            .iter()
            .map(|&[block, place]| place_of(self.blocks[block as usize].particle(place as usize)))
    }

    /// The largest number of nodes that were pushed in a substep of this frame.
    pub(crate) fn contacts(&self) -> usize {
        self.blocks.iter().map(Block::contacts).sum()
    }

    #[cfg(test)]
    pub(crate) fn block_count(&self) -> usize {
        self.blocks.len()
    }
}

/// The soft nodes of each connected component, so that separate patches do not influence each
/// other.
fn parts(mesh: &SoftMesh) -> Vec<Vec<u32>> {
    let is_soft = |node: u32| (node as usize) < mesh.soft_count;
    let mut sets = DisjointSets::new(mesh.soft_count);
    for &[a, b] in mesh
        .connections
        .edges
        .iter()
        .filter(|edge| edge.iter().all(|&n| is_soft(n)))
    {
        sets.merge(a, b);
    }

    let mut parts: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for node in 0..mesh.soft_count as u32 {
        parts.entry(sets.find(node)).or_default().push(node);
    }

    parts.into_values().collect()
}

/// A third of the area of its triangles for every node.
pub(crate) fn masses(mesh: &SoftMesh, rest: &[DVec3]) -> Vec<f64> {
    let mut masses = vec![0.0; rest.len()];
    for triangle in &mesh.connections.triangles {
        let area = pliant_mesh::triangle_area(triangle.map(|v| rest[v as usize]));
        for &v in triangle {
            masses[v as usize] += area / 3.0;
        }
    }

    // Vertices without a face need a positive mass.
    let mean = masses[..mesh.soft_count].iter().sum::<f64>() / mesh.soft_count.max(1) as f64;
    let least = if mean > 0.0 { LEAST_MASS * mean } else { 1.0 };
    masses.into_iter().map(|mass| mass.max(least)).collect()
}
