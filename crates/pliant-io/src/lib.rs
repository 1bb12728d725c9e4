//! Readers and writers for mesh, rig and clip files.
//!
//! [`load`] turns a locator (a file, a part of it, a pair of files, a folder, a specimen, one
//! frame) into an [`Asset`]. [`save`] writes an asset in the format of the path's ending and
//! reports what the format cannot store. Formats work on bytes; only one module opens files.
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
//!
//! [`Stored`] keeps a mesh, a rig or a clip as bytes, exactly.
//!
//! The layers, from below: `error` and `parse` (text lines, binary cursors, memory budgets);
//! `asset` (objects, clips, their merged view); `files` (the file system); `formats` (one module
//! for each file format); `load` and `save`.

mod asset;
mod error;
mod file_names;
mod files;
mod formats;
mod load;
mod parse;
mod save;
mod stored;

pub use asset::{
    AlphaMode, Animation, Asset, CharacterPose, HeadUse, ImageFile, MappedRig, Material, Motion,
    Object, PlacementTrack, PlayOptions, Played, Repair, RepairKind, RepairedAsset, Shape,
    SkinBinding, SkinTrack, Texture, UpAxis, UvTransform, VertexColorUse, Wrap,
};
pub use error::{FilePosition, IoError, ReadError};
pub use files::{
    ContentHash, FileProvider, FileRead, MemoryDisk, MemoryFile, NoFiles, discard_unfinished_files,
    is_file, is_folder, is_same_file, list_folder, read_file, record_reads, write_files,
};
pub use formats::markers::{MarkerFile, is_marker_file, read_markers};
pub use formats::performance::{PerformanceOptions, is_performance_file, read_performance};
pub use formats::usd as usda;
pub use formats::{Capabilities, EncodedAsset, Format, UpAxes};
pub use formats::{
    alembic, fbx, gltf, markers, maya_cache, npy, obj, off, performance, ply, point_cache, stl,
    target_file,
};
pub use load::{LoadOptions, Locator, LocatorBase, Specimens, load, load_with_frame};
pub use parse::json::json_problem;
pub use save::{SavePlan, SaveReport, plan_save, save};
pub use stored::Stored;
