//! Contact of faces with obstacles that fit between their vertices.
//!
//! **Problem.** Vertices avoid an obstacle, and faces follow them; but a needle, or a ball smaller
//! than a face, meets no vertex and passes through.
//!
//! **Equation.** With the deepest point `q = Σ bᵢ xᵢ` of a face, the nearest point `p` of the
//! obstacle's surface and the unit normal `n` there,
//!
//! ```text
//! n · (Σ bᵢ xᵢ − p) ≥ 0
//! ```
//!
//! as a [`UnilateralConstraint`] on the corners of the face.
//!
//! **Source.** Ma et al. 2012, section 4, detect vertices only. The deepest point is found by
//! alternating projections onto obstacle and face (Cheney and Goldstein, "Proximity maps for convex
//! sets", 1959), for obstacles that are nearly convex.
//!
//! **Departures.** Only obstacles thinner than two mean edges are tested, and only faces without a
//! corner in contact: elsewhere the corners have a clearance. A face that was pushed to one side is
//! not pushed to the other.

use std::collections::BTreeMap;

use pliant_linalg::{RigidMotion, parallel};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Bounds, closest_on_triangle};

use crate::blend::energy::UnilateralConstraint;
use crate::contact::obstacle::{Contact, Obstacle};

/// Faces in one parallel task.
const GRAIN: usize = 128;
/// Obstacles thinner than this many mean edges fit between vertices. Chosen: a ball of 1.15 edges
/// fits between the corners of an equilateral triangle, and edges differ.
pub(crate) const THIN: f64 = 2.0;
/// Allowed penetration of a face relative to the mean edge. Chosen: below what is visible.
const DEPTH: f64 = 1e-3;
/// Trial points of a face. Chosen; the stride halves whenever one is not deeper than the best.
const TRIES: usize = 16;
/// Penalty stiffness relative to the springs of a corner. Chosen as for self-contact.
const STIFFNESS: f64 = 1.0;

/// Contacts of faces with thin obstacles.
#[derive(Debug)]
pub(crate) struct FaceContact {
    triangles: Vec<[u32; 3]>,
    edge: f64,
    /// By obstacle and face.
    points: BTreeMap<(usize, u32), FaceContactPoint>,
    /// The largest penetration, or distance from the surface of a face in contact.
    worst: f64,
}

/// The deepest point of a face, and its contact force.
#[derive(Debug, Clone, Copy)]
struct FaceContactPoint {
    barycentric: [f64; 3],
    point: DVec3,
    /// Out of the obstacle.
    normal: DVec3,
    /// The sign of `normal` along the normal of the face.
    side: f64,
    depth: f64,
    force: f64,
}

impl FaceContactPoint {
    /// The distance from the surface of a face in contact, or the penetration of one without
    /// a contact force.
    fn violation(&self) -> f64 {
        if self.force > 0.0 {
            self.depth.abs()
        } else {
            self.depth
        }
    }
}

impl FaceContact {
    /// Faces of a surface with the given mean edge.
    pub(crate) fn new(triangles: Vec<[u32; 3]>, edge: f64) -> Self {
        Self {
            triangles,
            edge,
            points: BTreeMap::new(),
            worst: 0.0,
        }
    }

    /// Number of faces with a contact force.
    pub(crate) fn len(&self) -> usize {
        self.points
            .values()
            .filter(|contact_point| contact_point.force > 0.0)
            .count()
    }

    /// Number of constraints.
    pub(crate) fn watched(&self) -> usize {
        self.points.len()
    }

    /// Whether no face is deeper inside than allowed.
    pub(crate) fn is_satisfied(&self) -> bool {
        self.worst <= DEPTH * self.edge
    }

    /// Clears the contact set.
    pub(crate) fn clear(&mut self) {
        self.points.clear();
        self.worst = 0.0;
    }

    /// The constraints of all faces; `stiffness` is that of the springs at a vertex.
    pub(crate) fn constraints(
        &self,
        stiffness: impl Fn(usize) -> f64,
    ) -> Vec<UnilateralConstraint> {
        let mut constraints = Vec::with_capacity(self.points.len());
        for (&(_, face), point) in &self.points {
            let corners = self.triangles[face as usize];
            let end = |k: usize| (corners[k], point.normal * point.barycentric[k]);
            let stiffness = corners.map(|v| stiffness(v as usize)).iter().sum::<f64>() / 3.0;

            constraints.push(UnilateralConstraint {
                ends: [end(0), end(1), end(2), (corners[0], DVec3::ZERO)],
                offset: point.normal.dot(point.point),
                stiffness: STIFFNESS * stiffness.max(f64::MIN_POSITIVE),
                multiplier: point.force,
            });
        }

        constraints
    }

    /// Updates the multipliers of `constraints` at `positions` and finds the faces in contact;
    /// `touches` tells which vertices are in contact with which obstacle.
    pub(crate) fn update(
        &mut self,
        constraints: &[UnilateralConstraint],
        positions: &[DVec3],
        obstacles: &[(&Obstacle, &RigidMotion)],
        touches: impl Fn(usize, u32) -> bool + Sync,
    ) {
        // Only a contact that pushes stays known.
        for (point, constraint) in self.points.values_mut().zip(constraints) {
            point.force = constraint.force(positions);
        }

        let before = std::mem::take(&mut self.points);
        self.worst = 0.0;
        for (k, &(obstacle, placement)) in obstacles.iter().enumerate() {
            // The vertices meet a thicker obstacle themselves.
            if obstacle.thickness() >= THIN * self.edge {
                continue;
            }

            let found = parallel::map(self.triangles.len(), GRAIN, |face| {
                let known = before
                    .get(&(k, face as u32))
                    .filter(|point| point.force > 0.0);
                let corners = self.triangles[face];
                // A corner in contact keeps the rest of its face out.
                if known.is_none() && corners.iter().any(|&v| touches(k, v)) {
                    return None;
                }
                let corners = corners.map(|v| positions[v as usize]);
                self.contact_point(obstacle, placement, corners, known)
            });
            for (face, point) in found.into_iter().enumerate() {
                if let Some(point) = point {
                    self.worst = self.worst.max(point.violation());
                    self.points.insert((k, face as u32), point);
                }
            }
        }
    }

    /// The contact point of a face, if it is inside, or was in contact and is still near.
    fn contact_point(
        &self,
        obstacle: &Obstacle,
        place: &RigidMotion,
        corners: [DVec3; 3],
        known: Option<&FaceContactPoint>,
    ) -> Option<FaceContactPoint> {
        let (barycentric, contact) = deepest(obstacle, place, corners, self.edge)?;
        if known.is_none() && contact.depth <= DEPTH * self.edge || contact.depth < -self.edge {
            return None;
        }

        // The side of the face that the normal points to.
        let [a, b, c] = corners;
        let side = (b - a).cross(c - a).dot(contact.normal).signum();
        let Contact {
            point,
            normal,
            depth,
            ..
        } = contact;

        match known {
            // More than half through: back to the side it came from.
            Some(contact_point) if side != contact_point.side && depth > 0.0 => {
                let through = obstacle.thickness();
                let (normal, point) = (-normal, point - normal * through);
                Some(FaceContactPoint {
                    barycentric,
                    point,
                    normal,
                    side: contact_point.side,
                    depth: through - depth,
                    force: contact_point.force,
                })
            }
            _ => Some(FaceContactPoint {
                barycentric,
                point,
                normal,
                side,
                depth,
                force: known.map_or(0.0, |contact_point| contact_point.force),
            }),
        }
    }
}

/// The deepest point of a face inside an obstacle, approximately; `None` where the face is further
/// away than `reach`.
fn deepest(
    obstacle: &Obstacle,
    place: &RigidMotion,
    corners: [DVec3; 3],
    reach: f64,
) -> Option<([f64; 3], Contact)> {
    let back = place.inverse();
    let Bounds { min, max } = obstacle.bounds();
    let local = corners.map(|p| back.apply(p));
    let low = local[0].min(local[1]).min(local[2]);
    let high = local[0].max(local[1]).max(local[2]);

    if !(low.cmple(max + DVec3::splat(reach)).all() && high.cmpge(min - DVec3::splat(reach)).all())
    {
        return None;
    }

    // Every point of the face is within this distance of the bounds of the obstacle.
    let reach = reach + (high - low).length();
    let mut best: Option<([f64; 3], Contact)> = None;
    let mut weights = [1.0 / 3.0; 3];

    // Alternating projections: inwards along the normal, then back to the face.
    let mut stride = 0.5 * obstacle.thickness();
    for _ in 0..TRIES {
        let [u, v, w] = weights;
        let point = corners[0] * u + corners[1] * v + corners[2] * w;
        let Some(&contact) = obstacle.contacts_at(place, &[point], reach).first() else {
            break;
        };

        if best.is_none_or(|best| contact.depth > best.1.depth) {
            best = Some((weights, contact));
        } else {
            stride *= 0.5;
        }

        let from = if contact.depth < 0.0 {
            contact.point
        } else {
            point
        };

        weights = closest_on_triangle(corners, from - contact.normal * stride).0;
    }

    best
}
