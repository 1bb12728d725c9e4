//! Where the equilibrium will about be: local turns are blended, and the springs are put together
//! again.
//!
//! **Problem.** Springs have several equilibria, and a search from afar is slow and may end in a
//! crumpled one. Start it within a few thousandths of the right one, at the cost of a single solve.
//!
//! **Equation.** With the rotation `Rᵢˢ` that best takes the springs of vertex `i` from the first
//! shape to shape `s`, the blended rotation `R̄ᵢ`, and spring vectors `dˢ = vᵢˢ − vⱼˢ`,
//!
//! ```text
//! d̄ = ½ Σₛ wₛ (R̄ᵢ Rᵢˢᵀ + R̄ⱼ Rⱼˢᵀ) dˢ        min Σ k |xᵢ − xⱼ − r̄ d̄ / |d̄||²
//! ```
//!
//! which is one solve with the spring Laplacian. At the weights of one shape `R̄ = Rˢ`, so `d̄ = dˢ`
//! and the minimum is that shape: the prediction is exact at the ends.
//!
//! **Source.** Sorkine and Alexa, "As-rigid-as-possible surface modeling", 2007, eqs. 5–9, with the
//! rotations given; interpolation of shapes by rotations: Alexa, Cohen-Or, Levin 2000.
//!
//! **Ours.** Rotations between shapes are extended beyond half a turn over the springs
//! ([`crate::turning`]).

use std::collections::VecDeque;

use pliant_linalg::{nearest_rotation, outer, parallel};
use pliant_mesh::glam::{DMat3, DQuat, DVec3};

use crate::energy::SpringEnergy;
use crate::fast::SpringLaplacian;
use crate::quasi_newton::Preconditioner;
use crate::support::Support;
use crate::turning::{exp, log, mean_rotation, unwrap_towards};

/// Vertices in one parallel task.
const GRAIN: usize = 256;

/// The turns of every vertex from the first shape to each.
#[derive(Debug)]
pub(crate) struct Predictor {
    /// By shape, then by vertex.
    turns: Vec<Vec<DVec3>>,
}

impl Predictor {
    /// Fits the rotations of all vertices. `roots` are walked from first; there turns are taken as
    /// the shorter ones.
    pub(crate) fn fit(
        energy: &SpringEnergy,
        constants: &[f64],
        shapes: &[Vec<DVec3>],
        roots: &[usize],
    ) -> Self {
        let order = walk(energy, roots);
        let rest = std::iter::once(vec![DVec3::ZERO; energy.points()]);
        let turns = shapes[1..].iter().map(|shape| {
            let principal = parallel::map(energy.points(), GRAIN, |vertex| {
                log(local_rotation(energy, constants, &shapes[0], shape, vertex))
            });
            unwrapped(&order, principal)
        });
        Self {
            turns: rest.chain(turns).collect(),
        }
    }

    /// The blended rotation of every vertex, from the first shape.
    pub(crate) fn rotations(&self, weights: &[f64]) -> Vec<DQuat> {
        let active: Vec<usize> = (0..weights.len()).filter(|&s| weights[s] != 0.0).collect();
        parallel::map(self.turns[0].len(), GRAIN, |vertex| {
            let start = exp(active
                .iter()
                .map(|&s| self.turns[s][vertex] * weights[s])
                .sum());
            // The mean of rest and a single turn, as between the first shape and another, is a
            // share of that turn.
            if active
                .iter()
                .filter(|&&s| self.turns[s][vertex] != DVec3::ZERO)
                .count()
                < 2
            {
                return start;
            }
            mean_rotation(
                active
                    .iter()
                    .map(|&s| (weights[s], exp(self.turns[s][vertex]))),
                start,
            )
        })
    }

    /// The prediction at `weights`, with the rotations there and springs as long as they are in
    /// `energy`. `positions` gives the place of held vertices and takes that of the others.
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
        let active: Vec<usize> = (0..weights.len()).filter(|&s| weights[s] != 0.0).collect();
        let from_shape: Vec<Vec<DMat3>> = active
            .iter()
            .map(|&s| {
                let turned =
                    |vertex: usize| rotations[vertex] * exp(self.turns[s][vertex]).conjugate();
                parallel::map(rotations.len(), GRAIN, |vertex| {
                    DMat3::from_quat(turned(vertex)) * (0.5 * weights[s])
                })
            })
            .collect();
        let unknowns = support.unknown_vertices();
        let constants = laplacian.constants();
        let mut sides = parallel::map(unknowns.len(), GRAIN, |unknown| {
            let vertex = unknowns[unknown] as usize;
            let pull = |((other, q), rest): ((usize, usize), f64)| {
                let blended: DVec3 = (0..active.len())
                    .map(|a| {
                        (from_shape[a][vertex] + from_shape[a][other])
                            * (shapes[active[a]][vertex] - shapes[active[a]][other])
                    })
                    .sum();
                let held = if support.unknown_of(other).is_none() {
                    positions[other]
                } else {
                    DVec3::ZERO
                };
                (blended.normalize_or_zero() * rest + held) * constants[q]
            };
            energy
                .around(vertex)
                .zip(energy.rests(vertex))
                .map(pull)
                .sum::<DVec3>()
        });
        laplacian.apply(&mut sides);
        for (place, &vertex) in sides.iter().zip(unknowns) {
            positions[vertex as usize] = *place;
        }
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
    let spread = |(other, q): (usize, usize)| {
        outer(
            to[other] - to[vertex],
            (from[other] - from[vertex]) * constants[q],
        )
    };
    let covariance = energy
        .around(vertex)
        .map(spread)
        .fold(DMat3::ZERO, |sum, m| sum + m);
    DQuat::from_mat3(&nearest_rotation(covariance)).normalize()
}

/// All vertices, each after one that it has a spring to, with that one; roots come alone.
fn walk(energy: &SpringEnergy, roots: &[usize]) -> Vec<(usize, Option<usize>)> {
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

fn unwrapped(order: &[(usize, Option<usize>)], mut turns: Vec<DVec3>) -> Vec<DVec3> {
    for &(vertex, from) in order {
        if let Some(from) = from {
            turns[vertex] = unwrap_towards(turns[vertex], turns[from]);
        }
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::springs::Springs;
    use crate::test_shapes::{bar, bent, twisted};

    /// The prediction for a bar whose first vertex and its two last are held.
    fn prediction(shapes: &[Vec<DVec3>], weights: &[f64]) -> Vec<DVec3> {
        let bar = bar(10, 2);
        let springs = Springs::new(&bar.mesh, &bar.tetrahedra, &[], shapes);
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
