//! Parameters of a C3D file, and the number formats of its processor.

use std::collections::BTreeMap;

use crate::ReadError;
use crate::parse::binary::Cursor;

/// The processor whose byte order and floating-point format a file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Processor {
    /// Little-endian, IEEE.
    Intel,
    /// Little-endian integers, VAX floating point.
    Dec,
    /// Big-endian, IEEE.
    Mips,
}

impl Processor {
    pub(super) fn of(code: u8) -> Option<Self> {
        [(84, Self::Intel), (85, Self::Dec), (86, Self::Mips)]
            .into_iter()
            .find(|(known, _)| *known == code)
            .map(|(_, it)| it)
    }

    pub(super) fn word(self, bytes: [u8; 2]) -> u16 {
        if self == Self::Mips {
            u16::from_be_bytes(bytes)
        } else {
            u16::from_le_bytes(bytes)
        }
    }

    pub(super) fn float(self, bytes: [u8; 4]) -> f64 {
        let [a, b, c, d] = bytes;
        match self {
            Self::Intel => f32::from_le_bytes(bytes).into(),
            Self::Mips => f32::from_be_bytes(bytes).into(),
            // VAX: the 16-bit words are swapped, and the exponent is two more than that of IEEE.
            Self::Dec => f64::from(f32::from_le_bytes([c, d, a, b])) / 4.0,
        }
    }
}

/// The values of one parameter.
#[derive(Debug, Clone)]
pub(super) struct Parameter<'a> {
    /// Bytes of one element; negative for text.
    kind: i8,
    dimensions: Vec<usize>,
    data: &'a [u8],
    processor: Processor,
}

impl Parameter<'_> {
    /// Words of 16 bits.
    pub(super) fn words(&self) -> Vec<u16> {
        if self.kind != 2 {
            return Vec::new();
        }
        self.data
            .as_chunks()
            .0
            .iter()
            .map(|&bytes| self.processor.word(bytes))
            .collect()
    }

    /// The first number, whatever its type.
    pub(super) fn number(&self) -> Option<f64> {
        match self.kind {
            4 => self
                .data
                .first_chunk()
                .map(|&bytes| self.processor.float(bytes)),
            2 => self
                .data
                .first_chunk()
                .map(|&bytes| f64::from(self.processor.word(bytes))),
            1 => self.data.first().map(|&byte| f64::from(byte)),
            _ => None,
        }
    }

    /// Texts without padding.
    pub(super) fn texts(&self) -> Vec<String> {
        let length = self.dimensions.first().copied().unwrap_or(1);
        if self.kind >= 0 || length == 0 {
            return Vec::new();
        }

        let text = |bytes: &[u8]| {
            String::from_utf8_lossy(bytes)
                .trim_matches([' ', '\0'])
                .replace(char::is_control, " ")
        };

        self.data.chunks(length).map(text).collect()
    }
}

/// All parameters by `GROUP:NAME` in capitals.
#[derive(Debug, Default)]
pub(super) struct Parameters<'a>(BTreeMap<String, Parameter<'a>>);

impl<'a> Parameters<'a> {
    /// Reads the records of `section`, without its first four bytes.
    pub(super) fn read(section: &'a [u8], processor: Processor) -> Result<Self, ReadError> {
        let mut groups = BTreeMap::new();
        let mut found = Vec::new();
        let mut rest = section;
        loop {
            let mut cursor = Cursor::of(rest);
            let Ok([length, id]) = cursor.array::<2>("a record") else {
                break;
            };

            // A negative length marks a locked record, which a reader may read.
            let length = (length as i8).unsigned_abs().into();
            let id = id as i8;
            if length == 0 || id == 0 {
                break;
            }

            let name = String::from_utf8_lossy(cursor.take(length, "the name of a parameter")?)
                .to_uppercase();
            let next_from = cursor.at();
            let next = usize::from(processor.word(cursor.array("the offset of the next record")?));

            if id < 0 {
                groups.insert(id.unsigned_abs(), name);
            } else {
                found.push((
                    id.unsigned_abs(),
                    name,
                    read_values(&mut cursor, processor)?,
                ));
            }

            if next < 2 {
                break;
            }
            let Some(after) = rest.get(next_from + next..) else {
                break;
            };

            rest = after;
        }

        let named = |(id, name, values)| {
            (
                format!("{}:{name}", groups.get(&id).map_or("", String::as_str)),
                values,
            )
        };

        Ok(Self(found.into_iter().map(named).collect()))
    }

    pub(super) fn get(&self, name: &str) -> Option<&Parameter<'a>> {
        self.0.get(name)
    }

    pub(super) fn number(&self, name: &str) -> Option<f64> {
        self.get(name)?.number().filter(|value| value.is_finite())
    }
}

fn read_values<'a>(
    cursor: &mut Cursor<'a>,
    processor: Processor,
) -> Result<Parameter<'a>, ReadError> {
    let [kind, count] = cursor.array("the type of a parameter")?;
    let dimensions: Vec<usize> = cursor
        .take(count.into(), "the shape of a parameter")?
        .iter()
        .map(|&length| length.into())
        .collect();

    // The type is the size of an element; text has the type −1.
    let kind = kind as i8;
    let size = usize::from(kind.unsigned_abs());
    let total = dimensions
        .iter()
        .try_fold(size, |product, &length| product.checked_mul(length));
    let data = cursor.take(total.unwrap_or(usize::MAX), "the values of a parameter")?;

    Ok(Parameter {
        kind,
        dimensions,
        data,
        processor,
    })
}
