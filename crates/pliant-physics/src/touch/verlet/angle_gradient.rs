//! Gradient and correction of an angle, for corners and hinges.
//!
//! **Problem.** Move `N` vertices so that the angle `cos⁻¹ D` becomes the angle `φ` at rest.
//!
//! **Equation.** With vectors `r = f ∇C`, eqs. 5.6 and 5.7 are
//!
//! ```text
//! Δqᵢ = −wᵢ f (cos⁻¹ D − φ) / (Σⱼ wⱼ |rⱼ|²) rᵢ
//! ```
//!
//! for any `f`.
//!
//! **Source.** Müller, Heidelberger, Hennix, Ratcliff, "Position based dynamics", 2007, appendix A;
//! Çetinaslan 2016, eqs. A.10–A.12 and A.22–A.25, there with `f = √(1 − D²)` and `w = 1`.
//!
//! **Departures.** Weights `w`, so that held vertices stay. An `f` for each kind that needs the
//! fewest roots and quotients, and has no `0 / 0` next to 0 and π. The sine is the length of a
//! cross product: near 0 and π the digits of `√(1 − D²)` cancel. An angle of 0 or π has no gradient
//! and is skipped in the sweep, as is one whose directions have no length, now or at rest.

use crate::touch::projection::arc_cosine::arc_cosine;
use crate::touch::projection::lanes::{Lanes, Vectors};

/// Angles with a smaller sine have no direction to grow in. Chosen: rounding then rotates their
/// gradient by up to 10⁻⁷.
const LEAST_SINE: f64 = 1e-9;

/// The value of an angle between directions of zero length.
const NO_ANGLE: f64 = -1.0;

/// Smaller squares of lengths count as zero, so that the inverse of none is infinite.
const LEAST_SQUARE: f64 = 1e-280;

/// An angle of `N` vertices, in each lane.
#[derive(Debug, Clone, Copy)]
pub(super) struct AngleGradient<const N: usize> {
    /// From 0 to π; [`NO_ANGLE`] where there is none.
    pub(super) angle: Lanes,
    /// `f`; zero where the angle has no gradient.
    pub(super) factor: Lanes,
    /// `r` of each vertex.
    pub(super) gradients: [Vectors; N],
}

impl<const N: usize> AngleGradient<N> {
    /// The angle between two directions, from their dot product, the length of their cross product,
    /// and the inverse product of their squared lengths, by [`inverse`].
    #[inline(always)]
    pub(super) fn new(
        dot: Lanes,
        cross: Lanes,
        inverse_square: Lanes,
        factor: Lanes,
        gradients: [Vectors; N],
    ) -> Self {
        // Cosine and sine of the normalised directions.
        let share = inverse_square.sqrt();
        let sine = cross * share;
        let angle =
            arc_cosine(dot * share, sine).zip(
                share,
                |angle, share| if share > 0.0 { angle } else { NO_ANGLE },
            );

        Self {
            angle,
            factor: factor.zip(
                sine,
                |factor, sine| if sine > LEAST_SINE { factor } else { 0.0 },
            ),
            gradients,
        }
    }

    /// Moves `positions` by `share` of the correction to the angle at rest.
    #[inline(always)]
    pub(super) fn correct(
        &self,
        positions: &mut [Vectors; N],
        inverse_masses: &[Lanes; N],
        rest: Lanes,
        share: Lanes,
    ) {
        let violation = self.angle.zip(
            rest,
            |angle, rest| if rest >= 0.0 { angle - rest } else { 0.0 },
        );

        let mut response = Lanes::ZERO;
        for v in 0..N {
            response = response + self.gradients[v].dot(self.gradients[v]) * inverse_masses[v];
        }

        let step = (self.factor * violation * share).over(response);
        for v in 0..N {
            positions[v] -= self.gradients[v] * (inverse_masses[v] * step);
        }
    }
}

/// The inverse of a product of squared lengths, and zero where it is too small.
#[inline(always)]
pub(super) fn inverse(square: Lanes) -> Lanes {
    square.map(|square| {
        if square > LEAST_SQUARE {
            1.0 / square
        } else {
            0.0
        }
    })
}
