//! Reader of markers in a table (CSV): one row for each frame, three columns for each marker.
//!
//! **Format.** Cells are separated by tabs, semicolons or commas: the first of these that occurs in
//! the first row. A first row without any number is a header. Columns whose names end in, or begin
//! with, one of `x`, `y`, `z` belong together if the rest of the name is the same (`M1_x`, `M1.Y`,
//! `M1 Z`, `x1`). Without a header, every three columns are a marker.
//!
//! **Departures.** An empty cell, `NA`, `nan` and `null` mean a missing marker. If commas do not
//! separate cells, they may be decimal commas. Columns that belong to no marker are listed as
//! ignored.

use std::collections::BTreeMap;

use pliant_mesh::glam::DVec3;

use super::MarkerFile;
use crate::ReadError;
use crate::parse::text::{Lines, excerpt, number};

/// Reads a table.
///
/// # Errors
/// Rows of unequal length, cells that are not numbers, a header without markers; each with its line.
pub fn read(bytes: &[u8]) -> Result<MarkerFile, ReadError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        ReadError::byte(
            error.valid_up_to(),
            "the file is not text; give markers as CSV, .npy, .c3d or .bvh",
        )
    })?;

    let mut lines = Lines::of(text.as_bytes())
        .filter(|(_, line)| !line.trim_ascii().is_empty())
        .peekable();
    let Some(&(line, first)) = lines.peek() else {
        return Err(ReadError::whole(
            "the table has no row; give one for each frame",
        ));
    };

    // The first row decides about separator, number of columns and header.
    let separator = separator_of(first);
    let head: Vec<&str> = cells(first, separator).collect();
    let columns = head.len();
    let layout = if is_header(&head) {
        lines.next();
        Layout::of_header(&head).map_err(|message| ReadError::line(line, message))?
    } else {
        Layout::of_count(columns).map_err(|message| ReadError::line(line, message))?
    };

    let mut frames = Vec::new();
    for (line, row) in lines {
        let values: Vec<&str> = cells(row, separator).collect();
        if values.len() != columns {
            let message = format!(
                "the row has {} cells, but the first row has {columns}; export the table again",
                values.len()
            );
            return Err(ReadError::line(line, message));
        }

        frames.push(
            layout
                .positions(&values, separator)
                .map_err(|message| ReadError::line(line, message))?,
        );
    }

    let mut file = MarkerFile::of(layout.names, layout.columns.len(), None, frames)?;
    file.ignored = layout.ignored;
    Ok(file)
}

/// Which columns belong to which marker.
struct Layout {
    /// Empty if the table has no header.
    names: Vec<String>,
    columns: Vec<[usize; 3]>,
    ignored: Vec<String>,
}

impl Layout {
    fn of_count(columns: usize) -> Result<Self, String> {
        if !columns.is_multiple_of(3) {
            return Err(format!(
                "the row has {columns} numbers, which is not a multiple of three; give x, y and z of each point, or a header"
            ));
        }
        Ok(Self {
            names: Vec::new(),
            columns: (0..columns / 3)
                .map(|k| [3 * k, 3 * k + 1, 3 * k + 2])
                .collect(),
            ignored: Vec::new(),
        })
    }

    fn of_header(head: &[&str]) -> Result<Self, String> {
        let parsed: Vec<Option<(&str, usize)>> =
            head.iter().map(|name| marker_and_axis(name)).collect();
        let columns_of = columns_of_markers(head, &parsed)?;
        let mut layout = Self {
            names: Vec::new(),
            columns: Vec::new(),
            ignored: Vec::new(),
        };

        // Markers come in the order of their first columns.
        for (column, entry) in parsed.iter().enumerate() {
            let complete = entry.and_then(|(marker, _)| match columns_of[marker] {
                [Some(x), Some(y), Some(z)] => Some((marker, [x, y, z])),
                _ => None,
            });
            let Some((marker, columns)) = complete else {
                layout.ignored.push(head[column].to_owned());
                continue;
            };

            if columns.iter().min() == Some(&column) {
                let name = if marker.is_empty() { "point" } else { marker };
                layout.names.push(name.to_owned());
                layout.columns.push(columns);
            }
        }

        if layout.columns.is_empty() {
            return Err("no three columns of the header are the x, y and z of a marker; name them as M1_x, M1_y, M1_z".into());
        }

        Ok(layout)
    }

    /// The position of each marker in a row; `None` if it is missing.
    fn positions(&self, row: &[&str], separator: u8) -> Result<Vec<Option<DVec3>>, String> {
        let mut positions = Vec::with_capacity(self.columns.len());
        for columns in &self.columns {
            let [x, y, z] = columns.map(|column| value(row[column], separator));
            positions.push(match (x?, y?, z?) {
                (Some(x), Some(y), Some(z)) => Some(DVec3::new(x, y, z)),
                _ => None,
            });
        }

        Ok(positions)
    }
}

/// For each marker name of the header, the columns of its x, y and z.
fn columns_of_markers<'a>(
    head: &[&str],
    parsed: &[Option<(&'a str, usize)>],
) -> Result<BTreeMap<&'a str, [Option<usize>; 3]>, String> {
    let mut columns_of: BTreeMap<&str, [Option<usize>; 3]> = BTreeMap::new();
    for (column, entry) in parsed.iter().enumerate() {
        let Some((marker, axis)) = *entry else {
            continue;
        };

        let slot = &mut columns_of.entry(marker).or_default()[axis];
        if slot.is_some() {
            return Err(format!(
                "the column '{}' occurs twice; give each marker a name of its own",
                excerpt(head[column].as_bytes())
            ));
        }
        *slot = Some(column);
    }

    Ok(columns_of)
}

fn separator_of(row: &[u8]) -> u8 {
    let count = |separator: u8| row.iter().filter(|&&b| b == separator).count();
    // A row with semicolons may contain decimal commas.
    [b'\t', b';', b',']
        .into_iter()
        .find(|&separator| count(separator) > 0)
        .unwrap_or(b',')
}

fn cells(row: &[u8], separator: u8) -> impl Iterator<Item = &str> {
    row.split(move |&b| b == separator).map(|cell| {
        let cell = std::str::from_utf8(cell)
            .expect("a part of UTF-8 text between ASCII bytes is UTF-8")
            .trim();
        cell.strip_prefix('"')
            .and_then(|cell| cell.strip_suffix('"'))
            .unwrap_or(cell)
            .trim()
    })
}

fn is_missing(cell: &str) -> bool {
    ["", "na", "n/a", "null", "none"]
        .iter()
        .any(|word| cell.eq_ignore_ascii_case(word))
}

fn is_header(head: &[&str]) -> bool {
    head.iter().any(|cell| !is_missing(cell))
        && head.iter().all(|cell| number(cell.as_bytes()).is_none())
}

/// The number in a cell; `None` for a missing marker.
fn value(cell: &str, separator: u8) -> Result<Option<f64>, String> {
    if is_missing(cell) {
        return Ok(None);
    }

    let parsed = number(cell.as_bytes());
    let parsed = parsed.or_else(|| {
        (separator != b',')
            .then(|| number(cell.replacen(',', ".", 1).as_bytes()))
            .flatten()
    });

    match parsed {
        Some(value) if value.is_finite() => Ok(Some(value)),
        Some(value) if value.is_nan() => Ok(None),
        _ => Err(format!(
            "'{}' is not a finite number",
            excerpt(cell.as_bytes())
        )),
    }
}

/// `M1_x` is axis 0 of `M1`; `None` for other names.
fn marker_and_axis(name: &str) -> Option<(&str, usize)> {
    let axis = |letter: char| "xyz".find(letter.to_ascii_lowercase());
    let is_joint = |c: char| matches!(c, '_' | '.' | '-' | ':' | ' ' | '[' | ']' | '(' | ')');
    // `M1[x]` and `M1(x)` have a bracket after the axis.
    let bare = name.trim_end_matches([']', ')']);
    let last = bare.chars().next_back()?;
    let first = name.chars().next()?;

    if let Some(k) = axis(last) {
        let rest = &bare[..bare.len() - last.len_utf8()];
        if rest.is_empty() || rest.ends_with(|c: char| is_joint(c) || c.is_ascii_digit()) {
            return Some((rest.trim_end_matches(is_joint), k));
        }
    }

    let rest = &name[first.len_utf8()..];
    let whole = rest.starts_with(|c: char| is_joint(c) || c.is_ascii_digit());
    axis(first)
        .filter(|_| whole)
        .map(|k| (rest.trim_start_matches(is_joint), k))
}
