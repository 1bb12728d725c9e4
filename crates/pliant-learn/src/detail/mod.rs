//! Pose-dependent detail: heights above a smooth surface, learned for each vertex.
//!
//! - `examples`: smooth bases and heights of all examples.
//! - `surface`: the subdivided base with its normals.
//! - `rays`: heights of a scan above a pose of the base.
//! - `options`: modes and hyper-parameters.
//! - `regression`: the weights of the examples' heights for given control points.
//! - `region_rotations`: the features of the cascaded variant.
//! - `blend`: the regressions that each vertex blends.
//! - `maps`: the heights of all examples in memory, and their weighted sums.
//! - `layer`: the trained detail of a model.
//! - `leave_one_out`: its validation.
//!
//! **Problem.** Creases and wrinkles are finer than any bone and depend on the pose. They are added
//! to the smooth deformation.
//!
//! **Equation.** With the smooth base subdivided, its vertex normals `n(v)` and a height `h` for
//! every vertex,
//!
//! ```text
//! v(c) = v_base(c) + h(c) n(v)        h(c) = Σᵢ ωᵢ(c) hᵢ
//! ```
//!
//! Kernel canonical correlation of all control points with one number has a single pair of
//! directions: `Y` is one column, `C_y = |Y|²`, and `C_x^{−½} K̃ Y C_y^{−½} = σ u`. The prediction
//! `ȳ + σ |Y| uᵀ C_x^{−½} k̃(q)` is then `ȳ + Yᵀ K̃ (K̃² + κK̃)⁻¹ k̃(q)`, which is kernel ridge
//! regression `ȳ + Yᵀ (K̃ + κI)⁻¹ k̃(q)`. The Gram matrix does not depend on the vertex, so that
//! all vertices share `ω(c)`.
//!
//! **Source.** Huang et al., "Detail-preserving controllable deformation from sparse examples",
//! 2012, sections 5, 6.2 and 7 (eq. 4); figures 7 and 8 for the cascaded and the static variant.
//!
//! **Departures.** Control points are compared up to a rigid motion. [`DetailMode::Auto`] has one
//! regression for each control point and its neighbours, blended smoothly over the surface. It uses
//! all control points at once if the leave-one-out error, in closed form, is then smaller.

mod blend;
mod examples;
mod layer;
mod leave_one_out;
mod maps;
mod options;
mod rays;
mod region_rotations;
mod regression;
mod surface;

#[cfg(test)]
mod tests;

pub use examples::{DetailReport, DetailedExamples};
pub(crate) use layer::Details;
pub use layer::{DetailHeights, DetailLayer, DetailWeights};
pub use leave_one_out::{DetailError, DetailLeaveOneOut};
pub use options::{DetailMode, DetailOptions, DetailSettings};
pub(crate) use surface::DetailSurface;
