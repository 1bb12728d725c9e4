//! XPBD constraint on the bending of a hinge.
//!
//! **Problem.** Skin has no sharp creases, and a released dent returns to the side it came from.
//!
//! **Equation.** With the edge `e = x₂ − x₁`, the normals `n₁ = e × (x₃ − x₁)` and `n₂ = (x₄ − x₁) × e`
//! of the triangles beside it, and the angle `θ` from `n₁` to `n₂` around `e`,
//!
//! ```text
//! C = ē (θ − θ̄)        W = ½ B · 3/(A₁ + A₂) · C²
//! ∇₃θ = −|e| n₁/|n₁|²        ∇₄θ = −|e| n₂/|n₂|²        ∇₂θ = −s ∇₃θ − t ∇₄θ        ∇₁θ = −(1 − s) ∇₃θ − (1 − t) ∇₄θ
//! ```
//!
//! where `s` and `t` are the feet of `x₃` and `x₄` on the edge, from 0 at `x₁` to 1 at `x₂`.
//!
//! **Source.** Grinspun, Hirani, Desbrun, Schröder, "Discrete shells", SCA 2003, for the energy of
//! angles; Bridson, Marino, Fedkiw, "Simulation of clothing with folds and wrinkles", SCA 2003, for
//! the gradients. For small angles `W` is the quadratic energy of Bergou, Wardetzky, Harmon, Zorin,
//! Grinspun, SGP 2006, whose weight it has.
//!
//! **Departures.** The difference of angles is the one within half a turn. The sine of the angle, and
//! all functions that vanish for a closed hinge, would lose their force where a hinge folds sharply:
//! such a crease would stay. Hinges of degenerate triangles are inactive.

use std::f64::consts::{PI, TAU};

use pliant_mesh::glam::DVec3;

use crate::touch::projection::arc_cosine::arc_cosine;
use crate::touch::projection::constraint_group::{Constraint, relax};
use crate::touch::projection::lanes::{Lanes, Vectors};

/// Bending constraints in a substep.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bend {
    pub(crate) inverse_square_time: Lanes,
}

/// Length of the edge at rest, compliance, and angle at rest.
pub(crate) type BendParameters = [f64; 3];

/// The parameters of a hinge at rest; `compliance` is divided by the weight `3 / (A₁ + A₂)`.
pub(crate) fn bend_parameters(corners: [DVec3; 4], compliance: f64) -> BendParameters {
    let [a, b, c, d] = corners;
    let [first, second] = [(b - a).cross(c - a).length(), (b - a).cross(d - a).length()];
    let area = 0.5 * (first + second);
    if !(first > 0.0 && second > 0.0 && area.is_finite()) {
        return [0.0, 1.0, 0.0];
    }

    let hinge = Hinge::at(&corners.map(Vectors::splat));
    [(b - a).length(), compliance * area / 3.0, hinge.angle.0[0]]
}

/// The angle of hinges and its gradients at the last three corners; that at the first balances them.
struct Hinge {
    angle: Lanes,
    gradients: [Vectors; 3],
}

impl Hinge {
    #[inline(always)]
    fn at(positions: &[Vectors; 4]) -> Self {
        let one = Lanes::splat(1.0);
        // From the first corner, so that rounding does not grow with the distance from the origin.
        let edge = positions[1] - positions[0];
        let third = positions[2] - positions[0];
        let fourth = positions[3] - positions[0];

        let length = edge.length();
        let inverse_length = one.over(length);
        let first_normal = edge.cross(third);
        let second_normal = fourth.cross(edge);
        let first_inverse = one.over(first_normal.length());
        let second_inverse = one.over(second_normal.length());
        let first_unit = first_normal * first_inverse;
        let second_unit = second_normal * second_inverse;

        // The angle from its sine and cosine, so that it is exact near flat and near closed.
        let sine = first_unit.cross(second_unit).dot(edge) * inverse_length;
        let sign = sine.map(|sine| if sine < 0.0 { -1.0 } else { 1.0 });
        let angle = sign * arc_cosine(first_unit.dot(second_unit), sine * sign);

        let of_third = -(first_unit * (length * first_inverse));
        let of_fourth = -(second_unit * (length * second_inverse));
        let square = inverse_length * inverse_length;
        let first_foot = third.dot(edge) * square;
        let second_foot = fourth.dot(edge) * square;
        let of_second = -(of_third * first_foot + of_fourth * second_foot);

        Self {
            angle,
            gradients: [of_second, of_third, of_fourth],
        }
    }
}

impl Constraint<4, 3, 1> for Bend {
    #[inline(always)]
    fn project(
        &self,
        positions: &mut [Vectors; 4],
        inverse_masses: &[Lanes; 4],
        parameters: &[Lanes; 3],
        [multiplier]: &mut [Lanes; 1],
    ) {
        let [rest_length, compliance, rest_angle] = *parameters;
        let hinge = Hinge::at(positions);
        let difference = hinge.angle - rest_angle;
        let turn = difference.map(|angle| match angle {
            angle if angle > PI => TAU,
            angle if angle < -PI => -TAU,
            _ => 0.0,
        });

        let [second, third, fourth] = hinge.gradients.map(|gradient| gradient * rest_length);
        let gradients = [-(second + third + fourth), second, third, fourth];
        relax(
            positions,
            inverse_masses,
            rest_length * (difference - turn),
            gradients,
            compliance * self.inverse_square_time,
            multiplier,
        );
    }
}
