//! Opening markers: one file of pairs, or the landmarks of two meshes.

use std::path::{Path, PathBuf};

use pliant_io::read_file;
use pliant_transfer::{Landmarks, MarkerFormat, Markers, TransferError};

use crate::transfer_recipe::RecipeError;

/// Reads `FILE` with pairs, or `SOURCE+TARGET` with the landmarks of each mesh, joined by their
/// names; and what is odd about them.
///
/// Relative paths start at `folder`, or where the program runs. A bare name after the `+` may also
/// lie beside the first file.
///
/// # Errors
/// Files that cannot be read, with their names.
pub fn read_markers(
    locator: &str,
    folder: Option<&Path>,
) -> Result<(Markers, Vec<String>), RecipeError> {
    let path = |file: &str| folder.map_or_else(|| PathBuf::from(file), |folder| folder.join(file));
    let whole = path(locator);
    let halves = locator
        .match_indices('+')
        .map(|(at, _)| (&locator[..at], &locator[at + 1..]));
    let halves = halves
        .filter(|_| !whole.exists())
        .find(|(first, second)| path(first).is_file() && !second.is_empty());
    let Some((first, second)) = halves else {
        return Ok((read(&whole, Markers::parse)?, Vec::new()));
    };
    let (first, given) = (path(first), path(second));
    let second = if given.exists() || second.contains(['/', '\\']) {
        given
    } else {
        first.with_file_name(second)
    };
    Ok(Landmarks::paired(
        &read(&first, Landmarks::parse)?,
        &read(&second, Landmarks::parse)?,
    ))
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

/// The form that a file's ending asks for; nothing for an unknown ending.
#[must_use]
pub fn marker_format(file: &Path) -> Option<MarkerFormat> {
    let ending = file.extension()?.to_string_lossy().to_lowercase();
    match ending.as_str() {
        "json" => Some(MarkerFormat::Json),
        "csv" => Some(MarkerFormat::Csv),
        _ => None,
    }
}
