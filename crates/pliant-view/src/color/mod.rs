//! Colours: linear light in computations, sRGB bytes in files, OKLab for perceptually even steps.
//!
//! **Equation.** sRGB decodes a byte `b/255 = s` to `s / 12.92` below 0.04045 and to `((s + 0.055)
//! / 1.055)^2.4` above. OKLab is linear in the cubes of its cone responses, so that going from
//! OKLab to light needs products only.
//!
//! **Source.** IEC 61966-2-1 (sRGB); B. Ottosson, "A perceptual color space for image processing",
//! 2020 (OKLab).
//!
//! **Departures.** Light is encoded by comparison with the 255 decoded half-way points between bytes.
//! Rounding is exact and the same on every platform.

mod color_map;
mod fifth_root;

use std::sync::OnceLock;

use glam::Vec3;

pub use self::color_map::{ColorMap, ScalarRange};
use self::fifth_root::fifth_root;

/// A colour in linear light, red, green and blue; 1 is the white of the screen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Color(pub Vec3);

impl Color {
    /// White.
    pub const WHITE: Self = Self(Vec3::ONE);
    /// Black.
    pub const BLACK: Self = Self(Vec3::ZERO);

    /// A colour by its sRGB bytes, as in `#d6b49e`.
    #[must_use]
    pub fn srgb8(red: u8, green: u8, blue: u8) -> Self {
        let linear = &tables().linear_of_byte;
        Self(Vec3::new(
            linear[red as usize],
            linear[green as usize],
            linear[blue as usize],
        ))
    }

    /// A colour by its sRGB components between 0 and 1, as mesh files give them.
    #[must_use]
    pub fn srgb(components: [f64; 3]) -> Self {
        let [r, g, b] = components.map(|s| decode(s.clamp(0.0, 1.0)) as f32);
        Self(Vec3::new(r, g, b))
    }

    /// A colour by lightness and the two opponent axes of OKLab, clipped to what a screen shows.
    #[must_use]
    pub fn oklab(lightness: f64, a: f64, b: f64) -> Self {
        let cone = |p: f64, q: f64| {
            let root = lightness + p * a + q * b;
            root * root * root
        };
        // The inverse matrices of Ottosson 2020.
        let l = cone(0.396_337_777_4, 0.215_803_757_3);
        let m = cone(-0.105_561_345_8, -0.063_854_172_8);
        let s = cone(-0.089_484_177_5, -1.291_485_548);
        let red = 4.076_741_662_1 * l - 3.307_711_591_3 * m + 0.230_969_929_2 * s;
        let green = -1.268_438_004_6 * l + 2.609_757_401_1 * m - 0.341_319_396_5 * s;
        let blue = -0.004_196_086_3 * l - 0.703_418_614_7 * m + 1.707_614_701 * s;

        Self(Vec3::new(red as f32, green as f32, blue as f32).clamp(Vec3::ZERO, Vec3::ONE))
    }

    /// The nearest sRGB bytes.
    #[must_use]
    pub fn to_srgb8(self) -> [u8; 3] {
        let tables = tables();
        self.0.to_array().map(|x| tables.encode(x))
    }

    /// The linear interpolation of two colours in linear light; `t` is the fraction of `other`.
    #[must_use]
    pub fn mix(self, other: Self, t: f32) -> Self {
        Self(self.0 + (other.0 - self.0) * t)
    }
}

/// sRGB component to linear light.
fn decode(s: f64) -> f64 {
    if s <= 0.04045 {
        return s / 12.92;
    }
    let x = (s + 0.055) / 1.055;
    x * x * fifth_root(x * x)
}

/// Cells of the table that starts the search for a byte.
const ENCODE_CELLS: usize = 4096;

struct Tables {
    linear_of_byte: [f32; 256],
    /// `half_way[b]` lies between bytes `b − 1` and `b`; the first is below all light.
    half_way: [f32; 257],
    /// The byte of each cell's lower end.
    first_byte: Vec<u8>,
}

fn tables() -> &'static Tables {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    TABLES.get_or_init(|| {
        let linear_of_byte = std::array::from_fn(|b| decode(b as f64 / 255.0) as f32);
        let mut half_way: [f32; 257] =
            std::array::from_fn(|b| decode((b as f64 - 0.5).max(0.0) / 255.0) as f32);
        half_way[0] = f32::NEG_INFINITY;
        half_way[256] = f32::INFINITY;

        // A table of first guesses makes the search for a byte short.
        let byte_of = |x: f32| (half_way.partition_point(|&h| h <= x) - 1) as u8;
        let first_byte = (0..=ENCODE_CELLS)
            .map(|k| byte_of(k as f32 / ENCODE_CELLS as f32))
            .collect();

        Tables {
            linear_of_byte,
            half_way,
            first_byte,
        }
    })
}

impl Tables {
    fn encode(&self, x: f32) -> u8 {
        let x = if x > 0.0 { x.min(1.0) } else { 0.0 }; // Also takes NaN to black.
        let mut byte = self.first_byte[(x * ENCODE_CELLS as f32) as i32 as usize] as usize;
        while self.half_way[byte + 1] <= x {
            byte += 1;
        }
        byte as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_survives_a_round_trip_through_linear_light() {
        for b in 0..=255 {
            assert_eq!(Color::srgb8(b, b, b).to_srgb8(), [b; 3]);
        }
    }

    #[test]
    fn encoding_rounds_to_the_nearest_byte_and_clamps() {
        for k in 0..=10_000 {
            let x = f64::from(k) / 10_000.0;
            let curve = if x <= 0.003_130_8 {
                12.92 * x
            } else {
                1.055 * x.powf(1.0 / 2.4) - 0.055
            };
            let byte = Color(Vec3::splat(x as f32)).to_srgb8()[0];
            assert!((f64::from(byte) - 255.0 * curve).abs() < 0.501, "{x}");
        }
        assert_eq!(
            Color(Vec3::new(-1.0, 7.0, f32::NAN)).to_srgb8(),
            [0, 255, 0]
        );
    }

    #[test]
    fn grey_in_oklab_is_the_cube_of_its_lightness() {
        let grey = Color::oklab(0.5, 0.0, 0.0).0;
        assert!(
            (grey - Vec3::splat(0.125)).abs().max_element() < 1e-5,
            "{grey}"
        );
    }
}
