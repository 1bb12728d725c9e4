//! Small dense decompositions: singular values, symmetric eigenvalues, pseudo-inverse.
//!
//! **Problem.** Pins by sliders, examples by features: tens to hundreds of rows, often
//! rank-deficient.
//!
//! **Equation.** `A = U Σ Vᵀ` with singular values in descending order, and
//! `A⁺ = V Σ⁺ Uᵀ` where `Σ⁺` inverts the singular values above `tolerance · σ₁` and
//! drops the others.
//!
//! **Departures.** `faer` decomposes; this module adds order, a stated tolerance and errors.

use faer::{Mat, MatRef, Side};

use crate::LinalgError;

pub use faer::Mat as DenseMatrix;

/// A thin singular value decomposition `A = U Σ Vᵀ`.
#[derive(Debug, Clone)]
pub struct Svd {
    /// Left singular vectors as columns, rows × min(rows, columns).
    pub u: Mat<f64>,
    /// Singular values, descending.
    pub values: Vec<f64>,
    /// Right singular vectors as columns, columns × min(rows, columns).
    pub v: Mat<f64>,
}

impl Svd {
    /// Relative size below which a singular value counts as zero.
    /// *Chosen*: the larger side of the matrix times the rounding unit, as in LAPACK-based tools.
    #[must_use]
    pub fn default_tolerance(rows: usize, columns: usize) -> f64 {
        rows.max(columns) as f64 * f64::EPSILON
    }

    /// Relative size below which a singular value may be rounding of entries that were stored in single
    /// precision. A matrix of independent errors of size `ε` has the norm `ε (√rows + √columns)`, and no
    /// entry is larger than the largest singular value.
    ///
    /// **Source.** Davidson, Szarek, "Local operator theory, random matrices and Banach spaces", 2001,
    /// theorem II.13.
    #[must_use]
    pub fn single_precision_tolerance(rows: usize, columns: usize) -> f64 {
        f64::from(f32::EPSILON) * ((rows as f64).sqrt() + (columns as f64).sqrt())
    }

    /// Decomposes `matrix`.
    pub fn of(matrix: MatRef<'_, f64>) -> Result<Self, LinalgError> {
        require_finite(matrix)?;
        let (rows, columns) = (matrix.nrows(), matrix.ncols());
        let svd = matrix.thin_svd().map_err(|_| LinalgError::NoConvergence {
            what: "singular value decomposition",
            rows,
            columns,
        })?;

        Ok(Self {
            u: svd.U().to_owned(),
            values: svd.S().column_vector().iter().copied().collect(),
            v: svd.V().to_owned(),
        })
    }

    /// Number of singular values above `tolerance` times the largest.
    #[must_use]
    pub fn rank(&self, tolerance: f64) -> usize {
        let bound = tolerance * self.values.first().copied().unwrap_or(0.0);
        self.values.iter().filter(|&&value| value > bound).count()
    }

    /// The pseudo-inverse that inverts the singular values above `tolerance` times the largest.
    #[must_use]
    pub fn pseudo_inverse(&self, tolerance: f64) -> Mat<f64> {
        let rank = self.rank(tolerance);
        let scaled = Mat::from_fn(self.v.nrows(), rank, |row, k| {
            self.v[(row, k)] / self.values[k]
        });
        &scaled * self.u.subcols(0, rank).transpose()
    }
}

/// Eigenvalues (ascending) and orthonormal eigenvectors (columns) of a symmetric matrix; only the
/// lower triangle is read.
pub fn symmetric_eigen(matrix: MatRef<'_, f64>) -> Result<(Vec<f64>, Mat<f64>), LinalgError> {
    require_finite(matrix)?;
    let (rows, columns) = (matrix.nrows(), matrix.ncols());
    if rows != columns {
        return Err(LinalgError::Size {
            what: "a symmetric matrix",
            found: rows,
            expected: columns,
        });
    }

    let eigen = matrix
        .self_adjoint_eigen(Side::Lower)
        .map_err(|_| LinalgError::NoConvergence {
            what: "eigendecomposition",
            rows,
            columns,
        })?;

    Ok((
        eigen.S().column_vector().iter().copied().collect(),
        eigen.U().to_owned(),
    ))
}

fn require_finite(matrix: MatRef<'_, f64>) -> Result<(), LinalgError> {
    let bad = (0..matrix.nrows())
        .find(|&row| (0..matrix.ncols()).any(|column| !matrix[(row, column)].is_finite()));
    bad.map_or(Ok(()), |row| Err(LinalgError::NotFinite { row }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(rows: usize, columns: usize) -> Mat<f64> {
        Mat::from_fn(rows, columns, |i, j| {
            ((i * 7 + j * 13) % 11) as f64 - 5.0 + 0.1 * (i as f64) * (j as f64)
        })
    }

    fn distance(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
        (a - b).norm_l2()
    }

    #[test]
    fn the_factors_multiply_to_the_matrix_and_values_descend() {
        for (rows, columns) in [(5, 3), (3, 5), (4, 4)] {
            let a = sample(rows, columns);
            let svd = Svd::of(a.as_ref()).unwrap();
            let sigma = Mat::from_fn(svd.values.len(), svd.values.len(), |i, j| {
                if i == j { svd.values[i] } else { 0.0 }
            });
            assert!(distance(&(&svd.u * &sigma * svd.v.transpose()), &a) < 1e-12 * a.norm_l2());
            assert!(svd.values.windows(2).all(|w| w[0] >= w[1]));
        }
    }

    #[test]
    fn the_pseudo_inverse_obeys_the_four_penrose_conditions_for_a_rank_deficient_matrix() {
        let thin = sample(6, 2);
        let a = &thin * sample(2, 4);
        let svd = Svd::of(a.as_ref()).unwrap();

        assert_eq!(svd.rank(1e-10), 2);
        assert_eq!(svd.rank(Svd::default_tolerance(6, 4)), 2);

        let p = svd.pseudo_inverse(1e-10);
        let bound = 1e-11 * a.norm_l2();
        assert!(distance(&(&a * &p * &a), &a) < bound);
        assert!(distance(&(&p * &a * &p), &p) < bound);

        let (ap, pa) = (&a * &p, &p * &a);
        assert!(distance(&ap, &ap.transpose().to_owned()) < bound);
        assert!(distance(&pa, &pa.transpose().to_owned()) < bound);
    }

    #[test]
    fn eigenpairs_satisfy_their_equation_and_ascend() {
        let a = sample(5, 5);
        let symmetric = &a + a.transpose();
        let (values, vectors) = symmetric_eigen(symmetric.as_ref()).unwrap();
        let lambda = Mat::from_fn(5, 5, |i, j| if i == j { values[i] } else { 0.0 });
        assert!(
            distance(&(&symmetric * &vectors), &(&vectors * &lambda)) < 1e-12 * symmetric.norm_l2()
        );
        assert!(values.windows(2).all(|w| w[0] <= w[1]));
    }

    #[test]
    fn nan_is_declined_with_its_row() {
        let mut a = sample(3, 3);
        a[(2, 1)] = f64::NAN;
        assert_eq!(
            Svd::of(a.as_ref()).unwrap_err(),
            LinalgError::NotFinite { row: 2 }
        );
    }
}
