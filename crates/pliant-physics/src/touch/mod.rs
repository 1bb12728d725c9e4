//! Soft patches on an animated mesh that colliders press and the user pulls.
//!
//! - [`simulation`]: the simulation of a mesh with soft patches, frame by frame.
//! - [`frame`]: input and report of a frame; [`options`]: method and settings.
//! - [`job`]: a whole touch over time, which gives a [`touched_clip`].
//! - [`soft_region`]: the soft vertices; [`soft_mesh`]: these as nodes with their connections.
//! - [`soft_material`]: stiffness and damping of a patch.
//! - [`collider`]: solids that press on a patch; [`face_collision`]: their contact with faces.
//! - [`skin_contact`]: contact of soft skin with other parts of the same mesh.
//! - [`projection`]: constraint projection, eight constraints at a time, for both methods.
//! - [`xpbd`]: the default method, XPBD with small substeps.
//! - [`verlet`]: the method of Çetinaslan 2016, position Verlet.

pub(crate) mod collider;
pub(crate) mod face_collision;
pub(crate) mod frame;
pub(crate) mod job;
pub(crate) mod options;
pub(crate) mod projection;
pub(crate) mod simulation;
pub(crate) mod skin_contact;
pub(crate) mod soft_material;
pub(crate) mod soft_mesh;
pub(crate) mod soft_region;
pub(crate) mod touched_clip;
pub(crate) mod verlet;
pub(crate) mod xpbd;

pub use collider::Collider;
pub use frame::{TouchFrame, TouchReport};
pub use job::{TouchCollider, TouchEnding, TouchError, TouchJob, TouchTiming};
pub use options::{TouchMethod, TouchOptions};
pub use simulation::Touch;
pub use soft_material::SoftMaterial;
pub use soft_region::{SoftPatch, SoftRegion};
pub use touched_clip::TouchedClip;
pub use verlet::VerletOptions;
