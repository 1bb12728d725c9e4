//! Shortest paths over the edges of a mesh (Dijkstra's algorithm).
//!
//! **Problem.** Distances along the surface that exist on every mesh, also with non-manifold edges
//! and slivers, and that separate points that are close in space but far along the surface, such as
//! the two lips.
//!
//! **Equation.** `d(v) = min over neighbours u of d(u) + |xᵤ − xᵥ|`, with `d(source) = 0`.
//!
//! **Source.** Dijkstra, "A note on two problems in connexion with graphs", 1959.
//!
//! **Departures.** Distances are only ever lowered, so that a search from one more source stops
//! where an earlier source is nearer.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::Mesh;

/// Lowers `distances` to those from `source`, as far as `limit`, and calls `lowered` for every node
/// that became nearer, in the order of distance.
///
/// `neighbors` gives the neighbours of a node and the lengths of the edges to them, none negative.
/// Entries of `distances` that are not known yet are infinite. A node that is reached by a shorter
/// path later is not reported twice, because nodes are reported when their distance is final.
pub fn lower_edge_distances<I: Iterator<Item = (u32, f64)>>(
    source: u32,
    limit: f64,
    distances: &mut [f64],
    neighbors: impl Fn(u32) -> I,
    mut lowered: impl FnMut(u32),
) {
    distances[source as usize] = 0.0;

    // The bits of floating-point numbers without a sign have the order of the numbers.
    let mut queue = BinaryHeap::from([Reverse((0_u64, source))]);
    while let Some(Reverse((bits, node))) = queue.pop() {
        let distance = f64::from_bits(bits);
        if distance > distances[node as usize] {
            continue; // A shorter path was found meanwhile.
        }

        lowered(node);

        // Relaxation: a path through `node` replaces a longer one, as far as the limit allows.
        for (next, length) in neighbors(node) {
            let candidate = distance + length;
            if candidate < distances[next as usize] && candidate <= limit {
                distances[next as usize] = candidate;
                queue.push(Reverse((candidate.to_bits(), next)));
            }
        }
    }
}

/// The vertices after `from` on the shortest path over edges to `to`; `None` where no path exists.
///
/// Of two paths of the same length the one over the lower vertices is taken.
#[must_use]
pub fn edge_path(mesh: &Mesh, from: u32, to: u32) -> Option<Vec<u32>> {
    let positions = mesh.positions();
    let neighbors = mesh.topology().vertex_neighbors();
    let mut next_of: Vec<Option<u32>> = vec![None; mesh.vertex_count()];

    // The search runs backwards from the end, so that the path can be read forwards.
    let mut queue = BinaryHeap::from([Reverse((0.0_f64.to_bits(), to, to))]);
    while let Some(Reverse((bits, vertex, next))) = queue.pop() {
        // The first entry of a vertex is its shortest; later ones are outdated.
        if next_of[vertex as usize].is_some() {
            continue;
        }
        next_of[vertex as usize] = Some(next);
        if vertex == from {
            break;
        }

        for &other in neighbors.row(vertex as usize) {
            if next_of[other as usize].is_none() {
                let edge = positions[vertex as usize].distance(positions[other as usize]);
                let length = f64::from_bits(bits) + edge;
                queue.push(Reverse((length.to_bits(), other, vertex)));
            }
        }
    }

    // Without a link at `from`, the two vertices lie on different components.
    next_of[from as usize]?;
    let mut path = Vec::new();
    let mut vertex = from;
    while vertex != to {
        vertex = next_of[vertex as usize]?;
        path.push(vertex);
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::bumpy_sheet;

    /// All distances over edges by Floyd and Warshall's algorithm.
    fn all_distances(mesh: &Mesh) -> Vec<Vec<f64>> {
        let n = mesh.vertex_count();
        let mut best = vec![vec![f64::INFINITY; n]; n];
        for v in 0..n {
            best[v][v] = 0.0;
        }
        for edge in mesh.topology().edges() {
            let [a, b] = edge.map(|v| v as usize);
            let length = mesh.positions()[a].distance(mesh.positions()[b]);
            best[a][b] = length;
            best[b][a] = length;
        }

        for k in 0..n {
            for i in 0..n {
                for j in 0..n {
                    best[i][j] = best[i][j].min(best[i][k] + best[k][j]);
                }
            }
        }
        best
    }

    fn distances_from(mesh: &Mesh, source: u32, limit: f64) -> Vec<f64> {
        let mut distances = vec![f64::INFINITY; mesh.vertex_count()];
        let neighbors = |v: u32| {
            let row = mesh.topology().vertex_neighbors().row(v as usize);
            let from = mesh.positions()[v as usize];
            row.iter()
                .map(move |&w| (w, from.distance(mesh.positions()[w as usize])))
        };
        lower_edge_distances(source, limit, &mut distances, neighbors, |_| {});
        distances
    }

    #[test]
    fn distances_equal_those_of_floyd_and_warshall() {
        let sheet = bumpy_sheet(5, 0.4);
        let best = all_distances(&sheet);
        for source in [0, 7, 20] {
            let distances = distances_from(&sheet, source as u32, f64::INFINITY);
            for (v, distance) in distances.iter().enumerate() {
                assert!(
                    (distance - best[source][v]).abs() < 1e-12,
                    "from {source} to {v}"
                );
            }
        }
    }

    #[test]
    fn nodes_beyond_the_limit_stay_infinite() {
        let sheet = bumpy_sheet(5, 0.4);
        let best = all_distances(&sheet);
        let limit = 0.5;
        for (v, distance) in distances_from(&sheet, 3, limit).into_iter().enumerate() {
            assert_eq!(distance.is_finite(), best[3][v] <= limit, "vertex {v}");
        }
    }

    #[test]
    fn a_path_is_as_long_as_the_distance_between_its_ends() {
        let sheet = bumpy_sheet(5, 0.4);
        let best = all_distances(&sheet);
        let last = sheet.vertex_count() - 1;
        for (from, to) in [(0, last), (3, 17), (8, 8)] {
            let mut path = vec![from as u32];
            path.extend(edge_path(&sheet, from as u32, to as u32).unwrap());

            let positions = sheet.positions();
            let length: f64 = path
                .windows(2)
                .map(|ends| positions[ends[0] as usize].distance(positions[ends[1] as usize]))
                .sum();
            assert!((length - best[from][to]).abs() < 1e-12);
            assert_eq!(*path.last().unwrap() as usize, to);
        }
    }
}
