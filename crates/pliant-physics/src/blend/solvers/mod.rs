//! Solvers for the equilibrium of springs.
//!
//! - [`solver`]: which solver runs when; what it keeps between solves.
//! - [`equilibrium`]: positions, forces and the line search of a solve.
//! - [`predictor`] and [`predictor_correction`]: the start shape.
//! - [`newton`]: Newton's method on a [`hessian_factor`].
//! - [`quasi_newton`]: L-BFGS with a preconditioner: the [`spring_laplacian`], or [`two_level`]
//!   with [`rigid_modes`] as the coarse space.
//! - [`modal_warping`]: line search along arcs.
//! - [`nonlinear_elimination`]: Newton's method on the few vertices with the largest forces.

pub(crate) mod equilibrium;
pub(crate) mod hessian_factor;
pub(crate) mod modal_warping;
pub(crate) mod newton;
pub(crate) mod nonlinear_elimination;
pub(crate) mod predictor;
pub(crate) mod predictor_correction;
pub(crate) mod quasi_newton;
pub(crate) mod rigid_modes;
pub(crate) mod solver;
pub(crate) mod spring_laplacian;
pub(crate) mod two_level;

pub use equilibrium::BlendReport;
pub(crate) use equilibrium::Equilibrium;
pub(crate) use predictor::{Predictor, place_by_vectors};
pub(crate) use quasi_newton::Preconditioner;
pub(crate) use rigid_modes::RigidModes;
pub use solver::Solver;
pub(crate) use spring_laplacian::SpringLaplacian;
