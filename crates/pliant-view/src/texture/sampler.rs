//! The look-up of a texture: transformation, wrapping, interpolation, the level of a footprint.

use glam::{Vec2, Vec4};

use super::mipmap::Level;
use super::{TextureMap, TextureWrap};

/// Chosen: the most probes along the longer axis of a footprint.
const MOST_PROBES: f32 = 8.0;

/// A position on a texture and its change over a pixel to the right and down.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Footprint {
    pub(crate) uv: Vec2,
    pub(crate) right: Vec2,
    pub(crate) down: Vec2,
}

impl TextureMap {
    /// The mean of the texture over a footprint, whose V points up as in meshes.
    pub(crate) fn sample(&self, footprint: &Footprint) -> Vec4 {
        // Images run from the top left.
        let downward = |uv: Vec2| Vec2::new(uv.x, 1.0 - uv.y);
        let flipped = |step: Vec2| Vec2::new(step.x, -step.y);
        let uv = self.linear * downward(footprint.uv) + self.offset;
        let right = self.linear * flipped(footprint.right);
        let down = self.linear * flipped(footprint.down);
        if !uv.is_finite() {
            return Vec4::ONE;
        }

        // Axes of the footprint in texels.
        let [width, height] = self.texture.size();
        let size = Vec2::new(width as f32, height as f32);
        let across = (right * size).length();
        let along = (down * size).length();
        let (long, step) = if across > along {
            (across, right)
        } else {
            (along, down)
        };
        let short = across.min(along).max(long / MOST_PROBES);
        if !long.is_finite() {
            return self.texel_of_coarsest();
        }

        let probes = (long / short.max(1.0)).ceil().clamp(1.0, MOST_PROBES);
        let level = coarse_log2(short);
        let count = probes as usize;
        let mut sum = Vec4::ZERO;
        for k in 0..count {
            let t = (k as f32 + 0.5) / probes - 0.5;
            sum += self.between_levels(uv + step * t, level);
        }
        sum / probes
    }

    fn texel_of_coarsest(&self) -> Vec4 {
        let last = self.texture.levels.last().expect("a texture has a level");
        last.texel(0, 0, self.texture.encoding)
    }

    /// The interpolation between the two levels next to a fractional one.
    fn between_levels(&self, uv: Vec2, level: f32) -> Vec4 {
        let levels = &self.texture.levels;
        let level = level.clamp(0.0, (levels.len() - 1) as f32);
        let lower = level as usize;
        let t = level - lower as f32;
        let fine = self.at_level(uv, &levels[lower]);
        match levels.get(lower + 1) {
            Some(coarser) if t > 0.0 => fine + (self.at_level(uv, coarser) - fine) * t,
            _ => fine,
        }
    }

    /// Bilinear interpolation in a level, or the nearest texel.
    fn at_level(&self, uv: Vec2, level: &Level) -> Vec4 {
        let encoding = self.texture.encoding;
        let x = uv.x * level.width as f32;
        let y = uv.y * level.height as f32;
        let column = |x: f32| wrapped(x, level.width, self.wrap[0]);
        let row = |y: f32| wrapped(y, level.height, self.wrap[1]);
        if self.nearest {
            return level.texel(column(x.floor()), row(y.floor()), encoding);
        }

        let x0 = (x - 0.5).floor();
        let y0 = (y - 0.5).floor();
        let tx = x - 0.5 - x0;
        let ty = y - 0.5 - y0;
        let columns = [column(x0), column(x0 + 1.0)];
        let rows = [row(y0), row(y0 + 1.0)];
        let line = |row: usize| {
            let [a, b] = columns.map(|column| level.texel(column, row, encoding));
            a + (b - a) * tx
        };
        let [upper, lower] = rows.map(line);
        upper + (lower - upper) * ty
    }
}

/// The index of a whole coordinate along a side of `count` texels.
fn wrapped(coordinate: f32, count: usize, wrap: TextureWrap) -> usize {
    // Casts saturate, so that any coordinate gives some index.
    let k = coordinate as i64;
    let count = count as i64;
    let index = match wrap {
        TextureWrap::Repeat => k.rem_euclid(count),
        TextureWrap::Clamp => k.clamp(0, count - 1),
        TextureWrap::Mirror => {
            let k = k.rem_euclid(2 * count);
            k.min(2 * count - 1 - k)
        }
    };
    index as usize
}

/// The binary logarithm, linear between powers of two; exact at them.
fn coarse_log2(x: f32) -> f32 {
    if x <= 1.0 {
        return 0.0;
    }
    let bits = x.to_bits();
    let exponent = (bits >> 23) as i32 - 127;
    let mantissa = f32::from_bits(bits & 0x007f_ffff | 0x3f80_0000);
    exponent as f32 + (mantissa - 1.0)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{TexelEncoding, Texture};

    /// Four texels in a row: 0, 50, 100, 150.
    fn ramp(wrap: TextureWrap) -> TextureMap {
        let texels = (0..4).map(|k| [50 * k, 0, 0, 255]).collect();
        let texture = Texture::from_rgba8([4, 1], texels, TexelEncoding::Linear).unwrap();
        TextureMap {
            wrap: [wrap; 2],
            ..TextureMap::new(Arc::new(texture))
        }
    }

    fn at(map: &TextureMap, u: f32, step: f32) -> f32 {
        let sampled = map.sample(&Footprint {
            uv: Vec2::new(u, 0.5),
            right: Vec2::new(step, 0.0),
            down: Vec2::new(0.0, step),
        });
        sampled.x * 255.0
    }

    #[test]
    fn texels_are_interpolated_and_wrapped() {
        let close = |a: f32, b: f32| assert!((a - b).abs() < 0.01, "{a} {b}");
        let repeat = ramp(TextureWrap::Repeat);
        close(at(&repeat, 0.125, 0.01), 0.0);
        close(at(&repeat, 0.25, 0.01), 25.0);
        close(at(&repeat, 1.125 + 0.25, 0.01), 50.0);
        close(at(&repeat, 0.0, 0.01), 75.0);
        close(at(&ramp(TextureWrap::Clamp), 9.0, 0.01), 150.0);
        close(at(&ramp(TextureWrap::Mirror), 1.125, 0.01), 150.0);
        close(at(&ramp(TextureWrap::Mirror), -0.375, 0.01), 50.0);
    }

    #[test]
    fn a_wide_footprint_sees_the_mean() {
        let mean = at(&ramp(TextureWrap::Repeat), 0.3, 50.0);
        assert!((mean - 75.0).abs() < 1.0, "{mean}");
    }

    #[test]
    fn v_points_up_in_meshes_and_down_in_images() {
        let texels = vec![[255, 0, 0, 255], [0, 0, 0, 255]];
        let texture = Texture::from_rgba8([1, 2], texels, TexelEncoding::Linear).unwrap();
        let map = TextureMap::new(Arc::new(texture));
        let red_at = |v: f32| {
            let footprint = Footprint {
                uv: Vec2::new(0.5, v),
                right: Vec2::ZERO,
                down: Vec2::ZERO,
            };
            map.sample(&footprint).x
        };
        assert_eq!((red_at(0.75), red_at(0.25)), (1.0, 0.0));
    }
}
