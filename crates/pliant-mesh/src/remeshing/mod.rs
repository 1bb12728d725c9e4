//! Decimation, subdivision, smoothing and repair of meshes.
//!
//! - [`decimation`]: edge collapse by quadric error, with a map back to the original
//! - [`mesh_edit`]: merged vertices, removed and reversed faces, components
//! - [`subdivision`]: Loop subdivision as a sparse matrix
//! - [`smoothing`]: Laplacian and Taubin smoothing

mod decimation;
mod mesh_edit;
mod smoothing;
mod subdivision;

pub use decimation::{Decimation, DecimationBudget, DecimationOptions, VertexPlacement};
pub use mesh_edit::{FaceOrientation, MeshEdit, degenerate_faces};
pub use smoothing::{Smoother, SmoothingBoundary, SmoothingOptions, SmoothingWeights};
pub use subdivision::{LoopSubdivision, LoopWeights};
