//! Edges that keep their length, softly within a limit and rigidly beyond it.
//!
//! **Problem.** Skin gives along itself, but only so far.
//!
//! **Equation.** With `C = |x₁ − x₂| − ℓ`, `∇₁C = (x₁ − x₂)/|x₁ − x₂| = −∇₂C`; the step is that of
//! [`constraint_group`](super::constraint_group). What the step leaves outside the lengths `ℓ (1 ±
//! s)` is then taken back without compliance.
//!
//! **Source.** Macklin, Müller, Chentanez 2016. Limits of strain: Provot, "Deformation constraints
//! in a mass-spring model to describe rigid cloth behavior", 1995.
//!
//! **Ours.** An edge whose ends coincide has no direction, and rests.

use pliant_mesh::glam::DVec3;

use super::constraint_group::Constraint;
use super::lanes::{Lanes, Vectors};

/// Lengths of edges in a substep, with limits of strain or without.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stretch<const LIMITED: bool> {
    /// One over the squared time of a substep.
    pub(crate) inverse_square_time: Lanes,
}

/// Rest length, compliance, least and most length.
pub(crate) type StretchParameters = [f64; 4];

/// The numbers of an edge between two places at rest.
pub(crate) fn stretch_parameters(
    [a, b]: [DVec3; 2],
    compliance: f64,
    strain_limit: f64,
) -> StretchParameters {
    let length = length_of(a, b);
    let most = if strain_limit.is_finite() {
        length * (1.0 + strain_limit)
    } else {
        f64::INFINITY
    };
    [
        length,
        compliance,
        length * (1.0 - strain_limit).max(0.0),
        most,
    ]
}

/// As the lanes compute it, so that the rest shape has no strain, not even by rounding.
fn length_of(a: DVec3, b: DVec3) -> f64 {
    let d = a - b;
    (d.x * d.x + d.y * d.y + d.z * d.z).sqrt()
}

impl<const LIMITED: bool> Constraint<2, 4, 1> for Stretch<LIMITED> {
    #[inline(always)]
    fn project(
        &self,
        places: &mut [Vectors; 2],
        inverse_masses: &[Lanes; 2],
        parameters: &[Lanes; 4],
        [multiplier]: &mut [Lanes; 1],
    ) {
        let [rest, compliance, least, most] = *parameters;
        let compliance = compliance * self.inverse_square_time;
        let offset = places[0] - places[1];
        let length = offset.length();
        let mass = inverse_masses[0] + inverse_masses[1];
        let response = mass + compliance;
        // The only quotient, for both steps.
        let inverse = Lanes::splat(1.0).over(response * mass * length);
        let soft = (rest - length - compliance * *multiplier) * (inverse * mass * length);
        *multiplier = *multiplier + soft;
        let after = length + mass * soft;
        let after = if LIMITED {
            after.max(least).min(most)
        } else {
            after
        };
        let along = offset * ((after - length) * inverse * response);
        places[0] += along * inverse_masses[0];
        places[1] -= along * inverse_masses[1];
    }
}
