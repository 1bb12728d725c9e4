//! Energy, forces and Hessian of a mass-spring system.
//!
//! **Problem.** Evaluate, at given positions, what an equilibrium solver needs, with the same bits
//! on any number of threads.
//!
//! **Equation.** With `d = xᵢ − xⱼ`, `ℓ = |d|`, `n = d / ℓ`:
//!
//! ```text
//! E = Σ ½ k (ℓ − r)²        fᵢ = −Σⱼ k (ℓ − r) n        ∂²E/∂xᵢ∂xⱼ = −k ( n nᵀ + (1 − r/ℓ)(I − n nᵀ) )
//! ```
//!
//! and a diagonal block is minus the sum of the other blocks of its row.
//!
//! **Source.** Ma et al. 2012, eqs. 2–4 and the blocks below them. Their eq. 2 has the other sign;
//! ours is a force.
//!
//! **Departures.** The transverse term of a compressed spring (`ℓ < r`) is negative, and the sum
//! may be indefinite. Where a definite matrix is needed ([`Transverse::Projected`]), negative terms
//! are left out. Coincident ends have no direction: such a spring exerts no force, and its block is
//! `k I`.

use std::collections::BTreeMap;

use pliant_linalg::{SparseMatrix, outer, parallel};
use pliant_mesh::glam::{DMat3, DVec3};

use crate::blend::energy::Spring;
use crate::blend::energy::Support;
use crate::blend::energy::assembly::{BlockRows, Node, Transverse, add_to_row};
use crate::blend::energy::element::ElementTerms;
use crate::blend::energy::unilateral_constraint::{ENDS, UnilateralConstraint};

/// Vertices in one parallel task.
const GRAIN: usize = 512;

/// A spring seen from one of its ends.
#[derive(Debug, Clone, Copy)]
struct HalfSpring {
    other: u32,
    rest: f64,
    stiffness: f64,
}

/// A spring system at fixed rest lengths. Every vertex knows its springs, so that forces are
/// gathered and not scattered.
#[derive(Debug, Clone)]
pub(crate) struct SpringEnergy {
    starts: Vec<usize>,
    halves: Vec<HalfSpring>,
    /// The spring of each half.
    springs: Vec<u32>,
    /// Terms other than springs; none by default.
    elements: ElementTerms,
    /// Contact terms.
    unilateral: Vec<UnilateralConstraint>,
}

impl SpringEnergy {
    /// The system of `points` vertices that springs join at `ends`.
    pub(crate) fn new(points: usize, ends: &[[u32; 2]], springs: &[Spring]) -> Self {
        let mut starts = vec![0; points + 1];
        for &[i, j] in ends {
            starts[i as usize + 1] += 1;
            starts[j as usize + 1] += 1;
        }
        for i in 0..points {
            starts[i + 1] += starts[i];
        }

        // Each spring is stored once at each end, as (other end, spring).
        let mut sides: Vec<(u32, u32)> = vec![(0, 0); 2 * ends.len()];
        let mut next = starts.clone();
        for (q, &[i, j]) in ends.iter().enumerate() {
            for (from, to) in [(i, j), (j, i)] {
                sides[next[from as usize]] = (to, q as u32);
                next[from as usize] += 1;
            }
        }

        // Ascending neighbours: the order of matrix columns.
        for i in 0..points {
            sides[starts[i]..starts[i + 1]].sort_unstable();
        }

        let mut halves = Vec::with_capacity(sides.len());
        for &(other, _) in &sides {
            halves.push(HalfSpring {
                other,
                rest: 0.0,
                stiffness: 0.0,
            });
        }
        let mut energy = Self {
            starts,
            halves,
            springs: sides.iter().map(|side| side.1).collect(),
            elements: ElementTerms::default(),
            unilateral: Vec::new(),
        };
        energy.set(springs);

        energy
    }

    /// Sets the rest lengths and constants of the springs.
    pub(crate) fn set(&mut self, springs: &[Spring]) {
        for (half, &q) in self.halves.iter_mut().zip(&self.springs) {
            half.rest = springs[q as usize].rest;
            half.stiffness = springs[q as usize].stiffness;
        }
    }

    /// Sets the terms other than springs.
    pub(crate) fn set_elements(&mut self, elements: ElementTerms) {
        self.elements = elements;
    }

    /// The terms other than springs.
    pub(crate) fn elements(&self) -> &ElementTerms {
        &self.elements
    }

    /// Sets all contact terms.
    pub(crate) fn set_unilateral(&mut self, constraints: Vec<UnilateralConstraint>) {
        self.unilateral = constraints;
    }

    /// Whether there are contact terms.
    pub(crate) fn has_unilateral(&self) -> bool {
        !self.unilateral.is_empty()
    }

    /// The contact terms with a force at `positions`.
    pub(crate) fn active_unilateral<'a>(
        &'a self,
        positions: &'a [DVec3],
    ) -> impl Iterator<Item = &'a UnilateralConstraint> + 'a {
        self.unilateral
            .iter()
            .filter(|constraint| constraint.force(positions) > 0.0)
    }

    /// The springs of a vertex.
    fn halves_at(&self, vertex: usize) -> &[HalfSpring] {
        &self.halves[self.starts[vertex]..self.starts[vertex + 1]]
    }

    /// Sum of the spring constants at a vertex.
    pub(crate) fn stiffness(&self, vertex: usize) -> f64 {
        self.halves_at(vertex)
            .iter()
            .map(|half| half.stiffness)
            .sum()
    }

    /// The energy of some vertices while all others are held, and the vertices of that system:
    /// the given ones first, then their neighbours.
    pub(crate) fn subsystem(&self, vertices: &[u32]) -> (Self, Vec<u32>) {
        let mut numbering = SubsystemNumbering::beginning_with(vertices);
        let mut ends = Vec::new();
        let mut springs = Vec::new();

        // A spring between two of the vertices is added at its lower end only.
        for (k, &vertex) in (0..).zip(vertices) {
            for half in self.halves_at(vertex as usize) {
                let other = numbering.number(half.other);
                if other as usize >= vertices.len() || k < other {
                    ends.push([k, other]);
                    springs.push(Spring {
                        rest: half.rest,
                        stiffness: half.stiffness,
                    });
                }
            }
        }

        // Contact terms that act on one of the vertices; these may join further vertices.
        let mut unilateral = Vec::new();
        for constraint in &self.unilateral {
            if constraint.ends.iter().any(|end| numbering.is_first(end.0)) {
                unilateral.push(*constraint);
            }
        }
        for constraint in &mut unilateral {
            for (vertex, _) in &mut constraint.ends {
                *vertex = numbering.number(*vertex);
            }
        }

        let elements = self
            .elements
            .elements_of(vertices, |vertex| numbering.number(vertex));
        let points = numbering.vertices.len();
        let system = Self {
            unilateral,
            elements: ElementTerms::new(points, elements, Vec::new()),
            ..Self::new(points, &ends, &springs)
        };

        (system, numbering.vertices)
    }

    /// Number of vertices.
    pub(crate) fn points(&self) -> usize {
        self.starts.len() - 1
    }

    /// The other end and the index of every spring of a vertex, with ascending ends.
    pub(crate) fn around(&self, vertex: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let range = self.starts[vertex]..self.starts[vertex + 1];
        self.halves[range.clone()]
            .iter()
            .zip(&self.springs[range])
            .map(|(half, &q)| (half.other as usize, q as usize))
    }

    /// Rest lengths in the order of [`around`](Self::around).
    pub(crate) fn rests(&self, vertex: usize) -> impl Iterator<Item = f64> + '_ {
        self.halves_at(vertex).iter().map(|half| half.rest)
    }

    /// Computes the forces of all vertices; returns the energy.
    pub(crate) fn evaluate(&self, positions: &[DVec3], nodes: &mut [Node]) -> f64 {
        parallel::for_each_chunk_mut(nodes, GRAIN, |start, chunk| {
            for (k, node) in chunk.iter_mut().enumerate() {
                *node = self.node(start + k, positions);
            }
        });

        for constraint in &self.unilateral {
            let force = constraint.force(positions);
            for (vertex, gradient) in &constraint.ends {
                nodes[*vertex as usize].force += *gradient * force;
            }
            nodes[constraint.ends[0].0 as usize].energy += constraint.energy(force);
        }

        let own = nodes.iter().map(|node| node.energy).sum();
        if self.elements.is_empty() {
            own
        } else {
            own + self.elements.add_to(positions, nodes)
        }
    }

    /// The energy alone.
    pub(crate) fn at(&self, positions: &[DVec3]) -> f64 {
        self.evaluate(positions, &mut vec![Node::default(); self.points()])
    }

    fn node(&self, vertex: usize, positions: &[DVec3]) -> Node {
        let here = positions[vertex];
        let mut node = Node::default();
        for half in self.halves_at(vertex) {
            let offset = here - positions[half.other as usize];
            let length = offset.length();
            let stretch = length - half.rest;
            if length > 0.0 {
                node.force -= offset * (half.stiffness * stretch / length);
            }
            node.energy += half.stiffness * stretch * stretch;
        }

        node.energy *= 0.25; // Half for the square, half because the other end counts it too.
        node
    }

    /// The other end of every spring of a vertex, and minus the block of the Hessian between both.
    pub(crate) fn blocks<'a>(
        &'a self,
        vertex: usize,
        positions: &'a [DVec3],
        transverse: Transverse,
    ) -> impl Iterator<Item = (usize, DMat3)> + 'a {
        self.halves_at(vertex).iter().map(move |half| {
            let other = half.other as usize;
            let offset = positions[vertex] - positions[other];
            (other, Self::block(half, offset, transverse))
        })
    }

    /// Minus the block of the Hessian between the ends of a spring.
    fn block(half: &HalfSpring, offset: DVec3, transverse: Transverse) -> DMat3 {
        let length = offset.length();
        if length == 0.0 {
            return DMat3::from_diagonal(DVec3::splat(half.stiffness));
        }

        let n = offset / length;
        let mut sideways = 1.0 - half.rest / length;
        if transverse == Transverse::Projected {
            sideways = sideways.max(0.0);
        }

        let along = outer(n, n * (half.stiffness * (1.0 - sideways)));
        along + DMat3::from_diagonal(DVec3::splat(half.stiffness * sideways))
    }

    /// The Hessian over the coordinates of the unknown vertices of `support`, restricted to the
    /// directions in which they may move; a constrained direction has the largest stiffness of the
    /// vertex and no coupling. The dense part is left out ([`ElementTerms::columns`]).
    pub(crate) fn hessian(
        &self,
        positions: &[DVec3],
        support: &Support,
        transverse: Transverse,
        shift: f64,
    ) -> SparseMatrix {
        let mut rows = BlockRows::with_capacity(self.halves.len());
        let mut row: Vec<(u32, DMat3)> = Vec::new();
        let contact = self.contact_blocks(positions);
        let states = self.elements.states(positions);

        for (unknown, &vertex) in support.unknown_vertices().iter().enumerate() {
            let v = vertex as usize;
            row.clear();
            let mut diagonal = self.add_spring_blocks(v, positions, support, transverse, &mut row);
            diagonal += self
                .elements
                .add_row(v, &states, positions, support, transverse, &mut row);

            for (&(_, other), block) in contact.range((vertex, 0)..(vertex + 1, 0)) {
                if other == vertex {
                    diagonal += *block;
                } else if let Some(column) = support.unknown_of(other as usize) {
                    add_to_row(&mut row, column, support.between(v, block, other as usize));
                }
            }

            let own = shifted_diagonal(diagonal, support.projector(v), shift);
            // The columns of a row ascend.
            let at = row.partition_point(|entry| entry.0 < unknown as u32);
            row.insert(at, (unknown as u32, own));
            rows.push(&row);
        }

        rows.into_matrix(support.unknown_vertices().len())
    }

    /// Adds the blocks of the springs of a vertex to its row; returns the diagonal block.
    fn add_spring_blocks(
        &self,
        vertex: usize,
        positions: &[DVec3],
        support: &Support,
        transverse: Transverse,
        row: &mut Vec<(u32, DMat3)>,
    ) -> DMat3 {
        let mut diagonal = DMat3::ZERO;
        for half in self.halves_at(vertex) {
            let other = half.other as usize;
            let block = Self::block(half, positions[vertex] - positions[other], transverse);
            diagonal += block;
            if let Some(column) = support.unknown_of(other) {
                row.push((column, -support.between(vertex, &block, other)));
            }
        }

        diagonal
    }

    /// The blocks of the active contact terms, by pairs of vertices.
    fn contact_blocks(&self, positions: &[DVec3]) -> BTreeMap<(u32, u32), DMat3> {
        let mut blocks: BTreeMap<(u32, u32), DMat3> = BTreeMap::new();
        for constraint in self.active_unilateral(positions) {
            for a in 0..ENDS {
                for b in 0..ENDS {
                    let pair = (constraint.ends[a].0, constraint.ends[b].0);
                    *blocks.entry(pair).or_insert(DMat3::ZERO) += constraint.block(a, b);
                }
            }
        }

        blocks
    }
}

/// A diagonal block in the directions that `projector` allows. Constrained directions have the
/// largest stiffness; `shift` times it is added to all directions.
fn shifted_diagonal(diagonal: DMat3, projector: DMat3, shift: f64) -> DMat3 {
    let largest = diagonal
        .x_axis
        .x
        .abs()
        .max(diagonal.y_axis.y.abs())
        .max(diagonal.z_axis.z.abs())
        .max(f64::MIN_POSITIVE);

    let constrained = (DMat3::IDENTITY - projector) * largest;
    projector * diagonal * projector
        + constrained
        + DMat3::from_diagonal(DVec3::splat(shift * largest))
}

/// Consecutive numbers for vertices, in the order of their first use.
struct SubsystemNumbering {
    number_of: BTreeMap<u32, u32>,
    vertices: Vec<u32>,
    /// How many vertices were given at the beginning.
    first: usize,
}

impl SubsystemNumbering {
    fn beginning_with(vertices: &[u32]) -> Self {
        Self {
            number_of: vertices.iter().copied().zip(0..).collect(),
            vertices: vertices.to_vec(),
            first: vertices.len(),
        }
    }

    fn number(&mut self, vertex: u32) -> u32 {
        *self.number_of.entry(vertex).or_insert_with(|| {
            self.vertices.push(vertex);
            self.vertices.len() as u32 - 1
        })
    }

    /// Whether a vertex is one of those given at the beginning.
    fn is_first(&self, vertex: u32) -> bool {
        self.number_of
            .get(&vertex)
            .is_some_and(|&number| (number as usize) < self.first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ENDS: [[u32; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

    fn points() -> impl Strategy<Value = Vec<DVec3>> {
        prop::collection::vec(
            prop::array::uniform3(-1.0..1.0_f64).prop_map(DVec3::from_array),
            4,
        )
        .prop_filter("apart", |p| {
            ENDS.iter()
                .all(|&[i, j]| p[i as usize].distance(p[j as usize]) > 0.2)
        })
    }

    fn springs() -> impl Strategy<Value = Vec<Spring>> {
        prop::collection::vec(
            (0.2..2.0_f64, 0.5..3.0_f64).prop_map(|(rest, stiffness)| Spring { rest, stiffness }),
            6,
        )
    }

    fn moved(points: &[DVec3], unknown: usize, step: f64) -> Vec<DVec3> {
        let mut points = points.to_vec();
        points[unknown / 3][unknown % 3] += step;
        points
    }

    proptest! {
        #[test]
        fn forces_are_minus_the_gradient_of_the_energy(points in points(), springs in springs()) {
            let energy = SpringEnergy::new(4, &ENDS, &springs);
            let mut nodes = vec![Node::default(); 4];
            let step = 1e-5;
            for unknown in 0..12 {
                let above = energy.evaluate(&moved(&points, unknown, step), &mut nodes);
                let below = energy.evaluate(&moved(&points, unknown, -step), &mut nodes);
                energy.evaluate(&points, &mut nodes);
                prop_assert!((nodes[unknown / 3].force[unknown % 3] + (above - below) / (2.0 * step)).abs() < 1e-6);
            }
        }

        #[test]
        fn the_hessian_is_minus_the_derivative_of_the_forces(points in points(), springs in springs()) {
            let energy = SpringEnergy::new(4, &ENDS, &springs);
            let hessian = energy.hessian(&points, &Support::free(4), Transverse::Exact, 0.0);
            let mut above = vec![Node::default(); 4];
            let mut below = vec![Node::default(); 4];
            let step = 1e-5;
            for unknown in 0..12 {
                energy.evaluate(&moved(&points, unknown, step), &mut above);
                energy.evaluate(&moved(&points, unknown, -step), &mut below);
                for row in 0..12 {
                    let slope = (above[row / 3].force - below[row / 3].force)[row % 3] / (2.0 * step);
                    prop_assert!((hessian.get(row, unknown) + slope).abs() < 1e-5, "{row} {unknown}");
                }
            }
        }

        #[test]
        fn springs_exert_no_net_force_and_no_torque(points in points(), springs in springs()) {
            let mut nodes = vec![Node::default(); 4];
            SpringEnergy::new(4, &ENDS, &springs).evaluate(&points, &mut nodes);
            let force: DVec3 = nodes.iter().map(|n| n.force).sum();
            let torque: DVec3 = nodes.iter().zip(&points).map(|(n, p)| p.cross(n.force)).sum();
            prop_assert!(force.length() < 1e-12 && torque.length() < 1e-12);
        }

        #[test]
        fn the_projected_hessian_is_positive_semidefinite(points in points(), springs in springs(), step in prop::collection::vec(-1.0..1.0_f64, 12)) {
            let hessian = SpringEnergy::new(4, &ENDS, &springs).hessian(&points, &Support::free(4), Transverse::Projected, 0.0);
            let curve: f64 = hessian.multiply(&step).iter().zip(&step).map(|(a, b)| a * b).sum();
            prop_assert!(curve > -1e-12);
        }
    }

    #[test]
    fn coincident_ends_give_finite_numbers() {
        let energy = SpringEnergy::new(
            2,
            &[[0, 1]],
            &[Spring {
                rest: 1.0,
                stiffness: 1.0,
            }],
        );

        let points = [DVec3::ONE; 2];
        let mut nodes = vec![Node::default(); 2];
        assert_eq!(energy.evaluate(&points, &mut nodes), 0.5);
        assert!(nodes.iter().all(|n| n.force == DVec3::ZERO));
        assert!(
            energy
                .hessian(&points, &Support::free(2), Transverse::Exact, 0.0)
                .values()
                .iter()
                .all(|v| v.is_finite())
        );
    }
}
