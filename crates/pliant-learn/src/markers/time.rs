//! Curves over frames: through what is known, smooth, and at another rate.
//!
//! **Equation.** Between knots `tᵢ` the polynomial `Σ pᵢ Π_{j≠i} (t − tⱼ)/(tᵢ − tⱼ)`; a smooth
//! curve at frame `f` is the value there of the parabola with the least `Σ exp(−(k − f)²/2σ²) |p(k)
//! − p_k|²`.
//!
//! **Source.** Savitzky, Golay 1964, with the weights of Cleveland, "Robust locally weighted
//! regression", 1979, made Gaussian.
//!
//! **Ours.** The parabola serves the ends of a take as its middle, so that parabolas, lines and
//! constants stay as they are and nothing lags behind.

use pliant_linalg::portable;
use pliant_mesh::glam::{DMat3, DVec3};

use crate::LearnError;

/// Weights beyond so many deviations are left out.
const CUT: f64 = 4.0;

/// A length of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Window {
    /// Frames of the take.
    Frames(f64),
    /// Seconds, where the rate of the take is known.
    Seconds(f64),
}

impl Window {
    /// The same in frames.
    ///
    /// # Errors
    /// Seconds at an unknown rate; a number below zero.
    pub fn frames(self, fps: Option<f64>) -> Result<f64, LearnError> {
        let frames = match self {
            Self::Frames(frames) => frames,
            Self::Seconds(secs) => secs * fps.ok_or_else(unknown_rate)?,
        };
        if frames >= 0.0 && frames.is_finite() {
            return Ok(frames);
        }
        Err(LearnError::BadNumber {
            what: "the smoothing",
            value: frames,
            needed: "zero or more",
        })
    }
}

fn unknown_rate() -> LearnError {
    LearnError::Markers {
        why: "the take does not tell its frames per second; say them by --take-fps".into(),
    }
}

/// The polynomial through `knots` at `t`.
pub(super) fn through(knots: &[(f64, DVec3)], t: f64) -> DVec3 {
    let share = |i: usize| {
        (0..knots.len())
            .filter(|&j| j != i)
            .map(|j| (t - knots[j].0) / (knots[i].0 - knots[j].0))
            .product::<f64>()
    };
    knots
        .iter()
        .enumerate()
        .map(|(i, (_, place))| *place * share(i))
        .sum()
}

/// Every point smoothed over time with the deviation `sigma` in frames.
pub(super) fn smoothed(frames: &[Vec<DVec3>], sigma: f64) -> Vec<Vec<DVec3>> {
    let count = frames.len();
    // Three frames carry a parabola, which leaves nothing to smooth.
    if sigma == 0.0 || count <= 3 {
        return frames.to_vec();
    }
    let wide = ((CUT * sigma).ceil() as usize).max(2);
    let smooth = |f: usize| {
        // Near an end the window leans inwards and keeps its width.
        let first = f
            .saturating_sub(wide)
            .min(count.saturating_sub(2 * wide + 1));
        let last = (f + wide).max(2 * wide).min(count - 1);
        let shares = parabola_shares(first, last, f, sigma);
        let point = |k: usize| {
            (first..=last)
                .zip(&shares)
                .map(|(frame, share)| frames[frame][k] * *share)
                .sum::<DVec3>()
        };
        (0..frames[f].len()).map(point).collect()
    };
    (0..count).map(smooth).collect()
}

/// What each frame from `first` to `last` counts in the value at `f`.
fn parabola_shares(first: usize, last: usize, f: usize, sigma: f64) -> Vec<f64> {
    let offset = |frame: usize| (frame as f64 - f as f64) / sigma;
    let row = |t: f64| DVec3::new(1.0, t, t * t);
    // A narrow window must still determine three numbers: no weight falls below what rounding can
    // use.
    let weight = |t: f64| portable::exp(-0.5 * t * t).max(1e-9);
    let mut normal = DMat3::ZERO;
    for frame in first..=last {
        let t = offset(frame);
        normal += pliant_linalg::outer(row(t), row(t)) * weight(t);
    }
    let value = normal.inverse().transpose() * DVec3::X;
    (first..=last)
        .map(offset)
        .map(|t| weight(t) * row(t).dot(value))
        .collect()
}

/// The points at `fps`: frames of the take where they meet, cubics between.
pub(super) fn resampled(
    frames: &[Vec<DVec3>],
    take_fps: Option<f64>,
    fps: f64,
) -> Result<Vec<Vec<DVec3>>, LearnError> {
    if !(fps > 0.0 && fps.is_finite()) {
        return Err(LearnError::BadNumber {
            what: "the number of frames per second",
            value: fps,
            needed: "above zero",
        });
    }
    let step = take_fps.ok_or_else(unknown_rate)? / fps;
    // Rounding may not cost the last frame.
    let whole = |t: f64| ((t - t.round()).abs() < 1e-6).then(|| t.round() as usize);
    let end = (frames.len() - 1) as f64;
    let count = ((end + 1e-6) / step).floor() as usize + 1;
    if count > 1_000_000 {
        return Err(LearnError::BadNumber {
            what: "the number of frames per second",
            value: fps,
            needed: "such that a million frames suffice",
        });
    }
    let at = |k: usize| {
        let t = k as f64 * step;
        if let Some(frame) = whole(t) {
            return frames[frame.min(frames.len() - 1)].clone();
        }
        let first = (t.floor() as usize)
            .saturating_sub(1)
            .min(frames.len().saturating_sub(4));
        let last = (first + 3).min(frames.len() - 1);
        let point = |k: usize| {
            through(
                &(first..=last)
                    .map(|frame| (frame as f64, frames[frame][k]))
                    .collect::<Vec<_>>(),
                t,
            )
        };
        (0..frames[first].len()).map(point).collect()
    };
    Ok((0..count).map(at).collect())
}
