//! Strokes and stroke libraries in files.

use std::path::{Path, PathBuf};

use pliant_rig::{SavedStroke, Stroke, StrokeLibrary};

use super::failure::Failure;

/// A stroke in a library: `FILE#NAME`.
#[derive(Debug, Clone)]
pub(crate) struct LibraryEntry {
    pub(crate) file: PathBuf,
    pub(crate) name: String,
}

/// Reads `{"camera": …, "points": [[x, y], …]}`.
pub(crate) fn read_stroke(path: &Path) -> Result<Stroke, Failure> {
    serde_json::from_slice(&pliant_io::read_file(path)?).map_err(|error| {
        Failure::could_not(format!(
            "{}: is not a stroke ({error}); give {{\"camera\": {{\"eye\", \"target\", \"up\", \"fov_y_degrees\", \"width\", \"height\"}}, \
             \"points\": [[x, y], …]}}",
            path.display()
        ))
    })
}

pub(crate) fn read_library(path: &Path) -> Result<StrokeLibrary, Failure> {
    serde_json::from_slice(&pliant_io::read_file(path)?).map_err(|error| {
        Failure::could_not(format!(
            "{}: is not a library of strokes ({error}); make one with --save",
            path.display()
        ))
    })
}

pub(crate) fn read_entry(entry: &LibraryEntry) -> Result<SavedStroke, Failure> {
    let library = read_library(&entry.file)?;
    library.get(&entry.name).cloned().ok_or_else(|| {
        let names: Vec<&str> = library
            .strokes
            .iter()
            .map(|stroke| stroke.name.as_str())
            .collect();
        let has = if names.is_empty() {
            "it has none".to_owned()
        } else {
            format!("it has {}", names.join(", "))
        };
        Failure::could_not(format!(
            "{}: there is no stroke '{}'; {has}",
            entry.file.display(),
            entry.name
        ))
    })
}

/// The library at `path`, new where there is none, with the stroke in it.
pub(crate) fn library_with(path: &Path, stroke: SavedStroke) -> Result<Vec<u8>, Failure> {
    let mut library = if path.exists() {
        read_library(path)?
    } else {
        StrokeLibrary::default()
    };
    library.insert(stroke);
    let text =
        serde_json::to_string_pretty(&library).expect("a library is plain numbers and names");
    Ok(format!("{text}\n").into_bytes())
}

/// Reads `LIB.json#NAME`.
pub(crate) fn parse_entry(text: &str) -> Result<LibraryEntry, String> {
    match text.rsplit_once('#') {
        Some((file, name)) if !file.is_empty() && !name.is_empty() => Ok(LibraryEntry {
            file: file.into(),
            name: name.into(),
        }),
        _ => Err(format!(
            "'{text}' is not LIB.json#NAME, as in strokes.json#smile"
        )),
    }
}
