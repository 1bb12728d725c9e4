//! The adjacency graph of a symmetric matrix, with indistinguishable vertices merged.

use crate::SparseMatrix;

/// An undirected graph with weights; the diagonal is left out, each edge is stored twice.
#[derive(Debug, Clone)]
pub(crate) struct Graph {
    pub(super) starts: Vec<u32>,
    pub(super) neighbours: Vec<u32>,
    /// How many original edges each edge stands for.
    pub(super) edge_weights: Vec<u32>,
    /// How many unknowns each vertex stands for.
    pub(super) weights: Vec<u32>,
}

impl Graph {
    /// The graph of the lower triangle of a square matrix, neighbours ascending.
    pub(crate) fn of_matrix(matrix: &SparseMatrix) -> Self {
        let n = matrix.rows();
        let lower = |row: usize| {
            let indices = matrix.row(row).0;
            &indices[..indices.partition_point(|&column| (column as usize) < row)]
        };

        // Degrees, then starts of the rows.
        let mut starts = vec![0_u32; n + 1];
        for row in 0..n {
            starts[row + 1] += lower(row).len() as u32;
            for &column in lower(row) {
                starts[column as usize + 1] += 1;
            }
        }
        for row in 0..n {
            starts[row + 1] += starts[row];
        }

        let mut next = starts[..n].to_vec();
        let mut neighbours = vec![0; starts[n] as usize];
        for row in 0..n {
            // Smaller neighbours are added when their row is reached, larger ones in the order of
            // their rows, so each list ascends.
            for &column in lower(row) {
                neighbours[next[row] as usize] = column;
                next[row] += 1;
                neighbours[next[column as usize] as usize] = row as u32;
                next[column as usize] += 1;
            }
        }

        let edge_weights = vec![1; neighbours.len()];
        Self {
            starts,
            neighbours,
            edge_weights,
            weights: vec![1; n],
        }
    }

    /// Number of vertices.
    pub(crate) fn len(&self) -> usize {
        self.weights.len()
    }

    /// Vertices that share an edge with `v`.
    pub(crate) fn neighbours(&self, v: usize) -> &[u32] {
        &self.neighbours[self.starts[v] as usize..self.starts[v + 1] as usize]
    }

    /// Unknowns that `v` stands for.
    pub(crate) fn weight(&self, v: usize) -> u32 {
        self.weights[v]
    }

    pub(super) fn edges(&self, v: usize) -> impl Iterator<Item = (u32, u32)> + '_ {
        let range = self.starts[v] as usize..self.starts[v + 1] as usize;
        self.neighbours[range.clone()]
            .iter()
            .copied()
            .zip(self.edge_weights[range].iter().copied())
    }

    /// The subgraph on `vertices`, which ascend.
    pub(super) fn subgraph(&self, vertices: &[u32]) -> Self {
        let mut local = vec![u32::MAX; self.len()];
        for (k, &v) in vertices.iter().enumerate() {
            local[v as usize] = k as u32;
        }
        self.gather(vertices, |v| local[v as usize])
    }

    /// Prepares the subgraphs on the two sides of a cut; `lists` are the vertices of both sides
    /// and of the cut.
    pub(super) fn halves<'a>(&'a self, lists: &'a [Vec<u32>; 3]) -> Halves<'a> {
        let mut local = vec![(u8::MAX, 0); self.len()];
        for (side, list) in lists.iter().enumerate() {
            for (k, &v) in list.iter().enumerate() {
                local[v as usize] = (side as u8, k as u32);
            }
        }

        Halves {
            graph: self,
            lists,
            local,
        }
    }

    fn gather(&self, vertices: &[u32], local: impl Fn(u32) -> u32) -> Self {
        let capacity = vertices
            .iter()
            .map(|&v| self.neighbours(v as usize).len())
            .sum();

        let mut starts = Vec::with_capacity(vertices.len() + 1);
        starts.push(0);
        let mut neighbours = Vec::with_capacity(capacity);
        let mut edge_weights = Vec::with_capacity(capacity);
        for &v in vertices {
            // Edges that leave the subgraph are dropped.
            for (u, weight) in self.edges(v as usize) {
                let place = local(u);
                if place != u32::MAX {
                    neighbours.push(place);
                    edge_weights.push(weight);
                }
            }
            starts.push(neighbours.len() as u32);
        }

        let weights = vertices.iter().map(|&v| self.weights[v as usize]).collect();
        Self {
            starts,
            neighbours,
            edge_weights,
            weights,
        }
    }
}

/// A graph that has been cut in two.
pub(super) struct Halves<'a> {
    graph: &'a Graph,
    lists: &'a [Vec<u32>; 3],
    /// The list of every vertex and its index there.
    local: Vec<(u8, u32)>,
}

impl Halves<'_> {
    /// The subgraph on one side.
    pub(super) fn graph(&self, side: usize) -> Graph {
        let place = |v: u32| {
            let (of, place) = self.local[v as usize];
            if of as usize == side { place } else { u32::MAX }
        };
        self.graph.gather(&self.lists[side], place)
    }
}

/// A graph in which adjacent vertices with the same neighbours, such as the three unknowns of
/// a point, are merged.
#[derive(Debug, Clone)]
pub(crate) struct Compressed {
    /// The graph of the groups; weights count their members.
    pub(crate) graph: Graph,
    /// The members of group `g` are `members[starts[g]..starts[g + 1]]`, ascending.
    pub(crate) starts: Vec<u32>,
    /// The original vertices, group after group.
    pub(crate) members: Vec<u32>,
}

impl Compressed {
    pub(crate) fn new(graph: Graph) -> Self {
        let (group, leaders) = find_indistinguishable(&graph);
        let n = graph.len();

        // Without twins the graph is already as small as possible.
        if leaders.len() == n {
            return Self {
                graph,
                starts: (0..=n as u32).collect(),
                members: (0..n as u32).collect(),
            };
        }

        let (starts, members) = collect_groups(&group, leaders.len());
        let mut small = Graph {
            starts: vec![0],
            neighbours: Vec::new(),
            edge_weights: Vec::new(),
            weights: Vec::new(),
        };

        for (g, &leader) in leaders.iter().enumerate() {
            // Twins are neighbours of the same vertices, so only leaders need to be looked at.
            let others = graph
                .neighbours(leader as usize)
                .iter()
                .filter(|&&u| leaders[group[u as usize] as usize] == u);

            small.neighbours.extend(
                others
                    .map(|&u| group[u as usize])
                    .filter(|&u| u != g as u32),
            );
            small.starts.push(small.neighbours.len() as u32);
            small.weights.push(starts[g + 1] - starts[g]);
        }

        small.edge_weights = vec![1; small.neighbours.len()];
        Self {
            graph: small,
            starts,
            members,
        }
    }

    /// The members of group `g`.
    pub(crate) fn members(&self, g: usize) -> &[u32] {
        &self.members[self.starts[g] as usize..self.starts[g + 1] as usize]
    }
}

/// The group of every vertex, numbered by first member, and that first member of every group.
fn find_indistinguishable(graph: &Graph) -> (Vec<u32>, Vec<u32>) {
    let n = graph.len();

    // A hash of each closed neighbourhood; only equal hashes are compared in full.
    let mix = |v: u32| (u64::from(v) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let hashes: Vec<u64> = (0..n)
        .map(|v| {
            graph
                .neighbours(v)
                .iter()
                .fold(mix(v as u32), |sum, &u| sum.wrapping_add(mix(u)))
        })
        .collect();

    let mut group = vec![u32::MAX; n];
    let mut leaders = Vec::with_capacity(n);
    for v in 0..n {
        if group[v] != u32::MAX {
            continue;
        }

        // The first member of a group leads it; its twins are among its neighbours.
        let name = leaders.len() as u32;
        group[v] = name;
        leaders.push(v as u32);
        for &u in graph.neighbours(v) {
            let other = u as usize;
            if hashes[other] == hashes[v] && group[other] == u32::MAX && are_twins(graph, v, other)
            {
                group[other] = name;
            }
        }
    }

    (group, leaders)
}

/// Whether two adjacent vertices have the same neighbours apart from each other.
fn are_twins(graph: &Graph, a: usize, b: usize) -> bool {
    let others_of_a = graph.neighbours(a).iter().filter(|&&u| u as usize != b);
    let others_of_b = graph.neighbours(b).iter().filter(|&&u| u as usize != a);
    graph.neighbours(a).len() == graph.neighbours(b).len() && others_of_a.eq(others_of_b)
}

pub(super) fn collect_groups(group: &[u32], count: usize) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0_u32; count + 1];
    for &g in group {
        starts[g as usize + 1] += 1;
    }
    for g in 0..count {
        starts[g + 1] += starts[g];
    }

    let mut next = starts.clone();
    let mut members = vec![0; group.len()];
    for (v, &g) in group.iter().enumerate() {
        members[next[g as usize] as usize] = v as u32;
        next[g as usize] += 1;
    }

    (starts, members)
}
