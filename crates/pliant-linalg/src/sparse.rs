//! Sparse matrices in compressed row storage (CSR).
//!
//! **Problem.** Meshes give matrices with a handful of entries in each row, whose
//! pattern is known before their values and which are applied to every frame.
//!
//! **Implementation.** Compressed rows: the entries of row `i` are `starts[i]..starts[i + 1]`,
//! their columns ascending, each pair once. 32-bit columns, since the product is
//! bound by memory.
//!
//! **Departures.** `faer` has sparse storage, too; its product runs by columns, which needs
//! private sums in parallel, and those depend on the number of threads.

use std::ops::{Add, AddAssign, Mul};

use crate::parallel;

/// Rows in one parallel task of a product.
const ROWS_PER_TASK: usize = 4096;

/// A sparse matrix in compressed rows with ascending, unique columns.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseMatrix {
    columns: usize,
    starts: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl SparseMatrix {
    /// Sums `(row, column, value)` triplets; repeated places add up in the order given.
    ///
    /// # Panics
    /// If an index lies outside the matrix.
    #[must_use]
    pub fn from_triplets(rows: usize, columns: usize, triplets: &[(u32, u32, f64)]) -> Self {
        let mut starts = vec![0_usize; rows + 1];
        for &(row, column, _) in triplets {
            assert!(
                (row as usize) < rows && (column as usize) < columns,
                "triplet ({row}, {column}) outside a {rows} x {columns} matrix"
            );
            starts[row as usize + 1] += 1;
        }
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }

        // A counting sort by rows, then each row is sorted by column and merged.
        let mut next = starts.clone();
        let mut entries = vec![(0_u32, 0.0); triplets.len()];
        for &(row, column, value) in triplets {
            entries[next[row as usize]] = (column, value);
            next[row as usize] += 1;
        }

        let blocks = parallel::map(rows.div_ceil(ROWS_PER_TASK), 1, |block| {
            let first = block * ROWS_PER_TASK;
            merge_rows(&entries, &starts[first..=rows.min(first + ROWS_PER_TASK)])
        });
        let total = blocks.iter().map(|block| block.indices.len()).sum();
        let mut matrix = Self {
            columns,
            starts: vec![0],
            indices: Vec::with_capacity(total),
            values: Vec::with_capacity(total),
        };

        // Blocks of rows are independent; they are concatenated in order.
        for block in blocks {
            let first = matrix.indices.len();
            matrix
                .starts
                .extend(block.ends.iter().map(|end| first + end));
            matrix.indices.extend(block.indices);
            matrix.values.extend(block.values);
        }

        matrix
    }

    /// A matrix from compressed rows.
    ///
    /// # Panics
    /// If the arrays do not describe a matrix with ascending columns below `columns`.
    #[must_use]
    pub fn from_rows(
        columns: usize,
        starts: Vec<usize>,
        indices: Vec<u32>,
        values: Vec<f64>,
    ) -> Self {
        assert!(
            !starts.is_empty() && starts[0] == 0,
            "compressed rows start at 0"
        );
        assert!(starts.windows(2).all(|w| w[0] <= w[1]), "row starts ascend");
        assert_eq!(
            starts[starts.len() - 1],
            indices.len(),
            "the last row ends where the entries end"
        );
        assert_eq!(indices.len(), values.len(), "one value per index");
        let matrix = Self {
            columns,
            starts,
            indices,
            values,
        };

        for row in 0..matrix.rows() {
            let (indices, _) = matrix.row(row);
            assert!(
                indices.windows(2).all(|w| w[0] < w[1]),
                "columns of row {row} ascend"
            );
            assert!(
                indices.last().is_none_or(|&last| (last as usize) < columns),
                "columns of row {row} lie inside"
            );
        }

        matrix
    }

    /// A square matrix with `values` on its diagonal.
    #[must_use]
    pub fn diagonal(values: &[f64]) -> Self {
        let n = values.len();
        Self {
            columns: n,
            starts: (0..=n).collect(),
            indices: (0..n as u32).collect(),
            values: values.to_vec(),
        }
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of stored entries.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.indices.len()
    }

    /// Columns and values of one row.
    #[must_use]
    pub fn row(&self, row: usize) -> (&[u32], &[f64]) {
        let range = self.starts[row]..self.starts[row + 1];
        (&self.indices[range.clone()], &self.values[range])
    }

    /// Where each row starts among the entries; one more than there are rows.
    #[must_use]
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// The columns of all entries, row after row.
    #[must_use]
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// The values of all entries, row after row.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The values of all entries, to be changed in place; the pattern stays.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// The entry at (`row`, `column`), zero where none is stored.
    #[must_use]
    pub fn get(&self, row: usize, column: usize) -> f64 {
        let (indices, values) = self.row(row);
        indices
            .binary_search(&(column as u32))
            .map_or(0.0, |k| values[k])
    }

    /// `A x` for one number or one point per column.
    ///
    /// # Panics
    /// If `x` has another length than the matrix has columns.
    #[must_use]
    pub fn multiply<T>(&self, x: &[T]) -> Vec<T>
    where
        T: Copy + Default + Send + Sync + AddAssign + Mul<f64, Output = T>,
    {
        let mut product = vec![T::default(); self.rows()];
        self.multiply_into(x, &mut product);
        product
    }

    /// `A x`, written to `product` without allocating. Rows run in parallel; the bits do not depend
    /// on it.
    ///
    /// # Panics
    /// If the lengths of `x` and `product` do not fit the matrix.
    pub fn multiply_into<T>(&self, x: &[T], product: &mut [T])
    where
        T: Copy + Default + Send + Sync + AddAssign + Mul<f64, Output = T>,
    {
        assert_eq!(x.len(), self.columns, "one entry of x per column");
        assert_eq!(
            product.len(),
            self.rows(),
            "one entry of the product per row"
        );

        parallel::for_each_chunk_mut(product, ROWS_PER_TASK, |start, chunk| {
            for (k, out) in chunk.iter_mut().enumerate() {
                let (indices, values) = self.row(start + k);
                let mut sum = T::default();
                for (&column, &value) in indices.iter().zip(values) {
                    sum += x[column as usize] * value;
                }
                *out = sum;
            }
        });
    }

    /// The transpose.
    #[must_use]
    pub fn transpose(&self) -> Self {
        let mut starts = vec![0_usize; self.columns + 1];
        for &column in &self.indices {
            starts[column as usize + 1] += 1;
        }
        for column in 0..self.columns {
            starts[column + 1] += starts[column];
        }

        // Rows ascend, so that the columns of the transpose do, too.
        let mut next = starts.clone();
        let mut indices = vec![0_u32; self.entries()];
        let mut values = vec![0.0; self.entries()];
        for row in 0..self.rows() {
            let (row_indices, row_values) = self.row(row);
            for (&column, &value) in row_indices.iter().zip(row_values) {
                let place = &mut next[column as usize];
                indices[*place] = row as u32;
                values[*place] = value;
                *place += 1;
            }
        }

        Self {
            columns: self.rows(),
            starts,
            indices,
            values,
        }
    }

    /// `self + factor · other`; the pattern is the union of both.
    ///
    /// # Panics
    /// If the sizes differ.
    #[must_use]
    pub fn plus(&self, factor: f64, other: &Self) -> Self {
        assert_eq!(
            (self.rows(), self.columns),
            (other.rows(), other.columns),
            "only matrices of one size add"
        );

        let capacity = self.entries() + other.entries();
        let mut starts = vec![0];
        let mut indices = Vec::with_capacity(capacity);
        let mut values = Vec::with_capacity(capacity);
        for row in 0..self.rows() {
            let (ours, theirs) = (self.row(row), other.row(row));
            let (mut i, mut j) = (0, 0);

            // Merge two ascending lists; equal columns add.
            while i < ours.0.len() || j < theirs.0.len() {
                let a = ours.0.get(i).copied().unwrap_or(u32::MAX);
                let b = theirs.0.get(j).copied().unwrap_or(u32::MAX);
                let mut value = 0.0;

                if a <= b {
                    value += ours.1[i];
                    i += 1;
                }
                if b <= a {
                    value += factor * theirs.1[j];
                    j += 1;
                }

                indices.push(a.min(b));
                values.push(value);
            }

            starts.push(indices.len());
        }

        Self {
            columns: self.columns,
            starts,
            indices,
            values,
        }
    }

    /// The product `self · other` of two sparse matrices.
    ///
    /// # Panics
    /// If the inner sizes differ.
    #[must_use]
    pub fn times(&self, other: &Self) -> Self {
        assert_eq!(self.columns, other.rows(), "inner sizes agree");

        // Sums of one row; `seen` holds the last row that touched a column, so that nothing is
        // cleared.
        let mut sums = vec![0.0; other.columns];
        let mut seen = vec![usize::MAX; other.columns];
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());

        let mut touched = Vec::new();
        for row in 0..self.rows() {
            touched.clear();
            let (ours, factors) = self.row(row);
            for (&middle, &factor) in ours.iter().zip(factors) {
                let (theirs, entries) = other.row(middle as usize);
                for (&column, &entry) in theirs.iter().zip(entries) {
                    let slot = column as usize;
                    if seen[slot] != row {
                        seen[slot] = row;
                        sums[slot] = 0.0;
                        touched.push(column);
                    }
                    sums[slot] += factor * entry;
                }
            }

            touched.sort_unstable();
            for &column in &touched {
                indices.push(column);
                values.push(sums[column as usize]);
            }

            starts.push(indices.len());
        }

        Self {
            columns: other.columns,
            starts,
            indices,
            values,
        }
    }

    /// The sum of every row.
    #[must_use]
    pub fn row_sums(&self) -> Vec<f64> {
        (0..self.rows())
            .map(|row| self.row(row).1.iter().copied().fold(0.0, Add::add))
            .collect()
    }
}

/// Some rows with ascending, unique columns; `ends` counts from the first of them.
struct RowBlock {
    ends: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

/// Sorts the entries of each row by column and adds up those of one column, in the order they came.
fn merge_rows(entries: &[(u32, f64)], starts: &[usize]) -> RowBlock {
    let count = starts[starts.len() - 1] - starts[0];
    let mut block = RowBlock {
        ends: Vec::with_capacity(starts.len() - 1),
        indices: Vec::with_capacity(count),
        values: Vec::with_capacity(count),
    };

    let mut row = Vec::new();
    for bounds in starts.windows(2) {
        row.clear();
        row.extend_from_slice(&entries[bounds[0]..bounds[1]]);
        row.sort_by_key(|entry| entry.0); // Stable: equal columns keep their order, so sums are reproducible.

        let first = block.indices.len();
        for &(column, value) in &row {
            match block.values.last_mut() {
                Some(last)
                    if block.indices.len() > first && block.indices.last() == Some(&column) =>
                {
                    *last += value
                }
                _ => {
                    block.indices.push(column);
                    block.values.push(value);
                }
            }
        }

        block.ends.push(block.indices.len());
    }

    block
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    fn sample() -> SparseMatrix {
        SparseMatrix::from_triplets(
            3,
            4,
            &[
                (2, 3, 5.0),
                (0, 1, 2.0),
                (2, 0, 1.0),
                (0, 1, 0.5),
                (2, 1, -1.0),
            ],
        )
    }

    #[test]
    fn repeated_triplets_add_up_and_columns_ascend() {
        let matrix = sample();
        assert_eq!(matrix.row(0), (&[1][..], &[2.5][..]));
        assert_eq!(matrix.row(1).0.len(), 0);
        assert_eq!(matrix.row(2), (&[0, 1, 3][..], &[1.0, -1.0, 5.0][..]));
    }

    #[test]
    fn points_multiply_like_their_coordinates() {
        let matrix = sample();
        let points: Vec<DVec3> = (0..4)
            .map(|i| DVec3::new(i as f64, 1.0, -2.0 * i as f64))
            .collect();
        let product = matrix.multiply(&points);

        for axis in 0..3 {
            let column: Vec<f64> = points.iter().map(|p| p[axis]).collect();
            let expected = matrix.multiply(&column);
            assert!((0..3).all(|row| product[row][axis] == expected[row]));
        }
    }

    #[test]
    fn transposing_twice_returns_the_matrix_and_moves_it_across_the_inner_product() {
        let matrix = sample();
        assert_eq!(matrix.transpose().transpose(), matrix);
        let x = [1.0, -2.0, 3.0, 0.5];
        let y = [2.0, 7.0, -1.0];
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        assert_eq!(
            dot(&matrix.multiply(&x), &y),
            dot(&x, &matrix.transpose().multiply(&y))
        );
    }

    #[test]
    fn products_of_matrices_act_like_their_factors_one_after_the_other() {
        let matrix = sample();
        let square = matrix.transpose().times(&matrix);
        let x = [1.0, -2.0, 3.0, 0.5];

        assert_eq!(
            square.multiply(&x),
            matrix.transpose().multiply(&matrix.multiply(&x))
        );

        let sum = square
            .plus(2.0, &SparseMatrix::diagonal(&[1.0; 4]))
            .multiply(&x);
        let expected: Vec<f64> = square
            .multiply(&x)
            .iter()
            .zip(x)
            .map(|(s, x)| s + 2.0 * x)
            .collect();

        assert_eq!(sum, expected);
    }
}
