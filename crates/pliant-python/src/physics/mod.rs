//! Springs between shapes, solid obstacles, and soft patches that are touched.
//!
//! - `obstacle`: solids.
//! - `blend`, `rig_blend`, `blend_frame`: shapes between shapes.
//! - `scene_keywords`: keywords of both.
//! - `touch`: soft patches, step by step or as a clip.

pub(crate) mod blend;
pub(crate) mod blend_frame;
pub(crate) mod obstacle;
pub(crate) mod rig_blend;
mod scene_keywords;
pub(crate) mod touch;
