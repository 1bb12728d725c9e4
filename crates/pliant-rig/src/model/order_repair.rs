//! Repair of shapes whose vertices are stored in another order than those of the neutral.
//!
//! **Problem.** A shape has the vertices of the neutral, but some of them in another order. Find
//! every vertex that is at the place of another one, and the order that puts them back.
//!
//! **Method.** Neighbours are displaced alike. Of each component with outliers
//! ([`find_reordered_targets`](super::find_reordered_targets)), the largest region of alike
//! displacements is in order. From there, vertex by vertex and the most certain one first, the
//! place of a vertex is predicted from those around it that are done:
//!
//! ```text
//! x̂ = c' + A (n − c)      A = (Σ w q pᵀ + λ R) (Σ w p pᵀ + λ I)⁻¹
//! ```
//!
//! with the neighbours `p`, `q` before and after, relative to their centroids `c`, `c'`, and the
//! rotation `R` that fits them best. The vertex takes the stored position next to its prediction
//! that no other vertex has taken; its own one unless another is much nearer. Then pairs of
//! positions are exchanged as long as this brings both nearer to their predictions, and changes
//! that do not make the displacements smoother are undone.
//!
//! **Departures.** The method is ours. Where the largest region is small, the order is unknown: a
//! shape that is shuffled as a whole cannot be repaired without other knowledge.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use pliant_linalg::{DisjointSets, nearest_rotation};
use pliant_mesh::glam::{DMat3, DVec3};
use pliant_mesh::{Mesh, Rows, Topology};

use super::vertex_order::RestEdges;
use crate::point_grid::PointGrid;

/// Displacements at the ends of an edge are alike if they differ by less than this part of an edge
/// length. *Chosen*: half of the least difference that another order makes.
const ALIKE: f64 = 0.5;
/// Another stored position is taken instead of the own one if it is nearer to the prediction by
/// this factor.
const MUCH_NEARER: f64 = 0.4;
/// Regularisation of the affine fit, relative to the spread of the neighbours.
const STIFFNESS: f64 = 0.05;
/// How far from the prediction a stored position is searched, in mean edge lengths.
const REACH: f64 = 2.0;
/// The part of a component that must be in order, at least.
const LEAST_TRUSTED: f64 = 0.1;
/// Rounds of exchanges; more change nothing in our tests.
const EXCHANGE_ROUNDS: usize = 8;
/// A change of the order must reduce the differences of displacements to this part of them.
const SMOOTHER: f64 = 0.7;
/// The same for a shape without outliers, whose torn edges may be opening lips.
const MUCH_SMOOTHER: f64 = 0.25;

/// The order of the vertices of a shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VertexOrder {
    /// That of the neutral.
    Equal,
    /// Another one, which is known.
    Known {
        /// The vertices that are stored at the place of another one, ascending.
        vertices: Vec<u32>,
        /// For each vertex of the neutral, the index of its stored position.
        stored_of: Vec<u32>,
    },
    /// Another one, which cannot be found.
    Unknown {
        /// Vertices that are certainly out of order, ascending.
        vertices: Vec<u32>,
    },
}

impl VertexOrder {
    /// The order of the positions `stored` of a shape of `mesh`. There is one for each vertex.
    #[must_use]
    pub fn of(mesh: &Mesh, stored: &[DVec3]) -> Self {
        let edges = RestEdges::of(mesh);
        let finite = |points: &[DVec3]| points.iter().all(|p| p.is_finite());
        if !finite(stored) || !finite(mesh.positions()) {
            return Self::Equal;
        }
        // A block that is shifted or reversed is smooth inside and has no outliers, only torn edges.
        let outliers = edges.outliers_of_shape(stored);
        let torn = if outliers.is_empty() {
            edges.torn_vertices(stored)
        } else {
            outliers.clone()
        };
        if torn.is_empty() {
            return Self::Equal;
        }

        // Of the orders that grow from both measures of alike displacements, the smoother one.
        let least_gain = if outliers.is_empty() {
            MUCH_SMOOTHER
        } else {
            SMOOTHER
        };
        let mut smoothest: Option<(f64, Growth<'_>)> = None;
        for alike in [Alike::MeanEdge, Alike::ShortestEdge] {
            let mut growth = Growth::new(mesh, stored, edges.mean_lengths(), &torn);
            growth.alike = alike;
            if !growth.find_order(&torn, least_gain) {
                continue;
            }
            let roughness = growth.roughness();
            if smoothest.as_ref().is_none_or(|best| roughness < best.0) {
                smoothest = Some((roughness, growth));
            }
        }

        match smoothest {
            Some((_, growth)) => growth.result(&edges, outliers),
            None => unknown_unless_empty(outliers),
        }
    }

    /// The positions of a shape in the order of the neutral.
    #[must_use]
    pub fn apply(&self, stored: &[DVec3]) -> Vec<DVec3> {
        match self {
            Self::Known { stored_of, .. } => {
                stored_of.iter().map(|&k| stored[k as usize]).collect()
            }
            _ => stored.to_vec(),
        }
    }
}

/// The edge length by which displacements are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Alike {
    /// The mean one, for shapes that stretch the surface much.
    MeanEdge,
    /// The shortest one, for orders that move rings of vertices by one of their short edges.
    ShortestEdge,
}

/// A queue entry: the vertex with the most certain position comes first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    /// Bits of the error, which is not negative, so that they are ordered as it is.
    error: u64,
    vertex: u32,
    position: u32,
}

struct Growth<'a> {
    rest: &'a [DVec3],
    stored: &'a [DVec3],
    lengths: &'a [f64],
    /// The shortest edge at each vertex.
    shortest: Vec<f64>,
    alike: Alike,
    topology: &'a Topology,
    neighbors: &'a Rows,
    grid: PointGrid<'a>,
    reach: f64,
    /// Whether a vertex is in a component that has outliers.
    searched: Vec<bool>,
    /// For each vertex, its stored position; [`Topology::NONE`] if it is not known yet.
    stored_of: Vec<u32>,
    /// Whether a vertex has taken a stored position.
    taken: Vec<bool>,
}

impl<'a> Growth<'a> {
    fn new(mesh: &'a Mesh, stored: &'a [DVec3], lengths: &'a [f64], outliers: &[u32]) -> Self {
        let topology = mesh.topology();
        let neighbors = topology.vertex_neighbors();
        let mut searched = vec![false; stored.len()];
        let mut stack = outliers.to_vec();
        while let Some(v) = stack.pop() {
            if !std::mem::replace(&mut searched[v as usize], true) {
                stack.extend_from_slice(neighbors.row(v as usize));
            }
        }

        // Vertices of other components, and those without a face, are as they are.
        let own = |v: usize| {
            if searched[v] {
                Topology::NONE
            } else {
                v as u32
            }
        };
        let stored_of: Vec<u32> = (0..stored.len()).map(own).collect();
        let taken = searched.iter().map(|searched| !searched).collect();
        let known = lengths.iter().filter(|length| **length > 0.0);
        let reach = REACH * known.clone().sum::<f64>() / known.count().max(1) as f64;

        let rest = mesh.positions();
        let shortest_at = |v: usize| {
            let ring = neighbors.row(v).iter();
            let edges = ring.map(|&w| rest[v].distance(rest[w as usize]));
            edges.fold(f64::INFINITY, f64::min)
        };
        Self {
            rest,
            stored,
            lengths,
            shortest: (0..stored.len()).map(shortest_at).collect(),
            alike: Alike::MeanEdge,
            topology,
            neighbors,
            grid: PointGrid::new(stored, reach),
            reach,
            searched,
            stored_of,
            taken,
        }
    }

    /// Whether the positions `a` and `b` displace the vertices `v` and `w` alike.
    fn alike(&self, [v, w]: [usize; 2], [a, b]: [usize; 2]) -> bool {
        let length = match self.alike {
            Alike::MeanEdge => self.lengths[v].max(self.lengths[w]),
            Alike::ShortestEdge => self.shortest[v].min(self.shortest[w]),
        };
        self.difference([v, w], [a, b]) < ALIKE * length
    }

    /// Finds the order of all vertices; `false` if too few of them are certainly in order.
    fn find_order(&mut self, torn: &[u32], least_gain: f64) -> bool {
        if !self.trust_largest_regions(torn) {
            return false;
        }
        self.grow();
        self.fill();
        self.exchange();
        self.undo_useless_changes(least_gain);
        true
    }

    /// The sum of the squared differences of displacements along all edges.
    fn roughness(&self) -> f64 {
        let squared = |&[v, w]: &[u32; 2]| {
            let ends = [v as usize, w as usize];
            let places = ends.map(|end| self.stored_of[end] as usize);
            self.difference(ends, places).powi(2)
        };
        self.topology.edges().iter().map(squared).sum()
    }

    fn difference(&self, [v, w]: [usize; 2], [a, b]: [usize; 2]) -> f64 {
        let first = self.stored[a] - self.rest[v];
        let second = self.stored[b] - self.rest[w];
        first.distance(second)
    }

    /// Trusts the largest region of alike displacements in each component; `false` if one of them
    /// is too small.
    fn trust_largest_regions(&mut self, outliers: &[u32]) -> bool {
        let count = self.stored.len();
        let is_calm = |v: usize| {
            let ring = self.neighbors.row(v);
            let alike = ring
                .iter()
                .filter(|&&w| self.alike([v, w as usize], [v, w as usize]));
            2 * alike.count() > ring.len()
        };
        let mut calm: Vec<bool> = (0..count).map(|v| self.searched[v] && is_calm(v)).collect();
        for &v in outliers {
            calm[v as usize] = false;
        }

        let mut regions = DisjointSets::new(count);
        for &[v, w] in self.topology.edges() {
            let ends = [v as usize, w as usize];
            if calm[ends[0]] && calm[ends[1]] && self.alike(ends, ends) {
                regions.merge(v, w);
            }
        }
        let (region_of, region_count) = regions.into_labels();
        let component_of = self.topology.component_of_vertex();

        // For each component, its size and its largest region.
        let mut region_sizes = vec![0_usize; region_count];
        let mut component_sizes = vec![0_usize; self.topology.component_count()];
        let mut largest: Vec<Option<usize>> = vec![None; component_sizes.len()];
        for v in (0..count).filter(|&v| self.searched[v]) {
            component_sizes[component_of[v] as usize] += 1;
            region_sizes[region_of[v] as usize] += usize::from(calm[v]);
        }
        for v in (0..count).filter(|&v| calm[v]) {
            let region = region_of[v] as usize;
            let known = &mut largest[component_of[v] as usize];
            if known.is_none_or(|known| region_sizes[region] > region_sizes[known]) {
                *known = Some(region);
            }
        }

        let mut trusted = Vec::new();
        for v in (0..count).filter(|&v| self.searched[v]) {
            let component = component_of[v] as usize;
            let size = largest[component].map_or(0, |region| region_sizes[region]);
            if (size as f64) < LEAST_TRUSTED * component_sizes[component] as f64 {
                return false;
            }
            if calm[v] && largest[component] == Some(region_of[v] as usize) {
                trusted.push(v);
            }
        }
        for v in trusted {
            self.take(v, v);
        }
        true
    }

    fn take(&mut self, vertex: usize, position: usize) {
        self.stored_of[vertex] = position as u32;
        self.taken[position] = true;
    }

    fn is_done(&self, vertex: usize) -> bool {
        self.stored_of[vertex] != Topology::NONE
    }

    fn moved(&self, vertex: usize) -> DVec3 {
        self.stored[self.stored_of[vertex] as usize]
    }

    /// The predicted position of a vertex, from those at distance one or two that are done.
    fn predicted(&self, vertex: usize) -> Option<DVec3> {
        let near: Vec<usize> = self
            .topology
            .two_ring(vertex)
            .into_iter()
            .map(|v| v as usize)
            .filter(|&v| self.is_done(v))
            .collect();
        let place = self.rest[vertex];
        let weight = |v: usize| 1.0 / place.distance_squared(self.rest[v]).max(f64::MIN_POSITIVE);
        let total: f64 = near.iter().map(|&v| weight(v)).sum();
        if near.is_empty() || !total.is_finite() {
            return None;
        }

        let mean = |of: &dyn Fn(usize) -> DVec3| {
            near.iter().map(|&v| of(v) * weight(v)).sum::<DVec3>() / total
        };
        let center = mean(&|v| self.rest[v]);
        let moved_center = mean(&|v| self.moved(v));
        let mut spread = DMat3::ZERO;
        let mut mixed = DMat3::ZERO;
        for &v in &near {
            let before = self.rest[v] - center;
            let after = self.moved(v) - moved_center;
            let weighted = before * weight(v);
            spread += outer(before, weighted);
            mixed += outer(after, weighted);
        }

        // One or two neighbours say nothing about a rotation.
        let scale = (spread.x_axis.x + spread.y_axis.y + spread.z_axis.z) * STIFFNESS;
        let rotation = if near.len() < 3 {
            DMat3::IDENTITY
        } else {
            nearest_rotation(mixed)
        };
        let affine = if scale > 0.0 {
            (mixed + rotation * scale) * (spread + DMat3::IDENTITY * scale).inverse()
        } else {
            rotation
        };
        Some(moved_center + affine * (place - center))
    }

    /// The best free stored position of a vertex, with its error in mean edge lengths.
    fn candidate(&self, vertex: usize) -> Option<Candidate> {
        let predicted = self.predicted(vertex)?;
        let other = self.grid.nearest(predicted, self.reach, |k| {
            k as usize != vertex && !self.taken[k as usize]
        });
        let own = (!self.taken[vertex]).then(|| self.stored[vertex].distance(predicted));

        let (position, error) = match (own, other) {
            (Some(own), Some(other)) if other.distance < MUCH_NEARER * own => {
                (other.index, other.distance)
            }
            (Some(own), _) if own <= self.reach => (vertex as u32, own),
            (_, Some(other)) => (other.index, other.distance),
            _ => return None,
        };
        let relative = error / self.lengths[vertex].max(f64::MIN_POSITIVE);
        Some(Candidate {
            error: relative.to_bits(),
            vertex: vertex as u32,
            position,
        })
    }

    /// Decides vertices next to those that are done, the most certain one first.
    fn grow(&mut self) {
        let mut queue = BinaryHeap::new();
        for v in 0..self.stored.len() {
            let borders = |v: usize| {
                let ring = self.neighbors.row(v).iter();
                ring.clone().any(|&w| self.is_done(w as usize))
            };
            if !self.is_done(v) && borders(v) {
                queue.extend(self.candidate(v).map(Reverse));
            }
        }

        while let Some(Reverse(found)) = queue.pop() {
            let vertex = found.vertex as usize;
            if self.is_done(vertex) {
                continue;
            }
            if self.taken[found.position as usize] {
                queue.extend(self.candidate(vertex).map(Reverse));
                continue;
            }

            self.take(vertex, found.position as usize);
            for &w in self.neighbors.row(vertex) {
                if !self.is_done(w as usize) {
                    queue.extend(self.candidate(w as usize).map(Reverse));
                }
            }
        }
    }

    /// Gives the rest of the vertices their own positions where those are free, then any.
    fn fill(&mut self) {
        for v in 0..self.stored.len() {
            if !self.is_done(v) && !self.taken[v] {
                self.take(v, v);
            }
        }
        let mut free = (0..self.stored.len()).filter(|&k| !self.taken[k]);
        let mut rest = Vec::new();
        for v in (0..self.stored.len()).filter(|&v| !self.is_done(v)) {
            rest.push((v, free.next().expect("as many positions as vertices")));
        }
        for (v, position) in rest {
            self.take(v, position);
        }
    }

    fn changed(&self) -> Vec<usize> {
        (0..self.stored.len())
            .filter(|&v| self.stored_of[v] as usize != v)
            .collect()
    }

    /// Exchanges positions of changed vertices while this brings both nearer to their predictions.
    fn exchange(&mut self) {
        let mut vertex_of = vec![0_usize; self.stored.len()];
        for (vertex, &position) in self.stored_of.iter().enumerate() {
            vertex_of[position as usize] = vertex;
        }

        for _ in 0..EXCHANGE_ROUNDS {
            let changed = self.changed();
            let mut is_changed = vec![false; self.stored.len()];
            for &v in &changed {
                is_changed[v] = true;
            }

            let mut exchanges = 0;
            for &v in &changed {
                let Some(predicted) = self.predicted(v) else {
                    continue;
                };
                let mine = self.stored_of[v] as usize;
                let nearest = self
                    .grid
                    .nearest(predicted, self.reach, |k| is_changed[vertex_of[k as usize]]);
                let Some(theirs) = nearest.map(|n| n.index as usize).filter(|&k| k != mine) else {
                    continue;
                };

                let other = vertex_of[theirs];
                let Some(predicted_other) = self.predicted(other) else {
                    continue;
                };
                let miss = |a: usize, b: usize| {
                    self.stored[a].distance_squared(predicted)
                        + self.stored[b].distance_squared(predicted_other)
                };
                if miss(theirs, mine) < 0.9 * miss(mine, theirs) {
                    self.stored_of.swap(v, other);
                    vertex_of.swap(mine, theirs);
                    exchanges += 1;
                }
            }
            if exchanges == 0 {
                return;
            }
        }
    }

    /// Undoes changes that do not make the displacements clearly smoother: in groups of vertices
    /// that exchange positions or are neighbours.
    fn undo_useless_changes(&mut self, smoother: f64) {
        let changed = self.changed();
        let mut groups = DisjointSets::new(self.stored.len());
        for &v in &changed {
            groups.merge(v as u32, self.stored_of[v]);
            for &w in self.neighbors.row(v) {
                if self.stored_of[w as usize] != w {
                    groups.merge(v as u32, w);
                }
            }
        }

        let (group_of, count) = groups.into_labels();
        let mut before = vec![0.0; count];
        let mut after = vec![0.0; count];
        for &v in &changed {
            let group = group_of[v] as usize;
            for &w in self.neighbors.row(v) {
                let ends = [v, w as usize];
                let places = ends.map(|end| self.stored_of[end] as usize);
                before[group] += self.difference(ends, ends).powi(2);
                after[group] += self.difference(ends, places).powi(2);
            }
        }
        for v in changed {
            let group = group_of[v] as usize;
            if after[group] > smoother * before[group] {
                self.stored_of[v] = v as u32;
            }
        }
    }

    fn result(self, edges: &RestEdges<'_>, outliers: Vec<u32>) -> VertexOrder {
        let vertices: Vec<u32> = self.changed().iter().map(|&v| v as u32).collect();
        let mended: Vec<DVec3> = (0..self.stored.len()).map(|v| self.moved(v)).collect();
        let left = edges.outliers_of_shape(&mended).len();
        if vertices.is_empty() || 2 * left > outliers.len() {
            return unknown_unless_empty(outliers);
        }
        VertexOrder::Known {
            vertices,
            stored_of: self.stored_of,
        }
    }
}

/// Torn edges alone may be opening lips; outliers are not.
fn unknown_unless_empty(outliers: Vec<u32>) -> VertexOrder {
    if outliers.is_empty() {
        VertexOrder::Equal
    } else {
        VertexOrder::Unknown { vertices: outliers }
    }
}

fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

#[cfg(test)]
mod tests {
    use pliant_mesh::shapes::bumpy_sheet;

    use super::*;

    /// A sheet and its shape after bending by many edge lengths.
    fn bent_sheet() -> (Mesh, Vec<DVec3>) {
        let mesh = bumpy_sheet(40, 0.3);
        let bend = |p: &DVec3| *p + DVec3::new(0.1 * p.y, 0.0, 0.4 * (3.0 * p.x).sin() * p.y);
        let shape = mesh.positions().iter().map(bend).collect();
        (mesh, shape)
    }

    /// The shape with the vertex `order[k]` stored in the place of vertex `from + k`.
    fn stored(shape: &[DVec3], from: usize, order: &[usize]) -> Vec<DVec3> {
        let mut stored = shape.to_vec();
        for (k, &vertex) in order.iter().enumerate() {
            stored[from + k] = shape[vertex];
        }
        stored
    }

    fn assert_repaired(mesh: &Mesh, shape: &[DVec3], stored: &[DVec3], what: &str) {
        let truth: Vec<u32> = (0..shape.len() as u32)
            .filter(|&v| stored[v as usize] != shape[v as usize])
            .collect();
        let order = VertexOrder::of(mesh, stored);
        let VertexOrder::Known { vertices, .. } = &order else {
            panic!("{what}: {order:?}");
        };
        assert_eq!(*vertices, truth, "{what}");
        assert_eq!(order.apply(stored), shape, "{what}");
    }

    #[test]
    fn a_slit_that_opens_is_in_order() {
        let (mesh, _) = bent_sheet();
        let open = |p: &DVec3| *p + DVec3::Y * if p.y > 0.5 { 0.25 } else { 0.0 };
        let shape: Vec<DVec3> = mesh.positions().iter().map(open).collect();
        assert_eq!(VertexOrder::of(&mesh, &shape), VertexOrder::Equal);
    }

    /// A fixed shuffle of `range` (Fisher and Yates with a linear congruence).
    fn shuffled(range: std::ops::Range<usize>) -> Vec<usize> {
        let mut order: Vec<usize> = range.collect();
        let mut state = 12345_u64;
        for k in (1..order.len()).rev() {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            order.swap(k, (state >> 33) as usize % (k + 1));
        }
        order
    }

    #[test]
    fn a_shuffled_block_is_put_back_without_an_error() {
        let (mesh, shape) = bent_sheet();
        for first in [0, 400, 1201] {
            let order = shuffled(first..first + 300);
            let stored = stored(&shape, first, &order);
            assert_repaired(&mesh, &shape, &stored, &format!("from {first}"));
        }
    }

    #[test]
    fn a_shifted_block_is_put_back_though_its_inside_looks_smooth() {
        let (mesh, shape) = bent_sheet();
        for shift in [1, 3, 41] {
            let mut order: Vec<usize> = (500..901).collect();
            order.rotate_left(shift);
            let stored = stored(&shape, 500, &order);
            assert_repaired(&mesh, &shape, &stored, &format!("shifted by {shift}"));
        }
    }

    #[test]
    fn a_reversed_block_is_put_back() {
        let (mesh, shape) = bent_sheet();
        let order: Vec<usize> = (700..900).rev().collect();
        assert_repaired(&mesh, &shape, &stored(&shape, 700, &order), "reversed");
    }

    #[test]
    fn a_shape_in_order_is_equal_and_one_shuffled_as_a_whole_unknown() {
        let (mesh, shape) = bent_sheet();
        assert_eq!(VertexOrder::of(&mesh, &shape), VertexOrder::Equal);

        let order = shuffled(0..shape.len());
        let all = VertexOrder::of(&mesh, &stored(&shape, 0, &order));
        assert!(matches!(all, VertexOrder::Unknown { .. }), "{all:?}");
    }

    #[test]
    fn numbers_that_are_not_finite_are_left_alone() {
        let (mesh, shape) = bent_sheet();
        let mut stored = stored(&shape, 400, &shuffled(400..700));
        stored[7] = DVec3::NAN;
        assert_eq!(VertexOrder::of(&mesh, &stored), VertexOrder::Equal);
    }
}
