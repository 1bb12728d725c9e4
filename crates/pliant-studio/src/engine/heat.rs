//! One value per vertex through a colour map.
//!
//! The colours and the round numbers are those of rendered pictures: a heat map in the window and
//! one in a file agree.

use std::sync::Arc;

use pliant::view::{ColorMap, Legend, ScalarRange};
use serde::{Deserialize, Serialize};

use super::color::Srgba;

/// A colour map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum HeatMap {
    /// Dark to light: for values that start at zero.
    #[default]
    Sequential,
    /// Blue over white to red: for values around zero.
    Diverging,
}

impl HeatMap {
    /// All maps, in the order of the graphics card's table.
    pub const ALL: [Self; 2] = [Self::Sequential, Self::Diverging];

    /// The same map of the renderer.
    #[must_use]
    pub fn color_map(self) -> ColorMap {
        match self {
            Self::Sequential => ColorMap::Sequential,
            Self::Diverging => ColorMap::Diverging,
        }
    }

    /// The colour at a share of the range, 0 to 1; NaN is grey.
    #[must_use]
    pub fn color(self, share: f64) -> Srgba {
        let [red, green, blue] = self.color_map().color(share).to_srgb8();
        Srgba::from_rgb(red, green, blue)
    }
}

/// One value per vertex, shown by colour.
#[derive(Debug, Clone, PartialEq)]
pub struct Heat {
    /// The values; NaN is no value and stays grey.
    pub values: Arc<Vec<f32>>,
    /// The values at the ends of the colour map.
    pub range: [f32; 2],
    /// Meaning of the values.
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
        // A diverging map has its neutral colour at zero.
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
    pub fn color(&self, value: f32) -> Srgba {
        self.map
            .color(self.scalar_range().position(f64::from(value)))
    }

    /// Meaning of the values, with their unit.
    #[must_use]
    pub fn title(&self) -> String {
        if self.unit.is_empty() {
            self.label.clone()
        } else {
            format!("{} ({})", self.label, self.unit)
        }
    }

    pub(crate) fn scalar_range(&self) -> ScalarRange {
        ScalarRange {
            low: f64::from(self.range[0]),
            high: f64::from(self.range[1]),
        }
    }

    pub(crate) fn ticks(&self) -> Vec<(f64, String)> {
        Legend {
            title: String::new(),
            map: self.map.color_map(),
            range: self.scalar_range(),
        }
        .ticks()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_equal_those_of_rendered_pictures() {
        let heat = Heat::new(&[1.0, 3.0, f64::NAN], HeatMap::Sequential, "Stretch", "%");
        assert_eq!(heat.range, [1.0, 3.0]);
        let [red, green, blue] = ColorMap::Sequential.color(0.25).to_srgb8();
        assert_eq!(heat.color(1.5), Srgba::from_rgb(red, green, blue));
        let [red, green, blue] = ColorMap::neutral().to_srgb8();
        assert_eq!(heat.color(f32::NAN), Srgba::from_rgb(red, green, blue));
    }

    #[test]
    fn unreachable_vertices_have_no_distance_and_do_not_affect_the_range() {
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
