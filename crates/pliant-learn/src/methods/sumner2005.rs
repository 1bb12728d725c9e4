//! Mesh-based inverse kinematics (MeshIK): one weight per example for the whole mesh (Sumner et al.
//! 2005).
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
//! **Departures.** The positions are eliminated: each Gauss-Newton step solves one prefactored
//! system per weight and a small dense one. A step that does not lower the energy is halved. The
//! examples are rotated so that their control points are aligned with those at rest.

use pliant_linalg::{DenseMatrix, Svd, parallel};
use pliant_mesh::glam::{DMat3, DQuat, DVec3};

use super::poisson::Poisson;
use super::predictor::Predictor;
use super::rotations::rotation_vector;
use crate::control::Alignment;
use crate::training::{TRIANGLES_PER_TASK, TrainingData};

const MOST_STEPS: usize = 25;
/// The iteration ends when a step lowers the energy by less than this part of it.
const LEAST_GAIN: f64 = 1e-6;
const MOST_HALVINGS: usize = 8;
/// Relative tolerance of singular values in the reduced system: directions in which weights change
/// nothing.
const NEGLIGIBLE: f64 = 1e-9;

/// Rotation vector, and stretch minus the identity, of one triangle.
type Feature = (DVec3, DMat3);

/// The examples except the reference, aligned with the rest pose.
#[derive(Debug)]
pub(crate) struct Sumner2005 {
    /// By example and triangle.
    features: Vec<Vec<Feature>>,
}

/// A state of the Gauss-Newton iteration.
struct Iterate {
    weights: Vec<f64>,
    energy: f64,
    residual: Vec<DVec3>,
}

impl Sumner2005 {
    pub(crate) fn train(data: &TrainingData, trained_on: &[usize]) -> Self {
        let mut features = Vec::with_capacity(trained_on.len());
        for &example in trained_on {
            if example != 0 {
                features.push(aligned_features(data, example));
            }
        }
        Self { features }
    }

    /// The rotation vector and the stretch of a triangle.
    fn blend(&self, weights: &[f64], triangle: usize) -> (DVec3, DMat3) {
        let mut vector = DVec3::ZERO;
        let mut stretch = DMat3::IDENTITY;
        for (features, &weight) in self.features.iter().zip(weights) {
            vector += features[triangle].0 * weight;
            stretch += features[triangle].1 * weight;
        }
        (vector, stretch)
    }

    fn gradients(&self, weights: &[f64]) -> Vec<DMat3> {
        let triangles = self.features.first().map_or(0, Vec::len);
        parallel::map(triangles, TRIANGLES_PER_TASK, |t| {
            let (vector, stretch) = self.blend(weights, t);
            DMat3::from_quat(DQuat::from_scaled_axis(vector)) * stretch
        })
    }

    /// The derivative of the gradients by one weight: `[J(r) rᵢ]× exp(r) S + exp(r) Sᵢ`.
    fn slopes(&self, weights: &[f64], example: usize) -> Vec<DMat3> {
        parallel::map(self.features[example].len(), TRIANGLES_PER_TASK, |t| {
            let (vector, stretch) = self.blend(weights, t);
            let rotation = DMat3::from_quat(DQuat::from_scaled_axis(vector));
            let (own_vector, own_stretch) = self.features[example][t];
            cross_matrix(left_jacobian(vector) * own_vector) * rotation * stretch
                + rotation * own_stretch
        })
    }

    fn evaluate(&self, system: &System<'_>, weights: Vec<f64>) -> Iterate {
        let gradients = self.gradients(&weights);
        let residual = system.residual_of(&gradients, &system.anchors, &system.control);
        Iterate {
            weights,
            energy: residual.iter().map(|r| r.length_squared()).sum::<f64>(),
            residual,
        }
    }

    /// The Gauss-Newton step; `None` if the decomposition fails.
    fn step(&self, system: &System<'_>, current: &Iterate) -> Option<Vec<f64>> {
        let weights = &current.weights;
        let count = weights.len();
        let slopes: Vec<Vec<DVec3>> = parallel::map(count, 1, |example| {
            system.residual_of(&self.slopes(weights, example), &system.zeros, &system.zeros)
        });

        // Normal equations of the reduced problem; the pseudo-inverse ignores weights without
        // effect.
        let normal = DenseMatrix::from_fn(count, count, |i, j| dot(&slopes[i], &slopes[j]));
        let inverse = Svd::of(normal.as_ref()).ok()?.pseudo_inverse(NEGLIGIBLE);
        let right: Vec<f64> = slopes
            .iter()
            .map(|slope| dot(slope, &current.residual))
            .collect();

        let mut step = Vec::with_capacity(count);
        for i in 0..count {
            step.push(-(0..count).map(|j| inverse[(i, j)] * right[j]).sum::<f64>());
        }
        Some(step)
    }

    /// The first point along the step, halved again and again, with a lower energy.
    fn line_search(&self, system: &System<'_>, current: &Iterate, step: &[f64]) -> Option<Iterate> {
        for halvings in 0..MOST_HALVINGS {
            let length = 0.5_f64.powi(halvings as i32);
            let pairs = current.weights.iter().zip(step);
            let next = self.evaluate(system, pairs.map(|(w, s)| w + length * s).collect());
            if next.energy < current.energy {
                return Some(next);
            }
        }
        None
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
    /// The residuals of the equations at the best positions for `gradients`.
    fn residual_of(&self, gradients: &[DMat3], anchors: &[DVec3], control: &[DVec3]) -> Vec<DVec3> {
        let control = &control[..self.control.len()];
        let right = self.poisson.right_side(gradients);
        let positions = self.poisson.solve_rows(&right, anchors, control);
        self.poisson.residual(&positions, &right, control)
    }
}

impl Predictor for Sumner2005 {
    fn pose(&self, data: &TrainingData, poisson: &Poisson, control: &[DVec3]) -> Vec<DVec3> {
        let alignment = Alignment::of(&data.points[0], control);
        let anchors = data.examples.reference().positions().to_vec();
        // The system is solved in the aligned frame of the rest pose.
        let system = System {
            poisson,
            zeros: vec![DVec3::ZERO; anchors.len()],
            anchors,
            control: control.iter().map(|p| alignment.to_rest(*p)).collect(),
        };

        let mut current = self.evaluate(&system, vec![0.0; self.features.len()]);
        for _ in 0..MOST_STEPS {
            let Some(step) = self.step(&system, &current) else {
                break;
            };
            let Some(next) = self.line_search(&system, &current, &step) else {
                break;
            };

            let gain = current.energy - next.energy;
            current = next;
            if gain < LEAST_GAIN * current.energy {
                break;
            }
        }

        let gradients = self.gradients(&current.weights);
        let aligned = poisson.solve(&gradients, &system.anchors, &system.control);
        aligned
            .into_iter()
            .map(|p| alignment.to_present(p))
            .collect()
    }
}

/// The features of an example, rotated so that its control points are aligned with those at rest.
fn aligned_features(data: &TrainingData, example: usize) -> Vec<Feature> {
    let back = data.alignments[example].rotation.transpose();
    let mut features = Vec::with_capacity(data.triangle_count());
    for polar in &data.polars[example] {
        let vector = rotation_vector(back * polar.rotation);
        features.push((vector, polar.stretch - DMat3::IDENTITY));
    }
    features
}

fn dot(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum::<f64>()
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
fn left_jacobian(vector: DVec3) -> DMat3 {
    let angle = vector.length();
    let cross = cross_matrix(vector);
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

        let model = Sumner2005 {
            features: vec![
                vec![feature(1.0), feature(0.0)],
                vec![feature(-2.0), (DVec3::ZERO, DMat3::ZERO)],
            ],
        };

        let weights = [0.4, -0.7];
        let step = 1e-6;
        for example in 0..2 {
            // Central differences in one weight.
            let at = |h: f64| {
                let mut moved = weights;
                moved[example] += h;
                model.gradients(&moved)
            };
            let ahead = at(step);
            let behind = at(-step);

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
