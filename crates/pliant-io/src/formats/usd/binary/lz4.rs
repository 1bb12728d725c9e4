//! Decompression of LZ4 blocks, as binary USD stores them.
//!
//! **Format.** A block is a sequence of literals and copies of earlier output. A token holds both
//! lengths in four bits each; 15 continues in further bytes. A copy has an offset of two bytes and
//! is four bytes longer than its length says. The last sequence has literals only. Binary USD puts
//! a count of chunks before it: 0 for one block, else each chunk has its size in four bytes.
//!
//! **Source.** Y. Collet, "LZ4 Block Format Description"; OpenUSD, `TfFastCompression`.

use crate::ReadError;
use crate::parse::binary::Cursor;

/// The greatest ratio of sizes that the format can reach: each further byte of a length adds 255.
const GREATEST_RATIO: usize = 255;

/// Whether `size` bytes can come from `compressed` bytes.
pub(super) fn is_possible(size: u64, compressed: usize) -> bool {
    // A short block may end in one long copy.
    size <= (compressed as u64).saturating_mul(GREATEST_RATIO as u64)
}

/// Decompresses chunks to at most `size` bytes, which are `what`.
pub(super) fn decompress(bytes: &[u8], size: usize, what: &str) -> Result<Vec<u8>, ReadError> {
    let mut cursor = Cursor::of(bytes);
    let [chunks] = cursor.array(what)?;
    let mut out = Vec::with_capacity(size.min(bytes.len().saturating_mul(4)));
    if chunks == 0 {
        let rest = cursor.left();
        block(cursor.take(rest, what)?, &mut out, size).map_err(|why| damaged(what, why))?;
    }
    for _ in 0..chunks {
        let length = u32::from_le_bytes(cursor.array(what)?);
        let chunk = cursor.take(length as usize, what)?;
        block(chunk, &mut out, size).map_err(|why| damaged(what, why))?;
    }

    Ok(out)
}

fn damaged(what: &str, why: &str) -> ReadError {
    ReadError::whole(format!(
        "{what} cannot be decompressed ({why}); the file is damaged, export it again"
    ))
}

/// Appends the output of one block; a copy may reach back only into this output.
fn block(bytes: &[u8], out: &mut Vec<u8>, size: usize) -> Result<(), &'static str> {
    const CUT_OFF: &str = "it is cut off";
    const TOO_LONG: &str = "it is longer than announced";

    let start = out.len();
    let mut rest = bytes;
    while let Some((&token, after)) = rest.split_first() {
        rest = after;
        let count = length(token >> 4, &mut rest).ok_or(CUT_OFF)?;
        let (literals, after) = rest.split_at_checked(count).ok_or(CUT_OFF)?;
        rest = after;
        if literals.len() > size - out.len() {
            return Err(TOO_LONG);
        }
        out.extend_from_slice(literals);
        if rest.is_empty() {
            break;
        }

        let (offset, after) = rest.split_first_chunk::<2>().ok_or(CUT_OFF)?;
        rest = after;
        let offset = usize::from(u16::from_le_bytes(*offset));
        let count = length(token & 15, &mut rest).ok_or(CUT_OFF)? + 4;
        if offset == 0 || offset > out.len() - start {
            return Err("a copy begins before its beginning");
        }
        if count > size - out.len() {
            return Err(TOO_LONG);
        }
        copy(out, offset, count);
    }

    Ok(())
}

/// Appends `count` bytes from `offset` bytes before the end. The ranges may overlap, which repeats
/// the last bytes.
fn copy(out: &mut Vec<u8>, offset: usize, count: usize) {
    let from = out.len() - offset;
    let mut left = count;
    while left > 0 {
        let step = left.min(out.len() - from);
        out.extend_from_within(from..from + step);
        left -= step;
    }
}

/// A length that begins with four bits; `None` if the block ends in it.
fn length(bits: u8, rest: &mut &[u8]) -> Option<usize> {
    let mut length = usize::from(bits);
    if bits < 15 {
        return Some(length);
    }
    loop {
        let (&next, after) = rest.split_first()?;
        *rest = after;
        length += usize::from(next);
        if next < u8::MAX {
            return Some(length);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_and_overlapping_copies_are_joined() {
        // "ab", then six bytes from two bytes back, then "c".
        let bytes = [0, 0x22, b'a', b'b', 2, 0, 0x10, b'c'];
        assert_eq!(decompress(&bytes, 100, "a block").unwrap(), b"ababababc");

        // The same in a list of one chunk.
        let mut chunked = vec![1, 7, 0, 0, 0];
        chunked.extend_from_slice(&bytes[1..]);
        assert_eq!(decompress(&chunked, 9, "a block").unwrap(), b"ababababc");
    }

    #[test]
    fn long_lengths_continue_in_further_bytes() {
        let mut bytes = vec![0, 0xf0, 255, 0];
        bytes.extend(std::iter::repeat_n(b'x', 270));
        assert_eq!(decompress(&bytes, 270, "a block").unwrap(), [b'x'; 270]);
        assert!(is_possible(270, bytes.len()) && !is_possible(1 << 40, bytes.len()));
    }

    #[test]
    fn damaged_blocks_are_errors() {
        let message = |bytes: &[u8], size| decompress(bytes, size, "a block").unwrap_err().message;
        let good = [0, 0x22, b'a', b'b', 2, 0, 0x10, b'c'];
        assert!(message(&good[..3], 100).contains("cut off"));
        assert!(message(&good[..5], 100).contains("cut off"));
        assert!(message(&good, 5).contains("longer than announced"));
        assert!(message(&[0, 0x12, b'a', 2, 0], 100).contains("before its beginning"));
        assert!(message(&[0, 0xf0, 255], 100).contains("cut off"));
        assert!(message(&[], 100).contains("cut off"));
    }
}
