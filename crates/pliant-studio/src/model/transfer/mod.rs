//! The part of the document that belongs to transferring.
//!
//! - `setup`: target mesh, sources, markers, regions, layers.
//! - `recipe_setup`: a recipe of the command line as a setup.
//! - `examples`: documents to start with.

mod examples;
mod recipe_setup;
mod setup;

pub use examples::{examples, hound_and_tapir, walking_tapir};
pub use setup::{
    LayerSetup, Outcome, Pairs, RegionSetup, RotationSetup, Setup, SourceSetup, short_name,
};
