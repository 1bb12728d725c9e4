//! Whether an FBX file is whole.
//!
//! **Problem.** A file that is cut off between two of its sections is a scene of what is left: nodes
//! without meshes, meshes without connections.
//!
//! **Format.** A binary file is a list of records, each with the offset of its end, and an empty record
//! after the last one. A text has the sections `Objects` and `Connections`.

use crate::ReadError;

const MAGIC: &[u8] = b"Kaydara FBX Binary  \0\x1a\0";

/// From this version on, offsets have 64 bits.
const LONG_OFFSETS: u32 = 7500;

/// Rejects a file that ends before its last record.
pub(super) fn require_complete(bytes: &[u8]) -> Result<(), ReadError> {
    let cut_off = |at: usize| {
        ReadError::byte(
            at,
            "the file ends before its last section; it is cut off, export it again",
        )
    };
    if !bytes.starts_with(MAGIC) {
        let contains = |word: &[u8]| bytes.windows(word.len()).any(|w| w == word);
        // A scene of objects connects them, at least to its root.
        let is_cut = contains(b"Geometry:") && !contains(b"Connections:");
        return if is_cut {
            Err(cut_off(bytes.len()))
        } else {
            Ok(())
        };
    }

    let number = |at: usize, size: usize| {
        let digits = bytes.get(at..at + size)?;
        let value = digits.iter().rev().fold(0, |v, &b| v << 8 | u64::from(b));
        usize::try_from(value).ok()
    };
    let version = number(MAGIC.len(), 4).ok_or_else(|| cut_off(bytes.len()))?;
    let size = if version as u32 >= LONG_OFFSETS { 8 } else { 4 };
    let mut at = MAGIC.len() + 4;
    loop {
        match number(at, size) {
            Some(0) => return Ok(()),
            // Damage inside the list is for the parser, which reads more of it.
            Some(end) if end <= at => return Ok(()),
            Some(end) if end <= bytes.len() => at = end,
            _ => return Err(cut_off(at)),
        }
    }
}
