//! Colour legends: a bar with ticks next to a picture.
//!
//! **Problem.** A reader who picks a colour from the picture can find its value in the legend.
//!
//! **Method.** A vertical bar at the right side, the greatest value above, ticks at round numbers (1,
//! 2 or 5 times a power of ten), each labelled with just as many decimals as its spacing needs.

use super::{Anchor, TextStyle, draw_text};
use crate::{Color, ColorMap, Image, ScalarPaint, ScalarRange};

/// A colour map with its values, drawn next to a picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Legend {
    /// What the values are, with their unit.
    pub title: String,
    /// The colours.
    pub map: ColorMap,
    /// The values at the bar's ends.
    pub range: ScalarRange,
}

/// The position of the bar of a legend in a picture, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LegendBar {
    /// First column.
    pub left: usize,
    /// First row: the greatest value.
    pub top: usize,
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

impl LegendBar {
    /// Where the middle of a row lies on the colour map, 0 (bottom) to 1 (top).
    #[must_use]
    pub fn position_of_row(&self, row: usize) -> f64 {
        1.0 - (row as f64 + 0.5 - self.top as f64) / self.height as f64
    }
}

impl Legend {
    /// The legend of some paint.
    #[must_use]
    pub fn of(paint: &ScalarPaint, title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            map: paint.map,
            range: paint.range,
        }
    }

    /// The value of a colour of the bar.
    #[must_use]
    pub fn value_of(&self, color: Color) -> f64 {
        self.range.value(self.map.position_of(color))
    }

    /// The bar in a picture of `size`; `None` if there is no room for it.
    #[must_use]
    pub fn bar(&self, [width, height]: [usize; 2]) -> Option<LegendBar> {
        let bar_width = (1.3 * text_size(height)).round() as usize;
        let right = room_px(height);
        let top = height / 5;
        let bottom = height - height / 5;
        (width > 3 * right && bottom > top + 20).then(|| LegendBar {
            left: width - right,
            top,
            width: bar_width,
            height: bottom - top,
        })
    }

    /// The fraction of the width of a picture that the legend needs at the right.
    #[must_use]
    pub fn room(&self, size: [usize; 2]) -> f64 {
        self.bar(size)
            .map_or(0.0, |_| room_px(size[1]) as f64 / size[0] as f64)
    }

    /// The tick values with their labels, from low to high.
    #[must_use]
    pub fn ticks(&self) -> Vec<(f64, String)> {
        let width = self.range.high - self.range.low;
        let wide = width > 0.0 && width.is_finite();
        if !wide {
            return vec![(self.range.low, number(self.range.low, 3, false))];
        }

        let (step, decimals) = round_step(width / 4.0);
        let first = (self.range.low / step - 1e-9).ceil();
        let last = (self.range.high / step + 1e-9).floor();
        // Very small and very large numbers are written with an exponent.
        let greatest = self.range.low.abs().max(self.range.high.abs());
        let scientific = !(1e-3..1e5).contains(&greatest);
        let count = (last - first).max(0.0) as usize;
        let values = (0..=count).map(|k| (first + k as f64) * step);

        values
            .map(|value| (value, number(value, decimals, scientific)))
            .collect()
    }

    /// Draws the legend into a picture.
    pub fn draw(&self, image: &mut Image) {
        let Some(bar) = self.bar(image.size()) else {
            return;
        };

        let scale = text_size(image.size()[1]);
        self.draw_bar(image, &bar);
        let style = TextStyle::sized(scale);
        let left = bar.left as f64;
        let right = (bar.left + bar.width) as f64;
        for (value, label) in self.ticks() {
            // The greatest value is at the top.
            let y = bar.top as f64 + (1.0 - self.range.position(value)) * bar.height as f64;
            // A short tick at the right of the bar.
            for x in 1..=(0.4 * scale).ceil() as usize {
                image.blend(
                    (bar.left + bar.width + x) as i64,
                    (y - 0.5).round() as i64,
                    style.color,
                    0.8,
                );
            }

            draw_text(
                image,
                &label,
                [right + 0.9 * scale, y + 0.5 * scale],
                Anchor::Left,
                &style,
            );
        }

        draw_text(
            image,
            &self.title,
            [left, bar.top as f64 - scale],
            Anchor::Left,
            &style,
        );
    }

    /// The bar inside a frame of one pixel, so that its pixels have only colours of the map.
    fn draw_bar(&self, image: &mut Image, bar: &LegendBar) {
        let frame = Color::srgb8(90, 92, 96);
        for row in 0..bar.height + 2 {
            for column in 0..bar.width + 2 {
                let inside = (1..=bar.height).contains(&row) && (1..=bar.width).contains(&column);
                let x = bar.left + column - 1;
                let y = bar.top + row - 1;
                let color = if inside {
                    self.map.color(bar.position_of_row(y))
                } else {
                    frame
                };
                image.blend(x as i64, y as i64, color, 1.0);
            }
        }
    }
}

/// Pixels from the bar's left side to the picture's right side.
fn room_px(height: usize) -> usize {
    (8.5 * text_size(height)).round() as usize
}

/// Height of the legend's capitals for a picture's height.
fn text_size(height: usize) -> f64 {
    (height as f64 / 50.0).clamp(8.0, 24.0).round()
}

/// The least of 1, 2, 5 times a power of ten that is not below `least`, and the decimals that show
/// it.
fn round_step(least: f64) -> (f64, usize) {
    // Steps instead of a logarithm give the same result on every platform.
    let mut power = 1.0_f64;
    let mut exponent = 0_i32;
    while power > least && exponent > -300 {
        power /= 10.0;
        exponent -= 1;
    }

    while power * 10.0 <= least && exponent < 300 {
        power *= 10.0;
        exponent += 1;
    }

    let step = [1.0, 2.0, 5.0]
        .into_iter()
        .find(|m| m * power >= least * (1.0 - 1e-9))
        .unwrap_or(10.0);
    let exponent = if step == 10.0 { exponent + 1 } else { exponent };

    (step * power, (-exponent).max(0) as usize)
}

fn number(value: f64, decimals: usize, scientific: bool) -> String {
    let text = if scientific && value != 0.0 {
        format!("{value:.1e}")
    } else {
        format!("{value:.decimals$}")
    };
    // "−0" is zero, and a minus is longer than a hyphen.
    if text.chars().all(|c| matches!(c, '-' | '0' | '.')) {
        text.replace('-', "")
    } else {
        text.replace('-', "−")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn legend(low: f64, high: f64, map: ColorMap) -> Legend {
        Legend {
            title: "distance".into(),
            map,
            range: ScalarRange { low, high },
        }
    }

    #[test]
    fn the_colours_of_a_legend_give_its_values() {
        for (map, low, high) in [
            (ColorMap::Sequential, 0.0, 12.5),
            (ColorMap::Diverging, -3.0, 3.0),
        ] {
            let legend = legend(low, high, map);
            let mut image = Image::filled([400, 300], Color::WHITE).unwrap();
            legend.draw(&mut image);

            let bar = legend.bar(image.size()).unwrap();
            for row in bar.top..bar.top + bar.height {
                let [r, g, b] = image.pixel(bar.left + bar.width / 2, row);
                let value = legend.range.value(bar.position_of_row(row));
                let read = legend.value_of(Color::srgb8(r, g, b));
                assert!(
                    (read - value).abs() < (high - low) / 128.0,
                    "{map:?} row {row}: {value} reads {read}"
                );
            }
        }
    }

    #[test]
    fn ticks_are_round_and_within_the_range() {
        let labels = |low, high| {
            legend(low, high, ColorMap::Sequential)
                .ticks()
                .into_iter()
                .map(|(_, label)| label)
                .collect::<Vec<_>>()
        };

        assert_eq!(labels(0.0, 1.0), ["0.0", "0.5", "1.0"]);
        assert_eq!(labels(-3.0, 3.0), ["−2", "0", "2"]);
        assert_eq!(labels(0.0, 0.034), ["0.00", "0.01", "0.02", "0.03"]);
        assert_eq!(
            labels(2.0e6, 6.0e6),
            ["2.0e6", "3.0e6", "4.0e6", "5.0e6", "6.0e6"]
        );
    }

    #[test]
    fn a_range_without_width_has_one_tick() {
        assert_eq!(
            legend(2.0, 2.0, ColorMap::Sequential).ticks(),
            [(2.0, "2.000".to_owned())]
        );
    }
}
