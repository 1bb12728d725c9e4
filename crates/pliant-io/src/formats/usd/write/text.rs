//! Value texts of the written layer: numbers, tuples, lists, matrices and quoted names.

use std::fmt::Write as _;

use pliant_mesh::Bounds;
use pliant_mesh::glam::{DAffine3, DMat4};

/// Appends the shortest decimal that reads back as the same single-precision number.
fn push_single(out: &mut String, value: f32) {
    let plain = value == 0.0 || (1e-5..1e9).contains(&value.abs());
    let written = if plain {
        write!(out, "{value}")
    } else {
        write!(out, "{value:e}")
    };
    written.expect("writing to memory does not fail");
}

/// A list of single-precision numbers.
pub(super) fn singles(values: impl Iterator<Item = f64>) -> String {
    let mut out = String::from("[");
    for (k, value) in values.enumerate() {
        out.push_str(if k == 0 { "" } else { ", " });
        push_single(&mut out, value as f32);
    }
    out + "]"
}

/// A list of tuples.
pub(super) fn tuples<const N: usize>(rows: impl IntoIterator<Item = [f32; N]>) -> String {
    let mut out = String::from("[");
    for (k, row) in rows.into_iter().enumerate() {
        out.push_str(if k == 0 { "(" } else { ", (" });
        for (j, value) in row.into_iter().enumerate() {
            out.push_str(if j == 0 { "" } else { ", " });
            push_single(&mut out, value);
        }
        out.push(')');
    }

    out + "]"
}

/// The two corners of a bounding box.
pub(super) fn extent(bounds: &Bounds) -> String {
    tuples([bounds.min, bounds.max].map(|p| p.as_vec3().to_array()))
}

/// A list of values.
pub(super) fn list<T: std::fmt::Display>(values: impl IntoIterator<Item = T>) -> String {
    let mut out = String::from("[");
    for (k, value) in values.into_iter().enumerate() {
        let separator = if k == 0 { "" } else { ", " };
        let _ = write!(out, "{separator}{value}");
    }
    out + "]"
}

/// A matrix by rows for row vectors, which are our columns.
pub(super) fn matrix(affine: &DAffine3) -> String {
    let row = |row: [f64; 4]| format!("({})", row.map(|x| x.to_string()).join(", "));
    format!(
        "( {} )",
        DMat4::from(*affine).to_cols_array_2d().map(row).join(", ")
    )
}

/// A text in quotes on one line.
pub(super) fn quoted(text: &str) -> String {
    let clean = text
        .replace(char::is_control, " ")
        .replace('\\', "\\\\")
        .replace('"', "\\\"");
    format!("\"{clean}\"")
}
