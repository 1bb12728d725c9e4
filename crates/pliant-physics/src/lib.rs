//! Blending of shapes by mass-spring equilibria with contact, and soft patches on animated meshes.
//!
//! [`Blend`] computes shapes between given shapes that keep their lengths, [`ContactBlend`] keeps
//! them out of obstacles, and [`SceneBlend`] does both for meshes of any size. [`Touch`] simulates
//! soft skin that colliders press and a user pulls.
//!
//! ```
//! use pliant_mesh::{Mesh, glam::DVec3, shapes};
//! use pliant_physics::{Blend, BlendOptions};
//!
//! // A ball and the same ball rotated by a right angle: the shape half way has not shrunk.
//! let ball = shapes::icosphere(1);
//! let rotated = ball.posed(ball.positions().iter().map(|p| DVec3::new(-p.y, p.x, p.z)).collect())?;
//! let mut blend = Blend::new(&[ball.clone(), rotated], &BlendOptions::default())?;
//! let half = blend.between(0.5)?;
//! assert!(half.report.converged);
//! assert!((half.volume / ball.signed_volume() - 1.0).abs() < 1e-3);
//! # Ok::<(), pliant_physics::PhysicsError>(())
//! ```

mod blend;
mod contact;
mod error;
mod scene;
#[cfg(test)]
mod test_shapes;
#[cfg(test)]
mod test_solids;
mod touch;

pub use blend::{
    ArapInterpolation, Blend, BlendFrame, BlendOptions, BlendReport, Constraint, Distortion,
    EnergyTerms, Interior, InteriorOptions, InteriorPoints, LengthTerm, Solver, SpringCounts,
    WeightKey, WeightPath, linear_blend, painted_softness, painted_stiffness, snap_frames,
    vertex_strains,
};
pub use contact::{
    Contact, ContactBlend, ContactFrame, ContactMethod, ContactOptions, Obstacle, ObstacleMotion,
};
pub use error::PhysicsError;
pub use scene::{
    BlendClip, BlendClipFrame, BlendFrameFigures, BlendMetrics, Cage, CageSize, LinearFigures,
    RelativeVolume, RigBlend, SceneBlend, SceneOptions,
};
pub use touch::{
    Collider, SoftMaterial, SoftPatch, SoftRegion, Touch, TouchCollider, TouchEnding, TouchError,
    TouchFrame, TouchJob, TouchMethod, TouchOptions, TouchReport, TouchTiming, TouchedClip,
    VerletOptions,
};
