//! Blend of shapes among moving obstacles, with contact and friction.
//!
//! - [`active_set`]: the default contact method.
//! - [`fixed_contact`]: the contact method of Ma et al. 2012, and the projection out of obstacles.
//! - [`contact_body`]: an obstacle with its placement and its contact set.
//! - [`face_clearance`]: faces between vertices in contact stay out, too.
//!
//! **Problem.** Between two shapes a surface collides with obstacles that may move. It must not
//! enter them. It yields as springs do, slides along them or sticks by friction, and leaves them
//! again.
//!
//! **Equation.** The equilibrium of springs with, at every surface vertex outside an obstacle of
//! signed distance `d`,
//!
//! ```text
//! d(x) ≥ 0        p ≥ 0        p d(x) = 0
//! ```
//!
//! where `p` is the contact force of the obstacle along `∇d`. The active set is found by
//! [`ContactSet`](crate::contact::contact_set::ContactSet); vertices in contact lie on tangent
//! planes, which are updated after every solve until they are stationary. Optionally the shape
//! avoids itself as well ([`crate::contact::self_contact`]).
//!
//! **Source.** Ma, Wang, Fyffe, Chen, Debevec, "A blendshape model that incorporates physical
//! interaction", 2012, section 4, is [`ContactMethod::Ma2012`]: surface vertices inside an obstacle
//! move to its surface and are fixed there, interior points never, and the equilibrium is solved
//! again.
//!
//! **Departures.** Only the normal direction is constrained, with Coulomb friction. A step is
//! divided so that nothing moves by more than a part of the thickness of an obstacle at once and
//! passes to its other side. Vertices that are still inside after the last iteration are moved to
//! the surface and counted. The first iterations of the active set are solved roughly. Without
//! contact the results are those of [`Blend::at`] to the bit. Obstacles are detected by vertices, which
//! keep a clearance that keeps faces out; obstacles that fit between vertices by faces, too
//! ([`crate::contact::face_contact`]).

mod active_set;
mod contact_body;
mod face_clearance;
mod fixed_contact;

use pliant_mesh::Progress;
use pliant_mesh::glam::DVec3;

use crate::contact::contact_set::ContactTolerance;
use crate::contact::face_contact::FaceContact;
use crate::contact::obstacle::Obstacle;
use crate::contact::obstacle_motion::ObstacleMotion;
use crate::contact::self_contact::SelfContact;
use crate::{Blend, BlendFrame, PhysicsError};
use contact_body::ContactBody;

/// The contact method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ContactMethod {
    /// An active set of unilateral constraints along the normals, with friction.
    #[default]
    ActiveSet,
    /// Vertices inside an obstacle are fixed on its surface for the step (Ma et al. 2012).
    Ma2012,
}

/// Options of contact.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ContactOptions {
    method: ContactMethod,
    friction: f64,
    self_contact: bool,
}

impl ContactOptions {
    /// The contact method. Default: [`ContactMethod::ActiveSet`].
    #[must_use]
    pub fn with_method(self, method: ContactMethod) -> Self {
        Self { method, ..self }
    }

    /// Coulomb's friction coefficient. Default: none.
    #[must_use]
    pub fn with_friction(self, friction: f64) -> Self {
        Self { friction, ..self }
    }

    /// Whether the surface avoids itself, too, without friction; penetrations of the given shapes
    /// are tolerated. For [`ContactMethod::ActiveSet`] only. Default: no.
    #[must_use]
    pub fn with_self_contact(self, self_contact: bool) -> Self {
        Self {
            self_contact,
            ..self
        }
    }
}

/// A blended shape with its contacts.
#[derive(Debug, Clone, PartialEq)]
pub struct ContactFrame {
    /// The shape. Its report counts the iterations of all substeps, and is converged only if the
    /// contacts are, too.
    pub shape: BlendFrame,
    /// Pairs of a surface vertex and an obstacle in contact.
    pub contacts: usize,
    /// Vertices that were still inside after the last iteration and were moved to the surface.
    pub moved: usize,
    /// Fixed or pulled vertices inside an obstacle; they do not move.
    pub stuck: usize,
    /// Number of substeps from the last frame.
    pub substeps: usize,
    /// Pairs of a surface vertex and a triangle of the same surface in contact.
    pub self_contacts: usize,
    /// Faces in contact with a thin obstacle between their vertices.
    pub faces: usize,
    /// The largest penetration of a vertex into the same surface; zero without self-contact.
    pub self_depth: f64,
}

/// A blend among obstacles, evaluated frame after frame.
#[derive(Debug)]
pub struct ContactBlend {
    blend: Blend,
    bodies: Vec<ContactBody>,
    method: ContactMethod,
    tolerance: ContactTolerance,
    /// Distance within which a vertex stays in contact with its obstacle.
    margin: f64,
    self_contact: Option<SelfContact>,
    faces: FaceContact,
    last: Option<LastStep>,
}

/// The role of a substep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SubstepKind {
    /// The start of the next substep: a rough solution suffices.
    Intermediate,
    /// The result.
    Final,
}

/// The end of the last step.
#[derive(Debug)]
struct LastStep {
    weights: Vec<f64>,
    time: f64,
    /// Surface vertices and interior points.
    points: Vec<DVec3>,
    /// The same without obstacles.
    free: Vec<DVec3>,
    is_free: bool,
}

/// Allowed penetration relative to the mean edge. Chosen: a ten-thousandth of what is visible.
const DEPTH: f64 = 1e-6;
/// The largest obstacle in mean edges: rounding on its surface is then some hundredth of the
/// allowed penetration.
const MOST_EDGES: f64 = 1e8;
/// The largest displacement of parts of the surface towards each other in a substep, in mean edges.
/// Chosen: limbs are some edges thick.
const MOST_SELF_MOVE: f64 = 1.0;
/// Largest number of substeps. Chosen: a bound for plates without thickness.
const MOST_SUBSTEPS: f64 = 1000.0;

impl ContactBlend {
    /// A blend among obstacles, each with its motion.
    ///
    /// # Errors
    /// [`PhysicsError::Friction`] if the friction is negative or not finite,
    /// [`PhysicsError::EnclosingObstacle`] if the first shape is inside an obstacle,
    /// [`PhysicsError::ObstacleScale`] for an obstacle that is too large.
    pub fn new(
        blend: Blend,
        obstacles: Vec<(Obstacle, ObstacleMotion)>,
        options: &ContactOptions,
    ) -> Result<Self, PhysicsError> {
        if !(options.friction >= 0.0 && options.friction.is_finite()) {
            return Err(PhysicsError::Friction {
                value: options.friction,
            });
        }

        let mut bodies = Vec::with_capacity(obstacles.len());
        for (obstacle, motion) in obstacles {
            bodies.push(ContactBody::new(obstacle, motion, options.friction));
        }

        let edge = blend.mesh().mean_edge_length();
        let surfaces = blend.surfaces();
        let first = &surfaces[0];
        for (k, body) in bodies.iter().enumerate() {
            let size = body.obstacle.bounds().diagonal();
            if size > MOST_EDGES * edge {
                return Err(PhysicsError::ObstacleScale {
                    obstacle: k,
                    size,
                    edge,
                });
            }
            let inside = body.obstacle.contacts_at(&body.placement, first, 0.0);
            if inside.len() == first.len() {
                return Err(PhysicsError::EnclosingObstacle {
                    obstacle: k,
                    vertices: first.len(),
                });
            }
        }

        let mut self_contact = None;
        if options.self_contact && options.method == ContactMethod::ActiveSet {
            self_contact = Some(SelfContact::new(blend.mesh(), &surfaces)?);
        }

        // Lengths are relative to the mean edge, forces to the solver.
        let tolerance = ContactTolerance {
            length: DEPTH * edge,
            force: blend.tolerance(),
        };
        let faces = movable_faces(&blend);

        Ok(Self {
            blend,
            bodies,
            method: options.method,
            tolerance,
            margin: edge,
            self_contact,
            faces,
            last: None,
        })
    }

    /// Warnings about contacts.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let tolerated = self.self_contact.as_ref().map_or(0, SelfContact::tolerated);
        if tolerated == 0 {
            return Vec::new();
        }

        vec![format!(
            "{tolerated} vertices are inside other parts of the surface in the shapes already; self-contact ignores them"
        )]
    }

    /// The blend without its obstacles.
    #[must_use]
    pub fn blend(&self) -> &Blend {
        &self.blend
    }

    /// The blend alone, for other obstacles.
    #[must_use]
    pub fn into_blend(self) -> Blend {
        self.blend
    }

    /// Prepares frames between the first two shapes, see [`Blend::prepare_frames`].
    ///
    /// # Errors
    /// A system that cannot be factored.
    pub fn prepare_frames(&mut self, frames: usize) -> Result<(), PhysicsError> {
        self.blend.prepare_frames(frames)
    }

    /// As [`prepare_frames`](Self::prepare_frames), with reports to `progress`.
    ///
    /// # Errors
    /// As [`prepare_frames`](Self::prepare_frames), and [`PhysicsError::Stopped`] if `progress`
    /// stops the work.
    pub fn prepare_frames_with_progress(
        &mut self,
        frames: usize,
        progress: &dyn Progress,
    ) -> Result<(), PhysicsError> {
        self.blend.prepare_frames_with_progress(frames, progress)
    }

    /// Whether a step depends on the steps before it.
    pub(crate) fn is_history_dependent(&self) -> bool {
        !self.bodies.is_empty() || self.self_contact.is_some()
    }

    /// Whether the surface avoids itself.
    pub(crate) fn has_self_contact(&self) -> bool {
        self.self_contact.is_some()
    }

    /// The shape at `weights`, with obstacles at their positions at `time`, on the path from the
    /// last step, or from the first shape. A vertex that is inside an obstacle at the start leaves
    /// it at the nearest point.
    ///
    /// # Errors
    /// As [`Blend::at`].
    pub fn step(&mut self, weights: &[f64], time: f64) -> Result<ContactFrame, PhysicsError> {
        let free = self.blend.at(weights)?;
        if self.bodies.is_empty() && self.self_contact.is_none() {
            return Ok(self.without_contact(free));
        }

        self.begin(weights, time, &free)?;
        let substeps = self.substeps(&free.positions, time)?;
        let mut from = weights.to_vec();
        let mut start = time;
        if let Some(last) = &self.last {
            from.clone_from(&last.weights);
            start = last.time;
        }

        // Weights and obstacles move linearly over the substeps.
        let mut iterations = 0;
        for k in 1..substeps {
            let share = k as f64 / substeps as f64;
            let mut between = from.clone();
            for (a, b) in between.iter_mut().zip(weights) {
                *a += (b - *a) * share;
            }

            let free = self.blend.at(&between)?;
            let time = start + (time - start) * share;
            let frame = self.substep(&between, time, free, SubstepKind::Intermediate)?;
            iterations += frame.shape.report.iterations;
        }

        let mut frame = self.substep(weights, time, free, SubstepKind::Final)?;
        frame.shape.report.iterations += iterations;
        Ok(ContactFrame { substeps, ..frame })
    }

    /// Before the first step: goes to the first shape, if there are contacts on the path from it.
    fn begin(&mut self, weights: &[f64], time: f64, free: &BlendFrame) -> Result<(), PhysicsError> {
        if self.last.is_some() || self.method == ContactMethod::Ma2012 {
            return Ok(());
        }

        self.move_bodies(time);
        let mut first = vec![0.0; weights.len()];
        if let Some(weight) = first.first_mut() {
            *weight = 1.0;
        }

        let has_contacts = self.self_contact.is_some() || !self.inside(&free.positions).is_empty();
        if weights != first && has_contacts {
            let shape = self.blend.at(&first)?;
            self.substep(&first, time, shape, SubstepKind::Intermediate)?;
        }

        Ok(())
    }

    fn move_bodies(&mut self, time: f64) {
        for body in &mut self.bodies {
            body.move_to(time);
        }
    }

    /// Number of substeps from the last step.
    fn substeps(&self, free: &[DVec3], time: f64) -> Result<usize, PhysicsError> {
        let Some(last) = &self.last else {
            return Ok(1);
        };
        if self.method != ContactMethod::ActiveSet {
            return Ok(1);
        }

        let mut parts = 0.0;
        for body in &self.bodies {
            if let Some(needed) = body.substeps_needed(last, free, time, self.margin) {
                parts = f64::max(parts, needed);
            }
        }

        if let Some(self_contact) = &self.self_contact {
            // The free displacement, on top of the displacement by contacts so far.
            let mut to = Vec::with_capacity(free.len());
            for (free, (was, before)) in free.iter().zip(last.points.iter().zip(&last.free)) {
                to.push(*free + *was - *before);
            }
            let longest =
                self_contact.longest_relative_displacement(&last.points[..free.len()], &to)?;
            parts = f64::max(parts, longest / (MOST_SELF_MOVE * self.margin));
        }

        Ok(parts.ceil().clamp(1.0, MOST_SUBSTEPS) as usize)
    }

    /// One substep, given the shape without obstacles.
    fn substep(
        &mut self,
        weights: &[f64],
        time: f64,
        free: BlendFrame,
        kind: SubstepKind,
    ) -> Result<ContactFrame, PhysicsError> {
        self.move_bodies(time);
        let free_points = all_points(&free);
        let (frame, is_free) = match self.method {
            ContactMethod::ActiveSet => self.solve_active_set(weights, free, kind)?,
            ContactMethod::Ma2012 => self.solve_ma2012(weights, free)?,
        };

        self.last = Some(LastStep {
            weights: weights.to_vec(),
            time,
            points: all_points(&frame.shape),
            free: free_points,
            is_free,
        });

        Ok(frame)
    }

    /// A frame without contacts.
    fn without_contact(&self, shape: BlendFrame) -> ContactFrame {
        ContactFrame {
            stuck: self.stuck(&shape.positions),
            shape,
            contacts: 0,
            moved: 0,
            substeps: 1,
            self_contacts: 0,
            faces: 0,
            self_depth: 0.0,
        }
    }
}

/// All faces except those whose corners are all held.
fn movable_faces(blend: &Blend) -> FaceContact {
    let mut faces = blend.mesh().triangles().to_vec();
    faces.retain(|face| !face.iter().all(|&v| blend.holds(v as usize)));
    FaceContact::new(faces, blend.mesh().mean_edge_length())
}

/// Surface vertices and interior points.
fn all_points(frame: &BlendFrame) -> Vec<DVec3> {
    [&frame.positions[..], &frame.interior].concat()
}

#[cfg(test)]
mod tests;
