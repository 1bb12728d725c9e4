//! USDA: Universal Scene Description as text.
//!
//! **Form.** A tree of prims with typed attributes, which may have a value per time code; `Mesh`
//! prims hold polygons, `BlendShape` prims the offsets of targets with in-betweens, `SkelAnimation`
//! prims their weights.
//!
//! **Source.** Pixar, OpenUSD documentation, schemas UsdGeom and UsdSkel and the text file format.
//!
//! **Ours.** One layer is read: what it references elsewhere is told, not followed. Positions are
//! those of the scene (every transform above a mesh applied), in the layer's own units and axes.
//! Frames run from `startTimeCode` to `endTimeCode`. Joints of skeletons are told, not applied.

mod layer;
mod mesh;
mod read;
mod stage;
mod syntax;
#[cfg(test)]
mod tests;
mod transform;
mod write;

pub use read::read;
pub use write::{HOLDS, write};
