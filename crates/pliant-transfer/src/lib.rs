//! New animations from parts of other meshes' animations.

mod error;

pub use error::TransferError;
