use thiserror::Error;

/// Errors of factorisations, decompositions and solves.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum LinalgError {
    /// A symmetric matrix has a zero or negative pivot.
    #[error(
        "the matrix is not positive definite: the connected part of {size} unknown(s) that holds unknown {unknown} is not constrained enough; fix a value in it or add a diagonal term"
    )]
    NotPositiveDefinite {
        /// An unknown of the part that failed.
        unknown: usize,
        /// How many unknowns that part has.
        size: usize,
    },
    /// Sizes that should agree do not.
    #[error("{what} has {found} rows where {expected} are needed")]
    Size {
        /// The array or matrix.
        what: &'static str,
        /// Its size.
        found: usize,
        /// The size that fits.
        expected: usize,
    },
    /// A list that is not that of a square matrix.
    #[error(
        "a list of {entries} entries is not a square matrix; give size × size entries, row by row"
    )]
    NotSquare {
        /// The length of the list.
        entries: usize,
    },
    /// A constraint names an unknown that does not exist.
    #[error("{what} names unknown {index}, but there are only {size}")]
    Index {
        /// The kind of constraint.
        what: &'static str,
        /// The unknown that it names.
        index: usize,
        /// How many unknowns there are.
        size: usize,
    },
    /// A weight is negative, infinite or NaN.
    #[error(
        "the weight {weight} of unknown {unknown} is negative or not finite; give a finite weight that is not negative"
    )]
    Weight {
        /// The unknown.
        unknown: usize,
        /// Its weight.
        weight: f64,
    },
    /// An unknown is fixed twice.
    #[error("unknown {unknown} is fixed twice; keep one of its values")]
    Repeated {
        /// The unknown.
        unknown: usize,
    },
    /// A matrix that should be symmetric has an entry without its mirror image.
    #[error(
        "the entries of row {row} have no mirror images in column {row}; a symmetric matrix stores both triangles"
    )]
    NotSymmetric {
        /// The first such row.
        row: usize,
    },
    /// A matrix holds NaN or infinity.
    #[error(
        "the matrix entry in row {row} is not a finite number; check the mesh for NaN positions or zero-area triangles"
    )]
    NotFinite {
        /// The row of the first such entry.
        row: usize,
    },
    /// A refactorisation got a matrix with another sparsity pattern.
    #[error(
        "the matrix has another sparsity pattern than the one that was factored; factor it anew"
    )]
    OtherPattern,
    /// The factor does not fit in memory.
    #[error("the factor of a matrix with {unknowns} unknowns does not fit in memory")]
    OutOfMemory {
        /// The size of the matrix.
        unknowns: usize,
    },
    /// A decomposition did not converge.
    #[error("the {what} of a {rows} x {columns} matrix did not converge")]
    NoConvergence {
        /// Which decomposition.
        what: &'static str,
        /// Rows of the matrix.
        rows: usize,
        /// Columns of the matrix.
        columns: usize,
    },
}
