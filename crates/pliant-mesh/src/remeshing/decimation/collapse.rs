//! Edge collapse, cheapest first, on a mesh that changes.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use glam::DVec3;
use pliant_linalg::parallel;

use super::quadric::Quadric;
use super::{DecimationBudget, DecimationOptions, VertexPlacement};
use crate::surface::measure::distinct_corners;
use crate::{Mesh, Progress, Stopped, Topology};

/// Weight of the plane that holds a boundary or seam edge, for a triangle's area of one edge length
/// squared. Chosen: a boundary bends before the inside is off by a tenth of that.
const BOUNDARY_WEIGHT: f64 = 100.0;

/// Pull of the edge's middle on the best place, relative to the planes' weight.
const RIDGE: f64 = 1e-6;

/// A new vertex further than this many edge lengths from its edge's middle is rejected.
const REACH: f64 = 2.0;

/// A triangle may not rotate by more than the angle with this cosine.
const LEAST_ROTATION_COSINE: f64 = 0.2;

/// Edges in one parallel task.
const EDGES_PER_TASK: usize = 2048;

/// Edges between two reports of progress, and attempts to collapse one. *Chosen*: some milliseconds.
const EDGES_PER_REPORT: usize = 16 * EDGES_PER_TASK;
const CANDIDATES_PER_REPORT: usize = 1024;

/// The name of the work in progress reports.
const STAGE: &str = "collapsing edges";

/// Marks a triangle that has collapsed.
const GONE: [u32; 3] = [u32::MAX; 3];

/// An edge that could collapse, as one number: the cost's bits as `f32`, both ends, and the sum of
/// the ends' versions, which grows with every change of either. The least number has the lowest
/// cost, then the lowest ends. A heap of plain numbers is the fastest one for a quarter of a
/// million edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate(u128);

impl Candidate {
    fn new(cost: f64, [a, b]: [u32; 2], stamp: u32) -> Self {
        // The bits of floating-point numbers without sign ascend with them.
        let cost = (cost as f32).to_bits();
        Self(u128::from(cost) << 96 | u128::from(a) << 64 | u128::from(b) << 32 | u128::from(stamp))
    }

    fn ends(self) -> [u32; 2] {
        [(self.0 >> 64) as u32, (self.0 >> 32) as u32]
    }

    fn stamp(self) -> u32 {
        self.0 as u32
    }
}

/// The result of collapsing an edge.
#[derive(Debug, Clone, Copy)]
struct Plan {
    keep: u32,
    gone: u32,
    point: DVec3,
    cost: f64,
}

/// Another pose of the surface. Its coarse vertices are original ones.
struct Pose {
    points: Vec<DVec3>,
    quadrics: Vec<Quadric>,
}

impl Pose {
    /// The quadric error of both vertices at the position of `keep`, and the length term of their
    /// edge.
    fn costs(&self, [keep, gone]: [usize; 2]) -> [f64; 2] {
        let mut quadric = self.quadrics[keep];
        quadric += self.quadrics[gone];
        let length = quadric.weight * self.points[keep].distance_squared(self.points[gone]);
        [quadric.at(self.points[keep]).max(0.0), length]
    }
}

/// A triangulation under collapse, in coordinates that fit the unit box.
pub(super) struct Collapser {
    pub(super) points: Vec<DVec3>,
    /// Corners of each triangle; all `u32::MAX` once it is gone.
    pub(super) triangles: Vec<[u32; 3]>,
    /// For each vertex the one it went into, or itself.
    pub(super) into: Vec<u32>,
    /// Whether a vertex has left its original place.
    pub(super) moved: Vec<bool>,
    quadrics: Vec<Quadric>,
    /// Poses that count as much as the mesh itself.
    others: Vec<Pose>,
    around: Vec<Vec<u32>>,
    /// On an edge with another number of triangles than two.
    rim: Vec<bool>,
    /// Not a manifold there, or to be kept: the vertex stays where it is.
    locked: Vec<bool>,
    versions: Vec<u32>,
    heap: BinaryHeap<Reverse<Candidate>>,
    placement: VertexPlacement,
    evenness: f64,
    marks: Vec<u32>,
    mark: u32,
    vertex_count: usize,
    triangle_count: usize,
}

impl Collapser {
    /// The proper triangles of `mesh` with vertices at `points`, and at those of `others`.
    pub(super) fn new(
        mesh: &Mesh,
        points: Vec<DVec3>,
        others: Vec<Vec<DVec3>>,
        options: &DecimationOptions,
    ) -> Self {
        let topology = mesh.topology();
        let vertices = points.len();
        let (rim, mut locked) = (rim_vertices(topology), locked_vertices(topology));
        for &v in options.kept.iter() {
            locked[v as usize] = true;
        }

        // Triangles that repeat a vertex take no part.
        let quadrics = vertex_quadrics(mesh, &points);
        let triangles: Vec<[u32; 3]> = mesh
            .triangles()
            .iter()
            .map(|&t| if distinct_corners(t) { t } else { GONE })
            .collect();

        let around: Vec<Vec<u32>> = topology
            .vertex_triangles()
            .iter()
            .map(<[u32]>::to_vec)
            .collect();

        Self {
            vertex_count: around.iter().filter(|row| !row.is_empty()).count(),
            triangle_count: triangles.iter().filter(|t| **t != GONE).count(),
            others: others
                .into_iter()
                .map(|points| Pose {
                    quadrics: vertex_quadrics(mesh, &points),
                    points,
                })
                .collect(),
            points,
            triangles,
            into: (0..vertices as u32).collect(),
            moved: vec![false; vertices],
            quadrics,
            around,
            rim,
            locked,
            versions: vec![0; vertices],
            heap: BinaryHeap::new(),
            // With several poses a collapse must go to one of the two vertices, since no other
            // point exists in all.
            placement: if options.poses.is_empty() {
                options.placement
            } else {
                VertexPlacement::Subset
            },
            evenness: options.evenness,
            marks: vec![0; vertices],
            mark: 0,
        }
    }

    /// Whether `vertex` is still part of the surface.
    pub(super) fn lives(&self, vertex: usize) -> bool {
        !self.around[vertex].is_empty()
    }

    /// Collapses edges until the budget is met or none can collapse; returns whether it is met.
    pub(super) fn run(
        &mut self,
        budget: DecimationBudget,
        progress: &dyn Progress,
    ) -> Result<bool, Stopped> {
        let begin = self.excess(budget).max(1);
        loop {
            let before = self.vertex_count;
            let done = 1.0 - self.excess(budget) as f64 / begin as f64;
            self.fill_heap(done, progress)?;

            let mut tried = 0_usize;
            while !self.meets(budget) {
                if tried.is_multiple_of(CANDIDATES_PER_REPORT) {
                    let done = 1.0 - self.excess(budget) as f64 / begin as f64;
                    progress.proceed(STAGE, done)?;
                }
                tried += 1;
                let Some(Reverse(candidate)) = self.heap.pop() else {
                    break;
                };
                self.try_collapse(candidate);
            }

            // A rejected edge may be free after its surroundings changed, so the rest gets another
            // chance.
            if self.meets(budget) || self.vertex_count == before {
                return Ok(self.meets(budget));
            }
        }
    }

    fn meets(&self, budget: DecimationBudget) -> bool {
        self.excess(budget) == 0
    }

    /// The number of vertices or triangles above the budget.
    fn excess(&self, budget: DecimationBudget) -> usize {
        match budget {
            DecimationBudget::Vertices(limit) => self.vertex_count.saturating_sub(limit),
            DecimationBudget::Triangles(limit) => self.triangle_count.saturating_sub(limit),
        }
    }

    fn fill_heap(&mut self, done: f64, progress: &dyn Progress) -> Result<(), Stopped> {
        // All edges, without duplicates and in a fixed order.
        let mut edges: Vec<[u32; 2]> = Vec::with_capacity(2 * self.triangle_count);
        for &[a, b, c] in self.triangles.iter().filter(|t| **t != GONE) {
            edges.extend([[a, b], [b, c], [c, a]].map(|[i, j]| [i.min(j), i.max(j)]));
        }
        edges.sort_unstable();
        edges.dedup();

        let mut candidates = Vec::with_capacity(edges.len());
        for some in edges.chunks(EDGES_PER_REPORT) {
            progress.proceed(STAGE, done)?;
            let costs = parallel::map(some.len(), EDGES_PER_TASK, |k| self.candidate(some[k]));
            candidates.extend(costs.into_iter().flatten().map(Reverse));
        }
        self.heap = BinaryHeap::from(candidates);
        Ok(())
    }

    fn candidate(&self, ends: [u32; 2]) -> Option<Candidate> {
        let stamp = self.stamp(ends);
        self.plan(ends)
            .map(|plan| Candidate::new(plan.cost, ends, stamp))
    }

    fn stamp(&self, [a, b]: [u32; 2]) -> u32 {
        self.versions[a as usize].wrapping_add(self.versions[b as usize])
    }

    /// Which end stays and where it goes; `None` where neither may go.
    fn plan(&self, [a, b]: [u32; 2]) -> Option<Plan> {
        // The merged vertex has the planes of both ends.
        let (i, j) = (a as usize, b as usize);
        let (p, q) = (self.points[i], self.points[j]);
        let mut quadric = self.quadrics[i];
        quadric += self.quadrics[j];

        // A vertex of higher rank stays; between equals the quadric decides.
        let (keep, gone, point) = match self.rank(i).cmp(&self.rank(j)) {
            _ if self.locked[i] && self.locked[j] => return None,
            Ordering::Greater => (a, b, p),
            Ordering::Less => (b, a, q),
            Ordering::Equal => self.free_plan(&quadric, [a, b], [p, q]),
        };

        // Quadric error plus a small length term, summed over all poses.
        let elsewhere = self.costs_elsewhere([keep, gone]);
        let cost = quadric.at(point).max(0.0)
            + elsewhere[0]
            + self.evenness * (quadric.weight * p.distance_squared(q) + elsewhere[1]);

        Some(Plan {
            keep,
            gone,
            point,
            cost,
        })
    }

    /// The costs of [`Pose::costs`] over all other poses.
    fn costs_elsewhere(&self, [keep, gone]: [u32; 2]) -> [f64; 2] {
        let each = self
            .others
            .iter()
            .map(|pose| pose.costs([keep as usize, gone as usize]));
        each.fold([0.0; 2], |sum, costs| {
            [sum[0] + costs[0], sum[1] + costs[1]]
        })
    }

    /// The end of higher rank stays in place: non-manifold and kept vertices before boundaries,
    /// these before the inside.
    fn rank(&self, vertex: usize) -> u8 {
        if self.locked[vertex] {
            2
        } else {
            u8::from(self.rim[vertex])
        }
    }

    fn free_plan(
        &self,
        quadric: &Quadric,
        [a, b]: [u32; 2],
        [p, q]: [DVec3; 2],
    ) -> (u32, u32, DVec3) {
        let at_a = quadric.at(p) + self.costs_elsewhere([a, b])[0];
        let at_b = quadric.at(q) + self.costs_elsewhere([b, a])[0];
        let at_end = if at_b < at_a { (b, a, q) } else { (a, b, p) };
        if self.placement == VertexPlacement::Subset {
            return at_end;
        }

        // The best place is used unless an almost flat quadric puts it far away.
        let middle = (p + q) * 0.5;
        let best = quadric.minimizer(middle, RIDGE);
        if best.distance_squared(middle) > REACH * REACH * p.distance_squared(q) {
            return at_end;
        }

        // The nearer end keeps its index.
        if best.distance_squared(q) < best.distance_squared(p) {
            (b, a, best)
        } else {
            (a, b, best)
        }
    }

    fn try_collapse(&mut self, candidate: Candidate) {
        let alive = candidate.ends().iter().all(|&v| self.lives(v as usize));
        if !alive || candidate.stamp() != self.stamp(candidate.ends()) {
            return; // Outdated: a newer entry stands for this edge, or the edge is gone.
        }
        let Some(plan) = self.plan(candidate.ends()) else {
            return;
        };

        // The collapse must keep the topology and invert no triangle, around both ends.
        if self.keeps_topology(plan)
            && self.keeps_orientation(plan.gone, plan)
            && self.keeps_orientation(plan.keep, plan)
        {
            self.collapse(plan);
        }
    }

    /// The link condition. In addition, no boundary may touch itself, no component may vanish and
    /// no triangle may repeat another.
    fn keeps_topology(&mut self, Plan { keep, gone, .. }: Plan) -> bool {
        // The triangles on the edge, which will vanish, and their third vertices.
        let mut opposite = [u32::MAX; 2];
        let mut shared = 0;
        for &t in &self.around[gone as usize] {
            let corners = self.triangles[t as usize];
            if corners.contains(&keep) {
                if shared == 2 {
                    return false;
                }
                opposite[shared] = corners
                    .into_iter()
                    .find(|&v| v != keep && v != gone)
                    .unwrap_or(keep);
                shared += 1;
            }
        }

        // An inner edge between two boundary vertices would pinch the surface; any other common
        // neighbour would break the link condition.
        let pinches = shared == 2 && self.rim[keep as usize] && self.rim[gone as usize];
        if shared == 0 || pinches || self.common_neighbors(keep, gone) != shared {
            return false;
        }

        // Two triangles with the same corners: the collapse would close a tetrahedron to nothing.
        let closes = shared == 2
            && [keep, gone]
                .into_iter()
                .all(|v| self.has_triangle(v, opposite));

        !closes
            && opposite[..shared]
                .iter()
                .all(|&o| self.side_survives(keep, gone, o))
    }

    fn has_triangle(&self, vertex: u32, [a, b]: [u32; 2]) -> bool {
        self.around[vertex as usize].iter().any(|&t| {
            let corners = self.triangles[t as usize];
            corners.contains(&a) && corners.contains(&b)
        })
    }

    /// Whether the two sides that become one keep a triangle, and a non-manifold side all its
    /// triangles.
    fn side_survives(&self, keep: u32, gone: u32, opposite: u32) -> bool {
        let pages = |v: u32| {
            self.around[v as usize]
                .iter()
                .filter(|&&t| self.triangles[t as usize].contains(&opposite))
                .count()
        };
        let (kept, lost) = (pages(keep), pages(gone));
        kept + lost > 2 && (kept <= 2 || lost == 2)
    }

    fn common_neighbors(&mut self, keep: u32, gone: u32) -> usize {
        self.mark += 2; // Two fresh marks: neighbour of `keep`, and already counted.
        let (seen, counted) = (self.mark - 1, self.mark);

        // Mark the ring of `keep`, then count marked vertices in the ring of `gone`, each once.
        for &t in &self.around[keep as usize] {
            for v in self.triangles[t as usize].into_iter() {
                self.marks[v as usize] = seen;
            }
        }

        self.marks[keep as usize] = counted;
        self.marks[gone as usize] = counted;

        let mut common = 0;
        for &t in &self.around[gone as usize] {
            for v in self.triangles[t as usize] {
                if self.marks[v as usize] == seen {
                    self.marks[v as usize] = counted;
                    common += 1;
                }
            }
        }

        common
    }

    /// Whether no triangle around `vertex` is inverted or loses its area, in any pose, when the
    /// vertex goes to the plan's point.
    fn keeps_orientation(&self, vertex: u32, plan: Plan) -> bool {
        // The other poses move `gone` onto `keep`, so that `keep` itself stays there.
        let other = if vertex == plan.keep {
            plan.gone
        } else {
            plan.keep
        };

        let elsewhere = |pose: &Pose| {
            vertex == plan.keep
                || self.is_upright(&pose.points, vertex, other, pose.points[plan.keep as usize])
        };

        self.is_upright(&self.points, vertex, other, plan.point)
            && self.others.iter().all(elsewhere)
    }

    /// Whether the triangles around `vertex` that do not touch `other` keep their side when the
    /// vertex goes to `point`.
    fn is_upright(&self, points: &[DVec3], vertex: u32, other: u32, point: DVec3) -> bool {
        if points[vertex as usize] == point {
            return true;
        }

        let staying = self.around[vertex as usize]
            .iter()
            .map(|&t| self.triangles[t as usize])
            .filter(|t| !t.contains(&other));

        staying.into_iter().all(|corners| {
            let before = area_vector(corners.map(|v| points[v as usize]));
            let after = area_vector(corners.map(|v| {
                if v == vertex {
                    point
                } else {
                    points[v as usize]
                }
            }));

            let scale = before.length_squared() * after.length_squared();
            let cosine = before.dot(after);

            // A triangle that had no area has no side to keep.
            before == DVec3::ZERO
                || (cosine > 0.0
                    && cosine * cosine > LEAST_ROTATION_COSINE * LEAST_ROTATION_COSINE * scale)
        })
    }

    fn collapse(
        &mut self,
        Plan {
            keep, gone, point, ..
        }: Plan,
    ) {
        let (k, g) = (keep as usize, gone as usize);
        let lost = std::mem::take(&mut self.around[g]);

        // Triangles on the edge vanish; the others around `gone` now belong to `keep`.
        for &t in &lost {
            let corners = self.triangles[t as usize];
            if corners.contains(&keep) {
                for v in corners.into_iter().filter(|&v| v != gone) {
                    self.around[v as usize].retain(|&other| other != t);
                }
                self.triangles[t as usize] = GONE;
                self.triangle_count -= 1;
            } else {
                self.triangles[t as usize] = corners.map(|v| if v == gone { keep } else { v });
                self.around[k].push(t);
            }
        }

        // The merged vertex collects the planes of both.
        let quadric = self.quadrics[g];
        self.quadrics[k] += quadric;
        for pose in &mut self.others {
            let quadric = pose.quadrics[g];
            pose.quadrics[k] += quadric;
        }

        // Its new place, boundary flag and version, which outdates all queued edges at it.
        self.moved[k] |= self.points[k] != point;
        self.points[k] = point;
        self.rim[k] |= self.rim[g];
        self.into[g] = keep;
        self.versions[k] = self.versions[k].wrapping_add(1);
        self.vertex_count -= 1;
        self.push_edges(keep);
    }

    fn push_edges(&mut self, vertex: u32) {
        self.mark += 2;
        self.marks[vertex as usize] = self.mark;
        for k in 0..self.around[vertex as usize].len() {
            let t = self.around[vertex as usize][k];
            for other in self.triangles[t as usize] {
                if self.marks[other as usize] != self.mark {
                    self.marks[other as usize] = self.mark;
                    let candidate = self.candidate([vertex.min(other), vertex.max(other)]);
                    self.heap.extend(candidate.map(Reverse));
                }
            }
        }
    }
}

fn area_vector([a, b, c]: [DVec3; 3]) -> DVec3 {
    (b - a).cross(c - a)
}

fn rim_vertices(topology: &Topology) -> Vec<bool> {
    let mut rim = vec![false; topology.vertex_neighbors().len()];
    for (edge, ends) in topology.edges().iter().enumerate() {
        if topology.edge_triangles().row(edge).len() != 2 {
            for &v in ends.iter() {
                rim[v as usize] = true;
            }
        }
    }
    rim
}

/// Ends of non-manifold edges, and vertices where surfaces only touch.
fn locked_vertices(topology: &Topology) -> Vec<bool> {
    let mut locked = vec![false; topology.vertex_neighbors().len()];
    for &v in topology.non_manifold_vertices().iter() {
        locked[v as usize] = true;
    }

    for edge in topology.non_manifold_edges() {
        for &v in topology.edges()[edge].iter() {
            locked[v as usize] = true;
        }
    }

    locked
}

/// Planes of the triangles around each vertex, by area, and upright planes through boundary and
/// seam edges.
fn vertex_quadrics(mesh: &Mesh, points: &[DVec3]) -> Vec<Quadric> {
    let mut quadrics = vec![Quadric::default(); points.len()];
    let (topology, triangles) = (mesh.topology(), mesh.triangles());

    // Planes of triangles, weighted by area.
    for corners in triangles.iter().filter(|t| distinct_corners(**t)) {
        let doubled = area_vector(corners.map(|v| points[v as usize]));
        let plane = Quadric::of_plane(
            doubled.normalize_or_zero(),
            points[corners[0] as usize],
            0.5 * doubled.length(),
        );
        for &v in corners.iter() {
            quadrics[v as usize] += plane;
        }
    }

    // Boundary and seam edges get a plane upright on each of their triangles, which holds them in
    // place.
    for (edge, &[a, b]) in topology.edges().iter().enumerate() {
        let pages = topology.edge_triangles().row(edge);
        if pages.len() == 2 && !is_seam(mesh, [pages[0], pages[1]]) {
            continue;
        }

        let along = points[b as usize] - points[a as usize];
        for &t in pages {
            let normal = area_vector(triangles[t as usize].map(|v| points[v as usize]));
            let upright = along.cross(normal).normalize_or_zero();
            let wall = Quadric::of_plane(
                upright,
                points[a as usize],
                BOUNDARY_WEIGHT * along.length_squared(),
            );

            quadrics[a as usize] += wall;
            quadrics[b as usize] += wall;
        }
    }

    quadrics
}

/// Whether two triangles belong to different groups or materials.
fn is_seam(mesh: &Mesh, pages: [u32; 2]) -> bool {
    let [s, t] = pages.map(|t| mesh.triangle_faces()[t as usize] as usize);
    let labels = [mesh.groups(), mesh.materials()];
    s != t
        && labels
            .iter()
            .any(|labels| labels.of_face.get(s) != labels.of_face.get(t))
}
