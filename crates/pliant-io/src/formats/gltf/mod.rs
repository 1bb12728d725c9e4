//! Reader and writer of glTF 2.0, as one binary file (GLB) or as JSON with buffers.
//!
//! **Problem.** glTF is made for graphics cards: a vertex is stored once for each side of every UV,
//! normal or material seam, faces are triangles, and there are neither groups nor polygons. Users
//! need their own vertices and polygons back.
//!
//! **Method.** A glTF mesh becomes one [`Object`](crate::Object) at its place in the scene: node
//! transforms are applied to positions and targets, and animated nodes become a
//! [`PlacementTrack`](crate::PlacementTrack). The primitives of the mesh become the materials of
//! its faces. Stored vertices with equal positions, target displacements and joints are welded. The
//! object keeps how they were stored (`Seams`), so that the writer splits them identically.
//! The writer also stores the weld map, the polygons, the face labels and the settings of the rig in
//! `extras` (`docs/gltf-extras.md`). An asset that was read from glTF is written by editing its file.
//!
//! **Source.** The Khronos Group, "glTF 2.0 Specification", 2.0.1 (2021); extensions
//! `KHR_mesh_quantization`, `EXT_meshopt_compression`, `KHR_meshopt_compression`,
//! `EXT_mesh_gpu_instancing` and `KHR_node_visibility` for reading.
//!
//! **Departures.** The document is parsed with types of this crate. They accept what the published
//! schema accepts and reject only what cannot be used; other readers reject a whole file for a part
//! that nobody needs. Every size is checked against the available bytes before memory is allocated.
//! A mesh that several nodes show becomes an object for each of them, and stays one mesh in an edited
//! file as long as they are edited alike. Cameras, lights and
//! tangents are not read, but stay in an edited file. The neutral of a mesh is its shape at weights zero and in its bind pose,
//! even if the file rests at other weights or in another pose.
//!
//! # Where to find what
//!
//! | concept | module |
//! |---|---|
//! | the GLB container and `data:` URIs | `container` |
//! | the JSON schema: nodes, meshes, accessors, animations | `document` |
//! | the private entry `extras.pliant` | `extras` |
//! | how the file stores the vertices of an object | `seams` |
//! | bytes → document → objects and clips | `read` |
//! | objects and clips → document → bytes | `write` |
//! | the original bytes, and their changes | `original`, `edit` |
//!
//! Data flows `bytes → container → Document → read::Scene → Asset` and back through
//! `Asset → write::DocumentWriter → Document → container → bytes`. The shared modules use neither
//! `read` nor `write`, and these two do not use each other; `edit` uses both.

mod container;
mod document;
mod edit;
mod extras;
mod original;
mod read;
mod seams;
#[cfg(test)]
mod tests;
mod write;

pub(crate) use original::Original;
pub use read::read;
pub(crate) use read::{read_document, read_shared};
pub(crate) use seams::Seams;
pub use write::{CAPABILITIES, write, write_json};
