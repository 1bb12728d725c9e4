//! Correction of the predictor from samples between two shapes.
//!
//! **Problem.** The predictor between two shapes has an error of a few thousandths in soft
//! directions (the bend of a finger), which a fast solver has to remove again at every blend. This
//! error changes smoothly from the first shape to the second, and vanishes at both.
//!
//! **Equation.** With the equilibrium `x`, the prediction `p` and the blended rotations `R̄` at
//! samples `αₖ`,
//!
//! ```text
//! cₖ = R̄(αₖ)ᵀ (x(αₖ) − p(αₖ))        x(α) ≈ p(α) + R̄(α) Σₖ ℓₖ(α) cₖ
//! ```
//!
//! where `ℓₖ` are Lagrange's polynomials on the four samples around `α`, including the ends, where
//! `c = 0`.
//!
//! **Departures.** Samples halve the interval, then its halves, and each starts from those before
//! it. They belong to a pair of shapes and not to earlier blends, so results do not depend on
//! those. Polynomials on all samples oscillate where a shape snaps; those on four samples limit
//! this to the neighbourhood.

use pliant_mesh::glam::{DQuat, DVec3};

/// Samples of an interpolating polynomial.
const AROUND: usize = 4;

/// Frames for each sample. Measured on 36 frames of a horse: seven samples cost half as much again
/// as three, and frames then less than half.
const FRAMES_PER_SAMPLE: usize = 4;

/// Intervals of the shortest sampled sequence.
const LEAST_PARTS: usize = 4;

/// The samples of a sequence of `frames` frames, without its ends: halves, quarters and so on.
pub(crate) fn sample_levels(frames: usize) -> Vec<Vec<f64>> {
    let most = LEAST_PARTS.max(frames / FRAMES_PER_SAMPLE);
    let mut levels = Vec::new();
    let mut parts = 2;
    while parts <= most {
        let odd = (1..parts).step_by(2);
        levels.push(odd.map(|k| k as f64 / parts as f64).collect());
        parts *= 2;
    }

    levels
}

/// Errors of the predictor between two shapes at samples, ascending, in the frame of the first
/// shape.
#[derive(Debug, Clone, Default)]
pub(crate) struct PredictorCorrection(Vec<(f64, Vec<DVec3>)>);

impl PredictorCorrection {
    /// Adds the sample at `alpha`: the error of the prediction there.
    pub(crate) fn add_sample(
        &mut self,
        alpha: f64,
        solved: &[DVec3],
        predicted: &[DVec3],
        rotations: &[DQuat],
    ) {
        let mut errors = Vec::with_capacity(solved.len());
        for ((x, p), r) in solved.iter().zip(predicted).zip(rotations) {
            errors.push(r.conjugate() * (*x - *p));
        }

        let at = self.0.partition_point(|sample| sample.0 < alpha);
        self.0.insert(at, (alpha, errors));
    }

    /// Adds the interpolated error to a prediction at `alpha`.
    pub(crate) fn add_to(&self, predicted: &mut [DVec3], alpha: f64, rotations: &[DQuat]) {
        let mut nodes = vec![0.0];
        nodes.extend(self.0.iter().map(|sample| sample.0));
        nodes.push(1.0);

        // The four nodes around `alpha`, or all if there are fewer.
        let above = nodes.partition_point(|&node| node <= alpha);
        let first = above
            .saturating_sub(AROUND / 2)
            .min(nodes.len().saturating_sub(AROUND));
        let around = &nodes[first..nodes.len().min(first + AROUND)];

        // The first and the last node are the shapes themselves, where the error is zero.
        let mut shares: Vec<(&[DVec3], f64)> = Vec::new();
        for k in first..first + around.len() {
            if (1..=self.0.len()).contains(&k) {
                let share = lagrange(around, k - first, alpha);
                shares.push((&self.0[k - 1].1, share));
            }
        }

        for (vertex, position) in predicted.iter_mut().enumerate() {
            let mut error = DVec3::ZERO;
            for (errors, share) in &shares {
                error += errors[vertex] * *share;
            }
            *position += rotations[vertex] * error;
        }
    }
}

/// The polynomial that is one at the node `k` and zero at the others.
fn lagrange(nodes: &[f64], k: usize, alpha: f64) -> f64 {
    (0..nodes.len())
        .filter(|&j| j != k)
        .map(|j| (alpha - nodes[j]) / (nodes[k] - nodes[j]))
        .product()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rotation(alpha: f64) -> DQuat {
        DQuat::from_rotation_z(alpha)
    }

    /// The interpolation error at `alpha` of a correction with the given errors of the predictor.
    fn off(error: impl Fn(f64) -> DVec3, frames: usize, alpha: f64) -> f64 {
        let mut correction = PredictorCorrection::default();
        for sample in sample_levels(frames).concat() {
            correction.add_sample(
                sample,
                &[rotation(sample) * error(sample) + DVec3::ONE],
                &[DVec3::ONE],
                &[rotation(sample)],
            );
        }

        let mut place = [DVec3::ONE];
        correction.add_to(&mut place, alpha, &[rotation(alpha)]);
        place[0].distance(DVec3::ONE + rotation(alpha) * error(alpha))
    }

    #[test]
    fn cubic_errors_are_interpolated_exactly_and_others_at_the_samples() {
        // Four nodes interpolate cubic polynomials exactly.
        let cubic = |alpha: f64| {
            DVec3::new(
                alpha * (1.0 - alpha),
                alpha * alpha * (1.0 - alpha),
                alpha * (1.0 - alpha).powi(2),
            )
        };

        let wave = |alpha: f64| DVec3::X * (7.0 * alpha).sin() * (1.0 - alpha);
        for alpha in [0.0, 0.1, 0.25, 0.4, 0.5, 0.9, 1.0] {
            assert!(off(cubic, 37, alpha) < 1e-14, "{alpha}");
        }

        assert!(
            [0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875]
                .iter()
                .all(|&alpha| off(wave, 37, alpha) < 1e-14)
        );

        assert!(
            off(wave, 37, 0.3) > 1e-6 && off(wave, 400, 0.3) < 0.01 * off(wave, 37, 0.3),
            "more samples come closer"
        );
    }

    #[test]
    fn a_snap_affects_its_neighbourhood_only() {
        let snap = |alpha: f64| {
            if alpha > 0.8 {
                DVec3::X * (1.0 - alpha)
            } else {
                DVec3::ZERO
            }
        };
        assert!(off(snap, 37, 0.7) > 1e-3);
        assert!(off(snap, 37, 0.3) == 0.0);
    }

    #[test]
    fn short_sequences_have_few_samples_and_none_twice() {
        let samples = |frames| {
            sample_levels(frames)
                .concat()
                .into_iter()
                .collect::<Vec<_>>()
        };
        assert_eq!(samples(8), [0.5, 0.25, 0.75]);
        assert_eq!(samples(37), [0.5, 0.25, 0.75, 0.125, 0.375, 0.625, 0.875]);
    }
}
