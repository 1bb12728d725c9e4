//! Graph coarsening by heavy-edge matching.

use super::graph::{Graph, collect_groups};

/// Which vertex of a smaller graph each vertex is part of.
#[derive(Debug, Clone)]
pub(super) struct Clusters {
    pub(super) of: Vec<u32>,
    pub(super) count: usize,
}

impl Clusters {
    /// Pairs of vertices along a matching of heavy edges; no pair weighs more than `heaviest`.
    pub(super) fn pairs(graph: &Graph, heaviest: u32, start: usize) -> Self {
        let partner = match_heavy_edges(graph, heaviest, start);
        let mut of = vec![0_u32; graph.len()];
        let mut count = 0;
        for (v, &u) in partner.iter().enumerate() {
            if u as usize >= v {
                of[v] = count;
                of[u as usize] = count;
                count += 1;
            }
        }

        Self {
            of,
            count: count as usize,
        }
    }

    /// The clusters of these clusters.
    pub(super) fn then(&self, next: &Self) -> Self {
        Self {
            of: self.of.iter().map(|&c| next.of[c as usize]).collect(),
            count: next.count,
        }
    }

    /// The clusters restricted to some of the vertices, renumbered.
    pub(super) fn restrict(&self, vertices: &[u32]) -> Self {
        let mut name = vec![u32::MAX; self.count];
        let mut count = 0;
        let of = vertices
            .iter()
            .map(|&v| {
                let name = &mut name[self.of[v as usize] as usize];
                if *name == u32::MAX {
                    *name = count;
                    count += 1;
                }
                *name
            })
            .collect();

        Self {
            of,
            count: count as usize,
        }
    }
}

/// The partner of every vertex, itself where it stays alone.
fn match_heavy_edges(graph: &Graph, heaviest: u32, start: usize) -> Vec<u32> {
    const FREE: u32 = u32::MAX;

    let n = graph.len();
    let mut partner = vec![FREE; n];
    let mut lonely = None; // An isolated vertex that waits for another one.
    let stride = coprime_stride(n);

    let mut v = start % n.max(1);
    for _ in 0..n {
        // The stride visits every vertex once.
        v = if v + stride >= n {
            v + stride - n
        } else {
            v + stride
        };
        if partner[v] != FREE {
            continue;
        }

        let mut best = v;

        // Isolated vertices have no edge to match along; they are paired with each other.
        if graph.neighbours(v).is_empty() {
            let fits = |u: &usize| graph.weights[v] + graph.weights[*u] <= heaviest;
            best = lonely.take().filter(fits).unwrap_or(v);
            lonely = if best == v { Some(v) } else { None };
        } else {
            // The heaviest edge wins; among equals the lighter neighbour, so that clusters stay
            // even.
            let (mut best_weight, mut best_load) = (0, u32::MAX);
            for (u, weight) in graph.edges(v) {
                if partner[u as usize] != FREE || weight < best_weight {
                    continue;
                }
                let load = graph.weights[u as usize];
                if (weight > best_weight || load < best_load) && load + graph.weights[v] <= heaviest
                {
                    (best, best_weight, best_load) = (u as usize, weight, load);
                }
            }
        }

        partner[v] = best as u32;
        partner[best] = v as u32;
    }

    partner
}

/// A step that visits all of `0..n` when taken `n` times around, each time far from the places
/// before.
///
/// A matching made in the order of the mesh follows its rows and gives long, thin clusters.
fn coprime_stride(n: usize) -> usize {
    let gcd = |mut a: usize, mut b: usize| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };

    // The golden ratio spreads the steps most evenly.
    let golden = (n as f64 * 0.618_033_988_749_895) as usize;
    (golden.max(1)..n)
        .find(|&step| gcd(step, n) == 1)
        .unwrap_or(1)
}

/// The graph of the clusters: weights add up, edges between the same two become one.
pub(super) fn contract(graph: &Graph, clusters: &Clusters) -> Graph {
    let (member_starts, members) = collect_groups(&clusters.of, clusters.count);
    let mut starts = Vec::with_capacity(clusters.count + 1);
    starts.push(0);
    let mut neighbours = vec![0_u32; graph.neighbours.len()];
    let mut edge_weights = vec![0_u32; graph.neighbours.len()];
    let mut weights = Vec::with_capacity(clusters.count);

    // Where a neighbour was written last; older places lie before the current vertex, so nothing is
    // cleared.
    let mut place = vec![0_u32; clusters.count];

    let mut end = 0;
    for c in 0..clusters.count {
        // Edges from all members are collected; several to one cluster become one.
        let begin = end;
        let mut weight_of_all = 0;
        for &v in &members[member_starts[c] as usize..member_starts[c + 1] as usize] {
            weight_of_all += graph.weights[v as usize];
            for (other, weight) in graph.edges(v as usize) {
                let target = clusters.of[other as usize];
                if target as usize == c {
                    continue;
                }

                let known = place[target as usize] as usize;
                if known >= begin && known < end && neighbours[known] == target {
                    edge_weights[known] += weight;
                } else {
                    place[target as usize] = end as u32;
                    neighbours[end] = target;
                    edge_weights[end] = weight;
                    end += 1;
                }
            }
        }

        starts.push(end as u32);
        weights.push(weight_of_all);
    }

    neighbours.truncate(end);
    edge_weights.truncate(end);
    Graph {
        starts,
        neighbours,
        edge_weights,
        weights,
    }
}
