//! Confidence: the expected error of a driven pose at each vertex.
//!
//! **Problem.** Between the examples a prediction is good; outside their range it is a guess. Both
//! look alike.
//!
//! **Equation.** Region `b` has the predictive variance `v_b(q)`
//! ([`KernelRidge::variance`](pliant_linalg::KernelRidge::variance)), interpolated to vertices as
//! `v(q)`. Each example `i`, left out in turn, has a variance `v⁻ⁱ` and an error `rᵢ`, so that
//!
//! ```text
//! σ(q)² = v(q) Σᵢ |rᵢ|² / Σᵢ v⁻ⁱ(xᵢ)        confidence = 1 / (1 + σ / 1 %)
//! ```
//!
//! is the expected error, relative to the longest side. By construction, the sum of its squares
//! over the left-out examples is that of the measured errors.
//!
//! **Source.** The variance: Rasmussen and Williams, "Gaussian processes for machine learning",
//! 2006, section 2.2; a scale fitted to left-out residuals: section 5.4.2. The formula of the
//! confidence is our own.

use pliant_linalg::parallel;
use pliant_mesh::glam::DVec3;

use crate::methods::{Poisson, Predictor};
use crate::surface::RegionBlend;
use crate::training::{TrainingData, folds};

/// Expected error, relative to the longest side, at which the confidence is one half. *Chosen*: an
/// error that an animator sees at arm's length.
const HALF: f64 = 0.01;

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 4096;

/// The expected error of a pose.
#[derive(Debug, Clone, PartialEq)]
pub struct Confidence {
    /// Expected error of each vertex, over the longest side of the reference pose.
    pub expected_error: Vec<f64>,
}

impl Confidence {
    /// The confidence of each vertex, between 0 and 1; one half for an expected error of 1 % of the
    /// longest side.
    #[must_use]
    pub fn of_vertices(&self) -> Vec<f64> {
        self.expected_error
            .iter()
            .map(|error| HALF / (HALF + error))
            .collect()
    }

    /// The mean over the vertices of [`of_vertices`](Self::of_vertices).
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.of_vertices().iter().sum::<f64>() / self.expected_error.len() as f64
    }
}

/// The scale of the variances, fitted to the errors of left-out examples.
#[derive(Debug)]
pub(crate) struct Calibration {
    blend: RegionBlend,
    /// Squared error of each vertex, relative to the longest side, for a variance of one.
    scale: Vec<f64>,
}

impl Calibration {
    /// `None` if the method has no variances.
    pub(crate) fn of(
        data: &TrainingData,
        predictor: &dyn Predictor,
        poisson: &Poisson,
    ) -> Option<Self> {
        predictor.variances(data, &data.points[0])?;
        let blend = RegionBlend::of(data.examples.reference(), &data.regions);
        let vertex_count = data.examples.reference().vertex_count();

        // Sums of squared errors and of variances over the folds.
        let mut squares = vec![0.0; vertex_count];
        let mut variances = vec![0.0; vertex_count];
        for left_out in folds(&data.all_examples()) {
            let points = &data.points[left_out];
            let without = predictor.without(left_out)?;
            let predicted = without.pose(data, poisson, points);
            let variance = blend.at_vertices(&without.variances(data, points)?);

            let truth = data.examples.pose(left_out);
            for v in 0..vertex_count {
                squares[v] += predicted[v].distance_squared(truth[v]);
                variances[v] += variance[v];
            }
        }

        let side = data.examples.longest_side().max(f64::MIN_POSITIVE);
        // A vertex without variance has no expected error.
        let mut scale = vec![0.0; vertex_count];
        for v in 0..vertex_count {
            if variances[v] > 0.0 {
                scale[v] = squares[v] / variances[v] / (side * side);
            }
        }
        Some(Self { blend, scale })
    }

    pub(crate) fn at(
        &self,
        data: &TrainingData,
        predictor: &dyn Predictor,
        control: &[DVec3],
    ) -> Option<Confidence> {
        let variances = predictor.variances(data, control)?;
        let variance = self.blend.at_vertices(&variances);
        Some(Confidence {
            expected_error: parallel::map(variance.len(), VERTICES_PER_TASK, |v| {
                (self.scale[v] * variance[v].max(0.0)).sqrt()
            }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::{LocalBlend, LocalPoses};
    use crate::test_bar::{bar_control, bar_examples};
    use crate::{ControlConstraint, LearnOptions, LocalSettings, Method, Model};

    #[test]
    fn over_the_left_out_examples_expected_and_measured_squares_have_equal_sums_at_every_vertex() {
        let examples = bar_examples();
        let control = bar_control();
        let poisson = Poisson::factor(
            examples.reference(),
            &control,
            ControlConstraint::Soft(30.0),
        )
        .unwrap();
        let data = TrainingData::new(examples, control, 30, &()).unwrap();
        let poses = std::sync::Arc::new(LocalPoses::new(&data, 7, 2.0));
        let all_examples = data.all_examples();
        let settings = LocalSettings {
            sharpness: 2.0,
            ridge: 0.1,
            refits: 0,
        };

        let blend = LocalBlend::train(poses, &all_examples, &settings).unwrap();
        let calibration = Calibration::of(&data, &blend, &poisson).unwrap();
        let mut expected = vec![0.0; 200];
        let mut found = vec![0.0; 200];

        // The calibration guarantees the equality at every vertex.
        for left_out in 1..data.examples.count() {
            let rest: Vec<usize> = all_examples
                .iter()
                .copied()
                .filter(|&i| i != left_out)
                .collect();
            let without = LocalBlend::train(blend.poses().clone(), &rest, &settings).unwrap();
            let pose = without.pose(&data, &poisson, &data.points[left_out]);

            let confidence = calibration
                .at(&data, &without, &data.points[left_out])
                .unwrap();

            for v in 0..200 {
                expected[v] += confidence.expected_error[v].powi(2);
                found[v] += pose[v].distance_squared(data.examples.pose(left_out)[v])
                    / data.examples.longest_side().powi(2);
            }
        }

        assert!(
            expected
                .iter()
                .zip(&found)
                .all(|(e, f)| (e - f).abs() < 1e-9 * f)
        );
    }

    #[test]
    fn a_method_without_variances_has_no_confidence() {
        let options = LearnOptions::default()
            .with_method(Method::Sorkine2007)
            .with_bones(20);
        let model = Model::train(bar_examples(), bar_control(), &options, &()).unwrap();

        assert_eq!(
            model
                .driver()
                .confidence(&model.control().at(model.examples().pose(1))),
            Ok(None)
        );
    }

    #[test]
    fn an_expected_error_of_one_per_cent_is_a_confidence_of_one_half() {
        let confidence = Confidence {
            expected_error: vec![0.0, 0.01, 0.03],
        };
        assert!(
            confidence
                .of_vertices()
                .iter()
                .zip([1.0, 0.5, 0.25])
                .all(|(a, b)| (a - b).abs() < 1e-15)
        );
    }
}
