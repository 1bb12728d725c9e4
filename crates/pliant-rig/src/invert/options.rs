//! Options of the inverse rig: penalties and tolerances.

use crate::RigError;

/// Options of an inverse. The penalties have no unit: they are relative to the surface that a
/// typical slider moves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InvertOptions {
    pub(super) ridge: f64,
    /// `None` follows the noise of the clip.
    pub(super) sparsity: Option<f64>,
    /// `None` follows the noise of the clip.
    pub(super) roughness: Option<f64>,
    pub(super) tolerance: f64,
    pub(super) most_sweeps: usize,
    pub(super) align: bool,
}

impl InvertOptions {
    /// *Chosen*: far below the information of a frame, and enough to share motion between equal
    /// sliders.
    pub const DEFAULT_RIDGE: f64 = 1e-8;
    /// *Chosen*: weights are shown with three digits.
    pub const DEFAULT_TOLERANCE: f64 = 1e-6;
    /// *Chosen*: several times the need of all tested clips.
    pub const DEFAULT_MOST_SWEEPS: usize = 100;

    /// The regularisation ρ on squared weights, in moved surface. Default:
    /// [`DEFAULT_RIDGE`](Self::DEFAULT_RIDGE).
    #[must_use]
    pub fn with_ridge(self, ridge: f64) -> Self {
        Self { ridge, ..self }
    }

    /// A fixed penalty λ on each moved slider: a motion below this part of that of a typical slider
    /// is ignored. Default: a fifth of the noise of a slider in the clip, and almost none without
    /// noise.
    #[must_use]
    pub fn with_sparsity(self, sparsity: f64) -> Self {
        Self {
            sparsity: Some(sparsity),
            ..self
        }
    }

    /// A fixed penalty μ on second differences of the curves, the same for all sliders; zero fits
    /// each frame independently. Default: a penalty for each slider from the noise of the clip
    /// and from how much its curve bends, none without noise.
    #[must_use]
    pub fn with_roughness(self, roughness: f64) -> Self {
        Self {
            roughness: Some(roughness),
            ..self
        }
    }

    /// The largest change of a weight at which the solve ends. Default:
    /// [`DEFAULT_TOLERANCE`](Self::DEFAULT_TOLERANCE).
    #[must_use]
    pub fn with_tolerance(self, tolerance: f64) -> Self {
        Self { tolerance, ..self }
    }

    /// The largest number of sweeps over the clip; the report says if they did not converge.
    /// Default: [`DEFAULT_MOST_SWEEPS`](Self::DEFAULT_MOST_SWEEPS).
    #[must_use]
    pub fn with_most_sweeps(self, most_sweeps: usize) -> Self {
        Self {
            most_sweeps,
            ..self
        }
    }

    /// Whether a rigid motion is fitted to each frame, such as that of a nodding head. Default: no.
    #[must_use]
    pub fn with_align(self, align: bool) -> Self {
        Self { align, ..self }
    }

    pub(super) fn check(&self) -> Result<(), RigError> {
        let from_zero = [
            ("ridge", self.ridge),
            ("sparsity", self.sparsity.unwrap_or(0.0)),
            ("roughness", self.roughness.unwrap_or(0.0)),
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
            sparsity: None,
            roughness: None,
            tolerance: Self::DEFAULT_TOLERANCE,
            most_sweeps: Self::DEFAULT_MOST_SWEEPS,
            align: false,
        }
    }
}
