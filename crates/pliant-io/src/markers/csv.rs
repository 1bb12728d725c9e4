//! Markers as a table: one row per frame, three columns per marker.
//!
//! **Form.** Cells parted by tabs, semicolons or commas: the first of these that the first row has.
//! A first row without any number is a header; columns whose names end in, or begin with, one of
//! `x`, `y`, `z` belong together where the rest of the name is the same (`M1_x`, `M1.Y`, `M1 Z`,
//! `x1`). Without a header every three columns are a marker.
//!
//! **Ours.** An empty cell, `NA`, `nan` and `null` mean that a marker is not seen. Where commas do
//! not part cells they may stand for the decimal point. Columns that belong to no marker are left
//! out and named.

use std::collections::BTreeMap;

use pliant_mesh::glam::DVec3;

use super::MarkerFile;
use crate::ReadError;
use crate::text::{Lines, number, shown};

/// Reads a table.
///
/// # Errors
/// Rows of unequal length, cells that are no numbers, a header without markers: with the line.
pub fn read(bytes: &[u8]) -> Result<MarkerFile, ReadError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        ReadError::byte(
            error.valid_up_to(),
            "this is no text; give markers as CSV, .npy, .c3d or .bvh",
        )
    })?;
    let mut lines = Lines::of(text.as_bytes())
        .filter(|(_, line)| !line.trim_ascii().is_empty())
        .peekable();
    let Some(&(line, first)) = lines.peek() else {
        return Err(ReadError::whole("it has no row; give one per frame"));
    };
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
                "it has {} cells, but the first row has {columns}; export the table again",
                values.len()
            );
            return Err(ReadError::line(line, message));
        }
        frames.push(
            layout
                .places(&values, separator)
                .map_err(|message| ReadError::line(line, message))?,
        );
    }
    let mut file = MarkerFile::of(layout.names, layout.columns.len(), None, frames)?;
    file.ignored = layout.ignored;
    Ok(file)
}

/// Which columns belong to which marker.
struct Layout {
    /// Empty where the table has no header.
    names: Vec<String>,
    columns: Vec<[usize; 3]>,
    ignored: Vec<String>,
}

impl Layout {
    fn of_count(columns: usize) -> Result<Self, String> {
        if !columns.is_multiple_of(3) {
            return Err(format!(
                "it has {columns} numbers, which are not three per point; give x, y, z of each, or a header"
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
        let mut found: BTreeMap<&str, [Option<usize>; 3]> = BTreeMap::new();
        let parsed: Vec<Option<(&str, usize)>> =
            head.iter().map(|name| marker_and_axis(name)).collect();
        for (column, entry) in parsed.iter().enumerate() {
            let Some((marker, axis)) = *entry else {
                continue;
            };
            let slot = &mut found.entry(marker).or_default()[axis];
            if slot.is_some() {
                return Err(format!(
                    "the column '{}' is there twice; give each marker a name of its own",
                    shown(head[column].as_bytes())
                ));
            }
            *slot = Some(column);
        }
        let mut layout = Self {
            names: Vec::new(),
            columns: Vec::new(),
            ignored: Vec::new(),
        };
        for (column, entry) in parsed.iter().enumerate() {
            let whole = entry.and_then(|(marker, _)| match found[marker] {
                [Some(x), Some(y), Some(z)] => Some((marker, [x, y, z])),
                _ => None,
            });
            match whole {
                None => layout.ignored.push(head[column].to_owned()),
                Some((marker, columns)) if columns.iter().min() == Some(&column) => {
                    layout.names.push(if marker.is_empty() {
                        "point".to_owned()
                    } else {
                        marker.to_owned()
                    });
                    layout.columns.push(columns);
                }
                Some(_) => {}
            }
        }
        if layout.columns.is_empty() {
            return Err("no three columns of the header are the x, y and z of a marker; name them as M1_x, M1_y, M1_z".into());
        }
        Ok(layout)
    }

    fn places(&self, row: &[&str], separator: u8) -> Result<Vec<Option<DVec3>>, String> {
        let place = |columns: &[usize; 3]| {
            let [x, y, z] = columns.map(|column| value(row[column], separator));
            Ok(match (x?, y?, z?) {
                (Some(x), Some(y), Some(z)) => Some(DVec3::new(x, y, z)),
                _ => None,
            })
        };
        self.columns.iter().map(place).collect()
    }
}

fn separator_of(row: &[u8]) -> u8 {
    let count = |separator: u8| row.iter().filter(|&&b| b == separator).count();
    // Decimal commas may outnumber semicolons, so these count first.
    [b'\t', b';', b',']
        .into_iter()
        .find(|&separator| count(separator) > 0)
        .unwrap_or(b',')
}

fn cells(row: &[u8], separator: u8) -> impl Iterator<Item = &str> {
    row.split(move |&b| b == separator).map(|cell| {
        let cell = std::str::from_utf8(cell)
            .expect("a piece of a text between two ASCII bytes is a text")
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

/// Nothing for a marker that is not seen.
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
            shown(cell.as_bytes())
        )),
    }
}

/// `M1_x` is axis 0 of `M1`; nothing for other names.
fn marker_and_axis(name: &str) -> Option<(&str, usize)> {
    let axis = |letter: char| "xyz".find(letter.to_ascii_lowercase());
    let joins = |c: char| matches!(c, '_' | '.' | '-' | ':' | ' ' | '[' | ']' | '(' | ')');
    let bare = name.trim_end_matches([']', ')']);
    let (last, first) = (bare.chars().next_back()?, name.chars().next()?);
    if let Some(k) = axis(last) {
        let rest = &bare[..bare.len() - last.len_utf8()];
        if rest.is_empty() || rest.ends_with(|c: char| joins(c) || c.is_ascii_digit()) {
            return Some((rest.trim_end_matches(joins), k));
        }
    }
    let rest = &name[first.len_utf8()..];
    let whole = rest.starts_with(|c: char| joins(c) || c.is_ascii_digit());
    axis(first)
        .filter(|_| whole)
        .map(|k| (rest.trim_start_matches(joins), k))
}
