//! Decompression of buffer views: the extension `EXT_meshopt_compression`.
//!
//! **Problem.** Small files for the web store vertices as differences of bytes and triangles as
//! references to recent edges.
//!
//! **Format.** Attributes come in blocks. For each byte of a row, the differences to the row before
//! are stored in groups of 16 with 0, 2, 4 or 8 bits each; a difference that does not fit is stored
//! separately. A triangle is one code byte, which names one of the last 16 edges and how to find the
//! third vertex. Filters then convert the rows to unit vectors, quaternions or floating-point
//! numbers.
//!
//! **Source.** A. Kapoulkine, "EXT_meshopt_compression", Khronos extension registry, sections "Mode
//! 0" to "Filters" (bitstream version 0 of attributes, 0 and 1 of indices).
//!
//! **Departures.** The compressed length is compared with the least that the rows need before memory
//! is allocated.

use crate::gltf::document::CompressedView;

/// The greatest size of a block, in bytes and in rows.
const BLOCK_BYTES: usize = 8192;
const BLOCK_ROWS: usize = 256;
/// Values in a group.
const GROUP: usize = 16;
/// The least size of the tail, which ends in the first row.
const TAIL: usize = 32;

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

    match view.filter.as_deref() {
        None | Some("NONE") => {}
        Some("OCTAHEDRAL") if stride == 4 => bytes.chunks_exact_mut(4).for_each(octahedral_bytes),
        Some("OCTAHEDRAL") if stride == 8 => bytes.chunks_exact_mut(8).for_each(octahedral_shorts),
        Some("QUATERNION") if stride == 8 => bytes.chunks_exact_mut(8).for_each(quaternion),
        Some("EXPONENTIAL") if stride.is_multiple_of(4) => {
            bytes.chunks_exact_mut(4).for_each(exponential)
        }
        Some(other) => {
            return Err(format!(
                "its filter '{other}' does not apply to rows of {stride} bytes"
            ));
        }
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

fn attributes(packed: &[u8], count: usize, stride: usize) -> Result<Vec<u8>, String> {
    if stride == 0 || stride > 256 || !stride.is_multiple_of(4) {
        return Err(format!(
            "its rows have {stride} bytes, not 4 to 256 in steps of 4"
        ));
    }

    let mut cursor = Cursor { rest: packed };
    if cursor.byte()? != 0xa0 {
        return Err("its attributes are not packed in version 0".into());
    }

    let tail = cursor
        .rest
        .len()
        .checked_sub(TAIL.max(stride))
        .ok_or(SHORT)?;

    // Even constant rows need two bits for each 16 values of each byte.
    if count.div_ceil(GROUP).div_ceil(4).saturating_mul(stride) > tail {
        return Err(SHORT.into());
    }

    let mut last = cursor.rest[cursor.rest.len() - stride..].to_vec();
    cursor.rest = &cursor.rest[..tail];
    let block_rows = ((BLOCK_BYTES / stride) & !(GROUP - 1)).min(BLOCK_ROWS);

    let mut bytes = vec![0; count * stride];
    for block in bytes.chunks_mut(block_rows * stride) {
        for (k, last) in last.iter_mut().enumerate() {
            byte_plane(&mut cursor, block, k, stride, last)?;
        }
    }

    Ok(bytes)
}

/// Byte `k` of every row of a block; `last` is that byte of the row before.
fn byte_plane(
    cursor: &mut Cursor<'_>,
    block: &mut [u8],
    k: usize,
    stride: usize,
    last: &mut u8,
) -> Result<(), String> {
    let rows = block.len() / stride;
    let groups = rows.div_ceil(GROUP);
    let widths = cursor.take(groups.div_ceil(4))?;

    for group in 0..groups {
        let differences = group_of_bytes(cursor, widths[group / 4] >> (group % 4 * 2) & 3)?;
        for (row, difference) in (group * GROUP..rows).zip(differences) {
            *last = last.wrapping_add((difference >> 1) ^ (difference & 1).wrapping_neg());
            block[row * stride + k] = *last;
        }
    }

    Ok(())
}

/// The differences of a group; `width` selects 0, 2, 4 or 8 bits.
fn group_of_bytes(cursor: &mut Cursor<'_>, width: u8) -> Result<[u8; GROUP], String> {
    let mut values = [0; GROUP];
    let bits = match width {
        0 => return Ok(values),
        1 => 2,
        2 => 4,
        _ => {
            values.copy_from_slice(cursor.take(GROUP)?);
            return Ok(values);
        }
    };

    let packed = cursor.take(GROUP * bits / 8)?;
    // The greatest value means that the difference is stored separately.
    let escape = (1 << bits) - 1;
    for (k, value) in values.iter_mut().enumerate() {
        let shift = 8 - bits - k * bits % 8;
        *value = packed[k * bits / 8] >> shift & escape;
        if *value == escape {
            *value = cursor.byte()?;
        }
    }

    Ok(values)
}

/// The last 16 items.
#[derive(Default)]
struct Recent<T> {
    items: [T; 16],
    next: usize,
}

impl<T: Copy> Recent<T> {
    fn push(&mut self, item: T) {
        self.items[self.next] = item;
        self.next = (self.next + 1) & 15;
    }

    /// The item `back` steps before the next one.
    fn get(&self, back: u8) -> T {
        self.items[self.next.wrapping_sub(usize::from(back)) & 15]
    }
}

/// The state of decoding triangles.
#[derive(Default)]
struct Triangles {
    edges: Recent<[u32; 2]>,
    vertices: Recent<u32>,
    /// The next vertex that was not used before.
    next: u32,
    /// The last index that was written out.
    last: u32,
}

fn triangles(packed: &[u8], count: usize) -> Result<Vec<u32>, String> {
    let mut cursor = Cursor { rest: packed };
    let version = match cursor.byte()? {
        0xe0 => 0,
        0xe1 => 1,
        _ => return Err("its triangles are not packed in version 0 or 1".into()),
    };

    if !count.is_multiple_of(3) {
        return Err(format!("its {count} indices are not whole triangles"));
    }

    let codes = cursor.take(count / 3)?;
    let (rest, table) = cursor.rest.split_last_chunk::<16>().ok_or(SHORT)?;
    cursor.rest = rest;

    let mut state = Triangles::default();
    let mut indices = Vec::with_capacity(count);
    for &code in codes {
        let triangle = match code {
            0..0xf0 => state.at_recent_edge(code, version, &mut cursor)?,
            0xf0..0xfe => state.without_edge(0, table[usize::from(code & 15)], &mut cursor)?,
            _ => {
                let how = cursor.byte()?;
                if how == 0 {
                    state.next = 0;
                }
                state.without_edge(if code == 0xfe { 0 } else { 15 }, how, &mut cursor)?
            }
        };
        indices.extend_from_slice(&triangle);
    }

    Ok(indices)
}

impl Triangles {
    /// A triangle at a recent edge.
    fn at_recent_edge(
        &mut self,
        code: u8,
        version: u8,
        cursor: &mut Cursor<'_>,
    ) -> Result<[u32; 3], String> {
        let [a, b] = self.edges.get((code >> 4) + 1);
        let how = code & 15;
        let recent = if version == 0 { 1..15 } else { 1..13 };
        let c = if recent.contains(&how) {
            self.vertices.get(how + 1)
        } else {
            let c = self.vertex(how, cursor)?;
            self.vertices.push(c);
            c
        };

        self.edges.push([c, b]);
        self.edges.push([a, c]);
        Ok([a, b, c])
    }

    /// A vertex that is new (0), next to the last one written out (13, 14) or written out (15).
    fn vertex(&mut self, how: u8, cursor: &mut Cursor<'_>) -> Result<u32, String> {
        if how == 0 {
            self.next = self.next.wrapping_add(1);
            return Ok(self.next.wrapping_sub(1));
        }

        self.last = match how {
            13 => self.last.wrapping_sub(1),
            14 => self.last.wrapping_add(1),
            _ => cursor.index(self.last)?,
        };

        Ok(self.last)
    }

    /// A triangle without a recent edge; `rest` says how to find its second and third vertex.
    fn without_edge(
        &mut self,
        first: u8,
        rest: u8,
        cursor: &mut Cursor<'_>,
    ) -> Result<[u32; 3], String> {
        let how = [first, rest >> 4, rest & 15];
        let mut triangle = [0; 3];

        // New vertices are counted before any index is read.
        for (vertex, &how) in triangle.iter_mut().zip(&how) {
            *vertex = match how {
                0 => self.vertex(0, cursor)?,
                15 => 0,
                back => self.vertices.get(back),
            };
        }

        for (vertex, _) in triangle.iter_mut().zip(&how).filter(|(_, how)| **how == 15) {
            *vertex = self.vertex(15, cursor)?;
        }

        let [a, b, c] = triangle;
        for (&vertex, how) in triangle.iter().zip(how) {
            if how == 0 || how == 15 {
                self.vertices.push(vertex);
            }
        }

        self.edges.push([b, a]);
        self.edges.push([c, b]);
        self.edges.push([a, c]);

        Ok(triangle)
    }
}

fn index_sequence(packed: &[u8], count: usize) -> Result<Vec<u32>, String> {
    let mut cursor = Cursor { rest: packed };
    if !matches!(cursor.byte()?, 0xd0 | 0xd1) {
        return Err("its indices are not packed in version 0 or 1".into());
    }
    // An index needs a byte, and four more end the sequence.
    if cursor.rest.len().saturating_sub(4) < count {
        return Err(SHORT.into());
    }

    // Each index is a difference from the last one of its baseline.
    let mut baselines = [0_u32; 2];
    let mut indices = Vec::with_capacity(count);
    for _ in 0..count {
        let value = cursor.number()?;
        let baseline = &mut baselines[(value & 1) as usize];
        let difference = value >> 1;
        *baseline = baseline.wrapping_add((difference >> 1) ^ (difference & 1).wrapping_neg());
        indices.push(*baseline);
    }

    Ok(indices)
}

fn indices_as_bytes(indices: Vec<u32>, stride: usize) -> Result<Vec<u8>, String> {
    match stride {
        2 => Ok(indices
            .iter()
            .flat_map(|&i| (i as u16).to_le_bytes())
            .collect()),
        4 => Ok(indices.iter().flat_map(|&i| i.to_le_bytes()).collect()),
        _ => Err(format!("its indices have {stride} bytes, not 2 or 4")),
    }
}

/// A unit vector of length `greatest` from a point on the octahedron; `one` is its scale.
fn unfold(x: f32, y: f32, one: f32, greatest: f32) -> [f32; 3] {
    let (x, y) = (x / one, y / one);
    let z = 1.0 - x.abs() - y.abs();
    let fold = (-z).max(0.0);
    let x = x - fold.copysign(x);
    let y = y - fold.copysign(y);
    let scale = greatest / (x * x + y * y + z * z).sqrt();
    [x, y, z].map(|c| (c * scale).round())
}

fn octahedral_bytes(row: &mut [u8]) {
    let [x, y, one] = [0, 1, 2].map(|k| f32::from(row[k] as i8));
    for (byte, value) in row.iter_mut().zip(unfold(x, y, one, 127.0)) {
        *byte = value as i8 as u8;
    }
}

fn octahedral_shorts(row: &mut [u8]) {
    let [x, y, one] = [0, 1, 2].map(|k| f32::from(short(row, k)));
    for (k, value) in unfold(x, y, one, 32767.0).into_iter().enumerate() {
        set_short(row, k, value);
    }
}

fn quaternion(row: &mut [u8]) {
    let scale = short(row, 3);
    let one = f32::from(scale | 3) * std::f32::consts::SQRT_2;
    let [x, y, z] = [0, 1, 2].map(|k| f32::from(short(row, k)) / one);
    let w = (1.0 - x * x - y * y - z * z).max(0.0).sqrt();
    let largest = (scale & 3) as usize;
    for (k, value) in [w, x, y, z].into_iter().enumerate() {
        set_short(row, (largest + k) % 4, (value * 32767.0).round());
    }
}

fn exponential(word: &mut [u8]) {
    let packed = i32::from_le_bytes([word[0], word[1], word[2], word[3]]);
    let (mantissa, exponent) = (packed << 8 >> 8, packed >> 24);
    let value = (f64::from(mantissa) * 2_f64.powi(exponent)) as f32;
    word.copy_from_slice(&value.to_le_bytes());
}

fn short(row: &[u8], k: usize) -> i16 {
    i16::from_le_bytes([row[2 * k], row[2 * k + 1]])
}

fn set_short(row: &mut [u8], k: usize, value: f32) {
    row[2 * k..2 * k + 2].copy_from_slice(&(value as i16).to_le_bytes());
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
    fn filters_give_unit_vectors_unit_quaternions_and_powers_of_two() {
        let mut row = [(-64_i8) as u8, 100, 127, 9];
        octahedral_bytes(&mut row);
        let [x, y, z] = [0, 1, 2].map(|k| f32::from(row[k] as i8) / 127.0);

        assert!(((x * x + y * y + z * z).sqrt() - 1.0).abs() < 0.01 && row[3] == 9);
        let mut row: Vec<u8> = [3000_i16, -200, 100, 32766]
            .iter()
            .flat_map(|s| s.to_le_bytes())
            .collect();

        quaternion(&mut row);
        let norm: f32 = (0..4)
            .map(|k| (f32::from(short(&row, k)) / 32767.0).powi(2))
            .sum();

        assert!((norm - 1.0).abs() < 1e-4);
        let mut word = ((-3_i32) << 24 | 24).to_le_bytes();
        exponential(&mut word);

        assert_eq!(f32::from_le_bytes(word), 3.0);
    }

    #[test]
    fn many_rows_in_few_bytes_are_rejected_before_allocating() {
        let packed = vec![0xa0; 200];
        for mode in ["ATTRIBUTES", "TRIANGLES", "INDICES", "OTHER"] {
            assert!(unpack(&view(mode, 3 << 40, 4, None), &packed).is_err());
        }
    }
}
