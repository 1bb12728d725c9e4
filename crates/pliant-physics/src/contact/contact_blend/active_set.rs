//! Contact by an active set: solve, correct the contacts, and repeat.
//!
//! **Source.** The active set is that of quadratic programming (Nocedal and Wright, "Numerical
//! Optimization", 2006, section 16.5).

use std::collections::BTreeMap;

use pliant_linalg::RigidMotion;
use pliant_mesh::glam::DVec3;

use super::{ContactBlend, ContactFrame, SubstepKind, all_points, movable_faces};
use crate::blend::energy::{Constraint, UnilateralConstraint};
use crate::blend::spring_blend::SolveAccuracy;
use crate::contact::contact_set::ContactTolerance;
use crate::contact::normal_forces::share_force;
use crate::contact::obstacle::Obstacle;
use crate::contact::self_contact::SelfContact;
use crate::{BlendFrame, BlendReport, PhysicsError};

/// Corrections of the active set in a substep. Chosen: without friction some ten suffice.
const ROUNDS: usize = 60;
/// Rough solves have this many times the tolerance.
const ROUGHLY: f64 = 10.0;
/// Corrections of the clearance of faces in a step. Chosen: each leaves a small part of the depth.
const FACE_ROUNDS: usize = 4;
/// Rough solves in a substep, at most.
const ROUGH_ROUNDS: usize = 20;

impl ContactBlend {
    /// Solves a substep with contacts; returns also whether the result is the shape without
    /// obstacles.
    pub(super) fn solve_active_set(
        &mut self,
        weights: &[f64],
        free: BlendFrame,
        kind: SubstepKind,
    ) -> Result<(ContactFrame, bool), PhysicsError> {
        // A given shape is never inside itself beyond what is tolerated, even if its path was
        // obstructed.
        let is_given = self.self_contact.is_some() && self.blend.is_given(weights);
        if is_given && self.is_clear(&free.positions) {
            self.release();
            return Ok((self.without_contact(free), true));
        }

        let mut points = all_points(&free);
        if let Some(last) = self.last.as_ref().filter(|last| !last.is_free) {
            // Displacements by contacts are added to the free shape.
            for (p, (was, free)) in points.iter_mut().zip(last.points.iter().zip(&last.free)) {
                *p += *was - *free;
            }
        } else if self.update_contacts(&points, &vec![DVec3::ZERO; points.len()], self.tolerance)
            == 0
            && !self.is_entered(&free)?
        {
            return Ok((self.without_contact(free), true));
        }

        self.update_pairs(&[], &points)?;
        let (mut report, mut settled) = self.iterate(weights, &mut points, kind)?;
        if kind == SubstepKind::Final {
            (report, settled) = self.settle_faces(weights, &mut points, (report, settled))?;
        }
        if settled
            && self.contact_count() == 0
            && self.is_near_and_outside(&points, &free)
            && !self.is_entered(&free)?
        {
            self.release();
            return Ok((self.without_contact(free), true));
        }

        // Vertices that the iterations left inside are moved out, which changes the residual.
        let constraints = self.constraints();
        let moved = self.project_own_surface(&mut points);
        if moved > 0 {
            report.residual = largest_force(self.forces(weights, &points)?, &constraints);
        }
        report.converged &= settled && moved == 0;

        let shape = self.blend.frame(weights, points, report)?;
        Ok((self.frame_with_contacts(shape, moved), false))
    }

    /// Solves again with a clearance of the vertices in contact, until faces are outside, too.
    fn settle_faces(
        &mut self,
        weights: &[f64],
        points: &mut Vec<DVec3>,
        mut solved: (BlendReport, bool),
    ) -> Result<(BlendReport, bool), PhysicsError> {
        for _ in 0..FACE_ROUNDS {
            if !self.clear_faces(points) {
                break;
            }
            let iterations = solved.0.iterations;
            solved = self.iterate(weights, points, SubstepKind::Final)?;
            solved.0.iterations += iterations;
        }
        Ok(solved)
    }

    /// A frame with the current contacts.
    fn frame_with_contacts(&self, shape: BlendFrame, moved: usize) -> ContactFrame {
        let self_contact = self.self_contact.as_ref();
        ContactFrame {
            contacts: self.bodies.iter().map(|body| body.contacts.len()).sum(),
            moved,
            self_contacts: self_contact.map_or(0, SelfContact::len),
            faces: self.faces.len(),
            self_depth: self_contact.map_or(0.0, |own| own.worst().depth),
            ..self.without_contact(shape)
        }
    }

    /// Solves for `points` and corrects the contacts, until there is nothing to correct; returns
    /// whether that state was reached.
    fn iterate(
        &mut self,
        weights: &[f64],
        points: &mut Vec<DVec3>,
        kind: SubstepKind,
    ) -> Result<(BlendReport, bool), PhysicsError> {
        let mut iterations = 0;
        let mut is_rough = true;
        let mut round = 0;
        loop {
            round += 1;
            // Exact forces would be wasted while the contacts still change.
            let mut tolerance = self.tolerance;
            let mut accuracy = SolveAccuracy::Full;
            if is_rough {
                tolerance.force *= ROUGHLY;
                accuracy = SolveAccuracy::Rough(tolerance.force);
            }

            let constraints = self.constraints();
            let unilateral = self.unilateral_constraints();
            let frame = self.blend.unilaterally_constrained_at(
                weights,
                &constraints,
                &unilateral,
                Some(points),
                accuracy,
            )?;
            iterations += frame.report.iterations;
            *points = all_points(&frame);

            self.update_pairs(&unilateral, points)?;
            let forces = self.forces(weights, points)?;
            let residual = largest_force(forces.clone(), &constraints);
            let changes = self.update_contacts(points, &forces, tolerance);

            let gaps_hold = self
                .self_contact
                .as_ref()
                .is_none_or(SelfContact::is_satisfied)
                && self.faces.is_satisfied();
            let settled =
                changes == 0 && gaps_hold && (unilateral.is_empty() || residual <= tolerance.force);
            let is_enough = settled && (!is_rough || kind == SubstepKind::Intermediate);
            if is_enough || round == ROUNDS {
                let report = BlendReport {
                    iterations,
                    residual,
                    converged: residual <= self.tolerance.force,
                };
                return Ok((report, is_enough));
            }

            // A rough state without changes is solved once more, to the full tolerance.
            is_rough = is_rough && !settled && round < ROUGH_ROUNDS;
        }
    }

    /// The constraints of self-contact and of faces.
    pub(crate) fn unilateral_constraints(&self) -> Vec<UnilateralConstraint> {
        let stiffness = |vertex: usize| self.blend.stiffness_at(vertex);
        let mut constraints = Vec::new();
        if let Some(self_contact) = &self.self_contact {
            constraints = self_contact.constraints(stiffness);
        }
        constraints.extend(self.faces.constraints(stiffness));

        constraints
    }

    /// The obstacles and their placements.
    fn placed_obstacles(&self) -> Vec<(&Obstacle, &RigidMotion)> {
        self.bodies
            .iter()
            .map(|body| (&body.obstacle, &body.placement))
            .collect()
    }

    /// Updates the multipliers of `constraints` at `points`, and finds the pairs of self-contact
    /// and the faces in contact again.
    fn update_pairs(
        &mut self,
        constraints: &[UnilateralConstraint],
        points: &[DVec3],
    ) -> Result<(), PhysicsError> {
        // The constraints of faces come last.
        let of_faces = &constraints[constraints.len().saturating_sub(self.faces.watched())..];
        let obstacles: Vec<(&Obstacle, &RigidMotion)> = self
            .bodies
            .iter()
            .map(|body| (&body.obstacle, &body.placement))
            .collect();
        self.faces
            .update(of_faces, points, &obstacles, |body, vertex| {
                self.bodies[body].contacts.contains(vertex)
            });

        match &mut self.self_contact {
            Some(self_contact) => self_contact.update(constraints, points),
            None => Ok(()),
        }
    }

    /// The forces of springs, self-contact and faces.
    pub(crate) fn forces(
        &mut self,
        weights: &[f64],
        points: &[DVec3],
    ) -> Result<Vec<DVec3>, PhysicsError> {
        let mut forces = self.blend.forces_at(weights, points)?;
        for constraint in self.unilateral_constraints() {
            for (vertex, gradient) in constraint.ends {
                if !self.blend.holds(vertex as usize) {
                    forces[vertex as usize] += gradient * constraint.multiplier;
                }
            }
        }

        Ok(forces)
    }

    /// Whether no obstacle is in contact with `surface` or intersects it.
    fn is_clear(&self, surface: &[DVec3]) -> bool {
        self.faces.len() == 0
            && self.bodies.iter().all(|body| body.contacts.is_empty())
            && self.inside(surface).is_empty()
    }

    /// Clears the contact sets of self-contact and faces.
    fn release(&mut self) {
        if let Some(self_contact) = &mut self.self_contact {
            self_contact.clear();
        }
        self.faces.clear();
    }

    /// Whether a vertex of a shape is inside the same surface beyond what is tolerated, or a face
    /// inside a thin obstacle.
    fn is_entered(&self, free: &BlendFrame) -> Result<bool, PhysicsError> {
        let mut faces = movable_faces(&self.blend);
        faces.update(&[], &free.positions, &self.placed_obstacles(), |_, _| false);
        let enters_itself = match &self.self_contact {
            Some(self_contact) => self_contact.is_entered(&free.positions)?,
            None => false,
        };

        Ok(enters_itself || !faces.is_satisfied())
    }

    /// Number of contacts of any kind.
    fn contact_count(&self) -> usize {
        let bodies: usize = self.bodies.iter().map(|body| body.contacts.len()).sum();
        let own = self.self_contact.as_ref().map_or(0, SelfContact::len);
        bodies + own + self.faces.len()
    }

    /// The constraints of vertices in contact; a vertex that touches several obstacles has the
    /// intersection of their constraints.
    fn constraints(&self) -> Vec<(usize, Constraint)> {
        let mut all: BTreeMap<usize, Constraint> = BTreeMap::new();
        for body in &self.bodies {
            for (vertex, constraint) in body.contacts.constraints() {
                all.entry(vertex)
                    .and_modify(|known| *known = known.and(constraint))
                    .or_insert(constraint);
            }
        }

        all.into_iter().collect()
    }

    /// Corrects the contact sets at solved `points`; returns the number of changes.
    fn update_contacts(
        &mut self,
        points: &[DVec3],
        forces: &[DVec3],
        tolerance: ContactTolerance,
    ) -> usize {
        let surface = &points[..self.blend.mesh().vertex_count()];
        let shared = self.shared_forces(forces);
        let blend = &self.blend;
        let margin = self.margin;

        let mut changes = 0;
        for (k, body) in self.bodies.iter_mut().enumerate() {
            let mut contacts = body.obstacle.contacts_at(&body.placement, surface, margin);
            contacts.retain(|contact| !blend.holds(contact.vertex.index()));
            body.clearance.lift(&mut contacts);
            let force_on = |vertex: u32| match shared.get(&(vertex, k)) {
                Some(force) => *force,
                None => forces[vertex as usize],
            };
            changes += body
                .contacts
                .update(surface, &contacts, force_on, tolerance);
        }

        changes
    }

    /// For vertices that touch several obstacles, and each of these: the force that the other
    /// obstacles leave.
    fn shared_forces(&self, forces: &[DVec3]) -> BTreeMap<(u32, usize), DVec3> {
        let mut touched: BTreeMap<u32, Vec<(usize, DVec3)>> = BTreeMap::new();
        for (k, body) in self.bodies.iter().enumerate() {
            for (vertex, normal) in body.contacts.normals() {
                touched.entry(vertex).or_default().push((k, normal));
            }
        }

        let mut shared = BTreeMap::new();
        for (vertex, bodies) in touched {
            if bodies.len() > 1 {
                let normals: Vec<DVec3> = bodies.iter().map(|(_, normal)| *normal).collect();
                let shares = share_force(forces[vertex as usize], &normals);
                for (&(k, _), share) in bodies.iter().zip(shares) {
                    shared.insert((vertex, k), share);
                }
            }
        }

        shared
    }

    /// Whether an equilibrium without contacts is the one without obstacles: that one is near, and
    /// outside of all obstacles, too.
    fn is_near_and_outside(&self, points: &[DVec3], free: &BlendFrame) -> bool {
        let near = points
            .iter()
            .zip(&free.positions)
            .all(|(p, q)| p.distance(*q) <= self.margin);
        near && self.inside(&free.positions).is_empty()
    }
}

/// The largest of `forces` in the directions that `constraints` allow.
fn largest_force(mut forces: Vec<DVec3>, constraints: &[(usize, Constraint)]) -> f64 {
    for &(vertex, constraint) in constraints {
        forces[vertex] = constraint.projector() * forces[vertex];
    }
    forces
        .iter()
        .map(|force| force.length())
        .fold(0.0, f64::max)
}
