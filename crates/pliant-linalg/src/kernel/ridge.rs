//! Kernel ridge regression with a free constant, and its leave-one-out error in closed form.
//!
//! **Problem.** Predict any number of values at a new place from the same few examples: one
//! fit should serve all of them and estimate its own error.
//!
//! **Equation.** `min_{f,b} Σ (yᵢ − f(xᵢ) − b)² + μ‖f‖²` predicts `ω(q)ᵀ y` with weights (shares)
//! that sum to one and do not depend on `y`:
//!
//! ```text
//! ω(q) = 1/n + H (K̃ + μI)⁻¹ k̃(q)        S = [ω(x₁) … ω(xₙ)]ᵀ        yᵢ − ŷᵢ⁽⁻ⁱ⁾ = (yᵢ − (S y)ᵢ) / (1 − Sᵢᵢ)
//! ```
//!
//! and its predictive variance, in units of the values' own, is `κ̃(q,q) − k̃ᵀ (K̃ + μI)⁻¹ k̃`.
//!
//! **Source.** Saunders, Gammerman, Vovk, "Ridge regression learning algorithm in dual variables",
//! 1998; the leave-one-out identity: Allen 1974 (PRESS); the variance: Rasmussen and Williams,
//! "Gaussian processes for machine learning", 2006, eq. 2.26.
//!
//! **Departures.** One eigendecomposition of `K̃` serves every `μ`.

use faer::Mat;

use crate::kernel::{CenteredGram, Kernel};
use crate::{LinalgError, symmetric_eigen};

/// Examples prepared for regression.
#[derive(Debug, Clone)]
pub struct KernelRidge {
    gram: CenteredGram,
    /// Eigenvalues of `K̃`, none negative, and its eigenvectors as columns.
    values: Vec<f64>,
    vectors: Mat<f64>,
    /// `μ`.
    ridge: f64,
}

impl KernelRidge {
    /// Prepares at least one example; `ridge` is relative to the mean eigenvalue of `K̃`, so that
    /// the unit of the features does not matter.
    ///
    /// # Errors
    /// Features that do not fit each other or are not finite; a ridge that is not a number above
    /// zero.
    pub fn fit(features: Vec<Vec<f64>>, kernel: Kernel, ridge: f64) -> Result<Self, LinalgError> {
        if !(ridge > 0.0 && ridge.is_finite()) {
            return Err(LinalgError::Weight {
                unknown: 0,
                weight: ridge,
            });
        }

        // Rounding may leave eigenvalues a little below zero.
        let gram = CenteredGram::of(features, kernel)?;
        let (values, vectors) = symmetric_eigen(gram.matrix().as_ref())?;
        let values: Vec<f64> = values.into_iter().map(|value| value.max(0.0)).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;

        Ok(Self {
            gram,
            values,
            vectors,
            ridge: ridge * mean.max(f64::MIN_POSITIVE),
        })
    }

    /// The same examples with an absolute `μ`.
    #[must_use]
    pub fn with_absolute_ridge(self, ridge: f64) -> Self {
        Self { ridge, ..self }
    }

    /// `μ`.
    #[must_use]
    pub fn ridge(&self) -> f64 {
        self.ridge
    }

    /// The weight of each example at `query`: the prediction is the sum of these times the
    /// examples' values. They sum to one.
    ///
    /// # Panics
    /// If the query has another length than the features.
    #[must_use]
    pub fn shares(&self, query: &[f64]) -> Vec<f64> {
        self.shares_of_centred(&self.gram.query(query))
    }

    /// The variance of a prediction at `query`, relative to that of the values; zero at
    /// an example that is reproduced exactly.
    ///
    /// # Panics
    /// If the query has another length than the features.
    #[must_use]
    pub fn variance(&self, query: &[f64]) -> f64 {
        let along = self.along_eigenvectors(&self.gram.query(query));
        let explained: f64 = along
            .iter()
            .zip(&self.values)
            .map(|(a, value)| a * a / (value + self.ridge))
            .sum();
        (self.gram.self_likeness(query) - explained).max(0.0)
    }

    /// For each example, the shares by which all the others would predict it.
    #[must_use]
    pub fn leave_one_out_shares(&self) -> Vec<Vec<f64>> {
        let n = self.gram.size();
        (0..n)
            .map(|i| {
                let column: Vec<f64> = (0..n).map(|j| self.gram.matrix()[(j, i)]).collect();
                let mut shares = self.shares_of_centred(&column);
                // ŷᵢ⁽⁻ⁱ⁾ = (Σ_{j≠i} S_ij y_j) / (1 − S_ii), which is the identity above solved for
                // the prediction.
                let rest = 1.0 - std::mem::replace(&mut shares[i], 0.0);
                let others = (n - 1).max(1) as f64;

                // An example that only predicts itself is predicted by the mean of the others.
                for (_, share) in shares.iter_mut().enumerate().filter(|(j, _)| *j != i) {
                    *share = if rest > f64::EPSILON {
                        *share / rest
                    } else {
                        1.0 / others
                    };
                }

                shares
            })
            .collect()
    }

    fn shares_of_centred(&self, centred: &[f64]) -> Vec<f64> {
        let n = centred.len();

        // `(K̃ + μI)⁻¹ k̃` in the eigenbasis …
        let along: Vec<f64> = self
            .along_eigenvectors(centred)
            .into_iter()
            .zip(&self.values)
            .map(|(a, value)| a / (value + self.ridge))
            .collect();

        // … back in the basis of the examples, with a sum of one.
        let raw: Vec<f64> = (0..n)
            .map(|i| (0..n).map(|k| self.vectors[(i, k)] * along[k]).sum())
            .collect();
        let mean = raw.iter().sum::<f64>() / n as f64;

        raw.into_iter()
            .map(|value| value - mean + 1.0 / n as f64)
            .collect()
    }

    fn along_eigenvectors(&self, centred: &[f64]) -> Vec<f64> {
        (0..centred.len())
            .map(|k| {
                centred
                    .iter()
                    .enumerate()
                    .map(|(i, value)| self.vectors[(i, k)] * value)
                    .sum()
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::linalg::solvers::Solve;

    const KERNEL: Kernel = Kernel::Gaussian { width: 1.3 };

    fn features() -> Vec<Vec<f64>> {
        (0..7)
            .map(|i| {
                (0..4)
                    .map(|j| ((i * 7 + j * 5 + i * j) % 13) as f64 * 0.25 - 1.0)
                    .collect()
            })
            .collect()
    }

    fn values() -> Vec<f64> {
        (0..7)
            .map(|i| (i as f64 * 1.7).sin() + 0.3 * i as f64)
            .collect()
    }

    fn predict(model: &KernelRidge, values: &[f64], query: &[f64]) -> f64 {
        model
            .shares(query)
            .iter()
            .zip(values)
            .map(|(share, value)| share * value)
            .sum()
    }

    #[test]
    fn the_prediction_solves_the_bordered_system_of_function_and_constant() {
        // [K + μI, 1; 1ᵀ, 0] [α; b] = [y; 0]
        let (features, values) = (features(), values());
        let model = KernelRidge::fit(features.clone(), KERNEL, 0.1).unwrap();
        let border = |i: usize, j: usize| match (i, j) {
            (7, 7) => 0.0,
            (7, _) | (_, 7) => 1.0,
            _ => {
                KERNEL.between(&features[i], &features[j])
                    + if i == j { model.ridge() } else { 0.0 }
            }
        };

        let right = Mat::from_fn(8, 1, |i, _| if i < 7 { values[i] } else { 0.0 });
        let solution = Mat::from_fn(8, 8, border).full_piv_lu().solve(&right);
        let query = [0.2, -0.4, 0.5, 1.0];
        let direct = (0..7)
            .map(|i| KERNEL.between(&features[i], &query) * solution[(i, 0)])
            .sum::<f64>()
            + solution[(7, 0)];

        assert!((predict(&model, &values, &query) - direct).abs() < 1e-11);
    }

    #[test]
    fn leave_one_out_in_closed_form_equals_refitting() {
        let (features, values) = (features(), values());
        let model = KernelRidge::fit(features.clone(), KERNEL, 0.05).unwrap();
        for (i, shares) in model.leave_one_out_shares().iter().enumerate() {
            let keep = |j: &usize| *j != i;
            let rest: Vec<Vec<f64>> = (0..7).filter(keep).map(|j| features[j].clone()).collect();
            let rest_values: Vec<f64> = (0..7).filter(keep).map(|j| values[j]).collect();
            let refitted = KernelRidge::fit(rest, KERNEL, 1.0)
                .unwrap()
                .with_absolute_ridge(model.ridge());

            let closed: f64 = shares
                .iter()
                .zip(&values)
                .map(|(share, value)| share * value)
                .sum();

            assert!(
                (closed - predict(&refitted, &rest_values, &features[i])).abs() < 1e-11,
                "example {i}"
            );
            assert_eq!(shares[i], 0.0);
        }
    }

    #[test]
    fn shares_sum_to_one_and_reproduce_a_constant() {
        let model = KernelRidge::fit(features(), Kernel::Linear, 0.3).unwrap();
        for query in [[0.0; 4], [3.0, -1.0, 2.0, 9.0]] {
            assert!((predict(&model, &[4.2; 7], &query) - 4.2).abs() < 1e-12);
        }
    }

    #[test]
    fn a_small_ridge_reproduces_the_examples_with_low_variance_only_there() {
        let (features, values) = (features(), values());
        let model = KernelRidge::fit(features.clone(), KERNEL, 1e-10).unwrap();
        for (example, value) in features.iter().zip(&values) {
            assert!((predict(&model, &values, example) - value).abs() < 1e-6);
            assert!(model.variance(example) < 1e-6);
        }
        assert!(model.variance(&[9.0; 4]) > 0.5);
    }

    #[test]
    fn identical_examples_and_a_single_one_give_their_mean() {
        let model = KernelRidge::fit(vec![vec![1.0, 2.0]; 3], KERNEL, 0.1).unwrap();
        assert!((predict(&model, &[1.0, 2.0, 6.0], &[5.0, 5.0]) - 3.0).abs() < 1e-12);
        let single = KernelRidge::fit(vec![vec![1.0]], KERNEL, 0.1).unwrap();
        assert_eq!(single.shares(&[7.0]), vec![1.0]);
    }

    #[test]
    fn an_invalid_ridge_is_declined() {
        assert!(
            [0.0, -1.0, f64::NAN, f64::INFINITY]
                .into_iter()
                .all(|ridge| KernelRidge::fit(features(), KERNEL, ridge).is_err())
        );
    }
}
