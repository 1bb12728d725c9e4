//! Options of the detail layer: modes and hyper-parameters.

use std::fmt;
use std::str::FromStr;

use crate::{LearnError, Method};

/// The features from which heights are predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DetailMode {
    /// From the control points near each vertex, or from all, whichever predicts left-out examples
    /// better.
    #[default]
    Auto,
    /// From all control points at once: Huang et al. 2012, section 6.2.
    Direct,
    /// From the rotations of the predicted base: the inferior variant of their figure 7.
    Cascaded,
    /// The heights of the reference in every pose: their figure 8.
    Static,
}

impl DetailMode {
    /// All modes.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Direct, Self::Cascaded, Self::Static];

    /// Its name in recipes and results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Direct => "direct",
            Self::Cascaded => "cascaded",
            Self::Static => "static",
        }
    }

    /// The mode for a method: those of Huang 2012 and Feng 2008 use [`Direct`](Self::Direct).
    #[must_use]
    pub fn of_method(method: Method) -> Self {
        match method {
            Method::Huang2012 | Method::Feng2008 => Self::Direct,
            _ => Self::Auto,
        }
    }
}

impl FromStr for DetailMode {
    type Err = LearnError;

    fn from_str(name: &str) -> Result<Self, LearnError> {
        Self::ALL
            .into_iter()
            .find(|mode| mode.name() == name)
            .ok_or_else(|| LearnError::UnknownDetailMode {
                name: name.to_owned(),
            })
    }
}

/// Options of the detail layer.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DetailOptions {
    mode: DetailMode,
    settings: Option<DetailSettings>,
}

impl DetailOptions {
    /// The features from which heights are predicted. Default: [`DetailMode::Auto`].
    #[must_use]
    pub fn with_mode(self, mode: DetailMode) -> Self {
        Self { mode, ..self }
    }

    /// Given hyper-parameters. Default: those with the least leave-one-out error.
    #[must_use]
    pub fn with_settings(self, settings: DetailSettings) -> Self {
        Self {
            settings: Some(settings),
            ..self
        }
    }

    /// The features from which heights are predicted.
    #[must_use]
    pub fn mode(&self) -> DetailMode {
        self.mode
    }

    /// Whether regressions of several control points may be blended.
    pub(crate) fn may_blend(&self) -> bool {
        self.mode == DetailMode::Auto
            && self
                .settings
                .is_none_or(|settings| settings.sharpness.is_some())
    }

    /// The given hyper-parameters.
    #[must_use]
    pub fn settings(&self) -> Option<DetailSettings> {
        self.settings
    }
}

/// Hyper-parameters of the height regression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DetailSettings {
    /// Decay of the control point weights with distance; `None` gives all points the same weight.
    pub sharpness: Option<f64>,
    /// Width of the Gaussian kernel, over the median distance of the examples.
    pub width: f64,
    /// Ridge of the regression, relative to the mean eigenvalue of its Gram matrix.
    pub ridge: f64,
}

impl DetailSettings {
    pub(crate) fn check(&self) -> Result<(), LearnError> {
        let positive = |what, value: f64| match value > 0.0 && value.is_finite() {
            true => Ok(()),
            false => Err(LearnError::BadNumber {
                what,
                value,
                needed: "a number above zero",
            }),
        };

        positive("the kernel width of the details", self.width)?;
        positive("the ridge of the details", self.ridge)?;
        match self.sharpness {
            Some(value) if !(value >= 0.0 && value.is_finite()) => Err(LearnError::BadNumber {
                what: "the sharpness of the details",
                value,
                needed: "a number from zero up",
            }),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for DetailSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.sharpness {
            Some(sharpness) => write!(f, "local, sharpness {sharpness}, ")?,
            None => write!(f, "all points, ")?,
        }
        write!(f, "width {}, ridge {}", self.width, self.ridge)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_is_parsed_from_its_name_and_others_are_rejected() {
        assert!(
            DetailMode::ALL
                .into_iter()
                .all(|mode| mode.name().parse() == Ok(mode))
        );

        let message = "bumpy".parse::<DetailMode>().unwrap_err().to_string();
        assert!(
            message.contains("bumpy") && message.contains("cascaded"),
            "{message}"
        );
    }

    #[test]
    fn settings_out_of_range_are_rejected_by_name() {
        let good = DetailSettings {
            sharpness: Some(0.0),
            width: 1.0,
            ridge: 0.1,
        };

        assert!(good.check().is_ok());
        for (bad, name) in [
            (DetailSettings { width: 0.0, ..good }, "width"),
            (
                DetailSettings {
                    ridge: f64::NAN,
                    ..good
                },
                "ridge",
            ),
            (
                DetailSettings {
                    sharpness: Some(-1.0),
                    ..good
                },
                "sharpness",
            ),
        ] {
            assert!(bad.check().unwrap_err().to_string().contains(name));
        }
    }
}
