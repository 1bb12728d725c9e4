//! A soft patch anywhere on a posed surface, pressed and pulled, that leaves the rest exactly
//! alone.
//!
//! **Problem.** A vertex is chosen; what is within a distance of it along the surface becomes soft
//! and reacts to solids that touch it, to pulls, to gravity and to its own inertia, on top of any
//! animation. Nothing else moves by a bit.
//!
//! **Source.** Çetinaslan, "Position manipulation techniques for facial animation", 2016, chapter
//! 5. That method is [`verlet`]; the default is small-step XPBD ([`soft_body`]).
//!
//! **Ours.** The rest state is the animated shape of every frame, not the first one.

mod area;
mod bend;
mod block;
mod blocks;
mod cluster;
mod collider;
mod column;
mod connections;
mod constraint_group;
#[cfg(test)]
mod constraint_tests;
mod elements;
mod grip;
mod lanes;
mod particle;
mod seam;
mod shear;
mod skin_contact;
mod soft_body;
mod soft_material;
mod soft_mesh;
mod soft_region;
mod strain;
mod stretch;
#[cfg(test)]
mod tests;
mod touch_frame;
mod touch_options;
mod verlet;

use std::collections::BTreeSet;

use pliant_linalg::{RigidMotion, parallel};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Bounds, Mesh};

pub use collider::Collider;
pub use soft_material::SoftMaterial;
pub use soft_region::{SoftPatch, SoftRegion};
pub use touch_frame::{TouchFrame, TouchReport};
pub use touch_options::{TouchMethod, TouchOptions};
pub use verlet::VerletOptions;

use crate::PhysicsError;
use collider::{MovingCollider, depth, meet, outside};
use grip::Grips;
use particle::{Particle, place_of, put};
use skin_contact::{SkinContact, SkinMeeting};
use soft_body::{Pace, SoftBody, SoftNodes, masses};
use soft_material::constants_of_nodes;
use soft_mesh::SoftMesh;
use verlet::VerletBody;

/// A collider goes at most this share of its thickness in a substep: ours, so that skin is pushed
/// and not passed.
const LARGEST_STEP: f64 = 0.25;
/// Substeps in a frame at most, in multiples of those asked for: ours; beyond, ways are followed
/// but skin reacts coarsely.
const MOST_SUBSTEPS: usize = 16;
/// Vertices in one parallel task.
const GRAIN: usize = 512;

/// A simulation of soft patches on a mesh.
#[derive(Debug, Clone)]
pub struct Touch {
    mesh: Mesh,
    region: SoftRegion,
    part: SoftMesh,
    /// Of the patches' edges.
    mean_edge: f64,
    pinned: BTreeSet<usize>,
    options: TouchOptions,
    engine: Engine,
    skin: Option<SkinContact>,
    /// The animated shape, and the same with the soft vertices where they are.
    rest: Vec<DVec3>,
    positions: Vec<DVec3>,
    /// Frames so far.
    frames: usize,
    /// How fast the animated shape went in the last frame, by soft node; nothing in the first two,
    /// since a clip may begin in motion.
    last_velocities: Option<Vec<DVec3>>,
    colliders: Vec<Collider>,
    motions: Option<Vec<RigidMotion>>,
}

/// What moves soft nodes.
#[derive(Debug, Clone)]
enum Engine {
    Xpbd(SoftBody),
    Verlet(VerletBody),
}

impl Touch {
    /// Soft patches on `mesh`, at rest.
    ///
    /// # Errors
    /// Patches that [`SoftRegion::select`] declines, options that are none, pins beyond the mesh.
    pub fn new(
        mesh: &Mesh,
        patches: &[SoftPatch],
        options: &TouchOptions,
    ) -> Result<Self, PhysicsError> {
        Self::on(mesh, SoftRegion::select(mesh, patches)?, options)
    }

    /// As [`new`](Self::new), on a region of `mesh` that was selected before.
    ///
    /// # Errors
    /// As [`new`](Self::new), and a region of a mesh with another number of vertices.
    pub fn on(
        mesh: &Mesh,
        region: SoftRegion,
        options: &TouchOptions,
    ) -> Result<Self, PhysicsError> {
        options.require()?;
        region.require_mesh(mesh)?;
        options
            .pins
            .iter()
            .try_for_each(|&pin| mesh.require_vertex(pin))?;
        let pinned: BTreeSet<usize> = options.pins.iter().copied().collect();
        let part = SoftMesh::around(mesh, region.vertices());
        let rest: Vec<DVec3> = part
            .vertices
            .iter()
            .map(|&v| mesh.positions()[v as usize])
            .collect();
        let engine = match &options.method {
            TouchMethod::Xpbd => Engine::Xpbd(soft_body_at_rest(
                &part,
                &rest,
                &region,
                &pinned,
                &options.material,
            )),
            TouchMethod::Verlet(verlet) => Engine::Verlet(VerletBody::new(&part, &rest, verlet)),
        };
        let mean_edge = part.mean_edge(&rest);
        let is_soft = || {
            (0..mesh.vertex_count())
                .map(|v| region.node_of(v).is_some())
                .collect()
        };
        Ok(Self {
            engine,
            skin: options
                .skin_contact
                .then(|| SkinContact::new(mesh, is_soft(), mean_edge)),
            rest: mesh.positions().to_vec(),
            positions: mesh.positions().to_vec(),
            frames: 0,
            last_velocities: None,
            mesh: mesh.clone(),
            options: options.clone(),
            colliders: Vec::new(),
            motions: None,
            mean_edge,
            pinned,
            region,
            part,
        })
    }

    /// Adds a solid; its places are given with every frame.
    ///
    /// # Errors
    /// [`PhysicsError::NotInVerlet`] for one with friction where the method has none.
    pub fn add_collider(&mut self, collider: Collider) -> Result<(), PhysicsError> {
        if collider.friction() > 0.0 && matches!(self.engine, Engine::Verlet(_)) {
            return Err(PhysicsError::NotInVerlet { what: "friction" });
        }
        self.colliders.push(collider);
        self.motions = None;
        Ok(())
    }

    /// The soft vertices.
    #[must_use]
    pub fn region(&self) -> &SoftRegion {
        &self.region
    }

    /// The mean length of edges with a soft end.
    #[must_use]
    pub fn mean_edge(&self) -> f64 {
        self.mean_edge
    }

    /// Where all vertices are: outside the patches the animated shape, to the bit.
    #[must_use]
    pub fn positions(&self) -> &[DVec3] {
        &self.positions
    }

    /// Moves through a frame. In the first one, and after a collider was added, colliders do not
    /// move but are where they are given.
    ///
    /// # Errors
    /// A shape of another length or that is not finite, another number of colliders, motions, pulls
    /// or times that are not finite, pulls of vertices that are not soft, or pinned, or pulled
    /// twice. Nothing has changed then.
    pub fn step(&mut self, frame: &TouchFrame<'_>) -> Result<TouchReport, PhysicsError> {
        self.require(frame)?;
        let ways = self.follow(frame.shape);
        let before = self
            .motions
            .take()
            .unwrap_or_else(|| frame.colliders.to_vec());
        let pace = self.pace(&before, frame);
        let solids = moving(&self.colliders, &before, frame.colliders, pace.substeps);
        let accelerations = accelerations(
            &ways,
            self.last_velocities.as_deref(),
            &self.options,
            frame.secs,
        );
        let grips = Grips {
            region: &self.region,
            topology: self.mesh.topology(),
            rest: &self.rest,
            mean_edge: self.mean_edge,
        };
        let grips = grips.of(frame.pulls);
        if let Some(skin) = &mut self.skin {
            skin.survey(&self.rest, &self.positions);
        }
        let contacts = match &mut self.engine {
            Engine::Xpbd(body) => {
                body.set_accelerations(&accelerations);
                body.set_pulls(&grips);
                let mut skin = self
                    .skin
                    .as_ref()
                    .map(|skin| SkinMeeting::new(skin, &self.region, &self.positions));
                let apart = |body: &mut SoftBody| {
                    skin.iter_mut().for_each(|meeting| meeting.separate(body))
                };
                let press = |block: &mut block::Block, substep: usize| {
                    block.press(substep, pace.substeps, |from, to| {
                        meet(&solids[substep], from, to)
                    });
                };
                body.advance(pace, apart, press);
                body.pressed()
            }
            Engine::Verlet(body) => push_out(
                body,
                &solids[pace.substeps - 1],
                self.options.gravity,
                frame.secs,
            ),
        };
        if self.frames > 0 {
            self.last_velocities = Some(ways.iter().map(|way| *way / frame.secs).collect());
        }
        self.frames += 1;
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
        let ways = self
            .region
            .vertices()
            .iter()
            .map(|&v| shape[v as usize] - self.rest[v as usize])
            .collect();
        let nodes: Vec<DVec3> = self
            .part
            .vertices
            .iter()
            .map(|&v| shape[v as usize])
            .collect();
        self.rest.copy_from_slice(shape);
        self.positions.copy_from_slice(shape);
        match &mut self.engine {
            Engine::Xpbd(body) => body.set_rest(&nodes),
            Engine::Verlet(body) => body.set_rest(&nodes),
        }
        self.take_positions();
        ways
    }

    /// Substeps enough for the material and for how fast colliders come near.
    fn pace(&self, before: &[RigidMotion], frame: &TouchFrame<'_>) -> Pace {
        if let Engine::Verlet(_) = self.engine {
            return Pace {
                substeps: 1,
                substep_secs: frame.secs,
                iterations: 1,
            };
        }
        let asked = self.options.substeps.unwrap_or_else(|| {
            self.options
                .material
                .substeps(self.region.reaches(), self.mean_edge, frame.secs)
        });
        let Some(soft) = Bounds::of(
            &self
                .region
                .vertices()
                .iter()
                .map(|&v| self.positions[v as usize])
                .collect::<Vec<_>>(),
        ) else {
            return Pace {
                substeps: asked,
                substep_secs: frame.secs / asked as f64,
                iterations: self.options.iterations,
            };
        };
        let wanted = |((collider, from), to): ((&Collider, &RigidMotion), &RigidMotion)| {
            let travel = collider.travel(from, to);
            let bounds = collider.obstacle().bounds();
            let reach = 0.5 * (bounds.diagonal() + soft.diagonal()) + travel + self.mean_edge;
            let is_near = to.apply(bounds.center()).distance(soft.center()) < reach;
            if is_near {
                (travel / (LARGEST_STEP * collider.obstacle().thickness())).ceil()
            } else {
                0.0
            }
        };
        let fastest = self
            .colliders
            .iter()
            .zip(before)
            .zip(frame.colliders)
            .map(wanted)
            .fold(0.0, f64::max);
        let substeps = asked.max((fastest as usize).min(asked * MOST_SUBSTEPS));
        Pace {
            substeps,
            substep_secs: frame.secs / substeps as f64,
            iterations: self.options.iterations,
        }
    }

    fn take_positions(&mut self) {
        let soft = self.region.vertices().iter();
        match &self.engine {
            Engine::Xpbd(body) => soft
                .zip(body.soft_places())
                .for_each(|(&v, place)| self.positions[v as usize] = place),
            Engine::Verlet(body) => soft
                .zip(body.particles())
                .for_each(|(&v, particle)| self.positions[v as usize] = place_of(particle)),
        }
    }

    fn report(&self, motions: &[RigidMotion], substeps: usize, contacts: usize) -> TouchReport {
        let soft = self.region.vertices();
        let solids: Vec<MovingCollider<'_>> = self
            .colliders
            .iter()
            .zip(motions)
            .map(|(solid, at)| MovingCollider::new(solid, *at, *at))
            .collect();
        let depths = parallel::map(soft.len(), GRAIN, |k| {
            depth(&solids, self.positions[soft[k] as usize])
        });
        let displacement = |&v: &u32| self.positions[v as usize].distance(self.rest[v as usize]);
        TouchReport {
            substeps,
            contacts,
            max_penetration: depths.into_iter().fold(0.0, f64::max),
            max_displacement: soft.iter().map(displacement).fold(0.0, f64::max),
        }
    }

    fn require(&self, frame: &TouchFrame<'_>) -> Result<(), PhysicsError> {
        if let Some(shape) = frame.shape {
            let expected = self.mesh.vertex_count();
            if shape.len() != expected {
                return Err(PhysicsError::PerVertex {
                    what: "the animated shape",
                    found: shape.len(),
                    expected,
                });
            }
            if let Some(vertex) = shape.iter().position(|p| !p.is_finite()) {
                return Err(PhysicsError::AnimatedShape { vertex });
            }
        }
        if frame.colliders.len() != self.colliders.len() {
            return Err(PhysicsError::ColliderCount {
                found: frame.colliders.len(),
                expected: self.colliders.len(),
            });
        }
        if let Some(collider) = frame
            .colliders
            .iter()
            .position(|m| !(m.translation.is_finite() && m.rotation.is_finite()))
        {
            return Err(PhysicsError::ColliderPath { collider });
        }
        if !(frame.secs > 0.0 && frame.secs.is_finite()) {
            return Err(PhysicsError::FrameTime { secs: frame.secs });
        }
        self.require_pulls(frame.pulls)
    }

    fn require_pulls(&self, pulls: &[(usize, DVec3)]) -> Result<(), PhysicsError> {
        if !pulls.is_empty() && matches!(self.engine, Engine::Verlet(_)) {
            return Err(PhysicsError::NotInVerlet { what: "pulls" });
        }
        let mut pulled = BTreeSet::new();
        for &(vertex, place) in pulls {
            self.mesh.require_vertex(vertex)?;
            let wrong = if !place.is_finite() {
                PhysicsError::Pull { vertex }
            } else if self.region.node_of(vertex).is_none() {
                PhysicsError::RigidPull { vertex }
            } else if self.pinned.contains(&vertex) {
                PhysicsError::PinnedPull { vertex }
            } else if !pulled.insert(vertex) {
                PhysicsError::PulledTwice { vertex }
            } else {
                continue;
            };
            return Err(wrong);
        }
        Ok(())
    }
}

fn soft_body_at_rest(
    part: &SoftMesh,
    rest: &[DVec3],
    region: &SoftRegion,
    pinned: &BTreeSet<usize>,
    material: &SoftMaterial,
) -> SoftBody {
    let (masses, constants) = (
        masses(part, rest),
        constants_of_nodes(part, region, material),
    );
    let is_free =
        |node: usize| node < part.soft_count && !pinned.contains(&(part.vertices[node] as usize));
    let inverse_masses: Vec<f64> = (0..rest.len())
        .map(|node| {
            if is_free(node) {
                1.0 / masses[node]
            } else {
                0.0
            }
        })
        .collect();
    let nodes = SoftNodes {
        rest,
        constants: &constants,
        masses: &masses,
        inverse_masses: &inverse_masses,
        softness: region.softness(),
    };
    SoftBody::new(part, &nodes)
}

/// Gravity, and the inertia of what the animated shape does, by soft node.
fn accelerations(
    ways: &[DVec3],
    last_velocities: Option<&[DVec3]>,
    options: &TouchOptions,
    secs: f64,
) -> Vec<DVec3> {
    let lag = |(node, way): (usize, &DVec3)| {
        let velocity = *way / secs;
        let change = velocity - last_velocities.map_or(velocity, |last| last[node]);
        options.gravity - change * (options.inertia / secs)
    };
    ways.iter().enumerate().map(lag).collect()
}

/// The colliders in each substep of a frame.
fn moving<'a>(
    colliders: &'a [Collider],
    before: &[RigidMotion],
    after: &[RigidMotion],
    substeps: usize,
) -> Vec<Vec<MovingCollider<'a>>> {
    let in_substep = |substep: usize| {
        let each = colliders.iter().zip(before).zip(after);
        each.map(|((collider, from), to)| {
            let at = |substep: usize| {
                from.between(
                    to,
                    substep as f64 / substeps as f64,
                    collider.obstacle().bounds().center(),
                )
            };
            MovingCollider::new(collider, at(substep), at(substep + 1))
        })
        .collect()
    };
    (0..substeps).map(in_substep).collect()
}

/// A step of the thesis' method; how many nodes were inside a solid.
fn push_out(
    body: &mut VerletBody,
    solids: &[MovingCollider<'_>],
    gravity: DVec3,
    secs: f64,
) -> usize {
    let mut pushed = 0;
    body.step(gravity, secs, &mut |particles: &mut [Particle]| {
        pushed = 0;
        for particle in particles.iter_mut().filter(|particle| particle[3] > 0.0) {
            let place = place_of(particle);
            let out = outside(solids, place);
            pushed += usize::from(out != place);
            put(particle, out);
        }
    });
    pushed
}
