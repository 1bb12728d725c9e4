//! Alembic: reader and writer of geometry over time in `.abc` files.
//!
//! **Problem.** Film pipelines pass on animation as positions of every vertex at every frame. Maya,
//! Houdini, Blender and Unreal write and read them as Alembic.
//!
//! **Format.** A tree of objects in an Ogawa container. An object has properties, with samples over
//! time; a schema says what they mean: transforms, polygon meshes, subdivision surfaces, face sets.
//! Equal samples are stored once, and what does not change has one sample.
//!
//! **Source.** Alembic 1.8, the library and its documentation; MurmurHash3 for the digests.
//!
//! **Departures.** Positions are those of the scene. A mesh `NAMEShape` below a transform `NAME`
//! has the path of the transform. Face sets are materials. Subdivision surfaces are read as their
//! control meshes; instances are objects of their own; curves, points and cameras are not read,
//! with a warning. Files in the older HDF5 container are declined. Alembic stores no rest pose, no clip name and no vertex order
//! over several meshes: the writer adds them as properties that other programs ignore. Object
//! digests are MurmurHash3, where the library uses SpookyHash; programs only compare them within a
//! file.
//!
//! | module | concept |
//! |---|---|
//! | `ogawa` | the container: groups and data |
//! | `archive` | versions, metadata, the tree of objects |
//! | `property` | properties and their samples |
//! | `time_sampling` | the times of samples, and the frames that show them |
//! | `transform` | transforms of objects |
//! | `scene` | the meshes of an archive |
//! | `mesh` | a mesh at one time |
//! | `clip` | samples over time as a clip |
//! | `read` | an archive as an asset |
//! | `digest` | the digests of samples |
//! | `encode` | a container of objects and properties, written |
//! | `object_tree` | the objects to write |
//! | `write` | an asset as an archive |

mod archive;
#[cfg(test)]
mod bad_input_tests;
mod clip;
mod digest;
mod encode;
mod mesh;
mod object_tree;
mod ogawa;
mod property;
mod read;
mod scene;
#[cfg(test)]
mod tests;
mod time_sampling;
mod transform;
mod write;

pub use self::read::read;
pub use self::write::{CAPABILITIES, write};

/// The key of the archive's metadata that holds the name of the clip.
const CLIP_NAME: &str = "pliant_clipName";

/// The property of a mesh that holds its rest pose, if that is not frame 0.
const REST_POSE: &str = "pliantRestPose";

/// The property of a mesh that holds the indices of its vertices in the order of the whole file.
const FILE_INDEX: &str = "pliantFileIndex";
