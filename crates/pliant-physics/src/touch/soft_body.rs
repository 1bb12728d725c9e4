//! A soft patch in motion: small steps of XPBD.
//!
//! **Problem.** A patch of skin gives way to what touches it, swings, and comes back; with nothing touching it, it is the animated shape
//! to the last digit, whatever that shape does.
//!
//! **Equation.** With the animated shape `r` at the end of the frame as rest shape and `n` substeps of `h` seconds,
//!
//! ```text
//! v ← v + h a        x ← x + h v        x ← projections of all constraints        v ← e^(−ch) (x − x_before) / h
//! ```
//!
//! and a bed that holds every vertex at `r` with the compliance `1/(A K)`, `x ← x + w/(w + α̃) (r − x)`, firmer towards the rim: `K/s` at the
//! softness `s`.
//!
//! **Source.** Macklin et al., "Small steps in physics simulation", SCA 2019, for one iteration in many substeps; Macklin et al. 2016.
//!
//! **Ours.** Positions ride on the animated shape: a frame begins with `x ← x + r − r_before`, so velocities are relative to it and a patch
//! that nothing touches stays on it exactly. Particles are cut into blocks, each with the constraints among its own; blocks are swept at the
//! same time, then what connects them. Blocks depend on the shape alone.

use std::collections::BTreeMap;

use pliant_linalg::wide::{Kernel, run_wide};
use pliant_linalg::{parallel, portable};
use pliant_mesh::glam::DVec3;

use super::blocks::blocks;
use super::constraint_group::Particle;
use super::elements::{Connections, Elements, RestShape};
use super::soft_material::Stiffness;
use super::soft_mesh::SoftMesh;

/// Soft nodes in a block: measured; smaller ones have more seams, larger ones leave no work for a second thread.
const BLOCK: usize = 900;

/// A vertex that belongs to no face has this part of the mean mass: ours.
const LEAST_MASS: f64 = 1e-3;

/// Soft nodes, their motion and what holds them together.
#[derive(Debug, Clone)]
pub(crate) struct SoftBody {
    pub(crate) blocks: Vec<Block>,
    seam: Seam,
    /// The block and the place in it of every soft node.
    places: Vec<(u32, u32)>,
    soft_count: usize,
}

/// Nodes that are neighbours, with the constraints among them. Soft nodes come first.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    pub(crate) soft_count: usize,
    /// The node of each particle; the last particle is none, it fills empty places.
    pub(crate) nodes: Vec<u32>,
    pub(crate) particles: Vec<Particle>,
    /// Before the substep. Like velocities and accelerations it has four numbers, of which the last stays as it is.
    pub(crate) before: Vec<Particle>,
    velocities: Vec<Particle>,
    accelerations: Vec<Particle>,
    rest: Vec<DVec3>,
    /// How far the rest shape went in this frame.
    pub(crate) carried: Vec<DVec3>,
    /// Particles that were pushed in the last substep.
    pub(crate) pressed: usize,
    inverse_masses: Vec<f64>,
    beds: Vec<Bed>,
    pulled: Vec<Pulled>,
    /// The share of a displacement that becomes the next velocity.
    kept: Vec<f64>,
    stiffness: Vec<Stiffness>,
    elements: Elements,
}

/// What holds a node at a place.
#[derive(Debug, Clone, Copy)]
struct Bed {
    /// Where: the rest place, or one that a pull moves.
    goal: Particle,
    multiplier: Particle,
    compliance: f64,
    /// How many times as firm as usual it is, where a pull holds it.
    firmness: f64,
    /// In the substeps of a frame: the compliance over the square of their time, and one over it and the inverse mass.
    soft: f64,
    response: f64,
}

/// A particle on its way to where it is pulled.
#[derive(Debug, Clone, Copy)]
struct Pulled {
    particle: usize,
    from: DVec3,
    to: DVec3,
}

/// How a soft node is held by a pull.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grip {
    pub(crate) node: u32,
    /// From its rest place.
    pub(crate) offset: DVec3,
    /// Infinite: held in place. Else softly, up to one.
    pub(crate) firmness: f64,
}

/// How many times as firm as its bed a pull holds skin around the pulled vertex: ours.
const GRIP_FIRMNESS: f64 = 400.0;

/// Constraints between blocks, on copies of their particles.
#[derive(Debug, Clone, Default)]
struct Seam {
    nodes: Vec<u32>,
    particles: Vec<Particle>,
    rest: Vec<DVec3>,
    stiffness: Vec<Stiffness>,
    elements: Elements,
}

/// What nodes are made of.
pub(crate) struct SoftNodes<'a> {
    /// Rest places of all nodes.
    pub(crate) rest: &'a [DVec3],
    /// By node, held ones too.
    pub(crate) stiffness: &'a [Stiffness],
    /// Of the soft nodes.
    pub(crate) softness: &'a [f64],
    /// Soft nodes that do not move all the same.
    pub(crate) pinned: &'a [bool],
}

/// One frame's time in substeps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) substeps: usize,
    pub(crate) substep_secs: f64,
    pub(crate) iterations: usize,
}

impl SoftBody {
    pub(crate) fn new(mesh: &SoftMesh, nodes: &SoftNodes<'_>) -> Self {
        let masses = masses(mesh, nodes.rest);
        let groups: Vec<Vec<u32>> = parts(mesh).iter().flat_map(|part| blocks(nodes.rest, part, BLOCK)).collect();
        let mut places = vec![(0, 0); mesh.soft_count];
        for (b, group) in groups.iter().enumerate() {
            for (k, &node) in group.iter().enumerate() {
                places[node as usize] = (b as u32, k as u32);
            }
        }
        let (inner, between) = Owned::split(mesh, groups.len(), &places);
        let blocks = groups.into_iter().zip(inner).map(|(group, owned)| Block::new(&group, &owned, nodes, &masses)).collect();
        let seam = Seam::new(&between, nodes, &masses, mesh.soft_count);
        Self { blocks, seam, places, soft_count: mesh.soft_count }
    }

    /// Another rest shape: particles are carried along by the difference.
    pub(crate) fn set_rest(&mut self, rest: &[DVec3]) {
        parallel::for_each_chunk_mut(&mut self.blocks, 1, |_, blocks| blocks.iter_mut().for_each(|block| block.set_rest(rest)));
        self.seam.set_rest(rest);
    }

    /// The rest shape stays in this frame.
    pub(crate) fn stay(&mut self) {
        self.blocks.iter_mut().for_each(|block| block.carried.fill(DVec3::ZERO));
    }

    /// What pushes soft nodes in the next frame, by node.
    pub(crate) fn set_accelerations(&mut self, accelerations: &[DVec3]) {
        for block in &mut self.blocks {
            for k in 0..block.soft_count {
                let free = block.inverse_masses[k] > 0.0;
                block.accelerations[k] = if free { with_last(accelerations[block.nodes[k] as usize], 0.0) } else { [0.0; 4] };
            }
        }
    }

    /// What pulls hold in the next frame; everything else is let go.
    pub(crate) fn set_pulls(&mut self, grips: &[Grip]) {
        self.blocks.iter_mut().for_each(Block::let_go);
        for grip in grips {
            let (block, place) = self.places[grip.node as usize];
            self.blocks[block as usize].grip(place as usize, grip);
        }
    }

    /// Moves through a frame. When all constraints have been projected in a substep, `meet` may move particles of different blocks, then
    /// `finish(block, substep)` those of each block; velocities are taken from where they leave them.
    pub(crate) fn advance(&mut self, pace: Pace, mut meet: impl FnMut(&mut Self), finish: impl Fn(&mut Block, usize) + Sync) {
        self.blocks.iter_mut().for_each(|block| block.prepare(pace.substep_secs));
        for substep in 0..=pace.substeps {
            parallel::for_each_chunk_mut(&mut self.blocks, 1, |_, blocks| {
                for block in blocks {
                    if substep > 0 {
                        finish(block, substep - 1);
                    }
                    if substep < pace.substeps {
                        run_wide(Substep { block, pace, substep });
                    } else {
                        block.take_velocities();
                    }
                }
            });
            if substep < pace.substeps {
                self.sweep_seam(pace);
                meet(self);
            }
        }
    }

    fn sweep_seam(&mut self, pace: Pace) {
        if self.seam.nodes.is_empty() {
            return;
        }
        for (k, &node) in self.seam.nodes.iter().enumerate() {
            if let Some(&(block, place)) = self.places.get(node as usize) {
                self.seam.particles[k] = self.blocks[block as usize].particles[place as usize];
            }
        }
        run_wide(SeamStep { seam: &mut self.seam, pace });
        for (k, &node) in self.seam.nodes.iter().enumerate() {
            if let Some(&(block, place)) = self.places.get(node as usize) {
                self.blocks[block as usize].particles[place as usize] = self.seam.particles[k];
            }
        }
    }

    /// The particle of a soft node.
    pub(crate) fn particle_mut(&mut self, node: usize) -> &mut Particle {
        let (block, place) = self.places[node];
        &mut self.blocks[block as usize].particles[place as usize]
    }

    /// Where soft nodes are, in their order.
    pub(crate) fn soft_places(&self) -> impl Iterator<Item = DVec3> + '_ {
        self.places[..self.soft_count].iter().map(|&(block, place)| place_of(&self.blocks[block as usize].particles[place as usize]))
    }
}

/// Three coordinates and a fourth number.
fn with_last(v: DVec3, last: f64) -> Particle {
    [v.x, v.y, v.z, last]
}

/// The position of a particle.
pub(crate) fn place_of(&[x, y, z, _]: &Particle) -> DVec3 {
    DVec3::new(x, y, z)
}

/// The soft nodes of each connected part, so that patches that do not touch do not see each other.
fn parts(mesh: &SoftMesh) -> Vec<Vec<u32>> {
    let is_soft = |node: u32| (node as usize) < mesh.soft_count;
    let mut root: Vec<u32> = (0..mesh.soft_count as u32).collect();
    for &[a, b] in mesh.edges.iter().filter(|edge| edge.iter().all(|&n| is_soft(n))) {
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
fn masses(mesh: &SoftMesh, rest: &[DVec3]) -> Vec<f64> {
    let mut masses = vec![0.0; rest.len()];
    for triangle in &mesh.triangles {
        let area = pliant_mesh::triangle_area(triangle.map(|v| rest[v as usize]));
        triangle.iter().for_each(|&v| masses[v as usize] += area / 3.0);
    }
    let mean = masses[..mesh.soft_count].iter().sum::<f64>() / mesh.soft_count.max(1) as f64;
    let least = if mean > 0.0 { LEAST_MASS * mean } else { 1.0 };
    masses.into_iter().map(|mass| mass.max(least)).collect()
}

/// Connections by nodes, those within blocks and those between.
#[derive(Default, Clone)]
struct Owned(Connections);

impl Owned {
    fn split(mesh: &SoftMesh, count: usize, places: &[(u32, u32)]) -> (Vec<Self>, Self) {
        let (mut inner, mut between) = (vec![Self::default(); count], Self::default());
        // The block of all soft nodes of an element, if it is one.
        let owner = |nodes: &[u32]| {
            let mut blocks = nodes.iter().filter_map(|&node| places.get(node as usize)).map(|place| place.0);
            let first = blocks.next()?;
            blocks.all(|block| block == first).then_some(first as usize)
        };
        let mut of = |nodes: &[u32], add: &dyn Fn(&mut Connections)| match owner(nodes) {
            Some(block) => add(&mut inner[block].0),
            None => add(&mut between.0),
        };
        for (edge, area) in mesh.edges.iter().zip(&mesh.edge_areas) {
            of(edge, &|c| {
                c.edges.push(*edge);
                c.edge_areas.push(*area);
            });
        }
        mesh.triangles.iter().for_each(|t| of(t, &|c| c.triangles.push(*t)));
        mesh.hinges.iter().for_each(|h| of(h, &|c| c.hinges.push(*h)));
        (inner, between)
    }

    /// Connections among particles that stand for `first` and then for every other node that occurs, and all those nodes.
    fn localize(&self, first: &[u32]) -> (Connections, Vec<u32>) {
        let mut nodes = super::soft_mesh::Nodes::new(first);
        let connections = Connections {
            edges: nodes.all(&self.0.edges),
            edge_areas: self.0.edge_areas.clone(),
            triangles: nodes.all(&self.0.triangles),
            hinges: nodes.all(&self.0.hinges),
        };
        (connections, nodes.into_vertices())
    }
}

impl Block {
    fn new(group: &[u32], owned: &Owned, nodes: &SoftNodes<'_>, masses: &[f64]) -> Self {
        let (connections, own) = owned.localize(group);
        let rest: Vec<DVec3> = own.iter().map(|&n| nodes.rest[n as usize]).collect();
        let stiffness: Vec<Stiffness> = own.iter().map(|&n| nodes.stiffness[n as usize]).collect();
        let is_free = |n: u32| nodes.pinned.get(n as usize).is_some_and(|pinned| !pinned);
        let particle = |(&n, p): (&u32, &DVec3)| [p.x, p.y, p.z, if is_free(n) { 1.0 / masses[n as usize] } else { 0.0 }];
        let bed = |&n: &u32| {
            let n = n as usize;
            let compliance = nodes.softness[n] / (nodes.stiffness[n].bed * masses[n]);
            Bed { goal: with_last(nodes.rest[n], 0.0), multiplier: [0.0; 4], compliance, firmness: 1.0, soft: 0.0, response: 0.0 }
        };
        let mut block = Self {
            soft_count: group.len(),
            particles: own.iter().zip(&rest).map(particle).collect(),
            before: vec![[0.0; 4]; group.len()],
            velocities: vec![[0.0; 4]; group.len()],
            accelerations: vec![[0.0; 4]; group.len()],
            carried: vec![DVec3::ZERO; group.len()],
            pressed: 0,
            inverse_masses: Vec::new(),
            beds: group.iter().map(bed).collect(),
            pulled: Vec::new(),
            kept: vec![0.0; group.len()],
            elements: Elements::default(),
            nodes: own,
            rest,
            stiffness,
        };
        block.inverse_masses = block.particles[..group.len()].iter().map(|p| p[3]).collect();
        block.particles.push([0.0; 4]);
        block.rest.push(DVec3::ZERO);
        block.stiffness.push(Stiffness::default());
        let shape = RestShape { places: &block.rest, stiffness: &block.stiffness };
        block.elements = Elements::new(&connections, &shape, block.nodes.len() as u32);
        block.elements.measure(&shape);
        block
    }

    fn set_rest(&mut self, rest: &[DVec3]) {
        for (k, &node) in self.nodes.iter().enumerate() {
            let (old, new) = (self.rest[k], rest[node as usize]);
            let [x, y, z, w] = self.particles[k];
            let place = new + (DVec3::new(x, y, z) - old);
            self.particles[k] = [place.x, place.y, place.z, w];
            self.rest[k] = new;
            if k < self.soft_count {
                self.carried[k] = new - old;
            }
        }
        self.elements.measure(&RestShape { places: &self.rest, stiffness: &self.stiffness });
    }

    fn let_go(&mut self) {
        for Pulled { particle, .. } in self.pulled.drain(..) {
            self.particles[particle][3] = self.inverse_masses[particle];
        }
        for (bed, rest) in self.beds.iter_mut().zip(&self.rest) {
            (bed.goal, bed.firmness) = (with_last(*rest, 0.0), 1.0);
        }
    }

    fn grip(&mut self, particle: usize, grip: &Grip) {
        let bed = &mut self.beds[particle];
        bed.goal = with_last(self.rest[particle] + grip.offset, 0.0);
        if grip.firmness.is_finite() {
            bed.firmness = 1.0 + GRIP_FIRMNESS * grip.firmness;
            return;
        }
        let from = place_of(&self.particles[particle]);
        self.particles[particle][3] = 0.0;
        self.pulled.push(Pulled { particle, from, to: self.rest[particle] + grip.offset });
    }

    /// Takes pulled particles along; `end` is the share of the frame at the end of the substep.
    fn pull(&mut self, end: f64) {
        for &Pulled { particle, from, to } in &self.pulled {
            let place = if end == 1.0 { to } else { from.lerp(to, end) };
            self.particles[particle] = [place.x, place.y, place.z, 0.0];
        }
    }

    /// Moves soft particles ahead by their velocities; pinned ones have none.
    #[inline(always)]
    fn predict(&mut self, substep_secs: f64) {
        for k in 0..self.soft_count {
            let (particle, velocity, acceleration) = (&mut self.particles[k], self.velocities[k], self.accelerations[k]);
            self.before[k] = *particle;
            for c in 0..4 {
                particle[c] += (velocity[c] + acceleration[c] * substep_secs) * substep_secs;
            }
        }
    }

    /// Takes the velocities of the last substep and moves on.
    #[inline(always)]
    fn move_on(&mut self, substep_secs: f64) {
        let count = self.soft_count;
        let moving = self.accelerations[..count].iter().zip(&self.kept[..count]);
        for ((particle, before), (acceleration, kept)) in self.particles[..count].iter_mut().zip(&mut self.before[..count]).zip(moving) {
            let place = *particle;
            for c in 0..4 {
                particle[c] += ((place[c] - before[c]) * kept + acceleration[c] * substep_secs) * substep_secs;
            }
            *before = place;
        }
    }

    #[inline(always)]
    fn hold(&mut self) {
        for (particle, bed) in self.particles[..self.soft_count].iter_mut().zip(&mut self.beds) {
            let w = particle[3];
            for c in 0..3 {
                let step = (bed.goal[c] - particle[c] - bed.multiplier[c] * bed.soft) * bed.response;
                bed.multiplier[c] += step;
                particle[c] += step * w;
            }
        }
    }

    /// What does not change in the substeps of a frame: how much of velocities is left, and how beds give way.
    fn prepare(&mut self, substep_secs: f64) {
        let mut last = (f64::NAN, 0.0);
        for (kept, stiffness) in self.kept.iter_mut().zip(&self.stiffness) {
            // Neighbours are of one material.
            if stiffness.damping_rate != last.0 {
                last = (stiffness.damping_rate, portable::exp(-stiffness.damping_rate * substep_secs) / substep_secs);
            }
            *kept = last.1;
        }
        for (bed, particle) in self.beds.iter_mut().zip(&self.particles) {
            bed.soft = bed.compliance / (bed.firmness * substep_secs * substep_secs);
            bed.response = 1.0 / (particle[3] + bed.soft);
        }
    }

    fn take_velocities(&mut self) {
        for k in 0..self.soft_count {
            for c in 0..4 {
                self.velocities[k][c] = (self.particles[k][c] - self.before[k][c]) * self.kept[k];
            }
        }
    }
}

struct Substep<'a> {
    block: &'a mut Block,
    pace: Pace,
    substep: usize,
}

impl Kernel for Substep<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (block, secs) = (self.block, self.pace.substep_secs);
        if self.substep == 0 {
            block.predict(secs);
        } else {
            block.move_on(secs);
        }
        block.pull((self.substep + 1) as f64 / self.pace.substeps as f64);
        block.beds.iter_mut().for_each(|bed| bed.multiplier = [0.0; 4]);
        block.elements.begin();
        for _ in 0..self.pace.iterations {
            block.hold();
            block.elements.sweep(secs, &mut block.particles);
        }
    }
}

struct SeamStep<'a> {
    seam: &'a mut Seam,
    pace: Pace,
}

impl Kernel for SeamStep<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.seam.elements.begin();
        for _ in 0..self.pace.iterations {
            self.seam.elements.sweep(self.pace.substep_secs, &mut self.seam.particles);
        }
    }
}

impl Seam {
    fn new(owned: &Owned, nodes: &SoftNodes<'_>, masses: &[f64], soft_count: usize) -> Self {
        let (connections, own) = owned.localize(&[]);
        let inverse_mass = |n: usize| if n < soft_count && !nodes.pinned[n] { 1.0 / masses[n] } else { 0.0 };
        let particle = |&n: &u32| {
            let p = nodes.rest[n as usize];
            [p.x, p.y, p.z, inverse_mass(n as usize)]
        };
        let mut seam = Self {
            particles: own.iter().map(particle).chain([[0.0; 4]]).collect(),
            rest: own.iter().map(|&n| nodes.rest[n as usize]).chain([DVec3::ZERO]).collect(),
            stiffness: own.iter().map(|&n| nodes.stiffness[n as usize]).chain([Stiffness::default()]).collect(),
            nodes: own,
            elements: Elements::default(),
        };
        let shape = RestShape { places: &seam.rest, stiffness: &seam.stiffness };
        seam.elements = Elements::new(&connections, &shape, seam.nodes.len() as u32);
        seam.elements.measure(&shape);
        seam
    }

    fn set_rest(&mut self, rest: &[DVec3]) {
        for (k, &node) in self.nodes.iter().enumerate() {
            self.rest[k] = rest[node as usize];
            // Held nodes stay at rest; soft ones are copied before every sweep.
            let w = self.particles[k][3];
            self.particles[k] = [self.rest[k].x, self.rest[k].y, self.rest[k].z, w];
        }
        self.elements.measure(&RestShape { places: &self.rest, stiffness: &self.stiffness });
    }
}
