//! Decompression of buffer views: the extensions `EXT_` and `KHR_meshopt_compression`.
//!
//! | module | concept |
//! |---|---|
//! | `attributes` | rows of vertices |
//! | `indices` | triangles and sequences of indices |
//! | `filters` | rows as vectors, quaternions, colours and numbers |
//!
//! **Problem.** Small files for the web store vertices as differences of bytes and triangles as
//! references to recent edges.
//!
//! **Format.** Attributes come in blocks. For each byte of a row, the differences to the row before
//! are stored in groups of 16 with 0, 2, 4 or 8 bits each; a difference that does not fit is stored
//! separately. A triangle is one code byte, which names one of the last 16 edges and how to find the
//! third vertex. Filters then convert the rows to unit vectors, quaternions, colours or floating-point
//! numbers.
//!
//! **Source.** A. Kapoulkine, "EXT_meshopt_compression" (bitstream version 0 of attributes, 0 and 1 of
//! indices) and "KHR_meshopt_compression" (version 1 of attributes, colours), Khronos extension registry,
//! sections "Mode 0" to "Filters".
//!
//! **Departures.** The compressed length is compared with the least that the rows need before memory
//! is allocated.

mod attributes;
mod filters;
mod indices;

use self::attributes::attributes;
use self::filters::filter;
use self::indices::{index_sequence, indices_as_bytes, triangles};
use crate::gltf::document::CompressedView;

/// The bytes of a view: `count` rows of `byte_stride` bytes.
pub(super) fn unpack(view: &CompressedView, packed: &[u8]) -> Result<Vec<u8>, String> {
    let count = view.count;
    let stride = view.byte_stride;
    let mut bytes = match view.mode.as_str() {
        "ATTRIBUTES" => attributes(packed, count, stride)?,
        "TRIANGLES" => indices_as_bytes(triangles(packed, count)?, stride)?,
        "INDICES" => indices_as_bytes(index_sequence(packed, count)?, stride)?,
        other => return Err(format!("its mode '{other}' is unknown")),
    };

    if let Some(name) = view.filter.as_deref() {
        filter(name, &mut bytes, stride)?;
    }
    Ok(bytes)
}

/// The error for compressed bytes that end too early.
const SHORT: &str = "its bytes end too early";

/// A position in compressed bytes.
struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(SHORT)?;
        self.rest = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, String> {
        Ok(self.take(1)?[0])
    }

    /// A number in groups of seven bits, the least first.
    fn number(&mut self) -> Result<u32, String> {
        let mut value = 0;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            value |= u32::from(byte & 127).checked_shl(shift).unwrap_or(0);
            if byte < 128 {
                break;
            }
        }
        Ok(value)
    }

    /// The index that is a signed difference from `last`.
    fn index(&mut self, last: u32) -> Result<u32, String> {
        let value = self.number()?;
        Ok(last.wrapping_add((value >> 1) ^ (value & 1).wrapping_neg()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(mode: &str, count: usize, byte_stride: usize, filter: Option<&str>) -> CompressedView {
        CompressedView {
            count,
            byte_stride,
            mode: mode.into(),
            filter: filter.map(Into::into),
            ..CompressedView::default()
        }
    }

    /// Rows that never change: two zero bits for each group of each byte, then the row.
    #[test]
    fn constant_rows_equal_the_stored_last_row() {
        let mut packed = vec![0xa0, 0, 0, 0, 0];
        packed.extend([0; 28]);
        packed.extend([1, 2, 3, 4]);
        let bytes = unpack(&view("ATTRIBUTES", 20, 4, None), &packed).unwrap();
        assert_eq!(bytes, [1, 2, 3, 4].repeat(20));
    }

    #[test]
    fn differences_of_every_width_add_up() {
        for (width, packed_deltas) in [
            (1_u8, vec![0b10_10_10_10; 4]),
            (2, vec![0x22; 8]),
            (3, vec![2; 16]),
        ] {
            let mut packed = vec![0xa0, width];
            packed.extend(packed_deltas);
            packed.extend([0, 0, 0]);
            packed.extend([0; 32]);

            let bytes = unpack(&view("ATTRIBUTES", 16, 4, None), &packed).unwrap();
            // The code 2 is the difference +1.
            assert!(
                bytes.chunks(4).map(|row| row[0]).eq(1..=16),
                "width {width}"
            );
        }
    }

    #[test]
    fn a_strip_of_triangles_is_unpacked_from_its_edges() {
        // First a triangle of three new vertices, then one at its last edge (a, c) with a new
        // vertex.
        let mut packed = vec![0xe1, 0xf0, 0x00];
        packed.extend([0; 16]);
        let bytes = unpack(&view("TRIANGLES", 6, 2, None), &packed).unwrap();
        let indices: Vec<u8> = bytes.chunks(2).map(|i| i[0]).collect();
        assert_eq!(indices, [0, 1, 2, 0, 2, 3]);
    }

    #[test]
    fn index_sequences_use_two_baselines() {
        // +5 and +1 on baseline 0, +9 on baseline 1, −2 on baseline 0.
        let packed = [0xd1, 10 << 1, 2 << 1, 18 << 1 | 1, 3 << 1, 0, 0, 0, 0];
        let bytes = unpack(&view("INDICES", 4, 4, None), &packed).unwrap();
        assert_eq!(
            bytes.chunks(4).map(|i| i[0]).collect::<Vec<_>>(),
            [5, 6, 9, 4]
        );
    }

    #[test]
    fn many_rows_in_few_bytes_are_rejected_before_allocating() {
        let packed = vec![0xa0; 200];
        for mode in ["ATTRIBUTES", "TRIANGLES", "INDICES", "OTHER"] {
            assert!(unpack(&view(mode, 3 << 40, 4, None), &packed).is_err());
        }
    }
}
