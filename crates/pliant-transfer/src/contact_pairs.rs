//! Places of a surface that a shape brings together: lids that close, lips that meet.
//!
//! **Problem.** A blink is closed or it is nothing; after a transfer a gap of a millimetre shows. Which places have to meet is not
//! written in a rig, so it is read from the shapes.
//!
//! **Rule.** A vertex `i` and a point `q` of the same shell are a pair of a pose when, with the gap `G` at rest and `g` in the pose,
//!
//! ```text
//! g ≤ ¼ G    and    the way from i to q along the surface at rest is longer than 1.2 G
//! ```
//!
//! The first says that they met; the second that they met through the air: points of one stretch of skin that is squeezed have
//! a way along it no longer than `G`. Of all such points the one nearest in the pose is taken.
//!
//! **Ours.** All of it. Normals are not asked: at the rim of a lid they point anywhere.

use std::collections::BTreeMap;

use pliant_linalg::parallel;
use pliant_mesh::glam::DVec3;
use pliant_mesh::{ExactGeodesics, Mesh, MeshError, SurfaceIndex, SurfacePoint, TrianglePoint};

/// Gaps below this part of the gap at rest are closed. *Ours*: the margins of a lid of some thickness stay that far apart.
const CLOSED: f64 = 0.25;

/// How much longer the way along the surface is than the gap it leads around. *Ours*: it excludes skin that is squeezed, and
/// keeps all but the last corner of a lid.
const DETOUR: f64 = 1.2;

/// How far from a vertex its partner is looked for, in mean edges.
const SEARCH: f64 = 2.0;

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 256;

/// Two places that a pose brings together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ContactPair {
    pub(crate) vertex: u32,
    pub(crate) partner: TrianglePoint,
    /// From the vertex to its partner in the pose.
    pub(crate) gap: DVec3,
}

/// The surface at rest, ready to look for pairs in any of its poses.
#[derive(Debug, Clone)]
pub(crate) struct ContactFinder<'a> {
    rest: &'a Mesh,
    geodesics: ExactGeodesics,
    mean_edge: f64,
}

impl<'a> ContactFinder<'a> {
    pub(crate) fn new(rest: &'a Mesh) -> Result<Self, MeshError> {
        Ok(Self { rest, geodesics: ExactGeodesics::new(rest)?, mean_edge: rest.mean_edge_length() })
    }

    /// The pairs of the pose `posed`, by ascending vertex; `moved` tells which vertices it moves.
    pub(crate) fn pairs(&mut self, posed: &[DVec3], moved: &[bool]) -> Result<Vec<ContactPair>, MeshError> {
        let candidates = self.candidates(posed, moved);
        if candidates.is_empty() {
            return Ok(Vec::new());
        }
        let index = SurfaceIndex::new(&self.rest.posed(posed.to_vec())?)?;
        let found = parallel::map(candidates.len(), VERTICES_PER_TASK, |k| self.nearest(candidates[k], posed, &index));
        let mut pairs = Vec::new();
        for pair in found.into_iter().flatten() {
            if self.is_far_along_surface(&pair)? {
                pairs.push(pair);
            }
        }
        Ok(pairs)
    }

    /// Vertices with a moved one near by that was far at rest: few, so that what follows may cost.
    fn candidates(&self, posed: &[DVec3], moved: &[bool]) -> Vec<u32> {
        let radius = SEARCH * self.mean_edge;
        let cell = |p: DVec3| (p / radius).floor().as_i64vec3().to_array();
        let mut cells: BTreeMap<[i64; 3], Vec<u32>> = BTreeMap::new();
        let near_a_moved_one = self.near_moved(posed, moved, radius);
        for v in (0..posed.len()).filter(|&v| near_a_moved_one[v]) {
            cells.entry(cell(posed[v])).or_default().push(v as u32);
        }
        let rest = self.rest.positions();
        let shell = self.rest.topology().component_of_vertex();
        let meets = |i: usize, j: usize| {
            let (now, before) = (posed[i].distance(posed[j]), rest[i].distance(rest[j]));
            (moved[i] || moved[j]) && shell[i] == shell[j] && now <= radius && now <= 2.0 * CLOSED * before
        };
        let has_partner =
            |i: usize| around(cell(posed[i])).any(|c| cells.get(&c).is_some_and(|list| list.iter().any(|&j| meets(i, j as usize))));
        let members: Vec<u32> = cells.values().flatten().copied().collect();
        let flags = parallel::map(members.len(), VERTICES_PER_TASK, |k| has_partner(members[k] as usize));
        let mut candidates: Vec<u32> = members.iter().zip(flags).filter(|(_, partner)| *partner).map(|(&v, _)| v).collect();
        candidates.sort_unstable();
        candidates
    }

    /// For each vertex whether it is moved, or lies in the pose within two cells of one that is.
    fn near_moved(&self, posed: &[DVec3], moved: &[bool], radius: f64) -> Vec<bool> {
        let cell = |p: DVec3| (p / radius).floor().as_i64vec3().to_array();
        let occupied: std::collections::BTreeSet<[i64; 3]> =
            posed.iter().zip(moved).filter(|(_, moved)| **moved).flat_map(|(&p, _)| around(cell(p))).collect();
        posed.iter().map(|&p| occupied.contains(&cell(p))).collect()
    }

    /// The nearest point that was far at rest.
    fn nearest(&self, vertex: u32, posed: &[DVec3], index: &SurfaceIndex) -> Option<ContactPair> {
        let (rest, triangles) = (self.rest.positions(), self.rest.triangles());
        let shell = self.rest.topology().component_of_vertex();
        let (here, before) = (posed[vertex as usize], rest[vertex as usize]);
        let met = |t: u32| {
            let corners = triangles[t as usize];
            let mean = |points: &[DVec3]| corners.iter().map(|&v| points[v as usize]).sum::<DVec3>() / 3.0;
            shell[corners[0] as usize] == shell[vertex as usize]
                && !corners.contains(&vertex)
                && mean(posed).distance(here) <= 2.0 * CLOSED * mean(rest).distance(before)
        };
        // What is out of reach ends the search where nothing near was met.
        let out_of_reach = |t: u32| {
            let corners = triangles[t as usize];
            corners.iter().all(|&v| posed[v as usize].distance(here) > 2.0 * SEARCH * self.mean_edge)
        };
        let partner = index.closest_point_where(here, |t| met(t) || out_of_reach(t))?.place;
        if !met(partner.triangle) {
            return None;
        }
        let apart = partner.position(triangles, rest) - before;
        let gap = partner.position(triangles, posed) - here;
        (gap.length() <= CLOSED * apart.length()).then_some(ContactPair { vertex, partner, gap })
    }

    /// Distances are interpolated in the partner's triangle; corners out of reach count as just there.
    fn is_far_along_surface(&mut self, pair: &ContactPair) -> Result<bool, MeshError> {
        let (rest, triangles) = (self.rest.positions(), self.rest.triangles());
        let place = pair.partner.position(triangles, rest);
        let gap = place.distance(rest[pair.vertex as usize]);
        let corners = triangles[pair.partner.triangle as usize];
        let reach =
            corners.iter().map(|&v| rest[v as usize].distance(place)).fold(DETOUR * gap, |reach, side| reach.max(DETOUR * gap + side));
        let disc = self.geodesics.disc(&[SurfacePoint::Vertex(pair.vertex)], reach)?;
        let distance = |v: &u32| disc.vertices.binary_search(v).map_or(reach, |k| disc.distances[k]);
        let along: f64 = corners.iter().zip(pair.partner.barycentric).map(|(v, share)| share * distance(v)).sum();
        Ok(along > DETOUR * gap)
    }
}

/// A cell of a grid and those around it.
fn around([x, y, z]: [i64; 3]) -> impl Iterator<Item = [i64; 3]> {
    (-1..=1).flat_map(move |a| (-1..=1).flat_map(move |b| (-1..=1).map(move |c| [x + a, y + b, z + c])))
}
