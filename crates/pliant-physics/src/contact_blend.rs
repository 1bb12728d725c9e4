//! Shapes between shapes with obstacles in their way.
//!
//! **Problem.** On its way from shape to shape a surface runs into things that may move themselves.
//! It must not enter them, give way as springs do, slide along them or be held by friction, and
//! leave them again.
//!
//! **Equation.** The balance of springs with, at every surface vertex outside an obstacle of signed
//! distance `d`,
//!
//! ```text
//! d(x) ≥ 0        p ≥ 0        p d(x) = 0
//! ```
//!
//! where `p` is the push of the obstacle along `∇d`. Who touches is searched by [`ContactSet`];
//! touching vertices lie on tangent planes, which are laid anew after every solve until they stay.
//! On request the shape keeps out of itself as well ([`crate::self_contact`]).
//!
//! **Source.** Ma, Wang, Fyffe, Chen, Debevec, "A blendshape model that incorporates physical
//! interaction", 2012, section 4, is [`ContactMethod::Paper`]: surface vertices that are inside move to the obstacle's surface and are fixed there, points inside
//! never, and the balance is found again.
//!
//! **Ours.** Only the normal direction is barred, and friction is Coulomb's. A step is cut so that
//! nothing moves by more than a part of an obstacle's thickness at once, so nothing gets to its
//! other side. Whatever is still inside when the search ends is moved to the surface and counted.
//! The first guesses of who touches are solved roughly. While nothing touches, results are those of
//! [`Blend::at`] to the bit. Obstacles are seen by vertices; those that fit between vertices by
//! faces, too ([`crate::face_contact`]).

use std::collections::{BTreeMap, BTreeSet};

use pliant_linalg::RigidMotion;
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Bounds, Progress};

use crate::blend::Aim;
use crate::contact_set::{ContactSet, ContactTolerance};
use crate::face_contact::FaceContact;
use crate::obstacle::{Contact, Obstacle};
use crate::obstacle_motion::ObstacleMotion;
use crate::push::Push;
use crate::self_contact::SelfContact;
use crate::support::Constraint;
use crate::wedge::share_force;
use crate::{Blend, BlendFrame, BlendReport, PhysicsError};

/// How a shape gives way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ContactMethod {
    /// Vertices are kept from entering, and from nothing else.
    #[default]
    Active,
    /// Vertices that entered are fixed on the surface for the step, as published.
    Paper,
}

/// How obstacles and shapes meet.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ContactOptions {
    method: ContactMethod,
    friction: f64,
    self_contact: bool,
}

impl ContactOptions {
    /// How the shape gives way. Default: [`ContactMethod::Active`].
    #[must_use]
    pub fn with_method(self, method: ContactMethod) -> Self {
        Self { method, ..self }
    }

    /// Coulomb's coefficient. Default: none.
    #[must_use]
    pub fn with_friction(self, friction: f64) -> Self {
        Self { friction, ..self }
    }

    /// Whether vertices of the surface keep out of its other parts, too, without friction; what the
    /// shapes themselves have inside may stay. Part of [`ContactMethod::Active`] alone.
    /// Default: no.
    #[must_use]
    pub fn with_self_contact(self, self_contact: bool) -> Self {
        Self {
            self_contact,
            ..self
        }
    }
}

/// A shape between shapes that touches obstacles.
#[derive(Debug, Clone, PartialEq)]
pub struct ContactFrame {
    /// The shape; its report counts the steps of all sub-steps, and has converged only if contacts
    /// have settled too.
    pub shape: BlendFrame,
    /// Pairs of a surface vertex and an obstacle that touch.
    pub contacts: usize,
    /// Vertices that were still inside when the search ended and were moved to the surface.
    pub moved: usize,
    /// Fixed or pulled vertices that are inside: they stay.
    pub stuck: usize,
    /// Into how many parts the way from the last frame was cut.
    pub substeps: usize,
    /// Pairs of a surface vertex and a triangle of another part of the surface that push each
    /// other.
    pub self_contacts: usize,
    /// Faces between whose vertices a thin obstacle presses.
    pub faces: usize,
    /// How deep a vertex is still inside another part of the surface, at most; zero where
    /// self-contact is not asked for.
    pub self_depth: f64,
}

/// A blend whose frames are asked for one after another, among obstacles.
#[derive(Debug)]
pub struct ContactBlend {
    blend: Blend,
    bodies: Vec<Body>,
    method: ContactMethod,
    tolerance: ContactTolerance,
    /// Nearness within which a touching vertex keeps its obstacle.
    margin: f64,
    own: Option<SelfContact>,
    faces: FaceContact,
    last: Option<State>,
}

/// An obstacle, where it stands, and who touches it.
#[derive(Debug)]
struct Body {
    obstacle: Obstacle,
    motion: ObstacleMotion,
    place: RigidMotion,
    touching: ContactSet,
}

/// What a sub-step is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stay {
    /// To start the next from: rough balance will do.
    Passing,
    /// To be returned.
    Result,
}

/// Where the last step ended.
#[derive(Debug)]
struct State {
    weights: Vec<f64>,
    time: f64,
    /// Surface vertices and points inside.
    points: Vec<DVec3>,
    /// The same without obstacles.
    free: Vec<DVec3>,
    is_free: bool,
}

/// Vertices may be this part of the mean edge inside: ours, a ten-thousandth of what an eye could
/// see.
const DEPTH: f64 = 1e-6;
/// Corrections of who touches in a sub-step: ours. Without friction some ten suffice.
const ROUNDS: usize = 60;
/// How many times the tolerance is good enough to guess who touches.
const ROUGHLY: f64 = 10.0;
/// Guesses that are solved roughly, at most.
const ROUGH_ROUNDS: usize = 20;
/// The most that parts of the surface move towards each other in a sub-step, in mean edges: ours,
/// limbs are some edges thick.
const MOST_OWN_MOVE: f64 = 1.0;
/// The most that vertex and obstacle move towards each other in a sub-step, as a part of the
/// obstacle's thickness; from one half on the nearest way out may be the wrong one.
const MOST_MOVE: f64 = 0.2;
/// Sub-steps of a step: ours, so that a plate without thickness does not take forever.
const MOST_SUBSTEPS: f64 = 1000.0;
/// Passes that move vertices out of obstacles, one after another.
const PASSES: usize = 100;

impl ContactBlend {
    /// A blend among obstacles, each with its motion.
    ///
    /// # Errors
    /// [`PhysicsError::Friction`] if it is negative or not finite.
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
        let edge = blend.mesh().mean_edge_length();
        let tolerance = ContactTolerance {
            length: DEPTH * edge,
            force: blend.tolerance(),
        };
        let body = |(obstacle, motion): (Obstacle, ObstacleMotion)| Body {
            place: motion.at(0.0),
            obstacle,
            motion,
            touching: ContactSet::new(options.friction),
        };
        let bodies = obstacles.into_iter().map(body).collect();
        let watched = options.self_contact && options.method == ContactMethod::Active;
        let own = if watched {
            Some(SelfContact::new(blend.mesh(), &blend.surfaces())?)
        } else {
            None
        };
        let faces = faces_that_move(&blend);
        Ok(Self {
            blend,
            bodies,
            method: options.method,
            tolerance,
            margin: edge,
            own,
            faces,
            last: None,
        })
    }

    /// What a user should know about contacts.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let tolerated = self.own.as_ref().map_or(0, SelfContact::tolerated);
        let note = format!(
            "{tolerated} vertices are inside other parts of the surface in the shapes already; they may stay"
        );
        if tolerated > 0 {
            vec![note]
        } else {
            Vec::new()
        }
    }

    /// The blend without its obstacles.
    #[must_use]
    pub fn blend(&self) -> &Blend {
        &self.blend
    }

    /// The blend alone, to be put among others.
    #[must_use]
    pub fn into_blend(self) -> Blend {
        self.blend
    }

    /// Gets ready for so many frames between the first two shapes, see [`Blend::prepare_walk`].
    ///
    /// # Errors
    /// A system that cannot be factored.
    pub fn prepare_walk(&mut self, frames: usize) -> Result<(), PhysicsError> {
        self.blend.prepare_walk(frames)
    }

    /// As [`prepare_walk`](Self::prepare_walk), watched, see [`Blend::prepare_walk_with_progress`].
    ///
    /// # Errors
    /// As [`prepare_walk`](Self::prepare_walk), and [`PhysicsError::Stopped`] if `progress` asks
    /// for it.
    pub fn prepare_walk_with_progress(
        &mut self,
        frames: usize,
        progress: &dyn Progress,
    ) -> Result<(), PhysicsError> {
        self.blend.prepare_walk_with_progress(frames, progress)
    }

    /// Whether parts of the surface keep out of each other.
    pub(crate) fn watches_itself(&self) -> bool {
        self.own.is_some()
    }

    /// The shape at `weights`, with obstacles where they are at `time`, on the way from the last
    /// step, or from the first shape. What is inside an obstacle there already leaves it where
    /// it is nearest.
    ///
    /// # Errors
    /// As [`Blend::at`].
    pub fn step(&mut self, weights: &[f64], time: f64) -> Result<ContactFrame, PhysicsError> {
        let free = self.blend.at(weights)?;
        if self.bodies.is_empty() && self.own.is_none() {
            return Ok(self.untouched(free));
        }
        self.begin(weights, time, &free)?;
        let substeps = self.substeps(&free.positions, time)?;
        let (from, start) = self.last.as_ref().map_or((weights.to_vec(), time), |last| {
            (last.weights.clone(), last.time)
        });
        let mut iterations = 0;
        for k in 1..substeps {
            let share = k as f64 / substeps as f64;
            let between: Vec<f64> = from
                .iter()
                .zip(weights)
                .map(|(a, b)| a + (b - a) * share)
                .collect();
            let free = self.blend.at(&between)?;
            iterations += self
                .settle(
                    &between,
                    start + (time - start) * share,
                    free,
                    Stay::Passing,
                )?
                .shape
                .report
                .iterations;
        }
        let mut frame = self.settle(weights, time, free, Stay::Result)?;
        frame.shape.report.iterations += iterations;
        Ok(ContactFrame { substeps, ..frame })
    }

    /// Before the first step: goes to the first shape, if something is in the way from there.
    fn begin(&mut self, weights: &[f64], time: f64, free: &BlendFrame) -> Result<(), PhysicsError> {
        if self.last.is_some() || self.method == ContactMethod::Paper {
            return Ok(());
        }
        self.bodies.iter_mut().for_each(|body| body.move_to(time));
        let first: Vec<f64> = (0..weights.len())
            .map(|shape| if shape == 0 { 1.0 } else { 0.0 })
            .collect();
        if weights != first && (self.own.is_some() || !self.inside(&free.positions).is_empty()) {
            let shape = self.blend.at(&first)?;
            self.settle(&first, time, shape, Stay::Passing)?;
        }
        Ok(())
    }

    /// Into how many parts the way from the last step is cut.
    fn substeps(&self, free: &[DVec3], time: f64) -> Result<usize, PhysicsError> {
        let Some(last) = self
            .last
            .as_ref()
            .filter(|_| self.method == ContactMethod::Active)
        else {
            return Ok(1);
        };
        let mut parts = self
            .bodies
            .iter()
            .filter_map(|body| body.parts_of_way(last, free, time, self.margin))
            .fold(0.0, f64::max);
        if let Some(own) = &self.own {
            let to: Vec<DVec3> = free
                .iter()
                .zip(last.points.iter().zip(&last.free))
                .map(|(free, (was, before))| *free + *was - *before)
                .collect();
            parts = f64::max(
                parts,
                own.longest_way(&last.points[..free.len()], &to)? / (MOST_OWN_MOVE * self.margin),
            );
        }
        Ok(parts.ceil().clamp(1.0, MOST_SUBSTEPS) as usize)
    }

    /// One sub-step, with the shape without obstacles.
    fn settle(
        &mut self,
        weights: &[f64],
        time: f64,
        free: BlendFrame,
        stay: Stay,
    ) -> Result<ContactFrame, PhysicsError> {
        self.bodies.iter_mut().for_each(|body| body.move_to(time));
        let free_points = joined(&free);
        let (frame, is_free) = match self.method {
            ContactMethod::Active => self.press(weights, free, stay)?,
            ContactMethod::Paper => self.fix(weights, free)?,
        };
        self.last = Some(State {
            weights: weights.to_vec(),
            time,
            points: joined(&frame.shape),
            free: free_points,
            is_free,
        });
        Ok(frame)
    }

    /// Searches who touches; returns whether the result is that without obstacles, too.
    fn press(
        &mut self,
        weights: &[f64],
        free: BlendFrame,
        stay: Stay,
    ) -> Result<(ContactFrame, bool), PhysicsError> {
        if self.own.is_some() && self.blend.is_given(weights) && self.is_clear(&free.positions) {
            // A shape that was given is never inside itself beyond what is tolerated, whatever
            // barred the way to it.
            self.release();
            return Ok((self.untouched(free), true));
        }
        let mut points = joined(&free);
        if let Some(last) = self.last.as_ref().filter(|last| !last.is_free) {
            // What obstacles did to the shape goes along with the shape.
            points
                .iter_mut()
                .zip(last.points.iter().zip(&last.free))
                .for_each(|(p, (was, free))| *p += *was - *free);
        } else if self.correct(&points, &vec![DVec3::ZERO; points.len()], self.tolerance) == 0
            && !self.is_entered(&free)?
        {
            return Ok((self.untouched(free), true));
        }
        self.look(&[], &points)?;
        let (mut report, settled) = self.search(weights, &mut points, stay)?;
        if settled
            && self.touching() == 0
            && self.is_near_and_outside(&points, &free)
            && !self.is_entered(&free)?
        {
            self.release();
            return Ok((self.untouched(free), true));
        }
        let constraints = self.constraints();
        let moved = self.push_out(&mut points[..self.blend.mesh().vertex_count()], |vertex| {
            self.blend.holds(vertex)
        });
        if moved > 0 {
            report.residual = largest_left(self.forces(weights, &points), &constraints);
        }
        report.converged &= settled && moved == 0;
        let shape = self.blend.frame(weights, points, report)?;
        let contacts = self.bodies.iter().map(|body| body.touching.len()).sum();
        let self_contacts = self.own.as_ref().map_or(0, SelfContact::len);
        let self_depth = self.own.as_ref().map_or(0.0, |own| own.worst().depth);
        let faces = self.faces.len();
        Ok((
            ContactFrame {
                contacts,
                moved,
                self_contacts,
                faces,
                self_depth,
                ..self.untouched(shape)
            },
            false,
        ))
    }

    /// Balances `points` and corrects who touches, until nothing is left to correct; whether that
    /// came to be.
    fn search(
        &mut self,
        weights: &[f64],
        points: &mut Vec<DVec3>,
        stay: Stay,
    ) -> Result<(BlendReport, bool), PhysicsError> {
        let (mut iterations, mut round, mut is_rough) = (0, 0, true);
        loop {
            round += 1;
            let force = if is_rough {
                ROUGHLY * self.tolerance.force
            } else {
                self.tolerance.force
            };
            let aim = if is_rough {
                Aim::Near(force)
            } else {
                Aim::Result
            };
            let (constraints, pushes) = (self.constraints(), self.pushes());
            let frame = self
                .blend
                .pressed_at(weights, &constraints, &pushes, Some(points), aim)?;
            iterations += frame.report.iterations;
            *points = joined(&frame);
            self.look(&pushes, points)?;
            let forces = self.forces(weights, points);
            let residual = largest_left(forces.clone(), &constraints);
            let changes = self.correct(
                points,
                &forces,
                ContactTolerance {
                    force,
                    ..self.tolerance
                },
            );
            let is_kept =
                self.own.as_ref().is_none_or(SelfContact::is_kept) && self.faces.is_kept();
            let settled = changes == 0 && is_kept && (pushes.is_empty() || residual <= force);
            let is_enough = settled && (!is_rough || stay == Stay::Passing);
            if is_enough || round == ROUNDS {
                let converged = residual <= self.tolerance.force;
                return Ok((
                    BlendReport {
                        iterations,
                        residual,
                        converged,
                    },
                    is_enough,
                ));
            }
            is_rough = is_rough && !settled && round < ROUGH_ROUNDS;
        }
    }

    /// The conditions that parts of the surface put on each other.
    pub(crate) fn pushes(&self) -> Vec<Push> {
        let stiffness = |vertex: usize| self.blend.stiffness_at(vertex);
        let mut pushes = self
            .own
            .as_ref()
            .map_or_else(Vec::new, |own| own.pushes(stiffness));
        pushes.extend(self.faces.pushes(stiffness));
        pushes
    }

    /// Takes over how hard `pushes` are at `points`, and looks again which parts of the surface and
    /// which faces touch.
    fn look(&mut self, pushes: &[Push], points: &[DVec3]) -> Result<(), PhysicsError> {
        let of_faces = &pushes[pushes.len().saturating_sub(self.faces.watched())..];
        let obstacles: Vec<(&Obstacle, &RigidMotion)> = self
            .bodies
            .iter()
            .map(|body| (&body.obstacle, &body.place))
            .collect();
        self.faces
            .update(of_faces, points, &obstacles, |body, vertex| {
                self.bodies[body].touching.touches(vertex)
            });
        self.own
            .as_mut()
            .map_or(Ok(()), |own| own.update(pushes, points))
    }

    /// The forces of springs and of parts of the surface that push each other.
    pub(crate) fn forces(&mut self, weights: &[f64], points: &[DVec3]) -> Vec<DVec3> {
        let mut forces = self.blend.forces_at(weights, points);
        for push in self.pushes() {
            for (vertex, gradient) in push
                .ends
                .iter()
                .filter(|end| !self.blend.holds(end.0 as usize))
            {
                forces[*vertex as usize] += *gradient * push.known;
            }
        }
        forces
    }

    /// Whether no obstacle touches or is in the way of `surface`.
    fn is_clear(&self, surface: &[DVec3]) -> bool {
        self.faces.len() == 0
            && self.bodies.iter().all(|body| body.touching.is_empty())
            && self.inside(surface).is_empty()
    }

    /// Forgets which parts of the surface and which faces touch.
    fn release(&mut self) {
        self.own.iter_mut().for_each(SelfContact::release);
        self.faces.release();
    }

    /// Whether some vertex of a shape is inside another part of it and should not, or some face
    /// inside a thin obstacle.
    fn is_entered(&self, free: &BlendFrame) -> Result<bool, PhysicsError> {
        let mut faces = faces_that_move(&self.blend);
        let obstacles: Vec<(&Obstacle, &RigidMotion)> = self
            .bodies
            .iter()
            .map(|body| (&body.obstacle, &body.place))
            .collect();
        faces.update(&[], &free.positions, &obstacles, |_, _| false);
        let enters_itself = self
            .own
            .as_ref()
            .map_or(Ok(false), |own| own.is_entered(&free.positions))?;
        Ok(enters_itself || !faces.is_kept())
    }

    /// The published way: who is inside is fixed on the surface, until nobody is inside.
    fn fix(
        &mut self,
        weights: &[f64],
        free: BlendFrame,
    ) -> Result<(ContactFrame, bool), PhysicsError> {
        let mut fixed: BTreeMap<usize, Constraint> = BTreeMap::new();
        let mut frame = free;
        for _ in 0..ROUNDS {
            let inside = self.inside(&frame.positions);
            if inside.is_empty() {
                break;
            }
            fixed.extend(
                inside
                    .iter()
                    .map(|contact| (contact.vertex as usize, Constraint::Fixed(contact.point))),
            );
            let constraints: Vec<(usize, Constraint)> = fixed
                .iter()
                .map(|(&vertex, &constraint)| (vertex, constraint))
                .collect();
            let iterations = frame.report.iterations;
            frame = self
                .blend
                .constrained_at(weights, &constraints, Some(&joined(&frame)))?;
            frame.report.iterations += iterations;
        }
        let mut points = joined(&frame);
        let moved = self.push_out(&mut points[..self.blend.mesh().vertex_count()], |vertex| {
            self.blend.holds(vertex)
        });
        let report = BlendReport {
            converged: frame.report.converged && moved == 0,
            ..frame.report
        };
        let shape = if moved > 0 {
            self.blend.frame(weights, points, report)?
        } else {
            frame
        };
        Ok((
            ContactFrame {
                contacts: fixed.len(),
                moved,
                ..self.untouched(shape)
            },
            fixed.is_empty(),
        ))
    }

    fn untouched(&self, free: BlendFrame) -> ContactFrame {
        let stuck = self.stuck(&free.positions);
        ContactFrame {
            shape: free,
            contacts: 0,
            moved: 0,
            stuck,
            substeps: 1,
            self_contacts: 0,
            faces: 0,
            self_depth: 0.0,
        }
    }

    /// Contacts of any kind.
    fn touching(&self) -> usize {
        self.bodies
            .iter()
            .map(|body| body.touching.len())
            .sum::<usize>()
            + self.own.as_ref().map_or(0, SelfContact::len)
            + self.faces.len()
    }

    /// What touching vertices may do; those that touch several obstacles, what all of these allow.
    fn constraints(&self) -> Vec<(usize, Constraint)> {
        let mut all: BTreeMap<usize, Constraint> = BTreeMap::new();
        for (vertex, constraint) in self
            .bodies
            .iter()
            .flat_map(|body| body.touching.constraints())
        {
            all.entry(vertex)
                .and_modify(|known| *known = known.and(constraint))
                .or_insert(constraint);
        }
        all.into_iter().collect()
    }

    /// Corrects who touches at balanced `points`; the number of changes.
    fn correct(
        &mut self,
        points: &[DVec3],
        forces: &[DVec3],
        tolerance: ContactTolerance,
    ) -> usize {
        let surface = &points[..self.blend.mesh().vertex_count()];
        let shared = self.shared_forces(forces);
        let (blend, margin) = (&self.blend, self.margin);
        let mut changes = 0;
        for (k, body) in self.bodies.iter_mut().enumerate() {
            let mut contacts = body.obstacle.contacts_at(&body.place, surface, margin);
            contacts.retain(|contact| !blend.holds(contact.vertex as usize));
            let force_on = |vertex: u32| {
                shared
                    .get(&(vertex, k))
                    .copied()
                    .unwrap_or(forces[vertex as usize])
            };
            changes += body
                .touching
                .update(surface, &contacts, force_on, tolerance);
        }
        changes
    }

    /// For vertices that touch several obstacles, and each of these: the force that the others
    /// leave.
    fn shared_forces(&self, forces: &[DVec3]) -> BTreeMap<(u32, usize), DVec3> {
        let mut touched: BTreeMap<u32, Vec<(usize, DVec3)>> = BTreeMap::new();
        for (k, body) in self.bodies.iter().enumerate() {
            for (vertex, normal) in body.touching.normals() {
                touched.entry(vertex).or_default().push((k, normal));
            }
        }
        let mut shared = BTreeMap::new();
        for (vertex, bodies) in touched.into_iter().filter(|(_, bodies)| bodies.len() > 1) {
            let normals: Vec<DVec3> = bodies.iter().map(|(_, normal)| *normal).collect();
            let shares = share_force(forces[vertex as usize], &normals);
            shared.extend(
                bodies
                    .iter()
                    .zip(shares)
                    .map(|(&(k, _), share)| ((vertex, k), share)),
            );
        }
        shared
    }

    /// Vertices of a surface that are deeper inside than they may be.
    fn deep<'a>(&'a self, surface: &'a [DVec3]) -> impl Iterator<Item = Contact> + 'a {
        let contacts = self
            .bodies
            .iter()
            .flat_map(|body| body.obstacle.contacts_at(&body.place, surface, 0.0));
        contacts.filter(|contact| contact.depth > self.tolerance.length)
    }

    /// Those that are free to leave.
    fn inside(&self, surface: &[DVec3]) -> Vec<Contact> {
        self.deep(surface)
            .filter(|contact| !self.blend.holds(contact.vertex as usize))
            .collect()
    }

    /// How many of them are held there.
    fn stuck(&self, surface: &[DVec3]) -> usize {
        let held = self
            .deep(surface)
            .filter(|contact| self.blend.holds(contact.vertex as usize));
        held.map(|contact| contact.vertex)
            .collect::<BTreeSet<_>>()
            .len()
    }

    /// Moves vertices of a surface, the blend's own or a finer one, that are inside to where they
    /// leave, but for held ones; how many.
    pub(crate) fn push_out(&self, surface: &mut [DVec3], holds: impl Fn(usize) -> bool) -> usize {
        let mut moved = BTreeSet::new();
        for _ in 0..PASSES {
            let inside: Vec<Contact> = self
                .deep(surface)
                .filter(|contact| !holds(contact.vertex as usize))
                .collect();
            if inside.is_empty() {
                break;
            }
            for contact in inside {
                surface[contact.vertex as usize] = contact.point;
                moved.insert(contact.vertex);
            }
        }
        moved.len()
    }

    /// Whether a balance that touches nothing is the one without obstacles, which is near and
    /// touches nothing either.
    fn is_near_and_outside(&self, points: &[DVec3], free: &BlendFrame) -> bool {
        let near = points
            .iter()
            .zip(&free.positions)
            .all(|(p, q)| p.distance(*q) <= self.margin);
        near && self.inside(&free.positions).is_empty()
    }
}

impl Body {
    /// Moves to where it is at `time`, with all that touch it.
    fn move_to(&mut self, time: f64) {
        let (place, back) = (self.motion.at(time), self.place.inverse());
        let motion = RigidMotion {
            rotation: place.rotation * back.rotation,
            translation: place.apply(back.translation),
        };
        self.touching.begin_step(&motion);
        self.place = place;
    }

    /// How often the longest way of the vertices near it, and its own, is as long as may be gone at
    /// once; `None` if none is near.
    fn parts_of_way(&self, last: &State, free: &[DVec3], time: f64, margin: f64) -> Option<f64> {
        let (before, after) = (
            self.corners(&self.place),
            self.corners(&self.motion.at(time)),
        );
        let travel = before
            .iter()
            .zip(&after)
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f64::max);
        let swept = grown(&[before, after].concat(), margin + 0.5 * travel)?;
        let way = |vertex: usize| {
            let (from, to) = (last.free[vertex], free[vertex]);
            let length = from.distance(to);
            let passed = grown(&[from, to, last.points[vertex]], 0.5 * length)?;
            overlap(&passed, &swept).then_some(length)
        };
        let longest = (0..free.len()).filter_map(way).reduce(f64::max)?;
        Some((longest + travel) / (MOST_MOVE * self.obstacle.thickness()))
    }

    /// The corners of its box.
    fn corners(&self, place: &RigidMotion) -> [DVec3; 8] {
        let Bounds { min, max } = self.obstacle.bounds();
        let side = |corner: usize, bit: usize, low: f64, high: f64| {
            if corner >> bit & 1 == 0 { low } else { high }
        };
        std::array::from_fn(|c| {
            place.apply(DVec3::new(
                side(c, 0, min.x, max.x),
                side(c, 1, min.y, max.y),
                side(c, 2, min.z, max.z),
            ))
        })
    }
}

/// The box around finite points and `reach` more.
fn grown(points: &[DVec3], reach: f64) -> Option<Bounds> {
    let Bounds { min, max } = Bounds::of(points)?;
    Some(Bounds {
        min: min - DVec3::splat(reach),
        max: max + DVec3::splat(reach),
    })
}

fn overlap(a: &Bounds, b: &Bounds) -> bool {
    a.min.cmple(b.max).all() && b.min.cmple(a.max).all()
}

/// All faces but those whose corners are held.
fn faces_that_move(blend: &Blend) -> FaceContact {
    let moves = |face: &&[u32; 3]| !face.iter().all(|&v| blend.holds(v as usize));
    FaceContact::new(
        blend
            .mesh()
            .triangles()
            .iter()
            .filter(moves)
            .copied()
            .collect(),
        blend.mesh().mean_edge_length(),
    )
}

/// The largest of `forces` along what `constraints` allow.
fn largest_left(mut forces: Vec<DVec3>, constraints: &[(usize, Constraint)]) -> f64 {
    for &(vertex, constraint) in constraints {
        forces[vertex] = constraint.projector() * forces[vertex];
    }
    forces
        .iter()
        .map(|force| force.length())
        .fold(0.0, f64::max)
}

/// Surface vertices and points inside.
fn joined(frame: &BlendFrame) -> Vec<DVec3> {
    [&frame.positions[..], &frame.interior].concat()
}

#[cfg(test)]
mod tests;
