//! Reader of TRC (Motion Analysis, OpenSim): markers in a table with a head of its own.
//!
//! **Format.** Line 1 begins with `PathFileType`; lines 2 and 3 are names and values of properties,
//! among them `DataRate`, `NumMarkers` and `Units`. Line 4 names the markers, each in the first of
//! its three columns; line 5 repeats `X1 Y1 Z1`. Rows begin with the number of the frame and its
//! time.
//!
//! **Source.** OpenSim documentation, "Marker (.trc) files".
//!
//! **Departures.** Empty cells and `NaN` are a missing marker. Cells are separated by tabs, so that
//! an empty cell keeps its place.

use pliant_mesh::glam::DVec3;

use super::MarkerFile;
use crate::ReadError;
use crate::parse::budget::Budget;
use crate::parse::text::{Lines, excerpt, number};

/// Reads markers over time.
///
/// # Errors
/// Text that is not TRC, rows of another length, cells that are not numbers; each with its line.
pub fn read(bytes: &[u8]) -> Result<MarkerFile, ReadError> {
    let mut lines = Lines::of(bytes);
    let mut next = |what: &str| {
        lines.next().ok_or_else(|| {
            ReadError::whole(format!("the file ends before {what}; export it again"))
        })
    };

    let (line, first) = next("its head")?;
    if !first.trim_ascii_start().starts_with(b"PathFileType") {
        return Err(ReadError::line(
            line,
            "the first line does not begin with PathFileType, so this is no TRC file",
        ));
    }
    let (_, properties) = next("its properties")?;
    let (line, values) = next("its properties")?;
    let (properties, values) = (cells(properties), cells(values));
    let property = |name: &str| {
        let column = properties
            .iter()
            .position(|cell| cell.eq_ignore_ascii_case(name))?;
        values.get(column).copied()
    };
    let rate = property("DataRate").and_then(|cell| number(cell.as_bytes()));
    if rate.is_none() {
        return Err(ReadError::line(
            line,
            "the head gives no DataRate; add the number of frames per second",
        ));
    }

    let (line, names) = next("the names of its markers")?;
    let names: Vec<String> = cells(names)
        .into_iter()
        .skip(2)
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect();
    if names.is_empty() {
        return Err(ReadError::line(
            line,
            "the fourth line names no marker; export the file again",
        ));
    }
    next("its axes")?;

    let budget = Budget::of_samples(bytes.len());
    let mut frames = Vec::new();
    for (line, row) in lines {
        if row.trim_ascii().is_empty() {
            continue;
        }
        // Cells at the end of a row may be missing.
        budget.spend(4 * names.len(), "the rows")?;
        frames.push(positions(row, names.len()).map_err(|text| ReadError::line(line, text))?);
    }

    let count = names.len();
    let mut file = MarkerFile::of(names, count, rate, frames)?;
    file.units = property("Units").map(str::to_owned);
    Ok(file)
}

fn cells(line: &[u8]) -> Vec<&str> {
    line.split(|&b| b == b'\t')
        .map(|cell| std::str::from_utf8(cell).unwrap_or("\u{fffd}").trim())
        .collect()
}

/// The markers of a row, after the number of the frame and its time.
fn positions(row: &[u8], count: usize) -> Result<Vec<Option<DVec3>>, String> {
    let mut cells = cells(row);
    while cells.len() > 2 + 3 * count && cells.last().is_some_and(|cell| cell.is_empty()) {
        cells.pop();
    }
    // Markers that are missing at the end of a row may have no cells at all.
    if cells.len() < 2 || cells.len() > 2 + 3 * count {
        return Err(format!(
            "the row has {} cells; {} are needed for frame, time and {count} markers",
            cells.len(),
            2 + 3 * count
        ));
    }

    let mut positions = Vec::with_capacity(count);
    for marker in 0..count {
        let mut position = Some([0.0; 3]);
        for axis in 0..3 {
            let cell = cells.get(2 + 3 * marker + axis).copied().unwrap_or("");
            match number(cell.as_bytes()) {
                _ if cell.is_empty() => position = None,
                Some(value) if value.is_nan() => position = None,
                Some(value) if value.is_finite() => {
                    if let Some(position) = &mut position {
                        position[axis] = value;
                    }
                }
                _ => {
                    return Err(format!(
                        "'{}' is not a finite number",
                        excerpt(cell.as_bytes())
                    ));
                }
            }
        }
        positions.push(position.map(DVec3::from_array));
    }
    Ok(positions)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAKE: &str = "PathFileType\t4\t(X/Y/Z)\ttake.trc\n\
        DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\n\
        120.0\t120.0\t2\t2\tmm\t120.0\n\
        Frame#\tTime\tbrow.L\t\t\tlip\t\t\n\
        \t\tX1\tY1\tZ1\tX2\tY2\tZ2\n\
        \n\
        1\t0.0\t1\t2\t3\t4\t5\t6\n\
        2\t0.0083\t1.5\t2\t3\t\t\t\n";

    #[test]
    fn markers_rate_and_units_are_read() {
        let file = read(TAKE.as_bytes()).unwrap();
        assert_eq!(file.track.names(), ["brow.L", "lip"]);
        assert_eq!(file.track.fps(), Some(120.0));
        assert_eq!(file.units.as_deref(), Some("mm"));
        assert_eq!(file.track.frames()[0][1], Some(DVec3::new(4.0, 5.0, 6.0)));
        assert_eq!(
            file.track.frames()[1],
            [Some(DVec3::new(1.5, 2.0, 3.0)), None]
        );
    }

    #[test]
    fn damaged_files_are_errors_with_their_line() {
        for (from, to, word) in [
            ("PathFileType", "x", "line 1"),
            ("120.0\t120.0\t2", "x\tx\t2", "DataRate"),
            ("4\t5\t6", "4\t5\t6\t7", "line 7"),
            ("4\t5\t6", "4\tfive\t6", "'five'"),
            ("brow.L\t\t\tlip\t\t", "", "line 4"),
        ] {
            let error = read(TAKE.replacen(from, to, 1).as_bytes()).unwrap_err();
            let message = error.in_file("take.trc").to_string();
            assert!(message.contains(word), "{message}");
        }
        for length in 0..TAKE.len() {
            let _ = read(&TAKE.as_bytes()[..length]);
        }
    }
}
