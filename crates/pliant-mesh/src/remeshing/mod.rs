//! Decimation, subdivision and smoothing of meshes.
//!
//! - [`decimation`]: edge collapse by quadric error, with a map back to the original
//! - [`subdivision`]: Loop subdivision as a sparse matrix
//! - [`smoothing`]: Laplacian and Taubin smoothing

mod decimation;
mod smoothing;
mod subdivision;

pub use decimation::{Decimation, DecimationBudget, DecimationOptions, VertexPlacement};
pub use smoothing::{Smoother, SmoothingBoundary, SmoothingOptions, SmoothingWeights};
pub use subdivision::{LoopSubdivision, LoopWeights};
