//! Hyper-parameters of the local blend.

use std::fmt;

use crate::LearnError;

/// Hyper-parameters of [`Method::Auto`](crate::Method::Auto).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LocalSettings {
    /// Decay of the control point weights with distance: `s` in `exp(−s (d/d_last)²)`.
    pub sharpness: f64,
    /// Ridge of the regression, relative to the mean eigenvalue of its Gram matrix.
    pub ridge: f64,
    /// Number of local/global iterations: rotations fitted to the surface, then another Poisson
    /// solve.
    pub refits: usize,
}

impl LocalSettings {
    /// The most refits; more are a mistake in the input.
    const MOST_REFITS: usize = 1000;

    pub(crate) fn check(&self) -> Result<(), LearnError> {
        if !(self.sharpness >= 0.0 && self.sharpness.is_finite()) {
            return Err(LearnError::BadNumber {
                what: "the sharpness",
                value: self.sharpness,
                needed: "a number from zero up",
            });
        }

        if !(self.ridge > 0.0 && self.ridge.is_finite()) {
            return Err(LearnError::BadNumber {
                what: "the ridge",
                value: self.ridge,
                needed: "a number above zero",
            });
        }

        if self.refits > Self::MOST_REFITS {
            return Err(LearnError::BadNumber {
                what: "the number of refits",
                value: self.refits as f64,
                needed: "at most 1000",
            });
        }

        Ok(())
    }
}

impl fmt::Display for LocalSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "local frames, sharpness {}, ridge {}, {} refits",
            self.sharpness, self.ridge, self.refits
        )
    }
}
