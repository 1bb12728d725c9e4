//! Plots with lines, points and bars over linear, logarithmic and named axes.
//!
//! The axes include all data. Values that an axis cannot show (NaN, infinity, zero on a logarithmic
//! axis) are left out and leave a gap in a line. Series differ in colour, dash and mark, so that a
//! reader does not depend on colour alone.

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

/// A named sequence of points in one style.
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
    /// The horizontal coordinate.
    pub x: f64,
    /// The vertical coordinate.
    pub y: f64,
    /// The range of `y`, such as its quartiles.
    pub interval: Option<[f64; 2]>,
    /// A label beside the point.
    pub label: Option<String>,
}

/// A horizontal line, such as a limit.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rule {
    pub(super) y: f64,
    pub(super) name: String,
}

impl Plot {
    /// Chosen: two plots fit beside each other on a page.
    pub const DEFAULT_SIZE: [usize; 2] = [556, 360];
    /// Chosen: a smaller plot has no room between its labels.
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

    /// The title.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The plot as an SVG file, readable on light and dark screens.
    #[must_use]
    pub fn svg(&self) -> String {
        svg::file(self)
    }

    /// A description in words, for screen readers.
    pub(super) fn description(&self) -> String {
        let mut kinds = Vec::with_capacity(self.series.len());
        for Series {
            name,
            marks,
            points,
        } in &self.series
        {
            kinds.push(format!("{name} ({} {})", points.len(), marks.word()));
        }

        let mut rules = String::new();
        for rule in &self.rules {
            rules.push_str("; a line across at ");
            rules.push_str(&rule.name);
        }

        format!(
            "{} over {}: {}{rules}",
            self.y.title(),
            self.x.title(),
            kinds.join(", ")
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

    /// The series with labels beside its points, in order.
    #[must_use]
    pub fn with_labels<S: Into<String>>(mut self, labels: impl IntoIterator<Item = S>) -> Self {
        for (point, label) in self.points.iter_mut().zip(labels) {
            point.label = Some(label.into());
        }
        self
    }

    /// The series with ranges of its points, in order.
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
