//! glTF 2.0, as one binary file (GLB) or as JSON with buffers inside or beside it.
//!
//! **Problem.** glTF is made for graphics cards: a vertex is stored once for each side of every UV,
//! normal or material seam, faces are triangles, and there are neither groups nor polygons. People
//! need their own vertices and polygons back.
//!
//! **Form.** A glTF mesh becomes one [`Object`](crate::Object) in the place where the scene has it:
//! node transforms are applied to positions and targets, and animated nodes become a
//! [`PlacementTrack`](crate::PlacementTrack). Its primitives become the materials of its faces.
//! Stored vertices that agree in place, in the displacements of all targets and in their joints are
//! welded; how they were stored is kept beside the object, so that writing splits them as they
//! were. Files that are written here carry, in `extras`, the welding, the polygons and the labels
//! of faces.
//!
//! **Source.** The Khronos Group, "glTF 2.0 Specification", 2.0.1 (2021); extensions
//! `KHR_mesh_quantization` and `EXT_meshopt_compression` on reading.
//!
//! **Ours.** The document is read with types of our own, which take what the published schema takes
//! and decline only what cannot be used: other readers decline whole files for a part that nobody
//! asked for. The size of everything is checked against the bytes that are there before it is made.
//! A mesh that stands at several nodes is read at the first. Cameras, lights, tangents and textures
//! are not modelled. The neutral of a mesh is its shape at weights zero, whatever weights it rests
//! at, and in its bind pose, whatever pose its joints rest in.

mod accessor;
mod animation;
mod animation_write;
mod buffers;
mod container;
mod document;
mod memo;
mod meshopt;
mod morph;
mod nodes;
mod primitive;
mod read;
mod skin;
mod skin_write;
mod split;
mod store;
#[cfg(test)]
mod tests;
mod weld;
mod write;

pub use read::read;
pub(crate) use read::read_document;
pub(crate) use split::Seams;
pub use write::{HOLDS, write, write_text};
