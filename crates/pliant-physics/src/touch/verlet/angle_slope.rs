//! What angles of corners and of hinges have in common.
//!
//! **Problem.** Move `N` vertices so that the angle `cos⁻¹ D` becomes the angle `φ` at rest.
//!
//! **Equation.** With vectors `r = f ∇C`, eqs. 5.6 and 5.7 are
//!
//! ```text
//! Δqᵢ = −wᵢ f (cos⁻¹ D − φ) / (Σⱼ wⱼ |rⱼ|²) rᵢ
//! ```
//!
//! whatever `f` is.
//!
//! **Source.** Müller, Heidelberger, Hennix, Ratcliff, "Position based dynamics", 2007, appendix A;
//! eqs. A.10–A.12 and A.22–A.25 of Çetinaslan's thesis, there with `f = √(1 − D²)` and `w = 1`.
//!
//! **Ours.** Weights `w`, so that held vertices stay. An `f` for each kind that needs the fewest
//! roots and quotients, and leaves no `0 / 0` next to 0 and π. The sine is the length of a cross
//! product: near 0 and π nothing is left of `√(1 − D²)`. An angle that is 0 or π has no
//! slope and rests for the sweep, as does one whose directions have no length, now or at rest.

use super::super::lanes::{Lanes, Vectors};
use super::arc_cosine::arc_cosine;

/// Angles with a smaller sine have no direction to grow in: ours; rounding then turns their slope
/// by up to 10⁻⁷.
const LEAST_SINE: f64 = 1e-9;

/// In place of the angle between directions of no length.
const NO_ANGLE: f64 = -1.0;

/// Squares of lengths below it count as zero, so that the inverse of none is infinite.
const LEAST_SQUARE: f64 = 1e-280;

/// An angle of `N` vertices, in each lane.
#[derive(Debug, Clone, Copy)]
pub(super) struct AngleSlope<const N: usize> {
    /// From 0 to π; [`NO_ANGLE`] where there is none.
    pub(super) angle: Lanes,
    /// `f`; zero where the angle has no slope.
    pub(super) factor: Lanes,
    /// `r` of each vertex.
    pub(super) slopes: [Vectors; N],
}

impl<const N: usize> AngleSlope<N> {
    /// The angle between two directions, with their product, the length of their cross product, and
    /// one over the product of the squares of their lengths, by [`inverse`].
    #[inline(always)]
    pub(super) fn new(
        dot: Lanes,
        cross: Lanes,
        inverse_square: Lanes,
        factor: Lanes,
        slopes: [Vectors; N],
    ) -> Self {
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
            slopes,
        }
    }

    /// Moves `places` by `share` of the way to the angle at rest.
    #[inline(always)]
    pub(super) fn correct(
        &self,
        places: &mut [Vectors; N],
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
            response = response + self.slopes[v].dot(self.slopes[v]) * inverse_masses[v];
        }
        let step = (self.factor * violation * share).over(response);
        for v in 0..N {
            places[v] -= self.slopes[v] * (inverse_masses[v] * step);
        }
    }
}

/// One over a product of squares of lengths, and zero where it has no size.
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
