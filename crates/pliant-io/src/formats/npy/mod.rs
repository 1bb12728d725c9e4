//! NumPy arrays (`.npy`).
//!
//! **Format.** `\x93NUMPY`, a version, the length of a header, the header (a Python dictionary with
//! type, order and shape), then the numbers.
//!
//! **Source.** NumPy, "NEP 1: a simple file format for NumPy arrays"; versions 1 to 3.
//!
//! **Departures.** Numbers of any type are read as `f64`. The size in the header is compared with
//! the file before memory is allocated.

mod read;
#[cfg(test)]
mod tests;
mod write;

use pliant_mesh::glam::DVec3;

pub use self::read::read;
pub(crate) use self::write::{encode_frames, encode_positions};
pub use self::write::{write_f32, write_f64, write_i64, write_points};
use crate::ReadError;

const MAGIC: &[u8] = b"\x93NUMPY";

/// The kind of numbers that a file stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// True or false, as 1 or 0.
    Bool,
    /// Signed or unsigned integers.
    Integer,
    /// Floating-point numbers.
    Float,
}

/// An array of numbers with its shape, last index fastest.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// The length of each dimension.
    pub shape: Vec<usize>,
    /// The kind of numbers in the file.
    pub kind: Kind,
    /// The numbers, last index fastest.
    pub values: Vec<f64>,
}

impl Array {
    /// Rows of points from an array of shape rows × points × 3 of floats.
    pub fn into_point_rows(self, what: &str) -> Result<Vec<Vec<DVec3>>, ReadError> {
        let [rows, points, 3] = self.shape[..] else {
            return Err(ReadError::whole(format!(
                "the array has the shape {}, but {what} need rows × vertices × 3",
                shape_text(&self.shape)
            )));
        };
        if self.kind != Kind::Float {
            return Err(ReadError::whole(format!(
                "the array holds no floating-point numbers; store {what} as float32 or float64"
            )));
        }
        // Without numbers, the file size does not bound the shape.
        if points == 0 && rows > 0 {
            return Err(ReadError::whole(format!(
                "the array has the shape {}, which holds no vertex",
                shape_text(&self.shape)
            )));
        }

        let mut point_rows = Vec::with_capacity(rows);
        for row in 0..rows {
            let numbers = &self.values[3 * points * row..3 * points * (row + 1)];
            point_rows.push(numbers.chunks_exact(3).map(DVec3::from_slice).collect());
        }

        Ok(point_rows)
    }
}

/// A shape for a message, such as `2 × 3`.
fn shape_text(shape: &[usize]) -> String {
    let lengths: Vec<_> = shape.iter().map(usize::to_string).collect();
    if lengths.is_empty() {
        "of a single number".into()
    } else {
        lengths.join(" × ")
    }
}
