//! Sliders: limits, lock, path through the in-betweens, and groups.

use super::SliderId;
use crate::RigError;

/// The least and the greatest weight of a slider.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// The lowest weight.
    pub min: f64,
    /// The highest weight.
    pub max: f64,
}

impl Limits {
    /// Any weight.
    pub const FREE: Self = Self {
        min: f64::NEG_INFINITY,
        max: f64::INFINITY,
    };

    /// The range from `min` to `max`.
    #[must_use]
    pub fn new(min: f64, max: f64) -> Self {
        Self { min, max }
    }

    /// The nearest weight inside.
    #[must_use]
    pub fn clamp(&self, weight: f64) -> f64 {
        weight.max(self.min).min(self.max)
    }

    /// The distance between the limits, the unit of changes of a slider; 1 where it is zero or
    /// infinite.
    #[must_use]
    pub fn range(&self) -> f64 {
        let range = self.max - self.min;
        if range > 0.0 && range.is_finite() {
            range
        } else {
            1.0
        }
    }

    /// Whether a weight is inside.
    #[must_use]
    pub fn contains(&self, weight: f64) -> bool {
        self.min <= weight && weight <= self.max
    }

    pub(crate) fn check(&self, name: &str) -> Result<(), RigError> {
        // NaN fails this comparison.
        if self.min <= self.max {
            Ok(())
        } else {
            Err(RigError::EmptyLimits {
                name: name.to_owned(),
                min: self.min,
                max: self.max,
            })
        }
    }
}

impl Default for Limits {
    /// 0 to 1, the usual range of blendshape sliders.
    fn default() -> Self {
        Self { min: 0.0, max: 1.0 }
    }
}

/// The path of a target through its in-betweens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Path {
    /// Linear from key to key, as FBX and UsdSkel define it.
    #[default]
    Linear,
    /// A smooth curve through the keys: no kink where a slider passes an in-between.
    Spline,
}

/// The settings of one slider.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Slider {
    /// Its range. Default: 0 to 1.
    pub limits: Limits,
    /// Whether solvers keep its weight.
    pub locked: bool,
    /// The path of its target through the in-betweens.
    pub path: Path,
}

/// Sliders that belong together, such as those of the brows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SliderGroup {
    /// Its name.
    pub name: String,
    /// Its sliders.
    pub sliders: Vec<SliderId>,
}
