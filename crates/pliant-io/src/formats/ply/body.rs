//! The rows of a PLY file, as text or as packed numbers.

use std::fmt::Display;

use super::header::{Element, Encoding, Header, Property, Scalar};
use crate::ReadError;
use crate::parse::binary::Cursor;
use crate::parse::text::{Lines, Words, excerpt, number};

/// The rows, as text or packed.
pub(super) enum Body<'a> {
    Text {
        lines: Lines<'a>,
        words: Words<'a>,
        line: usize,
        header_lines: usize,
        left: usize,
    },
    Packed {
        cursor: Cursor<'a>,
        big: bool,
    },
}

impl<'a> Body<'a> {
    pub(super) fn of(bytes: &'a [u8], header: &Header, encoding: Encoding) -> Self {
        if encoding == Encoding::Ascii {
            let rest = &bytes[header.length..];
            return Self::Text {
                lines: Lines::of(rest),
                words: Words::of(b""),
                line: 0,
                header_lines: header.lines,
                left: rest.len(),
            };
        }

        // The cursor starts at the file, so that errors have positions in the file.
        let mut cursor = Cursor::of(bytes);
        cursor
            .take(header.length, "the header")
            .expect("the header was read from these bytes");

        Self::Packed {
            cursor,
            big: encoding == Encoding::BigEndian,
        }
    }

    pub(super) fn error(&self, message: String) -> ReadError {
        match self {
            Self::Text {
                line, header_lines, ..
            } => ReadError::line(header_lines + line, message),
            Self::Packed { cursor, .. } => ReadError::byte(cursor.at(), message),
        }
    }

    /// Rejects more rows than the bytes can hold.
    pub(super) fn require_rows(&self, element: &Element) -> Result<(), ReadError> {
        let count = element.count;
        let what = format!("rows of element '{}'", element.name);
        let left = match self {
            Self::Packed { cursor, .. } => {
                return cursor.require(count, element.least_bytes(), what);
            }
            Self::Text { left, .. } => *left,
        };

        // Each number takes a digit and a space; the last one may lack the space.
        let needed = u128::from(count) * 2 * element.properties.len() as u128;
        if needed > left as u128 + 1 {
            return Err(self.error(format!(
                "{count} {what} are announced, but {left} bytes are left; the file is cut off or damaged"
            )));
        }

        Ok(())
    }

    #[inline]
    pub(super) fn number(&mut self, kind: Scalar, what: &dyn Display) -> Result<f64, ReadError> {
        match self {
            Self::Packed { cursor, big } => Ok(kind.decode(cursor.take(kind.size(), what)?, *big)),
            Self::Text { .. } => {
                let word = self.word(what)?;
                number(word).ok_or_else(|| {
                    self.error(format!("expected {what}, found '{}'", excerpt(word)))
                })
            }
        }
    }

    fn word(&mut self, what: &dyn Display) -> Result<&'a [u8], ReadError> {
        let Self::Text {
            lines,
            words,
            line,
            header_lines,
            ..
        } = self
        else {
            unreachable!("only text has words")
        };
        loop {
            if let Some(word) = words.next() {
                return Ok(word);
            }
            let Some((number, text)) = lines.next() else {
                return Err(ReadError::line(
                    *header_lines + *line,
                    format!("the file ends before {what}; export it again"),
                ));
            };

            *line = number;
            *words = Words::of(text);
        }
    }

    /// A warning about content after the last row.
    pub(super) fn rest(&mut self) -> Option<String> {
        match self {
            Self::Packed { cursor, .. } => (cursor.left() > 0)
                .then(|| format!("{} byte(s) after the last row were not read", cursor.left())),
            Self::Text { .. } => {
                self.word(&"the end").ok()?;
                let Self::Text {
                    line, header_lines, ..
                } = self
                else {
                    return None;
                };

                Some(format!(
                    "the text from line {} on, after the last row, was not read",
                    *line + *header_lines
                ))
            }
        }
    }

    fn length(&mut self, kind: Scalar, what: &dyn Display) -> Result<usize, ReadError> {
        let length = self.number(kind, what)?;
        if length < 0.0 || length.fract() != 0.0 || !length.is_finite() {
            return Err(self.error(format!("{what} is {length}, which is not a count")));
        }
        Ok(length as usize)
    }

    pub(super) fn list(
        &mut self,
        property: &Property,
        length_kind: Scalar,
        into: &mut Vec<f64>,
        what: &dyn Display,
    ) -> Result<(), ReadError> {
        into.clear();
        let length = self.length(length_kind, what)?;
        for _ in 0..length {
            let value = self.number(property.kind, what)?;
            into.push(value);
        }

        Ok(())
    }

    pub(super) fn skip(
        &mut self,
        property: &Property,
        what: &dyn Display,
    ) -> Result<(), ReadError> {
        let length = property
            .list
            .map_or(Ok(1), |kind| self.length(kind, what))?;

        match self {
            Self::Packed { cursor, .. } => {
                cursor.take(length.saturating_mul(property.kind.size()), what)?;
            }
            Self::Text { .. } => {
                for _ in 0..length {
                    self.word(what)?;
                }
            }
        }

        Ok(())
    }
}

/// A cell of a table, for messages.
pub(super) struct Cell<'a> {
    pub(super) element: &'a str,
    pub(super) row: u64,
    pub(super) of: u64,
    pub(super) property: &'a str,
}

impl Display for Cell<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "'{}' of {} {} of {}",
            self.property, self.element, self.row, self.of
        )
    }
}
