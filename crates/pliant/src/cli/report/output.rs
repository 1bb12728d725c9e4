//! Output files: checks of their formats, and writing them together or not at all.

use std::path::{Path, PathBuf};

use pliant_io::{Asset, Format};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::failure::Failure;

/// A path as reports and messages show it.
pub(crate) fn path_text(path: &Path) -> String {
    path.display().to_string()
}

/// Refuses a path whose ending belongs to another format than the `endings` that can be written.
///
/// A path without an ending, such as a device, is accepted.
pub(crate) fn require_ending(path: &Path, endings: &[&str]) -> Result<(), Failure> {
    let Some(ending) = path.extension() else {
        return Ok(());
    };
    if endings
        .iter()
        .any(|known| ending.eq_ignore_ascii_case(known))
    {
        return Ok(());
    }

    let ending = ending.to_string_lossy();
    let endings: Vec<String> = endings.iter().map(|ending| format!(".{ending}")).collect();
    Err(Failure::new(format!(
        "cannot write '{}': this result has no format '.{ending}'; use a file name that ends with {}",
        path.display(),
        endings.join(" or ")
    )))
}

/// As [`require_ending`] for an output that is optional.
pub(crate) fn require_ending_if_given(
    path: Option<&Path>,
    endings: &[&str],
) -> Result<(), Failure> {
    path.map_or(Ok(()), |path| require_ending(path, endings))
}

/// Refuses a path whose format cannot store a clip.
pub(crate) fn require_clip_format(path: &Path) -> Result<(), Failure> {
    require_format(path, "a clip", Format::stores_clips)
}

/// Refuses a path whose format cannot store targets.
pub(crate) fn require_rig_format(path: &Path) -> Result<(), Failure> {
    let is_pair = path.to_string_lossy().contains('+');
    if is_pair {
        Ok(())
    } else {
        require_format(path, "targets", Format::stores_targets)
    }
}

fn require_format(path: &Path, content: &str, holds: fn(Format) -> bool) -> Result<(), Failure> {
    if Format::of(path).is_none_or(holds) {
        return Ok(());
    }

    // The message lists every ending that would work.
    let usable = Format::ALL
        .into_iter()
        .filter(|format| format.can_write() && holds(*format));
    let endings: Vec<String> = usable
        .map(|format| format!(".{}", format.ending()))
        .collect();

    Err(Failure::new(format!(
        "cannot write '{}': this format cannot store {content}; use a file name that ends with {}",
        path.display(),
        endings.join(", ")
    )))
}

/// Files that are written together or not at all.
#[derive(Debug, Default)]
pub(crate) struct OutputFiles {
    files: Vec<(PathBuf, Vec<u8>)>,
    /// Content that the formats cannot store.
    pub(crate) left_out: Vec<String>,
    pub(crate) warnings: Vec<String>,
}

impl OutputFiles {
    pub(crate) fn add(&mut self, path: &Path, bytes: Vec<u8>) {
        self.files.push((path.to_owned(), bytes));
    }

    pub(crate) fn add_asset(&mut self, path: &Path, asset: &Asset) -> Result<(), Failure> {
        let (files, left_out) = pliant_io::plan_save(asset, path)?;
        self.files.extend(files);
        self.warnings.extend(left_out_warnings(path, &left_out));
        self.left_out.extend(left_out);
        Ok(())
    }

    pub(crate) fn write(&self) -> Result<(), Failure> {
        Ok(pliant_io::write_files(&self.files)?)
    }
}

/// Writes one file completely or not at all.
pub(crate) fn write(path: &Path, bytes: Vec<u8>) -> Result<(), Failure> {
    Ok(pliant_io::write_files(&[(path.to_owned(), bytes)])?)
}

/// An asset that a command wrote.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SavedAsset {
    /// The file that was written.
    pub(crate) out: String,
    /// Content that the format of the file cannot store.
    pub(crate) left_out: Vec<String>,
}

/// Writes an asset, and adds a warning for everything that the format cannot store.
pub(crate) fn save_asset(
    asset: &Asset,
    out: &Path,
    warnings: &mut Vec<String>,
) -> Result<SavedAsset, Failure> {
    let saved = pliant_io::save(asset, out)?;
    warnings.extend(left_out_warnings(out, &saved.left_out));
    Ok(SavedAsset {
        out: path_text(out),
        left_out: saved.left_out,
    })
}

fn left_out_warnings(path: &Path, left_out: &[String]) -> Vec<String> {
    let file = path.display();
    left_out
        .iter()
        .map(|content| format!("'{file}' does not contain {content}: the format cannot store this"))
        .collect()
}
