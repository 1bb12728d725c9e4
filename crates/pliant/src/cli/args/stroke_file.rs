//! Strokes and stroke libraries in JSON files.

use std::path::{Path, PathBuf};

use pliant_io::json_problem;
use pliant_rig::{SavedStroke, Stroke, StrokeLibrary};

use crate::cli::report::failure::Failure;

/// A stroke in a library: `FILE#NAME`.
#[derive(Debug, Clone)]
pub(crate) struct LibraryEntry {
    pub(crate) file: PathBuf,
    pub(crate) name: String,
}

/// Parses `LIB.json#NAME`.
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

/// Reads `{"camera": …, "points": [[x, y], …]}`.
pub(crate) fn read_stroke(path: &Path) -> Result<Stroke, Failure> {
    serde_json::from_slice(&pliant_io::read_file(path)?).map_err(|error| {
        Failure::new(format!(
            "{}: this is not a stroke ({}); give {{\"camera\": {{\"eye\", \"target\", \"up\", \"fov_y_degrees\", \"width\", \"height\"}}, \
             \"points\": [[x, y], …]}}",
            path.display(),
            json_problem(&error)
        ))
    })
}

fn read_library(path: &Path) -> Result<StrokeLibrary, Failure> {
    serde_json::from_slice(&pliant_io::read_file(path)?).map_err(|error| {
        Failure::new(format!(
            "{}: this is not a stroke library ({}); write one with --save",
            path.display(),
            json_problem(&error)
        ))
    })
}

/// The stroke of a library that `entry` names.
pub(crate) fn read_entry(entry: &LibraryEntry) -> Result<SavedStroke, Failure> {
    let library = read_library(&entry.file)?;
    match library.get(&entry.name) {
        Some(stroke) => Ok(stroke.clone()),
        None => Err(unknown_stroke(entry, &library)),
    }
}

fn unknown_stroke(entry: &LibraryEntry, library: &StrokeLibrary) -> Failure {
    // The names help where one is misspelled.
    let names: Vec<&str> = library
        .strokes
        .iter()
        .map(|stroke| stroke.name.as_str())
        .collect();
    let content = if names.is_empty() {
        "the library is empty".to_owned()
    } else {
        format!("the library has {}", names.join(", "))
    };

    Failure::new(format!(
        "{}: there is no stroke '{}'; {content}",
        entry.file.display(),
        entry.name
    ))
}

/// The bytes of the library at `path` with one more stroke. A library that does not exist is
/// empty.
pub(crate) fn library_with(path: &Path, stroke: SavedStroke) -> Result<Vec<u8>, Failure> {
    let mut library = if path.exists() {
        read_library(path)?
    } else {
        StrokeLibrary::default()
    };

    // A stroke of the same name is replaced.
    library.insert(stroke);

    let text =
        serde_json::to_string_pretty(&library).expect("a library holds numbers and names only");
    Ok(format!("{text}\n").into_bytes())
}
