use pliant_linalg::LinalgError;
use pliant_mesh::MeshError;
use pliant_rig::RigError;
use thiserror::Error;

/// What can be wrong with a transfer.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum TransferError {
    /// A mesh.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// A clip or rig.
    #[error(transparent)]
    Rig(#[from] RigError),
    /// A linear system.
    #[error(transparent)]
    Linalg(#[from] LinalgError),
}
