//! Arrays of numbers: NumPy's `.npy`.
//!
//! **Form.** `\x93NUMPY`, a version, the length of a header, the header (a Python dictionary with
//! type, order and shape), then the numbers.
//!
//! **Source.** NumPy, "NEP 1: a simple file format for NumPy arrays"; versions 1 to 3.
//!
//! **Ours.** Numbers of any type are read as `f64`. The size that the header promises is compared
//! with the file before anything is allocated.

use pliant_mesh::glam::DVec3;

use crate::ReadError;

const MAGIC: &[u8] = b"\x93NUMPY";

/// What kind of numbers a file stores.
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
    /// What the file stores.
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
                shown(&self.shape)
            )));
        };
        if self.kind != Kind::Float {
            return Err(ReadError::whole(format!(
                "the array holds no floating-point numbers; store {what} as float32 or float64"
            )));
        }
        // Without numbers a shape is a mere promise, however large.
        if points == 0 && rows > 0 {
            return Err(ReadError::whole(format!(
                "the array has the shape {}, which holds no vertex",
                shown(&self.shape)
            )));
        }
        let row = |k: usize| {
            self.values[3 * points * k..3 * points * (k + 1)]
                .chunks_exact(3)
                .map(DVec3::from_slice)
                .collect()
        };
        Ok((0..rows).map(row).collect())
    }
}

/// A shape for a message, such as `2 × 3`.
fn shown(shape: &[usize]) -> String {
    let lengths: Vec<_> = shape.iter().map(usize::to_string).collect();
    if lengths.is_empty() {
        "of a single number".into()
    } else {
        lengths.join(" × ")
    }
}

/// Reads an array.
pub fn read(bytes: &[u8]) -> Result<Array, ReadError> {
    let (header, body_start) = split_header(bytes)?;
    let header = Header::parse(header)?;
    let (number, kind) = Number::parse(&header.descr)?;
    let promised = header
        .shape
        .iter()
        .try_fold(number.size, |product, &n| product.checked_mul(n));
    let body = &bytes[body_start..];
    if promised != Some(body.len()) {
        let (shape, found) = (shown(&header.shape), body.len());
        return Err(ReadError::byte(
            body_start,
            format!(
                "the header promises numbers of {} bytes in the shape {shape}, but {found} bytes follow; save the array again",
                number.size
            ),
        ));
    }
    let values: Vec<f64> = number.decode(body);
    let values = if header.fortran_order {
        transposed(&values, &header.shape)
    } else {
        values
    };
    Ok(Array {
        shape: header.shape,
        kind,
        values,
    })
}

/// An array of `f64` as a file.
#[must_use]
pub fn write_f64(shape: &[usize], values: impl IntoIterator<Item = f64>) -> Vec<u8> {
    write(shape, "<f8", values.into_iter().flat_map(f64::to_le_bytes))
}

/// An array of `f32` as a file.
#[must_use]
pub fn write_f32(shape: &[usize], values: impl IntoIterator<Item = f32>) -> Vec<u8> {
    write(shape, "<f4", values.into_iter().flat_map(f32::to_le_bytes))
}

/// An array of `i64` as a file.
#[must_use]
pub fn write_i64(shape: &[usize], values: impl IntoIterator<Item = i64>) -> Vec<u8> {
    write(shape, "<i8", values.into_iter().flat_map(i64::to_le_bytes))
}

/// Points as a file, in the shape of `leading` × 3.
#[must_use]
pub fn write_points<'a>(leading: &[usize], points: impl IntoIterator<Item = &'a DVec3>) -> Vec<u8> {
    let shape: Vec<_> = leading.iter().copied().chain([3]).collect();
    write_f64(&shape, points.into_iter().flat_map(|p| p.to_array()))
}

fn write(shape: &[usize], descr: &str, body: impl Iterator<Item = u8>) -> Vec<u8> {
    let lengths: String = shape.iter().map(|n| format!("{n},")).collect();
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({lengths}), }}");
    // Numbers begin at a multiple of 64 bytes, so that a reader may map them.
    let used = MAGIC.len() + 4 + header.len() + 1;
    header.push_str(&" ".repeat(used.next_multiple_of(64) - used));
    header.push('\n');
    let size: usize = shape.iter().product();
    let mut bytes = Vec::with_capacity(used + 64 + 8 * size);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&[1, 0]);
    bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend(body);
    bytes
}

fn split_header(bytes: &[u8]) -> Result<(&str, usize), ReadError> {
    let cut = || ReadError::whole("the file ends inside its header; save the array again");
    if !bytes.starts_with(MAGIC) {
        return Err(ReadError::byte(
            0,
            "this is not a .npy array; save it with numpy.save",
        ));
    }
    let (start, length): (usize, _) = match bytes.get(6).ok_or_else(cut)? {
        1 => (
            10,
            bytes
                .get(8..10)
                .map(|b| usize::from(u16::from_le_bytes([b[0], b[1]]))),
        ),
        2 | 3 => (
            12,
            bytes
                .get(8..12)
                .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize),
        ),
        version => {
            return Err(ReadError::byte(
                6,
                format!("version {version} of .npy is unknown; save it as version 1, 2 or 3"),
            ));
        }
    };
    let end = start.checked_add(length.ok_or_else(cut)?).ok_or_else(cut)?;
    let header = std::str::from_utf8(bytes.get(start..end).ok_or_else(cut)?);
    Ok((
        header
            .map_err(|_| ReadError::byte(start, "the header is not text; save the array again"))?,
        end,
    ))
}

struct Header {
    descr: String,
    fortran_order: bool,
    shape: Vec<usize>,
}

impl Header {
    fn parse(text: &str) -> Result<Self, ReadError> {
        let bad = |what: &str| {
            ReadError::byte(
                10,
                format!("the header gives no {what}; save the array again"),
            )
        };
        let value = |key: &str| {
            let start = [format!("'{key}'"), format!("\"{key}\"")]
                .iter()
                .find_map(|k| text.find(k.as_str()).map(|at| at + k.len()))?;
            Some(text[start..].trim_start().strip_prefix(':')?.trim_start())
        };
        let descr = value("descr").ok_or_else(|| bad("type"))?;
        let quote = descr
            .chars()
            .next()
            .filter(|c| matches!(c, '\'' | '"'))
            .ok_or_else(|| bad("single type (a plain array of numbers)"))?;
        let descr = descr[1..]
            .split(quote)
            .next()
            .unwrap_or_default()
            .to_owned();
        let order = value("fortran_order").ok_or_else(|| bad("order"))?;
        let shape = value("shape")
            .and_then(|v| v.strip_prefix('('))
            .and_then(|v| v.split(')').next());
        let lengths = shape
            .ok_or_else(|| bad("shape"))?
            .split(',')
            .map(str::trim)
            .filter(|n| !n.is_empty());
        let shape = lengths
            .map(|n| n.trim_end_matches('L').parse())
            .collect::<Result<_, _>>()
            .map_err(|_| bad("shape of whole numbers"))?;
        Ok(Self {
            descr,
            fortran_order: order.starts_with("True"),
            shape,
        })
    }
}

/// How one number is stored.
struct Number {
    size: usize,
    big_endian: bool,
    /// The number in up to eight little-endian bytes.
    value: fn([u8; 8]) -> f64,
}

impl Number {
    fn parse(descr: &str) -> Result<(Self, Kind), ReadError> {
        let (big_endian, plain) = match descr.strip_prefix('>') {
            Some(rest) => (true, rest),
            None => (false, descr.trim_start_matches(['<', '=', '|'])),
        };
        let (size, kind, value): (usize, Kind, fn([u8; 8]) -> f64) = match plain {
            "b1" | "?" => (1, Kind::Bool, |b| f64::from(b[0] != 0)),
            "i1" => (1, Kind::Integer, |b| f64::from(b[0] as i8)),
            "u1" => (1, Kind::Integer, |b| f64::from(b[0])),
            "i2" => (2, Kind::Integer, |b| {
                f64::from(i16::from_le_bytes([b[0], b[1]]))
            }),
            "u2" => (2, Kind::Integer, |b| {
                f64::from(u16::from_le_bytes([b[0], b[1]]))
            }),
            "i4" => (4, Kind::Integer, |b| {
                f64::from(i32::from_le_bytes([b[0], b[1], b[2], b[3]]))
            }),
            "u4" => (4, Kind::Integer, |b| {
                f64::from(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
            }),
            "i8" => (8, Kind::Integer, |b| i64::from_le_bytes(b) as f64),
            "u8" => (8, Kind::Integer, |b| u64::from_le_bytes(b) as f64),
            "f2" => (2, Kind::Float, |b| half(u16::from_le_bytes([b[0], b[1]]))),
            "f4" => (4, Kind::Float, |b| {
                f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
            }),
            "f8" => (8, Kind::Float, f64::from_le_bytes),
            other => {
                let shown: String = other.chars().take(20).collect();
                return Err(ReadError::byte(
                    10,
                    format!(
                        "numbers of type '{shown}' cannot be read; save them as float32 or float64"
                    ),
                ));
            }
        };
        Ok((
            Self {
                size,
                big_endian,
                value,
            },
            kind,
        ))
    }

    fn decode(&self, body: &[u8]) -> Vec<f64> {
        let one = |stored: &[u8]| {
            let mut bytes = [0; 8];
            bytes[..self.size].copy_from_slice(stored);
            if self.big_endian {
                bytes[..self.size].reverse();
            }
            (self.value)(bytes)
        };
        body.chunks_exact(self.size).map(one).collect()
    }
}

/// A number of IEEE 754 half precision: sign, 5 bits of exponent, 10 of fraction.
fn half(bits: u16) -> f64 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    match exponent {
        0 => sign * fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => sign * f64::INFINITY,
        31 => f64::NAN,
        _ => sign * (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
    }
}

/// From first index fastest to last index fastest.
fn transposed(values: &[f64], shape: &[usize]) -> Vec<f64> {
    let mut strides = Vec::with_capacity(shape.len());
    let mut stride = 1;
    for &length in shape {
        strides.push(stride);
        stride *= length;
    }
    let mut index = vec![0; shape.len()];
    let mut out = Vec::with_capacity(values.len());
    for _ in 0..values.len() {
        out.push(
            values[index
                .iter()
                .zip(&strides)
                .map(|(i, s)| i * s)
                .sum::<usize>()],
        );
        for k in (0..shape.len()).rev() {
            index[k] += 1;
            if index[k] < shape[k] {
                break;
            }
            index[k] = 0;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(version: u8, header: &str, body: &[u8]) -> Vec<u8> {
        let mut bytes = [MAGIC, &[version, 0]].concat();
        match version {
            1 => bytes.extend_from_slice(&(header.len() as u16).to_le_bytes()),
            _ => bytes.extend_from_slice(&(header.len() as u32).to_le_bytes()),
        }
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(body);
        bytes
    }

    fn header(descr: &str, fortran: &str, shape: &str) -> String {
        format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n")
    }

    #[test]
    fn what_is_written_is_read() {
        let values = [1.5, -0.0, 1e300, f64::MIN_POSITIVE, 3.0, 4.0];
        let bytes = write_f64(&[2, 3], values);
        assert_eq!(
            bytes.len() % 64,
            48,
            "128 bytes of header and 48 of numbers"
        );
        assert_eq!(
            read(&bytes).unwrap(),
            Array {
                shape: vec![2, 3],
                kind: Kind::Float,
                values: values.to_vec()
            }
        );
        assert_eq!(
            read(&write_i64(&[1], [-7])).unwrap(),
            Array {
                shape: vec![1],
                kind: Kind::Integer,
                values: vec![-7.0]
            }
        );
        assert_eq!(read(&write_f32(&[0, 3], [])).unwrap().shape, [0, 3]);
    }

    #[test]
    fn every_type_in_either_byte_order_and_version_is_read() {
        let cases: [(&str, &[u8], f64); 10] = [
            ("|b1", &[1], 1.0),
            ("|i1", &[0xff], -1.0),
            ("|u1", &[0xff], 255.0),
            ("<i2", &[0xfe, 0xff], -2.0),
            (">u2", &[1, 0], 256.0),
            (">i4", &[0, 0, 1, 0], 256.0),
            ("<u8", &[5, 0, 0, 0, 0, 0, 0, 0], 5.0),
            ("<f2", &[0x00, 0xc0], -2.0),
            (">f4", &[0x3f, 0x80, 0, 0], 1.0),
            (">f8", &[0x40, 0, 0, 0, 0, 0, 0, 0], 2.0),
        ];
        for version in 1..=3 {
            for (descr, body, value) in cases {
                let array = read(&file(version, &header(descr, "False", "(1,)"), body)).unwrap();
                assert_eq!(array.values, [value], "{descr}");
            }
        }
    }

    #[test]
    fn half_precision_has_its_special_values() {
        assert_eq!(
            [half(0x3555), half(0x7bff), half(0x0001)],
            [0.333_251_953_125, 65504.0, 2f64.powi(-24)]
        );
        assert_eq!(
            [half(0x7c00), half(0xfc00)],
            [f64::INFINITY, f64::NEG_INFINITY]
        );
        assert!(half(0x7e00).is_nan());
    }

    #[test]
    fn fortran_order_is_turned() {
        let body: Vec<u8> = [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]
            .into_iter()
            .flat_map(f64::to_le_bytes)
            .collect();
        let array = read(&file(1, &header("<f8", "True", "(2, 3)"), &body)).unwrap();
        assert_eq!(array.values, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    }

    #[test]
    fn a_promise_that_the_file_does_not_keep_is_declined_before_allocating() {
        for shape in [
            "(1000, 333333333, 3)",
            "(18446744073709551615, 2)",
            "(2, 3, 3)",
        ] {
            let message = read(&file(1, &header("<f4", "False", shape), &[0; 64]))
                .unwrap_err()
                .message;
            assert!(message.contains("64 bytes follow"), "{message}");
        }
        let none: &[u8] = b"0 0 0\n";
        assert!(read(none).unwrap_err().message.contains("not a .npy array"));
        assert!(
            read(&file(1, "", &[]))
                .unwrap_err()
                .message
                .contains("no type")
        );
        assert!(
            read(&file(1, &header("<c16", "False", "(1,)"), &[0; 16]))
                .unwrap_err()
                .message
                .contains("c16")
        );
    }

    #[test]
    fn points_need_three_numbers_each() {
        let flat = Array {
            shape: vec![10, 3],
            kind: Kind::Float,
            values: vec![0.0; 30],
        };
        let message = flat.into_point_rows("deltas").unwrap_err().message;
        assert!(
            message.contains("10 × 3") && message.contains("deltas"),
            "{message}"
        );
    }
}
