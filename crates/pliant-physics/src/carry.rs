//! What a prediction lacks between two shapes, sampled once and carried along.
//!
//! **Problem.** The prediction between two shapes is off by a few thousandths in soft directions
//! (the bend of a finger), which a fast solver has to make good again at every blend. What it lacks
//! changes smoothly from the first shape, where it lacks nothing, to the second.
//!
//! **Equation.** With the equilibrium `x`, the prediction `p` and the blended rotations `R̄` at
//! samples `αₖ`,
//!
//! ```text
//! cₖ = R̄(αₖ)ᵀ (x(αₖ) − p(αₖ))        x(α) ≈ p(α) + R̄(α) Σₖ ℓₖ(α) cₖ
//! ```
//!
//! where `ℓₖ` are Lagrange's polynomials on the four samples around `α`, the ends among them, where
//! `c = 0`.
//!
//! **Ours.** Samples halve the way, then its halves, and each starts from those before it. They
//! belong to a pair of shapes, not to the blends asked for before, so results do not depend on
//! those. Polynomials on all samples swing where a shape snaps; those on four keep that to its
//! place.

use pliant_mesh::glam::{DQuat, DVec3};

/// Samples that a polynomial runs through.
const AROUND: usize = 4;

/// Frames for each sample: measured on a horse's 36 frames, seven samples cost half as much again
/// as three, and frames then less than half.
const FRAMES_PER_SAMPLE: usize = 4;

/// Parts of the shortest way that is sampled.
const LEAST_PARTS: usize = 4;

/// Where a way of `frames` frames is sampled, beside its ends: halves, quarters and so on.
pub(crate) fn sample_levels(frames: usize) -> impl Iterator<Item = Vec<f64>> {
    let parts = (1..)
        .map(|level| 1_usize << level)
        .take_while(move |&parts| parts <= LEAST_PARTS.max(frames / FRAMES_PER_SAMPLE));
    parts.map(|parts| {
        (1..parts)
            .step_by(2)
            .map(|k| k as f64 / parts as f64)
            .collect()
    })
}

/// What predictions between two shapes lack at samples, ascending, in the frame of the first shape.
#[derive(Debug, Clone, Default)]
pub(crate) struct Carry(Vec<(f64, Vec<DVec3>)>);

impl Carry {
    /// Adds the sample at `alpha`: what the prediction lacked there.
    pub(crate) fn learn(
        &mut self,
        alpha: f64,
        found: &[DVec3],
        predicted: &[DVec3],
        rotations: &[DQuat],
    ) {
        let lack = found
            .iter()
            .zip(predicted)
            .zip(rotations)
            .map(|((x, p), r)| r.conjugate() * (*x - *p))
            .collect();
        let at = self.0.partition_point(|sample| sample.0 < alpha);
        self.0.insert(at, (alpha, lack));
    }

    /// Adds to a prediction at `alpha` what it is expected to lack.
    pub(crate) fn add_to(&self, predicted: &mut [DVec3], alpha: f64, rotations: &[DQuat]) {
        let nodes: Vec<f64> = std::iter::once(0.0)
            .chain(self.0.iter().map(|sample| sample.0))
            .chain([1.0])
            .collect();
        let above = nodes.partition_point(|&node| node <= alpha);
        let first = above
            .saturating_sub(AROUND / 2)
            .min(nodes.len().saturating_sub(AROUND));
        let around = &nodes[first..nodes.len().min(first + AROUND)];
        // The first node is the first shape, where nothing lacks, and so is the last.
        let own = (first..first + around.len()).filter(|&k| (1..=self.0.len()).contains(&k));
        let shares: Vec<(&[DVec3], f64)> = own
            .map(|k| {
                (
                    self.0[k - 1].1.as_slice(),
                    lagrange(around, k - first, alpha),
                )
            })
            .collect();
        for (vertex, place) in predicted.iter_mut().enumerate() {
            let lack: DVec3 = shares
                .iter()
                .map(|(lacks, share)| lacks[vertex] * *share)
                .sum();
            *place += rotations[vertex] * lack;
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

    /// A carry on a `way` that begins and ends at zero, and how far it is off at `alpha`.
    fn off(way: impl Fn(f64) -> DVec3, frames: usize, alpha: f64) -> f64 {
        let mut carry = Carry::default();
        for sample in sample_levels(frames).flatten() {
            carry.learn(
                sample,
                &[rotation(sample) * way(sample) + DVec3::ONE],
                &[DVec3::ONE],
                &[rotation(sample)],
            );
        }
        let mut place = [DVec3::ONE];
        carry.add_to(&mut place, alpha, &[rotation(alpha)]);
        place[0].distance(DVec3::ONE + rotation(alpha) * way(alpha))
    }

    #[test]
    fn cubic_ways_are_met_everywhere_and_others_at_the_samples() {
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
    fn a_snap_is_felt_next_to_it_alone() {
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
    fn short_ways_have_few_samples_and_none_twice() {
        let samples = |frames| sample_levels(frames).flatten().collect::<Vec<_>>();
        assert_eq!(samples(8), [0.5, 0.25, 0.75]);
        assert_eq!(samples(37), [0.5, 0.25, 0.75, 0.125, 0.375, 0.625, 0.875]);
    }
}
