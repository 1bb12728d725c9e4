//! Simulation of soft patches on an animated mesh; all other vertices keep their exact positions.
//!
//! **Problem.** The geodesic disc around a chosen vertex becomes soft and reacts to colliders, to
//! pulls, to gravity and to its own inertia, on top of any animation. No other vertex changes by a
//! bit.
//!
//! **Source.** Çetinaslan, "Position manipulation techniques for facial animation", 2016, chapter
//! 5. That method is [`verlet`](crate::touch::verlet); the default is XPBD with small substeps
//! ([`xpbd`](crate::touch::xpbd)).
//!
//! **Departures.** The rest state is the animated shape of every frame, not the first one.

mod strain;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use pliant_linalg::{RigidMotion, parallel};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Bounds, Mesh};

use crate::PhysicsError;
use crate::touch::collider::{Collider, MovingCollider, collided, depth, projected_out};
use crate::touch::face_collision::{FaceCollision, FrameNodes, SubstepNodes};
use crate::touch::frame::{TouchFrame, TouchReport};
use crate::touch::options::{TouchMethod, TouchOptions};
use crate::touch::projection::particle::{Particle, place_of, put};
use crate::touch::skin_contact::{SkinContact, SkinSeparation};
use crate::touch::soft_material::{SoftMaterial, constants_of_nodes};
use crate::touch::soft_mesh::SoftMesh;
use crate::touch::soft_region::{SoftPatch, SoftRegion};
use crate::touch::verlet::VerletBody;
use crate::touch::xpbd::block::Block;
use crate::touch::xpbd::pull::PullRegion;
use crate::touch::xpbd::soft_body::{SoftBody, SoftNodes, TimeSteps, masses};

/// The largest displacement of a collider in a substep relative to its thickness. Chosen so that
/// skin is pushed and not passed.
const LARGEST_STEP: f64 = 0.25;
/// Substeps of a frame, in multiples of the requested number, at most. Chosen; beyond, paths are
/// still followed but skin reacts coarsely.
const MOST_SUBSTEPS: usize = 16;
/// Vertices in one parallel task.
const GRAIN: usize = 512;

/// A simulation of soft patches on a mesh.
#[derive(Debug, Clone)]
pub struct Touch {
    mesh: Mesh,
    region: SoftRegion,
    part: SoftMesh,
    /// Mean length of the edges of the patches.
    mean_edge: f64,
    pinned: BTreeSet<usize>,
    options: TouchOptions,
    dynamics: Dynamics,
    faces: FaceCollision,
    skin: Option<SkinContact>,
    /// The animated shape.
    rest: Vec<DVec3>,
    /// The animated shape with the soft vertices at their simulated positions.
    positions: Vec<DVec3>,
    /// Number of frames so far.
    frames: usize,
    /// Velocity of the animated shape in the last frame, by soft node; none in the first two
    /// frames, since a clip may begin in motion.
    last_velocities: Option<Vec<DVec3>>,
    colliders: Vec<Collider>,
    motions: Option<Vec<RigidMotion>>,
}

/// The method that moves soft nodes.
#[derive(Debug, Clone)]
enum Dynamics {
    Xpbd(Box<SoftBody>),
    Verlet(VerletBody),
}

impl Touch {
    /// Soft patches on `mesh`, at rest.
    ///
    /// # Errors
    /// Patches that [`SoftRegion::select`] rejects, invalid options, pins that do not exist.
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
        for &pin in &options.pins {
            mesh.require_vertex(pin)?;
        }

        let pinned: BTreeSet<usize> = options.pins.iter().copied().collect();
        let part = SoftMesh::around(mesh, region.vertices());
        let rest: Vec<DVec3> = part
            .vertices
            .iter()
            .map(|&v| mesh.positions()[v as usize])
            .collect();

        // The node positions at rest are the animated shape.
        let dynamics = match &options.method {
            TouchMethod::Xpbd => {
                let body = soft_body_at_rest(&part, &rest, &region, &pinned, options);
                Dynamics::Xpbd(Box::new(body))
            }
            TouchMethod::Verlet(verlet) => Dynamics::Verlet(VerletBody::new(&part, &rest, verlet)),
        };

        let mean_edge = part.mean_edge(&rest);
        let is_soft = || {
            (0..mesh.vertex_count())
                .map(|v| region.node_of(v).is_some())
                .collect()
        };

        Ok(Self {
            dynamics,
            skin: options
                .skin_contact
                .then(|| SkinContact::new(mesh, is_soft(), mean_edge)),
            rest: mesh.positions().to_vec(),
            positions: mesh.positions().to_vec(),
            frames: 0,
            last_velocities: None,
            faces: FaceCollision::new(&part, mean_edge),
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

    /// Adds a collider; its position is given with every frame.
    ///
    /// # Errors
    /// [`PhysicsError::UnsupportedByVerlet`] for a collider with friction where the method has
    /// none.
    pub fn add_collider(&mut self, collider: Collider) -> Result<(), PhysicsError> {
        if collider.friction() > 0.0 && matches!(self.dynamics, Dynamics::Verlet(_)) {
            return Err(PhysicsError::UnsupportedByVerlet { what: "friction" });
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

    /// The positions of all vertices: outside the patches the animated shape, to the bit.
    #[must_use]
    pub fn positions(&self) -> &[DVec3] {
        &self.positions
    }

    /// Simulates one frame. In the first frame, and after a collider was added, colliders do not
    /// move but start at the given positions.
    ///
    /// # Errors
    /// A shape of another length or that is not finite, another number of colliders, motions, pulls
    /// or times that are not finite, pulls of vertices that are not soft, or pinned, or pulled
    /// twice. Nothing has changed then.
    pub fn step(&mut self, frame: &TouchFrame<'_>) -> Result<TouchReport, PhysicsError> {
        self.require(frame)?;
        let displacements = self.set_animated_shape(frame.shape);
        let before = self
            .motions
            .take()
            .unwrap_or_else(|| frame.colliders.to_vec());
        let steps = self.time_steps(&before, frame);

        let contacts = match self.dynamics {
            Dynamics::Xpbd(_) => self.step_xpbd(frame, &before, &displacements, steps)?,
            Dynamics::Verlet(_) => self.step_verlet(frame, &before, steps),
        };

        if self.frames > 0 {
            let soft = &displacements[..self.part.soft_count];
            let velocities = soft.iter().map(|d| *d / frame.secs).collect();
            self.last_velocities = Some(velocities);
        }
        self.frames += 1;
        self.motions = Some(frame.colliders.to_vec());
        self.update_positions();

        Ok(self.report(frame.colliders, steps.substeps, contacts))
    }

    /// A frame of XPBD; returns the number of nodes in contact.
    fn step_xpbd(
        &mut self,
        frame: &TouchFrame<'_>,
        before: &[RigidMotion],
        displacements: &[DVec3],
        steps: TimeSteps,
    ) -> Result<usize, PhysicsError> {
        if let Some(skin) = &mut self.skin {
            skin.search(&self.rest, &self.positions);
        }
        let nodes = self.begin_face_collision(before, frame.colliders, displacements);
        let pulled_nodes = PullRegion {
            region: &self.region,
            topology: self.mesh.topology(),
            rest: &self.rest,
            mean_edge: self.mean_edge,
        }
        .of(frame.pulls);

        let Dynamics::Xpbd(body) = &mut self.dynamics else {
            return Ok(0);
        };
        body.set_accelerations(&accelerations(
            &displacements[..self.part.soft_count],
            self.last_velocities.as_deref(),
            &self.options,
            frame.secs,
        ));
        body.set_pulls(&pulled_nodes);

        // Skin contact acts between blocks, colliders within each block.
        let solids = moving(&self.colliders, before, frame.colliders, steps.substeps);
        let mut skin = self
            .skin
            .as_ref()
            .map(|skin| SkinSeparation::new(skin, &self.region, &self.positions));
        let moves = displacements.iter().any(|d| *d != DVec3::ZERO);
        let displacements = moves.then_some(displacements);
        let faces = &mut self.faces;
        let separate = |body: &mut SoftBody, substep: usize| {
            if let Some(skin) = &mut skin {
                skin.separate(body);
            }
            // Vertices first, so that faces move only what is left between them.
            body.for_each_block(|block: &mut Block| {
                block.collide(substep, steps.substeps, |from, to| {
                    collided(&solids[substep], from, to)
                });
            });
            let ahead = |substep: usize| 1.0 - substep as f64 / steps.substeps as f64;
            let substep_nodes = SubstepNodes {
                displacements,
                ahead: [ahead(substep), ahead(substep + 1)],
                frame_end: &nodes,
            };
            faces.push(&solids[substep], body, &substep_nodes);
        };
        body.advance(steps, separate, |_, _| {})?;
        self.faces.settle(&solids[steps.substeps - 1], body, &nodes);
        let contacts = body.contacts();
        self.undo_crossings();

        Ok(contacts)
    }

    /// Undoes crossings of the skin that the animation does not have.
    fn undo_crossings(&mut self) {
        self.update_positions();
        let (Some(skin), Dynamics::Xpbd(body)) = (&self.skin, &mut self.dynamics) else {
            return;
        };
        let region = &self.region;
        // A pinned or pulled vertex stays where it is held.
        let is_held = |vertex: u32| {
            let node = region.node_of(vertex as usize);
            node.is_none_or(|node| body.particle(node)[3] == 0.0)
        };
        for vertex in skin.undo_crossings(&self.rest, &mut self.positions, is_held) {
            if let Some(node) = region.node_of(vertex as usize) {
                body.stop(node, self.positions[vertex as usize]);
            }
        }
    }

    /// Finds the faces that may meet a collider in a frame; returns the positions of all nodes at
    /// its end, as far as known.
    fn begin_face_collision(
        &mut self,
        before: &[RigidMotion],
        after: &[RigidMotion],
        displacements: &[DVec3],
    ) -> Vec<DVec3> {
        let end = self.node_positions();
        let start: Vec<DVec3> = end
            .iter()
            .zip(displacements)
            .map(|(place, displacement)| *place - *displacement)
            .collect();
        let swept = moving(&self.colliders, before, after, 1);

        self.faces.begin_frame(
            &swept[0],
            &FrameNodes {
                start: &start,
                end: &end,
            },
        );
        end
    }

    /// The positions of all nodes.
    fn node_positions(&self) -> Vec<DVec3> {
        let positions = self.part.vertices.iter();
        positions.map(|&v| self.positions[v as usize]).collect()
    }

    /// A step of the method of Çetinaslan 2016; returns the number of nodes inside a collider.
    fn step_verlet(
        &mut self,
        frame: &TouchFrame<'_>,
        before: &[RigidMotion],
        steps: TimeSteps,
    ) -> usize {
        let Dynamics::Verlet(body) = &mut self.dynamics else {
            return 0;
        };
        let solids = moving(&self.colliders, before, frame.colliders, steps.substeps);
        let solids = &solids[steps.substeps - 1];

        // The count is that of the last iteration.
        let mut pushed = 0;
        body.step(
            self.options.gravity,
            frame.secs,
            &mut |particles: &mut [Particle]| {
                pushed = 0;
                for particle in particles.iter_mut().filter(|particle| particle[3] > 0.0) {
                    let position = place_of(particle);
                    let out = projected_out(solids, position);
                    pushed += usize::from(out != position);
                    put(particle, out);
                }
            },
        );

        pushed
    }

    /// Sets the animated shape; returns its displacement, by node.
    fn set_animated_shape(&mut self, shape: Option<&[DVec3]>) -> Vec<DVec3> {
        let Some(shape) = shape.filter(|shape| *shape != self.rest) else {
            if let Dynamics::Xpbd(body) = &mut self.dynamics {
                body.keep_rest();
            }
            return vec![DVec3::ZERO; self.part.vertices.len()];
        };

        let displacements = self
            .part
            .vertices
            .iter()
            .map(|&v| shape[v as usize] - self.rest[v as usize])
            .collect();

        // Soft vertices move with the shape, so that only relative motion is simulated.
        let nodes: Vec<DVec3> = self
            .part
            .vertices
            .iter()
            .map(|&v| shape[v as usize])
            .collect();

        self.rest.copy_from_slice(shape);
        self.positions.copy_from_slice(shape);
        match &mut self.dynamics {
            Dynamics::Xpbd(body) => body.set_rest(&nodes),
            Dynamics::Verlet(body) => body.set_rest(&nodes),
        }

        self.update_positions();
        displacements
    }

    /// Substeps for the material and for the speed of near colliders.
    fn time_steps(&self, before: &[RigidMotion], frame: &TouchFrame<'_>) -> TimeSteps {
        if let Dynamics::Verlet(_) = self.dynamics {
            return TimeSteps::of_frame(frame.secs, 1, 1);
        }

        let requested = self.options.substeps.unwrap_or_else(|| {
            let reaches = self.region.reaches().iter().enumerate();
            let substeps = reaches.map(|(patch, &reach)| {
                let material = self.options.material_of(patch);
                material.substeps(&[reach], self.mean_edge, frame.secs)
            });
            substeps.max().unwrap_or(SoftMaterial::MIN_SUBSTEPS)
        });
        let fastest = self.collider_substeps(before, frame);
        let substeps = requested.max((fastest as usize).min(requested * MOST_SUBSTEPS));

        TimeSteps::of_frame(frame.secs, substeps, self.options.iterations)
    }

    /// Substeps for the fastest collider near the soft vertices.
    fn collider_substeps(&self, before: &[RigidMotion], frame: &TouchFrame<'_>) -> f64 {
        let soft: Vec<DVec3> = self
            .region
            .vertices()
            .iter()
            .map(|&v| self.positions[v as usize])
            .collect();
        let Some(soft) = Bounds::of(&soft) else {
            return 0.0;
        };

        let mut most = 0.0;
        for ((collider, from), to) in self.colliders.iter().zip(before).zip(frame.colliders) {
            let travel = collider.travel(from, to);
            let bounds = collider.obstacle().bounds();
            let reach = 0.5 * (bounds.diagonal() + soft.diagonal()) + travel + self.mean_edge;
            if to.apply(bounds.center()).distance(soft.center()) < reach {
                let thickness = collider.obstacle().thickness();
                most = f64::max(most, (travel / (LARGEST_STEP * thickness)).ceil());
            }
        }

        most
    }

    /// Copies the simulated positions of the soft vertices.
    fn update_positions(&mut self) {
        let soft = self.region.vertices().iter();
        match &self.dynamics {
            Dynamics::Xpbd(body) => {
                for (&v, position) in soft.zip(body.soft_places()) {
                    self.positions[v as usize] = position;
                }
            }
            Dynamics::Verlet(body) => {
                for (&v, particle) in soft.zip(body.particles()) {
                    self.positions[v as usize] = place_of(particle);
                }
            }
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

        // Penetration and displacement at the end of the frame.
        let depths = parallel::map(soft.len(), GRAIN, |k| {
            depth(&solids, self.positions[soft[k] as usize])
        });
        let displacement = |&v: &u32| self.positions[v as usize].distance(self.rest[v as usize]);

        TouchReport {
            substeps,
            contacts,
            face_contacts: self.faces.pushed(),
            max_penetration: depths.into_iter().fold(0.0, f64::max),
            max_face_penetration: self.faces.depth(&solids, &self.node_positions()),
            max_strain: self.strains().into_iter().map(f64::abs).fold(0.0, f64::max),
            max_displacement: soft.iter().map(displacement).fold(0.0, f64::max),
        }
    }

    /// Checks a frame.
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
            return Err(PhysicsError::ColliderPosition { collider });
        }

        if !(frame.secs > 0.0 && frame.secs.is_finite()) {
            return Err(PhysicsError::FrameTime { secs: frame.secs });
        }

        self.require_pulls(frame.pulls)
    }

    fn require_pulls(&self, pulls: &[(usize, DVec3)]) -> Result<(), PhysicsError> {
        if !pulls.is_empty() && matches!(self.dynamics, Dynamics::Verlet(_)) {
            return Err(PhysicsError::UnsupportedByVerlet { what: "pulls" });
        }

        // Each pull needs one soft vertex that is free to move.
        let mut pulled = BTreeSet::new();
        for &(vertex, place) in pulls {
            self.mesh.require_vertex(vertex)?;
            let wrong = if !place.is_finite() {
                PhysicsError::Pull { vertex }
            } else if self.region.node_of(vertex).is_none() {
                PhysicsError::PullOutsidePatch { vertex }
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

/// The XPBD body of a soft mesh at rest.
fn soft_body_at_rest(
    part: &SoftMesh,
    rest: &[DVec3],
    region: &SoftRegion,
    pinned: &BTreeSet<usize>,
    options: &TouchOptions,
) -> SoftBody {
    let masses = masses(part, rest);
    let constants = constants_of_nodes(part, region, options);

    // Pinned nodes and those around the patch have no inverse mass.
    let mut inverse_masses = vec![0.0; rest.len()];
    for node in 0..part.soft_count {
        if !pinned.contains(&(part.vertices[node] as usize)) {
            inverse_masses[node] = 1.0 / masses[node];
        }
    }

    let nodes = SoftNodes {
        rest,
        constants: &constants,
        masses: &masses,
        inverse_masses: &inverse_masses,
        softness: region.softness(),
    };
    SoftBody::new(part, &nodes)
}

/// Gravity, and the inertia under the acceleration of the animated shape, by soft node.
fn accelerations(
    displacements: &[DVec3],
    last_velocities: Option<&[DVec3]>,
    options: &TouchOptions,
    secs: f64,
) -> Vec<DVec3> {
    let mut accelerations = Vec::with_capacity(displacements.len());
    for (node, displacement) in displacements.iter().enumerate() {
        let velocity = *displacement / secs;
        let change = velocity - last_velocities.map_or(velocity, |last| last[node]);
        accelerations.push(options.gravity - change * (options.inertia / secs));
    }

    accelerations
}

/// The colliders in each substep of a frame.
fn moving<'a>(
    colliders: &'a [Collider],
    before: &[RigidMotion],
    after: &[RigidMotion],
    substeps: usize,
) -> Vec<Vec<MovingCollider<'a>>> {
    let mut all = Vec::with_capacity(substeps);
    for substep in 0..substeps {
        let mut moving = Vec::with_capacity(colliders.len());
        for ((collider, from), to) in colliders.iter().zip(before).zip(after) {
            let center = collider.obstacle().bounds().center();
            let at = |substep: usize| from.between(to, substep as f64 / substeps as f64, center);
            moving.push(MovingCollider::new(collider, at(substep), at(substep + 1)));
        }
        all.push(moving);
    }

    all
}
