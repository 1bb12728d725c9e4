//! The file formats, one module for each.
//!
//! A format is a module with `read(bytes) -> Result<Asset, ReadError>` and `write(&Asset) ->
//! EncodedAsset`. [`Format`] lists all of them.
//!
//! | module | concept |
//! |---|---|
//! | `format` | the list of formats: endings, readers, writers |
//! | `detect` | the format of a file by its content |
//! | `capabilities` | what a format can store, and what it leaves out |
//! | `gltf`, `fbx`, `usd` | scenes: objects, targets, skins, clips |
//! | `alembic` | scenes: objects and point animations |
//! | `obj`, `ply`, `stl`, `off` | meshes |
//! | `point_cache`, `maya_cache` | frames of positions: MDD, PC2; `.mc`, `.mcx` |
//! | `npy` | NumPy arrays |
//! | `target_file` | MakeHuman targets |
//! | `markers` | motion-capture markers: C3D, BVH, TRC, CSV |
//! | `performance` | channels over time: Live Link Face and other tables, JSON |

pub mod alembic;
mod capabilities;
mod detect;
pub mod fbx;
mod format;
pub mod gltf;
pub mod markers;
#[cfg_attr(
    not(feature = "fbx"),
    allow(dead_code, reason = "the reader of FBX asks for channels")
)]
pub mod maya_cache;
pub mod npy;
pub mod obj;
pub mod off;
pub mod performance;
pub mod ply;
pub mod point_cache;
pub mod stl;
pub mod target_file;
pub mod usd;

pub use capabilities::{Capabilities, EncodedAsset, UpAxes};
pub(crate) use capabilities::{clips_left_out, with_repeat_counts};
pub(crate) use detect::wrong_ending_error;
pub use format::Format;
pub(crate) use format::ReadFailure;
