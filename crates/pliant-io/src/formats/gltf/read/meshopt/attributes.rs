//! Rows of vertices: differences of bytes, in groups.
//!
//! **Format.** Rows come in blocks of at most 8192 bytes and 256 rows. In version 0, every byte of the rows
//! of a block has groups of 16 differences with 0, 2, 4 or 8 bits each. In version 1, two bits for each byte
//! say whether its groups have 0, 1, 2 or 4 bits, or 1, 2, 4 or 8, or all differences are zero, or follow as
//! they are; and a channel for each four bytes says whether they change by differences of bytes, of two bytes
//! or by the exclusive or of four. The first row, and the channels, are at the end.

use super::{Cursor, SHORT};

/// The greatest size of a block, in bytes and in rows.
const BLOCK_BYTES: usize = 8192;
const BLOCK_ROWS: usize = 256;
/// Values in a group.
const GROUP: usize = 16;

/// The bits of a group by its two bits in the header.
const BITS_V0: [usize; 4] = [0, 2, 4, 8];
const BITS_V1: [[usize; 4]; 2] = [[0, 1, 2, 4], [1, 2, 4, 8]];

/// How four bytes of a row follow from those of the row before.
#[derive(Clone, Copy)]
enum Channel {
    /// Differences of bytes.
    Bytes,
    /// Differences of two bytes.
    Shorts,
    /// The exclusive or of four bytes, rotated.
    Words { rotation: u32 },
}

pub(super) fn attributes(packed: &[u8], count: usize, stride: usize) -> Result<Vec<u8>, String> {
    if stride == 0 || stride > 256 || !stride.is_multiple_of(4) {
        return Err(format!(
            "its rows have {stride} bytes, not 4 to 256 in steps of 4"
        ));
    }

    let mut cursor = Cursor { rest: packed };
    let has_channels = match cursor.byte()? {
        0xa0 => false,
        0xa1 => true,
        _ => return Err("its attributes are not packed in version 0 or 1".into()),
    };

    let channel_bytes = if has_channels { stride / 4 } else { 0 };
    let least_tail = if has_channels { 24 } else { 32 };
    let tail = (stride + channel_bytes).max(least_tail);
    let body = cursor.rest.len().checked_sub(tail).ok_or(SHORT)?;

    let block_rows = ((BLOCK_BYTES / stride) & !(GROUP - 1)).min(BLOCK_ROWS);
    let least = if has_channels {
        // Even constant rows need two bits for each byte of a block.
        count.div_ceil(block_rows).saturating_mul(stride / 4)
    } else {
        // Even constant rows need two bits for each 16 values of each byte.
        count.div_ceil(GROUP).div_ceil(4).saturating_mul(stride)
    };
    if least > body {
        return Err(SHORT.into());
    }

    let (first, channels) =
        cursor.rest[cursor.rest.len() - stride - channel_bytes..].split_at(stride);
    let mut last = first.to_vec();
    let channels = channels_of(channels, stride)?;
    cursor.rest = &cursor.rest[..body];

    let mut bytes = vec![0; count * stride];
    let mut differences = vec![0; block_rows * stride];
    for block in bytes.chunks_mut(block_rows * stride) {
        let rows = block.len() / stride;
        let differences = &mut differences[..rows * stride];
        read_block(&mut cursor, differences, stride, has_channels)?;
        for (k, channel) in channels.iter().enumerate() {
            add_up(*channel, 4 * k, differences, &mut last, block);
        }
    }

    Ok(bytes)
}

fn channels_of(stored: &[u8], stride: usize) -> Result<Vec<Channel>, String> {
    if stored.is_empty() {
        return Ok(vec![Channel::Bytes; stride / 4]);
    }
    let channel = |byte: &u8| match byte & 3 {
        0 => Ok(Channel::Bytes),
        1 => Ok(Channel::Shorts),
        2 => Ok(Channel::Words {
            rotation: u32::from(byte >> 4),
        }),
        _ => Err("its rows change in an unknown way".into()),
    };
    stored.iter().map(channel).collect()
}

/// The differences of a block: all rows of the first byte, then of the second …
fn read_block(
    cursor: &mut Cursor<'_>,
    differences: &mut [u8],
    stride: usize,
    has_controls: bool,
) -> Result<(), String> {
    let rows = differences.len() / stride;
    let controls = cursor.take(if has_controls { stride / 4 } else { 0 })?;
    for (k, plane) in differences.chunks_exact_mut(rows).enumerate() {
        let control = controls.get(k / 4).map(|byte| byte >> (k % 4 * 2) & 3);
        match control {
            None => byte_plane(cursor, plane, BITS_V0)?,
            Some(2) => plane.fill(0),
            Some(3) => plane.copy_from_slice(cursor.take(rows)?),
            Some(bits) => byte_plane(cursor, plane, BITS_V1[usize::from(bits)])?,
        }
    }
    Ok(())
}

/// The differences of one byte of all rows, in groups.
fn byte_plane(cursor: &mut Cursor<'_>, plane: &mut [u8], bits: [usize; 4]) -> Result<(), String> {
    let groups = plane.len().div_ceil(GROUP);
    let widths = cursor.take(groups.div_ceil(4))?;
    for (k, group) in plane.chunks_mut(GROUP).enumerate() {
        let width = widths[k / 4] >> (k % 4 * 2) & 3;
        let values = group_of_bytes(cursor, bits[usize::from(width)])?;
        group.copy_from_slice(&values[..group.len()]);
    }
    Ok(())
}

/// The differences of a group.
fn group_of_bytes(cursor: &mut Cursor<'_>, bits: usize) -> Result<[u8; GROUP], String> {
    let mut values = [0; GROUP];
    match bits {
        0 => return Ok(values),
        8 => {
            values.copy_from_slice(cursor.take(GROUP)?);
            return Ok(values);
        }
        _ => {}
    }

    let packed = cursor.take(GROUP * bits / 8)?;
    // The greatest value means that the difference is stored separately.
    let escape = ((1_u16 << bits) - 1) as u8;
    for (k, value) in values.iter_mut().enumerate() {
        // Single bits begin with the lowest one, others with the highest.
        let in_byte = k * bits % 8;
        let shift = if bits == 1 {
            in_byte
        } else {
            8 - bits - in_byte
        };
        *value = packed[k * bits / 8] >> shift & escape;
        if *value == escape {
            *value = cursor.byte()?;
        }
    }

    Ok(values)
}

/// Bytes `at` to `at + 4` of every row of a block from their differences; `last` is the row before.
fn add_up(channel: Channel, at: usize, differences: &[u8], last: &mut [u8], block: &mut [u8]) {
    let stride = last.len();
    let rows = block.len() / stride;
    let last = &mut last[at..at + 4];
    for (row, bytes) in block.chunks_exact_mut(stride).enumerate() {
        let difference = [0, 1, 2, 3].map(|k| differences[(at + k) * rows + row]);
        match channel {
            Channel::Bytes => {
                for (last, difference) in last.iter_mut().zip(difference) {
                    *last = last.wrapping_add((difference >> 1) ^ (difference & 1).wrapping_neg());
                }
            }
            Channel::Shorts => {
                for (last, difference) in last.chunks_exact_mut(2).zip(difference.chunks_exact(2)) {
                    let [low, high] = [difference[0], difference[1]];
                    let difference = u16::from_le_bytes([low, high]);
                    let step = (difference >> 1) ^ (difference & 1).wrapping_neg();
                    let before = u16::from_le_bytes([last[0], last[1]]);
                    last.copy_from_slice(&before.wrapping_add(step).to_le_bytes());
                }
            }
            Channel::Words { rotation } => {
                let change = u32::from_le_bytes(difference).rotate_right(rotation);
                let before = u32::from_le_bytes([last[0], last[1], last[2], last[3]]);
                last.copy_from_slice(&(before ^ change).to_le_bytes());
            }
        }
        bytes[at..at + 4].copy_from_slice(last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 40 rows as the encoder of meshoptimizer 1.3.0 packs them in version 1, with a channel of each kind.
    const PACKED: &str = "a1797768ff2a0666666666666666666666666666666666666666000000000002060a0e12161a1e22262a2e32\
        363a3e42464a4e52565a5e62666a6e72767a7e82868a8e92969a151555555555555555555500000078787878\
        78787878787878787878787878787878787878787878787878787878787878787878782a0555555555555555\
        5555555555555555555555550000000000595959595959595959595959595959595959595959595959595959\
        595959595959595959595959152aaaaaaaaaaaaaaaaaaa00000100011f1a04c4f4c4f262e2621cfcf262e262\
        f13171311e3edddd00000f030703009d9d9d9d9d9d9d9d9d9d9d9d9d9d9d9d9d9d9d9d9d9d9d9d9d9d9d9d9d\
        9d9d9d9d9d9d9d9d9d9d00f2f4f4f2f4f4f2f4f4f2f4f4f2f4f4f4f2f4f4f2f4f4f2f4f4f2f4f4f4f2f4f4f2\
        f4f4f2f4f4f2006e6e706e706e706e706e706e706e706e706e706e6e706e706e706e706e706e706e706e706e\
        706e00c3c3c3c3c1c3c3c3c3c1c3c3c3c1c3c3c3c3c1c3c3c3c3c1c3c3c3c1c3c3c3c3c1c3c3c3c1c3c30000\
        0000000700ff000060ea0000803f0000000000016200";

    #[test]
    fn rows_of_version_1_are_those_that_another_encoder_packed() {
        let hex = |k: usize| u8::from_str_radix(&PACKED[k..k + 2], 16).unwrap();
        let packed: Vec<u8> = (0..PACKED.len()).step_by(2).map(hex).collect();

        let mut rows = Vec::new();
        for k in 0..40_u32 {
            rows.extend([(3 * k) as u8, 7, (k * k) as u8, (255 - k) as u8]);
            rows.extend(((700 * k) as u16).to_le_bytes());
            rows.extend(((60_000 - 301 * k) as u16).to_le_bytes());
            rows.extend((1.0 + k as f32 / 8.0).to_le_bytes());
            rows.extend(k.wrapping_mul(2_654_435_761).to_le_bytes());
        }
        assert_eq!(attributes(&packed, 40, 16).unwrap(), rows);

        for length in 0..packed.len() {
            assert!(
                attributes(&packed[..length], 40, 16).is_err(),
                "{length} bytes"
            );
        }
        assert!(attributes(&packed, 1 << 40, 16).is_err());
    }
}
