//! Places of a surface that a shape brings together: lids that close, lips that meet.
//!
//! **Problem.** A blink is closed or it is nothing; after a transfer a gap of a millimetre shows.
//! Which places have to meet is not written in a rig, so it is read from the shapes.
//!
//! **Rule.** A vertex `i` and a point `q` of the same shell are a pair of a pose when, with the gap
//! `G` at rest and `g` in the pose,
//!
//! ```text
//! g ≤ ¼ G        nothing that met q is nearer to it than ½ g        the middle of i and q at rest is farther than ¼ G from the skin
//! ```
//!
//! The first says that they met; of all such points `q` is the one nearest in the pose. The second
//! leaves out what only lies behind a margin that met. The third says that they met through the
//! air: the middle of skin that is squeezed lies on the skin.
//!
//! **Ours.** All of it. Normals are not asked: at the rim of a lid they point anywhere. A pose most
//! of whose pairs have skin between them at rest has run through itself, as `mouthClose` does
//! without an open jaw, and closes nothing.

use pliant_linalg::parallel;
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, MeshError, SurfaceIndex, TrianglePoint};

/// Gaps below this part of the gap at rest are closed. *Ours*: the margins of a lid of some
/// thickness stay that far apart.
const CLOSED: f64 = 0.25;

/// A partner that has met something nearer than this part of the gap is that one's.
const MUTUAL: f64 = 0.5;

/// How far from the skin the middle of a pair is at rest, as a part of their gap; it is at most a
/// half. *Ours*: it excludes skin that is squeezed, and keeps all but the last corner of a lid.
const CLEARANCE: f64 = 0.25;

/// The part of the way between two places that is looked at for skin, from either end: the ends
/// themselves lie on it.
const ENDS: f64 = 0.05;

/// How far from a vertex its partner is looked for, in mean edges.
const SEARCH: f64 = 2.0;

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 64;

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
    index: SurfaceIndex,
    mean_edge: f64,
}

/// The surface in a pose.
struct Pose<'a> {
    points: &'a [DVec3],
    index: SurfaceIndex,
}

/// What lies between the places of a pair at rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Between {
    Air,
    /// The skin that joins them.
    Along,
    /// Skin across the way.
    Across,
}

impl<'a> ContactFinder<'a> {
    pub(crate) fn new(rest: &'a Mesh) -> Result<Self, MeshError> {
        Ok(Self {
            rest,
            index: SurfaceIndex::new(rest)?,
            mean_edge: rest.mean_edge_length(),
        })
    }

    /// The pairs of the pose `posed`, by ascending vertex; `moved` tells which vertices it moves.
    pub(crate) fn pairs(
        &self,
        posed: &[DVec3],
        moved: &[bool],
    ) -> Result<Vec<ContactPair>, MeshError> {
        let candidates = self.candidates(posed, moved);
        if candidates.is_empty() {
            return Ok(Vec::new());
        }
        let pose = Pose {
            points: posed,
            index: SurfaceIndex::new(&self.rest.posed(posed.to_vec())?)?,
        };
        let found = parallel::map(candidates.len(), VERTICES_PER_TASK, |k| {
            let pair = self
                .nearest(candidates[k], &pose)
                .filter(|pair| self.is_mutual(pair, &pose))?;
            Some((pair, self.between(&pair)))
        });
        let count = |what: Between| {
            found
                .iter()
                .flatten()
                .filter(|(_, between)| *between == what)
                .count()
        };
        if count(Between::Across) > count(Between::Air) {
            return Ok(Vec::new());
        }
        Ok(found
            .into_iter()
            .flatten()
            .filter(|(_, between)| *between == Between::Air)
            .map(|(pair, _)| pair)
            .collect())
    }

    /// Vertices with one near by that was far at rest, one of the two moved: few, so that what
    /// follows may cost.
    fn candidates(&self, posed: &[DVec3], moved: &[bool]) -> Vec<u32> {
        let radius = SEARCH * self.mean_edge;
        let cell = |p: DVec3| (p / radius).floor().as_i64vec3().to_array();
        let mut grid: Vec<([i64; 3], u32)> = posed
            .iter()
            .enumerate()
            .map(|(v, &p)| (cell(p), v as u32))
            .collect();
        grid.sort_unstable();
        let (rest, shell) = (
            self.rest.positions(),
            self.rest.topology().component_of_vertex(),
        );
        let meets = |i: usize, j: usize| {
            let (now, before) = (posed[i].distance(posed[j]), rest[i].distance(rest[j]));
            shell[i] == shell[j] && now <= radius && now <= 2.0 * CLOSED * before
        };
        let moving: Vec<usize> = (0..posed.len()).filter(|&v| moved[v]).collect();
        let met = parallel::map(moving.len(), VERTICES_PER_TASK, |k| {
            let near = around(cell(posed[moving[k]]))
                .flat_map(|c| in_cell(&grid, c))
                .map(|&(_, j)| j);
            near.filter(|&j| meets(moving[k], j as usize))
                .collect::<Vec<u32>>()
        });
        let mut candidates: Vec<u32> = met.iter().flatten().copied().collect();
        candidates.extend(
            moving
                .iter()
                .zip(&met)
                .filter(|(_, met)| !met.is_empty())
                .map(|(&v, _)| v as u32),
        );
        candidates.sort_unstable();
        candidates.dedup();
        candidates
    }

    fn nearest(&self, vertex: u32, pose: &Pose<'_>) -> Option<ContactPair> {
        let (rest, triangles) = (self.rest.positions(), self.rest.triangles());
        let (here, before) = (pose.points[vertex as usize], rest[vertex as usize]);
        let partner = self.met_by(
            here,
            before,
            self.rest.topology().component_of_vertex()[vertex as usize],
            pose,
        )?;
        let apart = partner.position(triangles, rest) - before;
        let gap = partner.position(triangles, pose.points) - here;
        (gap.length() <= CLOSED * apart.length()).then_some(ContactPair {
            vertex,
            partner,
            gap,
        })
    }

    /// The point of the shell nearest to `here` in the pose that was far from `before` at rest.
    fn met_by(
        &self,
        here: DVec3,
        before: DVec3,
        shell: u32,
        pose: &Pose<'_>,
    ) -> Option<TrianglePoint> {
        let (rest, triangles) = (self.rest.positions(), self.rest.triangles());
        let met = |t: u32| {
            let corners = triangles[t as usize];
            let mean =
                |points: &[DVec3]| corners.iter().map(|&v| points[v as usize]).sum::<DVec3>() / 3.0;
            self.shell_of(t) == shell
                && mean(pose.points).distance(here) <= 2.0 * CLOSED * mean(rest).distance(before)
        };
        // What is out of reach ends the search where nothing near was met.
        let out_of_reach = |t: u32| {
            let corners = triangles[t as usize];
            corners
                .iter()
                .all(|&v| pose.points[v as usize].distance(here) > 2.0 * SEARCH * self.mean_edge)
        };
        let partner = pose
            .index
            .closest_point_where(here, |t| met(t) || out_of_reach(t))?
            .place;
        met(partner.triangle).then_some(partner)
    }

    fn is_mutual(&self, pair: &ContactPair, pose: &Pose<'_>) -> bool {
        let (rest, triangles) = (self.rest.positions(), self.rest.triangles());
        let (here, before) = (
            pair.partner.position(triangles, pose.points),
            pair.partner.position(triangles, rest),
        );
        let back = self.met_by(here, before, self.shell_of(pair.partner.triangle), pose);
        back.is_none_or(|back| {
            back.position(triangles, pose.points).distance(here) >= MUTUAL * pair.gap.length()
        })
    }

    fn between(&self, pair: &ContactPair) -> Between {
        let (rest, shell) = (self.rest.positions(), self.shell_of(pair.partner.triangle));
        let (from, to) = (
            rest[pair.vertex as usize],
            pair.partner.position(self.rest.triangles(), rest),
        );
        let own = |t: u32| self.shell_of(t) == shell;
        let clear = self
            .index
            .closest_point_where(from.midpoint(to), own)
            .map_or(f64::INFINITY, |closest| closest.distance);
        if self.is_crossed(from, to, own) {
            Between::Across
        } else if clear < CLEARANCE * from.distance(to) {
            Between::Along
        } else {
            Between::Air
        }
    }

    /// Whether a triangle that `own` takes lies across the way.
    fn is_crossed(&self, from: DVec3, to: DVec3, own: impl Fn(u32) -> bool) -> bool {
        let length = from.distance(to);
        let (mut at, end) = (ENDS * length, (1.0 - ENDS) * length);
        while at < end {
            let along = (to - from) / length;
            let Some(hit) = self.index.cast_ray(from + along * at, along, end - at) else {
                return false;
            };
            if own(hit.place.triangle) {
                return true;
            }
            // Other shells, such as the ball of the eye, are passed.
            at += hit.distance + ENDS * length;
        }
        false
    }

    fn shell_of(&self, triangle: u32) -> u32 {
        self.rest.topology().component_of_vertex()
            [self.rest.triangles()[triangle as usize][0] as usize]
    }
}

/// A cell of a grid and those around it.
fn around([x, y, z]: [i64; 3]) -> impl Iterator<Item = [i64; 3]> {
    (-1..=1)
        .flat_map(move |a| (-1..=1).flat_map(move |b| (-1..=1).map(move |c| [x + a, y + b, z + c])))
}

/// The entries of a sorted grid that lie in a cell.
fn in_cell(grid: &[([i64; 3], u32)], cell: [i64; 3]) -> &[([i64; 3], u32)] {
    let first = grid.partition_point(|(c, _)| *c < cell);
    let count = grid[first..].partition_point(|(c, _)| *c == cell);
    &grid[first..first + count]
}
