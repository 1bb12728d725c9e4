//! Shapes between shapes as equilibria of springs, with contact; soft patches that are pressed and
//! pulled.
//!
//! ```
//! use pliant_mesh::{Mesh, glam::DVec3, shapes};
//! use pliant_physics::{Blend, BlendOptions};
//!
//! // A ball and the same ball turned by a right angle: half way it is turned by half of it, and has not shrunk.
//! let ball = shapes::icosphere(1);
//! let turned = ball.posed(ball.positions().iter().map(|p| DVec3::new(-p.y, p.x, p.z)).collect())?;
//! let mut blend = Blend::new(&[ball.clone(), turned], &BlendOptions::default())?;
//! let half = blend.between(0.5)?;
//! assert!(half.report.converged);
//! assert!((half.volume / ball.signed_volume() - 1.0).abs() < 1e-3);
//! # Ok::<(), pliant_physics::PhysicsError>(())
//! ```

mod anchor;
mod arap_interpolation;
mod blend;
mod blend_figures;
mod cage;
mod carry;
mod collapse;
mod contact_blend;
mod contact_set;
mod distortion;
mod element;
mod enclosed;
mod energy;
mod energy_terms;
mod equilibrium;
mod error;
mod face_contact;
mod fast;
mod hessian_factor;
mod hinge;
mod interior;
mod linear_blend;
mod newton;
mod obstacle;
mod obstacle_motion;
mod painted_stiffness;
mod parts;
mod passing;
mod patch;
mod predictor;
mod push;
mod quasi_newton;
mod rig_blend;
mod rigid_modes;
mod scene_blend;
mod self_contact;
mod snaps;
mod solver;
mod springs;
mod support;
mod terms;
#[cfg(test)]
mod test_shapes;
#[cfg(test)]
mod test_solids;
mod tet_volume;
mod touch;
mod turning;
mod two_level;
mod warp;
mod wedge;
mod weight_way;

pub use arap_interpolation::ArapInterpolation;
pub use blend::{Blend, BlendFrame, BlendOptions};
pub use blend_figures::BlendFigures;
pub use cage::{Cage, CageSize};
pub use contact_blend::{ContactBlend, ContactFrame, ContactMethod, ContactOptions};
pub use distortion::{Distortion, vertex_strains};
pub use energy_terms::{EnergyTerms, Lengths};
pub use equilibrium::BlendReport;
pub use error::PhysicsError;
pub use interior::{Interior, InteriorOptions, InteriorPoints};
pub use linear_blend::linear_blend;
pub use obstacle::{Contact, Obstacle};
pub use obstacle_motion::ObstacleMotion;
pub use painted_stiffness::painted_stiffness;
pub use rig_blend::RigBlend;
pub use scene_blend::{SceneBlend, SceneOptions};
pub use snaps::snaps;
pub use solver::Solver;
pub use springs::SpringCounts;
pub use support::Constraint;
pub use touch::{
    Collider, SoftMaterial, SoftPatch, SoftRegion, Touch, TouchFrame, TouchMethod, TouchOptions,
    TouchReport, VerletOptions,
};
pub use weight_way::{WeightKey, WeightWay};
