//! Meshes that follow a few control points, and skinning decompositions of clips.
//!
//! - `model`: training, validation, driving.
//! - `ik_solver`: control points from end effectors.
//! - `bones`: skinning decompositions.
//! - `scans`: examples from scans.

pub(crate) mod bones;
pub(crate) mod ik_solver;
pub(crate) mod model;
pub(crate) mod scans;
