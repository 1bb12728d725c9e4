//! XPBD constraint on the length of an edge, with strain limits.
//!
//! **Problem.** Skin stretches, but only up to a limit.
//!
//! **Equation.** With `C = |x₁ − x₂| − ℓ`, `∇₁C = (x₁ − x₂)/|x₁ − x₂| = −∇₂C`; the step is that of
//! [`constraint_group`](crate::touch::projection::constraint_group). A length that is then outside
//! of `ℓ (1 ± s)` is corrected without compliance.
//!
//! **Source.** Macklin, Müller, Chentanez 2016. Strain limits: Provot, "Deformation constraints in
//! a mass-spring model to describe rigid cloth behavior", 1995.
//!
//! **Departures.** An edge with coincident ends has no direction, and does not move.

use pliant_mesh::glam::DVec3;

use crate::touch::projection::constraint_group::Constraint;
use crate::touch::projection::lanes::{Lanes, Vectors};

/// Edge constraints in a substep, with strain limits or without.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stretch<const LIMITED: bool> {
    /// One over the squared time of a substep.
    pub(crate) inverse_square_time: Lanes,
}

/// Rest length, compliance, least and largest length.
pub(crate) type StretchParameters = [f64; 4];

/// The parameters of an edge at rest.
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

/// The length by the arithmetic of the lanes, so that the rest shape has no strain, not even by
/// rounding.
fn length_of(a: DVec3, b: DVec3) -> f64 {
    let d = a - b;
    (d.x * d.x + d.y * d.y + d.z * d.z).sqrt()
}

impl<const LIMITED: bool> Constraint<2, 4, 1> for Stretch<LIMITED> {
    #[inline(always)]
    fn project(
        &self,
        positions: &mut [Vectors; 2],
        inverse_masses: &[Lanes; 2],
        parameters: &[Lanes; 4],
        [multiplier]: &mut [Lanes; 1],
    ) {
        let [rest, compliance, least, most] = *parameters;
        let compliance = compliance * self.inverse_square_time;
        let offset = positions[0] - positions[1];
        let length = offset.length();
        let mass = inverse_masses[0] + inverse_masses[1];
        let response = mass + compliance;

        // One quotient serves both steps.
        let inverse = Lanes::splat(1.0).over(response * mass * length);
        let soft = (rest - length - compliance * *multiplier) * (inverse * mass * length);
        *multiplier = *multiplier + soft;

        // Limits apply to the length after the soft step.
        let after = length + mass * soft;
        let after = if LIMITED {
            after.max(least).min(most)
        } else {
            after
        };

        let along = offset * ((after - length) * inverse * response);
        positions[0] += along * inverse_masses[0];
        positions[1] -= along * inverse_masses[1];
    }
}

/// Strain limits alone, as for edges without elasticity.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StrainLimit;

impl Constraint<2, 4, 1> for StrainLimit {
    #[inline(always)]
    fn project(
        &self,
        positions: &mut [Vectors; 2],
        inverse_masses: &[Lanes; 2],
        parameters: &[Lanes; 4],
        _: &mut [Lanes; 1],
    ) {
        let [_, _, least, most] = *parameters;
        let offset = positions[0] - positions[1];
        let length = offset.length();
        let mass = inverse_masses[0] + inverse_masses[1];

        // Zero within the limits, so that skin at rest keeps its bits.
        let excess = length.max(least).min(most) - length;
        let along = offset * excess.over(mass * length);
        positions[0] += along * inverse_masses[0];
        positions[1] -= along * inverse_masses[1];
    }
}
