//! Which vertices of a cage carry a vertex of the full mesh, and by how much.
//!
//! **Problem.** Every vertex follows a few vertices of the cage around it. Shares must vary
//! smoothly over the surface, or the triangles of the cage show; and a finger must not follow its
//! neighbour.
//!
//! **Equation.** With the distance `d` in space and the distance `g` along edges between vertex `i`
//! and cage vertex `j`, both root mean squares over the shapes, and the reach `ρⱼ` of the cage
//! vertex,
//!
//! ```text
//! wᵢⱼ ∝ (1 − (d/ρⱼ)²)³₊ · c(g/ρⱼ)        Σⱼ wᵢⱼ = 1
//! ```
//!
//! where `c` falls from one to zero between [`NEAR_PATH`] and [`FAR_PATH`].
//!
//! **Ours.** Distances in space are smooth but do not see gaps, those along edges see gaps but are
//! jagged; so the first give the shares, and the second only bar who is far around. No shape is
//! special in either.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use pliant_linalg::parallel;
use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;

use super::Welded;

/// The reach of a cage vertex in lengths of its longest edge. Ours: more than the 0.58 within which
/// all of an even triangle has a corner, so that about a dozen of them share in a vertex.
const REACH: f64 = 1.2;
/// Paths along edges up to this many reaches are no detour: edges zigzag by a fifth or two.
const NEAR_PATH: f64 = 1.6;
/// Paths along edges from this many reaches on are one.
const FAR_PATH: f64 = 2.4;
/// Cage vertices in one parallel task, which has a list over all vertices of its own.
const GRAIN: usize = 64;

/// Shares of cage vertices in the vertices of a mesh.
#[derive(Debug, Clone)]
pub(crate) struct Binding {
    starts: Vec<usize>,
    shares: Vec<(u32, f64)>,
    /// The vertex whose shares a vertex has: its own, or those of its twin.
    row_of: Vec<u32>,
    /// The cage vertex at each vertex.
    node_at: Vec<Option<u32>>,
}

impl Binding {
    /// Binds the vertices of `welded` to a cage over its vertices `sources`.
    pub(super) fn new(
        welded: &Welded,
        cage: &Mesh,
        sources: &[u32],
        fallback: impl Fn(usize) -> Vec<(u32, f64)>,
    ) -> Self {
        let reaches = reaches(welded, cage, sources);
        let chunks = sources.len().div_ceil(GRAIN);
        let found = parallel::map(chunks, 1, |chunk| {
            let nodes = chunk * GRAIN..sources.len().min((chunk + 1) * GRAIN);
            let mut walk = Walk::new(welded);
            nodes
                .map(|node| walk.shares(sources[node], reaches[node]))
                .collect::<Vec<_>>()
        });
        let mut rows: Vec<Vec<(u32, f64)>> = vec![Vec::new(); welded.twins.len()];
        for (node, shares) in found.into_iter().flatten().enumerate() {
            for (vertex, share) in shares {
                rows[vertex as usize].push((node as u32, share));
            }
        }
        let mut node_at = vec![None; rows.len()];
        sources
            .iter()
            .enumerate()
            .for_each(|(node, &v)| node_at[v as usize] = Some(node as u32));
        for vertex in 0..rows.len() {
            if rows[vertex].is_empty() && welded.is_used(vertex) {
                rows[vertex] = fallback(vertex);
            }
            let sum: f64 = rows[vertex].iter().map(|(_, share)| share).sum();
            rows[vertex].iter_mut().for_each(|(_, share)| *share /= sum);
            node_at[vertex] = node_at[welded.twins[vertex] as usize];
        }
        let starts = std::iter::once(0)
            .chain(rows.iter().scan(0, |end, row| {
                *end += row.len();
                Some(*end)
            }))
            .collect();
        Self {
            starts,
            shares: rows.concat(),
            row_of: welded.twins.clone(),
            node_at,
        }
    }

    /// The cage vertices that carry a vertex, and their shares, which sum to one; none for a vertex
    /// without a triangle.
    pub(crate) fn row(&self, vertex: usize) -> &[(u32, f64)] {
        let row = self.row_of[vertex] as usize;
        &self.shares[self.starts[row]..self.starts[row + 1]]
    }

    /// The cage vertex that lies at a vertex.
    pub(crate) fn node_at(&self, vertex: usize) -> Option<usize> {
        self.node_at[vertex].map(|node| node as usize)
    }

    /// The cage vertex with the largest share in a vertex.
    pub(crate) fn main_node(&self, vertex: usize) -> Option<usize> {
        self.row(vertex)
            .iter()
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(node, _)| *node as usize)
    }

    /// For each of so many cage vertices the mean of a map over the vertices that it carries.
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

/// How far each cage vertex reaches.
fn reaches(welded: &Welded, cage: &Mesh, sources: &[u32]) -> Vec<f64> {
    let mut longest = vec![0.0_f64; sources.len()];
    for &[a, b] in cage.topology().edges() {
        let length = welded.distance(sources[a as usize], sources[b as usize]);
        for end in [a, b] {
            longest[end as usize] = longest[end as usize].max(length);
        }
    }
    longest.iter().map(|length| REACH * length).collect()
}

/// A search along edges from one vertex after another.
struct Walk<'a> {
    welded: &'a Welded,
    /// Length of the shortest path found; infinite where none is.
    paths: Vec<f64>,
    seen: Vec<u32>,
}

impl<'a> Walk<'a> {
    fn new(welded: &'a Welded) -> Self {
        Self {
            welded,
            paths: vec![f64::INFINITY; welded.twins.len()],
            seen: Vec::new(),
        }
    }

    /// The vertices that a cage vertex carries, ascending, with weights that are not yet shares.
    fn shares(&mut self, source: u32, reach: f64) -> Vec<(u32, f64)> {
        self.spread(source, FAR_PATH * reach);
        let weight = |&v: &u32| {
            (
                v,
                kernel(self.welded.distance(source, v) / reach)
                    * detour(self.paths[v as usize] / reach),
            )
        };
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

    /// Dijkstra's search up to `limit`.
    fn spread(&mut self, source: u32, limit: f64) {
        // The bits of floating-point numbers without sign ascend with them.
        let mut queue = BinaryHeap::from([Reverse((0_u64, source))]);
        self.paths[source as usize] = 0.0;
        self.seen.push(source);
        while let Some(Reverse((bits, vertex))) = queue.pop() {
            let path = f64::from_bits(bits);
            if path > self.paths[vertex as usize] {
                continue;
            }
            for &other in self
                .welded
                .surface
                .topology()
                .vertex_neighbors()
                .row(vertex as usize)
            {
                let longer = path + self.welded.distance(vertex, other);
                let known = &mut self.paths[other as usize];
                if longer < *known && longer <= limit {
                    if known.is_infinite() {
                        self.seen.push(other);
                    }
                    *known = longer;
                    queue.push(Reverse((longer.to_bits(), other)));
                }
            }
        }
    }
}

/// One at the cage vertex itself, zero from its reach on, smooth between.
fn kernel(t: f64) -> f64 {
    (1.0 - t * t).max(0.0).powi(3)
}

/// One for direct ways, zero for detours, smooth between.
fn detour(path: f64) -> f64 {
    let t = ((FAR_PATH - path) / (FAR_PATH - NEAR_PATH)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Root mean square over the shapes of the distance between two vertices.
pub(super) fn distance(shapes: &[Vec<DVec3>], a: u32, b: u32) -> f64 {
    let sum: f64 = shapes
        .iter()
        .map(|shape| shape[a as usize].distance_squared(shape[b as usize]))
        .sum();
    (sum / shapes.len() as f64).sqrt()
}
