//! A plot as SVG text.
//!
//! Coordinates are pixels with one decimal and y downwards. Colours are CSS variables of the page
//! around the plot, or of the file itself. Widths of text are estimated, since no font is available
//! to measure them.

use std::fmt::Write;

use super::axis::{Scale, readable};
use super::labels::{Box2, place_labels};
use super::palette::{DARK, LIGHT, SERIES};
use super::plot::{Marks, Plot, Point, Series};
use super::{PLOT_STYLE, escaped};

/// Width of a character relative to its height: a little more than that of common sans-serif fonts.
const CHARACTER: f64 = 0.62;
const TEXT_PX: f64 = 12.0;
const NAME_PX: f64 = 11.0;
/// Free space at the right and below; the page has its own at the left.
const MARGIN: f64 = 10.0;
const LEFT: f64 = 2.0;
/// Share of the room of a category that its bars fill.
const BARS_FILL: f64 = 0.78;
const MARK_RADIUS: f64 = 4.0;

/// A complete file.
pub(super) fn file(plot: &Plot) -> String {
    let (light, dark) = (LIGHT.variables(), DARK.variables());
    let style = format!(
        "<style>.plot {{ {light} background: var(--paper); }} @media (prefers-color-scheme: dark) {{ .plot {{ {dark} }} }}\n{PLOT_STYLE}</style>"
    );
    draw(plot, " xmlns=\"http://www.w3.org/2000/svg\"", &style)
}

/// A part of a page that holds the style already.
pub(super) fn inline(plot: &Plot) -> String {
    draw(plot, "", "")
}

pub(super) fn text_width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * CHARACTER * size
}

fn draw(plot: &Plot, namespace: &str, style: &str) -> String {
    let mut canvas = Canvas { svg: String::new() };
    let [width, height] = plot.size;
    let _ = writeln!(
        canvas.svg,
        "<svg{namespace} class=\"plot\" role=\"img\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\">\n\
         <title>{}</title><desc>{}</desc>{style}",
        escaped(&plot.title),
        escaped(&plot.description()),
    );

    canvas.text([LEFT, 18.0], "title", "start", &plot.title);
    let legend_bottom = canvas.legend(plot, 26.0);
    let frame = Frame::new(plot, legend_bottom);
    canvas.axes(plot, &frame);
    canvas.bars(plot, &frame);

    for (k, series) in plot.series.iter().enumerate() {
        canvas.line(series, k, &frame);
    }

    canvas.rules(plot, &frame);
    // Labels before marks: the halo of a label would cover a mark near it.
    canvas.labels(plot, &frame);

    for (k, series) in plot.series.iter().enumerate() {
        canvas.points(series, k, &frame);
    }

    canvas.svg.push_str("</svg>\n");
    canvas.svg
}

/// The rectangle of the data in the picture.
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x: Scale,
    y: Scale,
    /// Whether names along the horizontal axis are rotated.
    rotated: bool,
}

impl Frame {
    fn new(plot: &Plot, legend_bottom: f64) -> Self {
        let points = || plot.series.iter().flat_map(|series| &series.points);
        let x = plot.x.scale(points().map(|point| point.x));
        let y = vertical_scale(plot);

        let [width, height] = plot.size;
        let left = LEFT + widest_label(&y) + 8.0;
        // Half of the last label of a numeric axis is beyond the end of the axis.
        let overhang = match (plot.x.names(), x.ticks.last()) {
            (None, Some(last)) => 0.5 * text_width(&last.label, TEXT_PX),
            _ => 0.0,
        };
        let right = width - MARGIN - overhang;

        // Names that do not fit beside each other are rotated and need more room below.
        let room = (right - left) / x.ticks.len().max(1) as f64;
        let rotated = plot.x.names().is_some() && widest_label(&x) > room - 4.0;
        let names = if rotated {
            (0.75 * widest_label(&x)).min(0.4 * height) + 14.0
        } else {
            20.0
        };

        let x_title = if plot.x.title().is_empty() { 0.0 } else { 20.0 };
        let y_title = if plot.y.title().is_empty() {
            12.0
        } else {
            31.0
        };
        let top = legend_bottom + y_title;
        let bottom = (height - MARGIN - names - x_title).max(top + 20.0);
        Self {
            left,
            right,
            top,
            bottom,
            x,
            y,
            rotated,
        }
    }

    fn across(&self, x: f64) -> Option<f64> {
        self.x
            .position(x)
            .map(|place| self.left + place * (self.right - self.left))
    }

    fn down(&self, y: f64) -> Option<f64> {
        self.y
            .position(y)
            .map(|place| self.bottom + place * (self.top - self.bottom))
    }

    fn place(&self, [x, y]: [f64; 2]) -> Option<[f64; 2]> {
        Some([self.across(x)?, self.down(y)?])
    }
}

/// The vertical scale, which includes ranges, rules and the base of bars.
fn vertical_scale(plot: &Plot) -> Scale {
    let points = || plot.series.iter().flat_map(|series| &series.points);
    let ranges = points().filter_map(|point| point.interval).flatten();
    let rules = plot.rules.iter().map(|rule| rule.y);
    let has_bars = plot.series.iter().any(|series| series.marks == Marks::Bars);

    plot.y.scale(
        points()
            .map(|point| point.y)
            .chain(ranges)
            .chain(rules)
            .chain(has_bars.then_some(0.0)),
    )
}

fn widest_label(scale: &Scale) -> f64 {
    scale
        .ticks
        .iter()
        .map(|tick| text_width(&tick.label, TEXT_PX))
        .fold(0.0, f64::max)
}

struct Canvas {
    svg: String,
}

impl Canvas {
    fn text(&mut self, [x, y]: [f64; 2], class: &str, anchor: &str, text: &str) {
        let (x, y) = (px(x), px(y));
        let _ = writeln!(
            self.svg,
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{}</text>",
            escaped(text)
        );
    }

    fn segment(&mut self, class: &str, [x1, y1]: [f64; 2], [x2, y2]: [f64; 2]) {
        let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(px);
        let _ = writeln!(
            self.svg,
            "<path class=\"{class}\" d=\"M{x1} {y1}L{x2} {y2}\"/>"
        );
    }

    /// The names of the series in rows below the title; returns where they end. One series needs no
    /// legend.
    fn legend(&mut self, plot: &Plot, top: f64) -> f64 {
        const ROW: f64 = 18.0;

        if plot.series.len() < 2 {
            return top;
        }

        // Names flow from left to right and wrap at the margin.
        let (mut x, mut y) = (LEFT, top + 0.5 * ROW);
        for (k, series) in plot.series.iter().enumerate() {
            let sample = if series.marks.has_line() { 26.0 } else { 12.0 };
            let needs = sample + 6.0 + text_width(&series.name, TEXT_PX);
            if x > LEFT && x + needs > plot.size[0] - MARGIN {
                (x, y) = (LEFT, y + ROW);
            }
            self.sample(series.marks, k, [x, y], sample);
            self.text([x + sample + 6.0, y + 4.0], "soft", "start", &series.name);
            x += needs + 14.0;
        }

        y + 0.5 * ROW
    }

    /// A sample of a series in the legend.
    fn sample(&mut self, marks: Marks, k: usize, [x, y]: [f64; 2], width: f64) {
        if marks == Marks::Bars {
            let (x, y, color) = (px(x), px(y - 5.0), color(k));
            let _ = writeln!(
                self.svg,
                "<rect x=\"{x}\" y=\"{y}\" width=\"12.0\" height=\"10.0\" rx=\"1.5\" fill=\"{color}\"/>"
            );
        }

        if marks.has_line() {
            self.path(
                &format!("M{} {}L{} {}", px(x), px(y), px(x + width), px(y)),
                k,
                "",
            );
        }

        if marks.has_points() {
            self.mark([x + 0.5 * width, y], k, "");
        }
    }

    fn axes(&mut self, plot: &Plot, frame: &Frame) {
        for tick in &frame.y.ticks {
            let Some(y) = frame.down(tick.value) else {
                continue;
            };
            self.segment("grid", [frame.left, y], [frame.right, y]);
            self.text([frame.left - 7.0, y + 4.0], "soft", "end", &tick.label);
        }

        for tick in &frame.x.ticks {
            let Some(x) = frame.across(tick.value) else {
                continue;
            };
            if plot.x.names().is_none() {
                self.segment("grid", [x, frame.top], [x, frame.bottom]);
            }
            self.below_axis(&tick.label, x, frame);
        }

        // The axis line is at zero if zero is in the range.
        let ground = frame.down(frame.y.ground()).unwrap_or(frame.bottom);
        self.segment("axis", [frame.left, ground], [frame.right, ground]);
        self.text([LEFT, frame.top - 13.0], "soft", "start", plot.y.title());
        self.text(
            [0.5 * (frame.left + frame.right), plot.size[1] - MARGIN],
            "soft",
            "middle",
            plot.x.title(),
        );
    }

    /// A label below the horizontal axis, horizontal or rotated.
    fn below_axis(&mut self, label: &str, x: f64, frame: &Frame) {
        if !frame.rotated {
            return self.text([x, frame.bottom + 17.0], "soft", "middle", label);
        }
        let x = px(x + 4.0);
        let y = px(frame.bottom + 13.0);
        let label = escaped(label);
        let _ = writeln!(
            self.svg,
            "<text class=\"soft small\" x=\"{x}\" y=\"{y}\" text-anchor=\"end\" transform=\"rotate(-45 {x} {y})\">{label}</text>"
        );
    }

    fn bars(&mut self, plot: &Plot, frame: &Frame) {
        let ground = frame.y.ground();
        for (k, place, series) in bar_series(plot) {
            for point in &series.points {
                let [from, to] = place.map(|offset| frame.across(point.x + offset));
                let (Some(from), Some(to), Some(y), Some(zero)) =
                    (from, to, frame.down(point.y), frame.down(ground))
                else {
                    continue;
                };

                let (x, width) = (px(from), px(to - from));
                let top = px(y.min(zero));
                let height = px((y - zero).abs());
                let color = color(k);
                let words = tooltip(plot, series, point);

                let _ = writeln!(
                    self.svg,
                    "<rect class=\"bar\" x=\"{x}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" fill=\"{color}\"><title>{words}</title></rect>"
                );

                self.span(point, 0.5 * (from + to), frame);
            }
        }
    }

    /// The line of a series, with gaps where points are left out.
    fn line(&mut self, series: &Series, k: usize, frame: &Frame) {
        if !series.marks.has_line() {
            return;
        }

        let (mut path, mut pen_down) = (String::new(), false);
        for point in &series.points {
            let place = frame.place([point.x, point.y]);
            if let Some([x, y]) = place {
                let _ = write!(
                    path,
                    "{}{} {}",
                    if pen_down { 'L' } else { 'M' },
                    px(x),
                    px(y)
                );
            }

            pen_down = place.is_some();
        }

        if !path.is_empty() {
            self.path(&path, k, &escaped(&series.name));
        }
    }

    fn path(&mut self, path: &str, k: usize, words: &str) {
        const DASHES: [&str; SERIES] = ["", "7 4", "2 4", "9 4 2 4", "14 4", "4 3 1 3"];

        let dash = DASHES[(k + k / SERIES) % SERIES];
        let dash = if dash.is_empty() {
            String::new()
        } else {
            format!(" stroke-dasharray=\"{dash}\"")
        };

        let title = if words.is_empty() {
            String::new()
        } else {
            format!("<title>{words}</title>")
        };

        let _ = writeln!(
            self.svg,
            "<path class=\"line\" d=\"{path}\" stroke=\"{}\"{dash}>{title}</path>",
            color(k)
        );
    }

    fn points(&mut self, series: &Series, k: usize, frame: &Frame) {
        if series.marks == Marks::Bars {
            return;
        }
        for point in &series.points {
            let Some([x, y]) = frame.place([point.x, point.y]) else {
                continue;
            };

            self.span(point, x, frame);
            if series.marks.has_points() {
                self.mark(
                    [x, y],
                    k,
                    &format!(
                        "{}: {}, {}",
                        escaped(&series.name),
                        readable(point.x),
                        readable(point.y)
                    ),
                );
            }
        }
    }

    /// The interval of a point, as a line with caps.
    fn span(&mut self, point: &Point, x: f64, frame: &Frame) {
        let Some([Some(low), Some(high)]) =
            point.interval.map(|ends| ends.map(|end| frame.down(end)))
        else {
            return;
        };
        self.segment("span", [x, low], [x, high]);
        for y in [low, high] {
            self.segment("span", [x - 4.0, y], [x + 4.0, y]);
        }
    }

    fn mark(&mut self, [x, y]: [f64; 2], k: usize, words: &str) {
        // Marks of about equal area, so that no series looks heavier.
        let corners: &[[f64; 2]] = match (k + k / SERIES) % SERIES {
            0 => &[],
            1 => &[[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]],
            2 => &[[0.0, -1.2], [1.1, 0.8], [-1.1, 0.8]],
            3 => &[[0.0, -1.3], [1.1, 0.0], [0.0, 1.3], [-1.1, 0.0]],
            4 => &[[0.0, 1.2], [1.1, -0.8], [-1.1, -0.8]],
            _ => &[[-1.3, -0.45], [1.3, -0.45], [1.3, 0.45], [-1.3, 0.45]],
        };

        let title = if words.is_empty() {
            String::new()
        } else {
            format!("<title>{words}</title>")
        };
        let color = color(k);

        let _ = if corners.is_empty() {
            writeln!(
                self.svg,
                "<circle class=\"mark\" cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{color}\">{title}</circle>",
                px(x),
                px(y),
                px(MARK_RADIUS)
            )
        } else {
            let corner = |[u, v]: &[f64; 2]| {
                format!("{} {}", px(x + MARK_RADIUS * u), px(y + MARK_RADIUS * v))
            };
            let corners: Vec<String> = corners.iter().map(corner).collect();

            writeln!(
                self.svg,
                "<path class=\"mark\" d=\"M{}Z\" fill=\"{color}\">{title}</path>",
                corners.join("L")
            )
        };
    }

    fn rules(&mut self, plot: &Plot, frame: &Frame) {
        for rule in &plot.rules {
            let Some(y) = frame.down(rule.y) else {
                continue;
            };
            self.segment("rule", [frame.left, y], [frame.right, y]);
            self.text([frame.right, y - 4.0], "name", "end", &rule.name);
        }
    }

    /// Labels beside points, without overlaps where possible.
    fn labels(&mut self, plot: &Plot, frame: &Frame) {
        let mut points = Vec::new();
        let offsets = bar_series(plot);
        for (k, series) in plot.series.iter().enumerate() {
            let middle = offsets
                .iter()
                .find(|(bar, ..)| *bar == k)
                .map_or(0.0, |(_, [from, to], _)| 0.5 * (from + to));

            let placed = series.points.iter().filter_map(|point| {
                Some((
                    frame.place([point.x + middle, point.y])?,
                    point.label.as_deref(),
                ))
            });

            points.extend(placed);
        }

        let bounds = Box2 {
            min: [frame.left, frame.top - 8.0],
            max: [plot.size[0] - 2.0, frame.bottom],
        };

        for label in place_labels(&points, NAME_PX, &bounds) {
            self.text(label.place, "name", label.anchor, label.text);
        }
    }
}

/// The series of bars with their index among all series and their offsets around an integer.
fn bar_series(plot: &Plot) -> Vec<(usize, [f64; 2], &Series)> {
    let bars: Vec<(usize, &Series)> = plot
        .series
        .iter()
        .enumerate()
        .filter(|(_, series)| series.marks == Marks::Bars)
        .collect();

    let width = BARS_FILL / bars.len().max(1) as f64;
    let place = |bar: usize| [bar, bar + 1].map(|side| width * side as f64 - 0.5 * BARS_FILL);
    bars.iter()
        .enumerate()
        .map(|(bar, &(k, series))| (k, place(bar), series))
        .collect()
}

/// The tooltip of a bar.
fn tooltip(plot: &Plot, series: &Series, point: &Point) -> String {
    let name = plot
        .x
        .names()
        .and_then(|names| names.get(point.x as usize))
        .cloned()
        .unwrap_or_else(|| readable(point.x));
    escaped(&format!("{}, {name}: {}", series.name, readable(point.y)))
}

fn color(k: usize) -> String {
    format!("var(--s{})", k % SERIES)
}

/// A coordinate with one decimal, zero without a sign.
fn px(value: f64) -> String {
    format!("{:.1}", (10.0 * value).round() / 10.0 + 0.0)
}

#[cfg(test)]
mod tests;
