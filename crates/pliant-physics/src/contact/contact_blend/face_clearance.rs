//! Clearance of vertices in contact, so that faces between them stay out of an obstacle, too.
//!
//! **Problem.** Vertices slide on a ball, and the faces between them cut into it like chords.
//!
//! **Equation.** A vertex with the clearance `h` is kept at `d(x) ≥ h`. Where the deepest point of a
//! face with a corner in contact has the depth `p` after a solve,
//!
//! ```text
//! h ← h + p        at its corners
//! ```
//!
//! and the solve is repeated. A face with chord `e` on a ball of radius `R` needs about `e²/(8R)`.
//!
//! **Source.** The deepest point: Macklin, Erleben, Müller, Chentanez, Jeschke, Corse 2020.
//!
//! **Departures.** Clearances instead of a constraint on the face: the active set stays one of
//! vertices, with its friction. Obstacles that fit between vertices are those of
//! [`FaceContact`](crate::contact::face_contact::FaceContact). A vertex keeps its clearance while it is in
//! contact.

use std::collections::BTreeMap;

use pliant_linalg::parallel;
use pliant_mesh::glam::DVec3;

use super::ContactBlend;
use crate::contact::face_contact::THIN;
use crate::contact::obstacle::Contact;

/// Allowed penetration of a face relative to the mean edge. Chosen: a fifth of what is allowed.
const FACE_DEPTH: f64 = 2e-3;
/// The largest clearance relative to the mean edge. Chosen: faces that need more belong to a
/// surface that is too coarse for the obstacle.
const MOST: f64 = 0.5;
/// Faces in one parallel task.
const GRAIN: usize = 64;

/// The clearances of the vertices around one obstacle.
#[derive(Debug, Clone, Default)]
pub(super) struct FaceClearance {
    by_vertex: BTreeMap<u32, f64>,
}

impl FaceClearance {
    /// Moves the surface that vertices with a clearance meet.
    pub(super) fn lift(&self, contacts: &mut [Contact]) {
        for contact in contacts {
            if let Some(&height) = self.by_vertex.get(&contact.vertex.get()) {
                contact.point += contact.normal * height;
                contact.depth += height;
            }
        }
    }

    /// Forgets vertices that are not in contact.
    pub(super) fn retain(&mut self, is_in_contact: impl Fn(u32) -> bool) {
        self.by_vertex.retain(|&vertex, _| is_in_contact(vertex));
    }
}

impl ContactBlend {
    /// Raises the clearance of the corners of faces that are inside an obstacle; returns whether
    /// there are any.
    pub(super) fn clear_faces(&mut self, points: &[DVec3]) -> bool {
        let edge = self.margin;
        let triangles = self.blend.mesh().triangles();
        let blend = &self.blend;
        let mut has_changed = false;
        for body in &mut self.bodies {
            if body.contacts.is_empty() || body.obstacle.thickness() < THIN * edge {
                continue;
            }

            let back = body.placement.inverse();
            let contacts = &body.contacts;
            let obstacle = &body.obstacle;
            let depths = parallel::map(triangles.len(), GRAIN, |t| {
                let triangle = triangles[t];
                let is_free = triangle.iter().all(|&v| !blend.holds(v as usize));
                if !is_free || !triangle.iter().any(|&v| contacts.contains(v)) {
                    return 0.0;
                }
                let corners = triangle.map(|v| back.apply(points[v as usize]));
                let deepest = obstacle.deepest_on_triangle(corners, 0.0, None);
                deepest.map_or(0.0, |deepest| deepest.nearest.depth)
            });

            // The largest depth of the faces around a vertex.
            let mut raised: BTreeMap<u32, f64> = BTreeMap::new();
            for (triangle, depth) in triangles.iter().zip(depths) {
                if depth > FACE_DEPTH * edge {
                    for &v in triangle {
                        let most = raised.entry(v).or_insert(0.0);
                        *most = most.max(depth);
                    }
                }
            }
            for (v, depth) in raised {
                let height = body.clearance.by_vertex.entry(v).or_insert(0.0);
                let next = (*height + depth).min(MOST * edge);
                has_changed |= next > *height;
                *height = next;
            }
        }
        has_changed
    }
}
