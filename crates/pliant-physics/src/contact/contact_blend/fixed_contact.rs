//! Contact by fixed vertices (Ma et al. 2012), and projection of vertices out of obstacles.
//!
//! **Source.** Ma et al. 2012, section 4: surface vertices inside an obstacle move to its surface
//! and are fixed there, and the equilibrium is solved again, until no vertex is inside.

use std::collections::{BTreeMap, BTreeSet};

use pliant_mesh::glam::DVec3;

use super::{ContactBlend, ContactFrame, all_points};
use crate::blend::energy::Constraint;
use crate::contact::obstacle::Contact;
use crate::{BlendFrame, BlendReport, PhysicsError};

/// Rounds of fixing vertices. Chosen: some ten suffice.
const ROUNDS: usize = 60;
/// Passes that move vertices out of obstacles, one obstacle after another.
const PROJECTION_PASSES: usize = 100;

impl ContactBlend {
    /// Fixes vertices inside obstacles on the surface, until none is inside; returns also whether
    /// the result is the shape without obstacles.
    pub(super) fn solve_ma2012(
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
            for contact in &inside {
                fixed.insert(contact.vertex.index(), Constraint::Fixed(contact.point));
            }

            let constraints: Vec<(usize, Constraint)> = fixed
                .iter()
                .map(|(&v, &constraint)| (v, constraint))
                .collect();
            let start = all_points(&frame);
            let iterations = frame.report.iterations;
            frame = self
                .blend
                .constrained_at(weights, &constraints, Some(&start))?;
            frame.report.iterations += iterations;
        }

        // Vertices that are still inside are moved out and counted.
        let mut points = all_points(&frame);
        let moved = self.project_own_surface(&mut points);
        let report = BlendReport {
            converged: frame.report.converged && moved == 0,
            ..frame.report
        };
        let shape = if moved > 0 {
            self.blend.frame(weights, points, report)?
        } else {
            frame
        };

        let frame = ContactFrame {
            contacts: fixed.len(),
            moved,
            ..self.without_contact(shape)
        };
        Ok((frame, fixed.is_empty()))
    }

    /// Surface vertices that are deeper inside than allowed.
    fn deep<'a>(&'a self, surface: &'a [DVec3]) -> impl Iterator<Item = Contact> + 'a {
        let contacts = self
            .bodies
            .iter()
            .flat_map(|body| body.obstacle.contacts_at(&body.placement, surface, 0.0));
        contacts.filter(|contact| contact.depth > self.tolerance.length)
    }

    /// Movable vertices inside obstacles.
    pub(super) fn inside(&self, surface: &[DVec3]) -> Vec<Contact> {
        self.deep(surface)
            .filter(|contact| !self.blend.holds(contact.vertex.index()))
            .collect()
    }

    /// Number of held vertices inside obstacles.
    pub(super) fn stuck(&self, surface: &[DVec3]) -> usize {
        let held = self
            .deep(surface)
            .filter(|contact| self.blend.holds(contact.vertex.index()));
        held.map(|contact| contact.vertex)
            .collect::<BTreeSet<_>>()
            .len()
    }

    /// [`project_out`](Self::project_out) for the surface of the blend, the first of `points`.
    pub(super) fn project_own_surface(&self, points: &mut [DVec3]) -> usize {
        let surface = &mut points[..self.blend.mesh().vertex_count()];
        self.project_out(surface, |vertex| self.blend.holds(vertex))
    }

    /// Moves vertices of a surface, that of the blend or a finer one, out of obstacles to the
    /// nearest points, except for held ones; returns their number.
    pub(crate) fn project_out(
        &self,
        surface: &mut [DVec3],
        holds: impl Fn(usize) -> bool,
    ) -> usize {
        let mut moved = BTreeSet::new();
        for _ in 0..PROJECTION_PASSES {
            let inside: Vec<Contact> = self
                .deep(surface)
                .filter(|contact| !holds(contact.vertex.index()))
                .collect();
            if inside.is_empty() {
                break;
            }

            for contact in inside {
                surface[contact.vertex.index()] = contact.point;
                moved.insert(contact.vertex);
            }
        }

        moved.len()
    }
}
