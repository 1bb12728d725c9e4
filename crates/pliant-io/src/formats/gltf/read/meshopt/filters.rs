//! Filters: rows of integers as unit vectors, quaternions, colours and floating-point numbers.

/// Applies a filter to rows of `stride` bytes.
pub(super) fn filter(name: &str, bytes: &mut [u8], stride: usize) -> Result<(), String> {
    match (name, stride) {
        ("NONE", _) => {}
        ("OCTAHEDRAL", 4) => bytes.chunks_exact_mut(4).for_each(octahedral_bytes),
        ("OCTAHEDRAL", 8) => bytes.chunks_exact_mut(8).for_each(octahedral_shorts),
        ("QUATERNION", 8) => bytes.chunks_exact_mut(8).for_each(quaternion),
        ("COLOR", 4) => bytes.chunks_exact_mut(4).for_each(color_bytes),
        ("COLOR", 8) => bytes.chunks_exact_mut(8).for_each(color_shorts),
        ("EXPONENTIAL", _) if stride.is_multiple_of(4) => {
            bytes.chunks_exact_mut(4).for_each(exponential);
        }
        (other, _) => {
            return Err(format!(
                "its filter '{other}' does not apply to rows of {stride} bytes"
            ));
        }
    }
    Ok(())
}

/// A unit vector of length `greatest` from a point on the octahedron; `one` is its scale.
fn unfold(x: f32, y: f32, one: f32, greatest: f32) -> [f32; 3] {
    let (x, y) = (x / one, y / one);
    let z = 1.0 - x.abs() - y.abs();
    let fold = (-z).max(0.0);
    let x = x - fold.copysign(x);
    let y = y - fold.copysign(y);
    let scale = greatest / (x * x + y * y + z * z).sqrt();
    [x, y, z].map(|c| (c * scale).round())
}

fn octahedral_bytes(row: &mut [u8]) {
    let [x, y, one] = [0, 1, 2].map(|k| f32::from(row[k] as i8));
    for (byte, value) in row.iter_mut().zip(unfold(x, y, one, 127.0)) {
        *byte = value as i8 as u8;
    }
}

fn octahedral_shorts(row: &mut [u8]) {
    let [x, y, one] = [0, 1, 2].map(|k| f32::from(short(row, k)));
    for (k, value) in unfold(x, y, one, 32767.0).into_iter().enumerate() {
        set_short(row, k, value);
    }
}

fn quaternion(row: &mut [u8]) {
    let scale = short(row, 3);
    let one = f32::from(scale | 3) * std::f32::consts::SQRT_2;
    let [x, y, z] = [0, 1, 2].map(|k| f32::from(short(row, k)) / one);
    let w = (1.0 - x * x - y * y - z * z).max(0.0).sqrt();
    let largest = (scale & 3) as usize;
    for (k, value) in [w, x, y, z].into_iter().enumerate() {
        set_short(row, (largest + k) % 4, (value * 32767.0).round());
    }
}

fn exponential(word: &mut [u8]) {
    let packed = i32::from_le_bytes([word[0], word[1], word[2], word[3]]);
    let (mantissa, exponent) = (packed << 8 >> 8, packed >> 24);
    let value = (f64::from(mantissa) * 2_f64.powi(exponent)) as f32;
    word.copy_from_slice(&value.to_le_bytes());
}

fn short(row: &[u8], k: usize) -> i16 {
    i16::from_le_bytes([row[2 * k], row[2 * k + 1]])
}

fn set_short(row: &mut [u8], k: usize, value: f32) {
    row[2 * k..2 * k + 2].copy_from_slice(&(value as i16).to_le_bytes());
}

/// RGBA from luma, two chroma differences and alpha, all relative to the scale whose highest bit is that
/// of alpha.
fn color(luma: i32, orange: i32, green: i32, alpha: i32, greatest: f32) -> [f32; 4] {
    // All bits up to the highest one of alpha.
    let scale = (1_i32 << (32 - alpha.leading_zeros())) - 1;
    let opacity = (alpha << 1 & scale) | (alpha & 1);
    let rgba = [
        luma + orange - green,
        luma + green,
        luma - orange - green,
        opacity,
    ];
    rgba.map(|value| match scale {
        0 => 0.0,
        _ => (value as f32 * (greatest / scale as f32) + 0.5)
            .floor()
            .clamp(0.0, greatest),
    })
}

fn color_bytes(row: &mut [u8]) {
    let [orange, green] = [row[1], row[2]].map(|byte| i32::from(byte as i8));
    let [luma, alpha] = [row[0], row[3]].map(i32::from);
    for (byte, value) in row.iter_mut().zip(color(luma, orange, green, alpha, 255.0)) {
        *byte = value as u8;
    }
}

fn color_shorts(row: &mut [u8]) {
    let [orange, green] = [1, 2].map(|k| i32::from(short(row, k)));
    let [luma, alpha] = [0, 3].map(|k| i32::from(short(row, k) as u16));
    let values = color(luma, orange, green, alpha, 65535.0);
    for (bytes, value) in row.chunks_exact_mut(2).zip(values) {
        bytes.copy_from_slice(&(value as u16).to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_give_unit_vectors_unit_quaternions_and_powers_of_two() {
        let mut row = [(-64_i8) as u8, 100, 127, 9];
        octahedral_bytes(&mut row);
        let [x, y, z] = [0, 1, 2].map(|k| f32::from(row[k] as i8) / 127.0);

        assert!(((x * x + y * y + z * z).sqrt() - 1.0).abs() < 0.01 && row[3] == 9);
        let mut row: Vec<u8> = [3000_i16, -200, 100, 32766]
            .iter()
            .flat_map(|s| s.to_le_bytes())
            .collect();

        quaternion(&mut row);
        let norm: f32 = (0..4)
            .map(|k| (f32::from(short(&row, k)) / 32767.0).powi(2))
            .sum();

        assert!((norm - 1.0).abs() < 1e-4);
        let mut word = ((-3_i32) << 24 | 24).to_le_bytes();
        exponential(&mut word);

        assert_eq!(f32::from_le_bytes(word), 3.0);
    }

    /// Luma, chroma and alpha with scales of 8 and 5 bits, by hand.
    #[test]
    fn colours_come_from_luma_and_chroma_at_the_scale_of_alpha() {
        // An opaque colour at full scale: alpha 255, of which the highest bit only marks the scale.
        let mut row = [100, 20, (-10_i8) as u8, 255];
        color_bytes(&mut row);
        assert_eq!(row, [130, 90, 90, 255]);

        // Half the scale: everything doubles.
        let mut row = [50, 10, (-5_i8) as u8, 127];
        color_bytes(&mut row);
        assert_eq!(row, [131, 90, 90, 255]);

        let mut row = [0; 4];
        color_bytes(&mut row);
        assert_eq!(row, [0; 4]);
    }
}
