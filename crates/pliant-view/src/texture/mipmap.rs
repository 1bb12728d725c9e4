//! Mipmaps: the pyramid of halved copies of a texture.

use glam::Vec4;
use pliant_linalg::parallel;

use super::TexelEncoding;
use crate::Color;

/// One copy of a texture.
#[derive(Debug, Clone)]
pub(super) struct Level {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) texels: Vec<[u8; 4]>,
}

impl Level {
    /// A texel in linear light, or as plain numbers between 0 and 1.
    #[inline]
    pub(super) fn texel(&self, x: usize, y: usize, encoding: TexelEncoding) -> Vec4 {
        decoded(self.texels[y * self.width + x], encoding)
    }
}

/// The levels from `base` to a single texel.
pub(super) fn pyramid(base: Level, encoding: TexelEncoding) -> Vec<Level> {
    let mut levels = vec![base];
    while let Some(last) = levels.last()
        && (last.width > 1 || last.height > 1)
    {
        levels.push(halved(last, encoding));
    }
    levels
}

/// Each texel is the mean of four; the last column or row of an odd size belongs to its neighbour
/// as well.
fn halved(level: &Level, encoding: TexelEncoding) -> Level {
    let width = level.width.div_ceil(2);
    let height = level.height.div_ceil(2);
    let rows = parallel::map(height, 16, |y| {
        let mut row = Vec::with_capacity(width);
        let below = (2 * y + 1).min(level.height - 1);
        for x in 0..width {
            let right = (2 * x + 1).min(level.width - 1);
            let four = [
                (2 * x, 2 * y),
                (right, 2 * y),
                (2 * x, below),
                (right, below),
            ];
            row.push(encoded(mean(level, four, encoding), encoding));
        }
        row
    });

    Level {
        width,
        height,
        texels: rows.into_iter().flatten().collect(),
    }
}

/// The mean of four texels, of colours by their opacity.
fn mean(level: &Level, four: [(usize, usize); 4], encoding: TexelEncoding) -> Vec4 {
    let texels = four.map(|(x, y)| level.texel(x, y, encoding));
    let plain: Vec4 = texels.iter().sum::<Vec4>() * 0.25;
    if encoding == TexelEncoding::Linear || plain.w <= 0.0 {
        return plain;
    }
    let weighted: Vec4 = texels.iter().map(|&texel| texel * texel.w).sum();
    (weighted.truncate() / (4.0 * plain.w)).extend(plain.w)
}

#[inline]
fn decoded([r, g, b, a]: [u8; 4], encoding: TexelEncoding) -> Vec4 {
    let alpha = f32::from(a) / 255.0;
    match encoding {
        TexelEncoding::Srgb => Color::srgb8(r, g, b).0.extend(alpha),
        TexelEncoding::Linear => {
            Vec4::new(f32::from(r), f32::from(g), f32::from(b), f32::from(a)) / 255.0
        }
    }
}

fn encoded(value: Vec4, encoding: TexelEncoding) -> [u8; 4] {
    let byte = |x: f32| (x * 255.0 + 0.5) as u8;
    match encoding {
        TexelEncoding::Srgb => {
            let [r, g, b] = Color(value.truncate()).to_srgb8();
            [r, g, b, byte(value.w)]
        }
        TexelEncoding::Linear => value.to_array().map(byte),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn black_and_white_average_in_linear_light_and_transparent_texels_do_not_bleed() {
        let base = |texels: Vec<[u8; 4]>| Level {
            width: 2,
            height: 2,
            texels,
        };
        let white = [255; 4];
        let black = [0, 0, 0, 255];
        let levels = pyramid(base(vec![white, black, black, white]), TexelEncoding::Srgb);
        assert_eq!(levels[1].texels, [[188, 188, 188, 255]]);

        let clear = [0; 4];
        let levels = pyramid(base(vec![white, clear, clear, clear]), TexelEncoding::Srgb);
        assert_eq!(levels[1].texels, [[255, 255, 255, 64]]);
    }
}
