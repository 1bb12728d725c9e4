//! Triangles that keep their form in their own plane.
//!
//! **Problem.** Where edges give, a triangle is sheared and stretched with equal ease; how skin
//! resists shear is a matter of its own.
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
//! `(C₁, C₂)` turns with twice the angle of the frame, so `W` does not depend on it; to first order
//! it is the energy of a sheet with shear modulus `μ`. Both are polynomials: there is no angle that
//! could be zero or undefined.
//!
//! **Source.** Müller, Chentanez, Kim, Macklin, "Strain based dynamics", SCA 2014 (entries of
//! Green's strain as constraints).
//!
//! **Ours.** The two that vanish under any similarity, so that growth is left to edges, areas and
//! columns; degenerate rest triangles rest.

use pliant_mesh::glam::DVec3;

use super::constraint_group::{Constraint, balanced, relax};
use super::lanes::{Lanes, Vectors};

/// Forms of triangles in a substep.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shear {
    pub(crate) inverse_square_time: Lanes,
}

/// `u`, `p`, `q`, compliance, and `C₁`, `C₂` of the rest shape, which only rounding makes other
/// than zero.
pub(crate) type ShearParameters = [f64; 6];

/// The numbers of a triangle at rest; with no frame it is silent.
pub(crate) fn shear_parameters([a, b, c]: [DVec3; 3], compliance: f64) -> ShearParameters {
    let (first, second) = (b - a, c - a);
    let length = first.length();
    let height = first.cross(second).length() / length;
    if !(length > 0.0 && height > 0.0) {
        return [0.0, 0.0, 0.0, 1.0, 0.0, 0.0];
    }
    let (u, q) = (1.0 / length, 1.0 / height);
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
fn frame(places: &[Vectors; 3], [u, p, q]: [Lanes; 3]) -> (Vectors, Vectors) {
    let (first, second) = (places[1] - places[0], places[2] - places[0]);
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
        places: &mut [Vectors; 3],
        inverse_masses: &[Lanes; 3],
        parameters: &[Lanes; 6],
        multipliers: &mut [Lanes; 2],
    ) {
        let [u, p, q, compliance, rest_difference, rest_product] = *parameters;
        let compliance = compliance * self.inverse_square_time;
        let (f1, f2) = frame(places, [u, p, q]);
        let gradients = balanced([f1 * u - f2 * p, -(f2 * q)]);
        relax(
            places,
            inverse_masses,
            difference(f1, f2) - rest_difference,
            gradients,
            compliance,
            &mut multipliers[0],
        );
        let (f1, f2) = frame(places, [u, p, q]);
        let gradients = balanced([f2 * u + f1 * p, f1 * q]);
        relax(
            places,
            inverse_masses,
            f1.dot(f2) - rest_product,
            gradients,
            compliance,
            &mut multipliers[1],
        );
    }
}
