//! Interpolation, smoothing (Savitzky-Golay) and resampling of marker paths.
//!
//! **Equation.** Between knots `tᵢ` the Lagrange polynomial `Σ pᵢ Π_{j≠i} (t − tⱼ)/(tᵢ − tⱼ)`. A
//! smooth path at frame `f` is the value of the parabola with the least `Σ exp(−(k − f)²/2σ²) |p(k)
//! − p_k|²`.
//!
//! **Source.** Savitzky, Golay 1964, with the weights of Cleveland, "Robust locally weighted
//! regression", 1979, made Gaussian.
//!
//! **Departures.** The parabola is also fitted at the ends of a take, so that parabolas, lines and
//! constants are preserved and the result has no lag.

use pliant_linalg::{outer, portable};
use pliant_mesh::glam::{DMat3, DVec3};

use super::preparation::markers_error;
use crate::LearnError;

/// The half-width of the window, in deviations.
const CUT: f64 = 4.0;

/// The most frames of a resampled take.
const MOST_FRAMES: usize = 1_000_000;

/// The width of a smoothing window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Window {
    /// Frames of the take.
    Frames(f64),
    /// Seconds; the frame rate of the take must be known.
    Seconds(f64),
}

impl Window {
    /// The width in frames.
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
    markers_error("the take has no frame rate; give it by --take-fps".into())
}

/// The Lagrange polynomial through `knots` at `t`.
pub(super) fn lagrange(knots: &[(f64, DVec3)], t: f64) -> DVec3 {
    let weight = |i: usize| {
        (0..knots.len())
            .filter(|&j| j != i)
            .map(|j| (t - knots[j].0) / (knots[i].0 - knots[j].0))
            .product::<f64>()
    };
    let terms = knots.iter().enumerate();
    terms.map(|(i, (_, position))| *position * weight(i)).sum()
}

/// Every point smoothed over time with the deviation `sigma` in frames.
pub(super) fn smoothed(frames: &[Vec<DVec3>], sigma: f64) -> Vec<Vec<DVec3>> {
    // A parabola fits three frames exactly.
    let count = frames.len();
    if sigma == 0.0 || count <= 3 {
        return frames.to_vec();
    }

    let half = ((CUT * sigma).ceil() as usize).max(2);
    let mut smooth = Vec::with_capacity(count);
    for f in 0..count {
        // Near an end the window is shifted inwards and keeps its width.
        let first = f
            .saturating_sub(half)
            .min(count.saturating_sub(2 * half + 1));
        let last = (f + half).max(2 * half).min(count - 1);
        let weights = parabola_weights(first, last, f, sigma);
        let point = |k: usize| {
            let window = frames[first..=last].iter().zip(&weights);
            window
                .map(|(frame, weight)| frame[k] * *weight)
                .sum::<DVec3>()
        };
        smooth.push((0..frames[f].len()).map(point).collect());
    }
    smooth
}

/// The weight of each frame from `first` to `last` in the value at `f`.
fn parabola_weights(first: usize, last: usize, f: usize, sigma: f64) -> Vec<f64> {
    let offset = |frame: usize| (frame as f64 - f as f64) / sigma;
    let row = |t: f64| DVec3::new(1.0, t, t * t);
    // A narrow window must still determine three coefficients: no weight is below the rounding.
    let weight = |t: f64| portable::exp(-0.5 * t * t).max(1e-9);

    let mut normal = DMat3::ZERO;
    for frame in first..=last {
        let t = offset(frame);
        normal += outer(row(t), row(t)) * weight(t);
    }
    let value = normal.inverse().transpose() * DVec3::X;
    (first..=last)
        .map(offset)
        .map(|t| weight(t) * row(t).dot(value))
        .collect()
}

/// The points at `fps`: original frames where the times coincide, cubics between them.
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

    // The tolerance keeps the last frame in spite of rounding.
    let step = take_fps.ok_or_else(unknown_rate)? / fps;
    let end = (frames.len() - 1) as f64;
    let count = ((end + 1e-6) / step).floor() as usize + 1;
    if count > MOST_FRAMES {
        return Err(LearnError::BadNumber {
            what: "the number of frames per second",
            value: fps,
            needed: "such that a million frames suffice",
        });
    }
    Ok((0..count)
        .map(|k| frame_at(frames, k as f64 * step))
        .collect())
}

/// The points at time `t`, in frames.
fn frame_at(frames: &[Vec<DVec3>], t: f64) -> Vec<DVec3> {
    if (t - t.round()).abs() < 1e-6 {
        let frame = t.round() as usize;
        return frames[frame.min(frames.len() - 1)].clone();
    }

    let first = (t.floor() as usize)
        .saturating_sub(1)
        .min(frames.len().saturating_sub(4));
    let last = (first + 3).min(frames.len() - 1);
    let mut points = Vec::with_capacity(frames[first].len());
    for k in 0..frames[first].len() {
        let knots: Vec<(f64, DVec3)> = (first..=last)
            .map(|frame| (frame as f64, frames[frame][k]))
            .collect();
        points.push(lagrange(&knots, t));
    }
    points
}
