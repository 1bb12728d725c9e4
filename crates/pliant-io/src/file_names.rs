//! File names: stems, endings, and the names of files that belong to an array.
//!
//! | file | content |
//! |---|---|
//! | `NAME.frames.npy` | frames × V × 3, absolute; frame names in `NAME.frames.txt` |
//! | `STEM.npy`, `STEM.delta.npy` | targets × V × 3, target minus neutral; names in `STEM.names.txt` |

use std::path::{Path, PathBuf};

/// The ending of an array of frames; other arrays hold displacements.
pub(crate) const FRAMES_ENDING: &str = ".frames.npy";

/// Whether an array holds frames, by its name.
pub(crate) fn names_frames(array: &Path) -> bool {
    let name = array.file_name().unwrap_or_default().to_string_lossy();
    name.to_lowercase().ends_with(FRAMES_ENDING)
}

/// The file with the names of the frames in `array`.
pub(crate) fn frame_names_file(array: &Path) -> PathBuf {
    let name = array.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.strip_suffix(".npy").unwrap_or(&name);
    array.with_file_name(format!("{stem}.txt"))
}

/// The file with the names of the targets in `array`.
pub(crate) fn target_names_file(array: &Path) -> PathBuf {
    let stem = stem(array);
    let stem = stem.strip_suffix(".delta").unwrap_or(&stem);
    array.with_file_name(format!("{stem}.names.txt"))
}

/// The name of a file without its ending.
pub(crate) fn stem(path: &Path) -> String {
    path.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// Whether a path is a bare file name.
pub(crate) fn is_bare(path: &Path) -> bool {
    path.parent()
        .is_none_or(|parent| parent.as_os_str().is_empty())
}
