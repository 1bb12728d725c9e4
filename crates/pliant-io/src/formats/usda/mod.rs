//! Reader and writer of USDA: Universal Scene Description as text.
//!
//! **Format.** A tree of prims with typed attributes, which may have a value for each time code.
//! `Mesh` prims hold polygons, `BlendShape` prims the offsets of targets with in-betweens,
//! `SkelAnimation` prims their weights.
//!
//! **Source.** Pixar, OpenUSD documentation, schemas UsdGeom and UsdSkel and the text file format.
//!
//! **Departures.** One layer is read; references to other layers are reported and not followed.
//! Positions are those of the scene (every transform above a mesh applied), in the units and axes
//! of the layer. Frames run from `startTimeCode` to `endTimeCode`. Joints of skeletons are reported
//! and not applied.
//!
//! | module | concept |
//! |---|---|
//! | `syntax` | text → prims, properties and values |
//! | `layer` | prims, properties and values as written |
//! | `stage` | prims by path; time codes and frames |
//! | `transform` | the transform of a prim |
//! | `mesh` | one `Mesh` prim → a mesh |
//! | `blend_shape` | `BlendShape` prims → targets |
//! | `clip` | time samples → a clip |
//! | `read` | the layer → an asset |
//! | `names`, `text` | prim names and value texts of the writer |
//! | `write` | an asset → one layer |

mod blend_shape;
mod clip;
mod layer;
mod mesh;
mod names;
mod read;
mod stage;
mod syntax;
#[cfg(test)]
mod tests;
mod text;
mod transform;
mod write;

pub use read::read;
pub use write::{CAPABILITIES, write};
