//! Colour maps for scalars: sequential and diverging, with the value of a colour.
//!
//! **Problem.** Show a scalar on a surface so that equal steps look equal, and so that each colour
//! belongs to one value.
//!
//! **Equation.** Both maps are paths through OKLab, where distance is close to perceived
//! difference. The sequential path climbs in lightness at a constant rate, `L = L₀ + (L₁ − L₀) t`,
//! which also keeps order in grey print. The diverging path is lightest in the middle and falls at
//! the same rate to both sides.
//!
//! **Source.** Lightness-linear paths: P. Kovesi, "Good colour maps: how to design them", 2015. The
//! paths are ours.
//!
//! **Departures.** The value of a colour is found by projection onto the path's polyline of 256 entries.

use std::sync::OnceLock;

use glam::Vec3;

use crate::Color;

/// A path of colours from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ColorMap {
    /// From dark indigo over teal to pale yellow: for quantities that start at nothing.
    #[default]
    Sequential,
    /// From blue over near-white to red: for quantities with a middle that means "none".
    Diverging,
}

/// Entries of a map's table.
const ENTRIES: usize = 256;

/// Control points in OKLab's plane of hue and chroma, evenly spaced along the path.
const SEQUENTIAL_HUES: [[f64; 2]; 7] = [
    [0.045, -0.13],
    [0.005, -0.145],
    [-0.055, -0.085],
    [-0.098, -0.012],
    [-0.102, 0.062],
    [-0.062, 0.125],
    [0.0, 0.13],
];
const SEQUENTIAL_LIGHTNESS: [f64; 2] = [0.27, 0.93];

/// Control points from the middle outwards: blue, then red.
const DIVERGING_COLD: [[f64; 2]; 4] = [
    [0.0, 0.004],
    [-0.032, -0.052],
    [-0.036, -0.118],
    [-0.006, -0.148],
];
const DIVERGING_WARM: [[f64; 2]; 4] =
    [[0.0, 0.004], [0.052, 0.046], [0.118, 0.078], [0.152, 0.072]];
const DIVERGING_LIGHTNESS: [f64; 2] = [0.95, 0.42];

impl ColorMap {
    /// The colour of NaN, infinite and missing values.
    #[must_use]
    pub fn neutral() -> Color {
        Color::srgb8(150, 150, 150)
    }

    /// The colour at `t`, clamped to 0…1; NaN is neutral grey.
    #[must_use]
    pub fn color(self, t: f64) -> Color {
        if t.is_nan() {
            return Self::neutral();
        }
        let table = self.table();
        let position = t.clamp(0.0, 1.0) * (ENTRIES - 1) as f64;
        let k = (position as usize).min(ENTRIES - 2);
        Color(table[k]).mix(Color(table[k + 1]), (position - k as f64) as f32)
    }

    /// The position on the map with the nearest colour: the inverse of [`ColorMap::color`].
    #[must_use]
    pub fn position_of(self, color: Color) -> f64 {
        let table = self.table();
        let mut best_distance = f32::INFINITY;
        let mut best_position = 0.0;

        // The nearest point of each segment of the polyline.
        for k in 0..ENTRIES - 1 {
            let step = table[k + 1] - table[k];
            let offset = color.0 - table[k];
            let along = (offset.dot(step) / step.length_squared()).clamp(0.0, 1.0);
            let distance = (offset - step * along).length_squared();

            if distance < best_distance {
                best_distance = distance;
                best_position = (k as f64 + f64::from(along)) / (ENTRIES - 1) as f64;
            }
        }

        best_position
    }

    fn table(self) -> &'static [Vec3] {
        static TABLES: OnceLock<[Vec<Vec3>; 2]> = OnceLock::new();
        let tables = TABLES.get_or_init(|| [tabulated(sequential), tabulated(diverging)]);
        match self {
            Self::Sequential => &tables[0],
            Self::Diverging => &tables[1],
        }
    }
}

fn tabulated(path: impl Fn(f64) -> Color) -> Vec<Vec3> {
    (0..ENTRIES)
        .map(|k| path(k as f64 / (ENTRIES - 1) as f64).0)
        .collect()
}

fn sequential(t: f64) -> Color {
    let [low, high] = SEQUENTIAL_LIGHTNESS;
    let [a, b] = spline(&SEQUENTIAL_HUES, t);
    Color::oklab(low + (high - low) * t, a, b)
}

fn diverging(t: f64) -> Color {
    // Both halves start at the middle.
    let away = (2.0 * t - 1.0).abs();
    let [middle, ends] = DIVERGING_LIGHTNESS;
    let half = if t < 0.5 {
        &DIVERGING_COLD
    } else {
        &DIVERGING_WARM
    };
    let [a, b] = spline(half, away);

    Color::oklab(middle + (ends - middle) * away, a, b)
}

/// The Catmull–Rom spline through evenly spaced points; the end points are doubled.
fn spline(points: &[[f64; 2]], t: f64) -> [f64; 2] {
    let last = points.len() - 1;
    let position = t * last as f64;
    let k = (position as usize).min(last - 1);
    let u = position - k as f64;
    let at = |i: isize| points[(k as isize + i).clamp(0, last as isize) as usize];
    std::array::from_fn(|c| {
        let [p, q, r, s] = [at(-1)[c], at(0)[c], at(1)[c], at(2)[c]];
        q + 0.5 * u * (r - p + u * (2.0 * p - 5.0 * q + 4.0 * r - s + u * (3.0 * (q - r) + s - p)))
    })
}

/// The values at the two ends of a colour map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScalarRange {
    /// The value of the map's first colour.
    pub low: f64,
    /// The value of the map's last colour.
    pub high: f64,
}

impl ScalarRange {
    /// From the least to the greatest finite value; 0 to 1 without any.
    #[must_use]
    pub fn of(values: &[f64]) -> Self {
        let finite = values.iter().copied().filter(|v| v.is_finite());
        let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
            (low.min(v), high.max(v))
        });

        if low <= high {
            Self { low, high }
        } else {
            Self {
                low: 0.0,
                high: 1.0,
            }
        }
    }

    /// The range widened to lie evenly about zero, for the diverging map.
    #[must_use]
    pub fn symmetric(self) -> Self {
        let reach = self.low.abs().max(self.high.abs());
        Self {
            low: -reach,
            high: reach,
        }
    }

    /// Where `value` lies between the ends, 0 to 1 inside; NaN for values that are not finite.
    #[must_use]
    pub fn position(self, value: f64) -> f64 {
        if !value.is_finite() {
            return f64::NAN;
        }
        let width = self.high - self.low;
        if width > 0.0 {
            (value - self.low) / width
        } else {
            0.5
        }
    }

    /// The value at a position between the ends.
    #[must_use]
    pub fn value(self, position: f64) -> f64 {
        self.low + (self.high - self.low) * position
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Light to OKLab's lightness, by the definition (cube roots of the cone responses).
    fn lightness(color: Color) -> f64 {
        let [r, g, b] = color.0.to_array().map(f64::from);
        let l = (0.412_221_470_8 * r + 0.536_332_536_3 * g + 0.051_445_992_9 * b).cbrt();
        let m = (0.211_903_498_2 * r + 0.680_699_545_1 * g + 0.107_396_956_6 * b).cbrt();
        let s = (0.088_302_461_9 * r + 0.281_718_837_6 * g + 0.629_978_700_5 * b).cbrt();
        0.210_454_255_3 * l + 0.793_617_785 * m - 0.004_072_046_8 * s
    }

    #[test]
    fn the_lightness_of_the_sequential_map_rises_at_a_constant_rate() {
        let [low, high] = SEQUENTIAL_LIGHTNESS;
        for k in 0..=50 {
            let t = f64::from(k) / 50.0;
            let error = lightness(ColorMap::Sequential.color(t)) - (low + (high - low) * t);
            assert!(error.abs() < 0.012, "lightness at {t} is off by {error}");
        }
    }

    #[test]
    fn the_diverging_map_is_equally_light_on_both_sides() {
        for k in 0..=50 {
            let t = f64::from(k) / 100.0;
            let difference = lightness(ColorMap::Diverging.color(t))
                - lightness(ColorMap::Diverging.color(1.0 - t));
            assert!(difference.abs() < 0.02, "{t}: {difference}");
        }
    }

    #[test]
    fn the_value_of_an_eight_bit_colour_is_found() {
        for map in [ColorMap::Sequential, ColorMap::Diverging] {
            for k in 0..=400 {
                let t = f64::from(k) / 400.0;
                let [r, g, b] = map.color(t).to_srgb8();
                let back = map.position_of(Color::srgb8(r, g, b));
                assert!(
                    (back - t).abs() < 1.0 / 128.0,
                    "{map:?} at {t} reads {back}"
                );
            }
        }
    }

    #[test]
    fn values_that_are_not_finite_are_grey() {
        let range = ScalarRange::of(&[f64::NAN, 2.0, f64::INFINITY, 4.0]);
        assert_eq!(
            range,
            ScalarRange {
                low: 2.0,
                high: 4.0
            }
        );

        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(
                ColorMap::Sequential.color(range.position(value)),
                ColorMap::neutral()
            );
        }
    }
}
