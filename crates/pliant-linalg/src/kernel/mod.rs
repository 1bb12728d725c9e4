//! Kernel functions between feature vectors, and their centred Gram matrix.
//!
//! **Problem.** Regression from a few examples needs only their similarity: `κ(x, y)` for
//! every pair, relative to the examples' mean, so that a constant is free.
//!
//! **Equation.** With `H = I − 11ᵀ/n`,
//!
//! ```text
//! κ(x, y) = exp(−|x − y|² / 2w²)  or  xᵀy        K̃ = H K H        k̃(q) = H (k(q) − K 1/n)
//! ```
//!
//! **Source.** Schölkopf, Smola, Müller, "Nonlinear component analysis as a kernel eigenvalue
//! problem", 1998, appendix A.

mod cca;
mod ridge;

use faer::Mat;

use crate::LinalgError;

pub use cca::KernelCca;
pub use ridge::KernelRidge;

/// Similarity of two feature vectors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kernel {
    /// `xᵀy`.
    Linear,
    /// `exp(−|x − y|² / 2w²)`.
    Gaussian {
        /// `w`, in the unit of the features. With zero, all different vectors have similarity 0.
        width: f64,
    },
}

impl Kernel {
    /// `κ(x, y)`.
    #[must_use]
    pub fn between(&self, x: &[f64], y: &[f64]) -> f64 {
        match *self {
            Self::Linear => x.iter().zip(y).map(|(a, b)| a * b).sum(),
            Self::Gaussian { width } => gaussian(squared_distance(x, y), width),
        }
    }
}

/// `exp(−d²/2w²)` of a squared distance `d²`; equal places have similarity 1 even for `w = 0`.
#[must_use]
pub fn gaussian(squared: f64, width: f64) -> f64 {
    if squared > 0.0 {
        (-0.5 * squared / (width * width)).exp()
    } else {
        1.0
    }
}

/// The median distance between two of `features`; zero for fewer than two.
#[must_use]
pub fn median_distance(features: &[Vec<f64>]) -> f64 {
    let pairs = (0..features.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    let mut squared: Vec<f64> = pairs
        .map(|(i, j)| squared_distance(&features[i], &features[j]))
        .collect();
    squared.sort_by(f64::total_cmp);
    squared
        .get(squared.len() / 2)
        .map_or(0.0, |middle| middle.sqrt())
}

/// The centred Gram matrix of some examples, with the means that centre a query in the same way.
#[derive(Debug, Clone)]
pub struct CenteredGram {
    kernel: Kernel,
    features: Vec<Vec<f64>>,
    matrix: Mat<f64>,
    /// `K 1/n`, and its mean.
    means: Vec<f64>,
    mean: f64,
}

impl CenteredGram {
    /// The Gram matrix of at least one example.
    ///
    /// # Errors
    /// No examples, lists of unlike length, or a number that is not finite.
    pub fn of(features: Vec<Vec<f64>>, kernel: Kernel) -> Result<Self, LinalgError> {
        let n = features.len();
        if n == 0 {
            return Err(LinalgError::Size {
                what: "the list of examples",
                found: 0,
                expected: 1,
            });
        }

        for (row, list) in features.iter().enumerate() {
            if list.len() != features[0].len() {
                return Err(LinalgError::Size {
                    what: "a feature vector",
                    found: list.len(),
                    expected: features[0].len(),
                });
            }
            if list.iter().any(|value| !value.is_finite()) {
                return Err(LinalgError::NotFinite { row });
            }
        }

        // `K̃ = H K H`: subtract the means of row and column, add the mean of all.
        let gram = Mat::from_fn(n, n, |i, j| kernel.between(&features[i], &features[j]));
        let means: Vec<f64> = (0..n)
            .map(|i| (0..n).map(|j| gram[(i, j)]).sum::<f64>() / n as f64)
            .collect();
        let mean = means.iter().sum::<f64>() / n as f64;
        let matrix = Mat::from_fn(n, n, |i, j| gram[(i, j)] - means[i] - means[j] + mean);

        Ok(Self {
            kernel,
            features,
            matrix,
            means,
            mean,
        })
    }

    /// Number of examples.
    #[must_use]
    pub fn size(&self) -> usize {
        self.features.len()
    }

    /// `K̃`.
    #[must_use]
    pub fn matrix(&self) -> &Mat<f64> {
        &self.matrix
    }

    /// `k̃(q)`.
    ///
    /// # Panics
    /// If the query has another length than the examples.
    #[must_use]
    pub fn query(&self, query: &[f64]) -> Vec<f64> {
        assert_eq!(
            query.len(),
            self.features[0].len(),
            "a query has the length of the examples"
        );

        // `k̃(q)` is centred with the means of the examples.
        let raw: Vec<f64> = self
            .features
            .iter()
            .map(|example| self.kernel.between(example, query))
            .collect();
        let mean = raw.iter().sum::<f64>() / raw.len() as f64;

        raw.iter()
            .zip(&self.means)
            .map(|(value, own)| value - own - mean + self.mean)
            .collect()
    }

    /// The kernel's mean row `K 1/n`, and the mean of all of it.
    pub(crate) fn means(&self) -> (&[f64], f64) {
        (&self.means, self.mean)
    }

    /// `κ̃(q, q)`: how far the query is from the examples' mean, squared, in the space of the
    /// kernel.
    ///
    /// # Panics
    /// If the query has another length than the examples.
    #[must_use]
    pub fn self_likeness(&self, query: &[f64]) -> f64 {
        let sum: f64 = self
            .features
            .iter()
            .map(|example| self.kernel.between(example, query))
            .sum();
        self.kernel.between(query, query) - 2.0 * sum / self.size() as f64 + self.mean
    }
}

fn squared_distance(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(a, b)| (a - b) * (a - b)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examples() -> Vec<Vec<f64>> {
        (0..6)
            .map(|i| {
                (0..3)
                    .map(|j| ((i * 5 + j * 7) % 11) as f64 * 0.3 - 1.0)
                    .collect()
            })
            .collect()
    }

    #[test]
    fn the_centred_linear_gram_is_that_of_centred_features() {
        let features = examples();
        let mean: Vec<f64> = (0..3)
            .map(|j| features.iter().map(|f| f[j]).sum::<f64>() / 6.0)
            .collect();
        let centred: Vec<Vec<f64>> = features
            .iter()
            .map(|f| f.iter().zip(&mean).map(|(a, m)| a - m).collect())
            .collect();

        let gram = CenteredGram::of(features, Kernel::Linear).unwrap();
        let query = [0.3, -0.2, 0.9];
        let moved: Vec<f64> = query.iter().zip(&mean).map(|(a, m)| a - m).collect();

        for i in 0..6 {
            assert!((0..6).all(|j| {
                (gram.matrix()[(i, j)] - Kernel::Linear.between(&centred[i], &centred[j])).abs()
                    < 1e-13
            }));
            assert!(
                (gram.query(&query)[i] - Kernel::Linear.between(&centred[i], &moved)).abs() < 1e-13
            );
        }

        assert!(
            (gram.self_likeness(&query) - Kernel::Linear.between(&moved, &moved)).abs() < 1e-13
        );
    }

    #[test]
    fn a_query_at_an_example_gives_its_column_of_the_gram_matrix() {
        let gram = CenteredGram::of(examples(), Kernel::Gaussian { width: 0.8 }).unwrap();
        for (i, example) in examples().iter().enumerate() {
            let column = gram.query(example);
            assert!((0..6).all(|j| (column[j] - gram.matrix()[(j, i)]).abs() < 1e-14));
            assert!((gram.self_likeness(example) - gram.matrix()[(i, i)]).abs() < 1e-14);
        }
    }

    #[test]
    fn equal_examples_have_similarity_one_for_every_width() {
        assert_eq!(Kernel::Gaussian { width: 0.0 }.between(&[1.0], &[1.0]), 1.0);
        assert_eq!(Kernel::Gaussian { width: 0.0 }.between(&[1.0], &[2.0]), 0.0);
        assert_eq!(median_distance(&[vec![0.0], vec![0.0]]), 0.0);
        assert_eq!(median_distance(&[vec![0.0], vec![1.0], vec![3.0]]), 2.0);
    }

    #[test]
    fn lists_of_different_length_are_declined() {
        assert!(CenteredGram::of(Vec::new(), Kernel::Linear).is_err());
        assert!(CenteredGram::of(vec![vec![1.0], vec![1.0, 2.0]], Kernel::Linear).is_err());
        assert_eq!(
            CenteredGram::of(vec![vec![1.0], vec![f64::NAN]], Kernel::Linear).unwrap_err(),
            LinalgError::NotFinite { row: 1 }
        );
    }
}
