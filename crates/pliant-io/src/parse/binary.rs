//! A cursor over the bytes of binary formats; errors name what is missing and where.

use std::fmt::Display;

use crate::ReadError;

/// A position in a binary file.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// A cursor at the first byte.
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The position in bytes.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// How many bytes are left.
    pub(crate) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The next `count` bytes, which are `what`.
    pub(crate) fn take(&mut self, count: usize, what: impl Display) -> Result<&'a [u8], ReadError> {
        let at = self.at;
        let left = self.left();
        if count > left {
            return Err(ReadError::byte(
                at,
                format!(
                    "{what} needs {count} bytes, but {left} are left; the file is cut off, export it again"
                ),
            ));
        }

        self.at += count;
        Ok(&self.bytes[at..self.at])
    }

    /// The next `N` bytes, which are `what`.
    pub(crate) fn array<const N: usize>(
        &mut self,
        what: impl Display,
    ) -> Result<[u8; N], ReadError> {
        let bytes = self.take(N, what)?;
        Ok(bytes.try_into().expect("as many bytes as requested"))
    }

    /// Rejects `count` of `what`, of at least `size` bytes each, if fewer bytes are left. Callers
    /// check before they allocate.
    pub(crate) fn require(
        &self,
        count: u64,
        size: usize,
        what: impl Display,
    ) -> Result<(), ReadError> {
        let needed = u128::from(count) * size as u128;
        if needed <= self.left() as u128 {
            return Ok(());
        }

        let left = self.left();
        let message = format!(
            "{count} {what} are announced, which need {needed} bytes, but {left} are left; the file is cut off, damaged or of another format"
        );

        Err(ReadError::byte(self.at, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_bytes_are_reported_with_their_position() {
        let mut cursor = Cursor::of(b"abcde");
        assert_eq!(cursor.take(2, "a word").unwrap(), b"ab");

        let error = cursor.take(4, "the rest").unwrap_err();
        assert_eq!(error.position, crate::FilePosition::Byte(2));
        assert!(
            error
                .message
                .contains("the rest needs 4 bytes, but 3 are left"),
            "{error}"
        );

        assert_eq!(cursor.array::<3>("the rest").unwrap(), *b"cde");
    }

    #[test]
    fn a_size_beyond_64_bits_is_rejected() {
        let error = Cursor::of(&[0; 8])
            .require(u64::MAX, usize::MAX, "points")
            .unwrap_err();
        assert!(
            error.message.contains("points are announced")
                && error.message.contains("but 8 are left"),
            "{error}"
        );
        assert!(Cursor::of(&[0; 8]).require(2, 4, "points").is_ok());
    }
}
