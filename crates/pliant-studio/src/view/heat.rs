//! Values as colours, and a legend that says which is which.
//!
//! **Ours.** The colours and the round numbers are those of the pictures: a heat map in the window
//! and one in a file agree.

use std::sync::Arc;

use eframe::egui::epaint::{Mesh as Patch, Vertex, WHITE_UV};
use eframe::egui::{
    Align2, Color32, CornerRadius, FontId, Painter, Pos2, Rect, Stroke, StrokeKind, Vec2, pos2,
    vec2,
};
use pliant::view::{ColorMap, Legend, ScalarRange};
use serde::{Deserialize, Serialize};

/// A path of colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum HeatMap {
    /// Dark to light: for what starts at nothing.
    #[default]
    Sequential,
    /// Blue over white to red: for what has a middle that means "none".
    Diverging,
}

impl HeatMap {
    /// All maps, in the order of the card's table.
    pub const ALL: [Self; 2] = [Self::Sequential, Self::Diverging];

    /// The same map in the pictures.
    #[must_use]
    pub fn color_map(self) -> ColorMap {
        match self {
            Self::Sequential => ColorMap::Sequential,
            Self::Diverging => ColorMap::Diverging,
        }
    }

    /// The colour at a share of the range, 0 to 1; NaN is grey.
    #[must_use]
    pub fn color(self, share: f64) -> Color32 {
        let [red, green, blue] = self.color_map().color(share).to_srgb8();
        Color32::from_rgb(red, green, blue)
    }
}

/// One value per vertex, shown by colour.
#[derive(Debug, Clone, PartialEq)]
pub struct Heat {
    /// The values; NaN is no value and stays grey.
    pub values: Arc<Vec<f32>>,
    /// What the ends of the colour map stand for.
    pub range: [f32; 2],
    /// What the values are.
    pub label: String,
    /// Their unit; empty where there is none.
    pub unit: String,
    /// The colours.
    pub map: HeatMap,
}

impl Heat {
    /// Values over their own range; with a diverging map, over a range that is even about zero.
    #[must_use]
    pub fn new(
        values: &[f64],
        map: HeatMap,
        label: impl Into<String>,
        unit: impl Into<String>,
    ) -> Self {
        let range = ScalarRange::of(values);
        let range = if map == HeatMap::Diverging {
            range.symmetric()
        } else {
            range
        };
        Self {
            values: Arc::new(values.iter().map(|&value| value as f32).collect()),
            range: [range.low as f32, range.high as f32],
            label: label.into(),
            unit: unit.into(),
            map,
        }
    }

    /// Distances along a surface, in its own units; a part that is not reached has no value.
    #[must_use]
    pub fn of_distances(distances: &[f64]) -> Self {
        let reached: Vec<f64> = distances
            .iter()
            .map(|&d| if d.is_finite() { d } else { f64::NAN })
            .collect();
        Self::new(&reached, HeatMap::Sequential, "Distance", "")
    }

    /// Over another range.
    #[must_use]
    pub fn with_range(self, range: [f32; 2]) -> Self {
        Self { range, ..self }
    }

    /// The colour of a value.
    #[must_use]
    pub fn color(&self, value: f32) -> Color32 {
        self.map
            .color(self.scalar_range().position(f64::from(value)))
    }

    /// What the values are, with their unit.
    #[must_use]
    pub fn title(&self) -> String {
        if self.unit.is_empty() {
            self.label.clone()
        } else {
            format!("{} ({})", self.label, self.unit)
        }
    }

    fn scalar_range(&self) -> ScalarRange {
        ScalarRange {
            low: f64::from(self.range[0]),
            high: f64::from(self.range[1]),
        }
    }

    fn ticks(&self) -> Vec<(f64, String)> {
        Legend {
            title: String::new(),
            map: self.map.color_map(),
            range: self.scalar_range(),
        }
        .ticks()
    }
}

/// Width of a legend's bar.
const BAR_WIDTH: f32 = 12.0;
/// Strips of colour in a bar: no step shows.
const STRIPS: usize = 64;
/// The size of a legend that reads well.
pub const LEGEND_SIZE: Vec2 = vec2(84.0, 190.0);

/// Draws a legend into a rectangle: the title above, the bar at its right side, round numbers
/// beside the bar.
pub fn legend_ui(painter: &Painter, rect: Rect, heat: &Heat) {
    let visuals = painter
        .ctx()
        .style_of(painter.ctx().theme())
        .visuals
        .clone();
    let (text, faint) = (visuals.text_color(), visuals.weak_text_color());
    let font = FontId::proportional(12.0);
    painter.rect_filled(
        rect.expand(8.0),
        CornerRadius::same(6),
        visuals.window_fill.gamma_multiply(0.72),
    );
    let title = painter.text(
        rect.right_top(),
        Align2::RIGHT_TOP,
        heat.title(),
        font.clone(),
        text,
    );
    let bar = Rect::from_min_max(
        pos2(rect.right() - BAR_WIDTH, title.bottom() + 8.0),
        rect.right_bottom(),
    );
    painter.add(bar_patch(bar, heat.map));
    painter.rect_stroke(
        bar,
        CornerRadius::same(2),
        Stroke::new(1.0, faint.gamma_multiply(0.6)),
        StrokeKind::Outside,
    );
    for (value, label) in heat.ticks() {
        let share = heat.scalar_range().position(value) as f32;
        let place = pos2(bar.left(), bar.bottom() - share * bar.height());
        painter.line_segment([place - vec2(4.0, 0.0), place], Stroke::new(1.0, faint));
        painter.text(
            place - vec2(7.0, 0.0),
            Align2::RIGHT_CENTER,
            label,
            font.clone(),
            text,
        );
    }
}

/// The colour map from the lower to the upper end of a rectangle.
fn bar_patch(rect: Rect, map: HeatMap) -> Patch {
    let mut patch = Patch::default();
    for k in 0..=STRIPS {
        let share = k as f32 / STRIPS as f32;
        let y = rect.bottom() - share * rect.height();
        let color = map.color(f64::from(share));
        let corner = |x: f32| Vertex {
            pos: Pos2::new(x, y),
            uv: WHITE_UV,
            color,
        };
        patch
            .vertices
            .extend([corner(rect.left()), corner(rect.right())]);
        if k > 0 {
            let first = 2 * k as u32 - 2;
            patch.add_triangle(first, first + 1, first + 2);
            patch.add_triangle(first + 1, first + 2, first + 3);
        }
    }
    patch
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_those_of_the_pictures() {
        let heat = Heat::new(&[1.0, 3.0, f64::NAN], HeatMap::Sequential, "Stretch", "%");
        assert_eq!(heat.range, [1.0, 3.0]);
        let [red, green, blue] = ColorMap::Sequential.color(0.25).to_srgb8();
        assert_eq!(heat.color(1.5), Color32::from_rgb(red, green, blue));
        let [red, green, blue] = ColorMap::neutral().to_srgb8();
        assert_eq!(heat.color(f32::NAN), Color32::from_rgb(red, green, blue));
    }

    #[test]
    fn what_is_not_reached_has_no_distance_and_no_say_in_the_range() {
        let heat = Heat::of_distances(&[0.0, 2.0, f64::INFINITY]);
        assert_eq!(heat.range, [0.0, 2.0]);
        assert!(heat.values[2].is_nan());
    }

    #[test]
    fn a_diverging_map_has_zero_in_its_middle() {
        let heat = Heat::new(&[-1.0, 4.0], HeatMap::Diverging, "Curvature", "");
        assert_eq!(
            (heat.range, heat.title()),
            ([-4.0, 4.0], "Curvature".to_owned())
        );
        assert_eq!(heat.color(0.0), HeatMap::Diverging.color(0.5));
    }
}
