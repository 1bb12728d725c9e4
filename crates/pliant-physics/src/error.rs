use pliant_linalg::LinalgError;
use pliant_mesh::MeshError;
use thiserror::Error;

/// What can be wrong with shapes, springs or obstacles.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PhysicsError {
    /// A mesh that cannot be used.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// A system of equations that cannot be solved.
    #[error(transparent)]
    Solver(#[from] LinalgError),
}
