//! Linear algebra for deforming meshes.
//!
//! Sparse matrices that are assembled once and multiplied often, prefactored
//! symmetric positive definite solvers, least squares with soft and hard
//! constraints, and the small dense decompositions of geometry.
//!
//! ```
//! use pliant_linalg::SparseMatrix;
//!
//! // The Laplacian of a path of three vertices.
//! let laplacian = SparseMatrix::from_triplets(
//!     3,
//!     3,
//!     &[(0, 0, 1.0), (0, 1, -1.0), (1, 0, -1.0), (1, 1, 2.0), (1, 2, -1.0), (2, 1, -1.0), (2, 2, 1.0)],
//! );
//! assert_eq!(laplacian.multiply(&[5.0, 5.0, 5.0]), vec![0.0; 3]);
//! ```

mod box_quadratic;
mod cholesky;
mod dense;
mod disjoint_sets;
mod error;
mod growing_cholesky;
mod kernel;
mod least_squares;
mod ordering;
pub mod parallel;
pub mod portable;
mod rotation;
mod rotation_vector;
pub mod simd;
mod smoothstep;
mod sparse;

pub use box_quadratic::{BoxQuadratic, BoxReport, BoxTerms, BoxWorkspace};
pub use cholesky::{SolveWorkspace, SpdSolver, Symbolic};
pub use dense::{DenseMatrix, Svd, symmetric_eigen};
pub use disjoint_sets::DisjointSets;
pub use error::LinalgError;
pub use kernel::{CenteredGram, Kernel, KernelCca, KernelRidge, gaussian, median_distance};
pub use least_squares::LeastSquares;
pub use rotation::{RigidMotion, nearest_rotation, outer};
pub use rotation_vector::{portable_rotation_from_vector, rotation_from_vector, rotation_vector};
pub use smoothstep::smoothstep;
pub use sparse::SparseMatrix;
