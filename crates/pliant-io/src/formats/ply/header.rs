//! The header of a PLY file: encoding, elements and properties.

use crate::ReadError;
use crate::parse::text::{Words, excerpt};

/// How rows are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Ascii,
    LittleEndian,
    BigEndian,
}

impl Encoding {
    const ALL: [Self; 3] = [Self::Ascii, Self::LittleEndian, Self::BigEndian];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Ascii => "ascii",
            Self::LittleEndian => "binary_little_endian",
            Self::BigEndian => "binary_big_endian",
        }
    }

    /// The other byte order.
    pub(super) fn swapped(self) -> Option<Self> {
        match self {
            Self::Ascii => None,
            Self::LittleEndian => Some(Self::BigEndian),
            Self::BigEndian => Some(Self::LittleEndian),
        }
    }
}

/// A number type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Scalar {
    pub(super) fn named(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"char" | b"int8" => Self::I8,
            b"uchar" | b"uint8" => Self::U8,
            b"short" | b"int16" => Self::I16,
            b"ushort" | b"uint16" => Self::U16,
            b"int" | b"int32" => Self::I32,
            b"uint" | b"uint32" => Self::U32,
            b"float" | b"float32" => Self::F32,
            b"double" | b"float64" => Self::F64,
            _ => return None,
        })
    }

    pub(super) fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// The value of full colour intensity.
    pub(super) fn full_intensity(self) -> f64 {
        match self {
            Self::I8 => f64::from(i8::MAX),
            Self::U8 => f64::from(u8::MAX),
            Self::I16 => f64::from(i16::MAX),
            Self::U16 => f64::from(u16::MAX),
            Self::I32 => f64::from(i32::MAX),
            Self::U32 => f64::from(u32::MAX),
            Self::F32 | Self::F64 => 1.0,
        }
    }

    /// The number in exactly [`size`](Self::size) bytes.
    #[inline]
    pub(super) fn decode(self, bytes: &[u8], big: bool) -> f64 {
        macro_rules! decode {
            ($kind:ty) => {{
                let bytes = bytes.try_into().expect("as many bytes as the kind has");
                if big {
                    <$kind>::from_be_bytes(bytes)
                } else {
                    <$kind>::from_le_bytes(bytes)
                }
                .into()
            }};
        }
        match self {
            Self::I8 => decode!(i8),
            Self::U8 => decode!(u8),
            Self::I16 => decode!(i16),
            Self::U16 => decode!(u16),
            Self::I32 => decode!(i32),
            Self::U32 => decode!(u32),
            Self::F32 => decode!(f32),
            Self::F64 => decode!(f64),
        }
    }
}

/// A property of an element: a column of its table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Property {
    pub(super) name: String,
    pub(super) kind: Scalar,
    /// The type of the list length; `None` for a single number.
    pub(super) list: Option<Scalar>,
}

/// An element: a table of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) count: u64,
    pub(super) properties: Vec<Property>,
}

impl Element {
    /// The least number of bytes of a packed row.
    pub(super) fn least_bytes(&self) -> usize {
        self.properties
            .iter()
            .map(|p| p.list.unwrap_or(p.kind).size())
            .sum()
    }

    pub(super) fn property(&self, names: &[&str]) -> Option<usize> {
        self.properties
            .iter()
            .position(|p| names.contains(&p.name.as_str()))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) encoding: Encoding,
    pub(super) elements: Vec<Element>,
    /// Where the rows begin.
    pub(super) length: usize,
    /// How many lines it has.
    pub(super) lines: usize,
}

impl Header {
    pub(super) fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        let mut lines = HeaderLines::of(bytes)?;
        let mut encoding = None;
        let mut elements = Vec::new();
        while let Some(text) = lines.next_line() {
            let wrong = |why: String| ReadError::line(lines.number, why);
            let words: Vec<_> = Words::of(text).collect();
            match *words.as_slice() {
                [] | [b"comment" | b"obj_info", ..] => {}
                [b"end_header"] => {
                    let encoding = encoding.ok_or_else(|| {
                        wrong("the header ends without a 'format' line; export it again".into())
                    })?;
                    return Ok(Self {
                        encoding,
                        elements,
                        length: lines.at,
                        lines: lines.number,
                    });
                }
                [b"format", name, ..] => {
                    encoding = Some(parse_encoding(name, encoding).map_err(wrong)?)
                }
                [b"element", name, count] => {
                    elements.push(parse_element(name, count).map_err(wrong)?)
                }
                [b"property", ref rest @ ..] => {
                    let property = parse_property(rest).ok_or_else(|| {
                        wrong(format!(
                            "'{}' is not a property of a known type",
                            excerpt(text)
                        ))
                    })?;

                    let element = elements
                        .last_mut()
                        .ok_or_else(|| wrong("a property comes before any element".into()))?;
                    element.properties.push(property);
                }
                _ => {
                    return Err(wrong(format!(
                        "'{}' is not a line of a PLY header",
                        excerpt(text)
                    )));
                }
            }
        }

        Err(ReadError::line(
            lines.number,
            "the file ends inside the header, before 'end_header'; export it again",
        ))
    }
}

fn parse_encoding(name: &[u8], before: Option<Encoding>) -> Result<Encoding, String> {
    let known = || Encoding::ALL.map(Encoding::name).join(", ");
    let encoding = Encoding::ALL
        .into_iter()
        .find(|e| e.name().as_bytes() == name);
    let encoding = encoding.ok_or_else(|| {
        format!(
            "the format '{}' is unknown; there are {}",
            excerpt(name),
            known()
        )
    })?;

    match before {
        Some(before) if before != encoding => {
            let first = before.name();
            let second = encoding.name();
            Err(format!(
                "the header says both {first} and {second}, but a file has one encoding; export it again"
            ))
        }
        _ => Ok(encoding),
    }
}

fn parse_element(name: &[u8], count: &[u8]) -> Result<Element, String> {
    let parsed = std::str::from_utf8(count)
        .ok()
        .and_then(|text| text.parse().ok());
    let name = excerpt(name);
    let count = parsed.ok_or_else(|| {
        format!(
            "'{}' is not a number of rows of element '{name}'",
            excerpt(count)
        )
    })?;

    Ok(Element {
        name,
        count,
        properties: Vec::new(),
    })
}

fn parse_property(words: &[&[u8]]) -> Option<Property> {
    let named = |name: &[u8]| String::from_utf8_lossy(name).replace(char::is_control, " ");
    match *words {
        [b"list", length, kind, name] => Some(Property {
            name: named(name),
            kind: Scalar::named(kind)?,
            list: Some(Scalar::named(length)?),
        }),
        [kind, name] => Some(Property {
            name: named(name),
            kind: Scalar::named(kind)?,
            list: None,
        }),
        _ => None,
    }
}

/// Lines that end like the first one, because a packed body may begin with any byte.
struct HeaderLines<'a> {
    bytes: &'a [u8],
    at: usize,
    number: usize,
    ending: &'static [u8],
}

impl<'a> HeaderLines<'a> {
    fn of(bytes: &'a [u8]) -> Result<Self, ReadError> {
        let first = bytes
            .strip_prefix(b"ply")
            .unwrap_or(b"?")
            .trim_ascii_start();

        // The line ending of the first line applies to the whole header.
        let ending: &[u8] = match bytes.get(3..) {
            Some([b'\r', b'\n', ..]) => b"\r\n",
            Some([b'\r', ..]) => b"\r",
            _ => b"\n",
        };

        if bytes.starts_with(b"ply") && first.len() < bytes.len() - 3 {
            Ok(Self {
                bytes,
                at: 0,
                number: 0,
                ending,
            }
            .after_magic())
        } else {
            Err(ReadError::line(
                1,
                format!(
                    "the file begins with '{}' instead of 'ply', so it is not a PLY file",
                    excerpt(&bytes[..bytes.len().min(8)])
                ),
            ))
        }
    }

    fn after_magic(mut self) -> Self {
        self.next_line();
        self
    }

    fn next_line(&mut self) -> Option<&'a [u8]> {
        let rest = &self.bytes[self.at..];
        let end = rest
            .windows(self.ending.len())
            .position(|w| w == self.ending);

        // A header at the end of the file has no rows, and may lack its last line break.
        let end = end.or_else(|| (rest == b"end_header").then_some(rest.len()))?;
        self.at = (self.at + end + self.ending.len()).min(self.bytes.len());
        self.number += 1;

        // Some files mix line endings.
        Some(rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end]))
    }
}
