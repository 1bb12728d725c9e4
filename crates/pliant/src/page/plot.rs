//! Plots as plain SVG: lines, points and bars over linear, logarithmic and named axes.
//!
//! A plot always shows all of its data: axes reach over it, and what an axis cannot hold (NaN,
//! infinity, zero on a logarithmic axis) is left out, with a gap in a line that would pass through.
//! Series differ in colour, dash and mark, so that none needs the colour alone.

use super::axis::Axis;
use super::svg;

/// Series of points between two axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    pub(super) title: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) series: Vec<Series>,
    pub(super) rules: Vec<Rule>,
    pub(super) size: [f64; 2],
}

/// A named row of points, drawn alike.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    pub(super) name: String,
    pub(super) marks: Marks,
    pub(super) points: Vec<Point>,
}

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marks {
    /// A line through its points, in their order.
    Line,
    /// A mark at each point.
    Points,
    /// Both.
    LineAndPoints,
    /// A bar from zero to each point; bars of several series stand side by side around each whole
    /// number of `x`.
    Bars,
}

/// A point of a series.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Point {
    /// Where it lies on the horizontal axis.
    pub x: f64,
    /// Where it lies on the vertical axis.
    pub y: f64,
    /// The least and the greatest value that `y` may have or was seen to have.
    pub interval: Option<[f64; 2]>,
    /// Words beside it.
    pub label: Option<String>,
}

/// A value worth a line across the plot.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rule {
    pub(super) y: f64,
    pub(super) name: String,
}

impl Plot {
    /// Ours: two beside each other on a page.
    pub const DEFAULT_SIZE: [usize; 2] = [556, 360];
    /// Ours: below this nothing of the plot is left between its labels.
    pub const LEAST_SIZE: [usize; 2] = [240, 180];

    /// A plot without series.
    #[must_use]
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self {
            title: title.into(),
            x,
            y,
            series: Vec::new(),
            rules: Vec::new(),
            size: Self::DEFAULT_SIZE.map(|side| side as f64),
        }
    }

    /// The plot with one more series.
    #[must_use]
    pub fn with_series(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// The plot with a line across at the height `y`, such as a limit or a published value.
    #[must_use]
    pub fn with_rule(mut self, y: f64, name: impl Into<String>) -> Self {
        self.rules.push(Rule {
            y,
            name: name.into(),
        });
        self
    }

    /// Width and height in pixels, not below [`LEAST_SIZE`](Self::LEAST_SIZE). Default:
    /// [`DEFAULT_SIZE`](Self::DEFAULT_SIZE).
    #[must_use]
    pub fn with_size(self, size: [usize; 2]) -> Self {
        let [width, height] = Self::LEAST_SIZE;
        Self {
            size: [size[0].max(width) as f64, size[1].max(height) as f64],
            ..self
        }
    }

    /// What the plot is about.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The plot as an SVG file, readable on light and dark screens.
    #[must_use]
    pub fn svg(&self) -> String {
        svg::file(self)
    }

    /// The plot in words, for those who cannot see it.
    pub(super) fn description(&self) -> String {
        let kinds = self.series.iter().map(|series| {
            format!(
                "{} ({} {})",
                series.name,
                series.points.len(),
                series.marks.word()
            )
        });
        let kinds: Vec<String> = kinds.collect();
        let rules = self
            .rules
            .iter()
            .map(|rule| format!("; a line across at {}", rule.name));
        format!(
            "{} over {}: {}{}",
            self.y.title(),
            self.x.title(),
            kinds.join(", "),
            rules.collect::<String>()
        )
    }
}

impl Series {
    /// A series of points in their order.
    #[must_use]
    pub fn new(
        name: impl Into<String>,
        marks: Marks,
        points: impl IntoIterator<Item = [f64; 2]>,
    ) -> Self {
        let points = points
            .into_iter()
            .map(|[x, y]| Point {
                x,
                y,
                ..Point::default()
            })
            .collect();
        Self {
            name: name.into(),
            marks,
            points,
        }
    }

    /// Bars of these heights at 0, 1, 2 and so on: one for each name of an axis of categories.
    #[must_use]
    pub fn bars(name: impl Into<String>, heights: impl IntoIterator<Item = f64>) -> Self {
        Self::new(
            name,
            Marks::Bars,
            heights
                .into_iter()
                .enumerate()
                .map(|(k, height)| [k as f64, height]),
        )
    }

    /// The series with words beside its points, in their order.
    #[must_use]
    pub fn with_labels<S: Into<String>>(mut self, labels: impl IntoIterator<Item = S>) -> Self {
        for (point, label) in self.points.iter_mut().zip(labels) {
            point.label = Some(label.into());
        }
        self
    }

    /// The series with the least and greatest values of its points, in their order.
    #[must_use]
    pub fn with_intervals(mut self, intervals: impl IntoIterator<Item = [f64; 2]>) -> Self {
        for (point, interval) in self.points.iter_mut().zip(intervals) {
            point.interval = Some(interval);
        }
        self
    }
}

impl Marks {
    pub(super) fn has_line(self) -> bool {
        matches!(self, Self::Line | Self::LineAndPoints)
    }

    pub(super) fn has_points(self) -> bool {
        matches!(self, Self::Points | Self::LineAndPoints)
    }

    fn word(self) -> &'static str {
        if self == Self::Bars { "bars" } else { "points" }
    }
}
