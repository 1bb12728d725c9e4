//! Root motion: the rigid translation of the whole character.
//!
//! **Problem.** Deformation gradients do not contain the position of a mesh. Wang and Lee 2008 fix
//! one vertex, so a walking character slides.
//!
//! **Equation.** With `s(f)` the centroid of the source in frame `f` (weighted by the area of the
//! target triangles that take from it), `s₀` that of its reference, and `d` the diagonals of the
//! bounding boxes at rest, the target's centroid is at
//!
//! ```text
//! c(f) = c₀ + (d_target / d_source) (s(f) − s₀)        carry
//! c(f) = c₀                                            fix
//! ```
//!
//! **Source.** Wang and Lee, "Example-driven animation synthesis", 2008, name it an open problem in
//! section 5.
//!
//! **Departures.** The root is the centroid by area: it needs no skeleton and no marker, and for a
//! mesh on itself `carry` is exact. Only layers that hold more than half of the main component move
//! the root; a swinging trunk does not move the animal.

use serde::{Deserialize, Serialize};

/// How to treat the source's root motion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RootMotion {
    /// The target covers the same path, scaled by its size.
    #[default]
    Carry,
    /// The target's centroid stays in place.
    Fix,
}
