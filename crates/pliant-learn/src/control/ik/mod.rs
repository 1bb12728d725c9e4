//! Inverse kinematics: control points from a few end effectors of a labelled skeleton.
//!
//! - `skeleton`: joints, parents and end effectors.
//! - `kinematics`: joint positions and their Jacobian.
//! - `pose_prior`: mean and covariance of the joint angles, from rest or from examples.
//! - `solver`: damped least squares with the prior.
//!
//! **Problem.** A skeleton of ball joints is given in the reference pose. A few of its joints, the
//! end effectors, have goals. Find the positions of all others, with bones of constant length.
//!
//! **Equation.** `θ` holds the rotation vector of every joint (and the translation of a free root),
//! `p(θ)` the positions of the effectors, `g` their goals, `e = g − p`. With the mean `m` and the
//! covariance `Σ` of the prior, damped least squares is
//!
//! ```text
//! Δθ = −c (θ − m) + Σ Jᵀ (J Σ Jᵀ + (μ + λ) I)⁻¹ (e + c J (θ − m)),      c = μ / (μ + λ)
//! ```
//!
//! the minimum of `|J Δθ − e|² + μ |θ + Δθ − m|² + λ |Δθ|²` in the norm of `Σ⁻¹`. For `Σ = I`, `μ =
//! 0` it is `Jᵀ (J Jᵀ + λ I)⁻¹ e`. The first term moves within the null space of `J`, where the
//! effectors do not change.
//!
//! **Source.** Huang et al. 2012, section 8 (a skeleton over control points, ball joints, damped
//! least squares); Buss, Kim, "Selectively damped least squares for inverse kinematics", JGT 2005,
//! for the damped step; Levenberg–Marquardt for `λ`.
//!
//! **Departures.** `λ` adapts so that `|e|² + μ |θ − m|²` falls in every step. The iteration thus
//! does not oscillate for goals out of reach; goals far out are clamped to 1.5 times the length of
//! the chain. `μ` falls in stages to almost zero, so that reachable goals are reached, by the pose
//! nearest to the prior. The prior is the rest pose with the stiffness of the joints, or it is
//! learned: angles fitted to every example give the mean near the goals and the covariance of each
//! limb. Joints can be limited to a cone about rest. Lengths are relative to the longest chain.

mod kinematics;
mod pose_prior;
mod skeleton;
mod solver;
#[cfg(test)]
mod tests;

pub use skeleton::{IkJoint, IkRoot, IkSkeleton};
pub use solver::{IkPose, IkSolver};
