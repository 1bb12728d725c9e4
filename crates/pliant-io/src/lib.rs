//! Mesh, rig and clip files in and out.
//!
//! [`load`] turns an asset's locator (a file, a part of it, a pair of files, a folder, a specimen,
//! one frame) into an [`Asset`]; [`save`] writes one by the ending of the path and says what the
//! format could not hold. Formats work on bytes; only one module opens files.
//!
//! ```
//! use pliant_io::{Asset, obj};
//!
//! let quad = b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n";
//! let asset: Asset = obj::read(quad)?;
//! assert_eq!(asset.mesh()?.face(0), &[0, 1, 2, 3]);
//! assert_eq!(obj::write(&asset).bytes, quad);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod animation;
mod asset;
mod binary;
mod budget;
mod error;
#[cfg(feature = "fbx")]
pub mod fbx;
mod files;
mod folder;
mod format;
pub mod gltf;
mod left_out;
mod load;
mod locator;
pub mod markers;
mod merge;
pub mod npy;
pub mod obj;
pub mod off;
mod pair;
pub mod ply;
pub mod point_cache;
mod point_clip;
mod retarget;
mod save;
mod skin_track;
mod sniff;
pub mod stl;
pub mod target_file;
mod text;
mod up_axis;
pub mod usda;
mod weight_clip;

pub use animation::{Animation, Motion, PlacementTrack, Shape};
pub use asset::{Asset, Object};
pub use error::{IoError, Place, ReadError};
pub use files::{Beside, NoFiles, read_file, write_files};
pub use format::Format;
pub use left_out::{Holds, UpAxes, Written};
pub use load::{LoadOptions, Specimens, load};
pub use locator::{Base, Locator};
pub use markers::{MarkerFile, holds_markers, read_markers};
pub use retarget::Retargeted;
pub use save::{Planned, Saved, plan_save, save};
pub use skin_track::{SkinBinding, SkinTrack};
pub use up_axis::UpAxis;
