//! Fill-reducing ordering: nested dissection.
//!
//! **Problem.** Eliminating an unknown joins all its remaining neighbours. The order
//! decides how many entries the factor of a sparse symmetric matrix has.
//!
//! **Method.** A small set of vertices that cuts the graph in two halves is eliminated
//! last, the halves before it in the same way. Each cut is found on a small copy of
//! the graph, made by contracting heavy matchings, and refined on each larger graph. Parts
//! below [`LEAF_VERTICES`] are ordered by minimum degree, where the neighbours
//! in the cuts around count, too. Where vertices have places in space, a cut starts from the plane
//! that halves them across their longest extent instead, which is faster and better for solids.
//!
//! **Source.** George, "Nested dissection of a regular finite element mesh", SINUM 1973;
//! Karypis & Kumar, "A fast and high quality multilevel scheme for partitioning irregular
//! graphs", SISC 1998; Ashcraft, "Compressed graphs and the minimum degree algorithm",
//! SISC 1995.
//!
//! **Departures.** No random state is shared: every cut draws from a generator of its own with
//! a fixed seed, so both halves may be ordered at the same time and the order never changes. All
//! cuts are found on one graph of clusters of about four vertices; the whole graph is
//! used only near the cuts.

mod coarsen;
mod cut_tree;
mod graph;
mod minimum_degree;
mod plane;
mod refinement;
mod separator;

pub(crate) use graph::{Compressed, Graph};

use glam::DVec3;

use crate::parallel;
use coarsen::{Clusters, contract};
use cut_tree::CutTree;
use plane::bisect_by_plane;
use refinement::refine_all;
use separator::bisect;

/// Leaves of about this size are ordered by minimum degree. Measured: the fill hardly changes
/// between 30 and 200, the time of contractions makes larger leaves faster.
const LEAF_VERTICES: usize = 120;
/// The same in clusters of about four vertices.
const LEAF_CLUSTERS: usize = LEAF_VERTICES / 4;
/// Leaves that no cut made smaller than this are left to approximate minimum degree.
const LARGEST_LEAF: usize = 4 * LEAF_VERTICES;

/// The same where planes cut, which cost less than leaves do.
const LEAF_BETWEEN_PLANES: usize = 30;

/// Smaller subgraphs are not worth a task of their own.
const VERTICES_PER_TASK: usize = 500;
/// Leaves in one task.
const LEAVES_PER_TASK: usize = 16;

/// A cut is useless when its smaller side has less than this part of the vertices.
const SMALLEST_SIDE: f64 = 0.02;

/// The information that cuts of a graph start from.
enum Guide {
    /// Contractions of the graph.
    Clusters(Clusters),
    /// Where each vertex lies in space.
    Places(Vec<DVec3>),
}

impl Guide {
    fn largest_leaf(&self) -> usize {
        match self {
            Self::Clusters(_) => LEAF_CLUSTERS,
            Self::Places(_) => LEAF_BETWEEN_PLANES,
        }
    }

    fn cut(&self, graph: &Graph) -> CutTree {
        match self {
            Self::Clusters(clusters) => bisect(graph, clusters),
            Self::Places(places) => bisect_by_plane(graph, places),
        }
    }

    fn restrict(&self, vertices: &[u32]) -> Self {
        match self {
            Self::Clusters(clusters) => Self::Clusters(clusters.restrict(vertices)),
            Self::Places(places) => {
                Self::Places(vertices.iter().map(|&v| places[v as usize]).collect())
            }
        }
    }
}

/// Vertices of `graph` in an order of elimination with little fill; deterministic.
///
/// `places`, one finite point per vertex, make it faster where neighbours lie close together.
pub(crate) fn nested_dissection(graph: &Graph, places: Option<Vec<DVec3>>) -> Vec<u32> {
    let (sparse, dense) = split_dense_vertices(graph);
    let mut order = if dense.is_empty() {
        order_parts(graph, &cut_all(graph, places))
    } else {
        let part = graph.subgraph(&sparse);
        let tree = cut_all(
            &part,
            places.map(|places| sparse.iter().map(|&v| places[v as usize]).collect()),
        );

        // Dense vertices are neighbours of almost all, so leaves need not count them.
        order_parts(&part, &tree)
            .into_iter()
            .map(|v| sparse[v as usize])
            .collect()
    };

    order.extend(dense);
    order
}

fn cut_all(graph: &Graph, places: Option<Vec<DVec3>>) -> CutTree {
    match places {
        // Planes through the vertices themselves: clusters would make them rough, which costs
        // solids a tenth more work.
        Some(places) => dissect(graph, &Guide::Places(places)),
        None => cut_by_contraction(graph),
    }
}

/// Cuts a graph of clusters and refines these cuts on the whole.
fn cut_by_contraction(graph: &Graph) -> CutTree {
    if graph.len() <= LEAF_VERTICES {
        return CutTree::leaf(graph);
    }

    // Two contractions by matching give a graph of a quarter of the size, on which all cuts are
    // found.
    let pairs = Clusters::pairs(graph, u32::MAX, 0);
    let half = contract(graph, &pairs);
    let pairs_of_half = Clusters::pairs(&half, u32::MAX, 0);
    let quarter = contract(&half, &pairs_of_half);
    let tree = dissect(&quarter, &Guide::Clusters(cluster_twice(&quarter)));
    let tree = refine_all(&half, tree.on_members(&pairs_of_half));

    refine_all(graph, tree.on_members(&pairs))
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

/// Cuts a graph until only leaves are left.
fn dissect(graph: &Graph, guide: &Guide) -> CutTree {
    if graph.len() <= guide.largest_leaf() {
        return CutTree::leaf(graph);
    }

    let lists = guide.cut(graph).lists();

    // A cut that leaves almost nothing on one side does not help.
    let smallest = (SMALLEST_SIDE * graph.len() as f64) as usize + 1;
    if lists[0].len().min(lists[1].len()) < smallest {
        return CutTree::leaf(graph);
    }

    let halves = graph.halves(&lists);
    let descend = |side: usize| dissect(&halves.graph(side), &guide.restrict(&lists[side]));
    let trees = if graph.len() > VERTICES_PER_TASK {
        parallel::join(|| descend(0), || descend(1)).into()
    } else {
        [descend(0), descend(1)]
    };

    CutTree::join(graph, &lists, trees)
}

/// The order of elimination of a graph that has been cut.
fn order_parts(graph: &Graph, tree: &CutTree) -> Vec<u32> {
    let parts = tree.eliminated();
    let members = tree.members();

    // The place of each vertex inside its part.
    let mut places = vec![0; graph.len()];
    for list in &members {
        for (k, &v) in list.iter().enumerate() {
            places[v as usize] = k as u32;
        }
    }

    // Parts are independent; their orders are concatenated in the order of elimination.
    let orders = parallel::map(parts.len(), LEAVES_PER_TASK, |k| {
        let vertices = &members[parts[k] as usize];
        if tree.is_cut(parts[k]) {
            vertices.clone()
        } else if vertices.len() <= LARGEST_LEAF {
            minimum_degree::order_leaf(graph, vertices, |v| {
                (tree.of[v as usize] == parts[k]).then(|| places[v as usize])
            })
        } else {
            minimum_degree::order_part(&graph.subgraph(vertices), vertices)
        }
    });

    let mut order = Vec::with_capacity(graph.len());
    for part in orders.iter() {
        order.extend_from_slice(part);
    }
    order
}

#[cfg(test)]
mod tests;
