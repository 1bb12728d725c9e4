//! The 128-bit digest of samples: MurmurHash3 for 64-bit machines, with seed 0.
//!
//! **Problem.** Programs recognise equal samples by the digest before their bytes, and equal
//! objects by the digests of their properties.
//!
//! **Source.** Appleby, MurmurHash3, 2011 (public domain).

const C1: u64 = 0x87c3_7b91_1142_53d5;
const C2: u64 = 0x4cf5_ad43_2745_937f;

/// The digest of some bytes.
pub(super) fn digest(bytes: &[u8]) -> [u8; 16] {
    let mut h1 = 0_u64;
    let mut h2 = 0_u64;
    let mut blocks = bytes.chunks_exact(16);
    for block in &mut blocks {
        h1 ^= scramble(word(&block[..8]), C1, 31, C2);
        h1 = h1.rotate_left(27).wrapping_add(h2);
        h1 = h1.wrapping_mul(5).wrapping_add(0x52dc_e729);
        h2 ^= scramble(word(&block[8..]), C2, 33, C1);
        h2 = h2.rotate_left(31).wrapping_add(h1);
        h2 = h2.wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }

    let tail = blocks.remainder();
    h2 ^= scramble(word(tail.get(8..).unwrap_or_default()), C2, 33, C1);
    h1 ^= scramble(word(&tail[..tail.len().min(8)]), C1, 31, C2);

    h1 ^= bytes.len() as u64;
    h2 ^= bytes.len() as u64;
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    h1 = finish(h1);
    h2 = finish(h2);
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);

    let mut out = [0; 16];
    out[..8].copy_from_slice(&h1.to_le_bytes());
    out[8..].copy_from_slice(&h2.to_le_bytes());
    out
}

/// Up to eight bytes as a number; missing ones are zero.
fn word(bytes: &[u8]) -> u64 {
    let mut all = [0; 8];
    all[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(all)
}

fn scramble(k: u64, first: u64, rotation: u32, second: u64) -> u64 {
    k.wrapping_mul(first)
        .rotate_left(rotation)
        .wrapping_mul(second)
}

fn finish(mut k: u64) -> u64 {
    for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] {
        k ^= k >> 33;
        k = k.wrapping_mul(factor);
    }
    k ^ (k >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The digests are those that Blender's copy of the library wrote.
    #[test]
    fn digests_are_those_of_the_library() {
        let hex = |bytes: &[u8]| digest(bytes).map(|b| format!("{b:02x}")).concat();
        assert_eq!(digest(b""), [0; 16]);
        assert_eq!(hex(&[1]), "16fe7483905cce7a85670e43e4678877");
        assert_eq!(
            hex(&3_i32.to_le_bytes()),
            "3ba1d27b7fde4848a86e865c6c402dfa"
        );
        let counts: Vec<u8> = (0..9).flat_map(|_| 4_i32.to_le_bytes()).collect();
        assert_eq!(hex(&counts), "f01d2ad2acbaa6474e7e666e1c7925e5");
    }
}
