//! Reader and writer of FBX.
//!
//! **Format.** Objects and connections between them: nodes with transforms, meshes of polygons,
//! blend channels with shapes at full weights, skins whose clusters follow bones, curves that
//! animate properties, and point caches in other files.
//!
//! **Source.** ufbx and its documentation, for reading. No specification is published; the binary
//! layout is that of files of version 7.4 and 7.5.
//!
//! **Departures.** The reader needs the feature `fbx`, because the library is written in C. The
//! writer needs nothing.
//!
//! | module | concept |
//! |---|---|
//! | `read` | scene → objects, skins and clips, through `ufbx` |
//! | `write` | objects, skins and clips → binary nodes |

#[cfg(feature = "fbx")]
mod read;
#[cfg(all(test, feature = "fbx"))]
mod round_trip_tests;
#[cfg(all(test, feature = "fbx"))]
mod tests;
mod write;

/// The property of a node with the number of its targets, if further channels are the frames of our
/// own clips.
const TARGET_COUNT: &str = "PliantTargets";

#[cfg(feature = "fbx")]
pub use read::read;
pub use write::{CAPABILITIES, write};
