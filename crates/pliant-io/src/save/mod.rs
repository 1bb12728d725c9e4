//! Saving: from an [`Asset`] to files.
//!
//! | module | concept |
//! |---|---|
//! | `beside` | the files beside a file: materials, images, buffers |
//! | `pair` | a mesh file and an array with its targets or frames |
//! | `precision` | what single precision loses |

mod beside;
mod pair;
mod precision;

use std::path::{Path, PathBuf};

use crate::formats::with_repeat_counts;
use crate::{Asset, Format, IoError, write_files};

/// What was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SaveReport {
    /// The files.
    pub files: Vec<PathBuf>,
    /// What the format cannot store, one phrase each.
    pub left_out: Vec<String>,
}

/// Files with their bytes, and what was left out of them.
pub type SavePlan = (Vec<(PathBuf, Vec<u8>)>, Vec<String>);

/// Writes `asset` in the format that the ending of `path` names: all files or none.
///
/// `MESH+NAME.frames.npy` writes a mesh and its clip, `MESH+NAME.npy` a mesh and its targets, each
/// with a text file of names; a `.npy` alone gets the plain positions, V × 3 or frames × V × 3.
pub fn save(asset: &Asset, path: impl AsRef<Path>) -> Result<SaveReport, IoError> {
    let (files, left_out) = plan_save(asset, path)?;
    write_files(&files)?;
    Ok(SaveReport {
        files: files.into_iter().map(|(path, _)| path).collect(),
        left_out,
    })
}

/// What [`save`] would write, for callers that write it together with other files.
pub fn plan_save(asset: &Asset, path: impl AsRef<Path>) -> Result<SavePlan, IoError> {
    let path = path.as_ref();
    asset.require_finite()?;
    let other_format = Format::of(path).is_none_or(|format| !format.is_gltf());
    let plain;
    let asset = if other_format && asset.keeps_original_clips {
        plain = asset.without_idle_targets()?;
        &plain
    } else {
        asset
    };

    let (files, left_out) = match pair::split(path) {
        Some((mesh, array)) => pair::encode(asset, &mesh, &array)?,
        None => encode(asset, path)?,
    };
    Ok((files, with_repeat_counts(left_out)))
}

/// The asset in one file, and the files that it refers to.
fn encode(asset: &Asset, path: &Path) -> Result<SavePlan, IoError> {
    let mut encoded = Format::writer_for(path)?(asset)?;
    if let Some(format) = Format::of(path) {
        let lost = precision::losses(asset, format, &encoded)?;
        encoded.left_out.extend(lost);
    }
    beside::avoid_other_files(&mut encoded, path);
    let mut files = vec![(path.to_owned(), encoded.bytes)];
    for (name, bytes) in encoded.sidecar_files {
        files.push((path.with_file_name(name), bytes));
    }
    Ok((files, encoded.left_out))
}
