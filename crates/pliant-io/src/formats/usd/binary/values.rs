//! Values of a binary layer.
//!
//! **Format.** A value is represented by 64 bits: bit 63 marks an array, 62 a value in the payload
//! itself, 61 a compressed array; bits 48 to 55 are the type, the lower 48 the payload, which is the
//! value or its offset in the file. Numbers that fit are stored in the payload in a smaller type:
//! doubles as single precision, vectors and diagonals of matrices as bytes.
//!
//! **Source.** OpenUSD, the source of `Sdf_CrateFile` and its list of data types.
//!
//! **Departures.** Dictionaries, splines and values of unknown types are opaque.

use super::container::{Tables, count, cursor_at, damaged, indices, integers};
use super::integers::IntegerWidth;
use crate::ReadError;
use crate::formats::usd::layer::{Reference, Retiming, Value};
use crate::parse::binary::Cursor;

/// Arrays shorter than this are stored plainly even if they are marked as compressed.
const SHORTEST_COMPRESSED: u64 = 16;

/// The bits of a value representation.
#[derive(Debug, Clone, Copy)]
struct Representation {
    bits: u64,
}

impl Representation {
    fn kind(self) -> u8 {
        (self.bits >> 48) as u8
    }

    fn payload(self) -> u64 {
        self.bits & ((1 << 48) - 1)
    }

    /// The payload of a value that is stored in it.
    fn word(self) -> [u8; 4] {
        (self.bits as u32).to_le_bytes()
    }

    fn is_array(self) -> bool {
        self.bits >> 63 & 1 == 1
    }

    fn is_inlined(self) -> bool {
        self.bits >> 62 & 1 == 1
    }

    fn is_compressed(self) -> bool {
        self.bits >> 61 & 1 == 1
    }

    fn is_edit(self) -> bool {
        self.bits >> 60 & 1 == 1
    }
}

/// The types of values that are read, by their number in the file.
mod kind {
    pub(super) const STRING: u8 = 10;
    pub(super) const TOKEN: u8 = 11;
    pub(super) const ASSET: u8 = 12;
    pub(super) const TOKEN_LIST: u8 = 32;
    pub(super) const STRING_LIST: u8 = 33;
    pub(super) const PATH_LIST: u8 = 34;
    pub(super) const REFERENCE_LIST: u8 = 35;
    pub(super) const PATHS: u8 = 40;
    pub(super) const TOKENS: u8 = 41;
    pub(super) const SPECIFIER: u8 = 42;
    pub(super) const VARIABILITY: u8 = 44;
    pub(super) const SELECTIONS: u8 = 45;
    pub(super) const TIME_SAMPLES: u8 = 46;
    pub(super) const PAYLOAD: u8 = 47;
    pub(super) const DOUBLES: u8 = 48;
    pub(super) const RETIMINGS: u8 = 49;
    pub(super) const STRINGS: u8 = 50;
    pub(super) const BLOCK: u8 = 51;
    pub(super) const PAYLOAD_LIST: u8 = 55;
    pub(super) const ANIMATION_BLOCK: u8 = 60;
}

/// A scalar type in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scalar {
    U8,
    I32,
    U32,
    I64,
    U64,
    F16,
    F32,
    F64,
}

impl Scalar {
    fn size(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::F16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// The number in bytes of this size.
    fn number(self, bytes: &[u8]) -> f64 {
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(wide);
        match self {
            Self::U8 | Self::U32 | Self::U64 => bits as f64,
            Self::I32 => f64::from(bits as i32),
            Self::I64 => bits as i64 as f64,
            Self::F16 => half(bits as u16),
            Self::F32 => f64::from(f32::from_bits(bits as u32)),
            Self::F64 => f64::from_bits(bits),
        }
    }
}

/// The scalar and the width of a numeric type.
fn numeric(kind: u8) -> Option<(Scalar, usize)> {
    use Scalar::{F16, F32, F64, I32, I64, U8, U32, U64};
    Some(match kind {
        1 | 2 => (U8, 1),
        3 => (I32, 1),
        4 => (U32, 1),
        5 => (I64, 1),
        6 => (U64, 1),
        7 => (F16, 1),
        8 => (F32, 1),
        9 | 56 => (F64, 1),
        13 => (F64, 4),
        14 => (F64, 9),
        15 => (F64, 16),
        16 => (F64, 4),
        17 => (F32, 4),
        18 => (F16, 4),
        // Vectors of two, three and four, each as double, single, half and integer.
        19..=30 => (
            [F64, F32, F16, I32][usize::from((kind - 19) % 4)],
            usize::from((kind - 19) / 4) + 2,
        ),
        _ => return None,
    })
}

fn is_matrix(kind: u8) -> bool {
    (13..=15).contains(&kind)
}

fn is_quaternion(kind: u8) -> bool {
    (16..=18).contains(&kind)
}

/// A number of half precision.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let exponent = i32::from(bits >> 10 & 31);
    let fraction = f64::from(bits & 1023);
    sign * match exponent {
        0 => fraction * 2.0_f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2.0_f64.powi(exponent - 25),
    }
}

impl<'a> Tables<'a> {
    /// The value of a representation; time samples are opaque here.
    pub(super) fn value(&self, bits: u64) -> Result<Value, ReadError> {
        let rep = Representation { bits };
        if rep.is_edit() {
            return Ok(Value::Opaque);
        }
        if rep.is_array() {
            // Equal arrays are stored once and shared.
            if let Some(known) = self.known.borrow().get(&bits) {
                // Names are copied.
                self.budget
                    .spend(5 * known.texts().len(), "a list of names")?;
                return Ok(known.clone());
            }
            let value = self.array(rep)?;
            self.known.borrow_mut().insert(bits, value.clone());
            return Ok(value);
        }
        if rep.is_inlined() {
            return self.inlined(rep);
        }

        let what = "a value";
        let mut cursor = cursor_at(self.bytes, rep.payload(), what)?;
        if let Some((scalar, width)) = numeric(rep.kind()) {
            let mut values = self.numbers(&mut cursor, scalar, width as u64, what)?;
            if is_quaternion(rep.kind()) {
                real_part_first(&mut values);
            }
            return Ok(match values[..] {
                [number] => Value::Number(number),
                _ => Value::list(width, values),
            });
        }
        self.structure(rep.kind(), &mut cursor)
    }

    /// The samples of a representation, ascending; `None` if it has none.
    pub(super) fn samples(&self, bits: u64) -> Result<Option<Vec<(f64, Value)>>, ReadError> {
        let rep = Representation { bits };
        if rep.kind() != kind::TIME_SAMPLES || rep.is_inlined() {
            return Ok(None);
        }

        let what = "the time samples";
        let mut cursor = self.jump(cursor_at(self.bytes, rep.payload(), what)?, what)?;
        let codes = self.value(count(&mut cursor, what)?)?;
        let codes = codes.numbers().unwrap_or_default();

        let mut cursor = self.jump(cursor, what)?;
        let number = count(&mut cursor, what)?;
        cursor.require(number, 8, "time samples")?;
        if number != codes.len() as u64 || codes.iter().any(|code| !code.is_finite()) {
            let codes = codes.len();
            return Err(damaged(format!(
                "{number} time samples have {codes} time codes"
            )));
        }

        self.budget.spend(8 * codes.len(), what)?;
        let mut samples = Vec::with_capacity(codes.len());
        for &code in codes {
            samples.push((code, self.value(count(&mut cursor, what)?)?));
        }
        Ok(Some(samples))
    }

    /// The place that a relative offset names.
    fn jump(&self, cursor: Cursor<'_>, what: &str) -> Result<Cursor<'a>, ReadError> {
        let mut cursor = cursor;
        let start = cursor.at() as i64;
        let offset = i64::from_le_bytes(cursor.array(what)?);
        let at = start.checked_add(offset).and_then(|at| at.try_into().ok());
        let at = at.ok_or_else(|| damaged(format!("{what} are before its beginning")))?;
        cursor_at(self.bytes, at, what)
    }

    /// A value in the representation itself.
    fn inlined(&self, rep: Representation) -> Result<Value, ReadError> {
        let word = rep.word();
        let index = u32::from_le_bytes(word);
        let kind = rep.kind();
        Ok(match kind {
            kind::STRING => Value::Text(self.string(index)?.into()),
            kind::TOKEN | kind::ASSET => Value::Text(self.token(index)?.into()),
            kind::SPECIFIER..=kind::VARIABILITY => Value::Number(f64::from(index)),
            kind::BLOCK | kind::ANIMATION_BLOCK => Value::Nothing,
            _ => match numeric(kind) {
                Some((scalar, 1)) => Value::Number(small_number(scalar, word)),
                Some((_, width)) => Value::list(width, small_vector(kind, width, word)),
                None => Value::Opaque,
            },
        })
    }

    fn array(&self, rep: Representation) -> Result<Value, ReadError> {
        let what = "an array";
        let kind = rep.kind();
        if rep.payload() == 0 {
            return Ok(Value::list(1, Vec::new()));
        }

        let mut cursor = cursor_at(self.bytes, rep.payload(), what)?;
        let size = self.array_size(&mut cursor)?;
        if let Some((scalar, width)) = numeric(kind) {
            let numbers = size.saturating_mul(width as u64);
            let plain = !rep.is_compressed() || size < SHORTEST_COMPRESSED || width > 1;
            let mut values = if plain {
                self.numbers(&mut cursor, scalar, numbers, what)?
            } else {
                self.compressed(&mut cursor, scalar, size)?
            };
            if is_quaternion(kind) {
                real_part_first(&mut values);
            }
            return Ok(Value::list(width, values));
        }

        let text: fn(&Self, u32) -> Result<String, ReadError> = match kind {
            kind::STRING | kind::ASSET => |tables, k| tables.string(k).map(Into::into),
            kind::TOKEN => |tables, k| tables.token(k).map(Into::into),
            _ => return Ok(Value::Opaque),
        };
        self.texts(&mut cursor, size, text).map(Value::Texts)
    }

    /// The number of entries of an array.
    fn array_size(&self, cursor: &mut Cursor<'_>) -> Result<u64, ReadError> {
        let what = "the size of an array";
        if self.minor < 5 {
            // The rank, which is always 1.
            let [_, _, _, _] = cursor.array(what)?;
        }
        if self.minor < 7 {
            Ok(u64::from(u32::from_le_bytes(cursor.array(what)?)))
        } else {
            count(cursor, what)
        }
    }

    /// Numbers as they are.
    fn numbers(
        &self,
        cursor: &mut Cursor<'_>,
        scalar: Scalar,
        count: u64,
        what: &str,
    ) -> Result<Vec<f64>, ReadError> {
        let size = scalar.size();
        cursor.require(count, size, "numbers")?;
        self.budget.spend(count as usize, what)?;
        let bytes = cursor.take(size * count as usize, what)?;
        Ok(bytes.chunks_exact(size).map(|b| scalar.number(b)).collect())
    }

    /// A compressed array: integers, integers as floats, or indices to a table of floats.
    fn compressed(
        &self,
        cursor: &mut Cursor<'_>,
        scalar: Scalar,
        size: u64,
    ) -> Result<Vec<f64>, ReadError> {
        let what = "an array";
        let width = match scalar {
            Scalar::I64 | Scalar::U64 => IntegerWidth::Bits64,
            _ => IntegerWidth::Bits32,
        };
        let whole = |cursor: &mut Cursor<'_>| integers(cursor, size, width, &self.budget, what);

        match scalar {
            Scalar::U8 => self.numbers(cursor, scalar, size, what),
            Scalar::I32 | Scalar::I64 => Ok(as_numbers(whole(cursor)?, |v| v as f64)),
            Scalar::U32 => Ok(as_numbers(whole(cursor)?, |v| f64::from(v as u32))),
            Scalar::U64 => Ok(as_numbers(whole(cursor)?, |v| v as u64 as f64)),
            Scalar::F16 | Scalar::F32 | Scalar::F64 => match cursor.array(what)? {
                [b'i'] => Ok(as_numbers(whole(cursor)?, |v| v as f64)),
                [b't'] => self.looked_up(cursor, scalar, size),
                [code] => Err(damaged(format!("an array is coded by {code}"))),
            },
        }
    }

    /// Numbers as indices to a table of them.
    fn looked_up(
        &self,
        cursor: &mut Cursor<'_>,
        scalar: Scalar,
        size: u64,
    ) -> Result<Vec<f64>, ReadError> {
        let what = "an array";
        let entries = u32::from_le_bytes(cursor.array(what)?);
        let table = self.numbers(cursor, scalar, u64::from(entries), what)?;
        let indices = indices(cursor, size, &self.budget, what)?;
        let mut values = Vec::with_capacity(indices.len());
        for index in indices {
            let value = table.get(index as usize).copied();
            values.push(value.ok_or_else(|| damaged("an array has an index out of its table"))?);
        }
        Ok(values)
    }

    /// `count` texts, each by its index.
    fn texts(
        &self,
        cursor: &mut Cursor<'_>,
        count: u64,
        text: fn(&Self, u32) -> Result<String, ReadError>,
    ) -> Result<Vec<String>, ReadError> {
        let what = "a list of names";
        cursor.require(count, 4, "names")?;
        let mut texts = Vec::with_capacity(count as usize);
        for _ in 0..count {
            let index = u32::from_le_bytes(cursor.array(what)?);
            let text = text(self, index)?;
            // The record and the allocation of a text.
            self.budget.spend(5 + text.len() / 8, what)?;
            texts.push(text);
        }
        Ok(texts)
    }

    /// A value with parts of its own.
    fn structure(&self, kind: u8, cursor: &mut Cursor<'a>) -> Result<Value, ReadError> {
        let what = "a value";
        Ok(match kind {
            kind::TOKENS => {
                let number = count(cursor, what)?;
                Value::Texts(self.texts(cursor, number, |t, k| t.token(k).map(Into::into))?)
            }
            kind::STRINGS => {
                let number = count(cursor, what)?;
                Value::Texts(self.texts(cursor, number, |t, k| t.string(k).map(Into::into))?)
            }
            kind::PATHS => {
                let number = count(cursor, what)?;
                Value::Texts(self.texts(cursor, number, Self::path)?)
            }
            kind::DOUBLES => {
                let number = count(cursor, what)?;
                Value::list(1, self.numbers(cursor, Scalar::F64, number, what)?)
            }
            kind::RETIMINGS => {
                let number = count(cursor, what)?.saturating_mul(2);
                Value::list(2, self.numbers(cursor, Scalar::F64, number, what)?)
            }
            kind::TOKEN_LIST => {
                Value::Texts(self.text_list(cursor, |t, k| t.token(k).map(Into::into))?)
            }
            kind::STRING_LIST => {
                Value::Texts(self.text_list(cursor, |t, k| t.string(k).map(Into::into))?)
            }
            kind::PATH_LIST => Value::Texts(self.text_list(cursor, Self::path)?),
            kind::REFERENCE_LIST => Value::References(self.reference_list(cursor, true)?),
            kind::PAYLOAD_LIST => Value::References(self.reference_list(cursor, false)?),
            kind::PAYLOAD => Value::References(vec![self.reference(cursor, false)?]),
            kind::SELECTIONS => self.selections(cursor)?,
            _ => Value::Opaque,
        })
    }

    fn selections(&self, cursor: &mut Cursor<'_>) -> Result<Value, ReadError> {
        let what = "the selected variants";
        let number = count(cursor, what)?;
        cursor.require(number, 8, "selected variants")?;
        let texts = self.texts(cursor, 2 * number, |t, k| t.string(k).map(Into::into))?;
        let (pairs, _) = texts.as_chunks::<2>();
        let pairs = pairs.iter().cloned().map(|[set, variant]| (set, variant));
        Ok(Value::Selections(pairs.collect()))
    }

    /// The texts that a list operation gives.
    fn text_list(
        &self,
        cursor: &mut Cursor<'_>,
        text: fn(&Self, u32) -> Result<String, ReadError>,
    ) -> Result<Vec<String>, ReadError> {
        let mut lists = Vec::new();
        for _ in 0..lists_of_operation(cursor)? {
            let number = count(cursor, "a list")?;
            lists.push(self.texts(cursor, number, text)?);
        }
        Ok(lists.concat())
    }

    fn reference_list(
        &self,
        cursor: &mut Cursor<'a>,
        with_dictionary: bool,
    ) -> Result<Vec<Reference>, ReadError> {
        const LEAST_BYTES: usize = 8;

        let mut references = Vec::new();
        for _ in 0..lists_of_operation(cursor)? {
            let number = count(cursor, "a list")?;
            cursor.require(number, LEAST_BYTES, "references")?;
            for _ in 0..number {
                references.push(self.reference(cursor, with_dictionary)?);
            }
        }
        Ok(references)
    }

    fn reference(
        &self,
        cursor: &mut Cursor<'a>,
        with_dictionary: bool,
    ) -> Result<Reference, ReadError> {
        let what = "a reference";
        let asset = self.string(u32::from_le_bytes(cursor.array(what)?))?;
        let prim = u32::from_le_bytes(cursor.array(what)?);
        // No path means the default prim.
        let prim = match self.paths.node(prim) {
            Ok(node) if node.parent.is_some() => self.path(prim)?,
            _ => String::new(),
        };

        // Payloads are retimed since version 0.8.
        let mut retiming = Retiming::default();
        if with_dictionary || self.minor >= 8 {
            retiming.offset = f64::from_le_bytes(cursor.array(what)?);
            retiming.scale = f64::from_le_bytes(cursor.array(what)?);
        }
        self.budget.spend(16 + asset.len() / 8, what)?;
        if with_dictionary {
            self.skip_dictionary(cursor)?;
        }

        Ok(Reference {
            asset: asset.into(),
            prim,
            retiming,
        })
    }

    /// Skips a dictionary. The offset of each value leads past what belongs to it.
    fn skip_dictionary(&self, cursor: &mut Cursor<'a>) -> Result<(), ReadError> {
        let what = "a dictionary";
        let number = count(cursor, what)?;
        self.budget
            .spend(usize::try_from(number).unwrap_or(usize::MAX), what)?;
        for _ in 0..number {
            cursor.take(4, what)?;
            let start = cursor.at() as i64;
            let offset = i64::from_le_bytes(cursor.array(what)?);
            let at = start.checked_add(offset).and_then(|at| at.try_into().ok());
            let at = at.ok_or_else(|| damaged("a dictionary is before its beginning"))?;
            *cursor = cursor_at(self.bytes, at, what)?;
            cursor.take(8, what)?;
        }
        Ok(())
    }
}

/// How many lists of a list operation come first and add items: explicit, added, prepended and
/// appended ones. Lists of deleted and reordered items follow.
fn lists_of_operation(cursor: &mut Cursor<'_>) -> Result<u32, ReadError> {
    const ADDING: u8 = 1 << 1 | 1 << 2 | 1 << 5 | 1 << 6;
    let [header] = cursor.array("a list")?;
    Ok((header & ADDING).count_ones())
}

fn as_numbers(values: Vec<i64>, number: fn(i64) -> f64) -> Vec<f64> {
    values.into_iter().map(number).collect()
}

/// Quaternions are stored with the real part last; text has it first.
fn real_part_first(values: &mut [f64]) {
    for quaternion in values.chunks_exact_mut(4) {
        quaternion.rotate_right(1);
    }
}

/// A number in a word; numbers of eight bytes are stored in the type of four bytes.
fn small_number(scalar: Scalar, word: [u8; 4]) -> f64 {
    match scalar {
        Scalar::F64 => Scalar::F32.number(&word),
        Scalar::I64 => Scalar::I32.number(&word),
        Scalar::U64 => Scalar::U32.number(&word),
        _ => scalar.number(&word[..scalar.size()]),
    }
}

/// A vector or the diagonal of a matrix in the bytes of a word.
fn small_vector(kind: u8, width: usize, word: [u8; 4]) -> Vec<f64> {
    let entry = |k: usize| f64::from(word.get(k).copied().unwrap_or(0) as i8);
    if !is_matrix(kind) {
        return (0..width).map(entry).collect();
    }

    let rows = width.isqrt();
    let mut matrix = vec![0.0; width];
    for row in 0..rows {
        matrix[row * rows + row] = entry(row);
    }
    matrix
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_decoded() {
        for (bits, value) in [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_953_125),
            (0x0001, 2.0_f64.powi(-24)),
            (0x7bff, 65504.0),
            (0x7c00, f64::INFINITY),
        ] {
            assert_eq!(half(bits), value);
        }
        assert!(half(0x7e00).is_nan());
    }

    #[test]
    fn small_vectors_and_matrices_are_bytes() {
        assert_eq!(small_vector(24, 3, [1, 0xff, 2, 0]), [1.0, -1.0, 2.0]);
        assert_eq!(small_vector(13, 4, [3, 5, 0, 0]), [3.0, 0.0, 0.0, 5.0]);
        assert_eq!(small_number(Scalar::F64, 0.5_f32.to_le_bytes()), 0.5);
        assert_eq!(numeric(24), Some((Scalar::F32, 3)));
        assert_eq!(numeric(30), Some((Scalar::I32, 4)));
        assert_eq!(numeric(31), None);
    }
}
