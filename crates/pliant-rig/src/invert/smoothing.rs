//! The penalty on the second differences of each slider, from the noise (empirical Bayes).
//!
//! **Problem.** One penalty for all sliders either lets those with little effect jitter or flattens
//! those that move fast; and it must vanish with the noise.
//!
//! **Equation.** If the second differences of the curve of slider `k` have the variance `τ²ₖ`, and
//! the force of the noise on a slider has the variance `s²`, the most probable curves have the
//! penalties
//!
//! ```text
//! μₖ = s² / τ²ₖ        τ²ₖ ← mean (xₖ,ₜ₋₁ − 2xₖₜ + xₖ,ₜ₊₁)² + s² · ½∫ ω² [(H + ω² diag μ)⁻¹]ₖₖ
//! ```
//!
//! where `x` are the curves found with the present `μ`, the second part is what they cannot know
//! because of the noise, `H` is the Hessian of a frame, and `ω² = (2 − 2 cos φ)²` over frequencies
//! `φ`. This is expectation maximisation for the variance components.
//!
//! **Source.** Dempster, Laird, Rubin, "Maximum likelihood from incomplete data via the EM
//! algorithm", 1977. Smoothing penalties as a ratio of variances: Whittaker, "On a new method of
//! graduation", 1923.
//!
//! **Departures.** Limits and the penalty on moved sliders are respected by `x` and neglected in the
//! second part. A few rounds are enough: the result is flat in `μ`.

use pliant_linalg::{DenseMatrix, LinalgError, symmetric_eigen};

use crate::RigError;

use super::sequence::{Sequence, Solved};

/// Rounds of the estimate. *Measured* on planted clips of the ICT head and of Candide-3: two more
/// change the error of the weights by under 5 %.
const ROUNDS: usize = 3;
/// Sweeps and tolerance within a round. *Chosen*: a round needs a variance, not weights.
const SWEEPS: usize = 3;
const TOLERANCE: f64 = 1e-3;
/// The part of the observed variance that the first round keeps at least. *Chosen*.
const LEAST_PART: f64 = 0.03;
/// Frequencies in the integral.
const FREQUENCIES: usize = 32;
/// The bounds of `μ`. *Chosen*: a curve at the upper one bends over hundreds of frames.
const LEAST_ROUGHNESS: f64 = 1e-9;
const MOST_ROUGHNESS: f64 = 100.0;
/// Frames whose Hessians are averaged.
const HESSIANS: usize = 16;

/// The sequence with the penalties that the noise asks for, and its curves near their solution.
/// `force` is `s`.
pub(super) fn with_roughness_from_noise<'a>(
    mut sequence: Sequence<'a>,
    solved: &mut Solved,
    force: f64,
) -> Result<Sequence<'a>, RigError> {
    let variance = force * force;
    let size = sequence.problem.size();
    let observed = mean_squared_second_differences(&solved.x, size);
    let mut hessian = mean_hessian(&sequence, solved);

    // The first curves are those of independent frames: their noise is part of what is observed.
    let unknown = unknown_bends(&hessian, &vec![LEAST_ROUGHNESS; size])?;
    let mut bends = Vec::with_capacity(size);
    for (seen, unknown) in observed.iter().zip(unknown) {
        bends.push((seen - variance * unknown).max(LEAST_PART * seen));
    }

    for _ in 0..ROUNDS {
        let roughness: Vec<f64> = bends.iter().map(|bend| ratio(variance, *bend)).collect();
        sequence = sequence.with_roughness(roughness.clone());
        let most_sweeps = solved.sweeps + SWEEPS;
        sequence.smooth(TOLERANCE, most_sweeps, solved)?;

        hessian = mean_hessian(&sequence, solved);
        let unknown = unknown_bends(&hessian, &roughness)?;
        bends = mean_squared_second_differences(&solved.x, size);
        for (bend, unknown) in bends.iter_mut().zip(unknown) {
            *bend += variance * unknown;
        }
    }

    let roughness = bends.iter().map(|bend| ratio(variance, *bend)).collect();
    Ok(sequence.with_roughness(roughness))
}

/// `s² / τ²` inside its bounds.
fn ratio(variance: f64, bend: f64) -> f64 {
    if variance == 0.0 {
        return 0.0;
    }
    (variance / bend.max(f64::MIN_POSITIVE)).clamp(LEAST_ROUGHNESS, MOST_ROUGHNESS)
}

fn mean_squared_second_differences(x: &[Vec<f64>], size: usize) -> Vec<f64> {
    let count = x.len().saturating_sub(2).max(1) as f64;
    let mut means = vec![0.0; size];
    for three in x.windows(3) {
        for (k, mean) in means.iter_mut().enumerate() {
            *mean += (three[0][k] - 2.0 * three[1][k] + three[2][k]).powi(2) / count;
        }
    }
    means
}

/// The mean of the Hessians of some frames at their present weights.
fn mean_hessian(sequence: &Sequence<'_>, solved: &Solved) -> Vec<f64> {
    let count = solved.x.len();
    let samples = count.min(HESSIANS);
    let size = sequence.problem.size();

    let mut mean = vec![0.0; size * size];
    for k in 0..samples {
        let t = k * count / samples;
        let linearised = sequence
            .problem
            .linearised(&sequence.frames[t], &solved.x[t]);
        for (mean, h) in mean.iter_mut().zip(&linearised.hessian) {
            *mean += h / samples as f64;
        }
    }
    mean
}

/// `½∫ ω² [(H + ω² diag μ)⁻¹]ₖₖ` for each slider: the variance of second differences that remains
/// unknown, for noise of variance 1.
///
/// With `M = μ^(−½) H μ^(−½) = U Λ Uᵀ` the matrix in brackets has the inverse
/// `μ^(−½) U (Λ + ω²)⁻¹ Uᵀ μ^(−½)` for all frequencies at once.
fn unknown_bends(hessian: &[f64], roughness: &[f64]) -> Result<Vec<f64>, LinalgError> {
    let n = roughness.len();
    let scale: Vec<f64> = roughness.iter().map(|mu| 1.0 / mu.sqrt()).collect();
    let matrix = DenseMatrix::from_fn(n, n, |i, j| scale[i] * hessian[i * n + j] * scale[j]);
    let (values, vectors) = symmetric_eigen(matrix.as_ref())?;
    let parts: Vec<f64> = values
        .iter()
        .map(|value| mean_over_frequencies(value.max(0.0)))
        .collect();

    let mut bends = Vec::with_capacity(n);
    for i in 0..n {
        let squares = parts
            .iter()
            .enumerate()
            .map(|(k, part)| part * vectors[(i, k)].powi(2));
        bends.push(squares.sum::<f64>() * scale[i] * scale[i]);
    }
    Ok(bends)
}

/// The mean of `ω² / (λ + ω²)` over all frequencies.
fn mean_over_frequencies(lambda: f64) -> f64 {
    let mut sum = 0.0;
    for k in 0..FREQUENCIES {
        let angle = std::f64::consts::PI * (k as f64 + 0.5) / FREQUENCIES as f64;
        let squared = (2.0 - 2.0 * angle.cos()).powi(2);
        sum += squared / (lambda + squared);
    }
    sum / FREQUENCIES as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_coupling_the_unknown_bend_is_six_times_the_variance_of_a_weight() {
        // Second differences of independent numbers have 1 + 4 + 1 times their variance.
        let hessian = [2.0, 0.5, 0.5, 1.0];
        let found = unknown_bends(&hessian, &[1e-9; 2]).unwrap();
        let determinant = 2.0 - 0.25;
        let expected = [6.0 * 1.0 / determinant, 6.0 * 2.0 / determinant];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        }
    }

    #[test]
    fn the_unknown_bend_is_the_mean_of_inverses_over_frequencies() {
        let hessian = [1.0, 0.3, 0.3, 0.7];
        let roughness = [0.2, 3.0];
        let mut expected = [0.0; 2];
        for k in 0..FREQUENCIES {
            let angle = std::f64::consts::PI * (k as f64 + 0.5) / FREQUENCIES as f64;
            let squared = (2.0 - 2.0 * angle.cos()).powi(2);
            let a = hessian[0] + squared * roughness[0];
            let d = hessian[3] + squared * roughness[1];
            let determinant = a * d - 0.09;
            expected[0] += squared * d / determinant / FREQUENCIES as f64;
            expected[1] += squared * a / determinant / FREQUENCIES as f64;
        }
        for (found, expected) in unknown_bends(&hessian, &roughness)
            .unwrap()
            .iter()
            .zip(expected)
        {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }
}
