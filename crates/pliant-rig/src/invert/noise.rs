//! The noise of a clip, estimated from the clip itself.
//!
//! **Problem.** Penalties must grow with the noise of a capture and vanish without it; nobody knows
//! the noise of a file.
//!
//! **Equation.** `P` projects onto the span of all shapes of the rig, in the measure `a` of the fit.
//! Outside this span no weights explain a frame. With the second difference
//! `e = yₜ₋₁ − 2yₜ + yₜ₊₁` of three frames and the standard deviation `σ` of one coordinate
//!
//! ```text
//! σ² = median |e − Pe|²ₐ / 6f        m² = mean |dₜ − Pdₜ|²ₐ − σ² f        f = 3 Σ a − rank · Σ a² / Σ a
//! ```
//!
//! `σ` is noise that changes from frame to frame. `m` is smooth motion that the rig does not have,
//! such as that of another head. The median ignores the few windows with a sudden motion.
//!
//! The measure of the fit follows: noise that is independent for each vertex asks for equal weights
//! of all vertices (Gauss and Markov), a difference between two surfaces for their areas. The share
//! of the former is `θ = σ² / (σ² + m² + ε²)`.
//!
//! **Source.** Noise from second differences: Gasser, Sroka, Jennen-Steinmetz, "Residual variance
//! and residual pattern in nonlinear regression", 1986.

use pliant_linalg::{DenseMatrix, LinalgError, symmetric_eigen};

use super::shape_projections::FrameProjection;

/// The noise of a clip.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Noise {
    /// `σ`: the standard deviation of one coordinate, in units of the asset.
    pub(super) deviation: f64,
    /// `m`: the root mean square distance to the span of the shapes, without the noise.
    pub(super) outside: f64,
    /// The root mean square displacement of the frames.
    motion: f64,
}

/// Three frames in a row.
#[derive(Debug)]
pub(super) struct Window {
    /// The projection of `e`.
    pub(super) second_difference: FrameProjection,
    /// The projection of the frame in the middle.
    pub(super) middle: FrameProjection,
    /// `Σ a` and `Σ a²` over the points that are seen.
    pub(super) measure: [f64; 2],
}

/// The span of the shapes.
#[derive(Debug)]
pub(super) struct Span {
    /// Orthonormal directions `u / √λ` of the Gram matrix.
    directions: Vec<Vec<f64>>,
}

impl Noise {
    /// The most windows of an estimate. *Chosen*: a window has thousands of coordinates, so more
    /// windows add only time.
    const MOST_WINDOWS: usize = 24;
    /// `ε` relative to the motion: the rounding of files with 32-bit numbers.
    const ROUNDING: f64 = 1e-6;
    /// The factor of a slider's noise in its penalty. *Measured* on planted clips of the ICT head
    /// and of Candide-3: a third as much and three times as much are worse on one of them.
    const NOISE_PENALTY: f64 = 0.2;
    /// The factor of motion that the rig does not have in the penalty. *Chosen*: it is not
    /// independent from vertex to vertex, so that sliders would follow it.
    const OUTSIDE_PENALTY: f64 = 1e-3;
    /// The least penalty, relative to a typical slider. *Chosen*: it decides between sliders that
    /// explain a clip equally well.
    const LEAST_PENALTY: f64 = 1e-6;

    /// The frames in the middle of the windows of a clip.
    pub(super) fn middles(frame_count: usize) -> Vec<usize> {
        let places = frame_count.saturating_sub(2);
        let windows = places.min(Self::MOST_WINDOWS);
        (0..windows).map(|k| 1 + k * places / windows).collect()
    }

    /// The noise in `windows`, whose projections are onto the shapes of `span_of(window)`.
    pub(super) fn of<'s>(windows: &[Window], span_of: impl Fn(usize) -> &'s Span) -> Self {
        let mut variances = Vec::with_capacity(windows.len());
        let mut outside = 0.0;
        let mut motion = 0.0;
        let mut freedom = 0.0;

        for (k, window) in windows.iter().enumerate() {
            let span = span_of(k);
            let [sum, squares] = window.measure;
            if sum == 0.0 {
                continue;
            }

            // Points that the span can always reach say nothing: their motion bounds the noise.
            let free = 3.0 * sum - span.directions.len() as f64 * squares / sum;
            let second = &window.second_difference;
            variances.push(if free > 0.1 * sum {
                span.distance_squared(second) / (6.0 * free)
            } else {
                second.energy / (18.0 * sum)
            });
            outside += span.distance_squared(&window.middle);
            motion += window.middle.energy;
            freedom += free.max(0.0);
        }

        let count = variances.len().max(1) as f64;
        variances.sort_by(f64::total_cmp);
        let variance = variances.get(variances.len() / 2).copied().unwrap_or(0.0);
        Self {
            deviation: variance.sqrt(),
            outside: ((outside - variance * freedom).max(0.0) / count).sqrt(),
            motion: (motion / count).sqrt(),
        }
    }

    /// `θ`: the share of equal weights of all vertices in the measure.
    pub(super) fn vertex_share(&self) -> f64 {
        let noise = self.deviation.powi(2);
        let other = self.outside.powi(2) + (Self::ROUNDING * self.motion).powi(2);
        if noise > 0.0 {
            noise / (noise + other)
        } else {
            0.0
        }
    }

    /// The mean squared distance of a frame that noise and motion outside the span explain, in a
    /// measure whose areas have the sum 1.
    pub(super) fn explained(&self) -> f64 {
        /// The distance of single frames scatters around its mean.
        const SCATTER: f64 = 1.2;
        SCATTER * (3.0 * self.deviation.powi(2) + self.outside.powi(2))
    }

    /// The penalty `λγ`, where `force` is the standard deviation of the force on a slider.
    pub(super) fn penalty(&self, force: f64, typical: f64) -> f64 {
        Self::NOISE_PENALTY * force
            + Self::OUTSIDE_PENALTY * self.outside
            + Self::LEAST_PENALTY * typical
    }
}

impl Span {
    /// Eigenvalues below this part of the largest are rounding.
    const TOLERANCE: f64 = 1e-10;

    /// The span of the shapes with the Gram matrix `gram`, row by row.
    pub(super) fn of(gram: &[f64]) -> Result<Self, LinalgError> {
        let n = gram.len().isqrt();
        let matrix = DenseMatrix::from_fn(n, n, |i, j| gram[i * n + j]);
        let (values, vectors) = symmetric_eigen(matrix.as_ref())?;
        let least = Self::TOLERANCE * values.last().copied().unwrap_or(0.0);

        let mut directions = Vec::new();
        for (k, value) in values.into_iter().enumerate() {
            if value > least {
                let scale = 1.0 / value.sqrt();
                directions.push((0..n).map(|i| vectors[(i, k)] * scale).collect());
            }
        }
        Ok(Self { directions })
    }

    /// `|d − Pd|²`.
    fn distance_squared(&self, projection: &FrameProjection) -> f64 {
        let mut rest = projection.energy;
        for direction in &self.directions {
            let products = direction.iter().zip(&projection.onto_shapes);
            rest -= products.map(|(u, h)| u * h).sum::<f64>().powi(2);
        }
        rest.max(0.0)
    }
}
