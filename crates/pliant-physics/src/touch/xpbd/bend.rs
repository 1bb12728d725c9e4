//! XPBD constraint on the bending of a hinge.
//!
//! **Problem.** Skin has no sharp creases, and a released dent returns to the side it came from.
//!
//! **Equation.** An edge `x₁x₂` with the third corners `x₃`, `x₄` has coefficients `c` from
//! cotangents of the rest shape, such that `h = Σ cᵢ xᵢ` vanishes where both triangles are coplanar
//! and has the length `2 |e| sin(θ/2)` where they meet at the angle `θ`:
//!
//! ```text
//! c = (k₃ + k₄, k₁ + k₂, −k₁ − k₃, −k₂ − k₄)        k₁, k₂ at x₁, k₃, k₄ at x₂, in the triangle of x₃ and in that of x₄
//! C = h·n̂ − h̄        ∇ᵢC = cᵢ n̂ + (∂n/∂xᵢ)ᵀ τ        τ = (h − (h·n̂) n̂) / |n|        W = ½ B · 3/(A₁ + A₂) · C²
//! ```
//!
//! with the sum `n` of both normals, each as long as twice the area of its triangle, and `n̂ =
//! n/|n|`.
//!
//! **Source.** Bergou, Wardetzky, Harmon, Zorin, Grinspun, "A quadratic bending model for
//! inextensible surfaces", SGP 2006, where `W` is of `|h|` and `h̄ = 0`.
//!
//! **Departures.** A bent rest shape, with a sign: a cheek that is pushed in is not at rest. Along
//! `n` only: where triangles are strained, `h` has a tangential part that is unrelated to bending,
//! and `±|h|` would jump by twice that part where a hinge passes through flat; skin would never
//! come to rest. Hinges of degenerate triangles are inactive.

use pliant_mesh::glam::DVec3;

use crate::touch::projection::constraint_group::{Constraint, relax};
use crate::touch::projection::lanes::{Lanes, Vectors};

/// Bending constraints in a substep.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bend {
    pub(crate) inverse_square_time: Lanes,
}

/// The four coefficients, compliance, and `h·n̂` at rest.
pub(crate) type BendParameters = [f64; 6];

/// The parameters of a hinge at rest; `compliance` is divided by the weight `3 / (A₁ + A₂)`.
pub(crate) fn bend_parameters(corners: [DVec3; 4], compliance: f64) -> BendParameters {
    let [a, b, c, d] = corners;
    let cotangent = |at: DVec3, to: DVec3, third: DVec3| {
        (to - at).dot(third - at) / (to - at).cross(third - at).length()
    };
    let [k1, k2, k3, k4] = [
        cotangent(a, b, c),
        cotangent(a, b, d),
        cotangent(b, a, c),
        cotangent(b, a, d),
    ];

    // The stencil of Bergou et al. 2006.
    let coefficients = [k3 + k4, k1 + k2, -k1 - k3, -k2 - k4];
    let areas = 0.5 * ((b - a).cross(c - a).length() + (b - a).cross(d - a).length());
    if !coefficients.iter().all(|c| c.is_finite()) {
        return [0.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    }

    let (_, rest) = bent(
        &corners.map(Vectors::splat),
        &coefficients.map(Lanes::splat),
    );
    let [c1, c2, c3, c4] = coefficients;

    [c1, c2, c3, c4, compliance * areas / 3.0, rest.0[0]]
}

/// The gradients of `h·n̂` at the last three corners (that at the first balances them), and `h·n̂`.
#[inline(always)]
fn bent(positions: &[Vectors; 4], coefficients: &[Lanes]) -> ([Vectors; 3], Lanes) {
    let edge = positions[1] - positions[0];
    let third = positions[2] - positions[0];
    let fourth = positions[3] - positions[0];

    // From the first corner, so that rounding does not grow with the distance from the origin.
    let h = edge * coefficients[1] + third * coefficients[2] + fourth * coefficients[3];
    let across = third - fourth;
    let normal = edge.cross(across);
    let inverse = Lanes::splat(1.0).over(normal.length());
    let unit = normal * inverse;
    let along_normal = h.dot(unit);
    let along_surface = (h - unit * along_normal) * inverse;
    let tangential_part = edge.cross(along_surface);

    let gradients = [
        unit * coefficients[1] + across.cross(along_surface),
        unit * coefficients[2] - tangential_part,
        unit * coefficients[3] + tangential_part,
    ];

    (gradients, along_normal)
}

impl Constraint<4, 6, 1> for Bend {
    #[inline(always)]
    fn project(
        &self,
        positions: &mut [Vectors; 4],
        inverse_masses: &[Lanes; 4],
        parameters: &[Lanes; 6],
        [multiplier]: &mut [Lanes; 1],
    ) {
        let coefficients = &parameters[..4];
        let compliance = parameters[4] * self.inverse_square_time;
        let rest = parameters[5];
        let ([second, third, fourth], length) = bent(positions, coefficients);
        let gradients = [-(second + third + fourth), second, third, fourth];

        relax(
            positions,
            inverse_masses,
            length - rest,
            gradients,
            compliance,
            multiplier,
        );
    }
}
