//! Residual layers: displacements on top of the sliders for goals that no slider reaches.
//!
//! **Problem.** After a solve for weights some pins do not reach their goals. A smooth displacement
//! of the disc around them adds the rest: exact at the pins, with value and slope zero at the rim,
//! as rigid as possible between, and zero elsewhere. It is stored beside the weights until it is
//! keyed, promoted to a shape of the rig, or deleted.
//!
//! **Equation.** [`ResidualLayer`] minimises the energy of a clamped plate whose edges rotate with
//! it (`plate`), under the constraint that every pin moves by its residual (`pin_constraints`). The
//! result, a [`Residual`], holds a vector `u_v` for each vertex of the pose in which it was made,
//! the *bind pose*. In another pose the vector rotates with the surface:
//!
//! ```text
//! x_v ← x_v + s R_v u_v        R_v: the rotation nearest to Σ_t a_t F_t over the triangles at v
//! ```
//!
//! with the strength `s`, areas `a_t` and deformation gradients `F_t` from the bind pose.
//!
//! **Source.** The division into a solve for weights and a residual is that of Lewis and Anjyo,
//! "Direct manipulation blendshapes", 2010; `plate` names its own sources.
//!
//! **Departures.** The disc has exact geodesic distances on the posed surface, so a pin on one
//! eyelid does not move the other. Strengths over time are a [`WeightTrack`](crate::WeightTrack)
//! with one weight per layer.
//!
//! - [`Residual`], [`KeyedResidual`]: a displacement that rotates with the surface, and its
//!   strength over time.
//! - [`ResidualLayer`], [`ResidualOptions`], [`ResidualReport`]: the solve.
//! - `plate`: the energy of bending and stretching.
//! - `pin_constraints`: elimination of the pin constraints.
//! - `patch`: a part of a mesh with its own numbering.
//! - `promotion`: residuals as targets and in-betweens.
//! - [`unreachable_map`]: one value per vertex that shows the residuals of pins.

mod bound_residual;
mod patch;
mod pin_constraints;
mod plate;
mod promotion;
mod residual_layer;
#[cfg(test)]
mod tests;
mod unreachable_map;

pub use bound_residual::{KeyedResidual, Residual};
pub use residual_layer::{ResidualLayer, ResidualOptions, ResidualReport};
pub use unreachable_map::unreachable_map;
