//! Lips that meet lips, lids that meet eyes, and teeth behind a cheek.
//!
//! **Problem.** Soft skin is pushed against other parts of the same mesh, of which some are soft
//! too, some are open and many touch or overlap in the animation already. Skin must not pass
//! through them, and where nothing is pushed the animation must not change.
//!
//! **Equation.** A vertex `x` and the nearest point `Σ bᵢ xᵢ` of a triangle with the unit normal
//! `n`, on the side `s = ±1` where the vertex belongs, keep
//!
//! ```text
//! C = s n · (x − Σ bᵢ xᵢ) − min(g, h) ≥ 0
//! ```
//!
//! with their gap `g` in the animated shape and the thickness `h`: the animated shape keeps all of
//! it, and what overlaps there may stay as deep, but gets no deeper. A pair that is too close moves
//! by inverse masses `w` as
//!
//! ```text
//! λ = −C / (w + Σ bᵢ² wᵢ),    Δx = w λ s n,    Δxᵢ = −wᵢ bᵢ λ s n
//! ```
//!
//! **Source.** Müller, Heidelberger, Hennix, Ratcliff, "Position based dynamics", 2007, sections
//! 3.3 and 4.3, for the step; pairs of vertex and triangle as in Bridson, Fedkiw, Anderson, "Robust
//! treatment of collisions, contact and friction for cloth animation", 2002.
//!
//! **Ours.** Sides are told by normals, since open parts have no inside: surfaces that meet look at
//! each other. Within one part a pair needs more than a few rings in between, and a vertex behind a
//! triangle counts as overlapping only if it was before it in the mesh as the touch begins, else it
//! is the far side of a lip or a lid. The normal is held still in a step. Pairs of two edges are
//! not looked at.

mod buckets;
mod meeting;

use pliant_linalg::parallel;
use pliant_mesh::glam::{DVec3, Vec3};
use pliant_mesh::{Bounds, Mesh, closest_on_triangle, triangle_normal};

use buckets::{Buckets, Grid};
pub(crate) use meeting::SkinMeeting;

/// How far a pair is pushed apart in a substep, in mean edges of the soft region: measured on lids
/// that the animated shape leaves no room, where 0.1 shivers by a third of an edge a frame and 0.01
/// by a hundredth.
const GENTLE_PUSH: f64 = 0.01;
/// How much further than a pair is too close one of its vertices may be moved: ours.
const MOST_LEVERAGE: f64 = 2.0;
/// How far apart touching parts are kept, in mean edges of the soft region: ours, not seen.
const THICKNESS: f64 = 0.05;
/// How far apart pairs are that may meet within a frame, in mean edges of the soft region: ours;
/// what got through by less is found and brought back in the next.
const REACH: f64 = 0.75;
/// The size of cells in which triangles are looked for, in mean edges of the soft region: measured.
const CELL: f64 = 1.0;
/// Triangles whose corners are within this many mean edges of the soft region around their middle
/// are listed where that is, larger ones all over their box: most are small, and are met once.
const SMALL: f64 = 0.75;
/// How deep parts may overlap in the animated shape, in mean edges of the soft region: ours; deeper
/// ones are back to back.
const OVERLAP: f64 = 0.5;
/// The cosine of the angle between normals of surfaces that meet, at least; eyelashes stand up from
/// a lid.
const FACING: f32 = 0.3;
/// A vertex is above a triangle, not beside it, if its direction from the nearest point has this
/// cosine with the normal.
const ABOVE: f64 = 0.5;
/// Rings of neighbours that a vertex cannot meet: ours.
const RINGS: usize = 3;
/// Vertices or triangles in one parallel task.
const GRAIN: usize = 512;

/// Which parts of a soft mesh meet.
#[derive(Debug, Clone)]
pub(crate) struct SkinContact {
    mesh: Mesh,
    soft: Vec<bool>,
    /// Triangles with a soft corner, ascending.
    soft_triangles: Vec<u32>,
    /// Vertices that look for triangles: soft ones, and others that are so close to their
    /// neighbours that they may pass between soft ones.
    is_probe: Vec<bool>,
    /// Vertices within [`RINGS`] of each soft one, and itself, ascending; nothing for the others.
    near: Vec<Vec<u32>>,
    /// The mean edge of the soft region.
    edge: f64,
    pairs: Vec<Pair>,
    vertices: Vec<u32>,
}

/// A vertex and the place that it is kept from.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Pair {
    vertex: u32,
    corners: [u32; 3],
    barycentric: [f64; 3],
    /// The side of the triangle where the vertex belongs: one in front, minus one behind.
    side: f64,
    /// How large the gap is at least.
    least_gap: f64,
}

/// A triangle that may be met.
#[derive(Debug, Clone, Copy)]
struct Face {
    corners: [u32; 3],
    /// Unit normals in the animated shape and now, and how far along them the planes are from the
    /// origin.
    rest_plane: (DVec3, f64),
    plane: (DVec3, f64),
    /// The middle, and how far corners are from it.
    middle: DVec3,
    radius: f64,
    component: u32,
    is_soft: bool,
}

/// One frame, ready for questions.
struct Survey<'a> {
    rest: &'a [DVec3],
    now: &'a [DVec3],
    grid: Grid,
    buckets: Buckets,
    /// In the order of the buckets; small ones apart, since most faces are looked at but once.
    faces: Vec<Face>,
    looks: Vec<Look>,
}

/// What decides at a glance whether a vertex and a face may meet.
#[derive(Debug, Clone, Copy)]
struct Look {
    normal: Vec3,
    component: u32,
    is_soft: bool,
}

impl SkinContact {
    /// `soft` says which vertices may move, `edge` is the mean edge among them; `mesh` is as the
    /// touch begins, its parts best apart.
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
        let soft_triangles = (0..mesh.triangles().len() as u32)
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
            soft,
            soft_triangles,
            is_probe,
            near,
            edge,
            pairs: Vec::new(),
            vertices: Vec::new(),
        }
    }

    /// Looks for pairs that may meet, with vertices `now` and in the animated shape `rest`; once
    /// per frame.
    pub(crate) fn survey(&mut self, rest: &[DVec3], now: &[DVec3]) {
        assert!(
            rest.len() == self.soft.len() && now.len() == self.soft.len(),
            "a place for every vertex"
        );
        let thickness = THICKNESS * self.edge;
        self.pairs = self.find_pairs(rest, now);
        self.pairs
            .iter_mut()
            .for_each(|pair| pair.least_gap = pair.gap(rest).1.min(thickness));
        self.vertices = self
            .pairs
            .iter()
            .flat_map(|pair| pair.corners.into_iter().chain([pair.vertex]))
            .collect();
        self.vertices.sort_unstable();
        self.vertices.dedup();
    }

    /// Vertices that occur in a pair, ascending.
    pub(crate) fn vertices(&self) -> &[u32] {
        &self.vertices
    }

    /// Moves pairs that are too close apart, gently where they were elsewhere `before`, one after
    /// the other, and says how many were; an inverse mass of zero holds a vertex. Of the
    /// positions of the whole mesh only those of [`vertices`](Self::vertices) are looked at.
    pub(crate) fn separate(
        &self,
        positions: &mut [DVec3],
        inverse_masses: &[f64],
        before: Option<&[DVec3]>,
    ) -> usize {
        let gentle = GENTLE_PUSH * self.edge;
        let mut separate = |pair: &Pair| {
            // They get no closer than they were, and apart slowly.
            let most = before.map_or(f64::INFINITY, |before| {
                gentle + (pair.gap(before).1 - pair.gap(positions).1).max(0.0)
            });
            pair.separate(positions, inverse_masses, REACH * self.edge, most)
        };
        self.pairs
            .iter()
            .map(|pair| usize::from(separate(pair)))
            .sum()
    }

    fn find_pairs(&self, rest: &[DVec3], now: &[DVec3]) -> Vec<Pair> {
        let reach = REACH * self.edge;
        let box_of = |t: usize| box_around(self.mesh.triangles()[t].map(|v| now[v as usize]));
        let soft_boxes: Vec<Bounds> = self
            .soft_triangles
            .iter()
            .map(|&t| padded(box_of(t as usize), reach))
            .collect();
        let Some(bounds) = soft_boxes.iter().copied().reduce(|a, b| a.union(&b)) else {
            return Vec::new();
        };
        let Some(grid) = Grid::new(bounds, CELL * self.edge) else {
            return Vec::new();
        };
        let mut is_near_soft = vec![false; grid.len()];
        soft_boxes
            .iter()
            .flat_map(|bounds| grid.runs(*bounds))
            .for_each(|cells| is_near_soft[cells].fill(true));
        let is_met = |bounds: Bounds| {
            grid.runs(bounds)
                .any(|cells| is_near_soft[cells].contains(&true))
        };
        let triangles = chosen(self.mesh.triangles().len(), |t| is_met(box_of(t)));
        let vertices = chosen(now.len(), |v| {
            self.is_probe[v]
                && is_met(Bounds {
                    min: now[v],
                    max: now[v],
                })
        });
        let faces = parallel::map(triangles.len(), GRAIN, |k| {
            self.face(rest, now, triangles[k])
        });
        let survey = Survey::new(rest, now, grid, &faces, SMALL * self.edge);
        let found = parallel::map(vertices.len(), GRAIN, |k| {
            self.nearest_pairs(&survey, vertices[k])
        });
        found.into_iter().flatten().flatten().collect()
    }

    fn face(&self, rest: &[DVec3], now: &[DVec3], triangle: u32) -> Face {
        let corners = self.mesh.triangles()[triangle as usize];
        let places = corners.map(|v| now[v as usize]);
        let middle = (places[0] + places[1] + places[2]) / 3.0;
        let radius = places
            .iter()
            .map(|p| p.distance(middle))
            .fold(0.0, f64::max);
        let is_soft = corners.iter().any(|&v| self.soft[v as usize]);
        let (rest_plane, plane) = (plane(rest, corners), plane(now, corners));
        Face {
            corners,
            rest_plane,
            plane,
            middle,
            radius,
            component: self.component(corners[0]),
            is_soft,
        }
    }

    /// The nearest places that a vertex may meet, on its own connected part and on others.
    fn nearest_pairs(&self, survey: &Survey<'_>, vertex: u32) -> [Option<Pair>; 2] {
        let (place, reach) = (survey.now[vertex as usize], REACH * self.edge);
        let (component, normal) = (self.component(vertex), self.normal(survey.rest, vertex));
        let look = Look {
            normal: normal.as_vec3(),
            component,
            is_soft: self.soft[vertex as usize],
        };
        let mut nearest = [(reach, None); 2];
        let around = padded(
            Bounds {
                min: place,
                max: place,
            },
            reach + SMALL * self.edge,
        );
        for k in survey
            .grid
            .runs(around)
            .flat_map(|cells| survey.buckets.places(cells))
        {
            if !look.may_meet(&survey.looks[k]) {
                continue;
            }
            let face = &survey.faces[k];
            let best = &mut nearest[usize::from(face.component != component)];
            let height = height(face.plane, place).abs();
            // No point of a face is nearer than its plane or the ball around it, and one below the
            // vertex is not much further.
            let nearest_may_be = (place.distance(face.middle) - face.radius).max(height);
            if nearest_may_be >= best.0 || ABOVE * nearest_may_be > height {
                continue;
            }
            let (barycentric, point) =
                closest_on_triangle(face.corners.map(|v| survey.now[v as usize]), place);
            let distance = place.distance(point);
            let side = || self.side(survey.rest, vertex, face, face.rest_plane.0.dot(normal));
            if distance < best.0
                && height >= ABOVE * distance
                && let Some(side) = side()
            {
                *best = (
                    distance,
                    Some(Pair {
                        vertex,
                        corners: face.corners,
                        barycentric,
                        side,
                        least_gap: 0.0,
                    }),
                );
            }
        }
        nearest.map(|(_, pair)| pair)
    }

    /// The side of a face that a vertex belongs to, if they may meet; `agreement` is the cosine
    /// between their normals.
    fn side(&self, rest: &[DVec3], vertex: u32, face: &Face, agreement: f64) -> Option<f64> {
        let is_own = face.component == self.component(vertex);
        let made = self.mesh.positions();
        let height_when_made = || height(plane(made, face.corners), made[vertex as usize]);
        let side = match agreement > 0.0 && face.is_soft {
            // What looks at a triangle is before it, and skin covers what is hard.
            false => 1.0,
            true if self.soft[vertex as usize] => height_when_made().signum(),
            true => -1.0,
        };
        let gap = side * height(face.rest_plane, rest[vertex as usize]);
        let may_overlap = || {
            agreement < 0.0 && gap >= -OVERLAP * self.edge && (!is_own || height_when_made() > 0.0)
        };
        let is_apart = !is_own || !self.is_near(vertex, face.corners);
        (is_apart && (gap > 0.0 || may_overlap())).then_some(side)
    }

    fn component(&self, vertex: u32) -> u32 {
        self.mesh.topology().component_of_vertex()[vertex as usize]
    }

    /// Whether a triangle is within a few rings of a vertex, one of them soft.
    fn is_near(&self, vertex: u32, corners: [u32; 3]) -> bool {
        let (of_vertex, is_listed) = (&self.near[vertex as usize], |list: &[u32], v: &u32| {
            list.binary_search(v).is_ok()
        });
        corners.iter().any(|corner| {
            is_listed(of_vertex, corner) || is_listed(&self.near[*corner as usize], &vertex)
        })
    }

    /// The mean of the normals around a vertex, weighted by area.
    fn normal(&self, shape: &[DVec3], vertex: u32) -> DVec3 {
        let around = self.mesh.topology().vertex_triangles().row(vertex as usize);
        let area = |&t: &u32| {
            let [a, b, c] = self.mesh.triangles()[t as usize].map(|v| shape[v as usize]);
            (b - a).cross(c - a)
        };
        around.iter().map(area).sum::<DVec3>().normalize_or_zero()
    }
}

impl Look {
    /// Whether one of two is soft and they look at each other, or of different parts away from each
    /// other.
    fn may_meet(&self, other: &Self) -> bool {
        let agreement = self.normal.dot(other.normal);
        (self.is_soft || other.is_soft)
            && (agreement <= -FACING || agreement >= FACING && self.component != other.component)
    }
}

impl<'a> Survey<'a> {
    /// Faces whose corners are within `small` of their middle are listed there, others all over
    /// their box.
    fn new(rest: &'a [DVec3], now: &'a [DVec3], grid: Grid, faces: &[Face], small: f64) -> Self {
        let box_of = |face: &Face| match face.radius <= small {
            true => Bounds {
                min: face.middle,
                max: face.middle,
            },
            false => box_around(face.corners.map(|v| now[v as usize])),
        };
        let buckets = Buckets::new(&grid, &faces.iter().map(box_of).collect::<Vec<_>>());
        let faces: Vec<Face> = buckets.order().iter().map(|&k| faces[k as usize]).collect();
        let look = |face: &Face| Look {
            normal: face.rest_plane.0.as_vec3(),
            component: face.component,
            is_soft: face.is_soft,
        };
        let looks = faces.iter().map(look).collect();
        Self {
            rest,
            now,
            grid,
            buckets,
            faces,
            looks,
        }
    }
}

impl Pair {
    /// The direction that the vertex belongs to, and how far it is there.
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

    /// Whether the pair was too close and moved apart.
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
        let response = inverse_mass(self.vertex)
            + corners()
                .map(|(v, share)| share * share * inverse_mass(v))
                .sum::<f64>();
        // What is deeper than a pair was looked for is no contact, but a triangle that has turned
        // over.
        let meets = (self.least_gap - deepest..self.least_gap).contains(&gap);
        if !meets || response <= 0.0 || direction == DVec3::ZERO {
            return false;
        }
        // A corner that hardly carries the vertex would be thrown far to lift it.
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

/// How far a place is before a plane.
fn height((normal, offset): (DVec3, f64), place: DVec3) -> f64 {
    normal.dot(place) - offset
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

/// Those of the first numbers that are wanted.
fn chosen(count: usize, wanted: impl Fn(usize) -> bool + Sync + Send) -> Vec<u32> {
    let is_wanted = parallel::map(count, GRAIN, wanted);
    (0..count as u32)
        .filter(|&k| is_wanted[k as usize])
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

/// Zero of nothing.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0_usize), |(sum, count), value| {
        (sum + value, count + 1)
    });
    sum / count.max(1) as f64
}

#[cfg(test)]
mod tests;
