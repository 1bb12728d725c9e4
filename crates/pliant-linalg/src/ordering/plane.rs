//! Geometric bisection of a graph: the plane that halves its vertices.
//!
//! **Method.** Vertices below the median along an axis are one side, the others the other. Of both
//! sides, the one with fewer vertices that touch the other gives these to the cut, which
//! is then refined. The two longest axes are tried.
//!
//! **Source.** Miller, Teng, Thurston & Vavasis, "Separators for sphere-packings and nearest
//! neighbor graphs", JACM 1997, show that graphs of meshes have small geometric cuts; a plane
//! is the simplest one.

use glam::DVec3;

use super::cut_tree::CutTree;
use super::graph::Graph;
use super::refinement::Refinement;
use super::separator::SEPARATOR;

/// A cut and its two sides.
pub(super) fn bisect_by_plane(graph: &Graph, places: &[DVec3]) -> CutTree {
    let (low, high) = places
        .iter()
        .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), &p| {
            (low.min(p), high.max(p))
        });
    let size = high - low;

    // The longest extent gives the shortest cut, as a rule.
    let mut axes = [0, 1, 2];
    axes.sort_by(|&a, &b| size[b].total_cmp(&size[a]));
    let mut best = halve(graph, places, axes[0]);

    // A second axis is tried only if it is about as long as the first.
    if size[axes[1]] > 0.7 * size[axes[0]] {
        let other = halve(graph, places, axes[1]);
        if weight_of_cut(graph, &other) < weight_of_cut(graph, &best) {
            best = other;
        }
    }

    let mut refinement = Refinement::new(graph, CutTree::of_sides(graph, &best));
    refinement.refine(0);
    refinement.tree
}

/// Both sides of the median along `axis`, and the cut between them.
fn halve(graph: &Graph, places: &[DVec3], axis: usize) -> Vec<u8> {
    let mut ranked: Vec<(f64, u32)> = places
        .iter()
        .enumerate()
        .map(|(v, place)| (place[axis], v as u32))
        .collect();
    let middle = ranked.len() / 2;

    // Ties in position go by vertex index, so that the halves are always the same.
    ranked.select_nth_unstable_by(middle, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut side = vec![1_u8; places.len()];
    for &(_, v) in &ranked[..middle] {
        side[v as usize] = 0;
    }

    // The vertices of one side that touch the other separate the two.
    let touching = |own: u8| -> Vec<u32> {
        let touches = |v: &u32| {
            side[*v as usize] == own
                && graph
                    .neighbours(*v as usize)
                    .iter()
                    .any(|&u| side[u as usize] == 1 - own)
        };
        (0..places.len() as u32).filter(touches).collect()
    };

    let (lower, upper) = (touching(0), touching(1));
    for v in if lower.len() <= upper.len() {
        lower
    } else {
        upper
    } {
        side[v as usize] = SEPARATOR;
    }

    side
}

fn weight_of_cut(graph: &Graph, side: &[u8]) -> u32 {
    side.iter()
        .zip(&graph.weights)
        .filter(|(s, _)| **s == SEPARATOR)
        .map(|(_, weight)| weight)
        .sum()
}
