//! XPBD constraint on the area of a triangle.
//!
//! **Problem.** Skin that is compressed along one direction widens along the other.
//!
//! **Equation.** With `n = e₁ × e₂`, `A = ½ |n|` and the rest area `Ā`,
//!
//! ```text
//! C = A/Ā − 1        ∇₂A = ½ e₂ × n/|n|        ∇₃A = ½ n/|n| × e₁        W = ½ κ Ā C²
//! ```
//!
//! **Source.** Müller et al., "Position based dynamics", 2007, for the constraint.
//!
//! **Departures.** A degenerate triangle has no normal, and does not move.

use pliant_mesh::glam::DVec3;

use crate::touch::projection::constraint_group::{Constraint, balanced, relax};
use crate::touch::projection::lanes::{Lanes, Vectors};

/// Area constraints in a substep.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Area {
    pub(crate) inverse_square_time: Lanes,
}

/// Inverse rest area, compliance, and `A/Ā` of the rest shape, one up to rounding.
pub(crate) type AreaParameters = [f64; 3];

/// The parameters of a triangle at rest; a degenerate one is inactive.
pub(crate) fn area_parameters([a, b, c]: [DVec3; 3], compliance: f64) -> AreaParameters {
    let area = AreaGradient::of(&[a, b, c].map(Vectors::splat)).area.0[0];
    if area > 0.0 {
        [1.0 / area, compliance, area * (1.0 / area)]
    } else {
        [0.0, 1.0, 0.0]
    }
}

/// The area of triangles and its gradients at the second and third corner.
pub(crate) struct AreaGradient {
    pub(crate) area: Lanes,
    pub(crate) gradients: [Vectors; 2],
}

impl AreaGradient {
    #[inline(always)]
    pub(crate) fn of(positions: &[Vectors; 3]) -> Self {
        let first = positions[1] - positions[0];
        let second = positions[2] - positions[0];
        let normal = first.cross(second);
        let length = normal.length();
        let half = normal * Lanes::splat(0.5).over(length);
        Self {
            area: length * Lanes::splat(0.5),
            gradients: [second.cross(half), half.cross(first)],
        }
    }
}

impl Constraint<3, 3, 1> for Area {
    #[inline(always)]
    fn project(
        &self,
        positions: &mut [Vectors; 3],
        inverse_masses: &[Lanes; 3],
        parameters: &[Lanes; 3],
        [multiplier]: &mut [Lanes; 1],
    ) {
        let [inverse_area, compliance, rest] = *parameters;
        let slope = AreaGradient::of(positions);
        let gradients = balanced([
            slope.gradients[0] * inverse_area,
            slope.gradients[1] * inverse_area,
        ]);

        let compliance = compliance * self.inverse_square_time;
        relax(
            positions,
            inverse_masses,
            slope.area * inverse_area - rest,
            gradients,
            compliance,
            multiplier,
        );
    }
}
