//! Binding of the vertices of the full mesh to cage vertices.
//!
//! **Problem.** Every vertex follows a few cage vertices around it. The weights must vary smoothly
//! over the surface, or the triangles of the cage become visible; and a finger must not follow its
//! neighbour.
//!
//! **Equation.** With the Euclidean distance `d` and the distance `g` along edges between vertex
//! `i` and cage vertex `j`, both root mean squares over the shapes, and the reach `ρⱼ` of the cage
//! vertex,
//!
//! ```text
//! wᵢⱼ ∝ (1 − (d/ρⱼ)²)³₊ · c(g/ρⱼ) · o((g − 1.5 d)/ρⱼ)        Σⱼ wᵢⱼ = 1
//! ```
//!
//! where `c` falls from one to zero between [`NEAR_PATH`] and [`FAR_PATH`], and `o` between
//! [`NO_OPENING`] and [`OPENING`]: a path around an opening, such as a mouth, is much longer than the
//! straight way across it, however coarse the cage is.
//!
//! **Departures.** Euclidean distances are smooth but ignore gaps, those along edges respect gaps
//! but are not smooth; so the first give the weights, and the second only exclude distant parts.
//! Both are independent of the order of the shapes.

use pliant_linalg::{parallel, smoothstep};
use pliant_mesh::glam::DVec3;
use pliant_mesh::{Mesh, lower_edge_distances};

use super::WeldedShapes;

/// The reach of a cage vertex in lengths of its longest edge. Chosen: more than the 0.58 that
/// covers an equilateral triangle, so that about a dozen cage vertices contribute to a vertex.
const REACH: f64 = 1.2;
/// Paths along edges up to this many reaches are direct: edges zigzag by a fifth or two.
const NEAR_PATH: f64 = 1.6;
/// Paths along edges from this many reaches on are detours.
const FAR_PATH: f64 = 2.4;
/// The zigzag of direct paths along edges, relative to the straight distance.
const ZIGZAG: f64 = 1.5;
/// Paths that are longer than the zigzag by up to this many reaches are on one side of an opening.
const NO_OPENING: f64 = 0.3;
/// Paths that are longer than the zigzag by this many reaches go around an opening.
const OPENING: f64 = 0.7;
/// Cage vertices in one parallel task, which needs a list over all vertices.
const GRAIN: usize = 64;

/// Weights of cage vertices for the vertices of a mesh.
#[derive(Debug, Clone)]
pub(crate) struct Binding {
    starts: Vec<usize>,
    shares: Vec<(u32, f64)>,
    /// The vertex whose weights a vertex has: its own, or those of its twin.
    row_of: Vec<u32>,
    /// The cage vertex at each vertex.
    node_at: Vec<Option<u32>>,
}

impl Binding {
    /// Binds the vertices of `welded` to a cage over its vertices `sources`.
    pub(super) fn new(
        welded: &WeldedShapes,
        cage: &Mesh,
        sources: &[u32],
        fallback: impl Fn(usize) -> Vec<(u32, f64)>,
    ) -> Self {
        let reaches = reaches(welded, cage, sources);
        let chunks = sources.len().div_ceil(GRAIN);
        let found = parallel::map(chunks, 1, |chunk| {
            // One search structure per task.
            let nodes = chunk * GRAIN..sources.len().min((chunk + 1) * GRAIN);
            let mut distances = EdgeDistances::new(welded);
            nodes
                .map(|node| distances.shares(sources[node], reaches[node]))
                .collect::<Vec<_>>()
        });

        // From columns by cage vertex to rows by vertex.
        let mut rows: Vec<Vec<(u32, f64)>> = vec![Vec::new(); welded.twins.len()];
        for (node, shares) in found.into_iter().flatten().enumerate() {
            for (vertex, share) in shares {
                rows[vertex as usize].push((node as u32, share));
            }
        }

        let mut node_at = vec![None; rows.len()];
        for (node, &v) in sources.iter().enumerate() {
            node_at[v as usize] = Some(node as u32);
        }

        for vertex in 0..rows.len() {
            if rows[vertex].is_empty() && welded.is_used(vertex) {
                rows[vertex] = fallback(vertex);
            }
            let sum: f64 = rows[vertex].iter().map(|(_, share)| share).sum();
            for (_, share) in &mut rows[vertex] {
                *share /= sum;
            }
            node_at[vertex] = node_at[welded.twins[vertex] as usize];
        }

        let mut starts = Vec::with_capacity(rows.len() + 1);
        let mut end = 0;
        starts.push(end);
        for row in &rows {
            end += row.len();
            starts.push(end);
        }

        Self {
            starts,
            shares: rows.concat(),
            row_of: welded.twins.clone(),
            node_at,
        }
    }

    /// The cage vertices that a vertex follows, and their weights, which sum to one; none for a
    /// vertex without a triangle.
    pub(crate) fn row(&self, vertex: usize) -> &[(u32, f64)] {
        let row = self.row_of[vertex] as usize;
        &self.shares[self.starts[row]..self.starts[row + 1]]
    }

    /// The cage vertex at the position of a vertex.
    pub(crate) fn node_at(&self, vertex: usize) -> Option<usize> {
        self.node_at[vertex].map(|node| node as usize)
    }

    /// The cage vertex with the largest weight for a vertex.
    pub(crate) fn main_node(&self, vertex: usize) -> Option<usize> {
        self.row(vertex)
            .iter()
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(node, _)| *node as usize)
    }

    /// For each cage vertex the mean of a map over the vertices that follow it.
    pub(crate) fn gather(&self, map: &[f64], nodes: usize) -> Vec<f64> {
        let mut sums = vec![(0.0, 0.0); nodes];
        for (vertex, &value) in map.iter().enumerate() {
            for &(node, share) in self.row(vertex) {
                let (sum, total) = &mut sums[node as usize];
                *sum += share * value;
                *total += share;
            }
        }

        sums.iter()
            .map(|&(sum, total)| if total > 0.0 { sum / total } else { 1.0 })
            .collect()
    }
}

/// The reach of each cage vertex.
fn reaches(welded: &WeldedShapes, cage: &Mesh, sources: &[u32]) -> Vec<f64> {
    let mut longest = vec![0.0_f64; sources.len()];
    for &[a, b] in cage.topology().edges() {
        let length = welded.distance(sources[a as usize], sources[b as usize]);
        for end in [a, b] {
            longest[end as usize] = longest[end as usize].max(length);
        }
    }
    longest.iter().map(|length| REACH * length).collect()
}

/// Distances along edges from one vertex after another (Dijkstra).
struct EdgeDistances<'a> {
    welded: &'a WeldedShapes,
    /// Length of the shortest known path; infinite where there is none.
    paths: Vec<f64>,
    seen: Vec<u32>,
}

impl<'a> EdgeDistances<'a> {
    fn new(welded: &'a WeldedShapes) -> Self {
        Self {
            welded,
            paths: vec![f64::INFINITY; welded.twins.len()],
            seen: Vec::new(),
        }
    }

    /// The vertices that follow a cage vertex, ascending, with weights that are not yet normalised.
    fn shares(&mut self, source: u32, reach: f64) -> Vec<(u32, f64)> {
        self.spread(source, FAR_PATH * reach);
        let weight = |&v: &u32| {
            let straight = self.welded.distance(source, v);
            let path = self.paths[v as usize];
            let is_direct = detour(path / reach) * opening((path - ZIGZAG * straight) / reach);
            (v, kernel(straight / reach) * is_direct)
        };

        // Ascending vertices: the result does not depend on the search.
        let mut shares: Vec<(u32, f64)> = self
            .seen
            .iter()
            .map(weight)
            .filter(|(_, weight)| *weight > 0.0)
            .collect();

        shares.sort_unstable_by_key(|(vertex, _)| *vertex);
        for vertex in self.seen.drain(..) {
            self.paths[vertex as usize] = f64::INFINITY;
        }

        shares
    }

    /// Distances from `source` along edges, up to `limit`.
    fn spread(&mut self, source: u32, limit: f64) {
        let welded = self.welded;
        let neighbors = welded.surface.topology().vertex_neighbors();
        let edges = |vertex: u32| {
            let row = neighbors.row(vertex as usize);
            row.iter()
                .map(move |&other| (other, welded.distance(vertex, other)))
        };

        let seen = &mut self.seen;
        lower_edge_distances(source, limit, &mut self.paths, edges, |v| seen.push(v));
    }
}

/// One at the cage vertex, zero from its reach on, smooth between.
fn kernel(t: f64) -> f64 {
    (1.0 - t * t).max(0.0).powi(3)
}

/// One for direct paths, zero for detours, smooth between.
fn detour(path: f64) -> f64 {
    let t = ((FAR_PATH - path) / (FAR_PATH - NEAR_PATH)).clamp(0.0, 1.0);
    smoothstep(t)
}

/// One on one side of an opening, zero across it, smooth between.
fn opening(excess: f64) -> f64 {
    let t = ((OPENING - excess) / (OPENING - NO_OPENING)).clamp(0.0, 1.0);
    smoothstep(t)
}

/// Root mean square over the shapes of the distance between two vertices.
pub(super) fn distance(shapes: &[Vec<DVec3>], a: u32, b: u32) -> f64 {
    let sum: f64 = shapes
        .iter()
        .map(|shape| shape[a as usize].distance_squared(shape[b as usize]))
        .sum();
    (sum / shapes.len() as f64).sqrt()
}
