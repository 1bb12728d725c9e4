//! A shape that does not pass through itself.
//!
//! **Problem.** Between two shapes an arm sweeps through the belly and fingers through each other.
//! Both sides give way and move, so there is no obstacle to ask, and a vertex on one side of a thin
//! part must not take the other side for an intruder.
//!
//! **Equation.** With the surface point `p = Σ bᵢ xᵢ` of a triangle that is nearest to a vertex
//! `x`, the unit direction `n` out of the surface there, and a gap `h`, every near pair of them
//! keeps
//!
//! ```text
//! n · (x − Σ bᵢ xᵢ) ≥ h
//! ```
//!
//! as a [`Push`], whose directions and places are laid anew after every balance until they stay. A
//! vertex is inside another part where the surface winds around a point just below it by one turn
//! more than in any of the shapes.
//!
//! **Source.** The winding number of Jacobson, Kavan, Sorkine-Hornung, "Robust inside-outside
//! segmentation using generalized winding numbers", 2013, as the test; pairs of vertex and triangle
//! as in Bridson, Fedkiw, Anderson, "Robust treatment of collisions, contact and friction for cloth
//! animation", 2002, section 6.
//!
//! **Ours.** What the shapes themselves have inside is tolerated: only a turn more than theirs
//! counts. A triangle behind which the vertex lies in a shape already, about as near, is the far
//! side of its own part and no way out. Pairs of two edges are not looked at. No friction.

use std::collections::BTreeMap;

use pliant_linalg::parallel;
use pliant_mesh::glam::DVec3;
use pliant_mesh::{
    ClosestPoint, Mesh, SurfaceIndex, TrianglePoint, WindingTree, triangle_normal, vertex_normals,
};

use crate::PhysicsError;
use crate::passing::Passing;
use crate::push::Push;

/// Vertices in one parallel task.
const GRAIN: usize = 64;
/// The distance that touching parts keep, as a part of the mean edge: ours, a hundredth of an edge
/// is not seen.
const GAP: f64 = 1e-2;
/// How exactly it is kept, as a part of itself; so nothing ends inside.
const EXACT: f64 = 0.5;
/// How far below a vertex the winding is asked for, as a part of the mean edge: far below the gap,
/// far above rounding.
const BELOW: f64 = 1e-4;
/// Pairs nearer than this part of the mean edge are watched before they touch.
const WATCHED: f64 = 0.5;
/// Ways out are at most as many mean edges long: ours; steps are cut so that intruders are not
/// deeper.
const DEEPEST: f64 = 6.0;
/// Half a turn more than in the shapes is one turn more.
const HALF_TURN: f64 = 0.5;
/// How stiff a push is compared with the springs of its vertex: measured, softer ones take more
/// rounds and stiffer ones more steps.
const STIFFNESS: f64 = 1.0;
/// A blended normal is no normal of a triangle whose own is further away: its cosine.
const STEEPEST: f64 = 0.3;
/// A triangle is the far side of a vertex' own part if it was no further away than this many times
/// as far as now, in some shape.
const OWN_PART: f64 = 1.5;

/// Who touches whom on one surface.
#[derive(Debug)]
pub(crate) struct SelfContact {
    mesh: Mesh,
    /// The surface in each shape, with its triangles' normals.
    shapes: Vec<(Vec<DVec3>, Vec<DVec3>)>,
    /// Minus one where triangles look inward.
    outward: f64,
    /// How often the shapes wind around the point below each vertex, at most.
    usual: Vec<f64>,
    /// Vertices within two edges of each, and itself; ascending.
    near: Vec<Vec<u32>>,
    edge: f64,
    touches: BTreeMap<u32, Touch>,
    /// How far from the gap those who push are, and how deep inside others, at worst.
    worst: Misfit,
}

/// A vertex and the place of the surface that it is kept from.
#[derive(Debug, Clone, Copy)]
struct Touch {
    place: TrianglePoint,
    /// Out of the surface.
    normal: DVec3,
    /// How hard both push.
    push: f64,
}

/// How badly the conditions are met.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Misfit {
    /// The largest difference from the gap where parts push, or the largest depth.
    pub(crate) length: f64,
    /// The deepest vertex, how deep.
    pub(crate) depth: f64,
}

/// A pose of the surface, ready for questions.
struct Survey {
    index: SurfaceIndex,
    winding: WindingTree,
    normals: Vec<DVec3>,
    faces: Vec<DVec3>,
}

/// Where a vertex is with respect to the parts near it.
struct Nearest {
    closest: ClosestPoint,
    inside: bool,
}

impl SelfContact {
    /// Watches the surface `mesh`, of which `shapes` are poses.
    pub(crate) fn new(mesh: &Mesh, shapes: &[Vec<DVec3>]) -> Result<Self, PhysicsError> {
        let outward = if mesh.posed(shapes[0].clone())?.signed_volume() < 0.0 {
            -1.0
        } else {
            1.0
        };
        let near = |vertex: usize| {
            let mut ring = mesh.topology().two_ring(vertex);
            ring.insert(
                ring.partition_point(|&v| (v as usize) < vertex),
                vertex as u32,
            );
            ring
        };
        let mut contact = Self {
            shapes: Vec::new(),
            outward,
            usual: vec![f64::NEG_INFINITY; mesh.vertex_count()],
            near: (0..mesh.vertex_count()).map(near).collect(),
            edge: mesh.mean_edge_length(),
            touches: BTreeMap::new(),
            worst: Misfit::default(),
            mesh: mesh.clone(),
        };
        for shape in shapes {
            let survey = contact.survey(shape)?;
            let turns = contact.turns(&survey, shape);
            contact
                .usual
                .iter_mut()
                .zip(turns)
                .for_each(|(most, turns)| *most = most.max(turns));
            contact.shapes.push((shape.clone(), survey.faces));
        }
        Ok(contact)
    }

    /// Vertices that are inside another part in some shape already.
    pub(crate) fn tolerated(&self) -> usize {
        self.usual
            .iter()
            .filter(|&&turns| turns > 1.0 + HALF_TURN)
            .count()
    }

    /// Forgets who touches.
    pub(crate) fn release(&mut self) {
        self.touches.clear();
        self.worst = Misfit::default();
    }

    /// How many pairs push each other.
    pub(crate) fn len(&self) -> usize {
        self.touches
            .values()
            .filter(|touch| touch.push > 0.0)
            .count()
    }

    /// How badly the conditions were met at the last look.
    pub(crate) fn worst(&self) -> Misfit {
        self.worst
    }

    /// Whether the gap is kept, and nothing is inside.
    pub(crate) fn is_kept(&self) -> bool {
        self.worst.length <= EXACT * GAP * self.edge
    }

    /// The conditions of all pairs, with springs as stiff as `stiffness` says at a vertex.
    pub(crate) fn pushes(&self, stiffness: impl Fn(usize) -> f64) -> Vec<Push> {
        let push = |(&vertex, touch): (&u32, &Touch)| {
            let corners = self.mesh.triangles()[touch.place.triangle as usize];
            let [u, v, w] = touch.place.barycentric;
            let corner = |k: usize, share: f64| (corners[k], touch.normal * -share);
            Push {
                ends: [
                    (vertex, touch.normal),
                    corner(0, u),
                    corner(1, v),
                    corner(2, w),
                ],
                offset: GAP * self.edge,
                stiffness: STIFFNESS * stiffness(vertex as usize).max(f64::MIN_POSITIVE),
                known: touch.push,
            }
        };
        self.touches.iter().map(push).collect()
    }

    /// Whether some vertex is inside another part at `surface`.
    pub(crate) fn is_entered(&self, surface: &[DVec3]) -> Result<bool, PhysicsError> {
        let survey = self.survey(surface)?;
        let turns = self.turns(&survey, surface);
        Ok((0..surface.len())
            .any(|v| self.is_more(v, turns[v]) && self.way_out(&survey, surface, v).is_some()))
    }

    /// Takes over how hard `pushes` are at `positions` and lays all pairs anew.
    pub(crate) fn update(
        &mut self,
        pushes: &[Push],
        positions: &[DVec3],
    ) -> Result<(), PhysicsError> {
        for (touch, push) in self.touches.values_mut().zip(pushes) {
            touch.push = push.force(positions);
        }
        let surface = &positions[..self.mesh.vertex_count()];
        let survey = self.survey(surface)?;
        let found = parallel::map(surface.len(), GRAIN, |vertex| {
            self.nearest(&survey, surface, vertex)
        });
        let mut worst = Misfit::default();
        let before = std::mem::take(&mut self.touches);
        for (vertex, nearest) in found.into_iter().enumerate() {
            let Some(Nearest { closest, inside }) = nearest else {
                continue;
            };
            let push = before.get(&(vertex as u32)).map_or(0.0, |touch| touch.push);
            let normal = self.smooth_normal(&survey, &closest.place);
            let height = normal.dot(surface[vertex] - closest.point);
            let misfit = if inside || push > 0.0 {
                (GAP * self.edge - height).abs()
            } else {
                0.0
            };
            let depth = if inside { closest.distance } else { 0.0 };
            worst = Misfit {
                length: worst.length.max(misfit),
                depth: worst.depth.max(depth),
            };
            self.touches.insert(
                vertex as u32,
                Touch {
                    place: closest.place,
                    normal,
                    push,
                },
            );
        }
        self.worst = worst;
        Ok(())
    }

    /// How much any vertex moves from `from` to `to` against a part that it might pass on the way;
    /// zero where there is none.
    pub(crate) fn longest_way(&self, from: &[DVec3], to: &[DVec3]) -> Result<f64, PhysicsError> {
        let mesh = self.mesh.posed(from.to_vec())?;
        let (index, faces) = (SurfaceIndex::new(&mesh)?, self.face_normals(&mesh));
        let passing = Passing::new(mesh.triangles(), from, to);
        let ways = parallel::map(from.len(), GRAIN, |vertex| {
            let (place, way) = (from[vertex], to[vertex] - from[vertex]);
            let meets = |t: u32| {
                let is_in_front = || {
                    faces[t as usize].dot(place - from[mesh.triangles()[t as usize][0] as usize])
                        > 0.0
                };
                passing.may_meet(place, way, t) && self.is_apart(vertex, t) && is_in_front()
            };
            let met = index.closest_point_within(place, passing.reach(place, way), meets);
            met.map_or(0.0, |closest| {
                way.distance(passing.way(closest.place.triangle))
            })
        });
        Ok(ways.into_iter().fold(0.0, f64::max))
    }

    /// The normal of the surface that the triangles stand for: that of the corners, blended. Across
    /// an edge it turns slowly, so that pairs that slide over one come to rest.
    fn smooth_normal(&self, survey: &Survey, place: &TrianglePoint) -> DVec3 {
        let corners =
            self.mesh.triangles()[place.triangle as usize].map(|v| survey.normals[v as usize]);
        let blended = corners
            .iter()
            .zip(place.barycentric)
            .map(|(normal, share)| *normal * share)
            .sum::<DVec3>()
            .normalize_or_zero();
        let face = survey.faces[place.triangle as usize];
        if blended.dot(face) > STEEPEST {
            blended
        } else {
            face
        }
    }

    fn survey(&self, surface: &[DVec3]) -> Result<Survey, PhysicsError> {
        let mesh = self.mesh.posed(surface.to_vec())?;
        let faces = self.face_normals(&mesh);
        let normals = vertex_normals(&mesh)
            .into_iter()
            .map(|normal| normal * self.outward)
            .collect();
        Ok(Survey {
            index: SurfaceIndex::new(&mesh)?,
            winding: WindingTree::new(&mesh)?,
            normals,
            faces,
        })
    }

    fn face_normals(&self, mesh: &Mesh) -> Vec<DVec3> {
        (0..mesh.triangles().len())
            .map(|t| triangle_normal(mesh.triangle_points(t)) * self.outward)
            .collect()
    }

    /// How often the surface winds around the points below its vertices.
    fn turns(&self, survey: &Survey, surface: &[DVec3]) -> Vec<f64> {
        parallel::map(surface.len(), GRAIN, |vertex| {
            self.turns_at(survey, surface, vertex)
        })
    }

    fn turns_at(&self, survey: &Survey, surface: &[DVec3], vertex: usize) -> f64 {
        self.outward
            * survey
                .winding
                .winding_number(surface[vertex] - survey.normals[vertex] * (BELOW * self.edge))
    }

    fn is_more(&self, vertex: usize, turns: f64) -> bool {
        turns > self.usual[vertex] + HALF_TURN
    }

    /// The part that a vertex is inside, or near and in front of.
    fn nearest(&self, survey: &Survey, surface: &[DVec3], vertex: usize) -> Option<Nearest> {
        if self.is_more(vertex, self.turns_at(survey, surface, vertex)) {
            return self
                .way_out(survey, surface, vertex)
                .map(|closest| Nearest {
                    closest,
                    inside: true,
                });
        }
        let place = surface[vertex];
        let in_front = |t: u32| {
            let corner = surface[self.mesh.triangles()[t as usize][0] as usize];
            survey.faces[t as usize].dot(place - corner) >= 0.0 && self.is_apart(vertex, t)
        };
        let touches = self
            .touches
            .get(&(vertex as u32))
            .is_some_and(|touch| touch.push > 0.0);
        let reach = if touches { 1.0 } else { WATCHED } * self.edge;
        let closest = survey.index.closest_point_within(place, reach, in_front)?;
        Some(Nearest {
            closest,
            inside: false,
        })
    }

    /// The nearest place of another part through which a vertex inside it gets out.
    fn way_out(&self, survey: &Survey, surface: &[DVec3], vertex: usize) -> Option<ClosestPoint> {
        let place = surface[vertex];
        let leads_out = |t: u32| {
            let corners = self.mesh.triangles()[t as usize].map(|v| surface[v as usize]);
            let is_behind = survey.faces[t as usize].dot(place - corners[0]) <= 0.0;
            is_behind
                && self.is_apart(vertex, t)
                && !self.is_own_part(vertex, t, middle(corners).distance(place))
        };
        survey
            .index
            .closest_point_within(place, DEEPEST * self.edge, leads_out)
    }

    /// Whether a triangle is further from a vertex than two edges.
    fn is_apart(&self, vertex: usize, triangle: u32) -> bool {
        let near = &self.near[vertex];
        self.mesh.triangles()[triangle as usize]
            .iter()
            .all(|corner| near.binary_search(corner).is_err())
    }

    /// Whether a vertex was behind a triangle in some shape, about as far from it as now.
    fn is_own_part(&self, vertex: usize, triangle: u32, distance: f64) -> bool {
        self.shapes.iter().any(|(places, faces)| {
            let corners = self.mesh.triangles()[triangle as usize].map(|v| places[v as usize]);
            let is_behind = faces[triangle as usize].dot(places[vertex] - corners[0]) < 0.0;
            is_behind && middle(corners).distance(places[vertex]) < OWN_PART * distance + self.edge
        })
    }
}

fn middle([a, b, c]: [DVec3; 3]) -> DVec3 {
    (a + b + c) / 3.0
}

#[cfg(test)]
mod tests;
