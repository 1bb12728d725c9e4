//! Self-contact: a surface that does not pass through itself.
//!
//! **Problem.** Between two shapes an arm sweeps through the belly and fingers through each other.
//! Both sides yield and move, so there is no obstacle, and a vertex on one side of a thin part must
//! not count the other side as a penetration.
//!
//! **Equation.** With the surface point `p = Σ bᵢ xᵢ` of a triangle nearest to a vertex `x`, the
//! outward unit normal `n` there, and a gap `h`, every near pair satisfies
//!
//! ```text
//! n · (x − Σ bᵢ xᵢ) ≥ h
//! ```
//!
//! as a [`UnilateralConstraint`], whose normals and points are updated after every solve until they
//! are stationary. A vertex is inside another part where the winding number just below it is larger
//! by one than in any of the shapes. A surface only enters another part where triangles cut through
//! each other, or as a whole component: the search for vertices inside begins at their corners and
//! goes on along edges while they are inside.
//!
//! **Source.** The winding number of Jacobson, Kavan, Sorkine-Hornung, "Robust inside-outside
//! segmentation using generalized winding numbers", 2013, as the test; pairs of vertex and triangle
//! as in Bridson, Fedkiw, Anderson, "Robust treatment of collisions, contact and friction for cloth
//! animation", 2002, section 6.
//!
//! **Departures.** Penetrations in the given shapes are tolerated: only a larger winding number
//! counts. A triangle that the vertex lies behind in a given shape already, about as near, is the
//! far side of its own part and not an exit. Pairs of two edges are ignored. No friction.

use std::collections::BTreeMap;

use pliant_linalg::parallel;
use pliant_mesh::glam::DVec3;
use pliant_mesh::{
    ClosestPoint, Mesh, SurfaceIndex, TrianglePoint, WindingTree, triangle_normal, vertex_normals,
};

use crate::PhysicsError;
use crate::blend::energy::UnilateralConstraint;
use crate::contact::collision_bound::CollisionBound;

/// Vertices in one parallel task.
const GRAIN: usize = 64;
/// The gap between touching parts relative to the mean edge. Chosen: a hundredth of an edge is not
/// visible.
const GAP: f64 = 1e-2;
/// The relative accuracy of the gap, so that nothing ends inside.
const EXACT: f64 = 0.5;
/// The depth below a vertex at which the winding number is evaluated, relative to the mean edge:
/// far below the gap, far above rounding.
const BELOW: f64 = 1e-4;
/// Pairs nearer than this share of the mean edge are constrained before they touch.
const WATCHED: f64 = 0.5;
/// The largest distance to an exit, in mean edges. Chosen: steps are divided so that penetrations
/// are not deeper.
const DEEPEST: f64 = 6.0;
/// A winding number larger by more than one half counts as larger by one.
const HALF_WINDING: f64 = 0.5;
/// Penalty stiffness relative to the springs of the vertex. Measured: softer ones take more rounds
/// and stiffer ones more steps.
const STIFFNESS: f64 = 1.0;
/// The least cosine between a blended normal and the normal of its triangle.
const STEEPEST: f64 = 0.3;
/// A triangle is the far side of a vertex' own part if its distance in some shape was at most this
/// many times the present one.
const FAR_SIDE: f64 = 1.5;

/// The pairs in contact on one surface.
#[derive(Debug)]
pub(crate) struct SelfContact {
    mesh: Mesh,
    /// The surface in each shape, with the normals of its triangles.
    shapes: Vec<(Vec<DVec3>, Vec<DVec3>)>,
    /// Minus one where triangles face inward.
    outward: f64,
    /// The largest winding number below each vertex over the shapes.
    rest_winding: Vec<f64>,
    /// A vertex of each connected component, where there are several.
    components: Vec<u32>,
    /// Vertices within two edges of each vertex, and itself; ascending.
    near: Vec<Vec<u32>>,
    edge: f64,
    pairs: BTreeMap<u32, SelfContactPoint>,
    /// The largest violations.
    worst: GapViolation,
}

/// A vertex and the surface point that it is kept from.
#[derive(Debug, Clone, Copy)]
struct SelfContactPoint {
    place: TrianglePoint,
    /// Out of the surface.
    normal: DVec3,
    /// The contact force of the pair.
    force: f64,
}

/// Violations of the gap.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct GapViolation {
    /// The largest difference from the gap of a pair with a contact force, or the largest depth.
    pub(crate) length: f64,
    /// The largest penetration.
    pub(crate) depth: f64,
}

/// A pose of the surface with its search structures.
struct PosedSurface {
    mesh: Mesh,
    index: SurfaceIndex,
    normals: Vec<DVec3>,
    faces: Vec<DVec3>,
}

/// The nearest other part of a vertex.
struct NearestOther {
    closest: ClosestPoint,
    inside: bool,
}

impl SelfContact {
    /// The surface `mesh`, of which `shapes` are poses.
    pub(crate) fn new(mesh: &Mesh, shapes: &[Vec<DVec3>]) -> Result<Self, PhysicsError> {
        // Triangles may face either way.
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
            rest_winding: vec![f64::NEG_INFINITY; mesh.vertex_count()],
            components: first_vertices(mesh),
            near: (0..mesh.vertex_count()).map(near).collect(),
            edge: mesh.mean_edge_length(),
            pairs: BTreeMap::new(),
            worst: GapViolation::default(),
            mesh: mesh.clone(),
        };

        for shape in shapes {
            // What is inside in a given shape is tolerated.
            let posed = contact.pose(shape)?;
            let winding = contact.winding(&posed, shape)?;
            for (most, winding) in contact.rest_winding.iter_mut().zip(winding) {
                *most = most.max(winding);
            }
            contact.shapes.push((shape.clone(), posed.faces));
        }

        Ok(contact)
    }

    /// Number of vertices that are inside another part in some given shape.
    pub(crate) fn tolerated(&self) -> usize {
        self.rest_winding
            .iter()
            .filter(|&&winding| winding > 1.0 + HALF_WINDING)
            .count()
    }

    /// Clears the contact set.
    pub(crate) fn clear(&mut self) {
        self.pairs.clear();
        self.worst = GapViolation::default();
    }

    /// Number of pairs with a contact force.
    pub(crate) fn len(&self) -> usize {
        self.pairs.values().filter(|pair| pair.force > 0.0).count()
    }

    /// The largest violations at the last update.
    pub(crate) fn worst(&self) -> GapViolation {
        self.worst
    }

    /// Whether the gap holds and nothing is inside.
    pub(crate) fn is_satisfied(&self) -> bool {
        self.worst.length <= EXACT * GAP * self.edge
    }

    /// The constraints of all pairs; `stiffness` is that of the springs at a vertex.
    pub(crate) fn constraints(
        &self,
        stiffness: impl Fn(usize) -> f64,
    ) -> Vec<UnilateralConstraint> {
        let force = |(&vertex, pair): (&u32, &SelfContactPoint)| {
            let corners = self.mesh.triangles()[pair.place.triangle as usize];
            let [u, v, w] = pair.place.barycentric;
            let corner = |k: usize, share: f64| (corners[k], pair.normal * -share);

            UnilateralConstraint {
                ends: [
                    (vertex, pair.normal),
                    corner(0, u),
                    corner(1, v),
                    corner(2, w),
                ],
                offset: GAP * self.edge,
                stiffness: STIFFNESS * stiffness(vertex as usize).max(f64::MIN_POSITIVE),
                multiplier: pair.force,
            }
        };
        self.pairs.iter().map(force).collect()
    }

    /// Whether a vertex is inside another part at `surface`.
    pub(crate) fn is_entered(&self, surface: &[DVec3]) -> Result<bool, PhysicsError> {
        let posed = self.pose(surface)?;
        let entered = self.entered(&posed, surface)?;
        Ok((0..surface.len()).any(|v| entered[v] && self.exit_point(&posed, surface, v).is_some()))
    }

    /// Updates the multipliers of `constraints` at `positions` and finds all pairs again.
    pub(crate) fn update(
        &mut self,
        constraints: &[UnilateralConstraint],
        positions: &[DVec3],
    ) -> Result<(), PhysicsError> {
        for (pair, force) in self.pairs.values_mut().zip(constraints) {
            pair.force = force.force(positions);
        }

        // Interior points have no contacts.
        let surface = &positions[..self.mesh.vertex_count()];
        let posed = self.pose(surface)?;
        let entered = self.entered(&posed, surface)?;
        let found = parallel::map(surface.len(), GRAIN, |vertex| {
            self.nearest(&posed, surface, vertex, entered[vertex])
        });
        let mut worst = GapViolation::default();
        let before = std::mem::take(&mut self.pairs);

        for (vertex, nearest) in found.into_iter().enumerate() {
            let Some(NearestOther { closest, inside }) = nearest else {
                continue;
            };

            let force = before.get(&(vertex as u32)).map_or(0.0, |pair| pair.force);
            let normal = self.smooth_normal(&posed, &closest.place);
            let height = normal.dot(surface[vertex] - closest.point);

            // Only pairs in contact must keep the gap exactly.
            let misfit = if inside || force > 0.0 {
                (GAP * self.edge - height).abs()
            } else {
                0.0
            };

            let depth = if inside { closest.distance } else { 0.0 };
            worst = GapViolation {
                length: worst.length.max(misfit),
                depth: worst.depth.max(depth),
            };

            self.pairs.insert(
                vertex as u32,
                SelfContactPoint {
                    place: closest.place,
                    normal,
                    force,
                },
            );
        }

        self.worst = worst;
        Ok(())
    }

    /// The largest displacement of a vertex from `from` to `to` relative to a part that it might
    /// pass; zero where there is none.
    pub(crate) fn longest_relative_displacement(
        &self,
        from: &[DVec3],
        to: &[DVec3],
    ) -> Result<f64, PhysicsError> {
        let mesh = self.mesh.posed(from.to_vec())?;
        let index = SurfaceIndex::new(&mesh)?;
        let faces = self.face_normals(&mesh);

        // Only triangles in front of the vertex can be met from outside.
        let bound = CollisionBound::new(mesh.triangles(), from, to);
        let displacements = parallel::map(from.len(), GRAIN, |vertex| {
            let place = from[vertex];
            let displacement = to[vertex] - from[vertex];
            let meets = |t: u32| {
                let is_in_front = || {
                    faces[t as usize].dot(place - from[mesh.triangles()[t as usize][0] as usize])
                        > 0.0
                };
                bound.may_meet(place, displacement, t) && self.is_apart(vertex, t) && is_in_front()
            };

            let met = index.closest_point_within(place, bound.reach(place, displacement), meets);
            met.map_or(0.0, |closest| {
                displacement.distance(bound.displacement(closest.place.triangle))
            })
        });

        Ok(displacements.into_iter().fold(0.0, f64::max))
    }

    /// The normal of the smooth surface: that of the corners, interpolated. It changes slowly
    /// across an edge, so that pairs that slide over one converge.
    fn smooth_normal(&self, posed: &PosedSurface, place: &TrianglePoint) -> DVec3 {
        let corners =
            self.mesh.triangles()[place.triangle as usize].map(|v| posed.normals[v as usize]);
        let blended = corners
            .iter()
            .zip(place.barycentric)
            .map(|(normal, share)| *normal * share)
            .sum::<DVec3>()
            .normalize_or_zero();

        // A blended normal that deviates too far from the face is wrong.
        let face = posed.faces[place.triangle as usize];
        if blended.dot(face) > STEEPEST {
            blended
        } else {
            face
        }
    }

    fn pose(&self, surface: &[DVec3]) -> Result<PosedSurface, PhysicsError> {
        let mesh = self.mesh.posed(surface.to_vec())?;
        let faces = self.face_normals(&mesh);
        let normals = vertex_normals(&mesh)
            .into_iter()
            .map(|normal| normal * self.outward)
            .collect();

        Ok(PosedSurface {
            index: SurfaceIndex::new(&mesh)?,
            normals,
            faces,
            mesh,
        })
    }

    fn face_normals(&self, mesh: &Mesh) -> Vec<DVec3> {
        (0..mesh.triangles().len())
            .map(|t| triangle_normal(mesh.triangle_points(t)) * self.outward)
            .collect()
    }

    /// The winding numbers just below all vertices.
    fn winding(&self, posed: &PosedSurface, surface: &[DVec3]) -> Result<Vec<f64>, PhysicsError> {
        let tree = WindingTree::new(&posed.mesh)?;
        Ok(parallel::map(surface.len(), GRAIN, |vertex| {
            self.winding_at(&tree, posed, surface[vertex], vertex)
        }))
    }

    fn winding_at(
        &self,
        tree: &WindingTree,
        posed: &PosedSurface,
        place: DVec3,
        vertex: usize,
    ) -> f64 {
        let below = place - posed.normals[vertex] * (BELOW * self.edge);
        self.outward * tree.winding_number(below)
    }

    /// Which vertices are inside another part.
    fn entered(&self, posed: &PosedSurface, surface: &[DVec3]) -> Result<Vec<bool>, PhysicsError> {
        let mut entered = vec![false; surface.len()];
        let mut wave = self.entry_vertices(posed);
        if wave.is_empty() {
            return Ok(entered);
        }

        // Winding numbers are expensive: from the entries inwards only.
        let tree = WindingTree::new(&posed.mesh)?;
        let mut is_visited = vec![false; surface.len()];
        for &vertex in &wave {
            is_visited[vertex as usize] = true;
        }
        while !wave.is_empty() {
            let windings = parallel::map(wave.len(), GRAIN, |k| {
                let vertex = wave[k] as usize;
                self.winding_at(&tree, posed, surface[vertex], vertex)
            });

            let mut next = Vec::new();
            for (&vertex, winding) in wave.iter().zip(windings) {
                if !self.exceeds_rest_winding(vertex as usize, winding) {
                    continue;
                }
                entered[vertex as usize] = true;
                for &neighbor in self.mesh.topology().vertex_neighbors().row(vertex as usize) {
                    if !std::mem::replace(&mut is_visited[neighbor as usize], true) {
                        next.push(neighbor);
                    }
                }
            }
            wave = next;
        }

        Ok(entered)
    }

    /// Corners of triangles that cut through others, and a vertex of each component among several.
    fn entry_vertices(&self, posed: &PosedSurface) -> Vec<u32> {
        let mut vertices = self.components.clone();
        for pair in posed.index.self_intersections() {
            let [first, second] = pair.map(|t| self.mesh.triangles()[t as usize]);
            // Neighbours that fold over each other are no contact.
            if first.iter().all(|&v| self.is_apart(v as usize, pair[1])) {
                vertices.extend(first.into_iter().chain(second));
            }
        }

        vertices.sort_unstable();
        vertices.dedup();
        vertices
    }

    fn exceeds_rest_winding(&self, vertex: usize, winding: f64) -> bool {
        winding > self.rest_winding[vertex] + HALF_WINDING
    }

    /// The part that a vertex is inside, or near and in front of.
    fn nearest(
        &self,
        posed: &PosedSurface,
        surface: &[DVec3],
        vertex: usize,
        is_inside: bool,
    ) -> Option<NearestOther> {
        if is_inside {
            return self
                .exit_point(posed, surface, vertex)
                .map(|closest| NearestOther {
                    closest,
                    inside: true,
                });
        }

        // Otherwise the nearest part in front of the vertex.
        let place = surface[vertex];
        let in_front = |t: u32| {
            let corner = surface[self.mesh.triangles()[t as usize][0] as usize];
            posed.faces[t as usize].dot(place - corner) >= 0.0 && self.is_apart(vertex, t)
        };

        let pairs = self
            .pairs
            .get(&(vertex as u32))
            .is_some_and(|pair| pair.force > 0.0);
        let reach = if pairs { 1.0 } else { WATCHED } * self.edge;
        let closest = posed.index.closest_point_within(place, reach, in_front)?;

        Some(NearestOther {
            closest,
            inside: false,
        })
    }

    /// The nearest point of another part through which a vertex inside it can leave.
    fn exit_point(
        &self,
        posed: &PosedSurface,
        surface: &[DVec3],
        vertex: usize,
    ) -> Option<ClosestPoint> {
        let place = surface[vertex];

        // The vertex leaves through a triangle that it is behind, but not through its own part.
        let leads_out = |t: u32| {
            let corners = self.mesh.triangles()[t as usize].map(|v| surface[v as usize]);
            let is_behind = posed.faces[t as usize].dot(place - corners[0]) <= 0.0;
            is_behind
                && self.is_apart(vertex, t)
                && !self.is_far_side(vertex, t, middle(corners).distance(place))
        };

        posed
            .index
            .closest_point_within(place, DEEPEST * self.edge, leads_out)
    }

    /// Whether a triangle is more than two edges away from a vertex.
    fn is_apart(&self, vertex: usize, triangle: u32) -> bool {
        let near = &self.near[vertex];
        self.mesh.triangles()[triangle as usize]
            .iter()
            .all(|corner| near.binary_search(corner).is_err())
    }

    /// Whether a vertex was behind a triangle in some shape, about as far from it as now.
    fn is_far_side(&self, vertex: usize, triangle: u32, distance: f64) -> bool {
        self.shapes.iter().any(|(places, faces)| {
            let corners = self.mesh.triangles()[triangle as usize].map(|v| places[v as usize]);
            let is_behind = faces[triangle as usize].dot(places[vertex] - corners[0]) < 0.0;
            is_behind && middle(corners).distance(places[vertex]) < FAR_SIDE * distance + self.edge
        })
    }
}

/// A vertex of each connected component with triangles; none where there is only one component.
fn first_vertices(mesh: &Mesh) -> Vec<u32> {
    let component = mesh.topology().component_of_vertex();
    let mut first: BTreeMap<u32, u32> = BTreeMap::new();
    for &v in mesh.triangles().iter().flatten() {
        let known = first.entry(component[v as usize]).or_insert(v);
        *known = v.min(*known);
    }

    if first.len() > 1 {
        first.into_values().collect()
    } else {
        Vec::new()
    }
}

fn middle([a, b, c]: [DVec3; 3]) -> DVec3 {
    (a + b + c) / 3.0
}

#[cfg(test)]
mod tests;
