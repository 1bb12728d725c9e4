//! XPBD constraint on the shear of a triangle.
//!
//! **Problem.** Edge constraints resist shear and stretch of a triangle alike; the shear stiffness
//! of skin is a separate parameter.
//!
//! **Equation.** In an orthonormal frame of the rest triangle, with its first side along the first
//! axis, `F = [f₁ f₂]` maps rest vectors to present ones: `f₁ = u e₁`, `f₂ = p e₁ + q e₂` for the
//! sides `e₁`, `e₂` from the first corner. With `G = FᵀF`,
//!
//! ```text
//! C₁ = ½ (G₁₁ − G₂₂)      C₂ = G₁₂      W = ½ μ A (C₁² + C₂²)
//! ∇₂C₁ = u f₁ − p f₂      ∇₃C₁ = −q f₂      ∇₂C₂ = u f₂ + p f₁      ∇₃C₂ = q f₁      ∇₁ = −∇₂ − ∇₃
//! ```
//!
//! `(C₁, C₂)` rotates by twice the angle of the frame, so `W` does not depend on it; to first order
//! it is the energy of a sheet with shear modulus `μ`. Both are polynomials, without angles that
//! could be undefined.
//!
//! **Source.** Müller, Chentanez, Kim, Macklin, "Strain based dynamics", SCA 2014 (entries of
//! Green's strain as constraints).
//!
//! **Departures.** The two entries that vanish under any similarity, so that growth is left to
//! edges and areas; degenerate rest triangles are inactive.

use pliant_mesh::glam::DVec3;

use crate::touch::projection::constraint_group::{Constraint, balanced, relax};
use crate::touch::projection::lanes::{Lanes, Vectors};

/// Shear constraints in a substep.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shear {
    pub(crate) inverse_square_time: Lanes,
}

/// `u`, `p`, `q`, compliance, and `C₁`, `C₂` of the rest shape, zero up to rounding.
pub(crate) type ShearParameters = [f64; 6];

/// The parameters of a triangle at rest; a degenerate one is inactive.
pub(crate) fn shear_parameters([a, b, c]: [DVec3; 3], compliance: f64) -> ShearParameters {
    let first = b - a;
    let second = c - a;
    let length = first.length();
    let height = first.cross(second).length() / length;
    if !(length > 0.0 && height > 0.0) {
        return [0.0, 0.0, 0.0, 1.0, 0.0, 0.0];
    }

    let u = 1.0 / length;
    let q = 1.0 / height;
    let p = -first.dot(second) / (length * length * height);
    let (f1, f2) = frame(&[a, b, c].map(Vectors::splat), [u, p, q].map(Lanes::splat));

    [
        u,
        p,
        q,
        compliance,
        difference(f1, f2).0[0],
        f1.dot(f2).0[0],
    ]
}

/// The columns of `F`.
#[inline(always)]
fn frame(positions: &[Vectors; 3], [u, p, q]: [Lanes; 3]) -> (Vectors, Vectors) {
    let first = positions[1] - positions[0];
    let second = positions[2] - positions[0];
    (first * u, first * p + second * q)
}

#[inline(always)]
fn difference(f1: Vectors, f2: Vectors) -> Lanes {
    (f1.dot(f1) - f2.dot(f2)) * Lanes::splat(0.5)
}

impl Constraint<3, 6, 2> for Shear {
    #[inline(always)]
    fn project(
        &self,
        positions: &mut [Vectors; 3],
        inverse_masses: &[Lanes; 3],
        parameters: &[Lanes; 6],
        multipliers: &mut [Lanes; 2],
    ) {
        let [u, p, q, compliance, rest_difference, rest_product] = *parameters;
        let compliance = compliance * self.inverse_square_time;
        let (f1, f2) = frame(positions, [u, p, q]);
        let gradients = balanced([f1 * u - f2 * p, -(f2 * q)]);

        relax(
            positions,
            inverse_masses,
            difference(f1, f2) - rest_difference,
            gradients,
            compliance,
            &mut multipliers[0],
        );

        // The second entry sees the positions after the first.
        let (f1, f2) = frame(positions, [u, p, q]);
        let gradients = balanced([f2 * u + f1 * p, f1 * q]);
        relax(
            positions,
            inverse_masses,
            f1.dot(f2) - rest_product,
            gradients,
            compliance,
            &mut multipliers[1],
        );
    }
}
