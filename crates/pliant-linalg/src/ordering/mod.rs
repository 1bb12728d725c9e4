//! The order in which to eliminate unknowns: nested dissection.
//!
//! **Problem.** Eliminating an unknown joins all its remaining neighbours. The order
//! decides how many entries the factor of a sparse symmetric matrix has.
//!
//! **Method.** A small set of vertices that cuts the graph in two halves is eliminated
//! last, the halves before it in the same manner. Each cut is found on a small copy of
//! the graph, made by contracting heavy matchings, and refined on the way back. What is
//! left below [`LEAF_VERTICES`] is ordered by minimum degree, where the neighbours
//! in the cuts around count too. Where vertices have places in space, a cut starts from the plane
//! that halves them across their longest extent instead, which takes half the time.
//!
//! **Source.** George, "Nested dissection of a regular finite element mesh", SINUM 1973;
//! Karypis & Kumar, "A fast and high quality multilevel scheme for partitioning irregular
//! graphs", SISC 1998; Ashcraft, "Compressed graphs and the minimum degree algorithm",
//! SISC 1995.
//!
//! **Ours.** No random state is shared: every cut draws from a generator of its own with
//! a fixed seed, so both halves may be ordered at the same time and the order never changes. The first two
//! contractions are made once for the whole graph and serve all cuts, which halves the time.

mod coarsen;
mod graph;
mod minimum_degree;
mod plane;
mod separator;

pub(crate) use graph::{Compressed, Graph};

use glam::DVec3;

use crate::parallel;
use coarsen::{Clusters, contract};
use plane::bisect_by_plane;
use separator::{SEPARATOR, bisect};

/// Subgraphs up to this size are ordered by minimum degree. Measured: the fill hardly changes between 30 and 200, the time
/// of contractions makes larger leaves faster.
const LEAF_VERTICES: usize = 120;

/// The same where planes cut, which cost less than leaves do.
const LEAF_BETWEEN_PLANES: usize = 30;

/// Smaller subgraphs are not worth a task of their own.
const VERTICES_PER_TASK: usize = 1000;

/// A cut is useless when its smaller side has less than this part of the vertices.
const SMALLEST_SIDE: f64 = 0.02;

/// What the cuts of a graph start from.
enum Guide {
    /// Contractions of the graph.
    Clusters(Clusters),
    /// Where each vertex lies in space.
    Places(Vec<DVec3>),
}

impl Guide {
    fn of(graph: &Graph, places: Option<Vec<DVec3>>) -> Self {
        places.map_or_else(|| Self::Clusters(cluster_twice(graph)), Self::Places)
    }

    fn leaf_vertices(&self) -> usize {
        match self {
            Self::Clusters(_) => LEAF_VERTICES,
            Self::Places(_) => LEAF_BETWEEN_PLANES,
        }
    }

    fn cut(&self, graph: &Graph) -> Vec<u8> {
        match self {
            Self::Clusters(clusters) => bisect(graph, clusters),
            Self::Places(places) => bisect_by_plane(graph, places),
        }
    }

    fn restrict(&self, vertices: &[u32]) -> Self {
        match self {
            Self::Clusters(clusters) => Self::Clusters(clusters.restrict(vertices)),
            Self::Places(places) => Self::Places(vertices.iter().map(|&v| places[v as usize]).collect()),
        }
    }
}

/// Vertices of `graph` in an order of elimination with little fill; deterministic.
///
/// `places`, one finite point per vertex, make it faster where neighbours lie close together.
pub(crate) fn nested_dissection(graph: &Graph, places: Option<Vec<DVec3>>) -> Vec<u32> {
    let mut order = vec![0; graph.len()];
    let (sparse, dense) = split_dense_vertices(graph);
    let (first, last) = order.split_at_mut(sparse.len());
    last.copy_from_slice(&dense);
    if dense.is_empty() {
        dissect(graph, graph, sparse, &Guide::of(graph, places), first);
    } else {
        let part = graph.subgraph(&sparse);
        let places = places.map(|places| sparse.iter().map(|&v| places[v as usize]).collect());
        let guide = Guide::of(&part, places);
        dissect(graph, &part, sparse, &guide, first);
    }
    order
}

/// Clusters of about four vertices, from which all cuts start.
fn cluster_twice(graph: &Graph) -> Clusters {
    let pairs = Clusters::pairs(graph, u32::MAX, 0);
    let smaller = contract(graph, &pairs);
    pairs.then(&Clusters::pairs(&smaller, u32::MAX, 0))
}

/// Vertices joined to so many others that no cut avoids them; they are eliminated last.
fn split_dense_vertices(graph: &Graph) -> (Vec<u32>, Vec<u32>) {
    let limit = (10.0 * (graph.len() as f64).sqrt()).max(100.0) as usize;
    (0..graph.len() as u32).partition(|&v| graph.neighbours(v as usize).len() <= limit)
}

/// Writes the order of `part`, the subgraph of `whole` on `vertices`, to `order`.
fn dissect(whole: &Graph, part: &Graph, vertices: Vec<u32>, guide: &Guide, order: &mut [u32]) {
    if part.len() <= guide.leaf_vertices() {
        minimum_degree::order_leaf(whole, &vertices, order);
        return;
    }
    let side = guide.cut(part);
    let mut sides = [Vec::new(), Vec::new(), Vec::new()];
    for (v, &s) in side.iter().enumerate() {
        sides[s as usize].push(v as u32);
    }
    let smallest = (SMALLEST_SIDE * part.len() as f64) as usize + 1;
    if sides[0].len().min(sides[1].len()) < smallest {
        minimum_degree::order_part(part, &vertices, order);
        return;
    }
    let (first, rest) = order.split_at_mut(sides[0].len());
    let (second, last) = rest.split_at_mut(sides[1].len());
    for (place, &v) in last.iter_mut().zip(&sides[SEPARATOR as usize]) {
        *place = vertices[v as usize];
    }
    let local = part.places(&sides);
    let descend = |half: usize, order: &mut [u32]| {
        let inner = part.half(&sides[half], &local, &side, half as u8);
        let names = sides[half].iter().map(|&v| vertices[v as usize]).collect();
        dissect(whole, &inner, names, &guide.restrict(&sides[half]), order);
    };
    if part.len() > VERTICES_PER_TASK {
        parallel::join(|| descend(0, first), || descend(1, second));
    } else {
        descend(0, first);
        descend(1, second);
    }
}

#[cfg(test)]
mod tests;
