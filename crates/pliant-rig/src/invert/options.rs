//! What an inverse rig weighs against what.

use crate::RigError;

/// The prices of a fit. All are free of units: they compare with surface that is moved by one
/// typical slider.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InvertOptions {
    pub(super) ridge: f64,
    pub(super) sparsity: f64,
    pub(super) roughness: f64,
    pub(super) tolerance: f64,
    pub(super) most_sweeps: usize,
    pub(super) align: bool,
}

impl InvertOptions {
    /// *Ours*: far below what a frame shows, and enough to share motion between equal sliders.
    pub const DEFAULT_RIDGE: f64 = 1e-8;
    /// *Ours*: a slider moves for a ten-thousandth of a typical slider's motion, not for rounding.
    pub const DEFAULT_SPARSITY: f64 = 1e-4;
    /// *Ours*: jitter of sliders that the frames hardly show goes, a blink of four frames stays.
    pub const DEFAULT_ROUGHNESS: f64 = 1e-4;
    /// *Ours*: weights are shown with three digits.
    pub const DEFAULT_TOLERANCE: f64 = 1e-6;
    /// *Ours*: several times what any clip we met needs.
    pub const DEFAULT_MOST_SWEEPS: usize = 100;

    /// The price ρ of squared weights, in moved surface. Default:
    /// [`DEFAULT_RIDGE`](Self::DEFAULT_RIDGE).
    #[must_use]
    pub fn with_ridge(self, ridge: f64) -> Self {
        Self { ridge, ..self }
    }

    /// The price λ of moving one more slider: a motion below this part of a typical slider's is
    /// left alone. Default: [`DEFAULT_SPARSITY`](Self::DEFAULT_SPARSITY).
    #[must_use]
    pub fn with_sparsity(self, sparsity: f64) -> Self {
        Self { sparsity, ..self }
    }

    /// The price μ of bends in the curves, per frame; zero fits each frame by itself.
    /// Default: [`DEFAULT_ROUGHNESS`](Self::DEFAULT_ROUGHNESS).
    #[must_use]
    pub fn with_roughness(self, roughness: f64) -> Self {
        Self { roughness, ..self }
    }

    /// The largest change of a weight at which the solve ends. Default:
    /// [`DEFAULT_TOLERANCE`](Self::DEFAULT_TOLERANCE).
    #[must_use]
    pub fn with_tolerance(self, tolerance: f64) -> Self {
        Self { tolerance, ..self }
    }

    /// Sweeps over the clip before the solve gives up, and says so. Default:
    /// [`DEFAULT_MOST_SWEEPS`](Self::DEFAULT_MOST_SWEEPS).
    #[must_use]
    pub fn with_most_sweeps(self, most_sweeps: usize) -> Self {
        Self {
            most_sweeps,
            ..self
        }
    }

    /// Whether each frame may also be moved as a whole: a head that nods. Default: no.
    #[must_use]
    pub fn with_align(self, align: bool) -> Self {
        Self { align, ..self }
    }

    pub(super) fn check(&self) -> Result<(), RigError> {
        let from_zero = [
            ("ridge", self.ridge),
            ("sparsity", self.sparsity),
            ("roughness", self.roughness),
        ];
        for (what, value) in from_zero {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(RigError::BadOption {
                    what,
                    value,
                    needed: "a number from 0 up",
                });
            }
        }
        if !(self.tolerance > 0.0 && self.tolerance.is_finite()) {
            return Err(RigError::BadOption {
                what: "tolerance",
                value: self.tolerance,
                needed: "a number above 0",
            });
        }
        Ok(())
    }
}

impl Default for InvertOptions {
    fn default() -> Self {
        Self {
            ridge: Self::DEFAULT_RIDGE,
            sparsity: Self::DEFAULT_SPARSITY,
            roughness: Self::DEFAULT_ROUGHNESS,
            tolerance: Self::DEFAULT_TOLERANCE,
            most_sweeps: Self::DEFAULT_MOST_SWEEPS,
            align: false,
        }
    }
}
