//! Blends of meshes of any size among obstacles.
//!
//! - [`cage`]: a coarse mesh that is solved while the vertices of the full mesh follow.
//! - [`scene_blend`]: cage, blend and contact in one object.
//! - [`rig_blend`]: a blendshape rig evaluated by springs.
//! - [`blend_clip`]: the frames of a scene blend along a path of weights.
//! - [`blend_metrics`]: area, volume, strain and penetration of a blended shape.

mod blend_clip;
pub(crate) mod blend_metrics;
pub(crate) mod cage;
pub(crate) mod rig_blend;
pub(crate) mod scene_blend;

pub use blend_clip::{BlendClip, BlendClipFrame, BlendFrameFigures, LinearFigures, RelativeVolume};
pub use blend_metrics::BlendMetrics;
pub use cage::{Cage, CageSize};
pub use rig_blend::RigBlend;
pub use scene_blend::{SceneBlend, SceneOptions};
