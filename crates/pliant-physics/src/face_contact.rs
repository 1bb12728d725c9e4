//! Faces that thin obstacles do not pass between the vertices of.
//!
//! **Problem.** Vertices keep out of an obstacle by themselves, and faces follow them; a needle, or
//! a ball smaller than a face, meets no vertex and goes through.
//!
//! **Equation.** With the point `q = Σ bᵢ xᵢ` of a face that is deepest inside, the nearest point
//! `p` of the obstacle's surface and the unit normal `n` there,
//!
//! ```text
//! n · (Σ bᵢ xᵢ − p) ≥ 0
//! ```
//!
//! as a [`Push`] on the corners of the face.
//!
//! **Source.** Section 4 of Ma et al. 2012 sees vertices only. The deepest point is looked for by
//! projections onto obstacle and face in turn (Cheney and Goldstein, "Proximity maps for convex
//! sets", 1959), for obstacles that are about convex.
//!
//! **Ours.** Only obstacles thinner than two mean edges are looked at, and only faces none of whose
//! corners touches: elsewhere a face cuts the obstacle by no more than its own flatness. A face
//! that was pushed to one side is not pushed to the other.

use std::collections::BTreeMap;

use pliant_linalg::{RigidMotion, parallel};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Bounds, closest_on_triangle};

use crate::obstacle::{Contact, Obstacle};
use crate::push::Push;

/// Faces in one parallel task.
const GRAIN: usize = 128;
/// Obstacles thinner than this many mean edges fit between vertices: ours; between the corners of
/// an even triangle fits a ball of 1.15 edges, and edges differ.
const THIN: f64 = 2.0;
/// How deep a face may be inside, as a part of the mean edge: ours, below what an eye could see.
const DEPTH: f64 = 1e-3;
/// Points of a face that are tried: ours; the stride halves whenever one is no deeper than the
/// best.
const TRIES: usize = 16;
/// How stiff a push is compared with the springs of a corner: ours, as where parts of the surface
/// meet.
const STIFFNESS: f64 = 1.0;

/// Which faces touch which thin obstacles.
#[derive(Debug)]
pub(crate) struct FaceContact {
    triangles: Vec<[u32; 3]>,
    edge: f64,
    /// By obstacle and face.
    touches: BTreeMap<(usize, u32), Touch>,
    /// How deep a face is inside, or how far off where it is pushed, at worst.
    worst: f64,
}

#[derive(Debug, Clone, Copy)]
struct Touch {
    barycentric: [f64; 3],
    point: DVec3,
    /// Out of the obstacle.
    normal: DVec3,
    /// The side of the face that is pushed: the sign of `normal` along the face's own.
    side: f64,
    depth: f64,
    push: f64,
}

impl FaceContact {
    /// Watches these faces of a surface with this mean edge.
    pub(crate) fn new(triangles: Vec<[u32; 3]>, edge: f64) -> Self {
        Self {
            triangles,
            edge,
            touches: BTreeMap::new(),
            worst: 0.0,
        }
    }

    /// How many faces are pushed.
    pub(crate) fn len(&self) -> usize {
        self.touches
            .values()
            .filter(|touch| touch.push > 0.0)
            .count()
    }

    /// How many faces are watched; each has a push.
    pub(crate) fn watched(&self) -> usize {
        self.touches.len()
    }

    /// Whether no face is inside deeper than it may.
    pub(crate) fn is_kept(&self) -> bool {
        self.worst <= DEPTH * self.edge
    }

    /// Forgets who touches.
    pub(crate) fn release(&mut self) {
        self.touches.clear();
        self.worst = 0.0;
    }

    /// The conditions of all faces, with springs as stiff as `stiffness` says at a vertex.
    pub(crate) fn pushes(&self, stiffness: impl Fn(usize) -> f64) -> Vec<Push> {
        let push = |(&(_, face), touch): (&(usize, u32), &Touch)| {
            let corners = self.triangles[face as usize];
            let end = |k: usize| (corners[k], touch.normal * touch.barycentric[k]);
            let stiffness = corners.map(|v| stiffness(v as usize)).iter().sum::<f64>() / 3.0;
            Push {
                ends: [end(0), end(1), end(2), (corners[0], DVec3::ZERO)],
                offset: touch.normal.dot(touch.point),
                stiffness: STIFFNESS * stiffness.max(f64::MIN_POSITIVE),
                known: touch.push,
            }
        };
        self.touches.iter().map(push).collect()
    }

    /// Takes over how hard `pushes` are at `positions` and looks for faces that are cut; `touches`
    /// says which vertices touch which obstacle by themselves.
    pub(crate) fn update(
        &mut self,
        pushes: &[Push],
        positions: &[DVec3],
        obstacles: &[(&Obstacle, &RigidMotion)],
        touches: impl Fn(usize, u32) -> bool + Sync,
    ) {
        for (touch, push) in self.touches.values_mut().zip(pushes) {
            touch.push = push.force(positions);
        }
        let before = std::mem::take(&mut self.touches);
        self.worst = 0.0;
        for (k, (obstacle, place)) in obstacles
            .iter()
            .enumerate()
            .filter(|(_, o)| o.0.thickness() < THIN * self.edge)
        {
            let found = parallel::map(self.triangles.len(), GRAIN, |face| {
                let known = before
                    .get(&(k, face as u32))
                    .filter(|touch| touch.push > 0.0);
                let corners = self.triangles[face];
                if known.is_none() && corners.iter().any(|&v| touches(k, v)) {
                    return None;
                }
                self.touch(
                    obstacle,
                    place,
                    corners.map(|v| positions[v as usize]),
                    known,
                )
            });
            for (face, touch) in found
                .into_iter()
                .enumerate()
                .filter_map(|(face, touch)| Some((face as u32, touch?)))
            {
                self.worst = self.worst.max(if touch.push > 0.0 {
                    touch.depth.abs()
                } else {
                    touch.depth
                });
                self.touches.insert((k, face), touch);
            }
        }
    }

    /// How a face is to be pushed, if it is inside or was pushed and is near still.
    fn touch(
        &self,
        obstacle: &Obstacle,
        place: &RigidMotion,
        corners: [DVec3; 3],
        known: Option<&Touch>,
    ) -> Option<Touch> {
        let (barycentric, contact) = deepest(obstacle, place, corners, self.edge)?;
        if known.is_none() && contact.depth <= DEPTH * self.edge || contact.depth < -self.edge {
            return None;
        }
        let [a, b, c] = corners;
        let side = (b - a).cross(c - a).dot(contact.normal).signum();
        let Contact {
            point,
            normal,
            depth,
            ..
        } = contact;
        match known {
            // More than half through: out again on the side it came from.
            Some(touch) if side != touch.side && depth > 0.0 => {
                let through = obstacle.thickness();
                let (normal, point) = (-normal, point - normal * through);
                Some(Touch {
                    barycentric,
                    point,
                    normal,
                    side: touch.side,
                    depth: through - depth,
                    push: touch.push,
                })
            }
            _ => Some(Touch {
                barycentric,
                point,
                normal,
                side,
                depth,
                push: known.map_or(0.0, |touch| touch.push),
            }),
        }
    }
}

/// The point of a face that is deepest inside an obstacle, about; `None` where the face is further
/// than `reach` from it.
fn deepest(
    obstacle: &Obstacle,
    place: &RigidMotion,
    corners: [DVec3; 3],
    reach: f64,
) -> Option<([f64; 3], Contact)> {
    let back = place.inverse();
    let Bounds { min, max } = obstacle.bounds();
    let local = corners.map(|p| back.apply(p));
    let (low, high) = (
        local[0].min(local[1]).min(local[2]),
        local[0].max(local[1]).max(local[2]),
    );
    if !(low.cmple(max + DVec3::splat(reach)).all() && high.cmpge(min - DVec3::splat(reach)).all())
    {
        return None;
    }
    // Every point of the face is within its size of the obstacle's box.
    let reach = reach + (high - low).length();
    let mut best: Option<([f64; 3], Contact)> = None;
    let mut weights = [1.0 / 3.0; 3];
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
