//! Properties of Alembic objects: compounds of properties, and samples over time.
//!
//! **Format.** A compound is a group of properties and their headers. A header is a word of flags,
//! then numbers of one, two or four bytes: samples, the first and the last sample that differ from
//! the one before, time sampling, and name. A sample is a digest of 16 bytes and the values;
//! samples before the first change and after the last one are stored once.
//!
//! **Source.** The flags and the rule of repeated samples are those of Alembic's `AbcCoreOgawa`.

use std::borrow::Cow;

use pliant_mesh::glam::DVec3;

use super::archive::{Archive, metadata_value};
use super::ogawa::Group;
use super::time_sampling::TimeSampling;
use crate::ReadError;
use crate::parse::binary::Cursor;

/// What an error in a header is about.
const HEADER: &str = "the header of a property";

/// How many bytes of a digest come before the values of a sample.
const DIGEST_BYTES: usize = 16;

/// The type of a number in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    Boolean,
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F16,
    F32,
    F64,
    /// Characters, which are not read as numbers.
    Text,
}

/// How the values of a property are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PropertyKind {
    /// Further properties.
    Compound,
    /// One value a sample.
    Scalar,
    /// A list of values a sample.
    Array,
}

/// A property of an object or of a compound.
#[derive(Debug, Clone)]
pub(super) struct Property<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) kind: PropertyKind,
    metadata: Cow<'a, str>,
    number: Number,
    /// How many numbers make a value.
    extent: usize,
    counts: SampleCounts,
    group: Group<'a>,
}

/// How many samples a property has, and which of them are stored.
#[derive(Debug, Clone, Copy, Default)]
struct SampleCounts {
    samples: usize,
    /// The first sample that differs from the one before; 0 if all are equal.
    first_changed: usize,
    last_changed: usize,
    /// The index of the time sampling.
    sampling: usize,
}

impl Number {
    fn of(code: u32) -> Option<Self> {
        const CODES: [Number; 14] = [
            Number::Boolean,
            Number::U8,
            Number::I8,
            Number::U16,
            Number::I16,
            Number::U32,
            Number::I32,
            Number::U64,
            Number::I64,
            Number::F16,
            Number::F32,
            Number::F64,
            Number::Text,
            Number::Text,
        ];
        CODES.get(code as usize).copied()
    }

    /// How many bytes it takes.
    fn bytes(self) -> usize {
        match self {
            Self::Boolean | Self::U8 | Self::I8 | Self::Text => 1,
            Self::U16 | Self::I16 | Self::F16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }

    /// The number that `bytes` are.
    fn value(self, bytes: &[u8]) -> f64 {
        // Missing bytes are zero; integers have the sign of their highest bit.
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        let word = u64::from_le_bytes(word);
        match self {
            Self::Boolean => f64::from(u8::from(word != 0)),
            Self::U8 | Self::U16 | Self::U32 | Self::U64 | Self::Text => word as f64,
            Self::I8 => f64::from(word as u8 as i8),
            Self::I16 => f64::from(word as u16 as i16),
            Self::I32 => f64::from(word as u32 as i32),
            Self::I64 => word as i64 as f64,
            Self::F16 => half(word as u16),
            Self::F32 => f64::from(f32::from_bits(word as u32)),
            Self::F64 => f64::from_bits(word),
        }
    }
}

/// A number of half precision.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    let fraction = f64::from(bits & 0x3ff) / 1024.0;
    let magnitude = match (bits >> 10) & 0x1f {
        0 => fraction * 2.0_f64.powi(-14),
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        exponent => (1.0 + fraction) * 2.0_f64.powi(i32::from(exponent) - 15),
    };
    sign * magnitude
}

impl<'a> Archive<'a> {
    /// The properties of an object.
    pub(super) fn object_properties(
        &self,
        object: Group<'a>,
    ) -> Result<Vec<Property<'a>>, ReadError> {
        match object.len() {
            0 => Ok(Vec::new()),
            _ => self.properties(object.group(0)?),
        }
    }

    /// The properties of a compound.
    fn properties(&self, compound: Group<'a>) -> Result<Vec<Property<'a>>, ReadError> {
        let mut cursor = compound.headers(0)?;
        self.budget
            .spend(cursor.left() / 4, "the headers of the properties")?;

        let mut properties = Vec::new();
        while cursor.left() > 0 {
            let group = compound.group(properties.len())?;
            properties.push(self.property(&mut cursor, group)?);
        }
        Ok(properties)
    }

    /// The properties below `name` in `properties`; none if it is no compound.
    pub(super) fn compound(
        &self,
        properties: &[Property<'a>],
        name: &str,
    ) -> Result<Vec<Property<'a>>, ReadError> {
        match find(properties, name) {
            Some(found) if found.kind == PropertyKind::Compound => self.properties(found.group),
            _ => Ok(Vec::new()),
        }
    }

    /// The properties below a compound.
    pub(super) fn properties_of(
        &self,
        compound: &Property<'a>,
    ) -> Result<Vec<Property<'a>>, ReadError> {
        self.properties(compound.group)
    }

    fn property(
        &self,
        cursor: &mut Cursor<'a>,
        group: Group<'a>,
    ) -> Result<Property<'a>, ReadError> {
        let flags = u32::from_le_bytes(cursor.array(HEADER)?);
        let width = (flags >> 2) & 3;
        let kind = match flags & 3 {
            0 => PropertyKind::Compound,
            1 => PropertyKind::Scalar,
            _ => PropertyKind::Array,
        };
        let counts = match kind {
            PropertyKind::Compound => SampleCounts::default(),
            _ => SampleCounts::read(cursor, flags, width)?,
        };

        let name = short_text(cursor, width)?;
        let index = (flags >> 20) as usize & 0xff;
        let metadata = self.metadata_text(index, || short_text(cursor, width))?;
        let number = Number::of((flags >> 4) & 0xf).ok_or_else(|| {
            ReadError::whole(format!(
                "property '{}' holds numbers of an unknown type; the file is damaged, export it again",
                name.escape_debug()
            ))
        })?;

        Ok(Property {
            name,
            kind,
            metadata,
            number,
            extent: ((flags >> 12) as usize & 0xff).max(1),
            counts,
            group,
        })
    }
}

impl SampleCounts {
    fn read(cursor: &mut Cursor<'_>, flags: u32, width: u32) -> Result<Self, ReadError> {
        const HAS_SAMPLING: u32 = 0x100;
        const HAS_CHANGES: u32 = 0x200;
        const IS_CONSTANT: u32 = 0x800;

        let samples = small_number(cursor, width)?;
        let last = samples.saturating_sub(1);
        let (first_changed, last_changed) = if flags & HAS_CHANGES != 0 {
            (small_number(cursor, width)?, small_number(cursor, width)?)
        } else if flags & IS_CONSTANT != 0 {
            (0, 0)
        } else {
            (1, last)
        };
        let sampling = match flags & HAS_SAMPLING {
            0 => 0,
            _ => small_number(cursor, width)?,
        };

        Ok(Self {
            samples,
            first_changed,
            last_changed: last_changed.min(last),
            sampling,
        })
    }
}

/// The property of this name.
pub(super) fn find<'p, 'a>(properties: &'p [Property<'a>], name: &str) -> Option<&'p Property<'a>> {
    properties.iter().find(|property| property.name == name)
}

/// A number of as many bytes as the flags of the header say.
fn small_number(cursor: &mut Cursor<'_>, width: u32) -> Result<usize, ReadError> {
    let number = match width {
        0 => u32::from(cursor.array::<1>(HEADER)?[0]),
        1 => u32::from(u16::from_le_bytes(cursor.array(HEADER)?)),
        _ => u32::from_le_bytes(cursor.array(HEADER)?),
    };
    Ok(number as usize)
}

fn short_text<'a>(cursor: &mut Cursor<'a>, width: u32) -> Result<Cow<'a, str>, ReadError> {
    let length = small_number(cursor, width)?;
    let text = cursor.take(length, "a text in the header of a property")?;
    Ok(String::from_utf8_lossy(text))
}

impl<'a> Property<'a> {
    /// How many samples it has.
    pub(super) fn samples(&self) -> usize {
        self.counts.samples
    }

    /// Whether it has values of so many numbers.
    pub(super) fn holds(&self, extent: usize) -> bool {
        self.kind != PropertyKind::Compound
            && self.number != Number::Text
            && self.extent == extent
            && self.counts.samples > 0
    }

    /// Whether some samples may differ.
    pub(super) fn is_animated(&self) -> bool {
        self.counts.samples > 1 && self.counts.last_changed > 0
    }

    /// Whether its samples are at other times than those of the default sampling.
    pub(super) fn has_own_times(&self) -> bool {
        self.counts.sampling != 0
    }

    /// The value of `key` in its metadata.
    pub(super) fn metadata_value(&self, key: &str) -> Option<&str> {
        metadata_value(&self.metadata, key)
    }

    /// The times of its samples.
    pub(super) fn sampling<'s>(
        &self,
        archive: &'s Archive<'a>,
    ) -> Result<&'s TimeSampling, ReadError> {
        archive.sampling(self.counts.sampling)
    }

    /// The bytes of a sample without its digest. Equal samples may be the same bytes.
    pub(super) fn sample(&self, sample: usize) -> Result<&'a [u8], ReadError> {
        let first = self.counts.first_changed;
        let last = self.counts.last_changed;
        let stored = if last == 0 || sample < first {
            0
        } else {
            sample.min(last).saturating_sub(first) + 1
        };

        // The sizes of the dimensions of an array follow its values.
        let step = match self.kind {
            PropertyKind::Array => 2,
            _ => 1,
        };
        let data = self.group.data(step * stored)?;
        let values = data.get(DIGEST_BYTES..).unwrap_or_default();
        if values.len() % (self.extent * self.number.bytes()) == 0 {
            return Ok(values);
        }
        Err(ReadError::whole(format!(
            "sample {sample} of property '{}' has {} bytes, not a multiple of {}; the file is damaged, export it again",
            self.name.escape_debug(),
            values.len(),
            self.extent * self.number.bytes()
        )))
    }

    /// How many values a sample has.
    pub(super) fn count(&self, sample: usize) -> Result<usize, ReadError> {
        Ok(self.sample(sample)?.len() / (self.extent * self.number.bytes()))
    }

    /// The numbers of a sample.
    pub(super) fn numbers(
        &self,
        archive: &Archive<'a>,
        sample: usize,
    ) -> Result<Vec<f64>, ReadError> {
        let bytes = self.sample(sample)?;
        let size = self.number.bytes();
        archive
            .budget
            .spend(bytes.len() / size, self.quoted_name())?;
        Ok(bytes
            .chunks_exact(size)
            .map(|number| self.number.value(number))
            .collect())
    }

    /// The values of a sample, of three numbers each.
    pub(super) fn points(
        &self,
        archive: &Archive<'a>,
        sample: usize,
    ) -> Result<Vec<DVec3>, ReadError> {
        let bytes = self.sample(sample)?;
        let size = self.number.bytes();
        archive
            .budget
            .spend(bytes.len() / size, self.quoted_name())?;
        let coordinate = |point: &[u8], k: usize| match self.number {
            // Nearly all positions are of this type.
            Number::F32 => {
                let number = point[4 * k..4 * k + 4].try_into();
                f64::from(f32::from_le_bytes(number.expect("four bytes")))
            }
            number => number.value(&point[k * size..][..size]),
        };
        Ok(bytes
            .chunks_exact(3 * size)
            .map(|p| DVec3::new(coordinate(p, 0), coordinate(p, 1), coordinate(p, 2)))
            .collect())
    }

    /// The numbers of a sample as indices from 0 on.
    pub(super) fn indices(
        &self,
        archive: &Archive<'a>,
        sample: usize,
    ) -> Result<Vec<u32>, ReadError> {
        let bytes = self.sample(sample)?;
        let size = self.number.bytes();
        archive
            .budget
            .spend(bytes.len() / size, self.quoted_name())?;

        let mut indices = Vec::with_capacity(bytes.len() / size);
        for number in bytes.chunks_exact(size) {
            let value = self.number.value(number);
            if !(value >= 0.0 && value < f64::from(u32::MAX) && value.fract() == 0.0) {
                return Err(ReadError::whole(format!(
                    "{} holds {value}, which is not an index; the file is damaged, export it again",
                    self.quoted_name()
                )));
            }
            indices.push(value as u32);
        }
        Ok(indices)
    }

    fn quoted_name(&self) -> String {
        format!("property '{}'", self.name.escape_debug())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_type_are_read() {
        for (number, bytes, expected) in [
            (Number::Boolean, &[2][..], 1.0),
            (Number::I8, &[0xff], -1.0),
            (Number::U16, &[1, 2], 513.0),
            (Number::I32, &(-7_i32).to_le_bytes(), -7.0),
            (Number::I64, &(-7_i64).to_le_bytes(), -7.0),
            (Number::F32, &0.25_f32.to_le_bytes(), 0.25),
            (Number::F64, &0.1_f64.to_le_bytes(), 0.1),
        ] {
            assert_eq!(number.bytes(), bytes.len());
            assert_eq!(number.value(bytes), expected, "{number:?}");
        }
    }

    #[test]
    fn halves_are_read() {
        for (bits, expected) in [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_953_125),
            (0x0001, 2.0_f64.powi(-24)),
            (0x7c00, f64::INFINITY),
        ] {
            assert_eq!(half(bits), expected, "{bits:#x}");
        }
        assert!(half(0x7e00).is_nan());
    }
}
