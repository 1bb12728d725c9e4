//! Blending of shapes by mass-spring equilibria around an even path.
//!
//! The layers, from the bottom up:
//!
//! - [`interior`]: points and tetrahedra inside closed shapes, the same in every shape.
//! - [`energy`]: the springs and the other terms of the energy, with forces and Hessian.
//! - [`solvers`]: the equilibrium, from predictor to Newton's method.
//! - [`rest_shape`]: the even path, whose shapes are the rest shapes of the springs.
//! - [`anchor`] and [`components`]: the rigid support of each connected component.
//! - [`spring_blend`]: the blend itself, with its [`options`].
//!
//! Beside them:
//!
//! - [`linear_blend`](mod@linear_blend) and [`arap_interpolation`]: the two classical methods to compare with.
//! - [`weight_path`]: the weights of every frame of a clip.
//! - [`rotation_vector`]: logarithm, exponential and mean of rotations.
//! - [`painted_stiffness`](mod@painted_stiffness): a stiffness map from vertex colours.
//! - [`distortion`] and [`snap`]: measures of a blended shape and of a sequence of them.

pub(crate) mod anchor;
pub(crate) mod arap_interpolation;
pub(crate) mod components;
pub(crate) mod distortion;
pub(crate) mod energy;
pub(crate) mod interior;
pub(crate) mod linear_blend;
pub(crate) mod options;
pub(crate) mod painted_stiffness;
pub(crate) mod rest_shape;
pub(crate) mod rotation_vector;
pub(crate) mod snap;
pub(crate) mod solvers;
pub(crate) mod spring_blend;
pub(crate) mod weight_path;

pub use arap_interpolation::ArapInterpolation;
pub use distortion::{Distortion, vertex_strains};
pub use energy::{Constraint, EnergyTerms, LengthTerm, SpringCounts};
pub use interior::{Interior, InteriorOptions, InteriorPoints};
pub use linear_blend::linear_blend;
pub use options::BlendOptions;
pub use painted_stiffness::{painted_softness, painted_stiffness};
pub use snap::snap_frames;
pub use solvers::{BlendReport, Solver};
pub use spring_blend::{Blend, BlendFrame};
pub use weight_path::{WeightKey, WeightPath};
