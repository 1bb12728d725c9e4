//! XPBD constraint on the volume of soft tissue under a triangle.
//!
//! **Problem.** A pressed cheek bulges around the finger, because the tissue under the skin keeps
//! its volume. Its interior is not modelled.
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
//! **Departures.** One for each triangle: a dent widens its triangles, these compress their
//! neighbours, and those rise. The inner surface follows the animated shape. The cross-section is
//! signed: a folded triangle has a negative volume, so that folds open again.

use pliant_mesh::glam::DVec3;

use crate::touch::projection::constraint_group::{Constraint, balanced, relax};
use crate::touch::projection::lanes::{Lanes, Vectors};

/// Volume constraints in a substep.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    pub(crate) inverse_square_time: Lanes,
}

/// The normal, `c`, inverse rest volume, compliance, and `A H / (Ā t)` of the rest shape, one up to
/// rounding.
pub(crate) type ColumnParameters = [f64; 7];

/// The parameters of a triangle at rest over an inner surface at a depth; a degenerate one is
/// inactive.
pub(crate) fn column_parameters(
    corners: [DVec3; 3],
    depth: f64,
    compliance: f64,
) -> ColumnParameters {
    let positions = corners.map(Vectors::splat);
    let normal = (corners[1] - corners[0])
        .cross(corners[2] - corners[0])
        .normalize_or_zero();
    let (area, _) = section(&positions, Vectors::splat(normal));
    let volume = area.0[0] * depth;
    let is_sound = volume > 0.0 && normal != DVec3::ZERO;

    if !is_sound {
        return [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    }

    // The rest value by the arithmetic of the projection, so that rest has no violation.
    let foot = normal.dot((corners[0] + corners[1] + corners[2]) / 3.0) - depth;
    let height = height(&positions, Vectors::splat(normal), Lanes::splat(foot));
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
fn height(positions: &[Vectors; 3], normal: Vectors, foot: Lanes) -> Lanes {
    normal.dot(positions[0] + positions[1] + positions[2]) * Lanes::splat(1.0 / 3.0) - foot
}

/// The cross-section and its gradients.
#[inline(always)]
fn section(positions: &[Vectors; 3], normal: Vectors) -> (Lanes, [Vectors; 3]) {
    let first = positions[1] - positions[0];
    let second = positions[2] - positions[0];
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
        positions: &mut [Vectors; 3],
        inverse_masses: &[Lanes; 3],
        parameters: &[Lanes; 7],
        [multiplier]: &mut [Lanes; 1],
    ) {
        let [x, y, z, foot, inverse_volume, compliance, rest] = *parameters;
        let normal = Vectors { x, y, z };
        let compliance = compliance * self.inverse_square_time;
        // The volume is area times height; each corner carries a third of the change of the height.
        let (area, [first, second, third]) = section(positions, normal);
        let height = height(positions, normal, foot);
        let lift = normal * (area * Lanes::splat(1.0 / 3.0));

        let gradients = [
            (first * height + lift) * inverse_volume,
            (second * height + lift) * inverse_volume,
            (third * height + lift) * inverse_volume,
        ];

        relax(
            positions,
            inverse_masses,
            area * height * inverse_volume - rest,
            gradients,
            compliance,
            multiplier,
        );
    }
}
