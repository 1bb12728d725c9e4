//! The subcommands: each has a file with its arguments, its library call and its report.
//!
//! - [`animation`]: new shapes and animations from given ones
//! - [`inspection`]: look at assets, measure and convert them
//! - [`learning`]: models from examples
//! - [`posing`]: pose and touch a character
//! - [`program`]: the program itself: demo, studio, reproduction, JSON schemas, man pages, shell completions
//! - [`rigs`]: edit the targets of a rig

pub(crate) mod animation;
pub(crate) mod inspection;
pub(crate) mod learning;
pub(crate) mod posing;
pub(crate) mod program;
pub(crate) mod rigs;
