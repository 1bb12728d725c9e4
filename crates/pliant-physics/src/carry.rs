//! What a prediction lacks between two shapes, sampled once and carried along.
//!
//! **Problem.** The prediction between two shapes is off by a few thousandths in soft directions (the bend of a finger),
//! which a fast solver has to make good again at every blend. What it lacks changes smoothly from the first shape, where it
//! lacks nothing, to the second.
//!
//! **Equation.** With the equilibrium `x`, the prediction `p` and the blended rotations `R̄` at `α = ¼, ½, ¾`,
//!
//! ```text
//! cₖ = R̄(αₖ)ᵀ (x(αₖ) − p(αₖ))        x(α) ≈ p(α) + R̄(α) Σₖ ℓₖ(α) cₖ
//! ```
//!
//! where `ℓₖ` are Lagrange's polynomials on these and on 0 and 1, where `c = 0`.
//!
//! **Ours.** Samples belong to a pair of shapes, not to the blends asked for before, so results do not depend on those.

use pliant_mesh::glam::{DQuat, DVec3};

/// Where the way is sampled, beside its ends.
pub(crate) const SAMPLES: [f64; 3] = [0.25, 0.5, 0.75];

/// What predictions between two shapes lack, in the frame of the first shape, at each of [`SAMPLES`].
#[derive(Debug, Clone)]
pub(crate) struct Carry([Vec<DVec3>; SAMPLES.len()]);

impl Carry {
    pub(crate) fn new(lacks: [Vec<DVec3>; SAMPLES.len()]) -> Self {
        Self(lacks)
    }

    /// What a prediction lacked, in the frame of the first shape.
    pub(crate) fn lack(found: &[DVec3], predicted: &[DVec3], rotations: &[DQuat]) -> Vec<DVec3> {
        found.iter().zip(predicted).zip(rotations).map(|((x, p), r)| r.conjugate() * (*x - *p)).collect()
    }

    /// Adds to a prediction at `alpha` what it is expected to lack.
    pub(crate) fn add_to(&self, predicted: &mut [DVec3], alpha: f64, rotations: &[DQuat]) {
        let shares: [f64; SAMPLES.len()] = std::array::from_fn(|k| lagrange(k, alpha));
        for (vertex, place) in predicted.iter_mut().enumerate() {
            let lack: DVec3 = self.0.iter().zip(shares).map(|(lacks, share)| lacks[vertex] * share).sum();
            *place += rotations[vertex] * lack;
        }
    }
}

/// The polynomial that is one at the sample `k`, and zero at the others and at both ends.
fn lagrange(k: usize, alpha: f64) -> f64 {
    let others = [0.0, 1.0].into_iter().chain((0..SAMPLES.len()).filter(|&j| j != k).map(|j| SAMPLES[j]));
    others.map(|node| (alpha - node) / (SAMPLES[k] - node)).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_met_and_smooth_ways_between_them_too() {
        let way = |alpha: f64| DVec3::new(alpha * (1.0 - alpha), alpha * alpha * (1.0 - alpha), alpha * (1.0 - alpha).powi(3));
        let rotation = |alpha: f64| DQuat::from_rotation_z(alpha);
        let lack = |alpha: f64| Carry::lack(&[rotation(alpha) * way(alpha) + DVec3::ONE], &[DVec3::ONE], &[rotation(alpha)]);
        let carry = Carry::new(SAMPLES.map(lack));
        for alpha in [0.0, 0.1, 0.25, 0.4, 0.5, 0.9, 1.0] {
            let mut place = [DVec3::ONE];
            carry.add_to(&mut place, alpha, &[rotation(alpha)]);
            assert!(place[0].distance(DVec3::ONE + rotation(alpha) * way(alpha)) < 1e-14, "{alpha}");
        }
    }
}
