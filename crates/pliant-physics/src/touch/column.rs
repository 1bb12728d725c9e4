//! Flesh under the skin: columns that keep their volume.
//!
//! **Problem.** A cheek that is pressed bulges around the finger, because what is under the skin
//! does not shrink. Its inside is not modelled.
//!
//! **Equation.** Under each triangle stands a column on an inner surface, the rest shape moved
//! inward by the depth `t`, along the unit normal `m` of the rest triangle. With its cross-section
//! `A = ½ m·(e₁ × e₂)` and its mean height `H = m·(x₁ + x₂ + x₃)/3 − c`,
//!
//! ```text
//! C = A H / (Ā t) − 1        ∇ᵢC = (H ∇ᵢA + A m/3) / (Ā t)        W = ½ κ Ā t C²
//! ∇₂A = ½ e₂ × m        ∇₃A = ½ m × e₁        ∇₁A = −∇₂A − ∇₃A
//! ```
//!
//! **Source.** Volumes as constraints: Müller et al., "Position based dynamics", 2007, section 4.4,
//! there one of a whole body.
//!
//! **Ours.** One for each triangle: a dent widens the triangles in it, these push those around
//! together, and those rise. The inner surface follows the animated shape. The cross-section has a
//! sign: a triangle that was folded over has not its volume back, but its negative, so that folds
//! open again.

use pliant_mesh::glam::DVec3;

use super::constraint_group::{Constraint, balanced, relax};
use super::lanes::{Lanes, Vectors};

/// Volumes under triangles in a substep.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    pub(crate) inverse_square_time: Lanes,
}

/// The normal, `c`, one over the rest volume, compliance, and `A H / (Ā t)` of the rest shape, one
/// up to rounding.
pub(crate) type ColumnParameters = [f64; 7];

/// The numbers of a triangle at rest over an inner surface at a depth; without an area it is
/// silent.
pub(crate) fn column_parameters(
    corners: [DVec3; 3],
    depth: f64,
    compliance: f64,
) -> ColumnParameters {
    let places = corners.map(Vectors::splat);
    let normal = (corners[1] - corners[0])
        .cross(corners[2] - corners[0])
        .normalize_or_zero();
    let (area, _) = section(&places, Vectors::splat(normal));
    let volume = area.0[0] * depth;
    let is_sound = volume > 0.0 && normal != DVec3::ZERO;
    if !is_sound {
        return [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    }
    let foot = normal.dot((corners[0] + corners[1] + corners[2]) / 3.0) - depth;
    let height = height(&places, Vectors::splat(normal), Lanes::splat(foot));
    let rest = (area * height * Lanes::splat(1.0 / volume)).0[0];
    [
        normal.x,
        normal.y,
        normal.z,
        foot,
        1.0 / volume,
        compliance,
        rest,
    ]
}

#[inline(always)]
fn height(places: &[Vectors; 3], normal: Vectors, foot: Lanes) -> Lanes {
    normal.dot(places[0] + places[1] + places[2]) * Lanes::splat(1.0 / 3.0) - foot
}

/// The cross-section and its gradients.
#[inline(always)]
fn section(places: &[Vectors; 3], normal: Vectors) -> (Lanes, [Vectors; 3]) {
    let (first, second) = (places[1] - places[0], places[2] - places[0]);
    let half = normal * Lanes::splat(0.5);
    (
        half.dot(first.cross(second)),
        balanced([second.cross(half), half.cross(first)]),
    )
}

impl Constraint<3, 7, 1> for Column {
    #[inline(always)]
    fn project(
        &self,
        places: &mut [Vectors; 3],
        inverse_masses: &[Lanes; 3],
        parameters: &[Lanes; 7],
        [multiplier]: &mut [Lanes; 1],
    ) {
        let [x, y, z, foot, inverse_volume, compliance, rest] = *parameters;
        let normal = Vectors { x, y, z };
        let compliance = compliance * self.inverse_square_time;
        let (area, [first, second, third]) = section(places, normal);
        let height = height(places, normal, foot);
        let lift = normal * (area * Lanes::splat(1.0 / 3.0));
        let gradients = [
            (first * height + lift) * inverse_volume,
            (second * height + lift) * inverse_volume,
            (third * height + lift) * inverse_volume,
        ];
        relax(
            places,
            inverse_masses,
            area * height * inverse_volume - rest,
            gradients,
            compliance,
            multiplier,
        );
    }
}
