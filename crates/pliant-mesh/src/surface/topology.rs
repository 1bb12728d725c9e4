//! Mesh topology: edges, adjacency, boundary loops and connected components.
//!
//! **Problem.** Every operator walks neighbourhoods; real meshes are open,
//! disconnected and sometimes non-manifold.
//!
//! **Implementation.** Undirected edges in ascending order of their ends, each with the list of
//! its triangles (one on a boundary, two inside, more where the mesh is not a
//! manifold). A triangle that repeats a vertex has no edges. Built by counting sort
//! in linear time; nothing here depends on positions.

use pliant_linalg::DisjointSets;

use std::sync::OnceLock;

use crate::VertexId;
use crate::surface::measure::distinct_corners;

/// Lists of varying length, stored one after the other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rows {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Rows {
    /// Groups `(row, item)` pairs by row, keeping their order within a row.
    pub(crate) fn group(rows: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut starts = vec![0_u32; rows + 1];
        for (row, _) in pairs.clone() {
            starts[row as usize + 1] += 1;
        }
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }

        // The second pass of the counting sort writes each item to the next free place of its row.
        let mut next = starts.clone();
        let mut items = vec![0_u32; starts[rows] as usize];
        for (row, item) in pairs {
            let place = &mut next[row as usize];
            items[*place as usize] = item;
            *place += 1;
        }

        Self { starts, items }
    }

    /// The items of one row.
    #[must_use]
    #[inline]
    pub fn row(&self, row: usize) -> &[u32] {
        &self.items[self.starts[row] as usize..self.starts[row + 1] as usize]
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All rows in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        (0..self.len()).map(|row| self.row(row))
    }
}

/// The connectivity of a triangulation.
#[derive(Debug)]
pub struct Topology {
    vertex_count: usize,
    triangles: Vec<[u32; 3]>,
    edges: Vec<[u32; 2]>,
    triangle_edges: Vec<[u32; 3]>,
    edge_triangles: Rows,
    vertex_triangles: Rows,
    vertex_neighbors: Rows,
    components: OnceLock<Components>,
}

/// The connected component of each vertex; [`Topology::NONE`] for vertices without a face.
#[derive(Debug)]
pub(crate) struct Components {
    pub(crate) of_vertex: Vec<u32>,
    pub(crate) count: usize,
}

impl Topology {
    /// Marks "no edge" and "no component".
    pub const NONE: u32 = u32::MAX;

    pub(crate) fn of(vertex_count: usize, triangles: &[[u32; 3]]) -> Self {
        let (edges, triangle_edges) = collect_edges(vertex_count, triangles);

        // Sides of all triangles, grouped by edge; triangles that repeat a vertex have none.
        let sides = triangle_edges
            .iter()
            .enumerate()
            .flat_map(|(t, edges)| edges.map(|e| (e, t as u32)));
        let edge_triangles = Rows::group(edges.len(), sides.filter(|&(e, _)| e != Self::NONE));

        let corners = triangles
            .iter()
            .enumerate()
            .filter(|(_, t)| distinct_corners(**t))
            .flat_map(|(k, t)| t.map(|v| (v, k as u32)));
        let vertex_triangles = Rows::group(vertex_count, corners);

        // Edges ascend by (low, high), so the low ends of a vertex come before its high ends and
        // both ascend.
        let high = edges.iter().map(|&[a, b]| (b, a));
        let low = edges.iter().map(|&[a, b]| (a, b));
        let vertex_neighbors = Rows::group(vertex_count, high.chain(low));

        Self {
            vertex_count,
            triangles: triangles.to_vec(),
            edges,
            triangle_edges,
            edge_triangles,
            vertex_triangles,
            vertex_neighbors,
            components: OnceLock::new(),
        }
    }

    /// Undirected edges, low end first, in ascending order.
    #[must_use]
    pub fn edges(&self) -> &[[u32; 2]] {
        &self.edges
    }

    /// The edge between two vertices, if there is one.
    #[must_use]
    pub fn edge_between(&self, a: u32, b: u32) -> Option<usize> {
        self.edges.binary_search(&[a.min(b), a.max(b)]).ok()
    }

    /// For each triangle `(a, b, c)` its edges `ab`, `bc`, `ca`; all [`NONE`](Self::NONE) where it
    /// repeats a vertex.
    #[must_use]
    pub fn triangle_edges(&self) -> &[[u32; 3]] {
        &self.triangle_edges
    }

    /// The triangles of each edge.
    #[must_use]
    pub fn edge_triangles(&self) -> &Rows {
        &self.edge_triangles
    }

    /// The triangles around each vertex, ascending.
    #[must_use]
    pub fn vertex_triangles(&self) -> &Rows {
        &self.vertex_triangles
    }

    /// The one-ring of each vertex, ascending.
    #[must_use]
    pub fn vertex_neighbors(&self) -> &Rows {
        &self.vertex_neighbors
    }

    /// Vertices at graph distance one or two of `vertex`, ascending, without itself.
    #[must_use]
    pub fn two_ring(&self, vertex: impl Into<VertexId>) -> Vec<u32> {
        let vertex = vertex.into();
        let ring = self.vertex_neighbors.row(vertex.index());
        let mut both: Vec<u32> = ring.to_vec();
        for &neighbor in ring {
            both.extend(
                self.vertex_neighbors
                    .row(neighbor as usize)
                    .iter()
                    .filter(|&&v| v != vertex.get()),
            );
        }

        both.sort_unstable();
        both.dedup();
        both
    }

    /// The triangles that share an edge with `triangle`, without itself.
    pub fn adjacent_triangles(&self, triangle: usize) -> impl Iterator<Item = u32> + '_ {
        self.triangle_edges[triangle]
            .into_iter()
            .filter(|&e| e != Self::NONE)
            .flat_map(|e| self.edge_triangles.row(e as usize).iter().copied())
            .filter(move |&t| t as usize != triangle)
    }

    /// Whether every edge has exactly two triangles: no boundary, no third triangle.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        !self.edges.is_empty()
            && self
                .edge_triangles
                .iter()
                .all(|triangles| triangles.len() == 2)
    }

    /// Whether the edge has exactly one triangle.
    #[must_use]
    pub fn is_boundary_edge(&self, edge: usize) -> bool {
        self.edge_triangles.row(edge).len() == 1
    }

    /// Edges with more than two triangles, ascending.
    pub fn non_manifold_edges(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.edges.len()).filter(|&e| self.edge_triangles.row(e).len() > 2)
    }

    /// Vertices whose triangles do not form one fan: surfaces that only touch in a point. Ends of
    /// non-manifold edges are not counted again here.
    #[must_use]
    pub fn non_manifold_vertices(&self) -> Vec<u32> {
        // Ends of non-manifold edges are already reported with their edges.
        let mut spoiled = vec![false; self.vertex_count];
        for edge in self.non_manifold_edges() {
            for &v in self.edges[edge].iter() {
                spoiled[v as usize] = true;
            }
        }
        (0..self.vertex_count as u32)
            .filter(|&v| !spoiled[v as usize] && self.fan_count(v) > 1)
            .collect()
    }

    /// How many edge-connected fans the triangles around `vertex` form.
    fn fan_count(&self, vertex: u32) -> usize {
        let around = self.vertex_triangles.row(vertex as usize);
        let mut visited = vec![false; around.len()];
        let mut fans = 0;
        for first in 0..around.len() {
            if std::mem::replace(&mut visited[first], true) {
                continue;
            }

            // A new fan: visit all of its triangles over the edges at the vertex.
            fans += 1;
            let mut open = vec![around[first]];
            while let Some(triangle) = open.pop() {
                let sides = self.triangle_edges[triangle as usize];
                for edge in sides
                    .into_iter()
                    .filter(|&e| self.edges[e as usize].contains(&vertex))
                {
                    for other in self.edge_triangles.row(edge as usize) {
                        // Ascending, so that a fan of a million triangles is not searched for each
                        // of them.
                        let place = around
                            .binary_search(other)
                            .expect("a triangle of the vertex' edge is around the vertex");
                        if !std::mem::replace(&mut visited[place], true) {
                            open.push(*other);
                        }
                    }
                }
            }
        }

        fans
    }

    /// Edges whose two triangles run through them in the same direction: one of them is flipped.
    pub fn flipped_edges(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.edges.len()).filter(|&e| match self.edge_triangles.row(e) {
            &[s, t] => self.runs_forward(s, e) == self.runs_forward(t, e),
            _ => false,
        })
    }

    /// Whether `triangle` runs through `edge` from its low to its high end.
    fn runs_forward(&self, triangle: u32, edge: usize) -> bool {
        let corners = self.triangles[triangle as usize];
        let side = self.triangle_edges[triangle as usize]
            .iter()
            .position(|&e| e as usize == edge)
            .expect("the edge is one of the triangle's");
        corners[side] == self.edges[edge][0]
    }

    /// Closed walks along boundary edges, each edge once, in the direction of their triangles where
    /// those agree. Where boundaries touch in a vertex they are separated by the triangle
    /// fans; a walk passes a vertex once for each of its fans.
    #[must_use]
    pub fn boundary_loops(&self) -> Vec<Vec<u32>> {
        let boundary: Vec<u32> = (0..self.edges.len() as u32)
            .filter(|&e| self.is_boundary_edge(e as usize))
            .collect();
        let ends = boundary
            .iter()
            .flat_map(|&e| self.edges[e as usize].map(|v| (v, e)));
        let at_vertex = Rows::group(self.vertex_count, ends.collect::<Vec<_>>().into_iter());
        let mut walked = vec![false; self.edges.len()];

        // How many of a vertex' edges are known to be walked: never looked at again, so that a
        // vertex with many boundary edges costs linear time.
        let mut passed = vec![0_usize; self.vertex_count];
        let mut loops = Vec::new();
        for &first in &boundary {
            if walked[first as usize] {
                continue;
            }

            // The loop begins at an edge that was not walked, in the direction of its triangle.
            let forward =
                self.runs_forward(self.edge_triangles.row(first as usize)[0], first as usize);
            let [low, high] = self.edges[first as usize];
            let (start, mut here) = if forward { (low, high) } else { (high, low) };
            let mut walk = vec![start];
            walked[first as usize] = true;

            // Follow the boundary from fan to fan until it closes.
            let mut edge = first;
            while here != start
                || self.goes_on(
                    here,
                    edge,
                    first,
                    at_vertex.row(here as usize).len(),
                    &walked,
                )
            {
                walk.push(here);
                let candidates = at_vertex.row(here as usize);
                let Some(next) = self.next_boundary_edge(
                    here,
                    edge,
                    candidates,
                    &mut passed[here as usize],
                    &walked,
                ) else {
                    break;
                };

                walked[next as usize] = true;
                let [a, b] = self.edges[next as usize];
                here = if a == here { b } else { a };
                edge = next;
            }

            loops.push(walk);
        }

        loops
    }

    /// Whether a walk that is back at the vertex it began at has come by another fan, and so is not
    /// at its end.
    fn goes_on(
        &self,
        vertex: u32,
        from: u32,
        first: u32,
        candidates: usize,
        walked: &[bool],
    ) -> bool {
        candidates > 2
            && self
                .other_rim(vertex, from)
                .is_some_and(|rim| rim != first && !walked[rim as usize])
    }

    /// The boundary edge that goes on from `vertex`: the other rim of the same fan, else the first
    /// not yet walked.
    fn next_boundary_edge(
        &self,
        vertex: u32,
        from: u32,
        candidates: &[u32],
        passed: &mut usize,
        walked: &[bool],
    ) -> Option<u32> {
        let rim = if candidates.len() > 2 {
            self.other_rim(vertex, from)
        } else {
            None
        };
        rim.filter(|&e| !walked[e as usize]).or_else(|| {
            *passed += candidates[*passed..]
                .iter()
                .take_while(|&&e| walked[e as usize])
                .count();
            candidates.get(*passed).copied()
        })
    }

    /// Walks the fan of triangles around `vertex` from boundary edge `from` to its other boundary
    /// edge.
    fn other_rim(&self, vertex: u32, from: u32) -> Option<u32> {
        let mut edge = from;
        let mut triangle = *self.edge_triangles.row(from as usize).first()?;
        for _ in 0..self.vertex_triangles.row(vertex as usize).len() {
            let sides = self.triangle_edges[triangle as usize];
            edge = sides
                .into_iter()
                .find(|&e| e != edge && self.edges[e as usize].contains(&vertex))?;

            match self.edge_triangles.row(edge as usize) {
                [_] => return Some(edge),
                &[a, b] => triangle = if a == triangle { b } else { a },
                _ => return None,
            }
        }

        None
    }

    /// Number of connected components; vertices without a face do not count.
    #[must_use]
    pub fn component_count(&self) -> usize {
        self.components().count
    }

    /// The component of each vertex, numbered by first vertex; [`NONE`](Self::NONE) for vertices
    /// without a face.
    #[must_use]
    pub fn component_of_vertex(&self) -> &[u32] {
        &self.components().of_vertex
    }

    /// Number of vertices that no triangle uses.
    #[must_use]
    pub fn unused_vertex_count(&self) -> usize {
        self.component_of_vertex()
            .iter()
            .filter(|&&c| c == Self::NONE)
            .count()
    }

    fn components(&self) -> &Components {
        self.components
            .get_or_init(|| find_components(self.vertex_count, &self.triangles))
    }
}

/// Unique edges in ascending order, and the three edges of each triangle.
fn collect_edges(vertex_count: usize, triangles: &[[u32; 3]]) -> (Vec<[u32; 2]>, Vec<[u32; 3]>) {
    // Sides grouped by their low end; within a group only the few high ends need sorting.
    let sides = triangles
        .iter()
        .enumerate()
        .filter(|(_, t)| distinct_corners(**t))
        .flat_map(|(t, &[a, b, c])| {
            [(a, b), (b, c), (c, a)]
                .into_iter()
                .enumerate()
                .map(move |(side, (i, j))| (i.min(j), (i.max(j), (3 * t + side) as u32)))
        });

    // A counting sort by the low end.
    let mut starts = vec![0_u32; vertex_count + 1];
    for (low, _) in sides.clone() {
        starts[low as usize + 1] += 1;
    }
    for v in 0..vertex_count {
        starts[v + 1] += starts[v];
    }

    let mut next = starts.clone();
    let mut grouped = vec![(0_u32, 0_u32); starts[vertex_count] as usize];
    for (low, side) in sides {
        grouped[next[low as usize] as usize] = side;
        next[low as usize] += 1;
    }

    // Equal neighbours in a sorted group are one edge.
    let mut edges = Vec::with_capacity(grouped.len() / 2 + 1);
    let mut triangle_edges = vec![[Topology::NONE; 3]; triangles.len()];
    for low in 0..vertex_count {
        let group = &mut grouped[starts[low] as usize..starts[low + 1] as usize];
        group.sort_unstable();
        let mut last = None;
        for &mut (high, side) in group {
            if last != Some(high) {
                edges.push([low as u32, high]);
                last = Some(high);
            }
            triangle_edges[side as usize / 3][side as usize % 3] = edges.len() as u32 - 1;
        }
    }

    (edges, triangle_edges)
}

pub(crate) fn find_components(vertex_count: usize, triangles: &[[u32; 3]]) -> Components {
    let mut sets = DisjointSets::new(vertex_count);
    let mut used = vec![false; vertex_count];
    for &[a, b, c] in triangles {
        for v in [a, b, c] {
            used[v as usize] = true;
        }
        sets.merge(a, b);
        sets.merge(b, c);
    }

    let mut of_vertex = vec![Topology::NONE; vertex_count];
    let mut count = 0;
    for v in 0..vertex_count as u32 {
        if !used[v as usize] {
            continue;
        }

        // The root is the lowest vertex of its component, so it is numbered before all others.
        let root = sets.find(v);
        if root == v {
            of_vertex[v as usize] = count;
            count += 1;
        } else {
            of_vertex[v as usize] = of_vertex[root as usize];
        }
    }

    Components {
        of_vertex,
        count: count as usize,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const TETRAHEDRON: [[u32; 3]; 4] = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];

    #[test]
    fn a_tetrahedron_is_closed_and_obeys_euler() {
        let topology = Topology::of(4, &TETRAHEDRON);
        assert_eq!(4 + TETRAHEDRON.len() - topology.edges().len(), 2);
        assert!(topology.boundary_loops().is_empty());
        assert!(topology.is_closed());
        assert!(!Topology::of(4, &TETRAHEDRON[1..]).is_closed());
        assert_eq!(topology.flipped_edges().count(), 0);
    }

    #[test]
    fn edges_equal_the_set_of_all_triangle_sides() {
        let triangles: Vec<[u32; 3]> = (0..200_u32)
            .map(|k| [k * 7 % 31, k * 11 % 31, k * 13 % 31])
            .collect();
        let topology = Topology::of(31, &triangles);
        let proper = triangles.iter().filter(|t| distinct_corners(**t));
        let set: BTreeSet<[u32; 2]> = proper
            .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
            .map(|[i, j]| [i.min(j), i.max(j)])
            .collect();

        assert_eq!(topology.edges(), set.into_iter().collect::<Vec<_>>());
        for (t, edges) in topology
            .triangle_edges()
            .iter()
            .enumerate()
            .filter(|(_, e)| e[0] != Topology::NONE)
        {
            let [a, b, c] = triangles[t];
            for (edge, (i, j)) in edges.iter().zip([(a, b), (b, c), (c, a)]) {
                assert_eq!(topology.edges()[*edge as usize], [i.min(j), i.max(j)]);
            }
        }
    }

    #[test]
    fn one_rings_are_symmetric_and_two_rings_contain_them() {
        let topology = Topology::of(6, &[[0, 1, 2], [2, 1, 3], [3, 4, 5]]);
        assert_eq!(topology.vertex_neighbors().row(3), &[1, 2, 4, 5]);
        assert_eq!(topology.two_ring(0), vec![1, 2, 3]);

        for v in 0..6 {
            for &w in topology.vertex_neighbors().row(v) {
                assert!(
                    topology
                        .vertex_neighbors()
                        .row(w as usize)
                        .contains(&(v as u32))
                );
            }
        }
    }

    #[test]
    fn adjacent_triangles_share_an_edge() {
        let topology = Topology::of(6, &[[0, 1, 2], [2, 1, 3], [3, 4, 5]]);
        assert_eq!(topology.adjacent_triangles(0).collect::<Vec<_>>(), vec![1]);
        assert_eq!(
            topology.adjacent_triangles(2).count(),
            0,
            "a shared vertex is no shared edge"
        );
    }

    #[test]
    fn a_loop_follows_the_orientation_of_its_faces() {
        let topology = Topology::of(4, &[[0, 1, 2], [0, 2, 3]]);
        assert_eq!(topology.boundary_loops(), vec![vec![0, 1, 2, 3]]);
    }

    #[test]
    fn two_triangles_that_touch_in_a_point_have_two_loops_and_a_non_manifold_vertex() {
        let topology = Topology::of(5, &[[0, 1, 2], [2, 3, 4]]);
        assert_eq!(topology.boundary_loops().len(), 2);
        assert_eq!(topology.non_manifold_vertices(), vec![2]);
        assert_eq!(topology.component_count(), 1);
    }

    #[test]
    fn a_vertex_or_an_edge_with_half_a_million_triangles_takes_linear_time() {
        // Both took time quadratic in the triangles, which is minutes here.
        let n = 500_000;
        let hub: Vec<[u32; 3]> = (0..n).map(|k| [0, 1 + k, 1 + (k + 1) % n]).collect();
        let topology = Topology::of(n as usize + 1, &hub);

        assert!(topology.non_manifold_vertices().is_empty());
        assert_eq!(
            topology
                .boundary_loops()
                .iter()
                .map(Vec::len)
                .collect::<Vec<_>>(),
            vec![n as usize]
        );

        let book: Vec<[u32; 3]> = (0..n).map(|k| [0, 1, 2 + k]).collect();
        let loops = Topology::of(n as usize + 2, &book).boundary_loops();
        assert_eq!(loops.len(), n as usize / 2);
        assert!(
            loops.iter().all(|walk| walk.len() == 4),
            "two pages are a loop"
        );
    }

    #[test]
    fn a_boundary_that_touches_itself_is_one_loop_for_every_numbering() {
        // A strip of six quads whose lower vertices 1 and 5 are one.
        let welded = |v: u32| if v == 5 { 1 } else { v };
        let strip = (0..6_u32)
            .flat_map(|k| [[k, k + 1, k + 8], [k, k + 8, k + 7]])
            .map(|t| t.map(welded));
        let strip: Vec<[u32; 3]> = strip.collect();

        for shift in 0..14 {
            let renumbered: Vec<[u32; 3]> =
                strip.iter().map(|t| t.map(|v| (v + shift) % 14)).collect();
            let topology = Topology::of(14, &renumbered);

            assert_eq!(
                topology
                    .boundary_loops()
                    .iter()
                    .map(Vec::len)
                    .collect::<Vec<_>>(),
                vec![14],
                "numbered from {shift}"
            );

            assert_eq!(topology.non_manifold_vertices(), vec![(1 + shift) % 14]);
        }
    }

    #[test]
    fn a_flipped_triangle_is_detected() {
        let topology = Topology::of(4, &[[0, 1, 2], [0, 3, 2]]);
        assert_eq!(topology.flipped_edges().count(), 1);
    }

    #[test]
    fn an_edge_with_three_triangles_is_not_manifold() {
        let topology = Topology::of(5, &[[0, 1, 2], [1, 0, 3], [0, 1, 4]]);
        let edges: Vec<_> = topology
            .non_manifold_edges()
            .map(|e| topology.edges()[e])
            .collect();
        assert_eq!(edges, vec![[0, 1]]);
    }

    #[test]
    fn components_are_numbered_by_first_vertex_and_skip_unused_ones() {
        let topology = Topology::of(8, &[[5, 6, 7], [1, 2, 3]]);
        let none = Topology::NONE;
        assert_eq!(
            topology.component_of_vertex(),
            &[none, 0, 0, 0, none, 1, 1, 1]
        );

        assert_eq!(
            (topology.component_count(), topology.unused_vertex_count()),
            (2, 2)
        );
    }
}
