//! Marker files: one file of pairs, or the landmarks of two meshes.

use std::path::{Path, PathBuf};

use pliant_io::read_file;
use pliant_transfer::{Landmarks, MarkerFormat, Markers, TransferError};

use super::RecipeError;

/// Reads `FILE` with pairs, or `SOURCE+TARGET` with the landmarks of each mesh, joined by their
/// names; returns the markers and the warnings.
///
/// Relative paths start at `folder`, or at the working directory. A bare name after the `+` may
/// also be in the folder of the first file.
///
/// # Errors
/// Files that cannot be read, with their names.
pub fn read_markers(
    locator: &str,
    folder: Option<&Path>,
) -> Result<(Markers, Vec<String>), RecipeError> {
    let whole = in_folder(locator, folder);
    let Some((first, second)) = landmark_files(locator, folder).filter(|_| !whole.exists()) else {
        return Ok((read(&whole, Markers::parse)?, Vec::new()));
    };

    Ok(Landmarks::paired(
        &read(&first, Landmarks::parse)?,
        &read(&second, Landmarks::parse)?,
    ))
}

fn in_folder(file: &str, folder: Option<&Path>) -> PathBuf {
    folder.map_or_else(|| PathBuf::from(file), |folder| folder.join(file))
}

/// The two files of `SOURCE+TARGET`, split at the first `+` that follows an existing file.
fn landmark_files(locator: &str, folder: Option<&Path>) -> Option<(PathBuf, PathBuf)> {
    for (at, _) in locator.match_indices('+') {
        let first = in_folder(&locator[..at], folder);
        let second = &locator[at + 1..];
        if !first.is_file() || second.is_empty() {
            continue;
        }

        let given = in_folder(second, folder);
        let has_folder = second.contains(['/', '\\']);
        let second = if given.exists() || has_folder {
            given
        } else {
            first.with_file_name(second)
        };
        return Some((first, second));
    }
    None
}

fn read<T>(
    file: &Path,
    parse: impl FnOnce(&str) -> Result<T, TransferError>,
) -> Result<T, RecipeError> {
    let bytes = read_file(file)?;
    let place = file.display().to_string();
    let text = std::str::from_utf8(&bytes)
        .map_err(|error| RecipeError::meaning(&place, format!("{error}; save it as UTF-8 text")))?;
    parse(text).map_err(RecipeError::transfer(place))
}

/// The format that belongs to a file extension; `None` for an unknown one.
#[must_use]
pub fn marker_format(file: &Path) -> Option<MarkerFormat> {
    let ending = file.extension()?.to_string_lossy().to_lowercase();
    match ending.as_str() {
        "json" => Some(MarkerFormat::Json),
        "csv" => Some(MarkerFormat::Csv),
        _ => None,
    }
}
