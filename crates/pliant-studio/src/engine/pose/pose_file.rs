//! Pose libraries as files: JSON with the names of sliders.
//!
//! ```json
//! {"format": "pliant poses", "version": 1, "poses": [
//!   {"name": "Smile", "folder": "Mouth", "scope": "named", "weights": {"mouthSmileLeft": 0.8}}]}
//! ```
//!
//! A map of weights, as `--weights-file` of the command line takes it, is read as one pose that has
//! the name of its file.

use std::path::Path;

use pliant::io::{json_problem, read_file};
use pliant::rig::{PoseLibrary, PoseScope, SavedPose};
use serde::{Deserialize, Serialize};

use crate::model::document::Weights;
use crate::model::names::{shown, to_message};

const FORMAT: &str = "pliant poses";
const VERSION: u32 = 1;

/// The text of a file.
#[derive(Debug, Serialize, Deserialize)]
struct PoseFile {
    format: String,
    version: u32,
    #[serde(flatten)]
    library: PoseLibrary,
}

/// The text of a library.
///
/// # Errors
/// A message about weights that JSON cannot store.
pub fn write_poses(library: &PoseLibrary) -> Result<String, String> {
    let file = PoseFile {
        format: FORMAT.into(),
        version: VERSION,
        library: library.clone(),
    };
    serde_json::to_string_pretty(&file).map_err(to_message)
}

/// The poses of a file; `None` if it is no file of poses, such as a performance.
///
/// # Errors
/// A message about a file of poses that cannot be read.
pub fn read_poses(path: &Path) -> Result<Option<Vec<SavedPose>>, String> {
    let is_json = path
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
    if !is_json {
        return Ok(None);
    }
    // Whoever else reads the file reports what is wrong with it.
    let Ok(value) =
        serde_json::from_slice::<serde_json::Value>(&read_file(path).map_err(to_message)?)
    else {
        return Ok(None);
    };

    if value.get("format").and_then(|format| format.as_str()) == Some(FORMAT) {
        let file: PoseFile = serde_json::from_value(value).map_err(|error| {
            let problem = json_problem(&error);
            format!("'{}' is not a library of poses: {problem}.", shown(path))
        })?;
        if file.version > VERSION {
            return Err(format!(
                "'{}' is of version {}, and this program reads version {VERSION}; update Pliant.",
                shown(path),
                file.version
            ));
        }
        return Ok(Some(file.library.poses));
    }

    let Ok(weights) = serde_json::from_value::<Weights>(value) else {
        return Ok(None);
    };
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let pose = SavedPose {
        name: name.into_owned(),
        folder: String::new(),
        scope: PoseScope::All,
        weights,
    };
    Ok(Some(vec![pose]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, text: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        (folder, path)
    }

    #[test]
    fn a_library_comes_back_from_its_file_to_the_bit() {
        let mut library = PoseLibrary::default();
        let weights = Weights::from([
            ("jawOpen".to_owned(), 0.1 + 0.2),
            ("smile".to_owned(), 1e-9),
        ]);
        library.put(SavedPose::new(
            "Mouth/Talk",
            PoseScope::All,
            weights.clone(),
        ));
        library.put(SavedPose::new("Open", PoseScope::Named, weights));

        let (_folder, path) = file("faces.json", &write_poses(&library).unwrap());
        assert_eq!(read_poses(&path).unwrap().unwrap(), library.poses);
    }

    #[test]
    fn weights_of_the_command_line_are_one_pose() {
        let (_folder, path) = file("grin.json", r#"{"mouthSmileLeft": 0.5}"#);
        let poses = read_poses(&path).unwrap().unwrap();
        assert_eq!((&*poses[0].name, poses[0].scope), ("grin", PoseScope::All));
        assert_eq!(poses[0].weights["mouthSmileLeft"], 0.5);
    }

    #[test]
    fn other_files_are_left_to_others_and_broken_libraries_are_reported() {
        let (_folder, path) = file("take.json", r#"[{"jawOpen": 0.5}]"#);
        assert_eq!(read_poses(&path), Ok(None));

        let (_folder, path) = file("bad.json", r#"{"format": "pliant poses", "version": 1}"#);
        let message = read_poses(&path).unwrap_err();
        assert!(
            message.contains("bad.json") && message.contains("poses"),
            "{message}"
        );

        let (_folder, path) = file(
            "new.json",
            r#"{"format": "pliant poses", "version": 9, "poses": []}"#,
        );
        assert!(read_poses(&path).unwrap_err().contains("version 9"));
    }
}
