//! Exact interpolation of the examples: the residuals of a prediction are added back (Shepard).
//!
//! **Problem.** A regression with a ridge smooths its examples. An animator who sets the control
//! points of a sculpted pose expects exactly that pose.
//!
//! **Equation.** With the predictions `x̂`, the frame `F_v` of the predicted surface at vertex `v`,
//! the shape distances `dᵢ` of the control points from those of example `i` and the spread `ρ` of
//! the examples,
//!
//! ```text
//! δ_{iv} = F_v(x̂ᵢ)ᵀ (x_{iv} − x̂_{iv})        x_v = x̂_v + F_v(x̂) Σᵢ ηᵢ δ_{iv}        ηᵢ = b(dᵢ/ρ) dᵢ⁻² / Σⱼ dⱼ⁻²        b(t) = (1 − t²)²₊
//! ```
//!
//! At an example, its own `η` is one and all others are zero. At a distance of more than `ρ` from
//! all examples, the correction is zero.
//!
//! **Source.** Shepard, "A two-dimensional interpolation function for irregularly-spaced data",
//! 1968.
//!
//! **Departures.** The frames and the fading `b` are our own. Examples with the same control points
//! share the correction, because no function of the points can distinguish them.

use pliant_linalg::{nearest_rotation, parallel};
use pliant_mesh::glam::{DMat3, DVec3};
use pliant_mesh::triangle_area;

use super::poisson::Poisson;
use super::predictor::Predictor;
use crate::control::{shape_distance, spread};
use crate::training::TrainingData;

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 2048;

/// The residuals of some examples.
#[derive(Debug)]
pub(crate) struct ResidualCorrection {
    examples: Vec<usize>,
    /// By example and vertex, in the frame of the prediction.
    offsets: Vec<Vec<DVec3>>,
    /// `ρ`.
    spread: f64,
}

impl ResidualCorrection {
    /// The residuals of `examples`.
    pub(crate) fn new(
        data: &TrainingData,
        predictor: &dyn Predictor,
        poisson: &Poisson,
        examples: &[usize],
    ) -> Self {
        let mut offsets = Vec::with_capacity(examples.len());
        let mut points: Vec<&[DVec3]> = Vec::with_capacity(examples.len());
        for &example in examples {
            let predicted = predictor.pose(data, poisson, &data.points[example]);
            // In the local frame, a residual rotates with the surface.
            let frames = vertex_frames(data, &predicted);
            let truth = data.examples.pose(example);
            offsets.push(parallel::map(predicted.len(), VERTICES_PER_TASK, |v| {
                frames[v].transpose() * (truth[v] - predicted[v])
            }));
            points.push(&data.points[example]);
        }

        Self {
            examples: examples.to_vec(),
            offsets,
            spread: spread(&points),
        }
    }

    /// Adds the residuals of the examples near `control` to a prediction.
    pub(crate) fn add(&self, data: &TrainingData, control: &[DVec3], positions: &mut [DVec3]) {
        let distances: Vec<f64> = self
            .examples
            .iter()
            .map(|&example| shape_distance(control, &data.points[example]))
            .collect();
        let weights = correction_weights(&distances, self.spread);
        if weights.iter().all(|weight| *weight == 0.0) {
            return;
        }

        // Residuals are stored in the frames of their predictions.
        let frames = vertex_frames(data, positions);
        parallel::for_each_chunk_mut(positions, VERTICES_PER_TASK, |start, chunk| {
            for (k, position) in chunk.iter_mut().enumerate() {
                let offset: DVec3 = self
                    .offsets
                    .iter()
                    .zip(&weights)
                    .map(|(offsets, weight)| offsets[start + k] * *weight)
                    .sum();
                *position += frames[start + k] * offset;
            }
        });
    }
}

/// `η`. An example at distance zero gets the whole weight; several such examples share it.
fn correction_weights(distances: &[f64], spread: f64) -> Vec<f64> {
    let matches = distances.iter().filter(|d| **d == 0.0).count();
    if matches > 0 {
        return distances
            .iter()
            .map(|d| if *d == 0.0 { 1.0 / matches as f64 } else { 0.0 })
            .collect();
    }

    // Relative to the nearest, so that squares neither overflow nor vanish.
    let nearest = distances.iter().copied().fold(f64::INFINITY, f64::min);
    let closeness: Vec<f64> = distances
        .iter()
        .map(|d| (nearest / d) * (nearest / d))
        .collect();
    let total: f64 = closeness.iter().sum();

    let pairs = distances.iter().zip(&closeness);
    pairs
        .map(|(&d, close)| fading(d, spread) * close / total)
        .collect()
}

/// `b(d/ρ)`.
fn fading(distance: f64, spread: f64) -> f64 {
    if distance < spread {
        (1.0 - (distance / spread) * (distance / spread)).powi(2)
    } else {
        0.0
    }
}

/// The rotation of the surface at each vertex, from the rest pose.
fn vertex_frames(data: &TrainingData, positions: &[DVec3]) -> Vec<DMat3> {
    let mesh = data.examples.reference();
    let gradients = data
        .gradients
        .at(positions)
        .expect("one position per vertex");

    let mut sums = vec![DMat3::ZERO; positions.len()];
    for (t, corners) in mesh.triangles().iter().enumerate() {
        let weighted = gradients[t] * triangle_area(mesh.triangle_points(t));
        for &corner in corners {
            sums[corner as usize] += weighted;
        }
    }
    parallel::map(sums.len(), VERTICES_PER_TASK, |v| nearest_rotation(sums[v]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_one_and_zero_at_an_example_and_vanish_far_from_all() {
        assert_eq!(
            correction_weights(&[0.0, 2.0, 3.0], 2.0),
            vec![1.0, 0.0, 0.0]
        );
        assert_eq!(
            correction_weights(&[0.0, 0.0, 3.0], 2.0),
            vec![0.5, 0.5, 0.0]
        );
        assert_eq!(correction_weights(&[2.0, 5.0], 2.0), vec![0.0, 0.0]);
        let close = correction_weights(&[1e-9, 1.0, 1.0], 1.5);
        assert!((close[0] - 1.0).abs() < 1e-15 && close[1] < 1e-15);
        let between = correction_weights(&[0.5, 0.5], 1.0);
        assert!(between[0] == between[1] && between[0] > 0.2 && between[0] < 0.5);
    }

    #[test]
    fn identical_examples_share_the_weight_equally() {
        assert_eq!(correction_weights(&[1.0, 1.0], 0.0), vec![0.0, 0.0]);
        assert_eq!(correction_weights(&[0.0, 0.0], 0.0), vec![0.5, 0.5]);
    }
}
