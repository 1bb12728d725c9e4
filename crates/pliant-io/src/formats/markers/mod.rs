//! Readers of motion-capture markers: C3D, BVH, TRC, tables (CSV) and arrays.
//!
//! Formats work on bytes and return a [`MarkerFile`]; [`read_markers`] chooses one by the ending of
//! a path. The files do not say which marker is which control point, and often neither units nor
//! axes; that is left to the caller.
//!
//! | module | concept |
//! |---|---|
//! | `csv` | tables |
//! | `trc` | tables of optical captures (TRC) |
//! | `c3d`, `c3d_parameters` | optical captures |
//! | `bvh` | joints of moving skeletons |

pub mod bvh;
pub mod c3d;
mod c3d_parameters;
pub mod csv;
#[cfg(test)]
mod tests;
pub mod trc;

use std::path::Path;

use pliant_mesh::glam::DVec3;
use pliant_rig::MarkerTrack;

use crate::{IoError, ReadError, npy, read_file};

/// A take, and further information of its file.
#[derive(Debug, Clone, PartialEq)]
pub struct MarkerFile {
    /// The markers over time.
    pub track: MarkerTrack,
    /// Whether the file names its markers; otherwise their names are numbers.
    pub named: bool,
    /// The unit of length, if the file says so.
    pub units: Option<String>,
    /// Columns or channels that are not markers.
    pub ignored: Vec<String>,
}

/// Reads a take by the ending of its file: `.c3d`, `.bvh`, `.trc` or `.npy`; any other is read as a table.
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
        "trc" => trc::read,
        "npy" => read_array,
        _ => csv::read,
    };

    reader(&read_file(path)?).map_err(|error| error.in_file(path.display().to_string()))
}

/// Whether a file holds markers by its ending; an array may hold anything else.
#[must_use]
pub fn is_marker_file(path: &Path) -> bool {
    path.extension().is_some_and(|ending| {
        ["c3d", "bvh", "trc", "csv", "tsv"]
            .iter()
            .any(|known| ending.eq_ignore_ascii_case(known))
    })
}

/// Points of an array of frames × points × 3; NaN is a missing marker.
///
/// # Errors
/// Bytes that are not such an array; infinite positions.
pub fn read_array(bytes: &[u8]) -> Result<MarkerFile, ReadError> {
    let array = npy::read(bytes)?;
    let &[frames, points, 3] = array.shape.as_slice() else {
        return Err(ReadError::whole(format!(
            "the array has the shape {:?}; markers need frames x points x 3",
            array.shape
        )));
    };
    // Without numbers, the file size does not bound the shape.
    if array.values.is_empty() {
        return Err(ReadError::whole(
            "the array is empty; give at least one frame of one point",
        ));
    }

    let mut rows = Vec::with_capacity(frames);
    for frame in 0..frames {
        let numbers = &array.values[3 * points * frame..3 * points * (frame + 1)];
        let positions = numbers.chunks_exact(3).map(DVec3::from_slice);
        rows.push(positions.map(|p| Some(p).filter(|p| !p.is_nan())).collect());
    }

    MarkerFile::of(Vec::new(), points, None, rows)
}

impl MarkerFile {
    /// A take whose markers have the given `names`, or numbers if there are none.
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
