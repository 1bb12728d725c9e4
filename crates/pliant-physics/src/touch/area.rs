//! Triangles that keep their area.
//!
//! **Problem.** Skin that is pushed together along one direction widens along the other.
//!
//! **Equation.** With `n = e₁ × e₂`, `A = ½ |n|` and the rest area `Ā`,
//!
//! ```text
//! C = A/Ā − 1        ∇₂A = ½ e₂ × n/|n|        ∇₃A = ½ n/|n| × e₁        W = ½ κ Ā C²
//! ```
//!
//! **Source.** Müller et al., "Position based dynamics", 2007, for the form.
//!
//! **Ours.** A collapsed triangle has no normal, and rests.

use pliant_mesh::glam::DVec3;

use super::constraint_group::{Constraint, balanced, relax};
use super::lanes::{Lanes, Vectors};

/// Areas of triangles in a substep.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Area {
    pub(crate) inverse_square_time: Lanes,
}

/// One over the rest area, compliance, and `A/Ā` of the rest shape, one up to rounding.
pub(crate) type AreaParameters = [f64; 3];

/// The numbers of a triangle at rest; without an area it is silent.
pub(crate) fn area_parameters([a, b, c]: [DVec3; 3], compliance: f64) -> AreaParameters {
    let area = AreaSlope::of(&[a, b, c].map(Vectors::splat)).area.0[0];
    if area > 0.0 {
        [1.0 / area, compliance, area * (1.0 / area)]
    } else {
        [0.0, 1.0, 0.0]
    }
}

/// The area of triangles and how it changes with their second and third corner.
pub(crate) struct AreaSlope {
    pub(crate) area: Lanes,
    pub(crate) gradients: [Vectors; 2],
}

impl AreaSlope {
    #[inline(always)]
    pub(crate) fn of(places: &[Vectors; 3]) -> Self {
        let (first, second) = (places[1] - places[0], places[2] - places[0]);
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
        places: &mut [Vectors; 3],
        inverse_masses: &[Lanes; 3],
        parameters: &[Lanes; 3],
        [multiplier]: &mut [Lanes; 1],
    ) {
        let [inverse_area, compliance, rest] = *parameters;
        let slope = AreaSlope::of(places);
        let gradients = balanced([
            slope.gradients[0] * inverse_area,
            slope.gradients[1] * inverse_area,
        ]);
        let compliance = compliance * self.inverse_square_time;
        relax(
            places,
            inverse_masses,
            slope.area * inverse_area - rest,
            gradients,
            compliance,
            multiplier,
        );
    }
}
