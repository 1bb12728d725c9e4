//! The baseline of mesh-based inverse kinematics: one weight per example for the whole mesh, found
//! so that it meets the points.
//!
//! **Equation.** Over positions and weights,
//!
//! ```text
//! min_{x,w} Σ_t A_t ‖∇x_t − exp(Σᵢ wᵢ log R_{it}) (I + Σᵢ wᵢ (S_{it} − I))‖² + β w̄ Σ_k |x_k − c_k|²
//! ```
//!
//! **Source.** Sumner, Zwicker, Gotsman, Popović, "Mesh-based inverse kinematics", 2005, sections 4
//! and 5.
//!
//! **Ours.** The positions are eliminated: each Gauss-Newton step solves one prefactored system per
//! weight and a small dense one. A step that does not lower the energy is halved. Examples are
//! turned so that their control points lie as at rest.

use pliant_linalg::{DenseMatrix, Svd, parallel};
use pliant_mesh::glam::{DMat3, DQuat, DVec3};

use crate::control_points::Alignment;
use crate::local_blend::rotation_vector;
use crate::poisson::Poisson;
use crate::workbench::{Predictor, TRIANGLES_PER_TASK, Workbench};

const MOST_STEPS: usize = 25;
/// A step that lowers the energy by less than this part of it is the last.
const GAIN: f64 = 1e-6;
const MOST_HALVINGS: usize = 8;
/// Singular values of the reduced system below this part of the largest are left alone: weights
/// that change nothing.
const NEGLIGIBLE: f64 = 1e-9;

/// The examples besides the reference, turned to lie as at rest.
#[derive(Debug)]
pub(crate) struct MeshIk {
    /// By example and triangle: rotation vector, and stretch less the identity.
    features: Vec<Vec<(DVec3, DMat3)>>,
}

impl MeshIk {
    pub(crate) fn train(bench: &Workbench, trained_on: &[usize]) -> Self {
        let of_example = |&example: &usize| {
            let back = bench.alignments[example].rotation.transpose();
            bench.polars[example]
                .iter()
                .map(|polar| {
                    (
                        rotation_vector(back * polar.rotation),
                        polar.stretch - DMat3::IDENTITY,
                    )
                })
                .collect()
        };
        Self {
            features: trained_on
                .iter()
                .filter(|&&example| example != 0)
                .map(of_example)
                .collect(),
        }
    }

    /// The rotation vector and the stretch of a triangle.
    fn blend(&self, weights: &[f64], triangle: usize) -> (DVec3, DMat3) {
        let mut sum = (DVec3::ZERO, DMat3::IDENTITY);
        for (features, &weight) in self.features.iter().zip(weights) {
            sum.0 += features[triangle].0 * weight;
            sum.1 += features[triangle].1 * weight;
        }
        sum
    }

    fn gradients(&self, weights: &[f64]) -> Vec<DMat3> {
        let triangles = self.features.first().map_or(0, Vec::len);
        parallel::map(triangles, TRIANGLES_PER_TASK, |t| {
            let (turn, stretch) = self.blend(weights, t);
            DMat3::from_quat(DQuat::from_scaled_axis(turn)) * stretch
        })
    }

    /// The derivative of the gradients by one weight: `[J(r) rᵢ]× exp(r) S + exp(r) Sᵢ`.
    fn slopes(&self, weights: &[f64], example: usize) -> Vec<DMat3> {
        parallel::map(self.features[example].len(), TRIANGLES_PER_TASK, |t| {
            let (turn, stretch) = self.blend(weights, t);
            let rotation = DMat3::from_quat(DQuat::from_scaled_axis(turn));
            let (own_turn, own_stretch) = self.features[example][t];
            cross_matrix(left_jacobian(turn) * own_turn) * rotation * stretch
                + rotation * own_stretch
        })
    }

    /// The Gauss-Newton step from the residual's slopes.
    fn step(&self, system: &System<'_>, weights: &[f64], residual: &[DVec3]) -> Option<Vec<f64>> {
        let slopes: Vec<Vec<DVec3>> = parallel::map(weights.len(), 1, |example| {
            system.residual_of(&self.slopes(weights, example), &system.zeros, &system.zeros)
        });
        let dot = |a: &[DVec3], b: &[DVec3]| a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum::<f64>();
        let normal = DenseMatrix::from_fn(weights.len(), weights.len(), |i, j| {
            dot(&slopes[i], &slopes[j])
        });
        let inverse = Svd::of(normal.as_ref()).ok()?.pseudo_inverse(NEGLIGIBLE);
        let right: Vec<f64> = slopes.iter().map(|slope| dot(slope, residual)).collect();
        Some(
            (0..weights.len())
                .map(|i| {
                    -(0..weights.len())
                        .map(|j| inverse[(i, j)] * right[j])
                        .sum::<f64>()
                })
                .collect(),
        )
    }
}

/// The Poisson system with its goals.
struct System<'a> {
    poisson: &'a Poisson,
    anchors: Vec<DVec3>,
    control: Vec<DVec3>,
    zeros: Vec<DVec3>,
}

impl System<'_> {
    /// What the best positions for `gradients` leave of the equations.
    fn residual_of(&self, gradients: &[DMat3], anchors: &[DVec3], control: &[DVec3]) -> Vec<DVec3> {
        let control = &control[..self.control.len()];
        let right = self.poisson.right_side(gradients);
        let positions = self.poisson.solve_rows(&right, anchors, control);
        self.poisson.residual(&positions, &right, control)
    }
}

impl Predictor for MeshIk {
    fn pose(&self, bench: &Workbench, poisson: &Poisson, control: &[DVec3]) -> Vec<DVec3> {
        let alignment = Alignment::of(&bench.points[0], control);
        let anchors = bench.examples.reference().positions().to_vec();
        let zeros = vec![DVec3::ZERO; anchors.len()];
        let control: Vec<DVec3> = control.iter().map(|p| alignment.to_rest(*p)).collect();
        let system = System {
            poisson,
            anchors,
            control,
            zeros,
        };
        let energy_at = |weights: &[f64]| {
            let residual =
                system.residual_of(&self.gradients(weights), &system.anchors, &system.control);
            (
                residual.iter().map(|r| r.length_squared()).sum::<f64>(),
                residual,
            )
        };
        let mut weights = vec![0.0; self.features.len()];
        let (mut energy, mut residual) = energy_at(&weights);
        for _ in 0..MOST_STEPS {
            let Some(step) = self.step(&system, &weights, &residual) else {
                break;
            };
            let tried = (0..MOST_HALVINGS).map(|halvings| {
                let length = 0.5_f64.powi(halvings as i32);
                let moved: Vec<f64> = weights
                    .iter()
                    .zip(&step)
                    .map(|(w, s)| w + length * s)
                    .collect();
                let (energy, residual) = energy_at(&moved);
                (moved, energy, residual)
            });
            let Some(better) = tried.into_iter().find(|tried| tried.1 < energy) else {
                break;
            };
            let gain = energy - better.1;
            (weights, energy, residual) = better;
            if gain < GAIN * energy {
                break;
            }
        }
        let found = poisson.solve(&self.gradients(&weights), &system.anchors, &system.control);
        found.into_iter().map(|p| alignment.to_present(p)).collect()
    }
}

/// `[a]×`.
fn cross_matrix(a: DVec3) -> DMat3 {
    DMat3::from_cols(
        DVec3::new(0.0, a.z, -a.y),
        DVec3::new(-a.z, 0.0, a.x),
        DVec3::new(a.y, -a.x, 0.0),
    )
}

/// `J` in `d exp(r) = [J(r) dr]× exp(r)`.
fn left_jacobian(turn: DVec3) -> DMat3 {
    let angle = turn.length();
    let cross = cross_matrix(turn);
    let (first, second) = if angle < 1e-4 {
        (0.5, 1.0 / 6.0) // The next terms are below 1e-9.
    } else {
        (
            (1.0 - angle.cos()) / (angle * angle),
            (angle - angle.sin()) / (angle * angle * angle),
        )
    };
    DMat3::IDENTITY + cross * first + cross * cross * second
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_the_finite_differences_of_the_gradients() {
        let feature = |k: f64| {
            (
                DVec3::new(0.3 * k, -0.8, 0.5 - k),
                DMat3::from_diagonal(DVec3::new(0.2, -0.1 * k, 0.3)),
            )
        };
        let model = MeshIk {
            features: vec![
                vec![feature(1.0), feature(0.0)],
                vec![feature(-2.0), (DVec3::ZERO, DMat3::ZERO)],
            ],
        };
        let weights = [0.4, -0.7];
        let step = 1e-6;
        for example in 0..2 {
            let at = |h: f64| {
                let mut moved = weights;
                moved[example] += h;
                model.gradients(&moved)
            };
            let (ahead, behind) = (at(step), at(-step));
            for (t, slope) in model.slopes(&weights, example).iter().enumerate() {
                let difference = (ahead[t] - behind[t]) * (0.5 / step) - *slope;
                assert!(
                    difference.to_cols_array().iter().all(|x| x.abs() < 1e-8),
                    "{difference:?}"
                );
            }
        }
    }
}
