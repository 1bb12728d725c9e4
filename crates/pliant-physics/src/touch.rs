//! A soft patch anywhere on a posed surface, pressed and pulled, that leaves the rest exactly alone.
//!
//! **Problem.** A vertex is chosen; what is within a distance of it along the surface becomes soft and reacts to solids that touch it, to
//! pulls, to gravity and to its own inertia, on top of any animation. Nothing else moves by a bit.
//!
//! **Source.** Çetinaslan, "Position manipulation techniques for facial animation", 2016, chapter 5. That method is
//! [`verlet`]; the default is small-step XPBD ([`soft_body`]).
//!
//! **Ours.** The rest state is the animated shape of every frame, not the first one.

mod area;
mod bend;
mod blocks;
mod collider;
mod column;
mod constraint_group;
#[cfg(test)]
mod constraint_tests;
mod elements;
mod lanes;
mod shear;
mod skin_contact;
mod soft_body;
mod soft_material;
mod soft_mesh;
mod soft_region;
mod stretch;
#[cfg(test)]
mod tests;
mod touch_options;
mod verlet;

use std::collections::BTreeMap;

use pliant_linalg::{RigidMotion, parallel};
use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;

pub use collider::Collider;
pub use soft_material::SoftMaterial;
pub use soft_region::{SoftPatch, SoftRegion};
pub use touch_options::{TouchMethod, TouchOptions};
pub use verlet::VerletOptions;

use crate::PhysicsError;
use collider::{MovingCollider, depth, meet, outside};
use constraint_group::Particle;
use skin_contact::SkinContact;
use soft_body::{Block, Grip, Pace, SoftBody, SoftNodes, place_of};
use soft_material::Stiffness;
use soft_mesh::SoftMesh;
use verlet::VerletBody;

/// A collider goes at most this share of its thickness in a substep: ours, so that skin is pushed and not passed.
const LARGEST_STEP: f64 = 0.25;
/// Substeps in a frame at most, in multiples of those asked for: ours; beyond, ways are followed but skin reacts coarsely.
const MOST_SUBSTEPS: usize = 16;
/// Vertices in one parallel task.
const GRAIN: usize = 512;
/// How far around a pulled vertex the skin is gripped, as a share of the patch's radius, and in mean edges at least: ours, so that a pull is
/// no needle.
const GRIP: f64 = 0.3;
const GRIP_EDGES: f64 = 2.5;

/// A simulation of soft patches on a mesh.
#[derive(Debug, Clone)]
pub struct Touch {
    mesh: Mesh,
    region: SoftRegion,
    radii: Vec<f64>,
    /// Of the patches' edges.
    mean_edge: f64,
    part: SoftMesh,
    options: TouchOptions,
    engine: Engine,
    skin: Option<SkinContact>,
    /// The animated shape, and the same with the soft vertices where they are.
    rest: Vec<DVec3>,
    positions: Vec<DVec3>,
    /// How far the animated shape went in the last frame, by soft node; nothing before it first moved, since a clip may begin in motion.
    last_way: Option<Vec<DVec3>>,
    colliders: Vec<Collider>,
    motions: Option<Vec<RigidMotion>>,
}

/// What moves soft nodes.
#[derive(Debug, Clone)]
enum Engine {
    Xpbd(SoftBody),
    Verlet(VerletBody),
}

/// What happens in a frame.
#[derive(Debug, Clone, Copy)]
pub struct TouchFrame<'a> {
    /// The animated shape at the end of the frame; `None` where it stays.
    pub shape: Option<&'a [DVec3]>,
    /// Where each collider is at the end of the frame, from where it was made.
    pub colliders: &'a [RigidMotion],
    /// Soft vertices and the places they are pulled to.
    pub pulls: &'a [(usize, DVec3)],
    /// How long the frame lasts.
    pub secs: f64,
}

/// What a frame was like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TouchReport {
    /// Substeps that were taken.
    pub substeps: usize,
    /// Soft vertices that a collider pushed in the last of them.
    pub contacts: usize,
    /// How deep a soft vertex is inside a collider at the end of the frame, at most.
    pub max_penetration: f64,
    /// The largest distance of a soft vertex from the animated shape.
    pub max_displacement: f64,
}

impl Touch {
    /// Soft patches on `mesh`, at rest.
    ///
    /// # Errors
    /// Patches that [`SoftRegion::select`] declines, options that are none, pins beyond the mesh.
    pub fn new(mesh: &Mesh, patches: &[SoftPatch], options: &TouchOptions) -> Result<Self, PhysicsError> {
        Self::on(mesh, SoftRegion::select(mesh, patches)?, patches, options)
    }

    /// As [`new`](Self::new), on a region that was selected from the same patches before.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn on(mesh: &Mesh, region: SoftRegion, patches: &[SoftPatch], options: &TouchOptions) -> Result<Self, PhysicsError> {
        options.require()?;
        options.pins.iter().try_for_each(|&pin| mesh.require_vertex(pin))?;
        let part = SoftMesh::around(mesh, region.vertices());
        let stiffness = stiffness_of_nodes(&part, &region, patches, &options.material);
        let rest: Vec<DVec3> = part.vertices.iter().map(|&v| mesh.positions()[v as usize]).collect();
        let pinned: Vec<bool> = region.vertices().iter().map(|&v| options.pins.contains(&(v as usize))).collect();
        let nodes = SoftNodes { rest: &rest, stiffness: &stiffness, softness: region.softness(), pinned: &pinned };
        let engine = match &options.method {
            TouchMethod::Xpbd => Engine::Xpbd(SoftBody::new(&part, &nodes)),
            TouchMethod::Verlet(verlet) => Engine::Verlet(VerletBody::new(&part, &rest, verlet)),
        };
        let is_soft = |v: usize| region.vertices().binary_search(&(v as u32)).is_ok();
        let soft = || (0..mesh.vertex_count()).map(is_soft).collect::<Vec<bool>>();
        Ok(Self {
            engine,
            skin: options.skin_contact.then(|| SkinContact::new(mesh, &soft())).transpose()?,
            rest: mesh.positions().to_vec(),
            positions: mesh.positions().to_vec(),
            last_way: None,
            mean_edge: part.mean_edge(&rest),
            mesh: mesh.clone(),
            radii: patches.iter().map(|patch| patch.radius).collect(),
            options: options.clone(),
            colliders: Vec::new(),
            motions: None,
            region,
            part,
        })
    }

    /// Adds a solid; its places are given with every frame.
    pub fn add_collider(&mut self, collider: Collider) {
        self.colliders.push(collider);
        self.motions = None;
    }

    /// The soft vertices.
    #[must_use]
    pub fn region(&self) -> &SoftRegion {
        &self.region
    }

    /// Where all vertices are: outside the patches the animated shape, to the bit.
    #[must_use]
    pub fn positions(&self) -> &[DVec3] {
        &self.positions
    }

    /// Moves through a frame. In the first one, and after a collider was added, colliders do not move but are where they are given.
    ///
    /// # Errors
    /// A shape of another length or that is not finite, another number of colliders, motions, pulls or times that are not finite, pulls of
    /// vertices that are not soft.
    pub fn step(&mut self, frame: &TouchFrame<'_>) -> Result<TouchReport, PhysicsError> {
        self.require(frame)?;
        let ways = self.follow(frame.shape);
        let before = self.motions.take().unwrap_or_else(|| frame.colliders.to_vec());
        let pace = self.pace(&before, frame);
        let solids = moving(&self.colliders, &before, frame.colliders, pace.substeps);
        let grips = self.grips(frame.pulls);
        let accelerations = self.accelerations(&ways, frame.secs);
        if let Some(skin) = &mut self.skin {
            skin.survey(&self.rest, &self.positions)?;
        }
        let contacts = match &mut self.engine {
            Engine::Xpbd(body) => {
                body.set_accelerations(&accelerations);
                body.set_pulls(&grips);
                let mut skin = self.skin.as_ref().map(|skin| SkinMeeting::new(skin, &self.region, &self.rest));
                let apart = |body: &mut SoftBody| skin.iter_mut().for_each(|meeting| meeting.separate(body));
                body.advance(pace, apart, |block, substep| press(block, &solids[substep], substep, pace.substeps));
                body.blocks.iter().map(|block| block.pressed).sum()
            }
            Engine::Verlet(body) => push_out(body, &solids[pace.substeps - 1], self.options.gravity, frame.secs),
        };
        if self.last_way.is_some() || ways.iter().any(|way| *way != DVec3::ZERO) {
            self.last_way = Some(ways);
        }
        self.motions = Some(frame.colliders.to_vec());
        self.take_positions();
        Ok(self.report(frame.colliders, pace.substeps, contacts))
    }

    /// Takes over the animated shape; how far it went, by soft node.
    fn follow(&mut self, shape: Option<&[DVec3]>) -> Vec<DVec3> {
        let Some(shape) = shape.filter(|shape| *shape != self.rest) else {
            if let Engine::Xpbd(body) = &mut self.engine {
                body.stay();
            }
            return vec![DVec3::ZERO; self.part.soft_count];
        };
        let ways = self.region.vertices().iter().map(|&v| shape[v as usize] - self.rest[v as usize]).collect();
        let nodes: Vec<DVec3> = self.part.vertices.iter().map(|&v| shape[v as usize]).collect();
        self.rest.copy_from_slice(shape);
        self.positions.copy_from_slice(shape);
        match &mut self.engine {
            Engine::Xpbd(body) => body.set_rest(&nodes),
            Engine::Verlet(body) => body.set_rest(&nodes),
        }
        self.take_positions();
        ways
    }

    /// Gravity, and the inertia of what the animated shape does, by soft node.
    fn accelerations(&self, ways: &[DVec3], secs: f64) -> Vec<DVec3> {
        let inertia = self.options.inertia / (secs * secs);
        ways.iter()
            .zip(self.last_way.as_deref().unwrap_or(ways))
            .map(|(way, last)| self.options.gravity - (*way - *last) * inertia)
            .collect()
    }

    fn take_positions(&mut self) {
        let soft = self.region.vertices().iter();
        match &self.engine {
            Engine::Xpbd(body) => soft.zip(body.soft_places()).for_each(|(&v, place)| self.positions[v as usize] = place),
            Engine::Verlet(body) => soft.zip(body.particles()).for_each(|(&v, particle)| self.positions[v as usize] = place_of(particle)),
        }
    }

    fn report(&self, motions: &[RigidMotion], substeps: usize, contacts: usize) -> TouchReport {
        let soft = self.region.vertices();
        let solids: Vec<MovingCollider<'_>> =
            self.colliders.iter().zip(motions).map(|(solid, at)| MovingCollider::new(solid, *at, *at)).collect();
        let depths = parallel::map(soft.len(), GRAIN, |k| depth(&solids, self.positions[soft[k] as usize]));
        let displacement = |&v: &u32| self.positions[v as usize].distance(self.rest[v as usize]);
        TouchReport {
            substeps,
            contacts,
            max_penetration: depths.into_iter().fold(0.0, f64::max),
            max_displacement: soft.iter().map(displacement).fold(0.0, f64::max),
        }
    }

    fn pace(&self, before: &[RigidMotion], frame: &TouchFrame<'_>) -> Pace {
        if let Engine::Verlet(_) = self.engine {
            return Pace { substeps: 1, substep_secs: frame.secs, iterations: 1 };
        }
        let wanted = |((collider, from), to): ((&Collider, &RigidMotion), &RigidMotion)| {
            (collider.travel(from, to) / (LARGEST_STEP * collider.obstacle().thickness())).ceil()
        };
        let fastest = self.colliders.iter().zip(before).zip(frame.colliders).map(wanted).fold(0.0, f64::max);
        let asked = self.options.substeps;
        let substeps = asked.max((fastest as usize).min(asked * MOST_SUBSTEPS));
        Pace { substeps, substep_secs: frame.secs / substeps as f64, iterations: self.options.iterations }
    }

    /// What pulls hold, by soft node: the pulled one in place, those around it softly.
    fn grips(&self, pulls: &[(usize, DVec3)]) -> Vec<Grip> {
        let mut grips = Vec::new();
        for &(vertex, place) in pulls {
            let own = self.region.vertices().binary_search(&(vertex as u32)).expect("pulls are of soft vertices");
            let least = GRIP_EDGES * self.mean_edge;
            let (way, reach) = (place - self.rest[vertex], least.max(GRIP * self.radii[self.region.patch_of()[own]]));
            for (node, distance) in self.soft_around(vertex as u32, reach) {
                let share = distance / reach;
                let fall = (1.0 - share * share) * (1.0 - share * share);
                grips.push(Grip { node, offset: way * fall, firmness: if distance == 0.0 { f64::INFINITY } else { fall } });
            }
        }
        // Where two pulls hold a vertex, the firmer one counts.
        grips.sort_by(|a, b| a.node.cmp(&b.node).then(b.firmness.total_cmp(&a.firmness)));
        grips.dedup_by_key(|grip| grip.node);
        grips
    }

    /// Soft nodes within a distance of a soft vertex along edges, so that a pulled lip does not take the other with it.
    fn soft_around(&self, vertex: u32, reach: f64) -> Vec<(u32, f64)> {
        let node = |v: u32| self.region.vertices().binary_search(&v).ok();
        let mut distances = BTreeMap::from([(vertex, 0.0)]);
        let mut front = vec![vertex];
        while let Some(v) = front.pop() {
            for &w in self.mesh.topology().vertex_neighbors().row(v as usize) {
                let distance = distances[&v] + self.rest[v as usize].distance(self.rest[w as usize]);
                if distance < reach && node(w).is_some() && distances.get(&w).is_none_or(|&known| distance < known) {
                    distances.insert(w, distance);
                    front.push(w);
                }
            }
        }
        distances.into_iter().filter_map(|(v, distance)| Some((node(v)? as u32, distance))).collect()
    }

    fn require(&self, frame: &TouchFrame<'_>) -> Result<(), PhysicsError> {
        let vertices = self.mesh.vertex_count();
        if let Some(shape) = frame.shape {
            if shape.len() != vertices {
                return Err(PhysicsError::PerVertex { what: "the animated shape", found: shape.len(), expected: vertices });
            }
            if let Some(vertex) = shape.iter().position(|p| !p.is_finite()) {
                return Err(PhysicsError::AnimatedShape { vertex });
            }
        }
        if frame.colliders.len() != self.colliders.len() {
            return Err(PhysicsError::ColliderCount { found: frame.colliders.len(), expected: self.colliders.len() });
        }
        if let Some(collider) = frame.colliders.iter().position(|m| !(m.translation.is_finite() && m.rotation.is_finite())) {
            return Err(PhysicsError::ColliderPath { collider });
        }
        if !(frame.secs > 0.0 && frame.secs.is_finite()) {
            return Err(PhysicsError::Material { what: "frame time", value: frame.secs, least: "above 0" });
        }
        if !frame.pulls.is_empty() && matches!(self.engine, Engine::Verlet(_)) {
            return Err(PhysicsError::NotInVerlet { what: "pulls" });
        }
        frame.pulls.iter().try_for_each(|&(vertex, place)| {
            self.mesh.require_vertex(vertex)?;
            if !place.is_finite() {
                return Err(PhysicsError::Pull { vertex });
            }
            let is_soft = self.region.vertices().binary_search(&(vertex as u32)).is_ok();
            if is_soft { Ok(()) } else { Err(PhysicsError::RigidPull { vertex }) }
        })
    }
}

/// The colliders in each substep of a frame.
fn moving<'a>(colliders: &'a [Collider], before: &[RigidMotion], after: &[RigidMotion], substeps: usize) -> Vec<Vec<MovingCollider<'a>>> {
    let at = |from: &RigidMotion, to: &RigidMotion, substep: usize| {
        if substep == substeps {
            return *to;
        }
        let share = substep as f64 / substeps as f64;
        RigidMotion { rotation: from.rotation.slerp(to.rotation, share), translation: from.translation.lerp(to.translation, share) }
    };
    let in_substep = |substep: usize| {
        let each = colliders.iter().zip(before).zip(after);
        each.map(|((collider, from), to)| MovingCollider::new(collider, at(from, to, substep), at(from, to, substep + 1))).collect()
    };
    (0..substeps).map(in_substep).collect()
}

/// Moves the particles of a block out of colliders at the end of a substep.
fn press(block: &mut Block, solids: &[MovingCollider<'_>], substep: usize, substeps: usize) {
    if solids.is_empty() {
        return;
    }
    // Particles ride on the shape of the frame's end; where they are in truth, the rest of its way is still ahead.
    let ahead = |substep: usize| 1.0 - substep as f64 / substeps as f64;
    let (first, last) = (ahead(substep), if substep + 1 == substeps { 0.0 } else { ahead(substep + 1) });
    block.pressed = 0;
    for k in 0..block.soft_count {
        let particle = &mut block.particles[k];
        if particle[3] == 0.0 {
            continue;
        }
        let way = block.carried[k];
        let to = place_of(particle) - way * last;
        if let Some(place) = meet(solids, place_of(&block.before[k]) - way * first, to) {
            let moved = place_of(particle) + (place - to);
            let moved = if last == 0.0 { place } else { moved };
            *particle = [moved.x, moved.y, moved.z, particle[3]];
            block.pressed += 1;
        }
    }
}

/// A step of the thesis' method; how many nodes were inside a solid.
fn push_out(body: &mut VerletBody, solids: &[MovingCollider<'_>], gravity: DVec3, secs: f64) -> usize {
    let mut pushed = 0;
    body.step(gravity, secs, &mut |particles: &mut [Particle]| {
        pushed = 0;
        for particle in particles.iter_mut().filter(|particle| particle[3] > 0.0) {
            let place = place_of(particle);
            let out = outside(solids, place);
            pushed += usize::from(out != place);
            particle[..3].copy_from_slice(&out.to_array());
        }
    });
    pushed
}

/// Parts of the mesh that keep out of each other, over the vertices of the whole mesh.
struct SkinMeeting<'a> {
    skin: &'a SkinContact,
    /// The soft node of each vertex that may meet another.
    nodes: Vec<(u32, usize)>,
    positions: Vec<DVec3>,
    inverse_masses: Vec<f64>,
}

impl<'a> SkinMeeting<'a> {
    fn new(skin: &'a SkinContact, region: &SoftRegion, rest: &[DVec3]) -> Self {
        let node = |&v: &u32| region.vertices().binary_search(&v).ok().map(|node| (v, node));
        let nodes = skin.vertices().iter().filter_map(node).collect();
        Self { skin, nodes, positions: rest.to_vec(), inverse_masses: vec![0.0; rest.len()] }
    }

    fn separate(&mut self, body: &mut SoftBody) {
        for &(vertex, node) in &self.nodes {
            let particle = body.particle_mut(node);
            self.positions[vertex as usize] = place_of(particle);
            self.inverse_masses[vertex as usize] = particle[3];
        }
        if self.skin.separate(&mut self.positions, &self.inverse_masses) > 0 {
            for &(vertex, node) in &self.nodes {
                body.particle_mut(node)[..3].copy_from_slice(&self.positions[vertex as usize].to_array());
            }
        }
    }
}

/// The stiffness of every node; held ones are made of what a soft neighbour is made of.
fn stiffness_of_nodes(part: &SoftMesh, region: &SoftRegion, patches: &[SoftPatch], material: &SoftMaterial) -> Vec<Stiffness> {
    let of_patch: Vec<Stiffness> = patches.iter().map(|patch| material.stiffness(patch.radius)).collect();
    let mut all: Vec<Option<Stiffness>> = region.patch_of().iter().map(|&patch| Some(of_patch[patch])).collect();
    all.resize(part.vertices.len(), None);
    let mut lend = |nodes: &[u32]| {
        let known = nodes.iter().find_map(|&n| all[n as usize]);
        nodes.iter().for_each(|&n| all[n as usize] = all[n as usize].or(known));
    };
    part.triangles.iter().for_each(|t| lend(t));
    part.hinges.iter().for_each(|h| lend(h));
    all.into_iter().map(|stiffness| stiffness.unwrap_or(of_patch[0])).collect()
}
