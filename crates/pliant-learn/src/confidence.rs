//! How far off a driven pose may be, vertex by vertex.
//!
//! **Problem.** Between the examples a prediction is good, beyond them it is a guess, and both look
//! alike.
//!
//! **Equation.** Region `b` knows its predictive variance `v_b(q)`
//! ([`KernelRidge::variance`](pliant_linalg::KernelRidge::variance)); carried to vertices it is
//! `v(q)`. Each example `i` left out in turn has a variance `v⁻ⁱ` and is missed by `rᵢ`, so that
//!
//! ```text
//! σ(q)² = v(q) Σᵢ |rᵢ|² / Σᵢ v⁻ⁱ(xᵢ)        confidence = 1 / (1 + σ / 1 %)
//! ```
//!
//! is the error to be expected, in longest sides: by construction its squares sum, over the
//! examples left out, to those found.
//!
//! **Source.** The variance: Rasmussen and Williams, "Gaussian processes for machine learning",
//! 2006, section 2.2; a scale fitted to residuals left out: section 5.4.2. The confidence is
//! *ours*.

use pliant_linalg::parallel;
use pliant_mesh::glam::DVec3;

use crate::poisson::Poisson;
use crate::region_blend::RegionBlend;
use crate::rehearsal::folds;
use crate::workbench::{Predictor, Workbench};

/// Expected error, in longest sides, at which the confidence is one half. *Ours*: what an animator
/// sees at arm's length.
const HALF: f64 = 0.01;

/// What can be said about a pose before anyone knows the truth.
#[derive(Debug, Clone, PartialEq)]
pub struct Confidence {
    /// Per vertex, the error to be expected over the longest side of the reference pose.
    pub expected_error: Vec<f64>,
}

impl Confidence {
    /// Per vertex from one (sure) down to zero; one half where 1 % of the longest side is to be
    /// expected.
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

/// The scale of the variances, learned from examples left out.
#[derive(Debug)]
pub(crate) struct Calibration {
    blend: RegionBlend,
    /// Per vertex: squared error in longest sides for a variance of one.
    scale: Vec<f64>,
}

impl Calibration {
    /// None where the method has no variances.
    pub(crate) fn of(
        bench: &Workbench,
        predictor: &dyn Predictor,
        poisson: &Poisson,
    ) -> Option<Self> {
        predictor.variances(bench, &bench.points[0])?;
        let blend = RegionBlend::of(bench.examples.reference(), &bench.regions);
        let mut squares = vec![0.0; bench.examples.reference().vertex_count()];
        let mut variances = squares.clone();
        for left_out in folds(&bench.everything()) {
            let without = predictor.without(left_out)?;
            let found = without.pose(bench, poisson, &bench.points[left_out]);
            let missed = found
                .iter()
                .zip(bench.examples.pose(left_out))
                .map(|(a, b)| a.distance_squared(*b));
            squares
                .iter_mut()
                .zip(missed)
                .for_each(|(sum, square)| *sum += square);
            let doubt = blend.at_vertices(&without.variances(bench, &bench.points[left_out])?);
            variances
                .iter_mut()
                .zip(doubt)
                .for_each(|(sum, variance)| *sum += variance);
        }
        let side = bench.examples.longest_side().max(f64::MIN_POSITIVE);
        let scale = squares.iter().zip(&variances).map(|(square, variance)| {
            if *variance > 0.0 {
                square / variance / (side * side)
            } else {
                0.0
            }
        });
        Some(Self {
            blend,
            scale: scale.collect(),
        })
    }

    pub(crate) fn at(
        &self,
        bench: &Workbench,
        predictor: &dyn Predictor,
        control: &[DVec3],
    ) -> Option<Confidence> {
        let variance = self
            .blend
            .at_vertices(&predictor.variances(bench, control)?);
        let error = |v: usize| (self.scale[v] * variance[v].max(0.0)).sqrt();
        Some(Confidence {
            expected_error: parallel::map(variance.len(), 4096, error),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local_blend::{LocalBlend, LocalPoses, LocalSettings};
    use crate::test_bar::{bar_control, bar_examples};
    use crate::{Hold, LearnOptions, Method, Model};

    #[test]
    fn over_the_examples_left_out_expected_and_found_squares_have_one_sum_at_every_vertex() {
        let (examples, control) = (bar_examples(), bar_control());
        let poisson = Poisson::factor(examples.reference(), &control, Hold::Soft(30.0)).unwrap();
        let bench = Workbench::new(examples, control, 30).unwrap();
        let poses = std::sync::Arc::new(LocalPoses::new(&bench, 7, 2.0));
        let everything = bench.everything();
        let settings = LocalSettings {
            sharpness: 2.0,
            ridge: 0.1,
            refits: 0,
        };
        let blend = LocalBlend::train(poses, &everything, &settings).unwrap();
        let calibration = Calibration::of(&bench, &blend, &poisson).unwrap();
        let (mut expected, mut found) = (vec![0.0; 200], vec![0.0; 200]);
        for left_out in 1..bench.examples.count() {
            let rest: Vec<usize> = everything
                .iter()
                .copied()
                .filter(|&i| i != left_out)
                .collect();
            let without = LocalBlend::train(blend.poses().clone(), &rest, &settings).unwrap();
            let pose = without.pose(&bench, &poisson, &bench.points[left_out]);
            let told = calibration
                .at(&bench, &without, &bench.points[left_out])
                .unwrap();
            for v in 0..200 {
                expected[v] += told.expected_error[v].powi(2);
                found[v] += pose[v].distance_squared(bench.examples.pose(left_out)[v])
                    / bench.examples.longest_side().powi(2);
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
            .with_method(Method::Arap)
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
    fn one_per_cent_to_be_expected_is_half_a_confidence() {
        let told = Confidence {
            expected_error: vec![0.0, 0.01, 0.03],
        };
        assert!(
            told.of_vertices()
                .iter()
                .zip([1.0, 0.5, 0.25])
                .all(|(a, b)| (a - b).abs() < 1e-15)
        );
    }
}
