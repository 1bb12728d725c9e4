//! Reader and writer of Universal Scene Description: `.usda`, `.usd`, `.usdc` and `.usdz`.
//!
//! **Format.** A tree of prims with typed attributes, which may have a value for each time code.
//! `Mesh` prims hold polygons, `BlendShape` prims the offsets of targets with in-betweens,
//! `Skeleton` prims joints, `SkelAnimation` prims weights and motions of joints. A layer is text or
//! binary, and may be in an archive; the content decides.
//!
//! **Source.** Pixar, OpenUSD documentation, schemas UsdGeom and UsdSkel, the text file format, and
//! the usdz specification.
//!
//! **Departures.** Positions are those of the scene (every transform above a mesh applied), in the
//! units and axes of the layer. Frames run from `startTimeCode` to `endTimeCode`. A layer without
//! `metersPerUnit` is in centimetres, as OpenUSD has it; the writer always declares unit and axis.
//! Layers are written as text.
//!
//! | module | concept |
//! |---|---|
//! | `syntax` | text → prims, properties and values |
//! | `binary` | a binary layer → prims, properties and values |
//! | `archive` | the files in a `.usdz` |
//! | `layer` | prims, properties and values as written |
//! | `composition` | a layer and everything to which it refers → one layer |
//! | `stage` | prims by path; time codes and frames |
//! | `transform` | the transform of a prim |
//! | `material` | UsdPreviewSurface and its textures |
//! | `mesh` | one `Mesh` prim → a mesh |
//! | `blend_shape` | `BlendShape` prims → targets |
//! | `skeleton` | `Skeleton` prims → joints, skins and their motions |
//! | `clip` | time samples → a clip |
//! | `finite` | numbers that are not finite |
//! | `other_content` | what no field of an asset holds |
//! | `read` | the layer → an asset |
//! | `write` | an asset → one layer |

mod archive;
mod binary;
mod blend_shape;
mod clip;
mod composition;
#[cfg(test)]
mod content_tests;
mod finite;
mod layer;
mod material;
mod mesh;
mod other_content;
mod read;
mod skeleton;
mod stage;
mod syntax;
#[cfg(test)]
mod tests;
mod transform;
mod write;

pub use read::read;
pub(crate) use read::read_document;
pub use write::{CAPABILITIES, write};
