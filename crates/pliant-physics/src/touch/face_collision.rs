//! Collision of soft faces and edges with colliders.
//!
//! **Problem.** On a coarse mesh a ball fits between vertices: every vertex is outside, and the
//! ball is visible through the skin. A needle meets no vertex at all.
//!
//! **Equation.** With the deepest point `q = Σ bᵢ xᵢ` of a face
//! ([`deepest_on_triangle`](crate::Obstacle::deepest_on_triangle)), its depth `p` and the outward
//! normal `n` there,
//!
//! ```text
//! C = n · q − n · s ≥ 0        λ = p / Σ wᵢ bᵢ²        Δxᵢ = wᵢ bᵢ λ n
//! ```
//!
//! with the nearest surface point `s`. The deepest points of faces include those of their edges.
//! Friction removes at most `μ` times the correction from the displacement of `q` along the surface.
//!
//! **Source.** Macklin, Erleben, Müller, Chentanez, Jeschke, Corse, "Local optimization for robust
//! signed distance field collision", 2020.
//!
//! **Departures.** Depths below [`TOLERANCE`] are left: a face under a large ball is flat. A face
//! that a collider thinner than two edges touched stays on its side of it, also where more than half
//! of the collider has passed. A corner moves at most [`MOST_LEVERAGE`] times the depth.

use std::collections::BTreeMap;

use pliant_linalg::parallel;
use pliant_mesh::Bounds;
use pliant_mesh::glam::DVec3;

use crate::contact::obstacle::NearestSurface;
use crate::touch::collider::{MovingCollider, pushed_out};
use crate::touch::projection::particle::{place_of, put};
use crate::touch::soft_mesh::SoftMesh;
use crate::touch::xpbd::soft_body::SoftBody;

/// Allowed depth of a face, in mean edges of the patches. Chosen: a fifth of what is visible.
const TOLERANCE: f64 = 2e-3;
/// The largest displacement of a corner relative to the depth of its face. Chosen.
const MOST_LEVERAGE: f64 = 3.0;
/// Colliders thinner than this many mean edges fit between vertices. Chosen: a ball of 1.15 edges
/// fits between the corners of an equilateral triangle, and edges differ.
const THIN: f64 = 2.0;
/// A face has a side of a collider if the cosine between their normals is at least this. Chosen.
const SIDE: f64 = 0.2;
/// The distance, in mean edges, at which a thin collider is forgotten. Chosen.
const MARGIN: f64 = 0.25;
/// Rounds over faces and vertices at the end of a frame, at most. Chosen; the usual frame needs two
/// or three.
const ROUNDS: usize = 40;
/// Sweeps over tight strain limits in a round. Chosen: a change crosses a patch of some tens of
/// edges in all rounds together many times.
const LIMIT_SWEEPS: usize = 10;
/// Candidates in one parallel task.
const GRAIN: usize = 64;

/// The faces of a soft region, and those that a thin collider touches.
#[derive(Debug, Clone)]
pub(crate) struct FaceCollision {
    triangles: Vec<[u32; 3]>,
    soft_count: usize,
    edge: f64,
    /// By collider and face.
    touched: BTreeMap<(usize, u32), TouchedFace>,
    /// Faces that a collider may meet in this frame, ascending.
    candidates: Vec<(usize, u32)>,
    /// Nodes of the candidates, ascending.
    nodes: Vec<u32>,
    /// By node, as in the world at the end of the substep.
    places: Vec<DVec3>,
    /// The same before the substep.
    before: Vec<DVec3>,
    inverse_masses: Vec<f64>,
    /// Faces that were pushed in the last substep.
    pushed: usize,
}

/// Where a thin collider touches a face.
#[derive(Debug, Clone, Copy)]
struct TouchedFace {
    /// The sign of the contact normal along the normal of the face.
    side: f64,
    barycentric: [f64; 3],
}

/// Positions of nodes that the body does not know, in a substep.
pub(crate) struct SubstepNodes<'a> {
    /// Of the animated shape in this frame, by node; none where it does not move.
    pub(crate) displacements: Option<&'a [DVec3]>,
    /// The share of them that is still to come, before the substep and after it.
    pub(crate) ahead: [f64; 2],
    /// Positions at the end of the frame, for nodes outside of the patches.
    pub(crate) frame_end: &'a [DVec3],
}

/// Positions of all nodes in a frame.
pub(crate) struct FrameNodes<'a> {
    /// Positions at the start of the frame, and at its end as far as known.
    pub(crate) start: &'a [DVec3],
    pub(crate) end: &'a [DVec3],
}

impl FaceCollision {
    pub(crate) fn new(mesh: &SoftMesh, edge: f64) -> Self {
        Self {
            triangles: mesh.connections.triangles.clone(),
            soft_count: mesh.soft_count,
            edge,
            touched: BTreeMap::new(),
            candidates: Vec::new(),
            nodes: Vec::new(),
            places: vec![DVec3::ZERO; mesh.vertices.len()],
            before: vec![DVec3::ZERO; mesh.vertices.len()],
            inverse_masses: vec![0.0; mesh.vertices.len()],
            pushed: 0,
        }
    }

    /// Number of faces that were pushed in the last substep.
    pub(crate) fn pushed(&self) -> usize {
        self.pushed
    }

    /// Finds the faces that the colliders, with their motion over the whole frame, may meet.
    pub(crate) fn begin_frame(&mut self, colliders: &[MovingCollider<'_>], nodes: &FrameNodes<'_>) {
        self.candidates.clear();
        self.pushed = 0;
        for (k, collider) in colliders.iter().enumerate() {
            let swept = collider.swept_bounds(self.edge);
            let found = parallel::map(self.triangles.len(), GRAIN, |face| {
                let corners = self.triangles[face];
                let bounds = corners
                    .iter()
                    .flat_map(|&n| [nodes.start[n as usize], nodes.end[n as usize]]);
                let (low, high) = bounds
                    .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), p| {
                        (low.min(p), high.max(p))
                    });
                meets(&swept, low, high)
            });
            for (face, is_near) in (0..).zip(found) {
                if is_near {
                    self.candidates.push((k, face));
                }
            }
        }

        self.nodes.clear();
        for &(_, face) in &self.candidates {
            self.nodes.extend(self.triangles[face as usize]);
        }
        self.nodes.sort_unstable();
        self.nodes.dedup();
        self.places.copy_from_slice(nodes.end);

        // What is not near is not touched any more.
        let near = &self.candidates;
        self.touched
            .retain(|key, _| near.binary_search(key).is_ok());
    }

    /// Pushes faces of `body` out of the colliders once in a substep, with friction.
    pub(crate) fn push(
        &mut self,
        colliders: &[MovingCollider<'_>],
        body: &mut SoftBody,
        substep: &SubstepNodes<'_>,
    ) {
        if self.candidates.is_empty() {
            return;
        }

        let shift = |node: u32| {
            let all = substep.displacements;
            all.map_or(DVec3::ZERO, |all| all[node as usize])
        };
        for &node in &self.nodes {
            let (place, inverse_mass) = self.node(body, substep.frame_end, node);
            self.places[node as usize] = place - shift(node) * substep.ahead[1];
            self.inverse_masses[node as usize] = inverse_mass;

            let is_soft = (node as usize) < self.soft_count;
            let before = if is_soft {
                body.place_before(node as usize)
            } else {
                place
            };
            self.before[node as usize] = before - shift(node) * substep.ahead[0];
        }
        self.push_nodes(colliders, body, true);
    }

    /// Pushes faces with nodes at `places`, and moves the particles of `body` as far.
    fn push_nodes(
        &mut self,
        colliders: &[MovingCollider<'_>],
        body: &mut SoftBody,
        has_friction: bool,
    ) {
        let before = self
            .nodes
            .iter()
            .map(|&n| self.places[n as usize])
            .collect::<Vec<_>>();
        self.push_faces(colliders, has_friction);
        for (&node, before) in self.nodes.iter().zip(before) {
            let after = self.places[node as usize];
            if after != before && (node as usize) < self.soft_count {
                let particle = body.particle_mut(node as usize);
                let place = place_of(particle);
                put(particle, place + (after - before));
            }
        }
    }

    /// At the end of a frame: moves nodes of `body` until neither faces nor vertices are inside.
    /// Velocities do not change.
    pub(crate) fn settle(
        &mut self,
        colliders: &[MovingCollider<'_>],
        body: &mut SoftBody,
        frame_end: &[DVec3],
    ) {
        let pushed = self.pushed;
        self.settle_rounds(colliders, body, frame_end);
        self.pushed = pushed;
    }

    fn settle_rounds(
        &mut self,
        colliders: &[MovingCollider<'_>],
        body: &mut SoftBody,
        frame_end: &[DVec3],
    ) {
        let has_limit = body.has_tight_limit();
        if self.candidates.is_empty() && !has_limit {
            return;
        }

        for round in 0..ROUNDS {
            if has_limit && round + 1 < ROUNDS {
                for _ in 0..LIMIT_SWEEPS {
                    body.limit_strain();
                }
            }
            for &node in &self.nodes {
                let (place, inverse_mass) = self.node(body, frame_end, node);
                self.places[node as usize] = place;
                self.inverse_masses[node as usize] = inverse_mass;
            }
            self.push_nodes(colliders, body, false);

            let mut pushed = 0;
            for &node in &self.nodes {
                if node as usize >= self.soft_count {
                    continue;
                }
                let particle = body.particle_mut(node as usize);
                let place = place_of(particle);
                let out = pushed_out(colliders, place);
                if out != place && particle[3] > 0.0 {
                    put(particle, out);
                    pushed += usize::from(out.distance(place) > 1e-9 * self.edge);
                }
            }

            if pushed == 0
                && !has_limit
                && self.worst(colliders, body, frame_end) <= TOLERANCE * self.edge
            {
                break;
            }
        }
    }

    fn worst(
        &mut self,
        colliders: &[MovingCollider<'_>],
        body: &SoftBody,
        frame_end: &[DVec3],
    ) -> f64 {
        for &node in &self.nodes {
            self.places[node as usize] = self.node(body, frame_end, node).0;
        }
        let depths = parallel::map(self.candidates.len(), GRAIN, |k| {
            let (collider, face) = self.candidates[k];
            self.deepest(&colliders[collider], (collider, face))
                .map_or(0.0, |(_, nearest)| nearest.depth)
        });
        depths.into_iter().fold(0.0, f64::max)
    }

    /// The deepest penetration of a face with a soft corner, with nodes at `places`.
    pub(crate) fn depth(&self, colliders: &[MovingCollider<'_>], places: &[DVec3]) -> f64 {
        let mut deepest = 0.0;
        for collider in colliders {
            let bounds = collider.swept_bounds(0.0);
            let depths = parallel::map(self.triangles.len(), GRAIN, |face| {
                let corners = self.triangles[face].map(|n| places[n as usize]);
                let low = corners[0].min(corners[1]).min(corners[2]);
                let high = corners[0].max(corners[1]).max(corners[2]);
                if !meets(&bounds, low, high) {
                    return 0.0;
                }
                collider
                    .deepest_on_triangle(corners, 0.0, None)
                    .map_or(0.0, |(_, nearest)| nearest.depth)
            });
            deepest = depths.into_iter().fold(deepest, f64::max);
        }

        deepest
    }

    fn node(&self, body: &SoftBody, frame_end: &[DVec3], node: u32) -> (DVec3, f64) {
        if (node as usize) < self.soft_count {
            let particle = body.particle(node as usize);
            (place_of(particle), particle[3])
        } else {
            (frame_end[node as usize], 0.0)
        }
    }

    /// One Gauss–Seidel pass over all candidates.
    fn push_faces(&mut self, colliders: &[MovingCollider<'_>], has_friction: bool) {
        // Which faces are inside is found in parallel, then pushed in order.
        let found = parallel::map(self.candidates.len(), GRAIN, |k| {
            let (collider, _) = self.candidates[k];
            self.deepest(&colliders[collider], self.candidates[k])
                .is_some()
        });

        self.pushed = 0;
        for (k, is_near) in found.into_iter().enumerate() {
            let key = self.candidates[k];
            let nearest = if is_near {
                self.deepest(&colliders[key.0], key)
            } else {
                None
            };
            let Some((barycentric, nearest)) = nearest else {
                self.touched.remove(&key);
                continue;
            };

            self.remember(&colliders[key.0], key, barycentric, nearest.normal);
            if nearest.depth > TOLERANCE * self.edge {
                self.push_face(key.1, barycentric, nearest);
                if has_friction && colliders[key.0].friction() > 0.0 {
                    self.rub_face(&colliders[key.0], key.1, barycentric, nearest);
                }
                self.pushed += 1;
            }
        }
    }

    /// The deepest point of a face and the way out on the side that it came from.
    fn deepest(
        &self,
        collider: &MovingCollider<'_>,
        key: (usize, u32),
    ) -> Option<([f64; 3], NearestSurface)> {
        let corners = self.triangles[key.1 as usize].map(|n| self.places[n as usize]);
        let known = self.touched.get(&key);
        let is_thin = collider.thickness() < THIN * self.edge;
        let margin = if is_thin { MARGIN * self.edge } else { 0.0 };
        let hint = known.map(|touched| touched.barycentric);
        let (barycentric, mut nearest) = collider.deepest_on_triangle(corners, margin, hint)?;

        // More than half of a thin collider has passed: back to the side it came from.
        if let Some(touched) = known
            && nearest.depth > 0.0
            && side_of(corners, nearest.normal) == Some(-touched.side)
        {
            let through = collider.thickness();
            nearest.normal = -nearest.normal;
            nearest.depth = (through - nearest.depth).max(0.0);
        }

        Some((barycentric, nearest))
    }

    fn remember(
        &mut self,
        collider: &MovingCollider<'_>,
        key: (usize, u32),
        barycentric: [f64; 3],
        normal: DVec3,
    ) {
        if collider.thickness() >= THIN * self.edge {
            return;
        }
        let corners = self.triangles[key.1 as usize].map(|n| self.places[n as usize]);
        if let Some(touched) = self.touched.get_mut(&key) {
            touched.barycentric = barycentric;
        } else if let Some(side) = side_of(corners, normal) {
            self.touched.insert(key, TouchedFace { side, barycentric });
        }
    }

    fn push_face(&mut self, face: u32, barycentric: [f64; 3], nearest: NearestSurface) {
        self.move_point(face, barycentric, nearest.normal * nearest.depth);
    }

    /// Friction at the deepest point of a face, which was pushed by its depth.
    fn rub_face(
        &mut self,
        collider: &MovingCollider<'_>,
        face: u32,
        barycentric: [f64; 3],
        nearest: NearestSurface,
    ) {
        let corners = self.triangles[face as usize];
        let point = |places: &[DVec3]| -> DVec3 {
            let terms = corners.iter().zip(barycentric);
            terms.map(|(&n, b)| places[n as usize] * b).sum()
        };
        let slip = collider.slip(point(&self.before), point(&self.places), nearest.normal);
        let most = collider.friction() * nearest.depth;
        self.move_point(face, barycentric, -slip.clamp_length_max(most));
    }

    /// Moves the point of a face by `step`, with its corners.
    fn move_point(&mut self, face: u32, barycentric: [f64; 3], step: DVec3) {
        let corners = self.triangles[face as usize];
        let mut response = 0.0;
        let mut largest: f64 = 0.0;
        for (&n, b) in corners.iter().zip(barycentric) {
            let w = self.inverse_masses[n as usize];
            response += w * b * b;
            largest = largest.max(w * b);
        }
        if response <= 0.0 {
            return;
        }

        let factor = (1.0 / response).min(MOST_LEVERAGE / largest);
        for (&n, b) in corners.iter().zip(barycentric) {
            let w = self.inverse_masses[n as usize];
            self.places[n as usize] += step * (w * b * factor);
        }
    }
}

/// The sign of `normal` along the normal of a triangle, if it is distinct.
fn side_of([a, b, c]: [DVec3; 3], normal: DVec3) -> Option<f64> {
    let cosine = (b - a).cross(c - a).normalize_or_zero().dot(normal);
    (cosine.abs() >= SIDE).then(|| cosine.signum())
}

fn meets(bounds: &Bounds, low: DVec3, high: DVec3) -> bool {
    low.cmple(bounds.max).all() && high.cmpge(bounds.min).all()
}
