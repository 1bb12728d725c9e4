//! Kernel canonical correlation analysis (CCA) as a regression: predictions use only directions in
//! which input and output correlate.
//!
//! **Problem.** From a handful of examples, find the directions of the (kernelised) input and of
//! the output that correlate most, and predict the output from those.
//!
//! **Equation.** With the centred Gram matrix `K̃ = U Λ Uᵀ`, centred outputs `Y`, `C_x = K̃² + κK̃`
//! and `C_y = YᵀY + εI`,
//!
//! ```text
//! C_x^{−½} K̃ Y C_y^{−½} = Σᵣ σᵣ uᵣ vᵣᵀ        ŷ(q) = ȳ + Σᵣ σᵣ (C_y^{½} vᵣ) (uᵣᵀ C_x^{−½} k̃(q))
//! ```
//!
//! `σᵣ` are the canonical correlations; with all of them the prediction is kernel ridge regression
//! with ridge `κ`.
//!
//! **Source.** Feng, Kim, Yu, "Real-time data driven deformation using kernel canonical correlation
//! analysis", 2008; the regularised form: Hardoon, Szedmak, Shawe-Taylor, "Canonical correlation
//! analysis: an overview", 2004, section 4.
//!
//! **Departures.** In the eigenbasis of `K̃` the first factor is `√(λ/(λ + κ)) Uᵀ Y C_y^{−½}`: no
//! power of a singular matrix is taken.

use faer::Mat;

use crate::kernel::{CenteredGram, Kernel};
use crate::{LinalgError, Svd, symmetric_eigen};

/// Eigenvalues below this part of the largest are rounding.
const NEGLIGIBLE: f64 = 1e-12;

/// A predictor of several outputs.
#[derive(Debug, Clone)]
pub struct KernelCca {
    gram: CenteredGram,
    correlations: Vec<f64>,
    /// `C_x^{−½} uᵣ` as columns.
    projections: Mat<f64>,
    /// `σᵣ C_y^{½} vᵣ` as columns.
    responses: Mat<f64>,
    mean: Vec<f64>,
}

impl KernelCca {
    /// Fits `outputs` (one list per example). `ridge` is `κ` relative to the mean eigenvalue of
    /// `K̃`; pairs of directions with a correlation below `least_correlation` are left out.
    ///
    /// # Errors
    /// Lists that do not fit each other or are not finite; a ridge that is negative or not
    /// finite.
    pub fn fit(
        features: Vec<Vec<f64>>,
        outputs: &[Vec<f64>],
        kernel: Kernel,
        ridge: f64,
        least_correlation: f64,
    ) -> Result<Self, LinalgError> {
        let n = features.len();
        if outputs.len() != n {
            return Err(LinalgError::Size {
                what: "the list of outputs",
                found: outputs.len(),
                expected: n,
            });
        }

        if !(ridge >= 0.0 && ridge.is_finite()) {
            return Err(LinalgError::Weight {
                unknown: 0,
                weight: ridge,
            });
        }

        // Both sides are centred; the ridge is relative to the mean eigenvalue of the Gram matrix.
        let gram = CenteredGram::of(features, kernel)?;
        let (mean, centred) = centre(outputs)?;
        let (values, vectors) = positive_eigen(gram.matrix())?;
        let ridge = ridge * values.iter().sum::<f64>() / n as f64;

        // Outputs are whitened, so that correlations and not variances decide.
        let (root, inverse_root) = roots(&(centred.transpose() * &centred))?;
        let whitened = vectors.transpose() * &centred * &inverse_root;
        let damped = Mat::from_fn(values.len(), whitened.ncols(), |k, c| {
            (values[k] / (values[k] + ridge)).sqrt() * whitened[(k, c)]
        });

        // Canonical directions are the singular vectors of the regularised cross-correlation.
        let svd = Svd::of(damped.as_ref())?;
        let kept = svd
            .values
            .iter()
            .take_while(|&&value| value >= least_correlation && value > 0.0)
            .count();

        // Projections of new features, and the outputs that they stand for.
        let scaled = Mat::from_fn(values.len(), kept, |k, r| {
            svd.u[(k, r)] / (values[k] * (values[k] + ridge)).sqrt()
        });
        let responses =
            &root * Mat::from_fn(svd.v.nrows(), kept, |c, r| svd.v[(c, r)] * svd.values[r]);

        Ok(Self {
            gram,
            correlations: svd.values[..kept].to_vec(),
            projections: &vectors * scaled,
            responses,
            mean,
        })
    }

    /// The canonical correlations in use, descending.
    #[must_use]
    pub fn correlations(&self) -> &[f64] {
        &self.correlations
    }

    /// The outputs at `query`.
    ///
    /// # Panics
    /// If the query has another length than the features.
    #[must_use]
    pub fn predict(&self, query: &[f64]) -> Vec<f64> {
        let centred = self.gram.query(query);
        let mut outputs = self.mean.clone();
        for r in 0..self.correlations.len() {
            // One canonical variate of the query at a time.
            let variate: f64 = centred
                .iter()
                .enumerate()
                .map(|(i, value)| self.projections[(i, r)] * value)
                .sum();
            for (c, output) in outputs.iter_mut().enumerate() {
                *output += self.responses[(c, r)] * variate;
            }
        }

        outputs
    }

    /// The prediction as `ŷ(q) = a + Σᵢ bᵢ κ(xᵢ, q)`: the constant `a`, and the `bᵢ` one after the
    /// other.
    ///
    /// Predictors of many outputs that share their examples then share the kernel's values too.
    #[must_use]
    pub fn folded(&self) -> (Vec<f64>, Vec<f64>) {
        let (n, width) = (self.gram.size(), self.mean.len());
        let (means, mean) = self.gram.means();
        let product = &self.responses * self.projections.transpose();

        let mut constant = self.mean.clone();
        let mut slopes = vec![0.0; n * width];
        for c in 0..width {
            // Centring the query subtracts means; they are moved to the constant here.
            let row_mean = (0..n).map(|i| product[(c, i)]).sum::<f64>() / n as f64;
            for i in 0..n {
                slopes[i * width + c] = product[(c, i)] - row_mean;
                constant[c] -= product[(c, i)] * (means[i] - mean);
            }
        }

        (constant, slopes)
    }
}

/// The mean output, and the outputs less it, by rows.
fn centre(outputs: &[Vec<f64>]) -> Result<(Vec<f64>, Mat<f64>), LinalgError> {
    let n = outputs.len();
    let width = outputs.first().map_or(0, Vec::len);
    if let Some(other) = outputs.iter().find(|list| list.len() != width) {
        return Err(LinalgError::Size {
            what: "a list of outputs",
            found: other.len(),
            expected: width,
        });
    }

    let mean: Vec<f64> = (0..width)
        .map(|c| outputs.iter().map(|list| list[c]).sum::<f64>() / n as f64)
        .collect();
    let centred = Mat::from_fn(n, width, |i, c| outputs[i][c] - mean[c]);

    Ok((mean, centred))
}

/// The eigenpairs of a positive semi-definite matrix that are not negligible.
fn positive_eigen(matrix: &Mat<f64>) -> Result<(Vec<f64>, Mat<f64>), LinalgError> {
    let (values, vectors) = symmetric_eigen(matrix.as_ref())?;
    let bound = NEGLIGIBLE * values.last().copied().unwrap_or(0.0).max(0.0);
    let first = values
        .iter()
        .position(|&value| value > bound)
        .unwrap_or(values.len());
    let kept = vectors.subcols(first, values.len() - first).to_owned();
    Ok((values[first..].to_vec(), kept))
}

/// `C^{½}` and the pseudo-inverse `C^{−½}`; outputs that do not vary have none.
fn roots(covariance: &Mat<f64>) -> Result<(Mat<f64>, Mat<f64>), LinalgError> {
    let (values, vectors) = positive_eigen(covariance)?;
    let scaled = |power: f64| {
        Mat::from_fn(vectors.nrows(), values.len(), |i, k| {
            vectors[(i, k)] * values[k].powf(power)
        })
    };

    Ok((
        scaled(0.5) * vectors.transpose(),
        scaled(-0.5) * vectors.transpose(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KernelRidge;

    const N: usize = 9;

    fn features() -> Vec<Vec<f64>> {
        (0..N)
            .map(|i| {
                (0..3)
                    .map(|j| ((i * 7 + j * 5 + i * i * j) % 13) as f64 * 0.25 - 1.0)
                    .collect()
            })
            .collect()
    }

    fn outputs() -> Vec<Vec<f64>> {
        let features = features();
        (0..N)
            .map(|i| {
                vec![
                    features[i][0] - features[i][2] + 0.2 * (i as f64).sin(),
                    (features[i][1] * 2.0).cos() + 0.1 * (i % 3) as f64,
                ]
            })
            .collect()
    }

    fn column_centred(rows: &[Vec<f64>]) -> Mat<f64> {
        centre(rows).unwrap().1
    }

    #[test]
    fn with_a_linear_kernel_and_no_ridge_the_correlations_are_those_of_classical_cca() {
        // Classical CCA: σ² are the eigenvalues of C_xx⁻¹ C_xy C_yy⁻¹ C_yx; equivalently the
        // singular values of Q_xᵀ Q_y.
        let (x, y) = (column_centred(&features()), column_centred(&outputs()));
        let basis = |m: &Mat<f64>| Svd::of(m.as_ref()).unwrap().u;
        let classical = Svd::of((basis(&x).transpose() * basis(&y)).as_ref())
            .unwrap()
            .values;

        let found = KernelCca::fit(features(), &outputs(), Kernel::Linear, 0.0, 0.0).unwrap();
        assert_eq!(found.correlations().len(), 2);
        assert!(
            found
                .correlations()
                .iter()
                .zip(&classical)
                .all(|(a, b)| (a - b).abs() < 1e-10),
            "{:?} {classical:?}",
            found.correlations()
        );
    }

    #[test]
    fn directions_satisfy_the_generalised_eigenproblem() {
        // K̃ Y C_y⁻¹ Yᵀ K̃ α = σ² (K̃² + κK̃) α
        let kernel = Kernel::Gaussian { width: 1.0 };
        let found = KernelCca::fit(features(), &outputs(), kernel, 0.1, 0.0).unwrap();
        let gram = CenteredGram::of(features(), kernel).unwrap();
        let k = gram.matrix();
        let ridge = 0.1 * (0..N).map(|i| k[(i, i)]).sum::<f64>() / N as f64;
        let y = column_centred(&outputs());

        let inverse = Svd::of((y.transpose() * &y).as_ref())
            .unwrap()
            .pseudo_inverse(1e-12);
        let left = k * &y * inverse * y.transpose() * k;
        let right = k * k + Mat::from_fn(N, N, |i, j| ridge * k[(i, j)]);

        for (r, sigma) in found.correlations().iter().enumerate() {
            let alpha = found.projections.subcols(r, 1);
            let rest =
                &left * alpha - Mat::from_fn(N, 1, |i, _| sigma * sigma * (&right * alpha)[(i, 0)]);
            assert!(rest.norm_l2() < 1e-10, "pair {r}: {}", rest.norm_l2());
        }
    }

    #[test]
    fn the_folded_form_gives_the_same_prediction() {
        let kernel = Kernel::Gaussian { width: 1.0 };
        let found = KernelCca::fit(features(), &outputs(), kernel, 0.1, 0.3).unwrap();
        let (constant, slopes) = found.folded();
        let query = [0.3, -0.2, 0.9];
        let values: Vec<f64> = features()
            .iter()
            .map(|own| kernel.between(own, &query))
            .collect();

        for (c, expected) in found.predict(&query).into_iter().enumerate() {
            let folded = constant[c]
                + values
                    .iter()
                    .enumerate()
                    .map(|(i, value)| slopes[2 * i + c] * value)
                    .sum::<f64>();
            assert!((folded - expected).abs() < 1e-12, "{folded} {expected}");
        }
    }

    #[test]
    fn with_all_directions_the_prediction_is_kernel_ridge_regression() {
        let kernel = Kernel::Gaussian { width: 1.0 };
        let cca = KernelCca::fit(features(), &outputs(), kernel, 0.2, 0.0).unwrap();
        let ridge = KernelRidge::fit(features(), kernel, 0.2).unwrap();
        let query = [0.3, 0.1, -0.6];
        let shares = ridge.shares(&query);

        for (c, value) in cca.predict(&query).iter().enumerate() {
            let other: f64 = shares
                .iter()
                .zip(outputs())
                .map(|(share, output)| share * output[c])
                .sum();
            assert!((value - other).abs() < 1e-10);
        }
    }

    #[test]
    fn weak_correlations_are_left_out_and_constant_outputs_stay() {
        let cca = KernelCca::fit(
            features(),
            &outputs(),
            Kernel::Gaussian { width: 1.0 },
            0.2,
            2.0,
        )
        .unwrap();

        assert!(cca.correlations().is_empty());
        let mean = centre(&outputs()).unwrap().0;
        assert_eq!(cca.predict(&[0.0; 3]), mean);

        let still = KernelCca::fit(
            features(),
            &vec![vec![3.0, -1.0]; N],
            Kernel::Linear,
            0.1,
            0.0,
        )
        .unwrap();

        assert_eq!(still.predict(&[1.0, 2.0, 3.0]), vec![3.0, -1.0]);
    }

    #[test]
    fn lists_of_different_length_are_declined() {
        assert!(KernelCca::fit(features(), &outputs()[1..], Kernel::Linear, 0.1, 0.0).is_err());
        assert!(KernelCca::fit(features(), &outputs(), Kernel::Linear, f64::NAN, 0.0).is_err());
    }
}
