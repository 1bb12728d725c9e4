//! Edges that keep how the surface is bent over them.
//!
//! **Equation.** An edge `x₁x₂` with the third corners `x₃`, `x₄` has coefficients `c` made of cotangents of the rest shape, such that
//! `h = Σ cᵢ xᵢ` vanishes where both triangles lie in a plane and is `2 |e| sin(θ/2)` long where they meet at the angle `θ`:
//!
//! ```text
//! c = (k₃ + k₄, k₁ + k₂, −k₁ − k₃, −k₂ − k₄)        k₁, k₂ at x₁, k₃, k₄ at x₂, in the triangle of x₃ and in that of x₄
//! C = ±|h| − h̄        ∇ᵢC = ±cᵢ h/|h|        W = ½ B · 3/(A₁ + A₂) · C²
//! ```
//!
//! with the sign of `h·n`, `n` being the sum of both normals.
//!
//! **Source.** Bergou, Wardetzky, Harmon, Zorin, Grinspun, "A quadratic bending model for inextensible surfaces", SGP 2006, where `W`
//! is `h̄ = 0`.
//!
//! **Ours.** A bent rest shape, with a sign: a cheek that is pushed in is not at rest. `C` passes through zero smoothly along `n`; where `h`
//! is nothing but rounding, `n` is its direction. Hinges of degenerate triangles are left out where they enter.

use pliant_mesh::glam::DVec3;

use super::constraint_group::Constraint;
use super::lanes::{Lanes, Vectors};

/// Bends over edges in a substep.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bend {
    pub(crate) inverse_square_time: Lanes,
}

/// The four coefficients, compliance, the signed length of `h` at rest, and how much of `n` is mixed into the direction.
pub(crate) type BendParameters = [f64; 7];

/// Where `h` is shorter than about this part of its edge, its direction is that of `n`.
const STRAIGHT: f64 = 1e-11;

/// The numbers of a hinge at rest; `compliance` is over the weight `3 / (A₁ + A₂)`.
pub(crate) fn bend_parameters(corners: [DVec3; 4], compliance: f64) -> BendParameters {
    let [a, b, c, d] = corners;
    let cotangent = |at: DVec3, to: DVec3, third: DVec3| (to - at).dot(third - at) / (to - at).cross(third - at).length();
    let [k1, k2, k3, k4] = [cotangent(a, b, c), cotangent(a, b, d), cotangent(b, a, c), cotangent(b, a, d)];
    let coefficients = [k3 + k4, k1 + k2, -k1 - k3, -k2 - k4];
    let areas = 0.5 * ((b - a).cross(c - a).length() + (b - a).cross(d - a).length());
    if !coefficients.iter().all(|c| c.is_finite()) {
        return [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0];
    }
    let straight = STRAIGHT / (b - a).length();
    let (_, rest) = bent(&corners.map(Vectors::splat), &coefficients.map(Lanes::splat), Lanes::splat(straight));
    let [c1, c2, c3, c4] = coefficients;
    [c1, c2, c3, c4, compliance * areas / 3.0, rest.0[0], straight]
}

/// The direction of `h` and its signed length along it.
#[inline(always)]
fn bent(places: &[Vectors; 4], coefficients: &[Lanes], straight: Lanes) -> (Vectors, Lanes) {
    let (edge, third, fourth) = (places[1] - places[0], places[2] - places[0], places[3] - places[0]);
    // From the first corner, so that rounding does not grow with the distance from the origin.
    let h = edge * coefficients[1] + third * coefficients[2] + fourth * coefficients[3];
    let normal = edge.cross(third - fourth);
    let direction = h * h.dot(normal).sign() + normal * straight;
    let direction = direction * Lanes::splat(1.0).over(direction.length());
    (direction, direction.dot(h))
}

impl Constraint<4, 7, 1> for Bend {
    #[inline(always)]
    fn project(&self, places: &mut [Vectors; 4], inverse_masses: &[Lanes; 4], parameters: &[Lanes; 7], [multiplier]: &mut [Lanes; 1]) {
        let (coefficients, compliance, rest) = (&parameters[..4], parameters[4] * self.inverse_square_time, parameters[5]);
        let (direction, length) = bent(places, coefficients, parameters[6]);
        let mut response = compliance;
        for k in 0..4 {
            response = response + inverse_masses[k] * coefficients[k] * coefficients[k];
        }
        let step = (rest - length - compliance * *multiplier).over(response);
        *multiplier = *multiplier + step;
        for k in 0..4 {
            places[k] += direction * (inverse_masses[k] * coefficients[k] * step);
        }
    }
}
