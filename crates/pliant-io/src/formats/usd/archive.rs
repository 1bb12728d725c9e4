//! Reader of USD archives (`.usdz`): layers and textures in one zip file.
//!
//! **Format.** A zip archive without compression and encryption; its first layer is the root. An
//! archive without a layer may hold another archive as its first file.
//!
//! **Source.** OpenUSD, "Usdz File Format Specification"; PKWARE, "ZIP File Format Specification".
//!
//! **Departures.** Compressed and encrypted entries, and archives beyond 4 GiB, are declined. No
//! more than twice the size of the archive is read, so that entries that overlap cannot multiply it.

use std::cell::Cell;

use crate::parse::binary::Cursor;
use crate::{FileProvider, IoError, ReadError};

/// How an archive begins.
pub(super) const MAGIC: &[u8] = b"PK\x03\x04";

/// *Chosen*: how deep archives may lie in each other. OpenUSD's own examples go one deep.
const DEEPEST: usize = 4;

/// An archive with the list of its entries.
pub(super) struct Archive<'a> {
    bytes: &'a [u8],
    entries: Vec<Entry>,
    /// How many bytes may still be taken out of it.
    left: Cell<usize>,
}

/// A file in the archive.
struct Entry {
    name: String,
    /// Where its local header is.
    at: usize,
    size: usize,
    is_plain: bool,
}

impl<'a> Archive<'a> {
    /// The archive of the root layer: that of these bytes, or one that it holds.
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, ReadError> {
        let mut archive = Self::of(bytes)?;
        for _ in 0..DEEPEST {
            let first = archive.entries.first().filter(|entry| {
                archive.root().is_err() && entry.name.to_lowercase().ends_with(".usdz")
            });
            let Some(inner) = first.map(|entry| archive.content(entry)) else {
                break;
            };
            archive = Self::of(inner?)?;
        }
        Ok(archive)
    }

    fn of(bytes: &'a [u8]) -> Result<Self, ReadError> {
        let (count, at) = directory(bytes)?;
        let mut cursor = Cursor::of(bytes);
        cursor.take(at, "the directory of the archive")?;
        let mut entries = Vec::new();
        for _ in 0..count {
            entries.push(entry(&mut cursor)?);
        }

        Ok(Self {
            bytes,
            entries,
            left: Cell::new(bytes.len().saturating_mul(2)),
        })
    }

    /// The name of the root layer.
    pub(super) fn root(&self) -> Result<&str, ReadError> {
        let is_layer = |entry: &&Entry| {
            let ending = entry.name.rsplit('.').next().unwrap_or_default();
            ["usd", "usda", "usdc"]
                .iter()
                .any(|known| ending.eq_ignore_ascii_case(known))
        };
        let root = self.entries.iter().find(is_layer);
        root.map(|entry| entry.name.as_str()).ok_or_else(|| {
            ReadError::whole("the archive holds no .usd, .usda or .usdc file; it is no USD archive")
        })
    }

    /// The bytes of the entry `name`; `None` if there is none.
    pub(super) fn entry(&self, name: &str) -> Option<Result<&'a [u8], ReadError>> {
        let entry = self.entries.iter().find(|entry| entry.name == name)?;
        Some(self.content(entry))
    }

    fn content(&self, entry: &Entry) -> Result<&'a [u8], ReadError> {
        let what = format!("'{}' in the archive", entry.name.escape_debug());
        if !entry.is_plain {
            return Err(ReadError::byte(
                entry.at,
                format!("{what} is compressed or encrypted; pack the archive again with usdzip"),
            ));
        }

        let left = self.left.get().checked_sub(entry.size);
        self.left.set(left.ok_or_else(|| {
            ReadError::whole("the files in the archive overlap; pack it again with usdzip")
        })?);

        let mut cursor = Cursor::of(self.bytes);
        cursor.take(entry.at, &what)?;
        let header: [u8; 30] = cursor.array(&what)?;
        if !header.starts_with(MAGIC) {
            return Err(ReadError::byte(
                entry.at,
                format!("{what} is not where the directory says; the archive is damaged"),
            ));
        }
        cursor.take(word(&header, 26) + word(&header, 28), &what)?;
        cursor.take(entry.size, &what)
    }
}

impl FileProvider for Archive<'_> {
    fn read(&self, uri: &str) -> Result<Vec<u8>, IoError> {
        // Other providers decode `%25`, so that callers encode it.
        match self.entry(&uri.replace("%25", "%")) {
            Some(content) => content
                .map(<[u8]>::to_vec)
                .map_err(|error| error.in_file("the archive")),
            None => Err(IoError::Missing { path: uri.into() }),
        }
    }
}

/// The number of entries and the offset of the directory, from the record at the end.
fn directory(bytes: &[u8]) -> Result<(usize, usize), ReadError> {
    const RECORD_BYTES: usize = 22;
    const LONGEST_COMMENT: usize = u16::MAX as usize;

    let from = bytes.len().saturating_sub(RECORD_BYTES + LONGEST_COMMENT);
    let tail = &bytes[from..];
    let record = tail
        .windows(RECORD_BYTES)
        .rfind(|window| window.starts_with(b"PK\x05\x06"));
    let Some(record) = record else {
        return Err(ReadError::byte(
            bytes.len(),
            "the archive has no directory at its end; it is cut off, copy it again",
        ));
    };

    let at = long(record, 16);
    if at > bytes.len() {
        return Err(ReadError::byte(
            bytes.len(),
            format!(
                "the directory of the archive is at byte {at}, beyond the end; it is cut off, copy it again"
            ),
        ));
    }
    Ok((word(record, 10), at))
}

/// The next entry of the directory.
fn entry(cursor: &mut Cursor<'_>) -> Result<Entry, ReadError> {
    const ENCRYPTED: usize = 1;

    let what = "the directory of the archive";
    let at = cursor.at();
    let header: [u8; 46] = cursor.array(what)?;
    if !header.starts_with(b"PK\x01\x02") {
        return Err(ReadError::byte(
            at,
            "the directory of the archive is damaged; copy or pack it again",
        ));
    }

    let name = cursor.take(word(&header, 28), what)?;
    cursor.take(word(&header, 30) + word(&header, 32), what)?;
    let size = long(&header, 24);
    let is_stored = word(&header, 10) == 0 && long(&header, 20) == size;
    Ok(Entry {
        name: String::from_utf8_lossy(name).into_owned(),
        at: long(&header, 42),
        size,
        is_plain: is_stored && word(&header, 8) & ENCRYPTED == 0,
    })
}

fn word(bytes: &[u8], at: usize) -> usize {
    usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
}

fn long(bytes: &[u8], at: usize) -> usize {
    word(bytes, at) | word(bytes, at + 2) << 16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An archive of stored entries.
    fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut directory = Vec::new();
        for (name, content) in entries {
            let size = (content.len() as u32).to_le_bytes();
            let length = (name.len() as u16).to_le_bytes();
            let at = (bytes.len() as u32).to_le_bytes();
            let about = [&[0; 12][..], &size, &size, &length, &[0; 2]].concat();

            directory.extend([b"PK\x01\x02\x0a\x00\x0a\x00", &about[..]].concat());
            directory.extend([&[0; 10][..], &at, name.as_bytes()].concat());
            bytes.extend([b"PK\x03\x04\x0a\x00", &about[..], name.as_bytes(), content].concat());
        }

        let count = (entries.len() as u16).to_le_bytes();
        let size = (directory.len() as u32).to_le_bytes();
        let at = (bytes.len() as u32).to_le_bytes();
        bytes.extend(directory);
        bytes.extend(
            [
                b"PK\x05\x06\0\0\0\0",
                &count[..],
                &count,
                &size,
                &at,
                &[0; 2],
            ]
            .concat(),
        );
        bytes
    }

    #[test]
    fn entries_are_found_by_name_and_the_first_layer_is_the_root() {
        let bytes = archive(&[
            ("a.png", b"image"),
            ("b.usdc", b"layer"),
            ("c.usda", b"other"),
        ]);
        let archive = Archive::open(&bytes).unwrap();
        assert_eq!(archive.root().unwrap(), "b.usdc");
        assert_eq!(archive.read("b.usdc").unwrap(), b"layer");
        assert_eq!(archive.read("a.png").unwrap(), b"image");
        assert!(
            archive
                .read("d")
                .unwrap_err()
                .to_string()
                .contains("does not exist")
        );
    }

    #[test]
    fn an_archive_in_an_archive_gives_its_root_but_not_without_end() {
        let mut bytes = archive(&[("b.usdc", b"layer")]);
        for _ in 0..DEEPEST {
            bytes = archive(&[("inner.usdz", &bytes)]);
            let inner = Archive::open(&bytes).unwrap();
            assert_eq!(inner.root().unwrap(), "b.usdc");
            assert_eq!(inner.read("b.usdc").unwrap(), b"layer");
        }
        bytes = archive(&[("inner.usdz", &bytes)]);
        assert!(Archive::open(&bytes).unwrap().root().is_err());
        let damaged = archive(&[("inner.usdz", b"no archive")]);
        assert!(Archive::open(&damaged).is_err());
    }

    #[test]
    fn damaged_archives_are_errors() {
        let bytes = archive(&[("b.usdc", b"layer")]);
        let message = |bytes: &[u8]| {
            let archive = Archive::open(bytes)?;
            archive.content(&archive.entries[0]).map(drop)
        };
        assert!(message(&bytes).is_ok());
        let cut = message(&bytes[..bytes.len() - 1]).unwrap_err();
        assert!(cut.message.contains("no directory at its end"), "{cut}");

        let directory = bytes.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
        let changed = |at: usize, byte: u8| {
            let mut bytes = bytes.clone();
            bytes[directory + at] = byte;
            message(&bytes).unwrap_err().message
        };
        assert!(changed(10, 8).contains("'b.usdc' in the archive is compressed"));
        assert!(changed(8, 1).contains("encrypted"));
        assert!(changed(27, 0x7f).contains("compressed"), "the sizes differ");
        assert!(changed(42, 3).contains("not where the directory says"));
        assert!(changed(0, 0).contains("directory of the archive is damaged"));
    }

    #[test]
    fn entries_that_overlap_cannot_multiply_the_archive() {
        let bytes = archive(&[("b.usdc", &[7; 1000])]);
        let archive = Archive::open(&bytes).unwrap();
        assert!(archive.read("b.usdc").is_ok() && archive.read("b.usdc").is_ok());
        let error = archive.read("b.usdc").unwrap_err().to_string();
        assert!(error.contains("overlap"), "{error}");
    }
}
