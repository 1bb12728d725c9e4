//! Fine detail that comes and goes with the pose: heights above a smooth surface, learned per
//! vertex.
//!
//! **Problem.** Creases and wrinkles are finer than any bone, and they depend on the pose. Keep
//! them beside the smooth deformation.
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
//! `ȳ + σ |Y| uᵀ C_x^{−½} k̃(q)` is then `ȳ + Yᵀ K̃ (K̃² + κK̃)⁻¹ k̃(q)`, which is kernel
//! ridge regression `ȳ + Yᵀ (K̃ + κI)⁻¹ k̃(q)`. The Gram matrix does not know the vertex, so that all
//! of them share `ω(c)`.
//!
//! **Source.** Huang et al., "Detail-preserving controllable deformation from sparse examples",
//! 2012, sections 5, 6.2 and 7 (eq. 4); figures 7 and 8 for the cascaded and the static variant.
//!
//! **Ours.** Rigid motion of the control points is taken out before they are compared.
//! [`DetailMode::Auto`] has one regression for each control point and its neighbours, blended
//! smoothly over the surface; it falls back to all control points at once where leave-one-out, in
//! closed form, says so.

mod blend;
mod cascade;
mod examples;
mod layer;
mod maps;
mod options;
mod rays;
mod regression;
mod surface;
mod validation;

#[cfg(test)]
mod claims;

pub use examples::{DetailReport, DetailedExamples};
pub(crate) use layer::Details;
pub use layer::{DetailHeights, DetailLayer, DetailShares};
pub use options::{DetailMode, DetailOptions, DetailSettings};
pub(crate) use surface::DetailSurface;
pub use validation::{DetailError, DetailLeaveOneOut};
