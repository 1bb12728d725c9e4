//! Predictor of the equilibrium from blended local rotations.
//!
//! **Problem.** Springs have several equilibria, and a solve that starts far away is slow and may
//! end in a crumpled one. Start within a few thousandths of the right one, at the cost of a single
//! linear solve.
//!
//! **Equation.** With the rotation `Rᵢˢ` that best takes the springs of vertex `i` from the first
//! shape to shape `s`, the blended rotation `R̄ᵢ`, and spring vectors `dˢ = vᵢˢ − vⱼˢ`,
//!
//! ```text
//! d̄ = ½ Σₛ wₛ (R̄ᵢ Rᵢˢᵀ + R̄ⱼ Rⱼˢᵀ) dˢ        min Σ k |xᵢ − xⱼ − r̄ d̄ / |d̄||²
//! ```
//!
//! which is one solve with the spring Laplacian. At the weights of one shape `R̄ = Rˢ`, so `d̄ =
//! dˢ` and the minimum is that shape: the prediction is exact at the ends.
//!
//! **Source.** Sorkine and Alexa, "As-rigid-as-possible surface modeling", 2007, eqs. 5–9, with
//! given rotations; interpolation of shapes by rotations: Alexa, Cohen-Or, Levin 2000.
//!
//! **Departures.** Rotations between shapes may exceed half a turn; they are unwrapped along the
//! springs ([`crate::blend::rotation_vector`]).

use std::collections::VecDeque;

use pliant_linalg::{nearest_rotation, outer, parallel, rotation_vector};
use pliant_mesh::glam::{DMat3, DQuat, DVec3};

use crate::blend::energy::SpringEnergy;
use crate::blend::energy::Support;
use crate::blend::rotation_vector::{mean_rotation, unwrap_towards};
use crate::blend::solvers::Preconditioner;
use crate::blend::solvers::SpringLaplacian;

/// Vertices in one parallel task.
const GRAIN: usize = 256;

/// The rotation of every vertex from the first shape to each shape.
#[derive(Debug)]
pub(crate) struct Predictor {
    /// By shape, then by vertex.
    rotation_vectors: Vec<Vec<DVec3>>,
}

impl Predictor {
    /// Fits the rotations of all vertices. Unwrapping starts at `roots`, where rotations have at
    /// most half a turn.
    pub(crate) fn fit(
        energy: &SpringEnergy,
        constants: &[f64],
        shapes: &[Vec<DVec3>],
        roots: &[usize],
    ) -> Self {
        // Rotations beyond half a turn are continued along the springs.
        let order = walk(energy, roots);
        let rest = std::iter::once(vec![DVec3::ZERO; energy.points()]);
        let rotation_vectors = shapes[1..].iter().map(|shape| {
            let principal = parallel::map(energy.points(), GRAIN, |vertex| {
                rotation_vector(local_rotation(energy, constants, &shapes[0], shape, vertex))
            });
            unwrapped(&order, principal)
        });

        Self {
            rotation_vectors: rest.chain(rotation_vectors).collect(),
        }
    }

    /// The blended rotation of every vertex, from the first shape.
    pub(crate) fn rotations(&self, weights: &[f64]) -> Vec<DQuat> {
        let active: Vec<usize> = (0..weights.len()).filter(|&s| weights[s] != 0.0).collect();
        parallel::map(self.rotation_vectors[0].len(), GRAIN, |vertex| {
            self.blended_rotation(vertex, &active, weights)
        })
    }

    fn blended_rotation(&self, vertex: usize, active: &[usize], weights: &[f64]) -> DQuat {
        let vector_in = |s: usize| self.rotation_vectors[s][vertex];
        let start =
            DQuat::from_scaled_axis(active.iter().map(|&s| vector_in(s) * weights[s]).sum());

        // The mean of the identity and one rotation, as between the first shape and another, is a
        // share of that rotation.
        let rotating = active
            .iter()
            .filter(|&&s| vector_in(s) != DVec3::ZERO)
            .count();
        if rotating < 2 {
            return start;
        }

        let rotations = active
            .iter()
            .map(|&s| (weights[s], DQuat::from_scaled_axis(vector_in(s))));
        mean_rotation(rotations, start)
    }

    /// The prediction at `weights`, with the rotations there and the rest lengths of `energy`.
    /// `positions` gives the positions of held vertices and receives those of the others.
    pub(crate) fn predict(
        &self,
        weights: &[f64],
        rotations: &[DQuat],
        shapes: &[Vec<DVec3>],
        energy: &SpringEnergy,
        laplacian: &mut SpringLaplacian,
        support: &Support,
        positions: &mut [DVec3],
    ) {
        // For each active shape ½ wₛ R̄ Rˢᵀ, by vertex.
        let active: Vec<usize> = (0..weights.len()).filter(|&s| weights[s] != 0.0).collect();
        let mut from_shape: Vec<Vec<DMat3>> = Vec::with_capacity(active.len());
        for &s in &active {
            from_shape.push(parallel::map(rotations.len(), GRAIN, |vertex| {
                let rotated = rotations[vertex]
                    * DQuat::from_scaled_axis(self.rotation_vectors[s][vertex]).conjugate();
                DMat3::from_quat(rotated) * (0.5 * weights[s])
            }));
        }

        // Spring vectors r̄ d̄ / |d̄|.
        let vector = |vertex: usize, other: usize, rest: f64| {
            let mut blended = DVec3::ZERO;
            for (rotated, &s) in from_shape.iter().zip(&active) {
                blended +=
                    (rotated[vertex] + rotated[other]) * (shapes[s][vertex] - shapes[s][other]);
            }
            blended.normalize_or_zero() * rest
        };
        place_by_vectors(vector, energy, laplacian, support, positions);
    }
}

/// Places the unknown vertices so that springs are nearest to given vectors: from the other end to
/// the first one, given the first vertex, the other one and the rest length.
pub(crate) fn place_by_vectors(
    vector: impl Fn(usize, usize, f64) -> DVec3 + Sync + Send,
    energy: &SpringEnergy,
    laplacian: &mut SpringLaplacian,
    support: &Support,
    positions: &mut [DVec3],
) {
    // The right-hand side: the vectors and held neighbours.
    let unknowns = support.unknown_vertices();
    let constants = laplacian.constants();
    let mut solution = parallel::map(unknowns.len(), GRAIN, |unknown| {
        let vertex = unknowns[unknown] as usize;
        let mut sum = DVec3::ZERO;
        for ((other, q), rest) in energy.around(vertex).zip(energy.rests(vertex)) {
            let held = if support.unknown_of(other).is_none() {
                positions[other]
            } else {
                DVec3::ZERO
            };
            sum += (vector(vertex, other, rest) + held) * constants[q];
        }
        sum
    });

    laplacian.apply(&mut solution);
    for (position, &vertex) in solution.iter().zip(unknowns) {
        positions[vertex as usize] = *position;
    }
}

/// The rotation that best takes the springs of a vertex from one shape to another.
fn local_rotation(
    energy: &SpringEnergy,
    constants: &[f64],
    from: &[DVec3],
    to: &[DVec3],
    vertex: usize,
) -> DQuat {
    let mut covariance = DMat3::ZERO;
    for (other, q) in energy.around(vertex) {
        let weighted = (from[other] - from[vertex]) * constants[q];
        covariance += outer(to[other] - to[vertex], weighted);
    }

    DQuat::from_mat3(&nearest_rotation(covariance)).normalize()
}

/// All vertices in breadth-first order, each with the vertex it was reached from; roots have none.
fn walk(energy: &SpringEnergy, roots: &[usize]) -> Vec<(usize, Option<usize>)> {
    // Breadth-first search from the roots, then from vertices that they do not reach.
    let mut order = Vec::with_capacity(energy.points());
    let mut seen = vec![false; energy.points()];
    let mut queue = VecDeque::new();

    for root in roots.iter().copied().chain(0..energy.points()) {
        if std::mem::replace(&mut seen[root], true) {
            continue;
        }

        order.push((root, None));
        queue.push_back(root);
        while let Some(vertex) = queue.pop_front() {
            for (other, _) in energy.around(vertex) {
                if !std::mem::replace(&mut seen[other], true) {
                    order.push((other, Some(vertex)));
                    queue.push_back(other);
                }
            }
        }
    }

    order
}

/// Rotation vectors continued along `order` beyond half a turn.
fn unwrapped(order: &[(usize, Option<usize>)], mut vectors: Vec<DVec3>) -> Vec<DVec3> {
    for &(vertex, from) in order {
        if let Some(from) = from {
            vectors[vertex] = unwrap_towards(vectors[vertex], vectors[from]);
        }
    }
    vectors
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blend::energy::Springs;
    use crate::test_shapes::{bar, bent, twisted};

    /// The prediction for a bar whose first vertex is held.
    fn prediction(shapes: &[Vec<DVec3>], weights: &[f64]) -> Vec<DVec3> {
        let bar = bar(10, 2);
        let springs = Springs::new(&bar.mesh, &bar.tetrahedra, &[], shapes);

        // The Laplacian is that of the mean of all shapes.
        let mean = springs.blended(&vec![1.0 / shapes.len() as f64; shapes.len()]);
        let mut energy = SpringEnergy::new(springs.points(), springs.ends(), &mean);
        let support = Support::holding(&(0..springs.points()).map(|v| v == 0).collect::<Vec<_>>());
        let mut laplacian = SpringLaplacian::factor(&energy, &mean, &support).unwrap();
        let predictor = Predictor::fit(&energy, laplacian.constants(), shapes, &[0]);

        energy.set(&springs.blended(weights));
        let mut positions = vec![DVec3::ZERO; springs.points()];
        positions[0] = shapes
            .iter()
            .zip(weights)
            .map(|(shape, &weight)| shape[0] * weight)
            .sum();

        predictor.predict(
            weights,
            &predictor.rotations(weights),
            shapes,
            &energy,
            &mut laplacian,
            &support,
            &mut positions,
        );

        positions
    }

    fn most(a: &[DVec3], b: &[DVec3]) -> f64 {
        a.iter()
            .zip(b)
            .map(|(p, q)| p.distance(*q))
            .fold(0.0, f64::max)
    }

    #[test]
    fn a_prediction_at_a_shape_is_that_shape() {
        let points = bar(10, 2).points;
        let shapes = [points.clone(), bent(&points, 90.0), twisted(&points, 300.0)];
        for (shape, weights) in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
            .iter()
            .enumerate()
        {
            assert!(
                most(&prediction(&shapes, weights), &shapes[shape]) < 1e-10,
                "{shape}"
            );
        }
    }

    #[test]
    fn half_of_a_bend_is_predicted_to_a_hundredth() {
        let points = bar(10, 2).points;
        let found = prediction(&[points.clone(), bent(&points, 90.0)], &[0.5, 0.5]);
        assert!(
            most(&found, &bent(&points, 45.0)) < 0.04,
            "of a bar of length 4: {}",
            most(&found, &bent(&points, 45.0))
        );
    }
}
