//! Compressed lists of integers in binary USD.
//!
//! **Format.** Differences of neighbours are stored: first the most common difference, then a code
//! of two bits for each (0: the common one; 1, 2, 3: a signed integer of growing width), then the
//! integers of the other codes. The widths are 1, 2 and 4 bytes for 32-bit values and 2, 4 and 8
//! for 64-bit values. All of it is compressed by LZ4.
//!
//! **Source.** OpenUSD, `Usd_IntegerCompression` and `Usd_IntegerCompression64`.

use super::lz4;
use crate::ReadError;
use crate::parse::binary::Cursor;

/// The width of the values of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IntegerWidth {
    Bits32,
    Bits64,
}

impl IntegerWidth {
    /// The bytes of the common difference and of codes 1 to 3.
    fn sizes(self) -> [usize; 4] {
        match self {
            Self::Bits32 => [4, 1, 2, 4],
            Self::Bits64 => [8, 2, 4, 8],
        }
    }
}

/// The greatest number of integers that `compressed` bytes can hold.
pub(super) fn is_possible(count: u64, compressed: usize) -> bool {
    lz4::is_possible(count / 4, compressed)
}

/// `count` integers, which are `what`; the caller has bounded their number. Values of 32 bits wrap
/// around in 32 bits.
pub(super) fn decode(
    compressed: &[u8],
    count: usize,
    width: IntegerWidth,
    what: &str,
) -> Result<Vec<i64>, ReadError> {
    if count == 0 {
        return Ok(Vec::new());
    }

    let sizes = width.sizes();
    let codes = count.div_ceil(4);
    let greatest = sizes[0] + codes + sizes[3].saturating_mul(count);
    let bytes = lz4::decompress(compressed, greatest, what)?;

    let mut cursor = Cursor::of(&bytes);
    let common = signed(cursor.take(sizes[0], what)?);
    let codes = cursor.take(codes, what)?;
    let mut values = Vec::with_capacity(count);
    let mut value = 0_i64;
    for k in 0..count {
        let difference = match codes[k / 4] >> (2 * (k % 4)) & 3 {
            0 => common,
            code => signed(cursor.take(sizes[usize::from(code)], what)?),
        };
        value = value.wrapping_add(difference);
        if width == IntegerWidth::Bits32 {
            value = i64::from(value as i32);
        }
        values.push(value);
    }

    Ok(values)
}

/// A little-endian integer of up to eight bytes.
fn signed(bytes: &[u8]) -> i64 {
    let negative = bytes.last().is_some_and(|byte| *byte >= 0x80);
    let mut wide = [if negative { 0xff } else { 0 }; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    i64::from_le_bytes(wide)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block of literals only.
    fn stored(bytes: &[u8]) -> Vec<u8> {
        assert!(bytes.len() < 15);
        [&[0, (bytes.len() as u8) << 4][..], bytes].concat()
    }

    #[test]
    fn differences_are_summed() {
        // Common difference 123; the codes from the low bits: 1, 0, 2, 3, 0.
        let bytes = [123, 0, 0, 0, 0b11_10_00_01, 0, 0xff, 0x00, 0xff, 1, 0, 0, 0];
        let values = decode(&stored(&bytes), 5, IntegerWidth::Bits32, "indices").unwrap();
        assert_eq!(values, [-1, 122, 122 - 256, 123 - 256, 246 - 256]);
    }

    #[test]
    fn a_list_that_is_cut_off_is_an_error() {
        let bytes = [1, 0, 0, 0, 0b01, 5];
        let decode = |count, end: usize| {
            decode(
                &stored(&bytes[..end]),
                count,
                IntegerWidth::Bits32,
                "indices",
            )
        };
        assert_eq!(decode(4, 6).unwrap(), [5, 6, 7, 8]);
        assert!(decode(5, 6).unwrap_err().message.contains("indices"));
        assert!(decode(1, 5).unwrap_err().message.contains("cut off"));
        assert!(!is_possible(u64::MAX, 1000) && is_possible(0, 0));
    }
}
