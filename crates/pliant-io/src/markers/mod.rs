//! Captured markers: tables, arrays, optical captures and skeletons in motion.
//!
//! Formats work on bytes and give a [`MarkerFile`]; [`read_markers`] chooses one by the ending of a
//! path. What none of them knows (which marker is which control point, units, axes) is left to
//! whoever uses the take.

pub mod bvh;
pub mod c3d;
mod c3d_parameters;
pub mod csv;
#[cfg(test)]
mod tests;

use std::path::Path;

use pliant_mesh::glam::DVec3;
use pliant_rig::MarkerTrack;

use crate::{IoError, ReadError, npy, read_file};

/// A take, and what its file says besides.
#[derive(Debug, Clone, PartialEq)]
pub struct MarkerFile {
    /// The markers over time.
    pub track: MarkerTrack,
    /// Whether the file names its markers; otherwise they are called by number.
    pub named: bool,
    /// The unit of lengths, where the file says so.
    pub units: Option<String>,
    /// Columns or channels that are no markers.
    pub ignored: Vec<String>,
}

/// Reads a take by the ending of its file: `.c3d`, `.bvh` or `.npy`; any other is read as a table.
///
/// # Errors
/// A file that cannot be read.
pub fn read_markers(path: &Path) -> Result<MarkerFile, IoError> {
    let ending = path
        .extension()
        .map(|ending| ending.to_string_lossy().to_lowercase())
        .unwrap_or_default();
    let reader = match ending.as_str() {
        "c3d" => c3d::read,
        "bvh" => bvh::read,
        "npy" => read_array,
        _ => csv::read,
    };
    reader(&read_file(path)?).map_err(|error| error.in_file(path.display().to_string()))
}

/// Whether a file by its ending holds markers and nothing else; an array may hold anything.
#[must_use]
pub fn holds_markers(path: &Path) -> bool {
    path.extension().is_some_and(|ending| {
        ["c3d", "bvh", "csv", "tsv"]
            .iter()
            .any(|known| ending.eq_ignore_ascii_case(known))
    })
}

/// Points of an array of frames × points × 3; NaN is a marker that is not seen.
///
/// # Errors
/// Bytes that are no such array; infinite places.
pub fn read_array(bytes: &[u8]) -> Result<MarkerFile, ReadError> {
    let array = npy::read(bytes)?;
    let &[frames, points, 3] = array.shape.as_slice() else {
        return Err(ReadError::whole(format!(
            "it has the shape {:?}; markers need frames x points x 3",
            array.shape
        )));
    };
    // Without numbers a shape is a mere promise, however large.
    if array.values.is_empty() {
        return Err(ReadError::whole(
            "it holds no place; give at least one frame of one point",
        ));
    }
    let place = |values: &[f64]| Some(DVec3::from_slice(values)).filter(|p| !p.is_nan());
    let row = |frame: usize| {
        array.values[3 * points * frame..3 * points * (frame + 1)]
            .chunks_exact(3)
            .map(place)
            .collect()
    };
    MarkerFile::of(Vec::new(), points, None, (0..frames).map(row).collect())
}

impl MarkerFile {
    /// A take whose markers are called `names`, or by number where there are none.
    fn of(
        names: Vec<String>,
        count: usize,
        fps: Option<f64>,
        frames: Vec<Vec<Option<DVec3>>>,
    ) -> Result<Self, ReadError> {
        let named = !names.is_empty();
        let names = if named {
            names
        } else {
            (0..count).map(|k| k.to_string()).collect()
        };
        Ok(Self {
            track: MarkerTrack::new(names, fps, frames)?,
            named,
            units: None,
            ignored: Vec::new(),
        })
    }
}
