//! Text for captions and legends, and colour legends.
//!
//! **Problem.** Text that is readable at small sizes and the same on every machine, without a font
//! file.
//!
//! **Method.** Glyphs are pen paths (see `glyphs`), drawn with a round pen whose coverage falls off
//! over one pixel.
//!
//! **Departures.** The pen width follows the size, but is at least a pixel. The start of each glyph is
//! rounded, so that stems lie on whole pixels.
//!
//! `glyphs` holds the pen paths, `legend` the colour bar.

mod glyphs;
mod legend;

use std::sync::OnceLock;

use self::glyphs::{GLYPHS, MISSING};
pub use self::legend::{Legend, LegendBar};
use crate::{Color, Image};

/// How a line of text looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TextStyle {
    /// Height of capital letters in pixels.
    pub cap_height_px: f64,
    /// Colour of the letters.
    pub color: Color,
    /// Pen width relative to the usual one; 1.5 is bold.
    pub weight: f64,
}

impl TextStyle {
    /// Text of a size in dark grey.
    #[must_use]
    pub fn sized(cap_height_px: f64) -> Self {
        Self {
            cap_height_px,
            color: Color::srgb8(52, 54, 58),
            weight: 1.0,
        }
    }

    /// The same with a wider pen.
    #[must_use]
    pub fn bold(self) -> Self {
        Self {
            weight: 1.5,
            ..self
        }
    }

    fn unit(&self) -> f64 {
        self.cap_height_px / CAP_HEIGHT
    }

    fn pen_radius(&self) -> f64 {
        0.5 * (self.cap_height_px * 0.105 * self.weight).max(1.0)
    }
}

/// Height of capitals in the glyphs' unit.
const CAP_HEIGHT: f64 = 14.0;
/// Chosen: added to every advance, because small text needs space.
const TRACKING: f64 = 1.2;
/// Pieces of a curve.
const CURVE_PIECES: usize = 8;

/// A glyph ready to draw: pieces of its pen path.
struct Glyph {
    character: char,
    advance: f64,
    segments: Vec<[[f64; 2]; 2]>,
}

/// Which point of a line of text is placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// At the left end of the text.
    Left,
    /// In the middle of the text.
    Middle,
    /// At the right end of the text.
    Right,
}

/// The length of a line of text in pixels.
#[must_use]
pub fn text_width(text: &str, style: &TextStyle) -> f64 {
    text.chars().map(|c| glyph(c).advance * style.unit()).sum()
}

/// Draws a line of text with its baseline at `y` and its anchor at `x`.
pub fn draw_text(
    image: &mut Image,
    text: &str,
    [x, y]: [f64; 2],
    anchor: Anchor,
    style: &TextStyle,
) {
    let width = text_width(text, style);
    let mut pen = match anchor {
        Anchor::Left => x,
        Anchor::Middle => x - 0.5 * width,
        Anchor::Right => x - width,
    };

    for character in text.chars() {
        let glyph = glyph(character);
        draw_glyph(image, glyph, [pen.round(), y.round()], style);
        pen += glyph.advance * style.unit();
    }
}

fn draw_glyph(image: &mut Image, glyph: &Glyph, [left, baseline]: [f64; 2], style: &TextStyle) {
    let unit = style.unit();
    let radius = style.pen_radius();
    let border = radius + 1.0;
    // Glyphs reach from the descender to above the capitals.
    let columns = (left - border) as i64..=(left + glyph.advance * unit + border) as i64;
    let rows = (baseline - 17.0 * unit - border) as i64..=(baseline + 5.0 * unit + border) as i64;
    let segments: Vec<_> = glyph
        .segments
        .iter()
        .map(|ends| ends.map(|[x, y]| [left + x * unit, baseline - y * unit]))
        .collect();

    for y in rows {
        for x in columns.clone() {
            let pixel = [x as f64 + 0.5, y as f64 + 0.5];
            // Coverage falls off over one pixel at the border of the pen.
            let nearest = segments
                .iter()
                .map(|ends| distance_squared(pixel, ends))
                .fold(f64::INFINITY, f64::min);
            let cover = (radius + 0.5 - nearest.sqrt()).clamp(0.0, 1.0);
            image.blend(x, y, style.color, cover as f32);
        }
    }
}

/// The squared distance of a point from a segment.
fn distance_squared([x, y]: [f64; 2], [a, b]: &[[f64; 2]; 2]) -> f64 {
    let dx = b[0] - a[0];
    let dy = b[1] - a[1];
    let length_squared = dx * dx + dy * dy;
    let t = if length_squared > 0.0 {
        (((x - a[0]) * dx + (y - a[1]) * dy) / length_squared).clamp(0.0, 1.0)
    } else {
        0.0
    };

    let ox = x - a[0] - dx * t;
    let oy = y - a[1] - dy * t;
    ox * ox + oy * oy
}

fn glyph(character: char) -> &'static Glyph {
    static FONT: OnceLock<Vec<Glyph>> = OnceLock::new();

    let font = FONT.get_or_init(|| {
        // The glyph of missing characters comes last, outside the sorted part.
        let mut all: Vec<Glyph> = GLYPHS.iter().map(traced).collect();
        all.sort_by_key(|glyph| glyph.character);
        all.push(traced(&MISSING));
        all
    });

    let known = &font[..font.len() - 1];
    known
        .binary_search_by_key(&character, |glyph| glyph.character)
        .map_or(&font[font.len() - 1], |k| &known[k])
}

/// The segments of a pen path.
fn traced(&(character, advance, path): &(char, i32, &str)) -> Glyph {
    let mut segments = Vec::new();
    let mut at = [0.0; 2];
    for (command, numbers) in commands(path) {
        match (command, numbers.as_slice()) {
            ('M', &[x, y]) => at = [x, y],
            ('L', &[x, y]) => {
                segments.push([at, [x, y]]);
                at = [x, y];
            }
            ('Q', &[cx, cy, x, y]) => {
                curve(at, [cx, cy], [x, y], &mut segments);
                at = [x, y];
            }
            _ => unreachable!("the pen path of '{character}' is malformed"),
        }
    }

    Glyph {
        character,
        advance: f64::from(advance) + TRACKING,
        segments,
    }
}

/// The letters of a pen path, each with the numbers that follow it.
fn commands(path: &str) -> impl Iterator<Item = (char, Vec<f64>)> + '_ {
    let starts = path.char_indices().filter(|(_, c)| c.is_ascii_alphabetic());
    starts.map(|(at, letter)| {
        // The numbers of a command end at the next letter.
        let rest = &path[at + 1..];
        let numbers = &rest[..rest
            .find(|c: char| c.is_ascii_alphabetic())
            .unwrap_or(rest.len())];

        (
            letter,
            numbers
                .split_whitespace()
                .filter_map(|number| number.parse().ok())
                .collect(),
        )
    })
}

/// Appends a quadratic Bézier curve as segments.
fn curve(from: [f64; 2], control: [f64; 2], to: [f64; 2], segments: &mut Vec<[[f64; 2]; 2]>) {
    let mut at = from;
    for k in 1..=CURVE_PIECES {
        let t = k as f64 / CURVE_PIECES as f64;
        let s = 1.0 - t;
        let next =
            std::array::from_fn(|c| s * s * from[c] + 2.0 * s * t * control[c] + t * t * to[c]);
        segments.push([at, next]);
        at = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printable_ascii_character_has_a_glyph_inside_its_box() {
        for character in ' '..='~' {
            let glyph = glyph(character);
            assert_eq!(glyph.character, character);
            let inside =
                |[x, y]: [f64; 2]| (0.0..=glyph.advance).contains(&x) && (-4.5..=16.0).contains(&y);
            assert!(
                glyph.segments.iter().flatten().all(|&p| inside(p)),
                "'{character}' leaves its box"
            );
        }
    }

    #[test]
    fn no_two_glyphs_look_the_same() {
        let drawn = |character: char| {
            let mut image = Image::filled([24, 24], Color::WHITE).unwrap();
            draw_text(
                &mut image,
                &character.to_string(),
                [4.0, 18.0],
                Anchor::Left,
                &TextStyle::sized(12.0),
            );

            image
        };

        let all: Vec<Image> = ('!'..='~').map(drawn).collect();
        for a in 0..all.len() {
            for b in 0..a {
                assert!(
                    all[a] != all[b],
                    "glyphs {b} and {a} after the space are drawn alike"
                );
            }
        }
    }

    #[test]
    fn text_stays_within_its_width() {
        let style = TextStyle::sized(10.0);
        let mut image = Image::filled([200, 30], Color::WHITE).unwrap();
        draw_text(
            &mut image,
            "Residual 1.25",
            [100.0, 20.0],
            Anchor::Middle,
            &style,
        );

        let half = 0.5 * text_width("Residual 1.25", &style) + 2.0;
        for (k, pixel) in image.pixels().iter().enumerate() {
            let x = (k % 200) as f64 + 0.5;
            assert!(*pixel == [255; 3] || (x - 100.0).abs() < half, "ink at {x}");
        }

        assert!(image.pixels().iter().any(|p| p[0] < 90));
    }
}
