//! Reader of NumPy arrays.

use super::{Array, Kind, MAGIC, shape_text};
use crate::ReadError;

/// NumPy itself has at most so many axes.
const MOST_AXES: usize = 64;

/// Reads an array.
pub fn read(bytes: &[u8]) -> Result<Array, ReadError> {
    let (header, body_start) = split_header(bytes)?;
    let header = Header::parse(header)?;
    if header.shape.len() > MOST_AXES {
        return Err(ReadError::byte(
            10,
            format!(
                "the array has {} axes, but at most {MOST_AXES} are supported; save it with fewer",
                header.shape.len()
            ),
        ));
    }
    let (number, kind) = NumberFormat::parse(&header.descr)?;
    let expected = header
        .shape
        .iter()
        .try_fold(number.size, |product, &n| product.checked_mul(n));

    let body = &bytes[body_start..];
    let found = body.len();
    if expected != Some(found) {
        let shape = shape_text(&header.shape);
        let size = number.size;
        return Err(ReadError::byte(
            body_start,
            format!(
                "the header describes numbers of {size} bytes in the shape {shape}, but {found} bytes follow; save the array again"
            ),
        ));
    }

    let values = number.decode(body);
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

/// The header and where the numbers begin.
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

    // The header ends where the numbers begin.
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
        let descr = value_of(text, "descr").ok_or_else(|| missing("type"))?;
        let quote = descr
            .chars()
            .next()
            .filter(|c| matches!(c, '\'' | '"'))
            .ok_or_else(|| missing("single type (a plain array of numbers)"))?;
        let descr = descr[1..].split(quote).next().unwrap_or_default();

        let order = value_of(text, "fortran_order").ok_or_else(|| missing("order"))?;
        let shape = value_of(text, "shape")
            .and_then(|v| v.strip_prefix('('))
            .and_then(|v| v.split(')').next())
            .ok_or_else(|| missing("shape"))?;

        Ok(Self {
            descr: descr.to_owned(),
            fortran_order: order.starts_with("True"),
            shape: parse_shape(shape).ok_or_else(|| missing("shape of whole numbers"))?,
        })
    }
}

/// The text after `'key':` in a Python dictionary.
fn value_of<'a>(dictionary: &'a str, key: &str) -> Option<&'a str> {
    let start = [format!("'{key}'"), format!("\"{key}\"")]
        .iter()
        .find_map(|k| dictionary.find(k.as_str()).map(|at| at + k.len()))?;
    Some(
        dictionary[start..]
            .trim_start()
            .strip_prefix(':')?
            .trim_start(),
    )
}

/// The lengths in the parentheses of a Python tuple; Python 2 marks long integers with `L`.
fn parse_shape(lengths: &str) -> Option<Vec<usize>> {
    lengths
        .split(',')
        .map(str::trim)
        .filter(|n| !n.is_empty())
        .map(|n| n.trim_end_matches('L').parse().ok())
        .collect()
}

fn missing(what: &str) -> ReadError {
    let message = format!("the header gives no {what}; save the array again");
    ReadError::byte(10, message)
}

/// How a number is stored.
struct NumberFormat {
    size: usize,
    big_endian: bool,
    /// The number in up to eight little-endian bytes.
    value: fn([u8; 8]) -> f64,
}

impl NumberFormat {
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
        let mut values = Vec::with_capacity(body.len() / self.size);
        for stored in body.chunks_exact(self.size) {
            let mut bytes = [0; 8];
            bytes[..self.size].copy_from_slice(stored);
            if self.big_endian {
                bytes[..self.size].reverse();
            }
            values.push((self.value)(bytes));
        }

        values
    }
}

/// A number of IEEE 754 half precision: sign, 5 bits of exponent, 10 of fraction.
pub(super) fn half(bits: u16) -> f64 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from(bits >> 10 & 0x1f);
    let fraction = f64::from(bits & 0x3ff);
    match exponent {
        0 => sign * fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => sign * f64::INFINITY,
        31 => f64::NAN,
        _ => sign * (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
    }
}

/// From first index fastest to last index fastest.
fn transposed(values: &[f64], shape: &[usize]) -> Vec<f64> {
    // In Fortran order, the first index is fastest.
    let mut strides = Vec::with_capacity(shape.len());
    let mut stride = 1;
    for &length in shape {
        strides.push(stride);
        stride *= length;
    }

    let mut index = vec![0; shape.len()];
    let mut out = Vec::with_capacity(values.len());
    for _ in 0..values.len() {
        let at: usize = index.iter().zip(&strides).map(|(i, s)| i * s).sum();
        out.push(values[at]);

        // The next index, last dimension fastest.
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
