//! Control points from a few end effectors: inverse kinematics of a labelled skeleton.
//!
//! **Problem.** A skeleton of ball joints stands at the reference pose; a few of its joints, the
//! end effectors, are told where to be. Find where all others go, with bones of constant length.
//!
//! **Equation.** `θ` holds the rotation vector of every joint (and the shift of a free root),
//! `p(θ)` the effectors' places, `g` their goals, `e = g − p`. With natural joint angles `m` and
//! their covariance `Σ`, damped least squares is
//!
//! ```text
//! Δθ = −c (θ − m) + Σ Jᵀ (J Σ Jᵀ + (μ + λ) I)⁻¹ (e + c J (θ − m)),      c = μ / (μ + λ)
//! ```
//!
//! the minimum of `|J Δθ − e|² + μ |θ + Δθ − m|² + λ |Δθ|²` in the norm of `Σ⁻¹`. For `Σ = I`, `μ =
//! 0` it is `Jᵀ (J Jᵀ + λ I)⁻¹ e`. The first term moves within the null space of `J`, where the
//! effectors do not feel it.
//!
//! **Source.** Huang et al. 2012, section 8 (a skeleton over control points, ball joints, damped
//! least squares); Buss, Kim, "Selectively damped least squares for inverse kinematics", JGT 2005,
//! for the damped step; Levenberg–Marquardt for `λ`.
//!
//! **Ours.** `λ` adapts so that `|e|² + μ |θ − m|²` falls in every step, which does not oscillate
//! where goals are out of reach (those far out are clamped to half again the chain's length); `μ`
//! falls in stages to almost nothing, so that reachable goals are met and the pose among the many
//! that meet them is the natural one. Natural is the rest pose, stiffer where a joint says so, or
//! what the examples do: angles fitted to every example give the natural ones near the goals, and
//! their covariance limb by limb. Joints may be limited to a cone about rest. Lengths count in
//! units of the longest chain.

mod kinematics;
mod natural;
mod skeleton;
mod solver;
#[cfg(test)]
mod tests;

pub use skeleton::{IkJoint, IkRoot, IkSkeleton};
pub use solver::{IkPose, IkSolver};
