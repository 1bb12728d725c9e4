//! Contact of soft skin with other parts of the same mesh: lips, eyelids, teeth.
//!
//! - [`grid`]: a uniform grid for the search of near triangles.
//! - [`body_contact`]: the contact of a soft body in each substep.
//! - [`crossing`]: undoes what still crosses at the end of a frame.
//!
//! **Problem.** Soft skin is pushed against other parts of the same mesh, of which some are soft
//! too, some are open and many touch or overlap in the animation already. Skin must not pass
//! through them, and without a push the animation must not change.
//!
//! **Equation.** A vertex `x` and the nearest point `Σ bᵢ xᵢ` of a triangle with the unit normal
//! `n`, on the side `s = ±1` where the vertex belongs, satisfy
//!
//! ```text
//! C = s n · (x − Σ bᵢ xᵢ) − min(g, h) ≥ 0
//! ```
//!
//! with their gap `g` in the animated shape and the thickness `h`: the animated shape satisfies all
//! of it, and overlaps there may stay, but become no deeper. A pair that is too close moves by
//! inverse masses `w` as
//!
//! ```text
//! λ = −C / (w + Σ bᵢ² wᵢ),    Δx = w λ s n,    Δxᵢ = −wᵢ bᵢ λ s n
//! ```
//!
//! **Source.** Müller, Heidelberger, Hennix, Ratcliff, "Position based dynamics", 2007, sections
//! 3.3 and 4.3, for the step; pairs of vertex and triangle as in Bridson, Fedkiw, Anderson, "Robust
//! treatment of collisions, contact and friction for cloth animation", 2002.
//!
//! **Departures.** Sides are determined by normals, since open parts have no inside: surfaces in
//! contact face each other. Within one component a pair needs more than a few rings in between, and
//! a vertex behind a triangle counts as overlapping only if it was in front of it in the mesh at
//! the start, otherwise it is the far side of a lip or a lid. The normal is constant in a step.
//! Pairs of two edges have no constraint; where edges pass each other, [`crossing`] undoes it.

mod body_contact;
mod crossing;
mod grid;

use std::collections::BTreeSet;

use pliant_linalg::parallel;
use pliant_mesh::glam::{DVec3, Vec3};
use pliant_mesh::{Bounds, Mesh, closest_on_triangle, triangle_normal};

pub(crate) use body_contact::SkinSeparation;
use crossing::CrossingTest;
use grid::{Buckets, Grid};

/// The largest separation of a pair in a substep, in mean edges of the soft region. Measured on
/// eyelids without room in the animated shape, where 0.1 vibrates by a third of an edge a frame and
/// 0.01 by a hundredth.
const MAX_SEPARATION: f64 = 0.01;
/// The largest displacement of a vertex relative to the violation of its pair. Chosen.
const MOST_LEVERAGE: f64 = 2.0;
/// The gap between touching parts, in mean edges of the soft region. Chosen: not visible.
const THICKNESS: f64 = 0.05;
/// The distance of pairs that may meet within a frame, in mean edges of the soft region. Chosen:
/// smaller penetrations are found and corrected in the next frame.
const REACH: f64 = 0.75;
/// The size of grid cells, in mean edges of the soft region. Measured.
const CELL: f64 = 1.0;
/// Triangles with a radius of at most this many mean edges are listed in the cell of their centre,
/// larger ones in all cells of their bounds: most are small, and are listed once.
const SMALL: f64 = 0.75;
/// The largest overlap in the animated shape, in mean edges of the soft region. Chosen: deeper
/// pairs are back to back.
const OVERLAP: f64 = 0.5;
/// The least cosine between normals of surfaces in contact; eyelashes stand up from a lid.
const FACING: f32 = 0.3;
/// A vertex is above a triangle, not beside it, if its direction from the nearest point has this
/// cosine with the normal.
const ABOVE: f64 = 0.5;
/// Rings of neighbours that a vertex cannot meet. Chosen.
const RINGS: usize = 3;
/// Vertices or triangles in one parallel task.
const GRAIN: usize = 512;

/// The pairs in contact of a mesh with soft vertices.
#[derive(Debug, Clone)]
pub(crate) struct SkinContact {
    mesh: Mesh,
    soft: Vec<bool>,
    /// Triangles with a soft corner, ascending.
    soft_triangles: Vec<u32>,
    crossing_test: CrossingTest,
    /// Vertices that search for triangles: soft ones, and others in regions so fine that they may
    /// pass between soft ones.
    is_probe: Vec<bool>,
    /// Vertices within [`RINGS`] of each soft one, and itself, ascending; empty for the others.
    near: Vec<Vec<u32>>,
    /// The mean edge of the soft region.
    edge: f64,
    pairs: Vec<SkinPair>,
    vertices: Vec<u32>,
}

/// A vertex and the surface point that it is kept from.
#[derive(Debug, Clone, Copy, PartialEq)]
struct SkinPair {
    vertex: u32,
    corners: [u32; 3],
    barycentric: [f64; 3],
    /// The side of the triangle where the vertex belongs: one in front, minus one behind.
    side: f64,
    /// The least gap.
    least_gap: f64,
}

/// A triangle that may be met.
#[derive(Debug, Clone, Copy)]
struct SkinFace {
    corners: [u32; 3],
    /// Unit normal and offset of its plane in the animated shape.
    rest_plane: (DVec3, f64),
    /// Unit normal and offset of its present plane.
    plane: (DVec3, f64),
    /// The centre.
    middle: DVec3,
    /// The largest distance of a corner from the centre.
    radius: f64,
    component: u32,
    is_soft: bool,
}

/// The search structures of one frame.
struct ContactSearch<'a> {
    rest: &'a [DVec3],
    now: &'a [DVec3],
    grid: Grid,
    buckets: Buckets,
    /// In the order of the buckets; small faces are listed separately, since most faces are visited
    /// once.
    faces: Vec<SkinFace>,
    facing_tests: Vec<FacingTest>,
}

/// The data that quickly decides whether a vertex and a face may meet.
#[derive(Debug, Clone, Copy)]
struct FacingTest {
    normal: Vec3,
    component: u32,
    is_soft: bool,
}

impl SkinContact {
    /// `soft` tells which vertices may move, `edge` is the mean edge among them; `mesh` is the
    /// state at the start, best without contact.
    pub(crate) fn new(mesh: &Mesh, soft: Vec<bool>, edge: f64) -> Self {
        assert_eq!(
            soft.len(),
            mesh.vertex_count(),
            "every vertex is soft or not"
        );

        let has_soft_corner = |t: &u32| {
            mesh.triangles()[*t as usize]
                .iter()
                .any(|&v| soft[v as usize])
        };
        let soft_triangles: Vec<u32> = (0..mesh.triangles().len() as u32)
            .filter(has_soft_corner)
            .collect();

        let near = (0..soft.len())
            .map(|v| {
                if soft[v] {
                    rings(mesh, v as u32)
                } else {
                    Vec::new()
                }
            })
            .collect();

        let to = |v: usize, w: u32| mesh.positions()[v].distance(mesh.positions()[w as usize]);

        // Vertices of fine hard parts may pass between soft vertices.
        let is_fine = |v: usize| {
            mean(
                mesh.topology()
                    .vertex_neighbors()
                    .row(v)
                    .iter()
                    .map(|&w| to(v, w)),
            ) < edge
        };

        let is_probe = (0..soft.len()).map(|v| soft[v] || is_fine(v)).collect();
        Self {
            mesh: mesh.clone(),
            crossing_test: CrossingTest::new(&soft_triangles, &soft),
            soft,
            soft_triangles,
            is_probe,
            near,
            edge,
            pairs: Vec::new(),
            vertices: Vec::new(),
        }
    }

    /// Finds the pairs that may meet, with vertices `now` and in the animated shape `rest`; once
    /// per frame.
    pub(crate) fn search(&mut self, rest: &[DVec3], now: &[DVec3]) {
        assert!(
            rest.len() == self.soft.len() && now.len() == self.soft.len(),
            "one position per vertex"
        );

        // Overlaps of the animated shape are allowed as they are.
        let thickness = THICKNESS * self.edge;
        self.pairs = self.find_pairs(rest, now);
        for pair in &mut self.pairs {
            pair.least_gap = pair.gap(rest).1.min(thickness);
        }
        self.vertices = self
            .pairs
            .iter()
            .flat_map(|pair| pair.corners.into_iter().chain([pair.vertex]))
            .collect();

        self.vertices.sort_unstable();
        self.vertices.dedup();
    }

    /// Moves soft vertices back towards the animated shape `rest` until no triangles cross that do
    /// not cross there; returns the vertices that moved, ascending. Vertices that are held do not
    /// move; where they make a crossing unavoidable, nothing does.
    pub(crate) fn undo_crossings(
        &self,
        rest: &[DVec3],
        positions: &mut [DVec3],
        is_held: impl Fn(u32) -> bool,
    ) -> BTreeSet<u32> {
        self.crossing_test
            .undo_crossings(&self.mesh, rest, positions, is_held)
    }

    /// Vertices of the pairs, ascending.
    pub(crate) fn vertices(&self) -> &[u32] {
        &self.vertices
    }

    /// Separates pairs that are too close, gently relative to `before`, one after the other, and
    /// returns their number; an inverse mass of zero holds a vertex. Only the positions of
    /// [`vertices`](Self::vertices) are used.
    pub(crate) fn separate(
        &self,
        positions: &mut [DVec3],
        inverse_masses: &[f64],
        before: Option<&[DVec3]>,
    ) -> usize {
        let separation = MAX_SEPARATION * self.edge;
        let mut separated = 0;
        for pair in &self.pairs {
            // Pairs come no closer than before, and separate slowly.
            let most = before.map_or(f64::INFINITY, |before| {
                separation + (pair.gap(before).1 - pair.gap(positions).1).max(0.0)
            });
            let moved = pair.separate(positions, inverse_masses, REACH * self.edge, most);
            separated += usize::from(moved);
        }

        separated
    }

    fn find_pairs(&self, rest: &[DVec3], now: &[DVec3]) -> Vec<SkinPair> {
        let reach = REACH * self.edge;
        let bounds_of = |t: usize| box_around(self.mesh.triangles()[t].map(|v| now[v as usize]));
        let soft: Vec<Bounds> = self
            .soft_triangles
            .iter()
            .map(|&t| padded(bounds_of(t as usize), reach))
            .collect();
        let Some(bounds) = soft.iter().copied().reduce(|a, b| a.union(&b)) else {
            return Vec::new();
        };
        let Some(grid) = Grid::new(bounds, CELL * self.edge) else {
            return Vec::new();
        };

        // Only cells near soft triangles matter.
        let mut is_near_soft = vec![false; grid.len()];
        for bounds in &soft {
            for cells in grid.runs(*bounds) {
                is_near_soft[cells].fill(true);
            }
        }
        let is_near = |bounds: Bounds| {
            grid.runs(bounds)
                .any(|cells| is_near_soft[cells].contains(&true))
        };
        let triangles = chosen(self.mesh.triangles().len(), |t| is_near(bounds_of(t)));
        let vertices = chosen(now.len(), |v| {
            self.is_probe[v] && is_near(point_bounds(now[v]))
        });

        let faces = parallel::map(triangles.len(), GRAIN, |k| {
            self.face(rest, now, triangles[k])
        });
        let search = ContactSearch::new(rest, now, grid, &faces, SMALL * self.edge);
        let found = parallel::map(vertices.len(), GRAIN, |k| {
            self.nearest_pairs(&search, vertices[k])
        });

        found.into_iter().flatten().flatten().collect()
    }

    fn face(&self, rest: &[DVec3], now: &[DVec3], triangle: u32) -> SkinFace {
        // Planes and a bounding ball, for quick rejection.
        let corners = self.mesh.triangles()[triangle as usize];
        let places = corners.map(|v| now[v as usize]);
        let middle = (places[0] + places[1] + places[2]) / 3.0;
        let radius = places
            .iter()
            .map(|p| p.distance(middle))
            .fold(0.0, f64::max);

        let is_soft = corners.iter().any(|&v| self.soft[v as usize]);
        let rest_plane = plane(rest, corners);
        let plane = plane(now, corners);
        SkinFace {
            corners,
            rest_plane,
            plane,
            middle,
            radius,
            component: self.component(corners[0]),
            is_soft,
        }
    }

    /// The nearest surface points that a vertex may meet, on its own connected component and on
    /// others.
    fn nearest_pairs(&self, search: &ContactSearch<'_>, vertex: u32) -> [Option<SkinPair>; 2] {
        let position = search.now[vertex as usize];
        let reach = REACH * self.edge;
        let component = self.component(vertex);
        let normal = self.normal(search.rest, vertex);
        let own = FacingTest {
            normal: normal.as_vec3(),
            component,
            is_soft: self.soft[vertex as usize],
        };

        let mut nearest = [(reach, None); 2];
        let around = padded(point_bounds(position), reach + SMALL * self.edge);
        for cells in search.grid.runs(around) {
            for k in search.buckets.places(cells) {
                if !own.may_meet(&search.facing_tests[k]) {
                    continue;
                }

                // No point of a face is nearer than its plane or the ball around it, and one below
                // the vertex is not much further.
                let face = &search.faces[k];
                let best = &mut nearest[usize::from(face.component != component)];
                let height = height(face.plane, position).abs();
                let bound = (position.distance(face.middle) - face.radius).max(height);
                if bound >= best.0 || ABOVE * bound > height {
                    continue;
                }

                let corners = face.corners.map(|v| search.now[v as usize]);
                let (barycentric, point) = closest_on_triangle(corners, position);
                let distance = position.distance(point);
                let is_nearer = distance < best.0 && height >= ABOVE * distance;
                if !is_nearer {
                    continue;
                }
                let agreement = face.rest_plane.0.dot(normal);
                if let Some(side) = self.side(search.rest, vertex, face, agreement) {
                    let pair = SkinPair {
                        vertex,
                        corners: face.corners,
                        barycentric,
                        side,
                        least_gap: 0.0,
                    };
                    *best = (distance, Some(pair));
                }
            }
        }

        nearest.map(|(_, pair)| pair)
    }

    /// The side of a face that a vertex belongs to, if they may meet; `agreement` is the cosine
    /// between their normals.
    fn side(&self, rest: &[DVec3], vertex: u32, face: &SkinFace, agreement: f64) -> Option<f64> {
        let is_own = face.component == self.component(vertex);
        let initial = self.mesh.positions();
        let initial_height = || height(plane(initial, face.corners), initial[vertex as usize]);
        let side = match agreement > 0.0 && face.is_soft {
            // A vertex that faces a triangle is in front of it, and skin covers hard parts.
            false => 1.0,
            true if self.soft[vertex as usize] => initial_height().signum(),
            true => -1.0,
        };

        // Contact needs a gap, or an overlap that the animation has, too.
        let gap = side * height(face.rest_plane, rest[vertex as usize]);
        let may_overlap = || {
            agreement < 0.0 && gap >= -OVERLAP * self.edge && (!is_own || initial_height() > 0.0)
        };
        let is_apart = !is_own || !self.is_near(vertex, face.corners);

        (is_apart && (gap > 0.0 || may_overlap())).then_some(side)
    }

    fn component(&self, vertex: u32) -> u32 {
        self.mesh.topology().component_of_vertex()[vertex as usize]
    }

    /// Whether a triangle is within a few rings of a vertex, one of them soft.
    fn is_near(&self, vertex: u32, corners: [u32; 3]) -> bool {
        let of_vertex = &self.near[vertex as usize];
        let is_listed = |list: &[u32], v: &u32| list.binary_search(v).is_ok();
        corners.iter().any(|corner| {
            is_listed(of_vertex, corner) || is_listed(&self.near[*corner as usize], &vertex)
        })
    }

    /// The mean of the normals around a vertex, weighted by area.
    fn normal(&self, shape: &[DVec3], vertex: u32) -> DVec3 {
        // Cross products are weighted by area.
        let around = self.mesh.topology().vertex_triangles().row(vertex as usize);
        let area = |&t: &u32| {
            let [a, b, c] = self.mesh.triangles()[t as usize].map(|v| shape[v as usize]);
            (b - a).cross(c - a)
        };
        around.iter().map(area).sum::<DVec3>().normalize_or_zero()
    }
}

impl FacingTest {
    /// Whether one of two is soft and they face each other, or face away from each other on
    /// different components.
    fn may_meet(&self, other: &Self) -> bool {
        let agreement = self.normal.dot(other.normal);
        (self.is_soft || other.is_soft)
            && (agreement <= -FACING || agreement >= FACING && self.component != other.component)
    }
}

impl<'a> ContactSearch<'a> {
    /// Faces with a radius of at most `small` are listed at their centre, others in all of their
    /// bounds.
    fn new(
        rest: &'a [DVec3],
        now: &'a [DVec3],
        grid: Grid,
        faces: &[SkinFace],
        small: f64,
    ) -> Self {
        let box_of = |face: &SkinFace| match face.radius <= small {
            true => point_bounds(face.middle),
            false => box_around(face.corners.map(|v| now[v as usize])),
        };

        // Faces in the order of the buckets, so that a search reads memory in sequence.
        let buckets = Buckets::new(&grid, &faces.iter().map(box_of).collect::<Vec<_>>());
        let faces: Vec<SkinFace> = buckets.order().iter().map(|&k| faces[k as usize]).collect();
        let facing_test = |face: &SkinFace| FacingTest {
            normal: face.rest_plane.0.as_vec3(),
            component: face.component,
            is_soft: face.is_soft,
        };

        let facing_tests = faces.iter().map(facing_test).collect();
        Self {
            rest,
            now,
            grid,
            buckets,
            faces,
            facing_tests,
        }
    }
}

impl SkinPair {
    /// The direction of the side of the vertex, and its signed distance along it.
    fn gap(&self, positions: &[DVec3]) -> (DVec3, f64) {
        let corners = self.corners.map(|v| positions[v as usize]);
        let direction = triangle_normal(corners) * self.side;
        let [u, v, w] = self.barycentric;
        let place = corners[0] * u + corners[1] * v + corners[2] * w;
        (
            direction,
            direction.dot(positions[self.vertex as usize] - place),
        )
    }

    /// Separates the pair if it is too close; returns whether it was.
    fn separate(
        &self,
        positions: &mut [DVec3],
        inverse_masses: &[f64],
        deepest: f64,
        most: f64,
    ) -> bool {
        let (direction, gap) = self.gap(positions);
        let inverse_mass = |v: u32| inverse_masses[v as usize];
        let corners = || self.corners.into_iter().zip(self.barycentric);

        // The generalised inverse mass of the pair.
        let response = inverse_mass(self.vertex)
            + corners()
                .map(|(v, share)| share * share * inverse_mass(v))
                .sum::<f64>();

        // A deeper pair than the search distance is not a contact, but an inverted triangle.
        let meets = (self.least_gap - deepest..self.least_gap).contains(&gap);
        if !meets || response <= 0.0 || direction == DVec3::ZERO {
            return false;
        }

        // A corner with a small barycentric coordinate would have to move far.
        // Bounded displacement of every vertex of the pair.
        let largest = corners()
            .map(|(v, share)| share * inverse_mass(v))
            .fold(inverse_mass(self.vertex), f64::max);
        let violation = (self.least_gap - gap).min(most);
        let push = direction * (violation / response).min(MOST_LEVERAGE * violation / largest);

        positions[self.vertex as usize] += push * inverse_mass(self.vertex);
        for (v, share) in corners() {
            positions[v as usize] -= push * (share * inverse_mass(v));
        }

        true
    }
}

fn plane(shape: &[DVec3], corners: [u32; 3]) -> (DVec3, f64) {
    let corners = corners.map(|v| shape[v as usize]);
    let normal = triangle_normal(corners);
    (normal, normal.dot(corners[0]))
}

/// The signed distance of a position from a plane.
fn height((normal, offset): (DVec3, f64), place: DVec3) -> f64 {
    normal.dot(place) - offset
}

fn point_bounds(point: DVec3) -> Bounds {
    Bounds {
        min: point,
        max: point,
    }
}

fn box_around([a, b, c]: [DVec3; 3]) -> Bounds {
    Bounds {
        min: a.min(b).min(c),
        max: a.max(b).max(c),
    }
}

fn padded(bounds: Bounds, reach: f64) -> Bounds {
    Bounds {
        min: bounds.min - DVec3::splat(reach),
        max: bounds.max + DVec3::splat(reach),
    }
}

/// The numbers below `count` that satisfy `predicate`.
fn chosen(count: usize, predicate: impl Fn(usize) -> bool + Sync + Send) -> Vec<u32> {
    let is_chosen = parallel::map(count, GRAIN, predicate);
    (0..count as u32)
        .filter(|&k| is_chosen[k as usize])
        .collect()
}

/// Vertices within [`RINGS`] of `vertex`, and itself, ascending.
fn rings(mesh: &Mesh, vertex: u32) -> Vec<u32> {
    let mut reached = vec![vertex];
    for _ in 0..RINGS {
        let neighbors = reached
            .iter()
            .flat_map(|&v| mesh.topology().vertex_neighbors().row(v as usize));
        reached = neighbors.chain(&reached).copied().collect();
        reached.sort_unstable();
        reached.dedup();
    }

    reached
}

/// The mean; zero of no values.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0_usize), |(sum, count), value| {
        (sum + value, count + 1)
    });
    sum / count.max(1) as f64
}

#[cfg(test)]
mod tests;
