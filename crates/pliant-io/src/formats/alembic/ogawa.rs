//! Ogawa, the container of Alembic files: groups and data at byte offsets.
//!
//! **Format.** A head of 16 bytes: `Ogawa`, `0xff` once the file is complete, the version as two
//! bytes, and the offset of the root group. A group is a count and as many references; a reference
//! is an offset, whose highest bit says that it refers to data. Data are a length and as many
//! bytes. Offset 0 is an empty group or empty data. Numbers are 64-bit and little-endian.
//!
//! **Departures.** Offsets may form cycles in a damaged file; readers of the tree above limit them.

use std::ops::Range;

use crate::ReadError;
use crate::parse::binary::Cursor;

/// The bit of a reference that marks data.
pub(super) const DATA: u64 = 1 << 63;

/// The bytes before the root's offset, in a complete file.
pub(super) const HEAD: [u8; 8] = *b"Ogawa\xff\x00\x01";

const HDF5: [u8; 4] = *b"\x89HDF";

/// A group of an Ogawa file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group<'a> {
    bytes: &'a [u8],
    /// The position of the count; 0 if the group is empty.
    position: usize,
    /// How many children it has.
    len: usize,
}

/// The root group of a file.
pub(super) fn open(bytes: &[u8]) -> Result<Group<'_>, ReadError> {
    if bytes.starts_with(&HDF5) {
        return Err(ReadError::whole(
            "this Alembic file is stored as HDF5, which is not supported; export it as Ogawa, the default since Alembic 1.5, or convert it with 'abcconvert -toOgawa'",
        ));
    }
    if !bytes.starts_with(&HEAD[..5]) {
        return Err(ReadError::byte(
            0,
            "the file does not begin with 'Ogawa'; it is not an Alembic file",
        ));
    }

    let Some(head) = bytes.get(..16) else {
        return Err(ReadError::byte(
            bytes.len(),
            "the file ends inside its head; it is cut off, export it again",
        ));
    };
    if head[5] != HEAD[5] {
        return Err(ReadError::byte(
            5,
            "the program that wrote the file did not complete it; export it again",
        ));
    }
    if head[6..8] != HEAD[6..] {
        let version = u16::from_be_bytes([head[6], head[7]]);
        return Err(ReadError::byte(
            6,
            format!("version {version} of Ogawa is unknown; only 1 is"),
        ));
    }

    Group::at(bytes, number(&head[8..]), 8)
}

impl<'a> Group<'a> {
    /// The group at `offset`, to which the reference at byte `from` refers.
    fn at(bytes: &'a [u8], offset: u64, from: usize) -> Result<Self, ReadError> {
        let empty = Self {
            bytes,
            position: 0,
            len: 0,
        };
        if offset == 0 {
            return Ok(empty);
        }
        if offset & DATA != 0 {
            return Err(ReadError::byte(
                from,
                "data are stored where a group should be; the file is damaged, export it again",
            ));
        }

        let (position, rest) = counted(bytes, offset, from)?;
        let count = number(&bytes[position..]);
        if count > rest.len() as u64 / 8 {
            return Err(ReadError::byte(
                position,
                format!(
                    "a group of {count} children is announced, but {} bytes are left; the file is cut off or damaged, export it again",
                    rest.len()
                ),
            ));
        }

        Ok(Self {
            position,
            len: count as usize,
            ..empty
        })
    }

    /// Its position in the file, which is the same for no other group; 0 if it is empty.
    pub(super) fn position(&self) -> usize {
        self.position
    }

    /// How many children it has.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Child number `k` as a group.
    pub(super) fn group(&self, k: usize) -> Result<Self, ReadError> {
        let (reference, from) = self.reference(k)?;
        Self::at(self.bytes, reference, from)
    }

    /// Child number `k` as data.
    pub(super) fn data(&self, k: usize) -> Result<&'a [u8], ReadError> {
        Ok(&self.bytes[self.span(k)?])
    }

    /// A cursor over the data of child number `k` without the last `omitted` bytes, whose positions
    /// are those of the file.
    pub(super) fn cursor(&self, k: usize, omitted: usize) -> Result<Cursor<'a>, ReadError> {
        let span = self.span(k)?;
        let end = span.end.saturating_sub(omitted).max(span.start);
        let mut cursor = Cursor::of(&self.bytes[..end]);
        cursor.take(span.start, "what comes before")?;
        Ok(cursor)
    }

    /// A cursor over the last child, which holds the headers of the others; empty if it is none.
    pub(super) fn headers(&self, omitted: usize) -> Result<Cursor<'a>, ReadError> {
        match self.len.checked_sub(1) {
            Some(last) if self.reference(last)?.0 & DATA != 0 => self.cursor(last, omitted),
            _ => Ok(Cursor::of(&[])),
        }
    }

    /// Where the data of child number `k` are in the file.
    fn span(&self, k: usize) -> Result<Range<usize>, ReadError> {
        let (reference, from) = self.reference(k)?;
        if reference & DATA == 0 {
            return Err(ReadError::byte(
                from,
                "a group is stored where data should be; the file is damaged, export it again",
            ));
        }

        let offset = reference & !DATA;
        if offset == 0 {
            return Ok(0..0);
        }
        let (position, rest) = counted(self.bytes, offset, from)?;
        let length = number(&self.bytes[position..]);
        if length > rest.len() as u64 {
            return Err(ReadError::byte(
                position,
                format!(
                    "data of {length} bytes are announced, but {} are left; the file is cut off or damaged, export it again",
                    rest.len()
                ),
            ));
        }
        Ok(position + 8..position + 8 + length as usize)
    }

    /// The reference to child number `k`, and its own position.
    fn reference(&self, k: usize) -> Result<(u64, usize), ReadError> {
        if k >= self.len {
            return Err(ReadError::byte(
                self.position,
                format!(
                    "child {k} of a group of {} is missing; the file is damaged, export it again",
                    self.len
                ),
            ));
        }
        let from = self.position + 8 + 8 * k;
        Ok((number(&self.bytes[from..]), from))
    }
}

/// The position of the count at `offset`, and the bytes after the count.
fn counted(bytes: &[u8], offset: u64, from: usize) -> Result<(usize, &[u8]), ReadError> {
    let position = usize::try_from(offset).ok();
    let rest = position.and_then(|at| bytes.get(at.checked_add(8)?..));
    position.zip(rest).ok_or_else(|| {
        ReadError::byte(
            from,
            format!(
                "a reference to byte {offset} leads beyond the {} bytes of the file; it is cut off or damaged, export it again",
                bytes.len()
            ),
        )
    })
}

/// The first eight bytes as a number.
fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes were checked"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(root: u64, rest: &[u64]) -> Vec<u8> {
        let numbers = rest.iter().flat_map(|n| n.to_le_bytes());
        HEAD.into_iter()
            .chain(root.to_le_bytes())
            .chain(numbers)
            .collect()
    }

    #[test]
    fn children_are_found_at_their_offsets() {
        let bytes = file(16, &[3, 0, DATA, DATA | 48, 8, 7]);
        let root = open(&bytes).unwrap();
        assert_eq!((root.len(), root.group(0).unwrap().len()), (3, 0));
        assert_eq!(root.data(1).unwrap(), b"");
        assert_eq!(root.data(2).unwrap(), 7_u64.to_le_bytes());
        assert!(root.data(0).unwrap_err().message.contains("a group is"));
        assert!(root.group(2).unwrap_err().message.contains("data are"));
        assert!(root.data(3).unwrap_err().message.contains("child 3"));
    }

    #[test]
    fn counts_and_offsets_beyond_the_file_are_rejected() {
        for (bytes, words) in [
            (file(16, &[u64::MAX / 8]), "children is announced"),
            (file(u64::MAX >> 1, &[]), "beyond the 16 bytes"),
            (file(20, &[]), "beyond the 16 bytes"),
        ] {
            let error = open(&bytes).unwrap_err();
            assert!(error.message.contains(words), "{error}");
        }

        let bytes = file(16, &[1, DATA | 24, u64::MAX]);
        let error = open(&bytes).unwrap().data(0).unwrap_err();
        assert!(error.message.contains("data of"), "{error}");
    }

    #[test]
    fn files_of_another_kind_are_named() {
        for (bytes, words) in [
            (&b"\x89HDF\r\n\x1a\n"[..], "HDF5"),
            (b"glTF", "does not begin with 'Ogawa'"),
            (b"Ogawa\xff", "ends inside its head"),
            (b"Ogawa\0\0\x01\0\0\0\0\0\0\0\0", "did not complete it"),
            (b"Ogawa\xff\0\x02\0\0\0\0\0\0\0\0", "version 2"),
        ] {
            let error = open(bytes).unwrap_err();
            assert!(error.message.contains(words), "{error}");
        }
    }
}
