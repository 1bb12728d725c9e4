//! Rotations of all vertices between the shapes, continuous over the mesh.
//!
//! **Problem.** A rotation is known up to whole turns. Neighbours whose rotation vectors differ by a
//! turn would be blended around opposite sides, and tear a limb that is twisted beyond 180°.
//!
//! **Equation.** `Rᵢˢ` is the rotation that best takes the springs of vertex `i` from the first shape
//! to shape `s`. Its vector `ωᵢˢ` is the logarithm plus the whole turns that bring it nearest to the
//! vector of its neighbour in a spanning tree. Between the shapes
//!
//! ```text
//! Σₛ wₛ log(R̄ᵢᵀ Rᵢˢ) = 0
//! ```
//!
//! with the turns of each logarithm nearest to `ωᵢˢ − ω̄ᵢ`. For two shapes it is `exp(α ωᵢ)`.
//!
//! **Source.** Gao, Lai, Liang, Chen, Xia, "Efficient and flexible deformation representation for
//! data-driven surface modeling", 2016, section 4 (consistent axes and angles over the mesh); Moakher
//! 2002 (the mean of rotations).
//!
//! **Departures.** Gao et al. find the whole turns by integer programs. Here the tree joins
//! neighbours in the order of the angle between their rotations, so that noisy vertices are
//! leaves; springs over which vectors still differ by more than half a turn are counted.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use pliant_linalg::{nearest_rotation, outer, parallel, rotation_vector};
use pliant_mesh::glam::{DMat3, DQuat, DVec3};

use crate::blend::energy::SpringEnergy;
use crate::blend::rotation_vector::unwrap_towards;

/// Vertices in one parallel task.
const GRAIN: usize = 256;
/// Steps of the mean. Chosen: a fixed number, so that the mean is continuous in the weights.
const MEAN_STEPS: usize = 8;

/// The rotation vector of every vertex from the first shape to each shape.
#[derive(Debug)]
pub(crate) struct RotationField {
    /// By shape, then by vertex.
    vectors: Vec<Vec<DVec3>>,
    /// Springs over which the vectors of some shape differ by more than half a turn.
    torn: usize,
}

impl RotationField {
    /// Fits the rotations over `network`, with a constant for each spring. Coincident vertices have
    /// one rotation: `twins` names the first of each group. Turns are counted from `root`.
    pub(crate) fn fit(
        network: &SpringEnergy,
        constants: &[f64],
        shapes: &[Vec<DVec3>],
        twins: &[u32],
        root: usize,
    ) -> Self {
        let mut vectors = vec![vec![DVec3::ZERO; network.points()]];
        for shape in &shapes[1..] {
            let rotations = local_rotations(network, constants, &shapes[0], shape, twins);
            vectors.push(unwrapped(network, &rotations, root));
        }

        let torn = (0..network.points())
            .map(|v| {
                let is_torn = |other: usize| {
                    let mut by_shape = vectors.iter();
                    other > v && by_shape.any(|w| w[v].distance(w[other]) > std::f64::consts::PI)
                };
                network
                    .around(v)
                    .filter(|(other, _)| is_torn(*other))
                    .count()
            })
            .sum();

        Self { vectors, torn }
    }

    /// Springs over which the rotations of some shape differ by more than half a turn.
    pub(crate) fn torn(&self) -> usize {
        self.torn
    }

    /// The rotation of a vertex from the first shape to another.
    pub(crate) fn rotation(&self, shape: usize, vertex: usize) -> DQuat {
        DQuat::from_scaled_axis(self.vectors[shape][vertex])
    }

    /// The blended rotation of every vertex, from the first shape.
    pub(crate) fn blended(&self, weights: &[f64]) -> Vec<DQuat> {
        let active: Vec<usize> = (0..weights.len()).filter(|&s| weights[s] != 0.0).collect();
        parallel::map(self.vectors[0].len(), GRAIN, |vertex| {
            self.mean(vertex, &active, weights)
        })
    }

    fn mean(&self, vertex: usize, active: &[usize], weights: &[f64]) -> DQuat {
        let mut mean_vector: DVec3 = active
            .iter()
            .map(|&s| self.vectors[s][vertex] * weights[s])
            .sum();
        let mut mean = DQuat::from_scaled_axis(mean_vector);

        // The mean of the identity and one rotation is a share of that rotation.
        let rotating = |s: &&usize| self.vectors[**s][vertex] != DVec3::ZERO;
        if active.iter().filter(rotating).count() < 2 {
            return mean;
        }

        for _ in 0..MEAN_STEPS {
            let mut correction = DVec3::ZERO;
            for &s in active {
                let vector = self.vectors[s][vertex];
                let relative = mean.conjugate() * DQuat::from_scaled_axis(vector);
                let near = vector - mean_vector;
                correction += unwrap_towards(rotation_vector(relative), near) * weights[s];
            }

            mean = (mean * DQuat::from_scaled_axis(correction)).normalize();
            mean_vector = unwrap_towards(rotation_vector(mean), mean_vector);
        }

        mean
    }
}

/// The rotation that best takes the springs of each vertex, and of its twins, from one shape to
/// another.
fn local_rotations(
    network: &SpringEnergy,
    constants: &[f64],
    from: &[DVec3],
    to: &[DVec3],
    twins: &[u32],
) -> Vec<DQuat> {
    let mut covariances = parallel::map(network.points(), GRAIN, |vertex| {
        let mut covariance = DMat3::ZERO;
        for (other, q) in network.around(vertex) {
            let weighted = (from[other] - from[vertex]) * constants[q];
            covariance += outer(to[other] - to[vertex], weighted);
        }
        covariance
    });

    // The first vertex of a group gathers from its twins, which are after it.
    for (v, &first) in twins.iter().enumerate() {
        if first as usize != v {
            let own = covariances[v];
            covariances[first as usize] += own;
        }
    }

    parallel::map(network.points(), GRAIN, |vertex| {
        let first = twins.get(vertex).map_or(vertex, |&first| first as usize);
        DQuat::from_mat3(&nearest_rotation(covariances[first])).normalize()
    })
}

/// Rotation vectors, each with the turns nearest to its neighbour in a minimum spanning tree of
/// the angles between neighbours.
fn unwrapped(network: &SpringEnergy, rotations: &[DQuat], root: usize) -> Vec<DVec3> {
    let mut vectors: Vec<DVec3> = rotations.iter().map(|r| rotation_vector(*r)).collect();
    let mut seen = vec![false; rotations.len()];
    // Nonnegative floats have the order of their bits.
    let mut front: BinaryHeap<Reverse<(u64, u32, u32)>> = BinaryHeap::new();

    // Prim's algorithm from the root, then from vertices that it does not reach.
    for start in std::iter::once(root).chain(0..rotations.len()) {
        front.push(Reverse((0, start as u32, start as u32)));
        while let Some(Reverse((_, vertex, from))) = front.pop() {
            let vertex = vertex as usize;
            if std::mem::replace(&mut seen[vertex], true) {
                continue;
            }
            if vertex != from as usize {
                vectors[vertex] = unwrap_towards(vectors[vertex], vectors[from as usize]);
            }

            for (other, _) in network.around(vertex) {
                if !seen[other] {
                    let apart = 1.0 - rotations[vertex].dot(rotations[other]).abs();
                    front.push(Reverse((
                        apart.max(0.0).to_bits(),
                        other as u32,
                        vertex as u32,
                    )));
                }
            }
        }
    }

    vectors
}
