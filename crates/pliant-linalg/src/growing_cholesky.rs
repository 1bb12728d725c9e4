//! Cholesky factor updates: rows are appended and removed (for active sets).
//!
//! **Problem.** An active set changes by one variable at a time; a new factorisation costs a
//! power more than the change itself.
//!
//! **Equation.** With `A = L Lᵀ`, a further row `(aᵀ, α)` of `A` adds `(lᵀ, √(α − l·l))` with `L l
//! = a`. Without row `p` of `L` each row below it has one entry too many; Givens rotations of
//! neighbouring columns `(i, i + 1)` for `i = p, p + 1, …`, which keep `L Lᵀ`, set it to zero.
//!
//! **Source.** Golub and Van Loan, "Matrix computations", 4th edition, 2013, section 6.5.

/// `L` of a matrix whose rows come and go.
#[derive(Debug, Clone, Default)]
pub(crate) struct GrowingCholesky {
    /// The lower triangle, row after row.
    rows: Vec<f64>,
    /// One over the diagonal.
    inverses: Vec<f64>,
    /// Cosines and sines while a row is removed.
    rotations: Vec<[f64; 2]>,
}

impl GrowingCholesky {
    pub(crate) fn clear(&mut self) {
        self.rows.clear();
        self.inverses.clear();
    }

    /// One more row: its entries with all rows so far and with itself. Whether the matrix stays
    /// positive definite.
    pub(crate) fn append(&mut self, entries: impl IntoIterator<Item = f64>) -> bool {
        let (size, start) = (self.inverses.len(), self.rows.len());
        self.rows.extend(entries);
        let (done, row) = self.rows.split_at_mut(start);
        assert_eq!(
            row.len(),
            size + 1,
            "one entry for each row and one for the diagonal"
        );

        // Forward substitution gives the new row of the factor.
        for j in 0..size {
            row[j] = (row[j] - dot(&row[..j], &done[first(j)..][..j])) * self.inverses[j];
        }

        // Rounding may leave nothing of a row that nearly depends on the others.
        let rest = row[size] - dot(&row[..size], &row[..size]);
        row[size] = rest
            .max(f64::EPSILON * row[size])
            .max(f64::MIN_POSITIVE)
            .sqrt();

        self.inverses.push(1.0 / row[size]);
        rest > 0.0
    }

    /// Takes row and column `place` out of the matrix.
    pub(crate) fn remove(&mut self, place: usize) {
        let size = self.inverses.len() - 1;
        self.rotations.clear();
        for i in place..size {
            // The row below moves up, where it has one entry too many.
            self.rows.copy_within(first(i + 1)..first(i + 2), first(i));
            let row = &mut self.rows[first(i)..][..i + 2];

            // Rotations of the rows before this one, then a new one for its last entry.
            for (j, [cosine, sine]) in (place..i).zip(&self.rotations) {
                (row[j], row[j + 1]) = (
                    cosine * row[j] + sine * row[j + 1],
                    cosine * row[j + 1] - sine * row[j],
                );
            }

            let diagonal = (row[i] * row[i] + row[i + 1] * row[i + 1]).sqrt();
            self.rotations
                .push([row[i] / diagonal, row[i + 1] / diagonal]);
            row[i] = diagonal;
            self.inverses[i] = 1.0 / diagonal;
        }

        self.rows.truncate(first(size));
        self.inverses.truncate(size);
    }

    /// Replaces `b` in `A x = b` by `x`.
    pub(crate) fn solve(&self, b: &mut [f64]) {
        let size = self.inverses.len();

        // Forward substitution with `L`, then backward substitution with `Lᵀ`.
        for i in 0..size {
            b[i] = (b[i] - dot(&self.rows[first(i)..][..i], &b[..i])) * self.inverses[i];
        }

        for i in (0..size).rev() {
            let value = b[i] * self.inverses[i];
            b[i] = value;
            for (b, l) in b[..i].iter_mut().zip(&self.rows[first(i)..]) {
                *b -= l * value;
            }
        }
    }
}

/// Where row `i` of a triangle begins.
fn first(i: usize) -> usize {
    i * (i + 1) / 2
}

/// The dot product in four independent sums, which do not wait for each other.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut sums = [0.0; 4];
    for (x, y) in a.iter().zip(b) {
        for k in 0..4 {
            sums[k] += x[k] * y[k];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn after_any_appends_and_removals_it_solves_with_the_current_rows(
            noise in prop::collection::vec(-1.0..1.0f64, 64),
            changes in prop::collection::vec(0..16usize, 1..40),
        ) {
            let n = 8;
            let entry = |i: usize, j: usize| (0..n).map(|k| noise[i * n + k] * noise[j * n + k]).sum::<f64>() + if i == j { 0.5 } else { 0.0 };
            let mut factor = GrowingCholesky::default();
            let mut there: Vec<usize> = Vec::new();
            for change in changes {
                match there.iter().position(|&k| k == change % n) {
                    Some(place) => {
                        there.remove(place);
                        factor.remove(place);
                    }
                    None => {
                        there.push(change % n);
                        factor.append(there.iter().map(|&k| entry(change % n, k)));
                    }
                }
                let wanted: Vec<f64> = there.iter().map(|&k| 1.0 + k as f64).collect();
                let mut x: Vec<f64> = there.iter().map(|&i| there.iter().zip(&wanted).map(|(&j, w)| entry(i, j) * w).sum()).collect();
                factor.solve(&mut x);
                for (found, wanted) in x.iter().zip(&wanted) {
                    prop_assert!((found - wanted).abs() < 1e-11, "{x:?} {wanted:?}");
                }
            }
        }
    }
}
