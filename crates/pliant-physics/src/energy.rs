//! The energy of springs, the forces it gives and its exact second derivative.
//!
//! **Problem.** Evaluate, at given positions, what an equilibrium solver needs, on any number of
//! threads to the same bits.
//!
//! **Equation.** With `d = xᵢ − xⱼ`, `ℓ = |d|`, `n = d / ℓ`:
//!
//! ```text
//! E = Σ ½ k (ℓ − r)²        fᵢ = −Σⱼ k (ℓ − r) n        ∂²E/∂xᵢ∂xⱼ = −k ( n nᵀ + (1 − r/ℓ)(I − n nᵀ) )
//! ```
//!
//! and a diagonal block is minus the sum of the others in its row.
//!
//! **Source.** Ma et al. 2012, eqs. 2–4 and the blocks below them. Their eq. 2 has the other sign;
//! ours is a force.
//!
//! **Ours.** A squeezed spring (`ℓ < r`) pushes sideways: its transverse term is negative and the
//! sum may be indefinite. Only then ([`Transverse::Projected`]) negative terms are left out. Ends
//! that coincide have no direction: such a spring exerts no force, and its block is `k I`.

use std::collections::BTreeMap;

use pliant_linalg::{SparseMatrix, outer, parallel};
use pliant_mesh::glam::{DMat3, DVec3};

use crate::element::Further;
use crate::push::{ENDS, Push};
use crate::springs::Spring;
use crate::support::Support;

/// Vertices in one parallel task.
const GRAIN: usize = 512;

/// A spring seen from one of its ends.
#[derive(Debug, Clone, Copy)]
struct Half {
    other: u32,
    rest: f64,
    stiffness: f64,
}

/// A spring system at fixed rest lengths. Every vertex knows its springs, so that forces are
/// gathered, not scattered.
#[derive(Debug, Clone)]
pub(crate) struct SpringEnergy {
    starts: Vec<usize>,
    halves: Vec<Half>,
    /// The spring of each half.
    springs: Vec<u32>,
    /// Terms beside springs; none by default.
    further: Further,
    /// Conditions between vertices beside the springs.
    pushes: Vec<Push>,
}

/// The force on a vertex and its half of the energy of its springs.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Node {
    pub(crate) force: DVec3,
    pub(crate) energy: f64,
}

/// What becomes of the transverse term of squeezed springs in the Hessian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transverse {
    /// As it is: the true derivative, possibly indefinite.
    Exact,
    /// Left out where negative: always semi-definite.
    Projected,
}

impl SpringEnergy {
    /// The system of `points` vertices joined at `ends`.
    pub(crate) fn new(points: usize, ends: &[[u32; 2]], springs: &[Spring]) -> Self {
        let mut starts = vec![0; points + 1];
        for &[i, j] in ends {
            starts[i as usize + 1] += 1;
            starts[j as usize + 1] += 1;
        }
        for i in 0..points {
            starts[i + 1] += starts[i];
        }
        let mut sides: Vec<(u32, u32)> = vec![(0, 0); 2 * ends.len()];
        let mut next = starts.clone();
        for (q, &[i, j]) in ends.iter().enumerate() {
            for (from, to) in [(i, j), (j, i)] {
                sides[next[from as usize]] = (to, q as u32);
                next[from as usize] += 1;
            }
        }
        for i in 0..points {
            sides[starts[i]..starts[i + 1]].sort_unstable(); // Ascending neighbours: the order of matrix columns.
        }
        let halves = sides
            .iter()
            .map(|&(other, _)| Half {
                other,
                rest: 0.0,
                stiffness: 0.0,
            })
            .collect();
        let mut energy = Self {
            starts,
            halves,
            springs: sides.iter().map(|side| side.1).collect(),
            further: Further::default(),
            pushes: Vec::new(),
        };
        energy.set(springs);
        energy
    }

    /// Other rest lengths and constants on the same springs.
    pub(crate) fn set(&mut self, springs: &[Spring]) {
        for (half, &q) in self.halves.iter_mut().zip(&self.springs) {
            (half.rest, half.stiffness) = (springs[q as usize].rest, springs[q as usize].stiffness);
        }
    }

    /// Other terms beside the springs.
    pub(crate) fn set_further(&mut self, further: Further) {
        self.further = further;
    }

    /// The terms beside springs.
    pub(crate) fn further(&self) -> &Further {
        &self.further
    }

    /// Replaces all pushes.
    pub(crate) fn press(&mut self, pushes: Vec<Push>) {
        self.pushes = pushes;
    }

    /// Whether there are pushes.
    pub(crate) fn is_pressed(&self) -> bool {
        !self.pushes.is_empty()
    }

    /// Those that push at `positions`.
    pub(crate) fn pushing<'a>(
        &'a self,
        positions: &'a [DVec3],
    ) -> impl Iterator<Item = &'a Push> + 'a {
        self.pushes
            .iter()
            .filter(|push| push.force(positions) > 0.0)
    }

    /// How stiff the springs of a vertex are together.
    pub(crate) fn stiffness(&self, vertex: usize) -> f64 {
        self.halves[self.starts[vertex]..self.starts[vertex + 1]]
            .iter()
            .map(|half| half.stiffness)
            .sum()
    }

    /// Springs, terms and pushes of some vertices by themselves, and which vertices they join:
    /// those first, then their neighbours.
    pub(crate) fn patch(&self, vertices: &[u32]) -> (Self, Vec<u32>) {
        let mut number: BTreeMap<u32, u32> =
            vertices.iter().zip(0..).map(|(&v, k)| (v, k)).collect();
        let mut all = vertices.to_vec();
        let (mut ends, mut springs) = (Vec::new(), Vec::new());
        for (k, &vertex) in (0..).zip(vertices) {
            for half in &self.halves[self.starts[vertex as usize]..self.starts[vertex as usize + 1]]
            {
                let other = *number.entry(half.other).or_insert_with(|| {
                    all.push(half.other);
                    all.len() as u32 - 1
                });
                if other as usize >= vertices.len() || k < other {
                    ends.push([k, other]);
                    springs.push(Spring {
                        rest: half.rest,
                        stiffness: half.stiffness,
                    });
                }
            }
        }
        let reaches = |push: &&Push| {
            push.ends.iter().any(|end| {
                number
                    .get(&end.0)
                    .is_some_and(|&k| (k as usize) < vertices.len())
            })
        };
        let near: Vec<Push> = self.pushes.iter().filter(reaches).copied().collect();
        let mut number_of = |vertex: u32| {
            *number.entry(vertex).or_insert_with(|| {
                all.push(vertex);
                all.len() as u32 - 1
            })
        };
        let renumbered = near.into_iter().map(|push| Push {
            ends: push.ends.map(|(v, gradient)| (number_of(v), gradient)),
            ..push
        });
        let pushes = renumbered.collect();
        let elements = self.further.elements_of(vertices, number_of);
        let further = Further::new(all.len(), elements, Vec::new());
        (
            Self {
                pushes,
                further,
                ..Self::new(all.len(), &ends, &springs)
            },
            all,
        )
    }

    /// Number of vertices.
    pub(crate) fn points(&self) -> usize {
        self.starts.len() - 1
    }

    /// Neighbour and spring of every spring of a vertex, neighbours ascending.
    pub(crate) fn around(&self, vertex: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let range = self.starts[vertex]..self.starts[vertex + 1];
        self.halves[range.clone()]
            .iter()
            .zip(&self.springs[range])
            .map(|(half, &q)| (half.other as usize, q as usize))
    }

    /// Rest lengths in the order of [`around`](Self::around).
    pub(crate) fn rests(&self, vertex: usize) -> impl Iterator<Item = f64> + '_ {
        self.halves[self.starts[vertex]..self.starts[vertex + 1]]
            .iter()
            .map(|half| half.rest)
    }

    /// Evaluates all forces; returns the energy.
    pub(crate) fn evaluate(&self, positions: &[DVec3], nodes: &mut [Node]) -> f64 {
        parallel::for_each_chunk_mut(nodes, GRAIN, |start, chunk| {
            for (k, node) in chunk.iter_mut().enumerate() {
                *node = self.node(start + k, positions);
            }
        });
        for push in &self.pushes {
            let force = push.force(positions);
            push.ends
                .iter()
                .for_each(|(vertex, gradient)| nodes[*vertex as usize].force += *gradient * force);
            nodes[push.ends[0].0 as usize].energy += push.energy(force);
        }
        let own = nodes.iter().map(|node| node.energy).sum();
        if self.further.is_empty() {
            own
        } else {
            own + self.further.add_to(positions, nodes)
        }
    }

    /// The energy alone.
    pub(crate) fn at(&self, positions: &[DVec3]) -> f64 {
        self.evaluate(positions, &mut vec![Node::default(); self.points()])
    }

    fn node(&self, vertex: usize, positions: &[DVec3]) -> Node {
        let here = positions[vertex];
        let mut node = Node::default();
        for half in &self.halves[self.starts[vertex]..self.starts[vertex + 1]] {
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
        let block = move |half: &Half| {
            let other = half.other as usize;
            (
                other,
                Self::block(half, positions[vertex] - positions[other], transverse),
            )
        };
        self.halves[self.starts[vertex]..self.starts[vertex + 1]]
            .iter()
            .map(block)
    }

    /// Minus the block of the Hessian between the ends of a spring.
    fn block(half: &Half, offset: DVec3, transverse: Transverse) -> DMat3 {
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

    /// The Hessian over the coordinates of the vertices that `support` leaves unknown, restricted
    /// to the directions in which they may move; directions that are barred have the vertex'
    /// largest stiffness and no coupling. What is dense in it is left out
    /// ([`Further::columns`]).
    pub(crate) fn hessian(
        &self,
        positions: &[DVec3],
        support: &Support,
        transverse: Transverse,
        shift: f64,
    ) -> SparseMatrix {
        let mut pattern = BlockRows::with_capacity(self.halves.len());
        let pushed = self.push_blocks(positions);
        let mut row: Vec<(u32, DMat3)> = Vec::new();
        let locals = self.further.locals(positions);
        for (unknown, &vertex) in support.unknown_vertices().iter().enumerate() {
            let vertex = vertex as usize;
            row.clear();
            let mut diagonal = DMat3::ZERO;
            let here = support.projector(vertex);
            for half in &self.halves[self.starts[vertex]..self.starts[vertex + 1]] {
                let block = Self::block(
                    half,
                    positions[vertex] - positions[half.other as usize],
                    transverse,
                );
                diagonal += block;
                if let Some(column) = support.unknown_of(half.other as usize) {
                    row.push((
                        column,
                        -support.between(vertex, &block, half.other as usize),
                    ));
                }
            }
            diagonal += self
                .further
                .add_row(vertex, &locals, positions, support, transverse, &mut row);
            for (&(_, other), block) in pushed.range((vertex as u32, 0)..(vertex as u32 + 1, 0)) {
                if other as usize == vertex {
                    diagonal += *block;
                } else if let Some(column) = support.unknown_of(other as usize) {
                    add_to_row(
                        &mut row,
                        column,
                        support.between(vertex, block, other as usize),
                    );
                }
            }
            let largest = diagonal
                .x_axis
                .x
                .abs()
                .max(diagonal.y_axis.y.abs())
                .max(diagonal.z_axis.z.abs())
                .max(f64::MIN_POSITIVE);
            let barred = (DMat3::IDENTITY - here) * largest;
            let own = here * diagonal * here
                + barred
                + DMat3::from_diagonal(DVec3::splat(shift * largest));
            let at = row.partition_point(|entry| entry.0 < unknown as u32);
            row.insert(at, (unknown as u32, own));
            pattern.push(&row);
        }
        pattern.into_matrix(support.unknown_vertices().len())
    }

    /// What pushes add to the Hessian, by pairs of vertices.
    fn push_blocks(&self, positions: &[DVec3]) -> BTreeMap<(u32, u32), DMat3> {
        let mut blocks: BTreeMap<(u32, u32), DMat3> = BTreeMap::new();
        for push in self.pushing(positions) {
            for (a, b) in (0..ENDS).flat_map(|a| (0..ENDS).map(move |b| (a, b))) {
                *blocks
                    .entry((push.ends[a].0, push.ends[b].0))
                    .or_insert(DMat3::ZERO) += push.block(a, b);
            }
        }
        blocks
    }
}

/// Adds to the block of a column, or makes it.
pub(crate) fn add_to_row(row: &mut Vec<(u32, DMat3)>, column: u32, block: DMat3) {
    let at = row.partition_point(|entry| entry.0 < column);
    match row.get_mut(at).filter(|entry| entry.0 == column) {
        Some(entry) => entry.1 += block,
        None => row.insert(at, (column, block)),
    }
}

/// Compressed rows that are filled three at a time.
struct BlockRows {
    starts: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl BlockRows {
    fn with_capacity(blocks: usize) -> Self {
        Self {
            starts: vec![0],
            indices: Vec::with_capacity(9 * blocks),
            values: Vec::with_capacity(9 * blocks),
        }
    }

    fn push(&mut self, row: &[(u32, DMat3)]) {
        for r in 0..3 {
            for (column, block) in row {
                self.indices.extend([0, 1, 2].map(|c| 3 * column + c));
                self.values
                    .extend([block.x_axis[r], block.y_axis[r], block.z_axis[r]]);
            }
            self.starts.push(self.indices.len());
        }
    }

    fn into_matrix(self, unknowns: usize) -> SparseMatrix {
        SparseMatrix::from_rows(3 * unknowns, self.starts, self.indices, self.values)
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
            let (mut above, mut below) = (vec![Node::default(); 4], vec![Node::default(); 4]);
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
        fn the_projected_hessian_never_curves_down(points in points(), springs in springs(), way in prop::collection::vec(-1.0..1.0_f64, 12)) {
            let hessian = SpringEnergy::new(4, &ENDS, &springs).hessian(&points, &Support::free(4), Transverse::Projected, 0.0);
            let curve: f64 = hessian.multiply(&way).iter().zip(&way).map(|(a, b)| a * b).sum();
            prop_assert!(curve > -1e-12);
        }
    }

    #[test]
    fn ends_in_one_place_give_finite_numbers() {
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
