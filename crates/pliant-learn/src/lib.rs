//! A detailed mesh driven by a few control points, learned from a handful of examples.

mod error;

pub use error::LearnError;
