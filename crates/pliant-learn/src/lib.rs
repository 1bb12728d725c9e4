//! A detailed mesh driven by a few control points, learned from a handful of examples.

mod bones;
mod error;

pub use bones::{BoneKind, SkinOptions, SkinningDecomposition};
pub use error::LearnError;
pub use pliant_rig::{Influence, Joint, Skeleton, Skin};
