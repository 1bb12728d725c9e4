//! Projection of constraints, eight at a time.
//!
//! - [`particle`]: position and inverse mass of a mass point.
//! - [`lanes`]: eight numbers, or eight vectors, in one operation.
//! - [`arc_cosine`]: the angle of eight hinges or corners.
//! - [`constraint_group`]: eight constraints without a common vertex, and their projection.
//! - [`connections`]: the edges, triangles and hinges that constraints act on.

pub(crate) mod arc_cosine;
pub(crate) mod connections;
pub(crate) mod constraint_group;
pub(crate) mod lanes;
pub(crate) mod particle;
