//! Contact pairs: places of a surface that a pose brings into contact, such as closed eyelids.
//!
//! **Problem.** After a transfer, a gap of a millimetre in a blink is visible. A rig does not
//! contain which places have to meet, so the poses must show it.
//!
//! **Method.** A vertex `i` and a point `q` of the same component are a contact pair of a pose if,
//! with the gap `G` at rest and `g` in the pose,
//!
//! ```text
//! g ≤ ¼ G        no point in contact with q is nearer to it than ½ g        the midpoint of i and q at rest is farther than ¼ G from the skin
//! ```
//!
//! The first condition says that they are in contact; of all such points `q` is the nearest in the
//! pose. The second excludes points behind a rim that is in contact. The third says that there was
//! air between them: the midpoint of compressed skin lies on the skin.
//!
//! **Departures.** The method is our own. Normals are not compared: at the rim of an eyelid they
//! vary. If most pairs of a pose have skin between them at rest, the surface has passed through
//! itself, as `mouthClose` does without an open jaw, and the pose has no contact pairs.

use pliant_linalg::parallel;
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, MeshError, SurfaceIndex, TrianglePoint};

/// A gap below this share of the gap at rest is closed. Chosen: the rims of a thick eyelid stay that
/// far apart.
const CLOSED: f64 = 0.25;

/// A partner that is in contact with a point nearer than this share of the gap belongs to it.
const MUTUAL: f64 = 0.5;

/// The least distance of the midpoint of a pair at rest from the skin, relative to their gap; it is
/// at most a half. Chosen: it excludes compressed skin, and keeps all but the last corner of an
/// eyelid.
const CLEARANCE: f64 = 0.25;

/// The share of the segment between two points at either end that is not tested for skin: the ends
/// lie on it.
const SEGMENT_MARGIN: f64 = 0.05;

/// The search radius around a vertex, in mean edge lengths.
const SEARCH: f64 = 2.0;

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 64;

/// Two places that a pose brings into contact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ContactPair {
    pub(crate) vertex: u32,
    pub(crate) partner: TrianglePoint,
    /// From the vertex to its partner in the pose.
    gap: DVec3,
}

/// The surface at rest, prepared to find the contact pairs of its poses.
#[derive(Debug, Clone)]
pub(crate) struct ContactFinder<'a> {
    rest: &'a Mesh,
    index: SurfaceIndex,
    mean_edge: f64,
}

/// The surface in a pose.
struct PosedSurface<'a> {
    positions: &'a [DVec3],
    index: SurfaceIndex,
}

/// A point of a component, at rest and in a pose.
#[derive(Clone, Copy)]
struct TracedPoint {
    component: u32,
    rest: DVec3,
    posed: DVec3,
}

/// What is between the places of a pair at rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Between {
    Air,
    /// The skin that connects them.
    ConnectingSkin,
    /// Skin that intersects the segment between them.
    OtherSkin,
}

impl<'a> ContactFinder<'a> {
    pub(crate) fn new(rest: &'a Mesh) -> Result<Self, MeshError> {
        Ok(Self {
            rest,
            index: SurfaceIndex::new(rest)?,
            mean_edge: rest.mean_edge_length(),
        })
    }

    /// The contact pairs of the pose `posed`, by ascending vertex; `moves` has for each vertex
    /// whether the pose moves it.
    pub(crate) fn pairs(
        &self,
        posed: &[DVec3],
        moves: &[bool],
    ) -> Result<Vec<ContactPair>, MeshError> {
        let candidates = self.candidates(posed, moves);
        if candidates.is_empty() {
            return Ok(Vec::new());
        }

        let pose = PosedSurface {
            positions: posed,
            index: SurfaceIndex::new(&self.rest.posed(posed.to_vec())?)?,
        };
        let found = parallel::map(candidates.len(), VERTICES_PER_TASK, |k| {
            let pair = self.nearest(candidates[k], &pose)?;
            let is_mutual = self.is_mutual(&pair, &pose);
            is_mutual.then(|| (pair, self.between(&pair)))
        });

        // More crossings than contacts: the surface has passed through itself.
        let mut pairs = Vec::new();
        let mut crossings = 0;
        for (pair, between) in found.into_iter().flatten() {
            match between {
                Between::Air => pairs.push(pair),
                Between::OtherSkin => crossings += 1,
                Between::ConnectingSkin => {}
            }
        }
        if crossings > pairs.len() {
            pairs.clear();
        }
        Ok(pairs)
    }

    /// Vertices that are near a vertex from which they were far at rest, where the pose moves one of
    /// the two. They are few, so that the tests that follow may be expensive.
    fn candidates(&self, posed: &[DVec3], moves: &[bool]) -> Vec<u32> {
        let radius = SEARCH * self.mean_edge;
        let grid = VertexGrid::new(posed, radius);
        let moving: Vec<u32> = (0..posed.len() as u32)
            .filter(|&v| moves[v as usize])
            .collect();
        // Only moving vertices search; the vertices they meet are candidates, too.
        let met = parallel::map(moving.len(), VERTICES_PER_TASK, |k| {
            let mut met = grid.near(posed[moving[k] as usize]);
            met.retain(|&j| self.may_meet(moving[k], j, posed, radius));
            met
        });

        let mut candidates = Vec::new();
        for (&vertex, met) in moving.iter().zip(&met) {
            if !met.is_empty() {
                candidates.push(vertex);
                candidates.extend_from_slice(met);
            }
        }
        candidates.sort_unstable();
        candidates.dedup();
        candidates
    }

    /// Whether two vertices of one component come near each other in the pose.
    fn may_meet(&self, i: u32, j: u32, posed: &[DVec3], radius: f64) -> bool {
        let component_of = self.rest.topology().component_of_vertex();
        let (i, j) = (i as usize, j as usize);
        let gap = posed[i].distance(posed[j]);
        let rest_gap = self.rest.positions()[i].distance(self.rest.positions()[j]);
        component_of[i] == component_of[j] && gap <= radius && gap <= 2.0 * CLOSED * rest_gap
    }

    /// The pair of a vertex and its nearest contact, if the gap is closed.
    fn nearest(&self, vertex: u32, pose: &PosedSurface<'_>) -> Option<ContactPair> {
        let from = TracedPoint {
            component: self.rest.topology().component_of_vertex()[vertex as usize],
            rest: self.rest.positions()[vertex as usize],
            posed: pose.positions[vertex as usize],
        };
        let partner = self.contact_of(from, pose)?;
        let to = self.traced(partner, pose);
        let gap = to.posed - from.posed;
        // The test of triangles is by centroids; the exact gap decides.
        let is_closed = gap.length() <= CLOSED * (to.rest - from.rest).length();
        is_closed.then_some(ContactPair {
            vertex,
            partner,
            gap,
        })
    }

    fn traced(&self, point: TrianglePoint, pose: &PosedSurface<'_>) -> TracedPoint {
        let triangles = self.rest.triangles();
        TracedPoint {
            component: self.component_of(point.triangle),
            rest: point.position(triangles, self.rest.positions()),
            posed: point.position(triangles, pose.positions),
        }
    }

    /// The nearest point in the pose on a triangle of the same component that was far at rest.
    fn contact_of(&self, point: TracedPoint, pose: &PosedSurface<'_>) -> Option<TrianglePoint> {
        // Triangles out of reach are accepted only to end the search early.
        let closest = pose.index.closest_point_where(point.posed, |t| {
            self.is_contact(t, point, pose) || self.is_out_of_reach(t, point, pose)
        })?;
        let place = closest.place;
        self.is_contact(place.triangle, point, pose)
            .then_some(place)
    }

    fn is_contact(&self, t: u32, point: TracedPoint, pose: &PosedSurface<'_>) -> bool {
        let corners = self.rest.triangles()[t as usize];
        let centroid = |positions: &[DVec3]| {
            let corners = corners.map(|v| positions[v as usize]);
            corners.into_iter().sum::<DVec3>() / 3.0
        };
        self.component_of(t) == point.component
            && centroid(pose.positions).distance(point.posed)
                <= 2.0 * CLOSED * centroid(self.rest.positions()).distance(point.rest)
    }

    fn is_out_of_reach(&self, t: u32, point: TracedPoint, pose: &PosedSurface<'_>) -> bool {
        let reach = 2.0 * SEARCH * self.mean_edge;
        let corners = self.rest.triangles()[t as usize];
        corners
            .iter()
            .all(|&v| pose.positions[v as usize].distance(point.posed) > reach)
    }

    /// Whether nothing in contact with the partner is much nearer to it than the vertex.
    fn is_mutual(&self, pair: &ContactPair, pose: &PosedSurface<'_>) -> bool {
        let partner = self.traced(pair.partner, pose);
        match self.contact_of(partner, pose) {
            Some(back) => {
                let back = back.position(self.rest.triangles(), pose.positions);
                back.distance(partner.posed) >= MUTUAL * pair.gap.length()
            }
            None => true,
        }
    }

    fn between(&self, pair: &ContactPair) -> Between {
        let rest = self.rest.positions();
        let from = rest[pair.vertex as usize];
        let to = pair.partner.position(self.rest.triangles(), rest);
        let component = self.component_of(pair.partner.triangle);
        if self.is_crossed(from, to, component) {
            return Between::OtherSkin;
        }

        // The midpoint of compressed skin lies on the skin.
        let closest = self
            .index
            .closest_point_where(from.midpoint(to), |t| self.component_of(t) == component);
        let clearance = closest.map_or(f64::INFINITY, |closest| closest.distance);
        if clearance < CLEARANCE * from.distance(to) {
            Between::ConnectingSkin
        } else {
            Between::Air
        }
    }

    /// Whether a triangle of the component intersects the segment.
    fn is_crossed(&self, from: DVec3, to: DVec3, component: u32) -> bool {
        let length = from.distance(to);
        let end = (1.0 - SEGMENT_MARGIN) * length;
        let mut at = SEGMENT_MARGIN * length;
        while at < end {
            let direction = (to - from) / length;
            let start = from + direction * at;
            let Some(hit) = self.index.cast_ray(start, direction, end - at) else {
                return false;
            };
            if self.component_of(hit.place.triangle) == component {
                return true;
            }

            // Other components, such as the eyeball, are passed.
            at += hit.distance + SEGMENT_MARGIN * length;
        }
        false
    }

    fn component_of(&self, triangle: u32) -> u32 {
        let corner = self.rest.triangles()[triangle as usize][0];
        self.rest.topology().component_of_vertex()[corner as usize]
    }
}

/// A uniform grid over vertices, as a sorted list of cells.
struct VertexGrid {
    entries: Vec<([i64; 3], u32)>,
    cell_size: f64,
}

impl VertexGrid {
    fn new(positions: &[DVec3], cell_size: f64) -> Self {
        let mut grid = Self {
            entries: Vec::with_capacity(positions.len()),
            cell_size,
        };
        for (v, &position) in positions.iter().enumerate() {
            grid.entries.push((grid.cell(position), v as u32));
        }
        grid.entries.sort_unstable();
        grid
    }

    fn cell(&self, position: DVec3) -> [i64; 3] {
        (position / self.cell_size).floor().as_i64vec3().to_array()
    }

    /// The vertices in the cell of a position and in the cells around it.
    fn near(&self, position: DVec3) -> Vec<u32> {
        let [x, y, z] = self.cell(position);
        let mut near = Vec::new();
        for a in -1..=1 {
            for b in -1..=1 {
                for c in -1..=1 {
                    for &(_, v) in self.in_cell([x + a, y + b, z + c]) {
                        near.push(v);
                    }
                }
            }
        }
        near
    }

    fn in_cell(&self, cell: [i64; 3]) -> &[([i64; 3], u32)] {
        let first = self.entries.partition_point(|(c, _)| *c < cell);
        let count = self.entries[first..].partition_point(|(c, _)| *c == cell);
        &self.entries[first..first + count]
    }
}
