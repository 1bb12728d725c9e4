//! All XPBD constraints of a set of particles, with their compliances.
//!
//! **Problem.** A sheet of one material is divided into triangles of any shape and size; edges,
//! triangles and hinges together must have the stiffness of the sheet.
//!
//! **Equation.** With the moduli `E`, `μ`, `κ`, `B` of
//! [`soft_material`](crate::touch::soft_material), areas `A` and lengths `ℓ` at rest,
//!
//! ```text
//! edge      k = E (A₁ + A₂) / ℓ²        compliance 1/k
//! triangle  shear 1/(μ A)      area 1/(κ A)
//! hinge     (A₁ + A₂) / (3 B)
//! ```
//!
//! **Source.** Van Gelder, "Approximate simulation of elastic membranes by triangulated spring
//! meshes", 1998, for edges.
//!
//! **Departures.** Moduli differ between patches; an element has the mean over its corners.

use pliant_mesh::glam::DVec3;

use super::area::{Area, area_parameters};
use super::bend::{Bend, bend_parameters};
use super::shear::{Shear, shear_parameters};
use super::stretch::{StrainLimit, Stretch, stretch_parameters};
use crate::touch::projection::connections::Connections;
use crate::touch::projection::constraint_group::{ConstraintGroup, pack, sweep};
use crate::touch::projection::lanes::Lanes;
use crate::touch::projection::particle::Particle;
use crate::touch::soft_material::SheetConstants;

/// Constraints in groups of eight, over the particles of a block or of the interface between
/// blocks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Elements {
    stretch: Vec<ConstraintGroup<2, 4, 1>>,
    shear: Vec<ConstraintGroup<3, 6, 2>>,
    area: Vec<ConstraintGroup<3, 3, 1>>,
    bend: Vec<ConstraintGroup<4, 3, 1>>,
    edge_areas: Vec<f64>,
    /// Whether there are strain limits.
    limited: bool,
    /// Whether one of them is so tight that it needs sweeps of its own.
    tightly_limited: bool,
}

/// Positions and constants of particles at rest.
pub(crate) struct RestShape<'a> {
    pub(crate) places: &'a [DVec3],
    pub(crate) constants: &'a [SheetConstants],
}

impl Elements {
    /// Groups for all connections with a positive stiffness; `held` is a particle that does not
    /// move.
    pub(crate) fn new(connections: &Connections, rest: &RestShape<'_>, held: u32) -> Self {
        // Kinds without stiffness have no groups.
        let any = |value: fn(&SheetConstants) -> f64| rest.constants.iter().any(|s| value(s) > 0.0);
        let triangles = |enabled: bool| {
            if enabled {
                &connections.triangles[..]
            } else {
                &[]
            }
        };

        Self {
            stretch: pack(
                if any(|s| s.stretch) {
                    &connections.edges
                } else {
                    &[]
                },
                held,
            ),
            shear: pack(triangles(any(|s| s.shear)), held),
            area: pack(triangles(any(|s| s.area)), held),
            bend: pack(
                if any(|s| s.bend) {
                    &connections.hinges
                } else {
                    &[]
                },
                held,
            ),
            edge_areas: connections.edge_areas.clone(),
            limited: any(|s| f64::from(s.strain_limit.is_finite())),
            tightly_limited: any(|s| f64::from(s.strain_limit < TIGHT)),
        }
    }

    /// Sets the parameters of all constraints from a rest shape.
    pub(crate) fn measure(&mut self, rest: &RestShape<'_>) {
        for group in &mut self.stretch {
            group.set_parameters(|source, edge| {
                let [a, b] = rest.at(edge);
                let modulus = rest.mean(edge, |s| s.stretch);

                // Springs of a sheet of modulus E: E (A₁ + A₂) / ℓ², exact where triangles have
                // equal sides.
                let compliance = (a - b).length_squared() / (modulus * self.edge_areas[source]);

                stretch_parameters(
                    [a, b],
                    compliance_or_silent(compliance),
                    rest.mean(edge, |s| s.strain_limit),
                )
            });
        }

        for group in &mut self.shear {
            group.set_parameters(|_, t| {
                shear_parameters(
                    rest.at(t),
                    compliance_or_silent(1.0 / (rest.mean(t, |s| s.shear) * rest.area(t))),
                )
            });
        }

        for group in &mut self.area {
            group.set_parameters(|_, t| {
                area_parameters(
                    rest.at(t),
                    compliance_or_silent(1.0 / (rest.mean(t, |s| s.area) * rest.area(t))),
                )
            });
        }

        for group in &mut self.bend {
            group.set_parameters(|_, hinge| {
                bend_parameters(
                    rest.at(hinge),
                    compliance_or_silent(1.0 / rest.mean(hinge, |s| s.bend)),
                )
            });
        }
    }

    /// Sets all multipliers to zero at the start of a substep.
    pub(crate) fn reset_multipliers(&mut self) {
        self.stretch
            .iter_mut()
            .for_each(ConstraintGroup::reset_multipliers);
        self.shear
            .iter_mut()
            .for_each(ConstraintGroup::reset_multipliers);
        self.area
            .iter_mut()
            .for_each(ConstraintGroup::reset_multipliers);
        self.bend
            .iter_mut()
            .for_each(ConstraintGroup::reset_multipliers);
    }

    /// Whether a strain limit is so tight that it needs sweeps of its own.
    pub(crate) fn has_tight_limit(&self) -> bool {
        self.tightly_limited
    }

    /// Projects the strain limits once, without compliance.
    #[inline(always)]
    pub(crate) fn limit_strain(&mut self, particles: &mut [Particle]) {
        sweep(&StrainLimit, &mut self.stretch, particles);
    }

    /// Projects all constraints once.
    #[inline(always)]
    pub(crate) fn sweep(&mut self, substep_secs: f64, particles: &mut [Particle]) {
        // All kinds, one after another; limits cost a little, so they are compiled out if unused.
        let inverse_square_time = Lanes::splat(1.0 / (substep_secs * substep_secs));
        if self.limited {
            sweep(
                &Stretch::<true> {
                    inverse_square_time,
                },
                &mut self.stretch,
                particles,
            );
        } else {
            sweep(
                &Stretch::<false> {
                    inverse_square_time,
                },
                &mut self.stretch,
                particles,
            );
        }

        sweep(
            &Shear {
                inverse_square_time,
            },
            &mut self.shear,
            particles,
        );

        sweep(
            &Area {
                inverse_square_time,
            },
            &mut self.area,
            particles,
        );

        sweep(
            &Bend {
                inverse_square_time,
            },
            &mut self.bend,
            particles,
        );
    }
}

/// Strain limits below this one need sweeps of their own. Chosen: looser ones are reached by single
/// edges, which the sweep of all constraints corrects.
const TIGHT: f64 = 0.5;

/// A compliance, or one so large that the constraint is inactive where its stiffness is zero or
/// undefined; far from an overflow of a product.
fn compliance_or_silent(compliance: f64) -> f64 {
    const SILENT: f64 = 1e100;
    if compliance < SILENT {
        compliance
    } else {
        SILENT
    }
}

impl RestShape<'_> {
    fn at<const N: usize>(&self, particles: [u32; N]) -> [DVec3; N] {
        particles.map(|k| self.places[k as usize])
    }

    fn area(&self, triangle: [u32; 3]) -> f64 {
        pliant_mesh::triangle_area(self.at(triangle))
    }

    fn mean<const N: usize>(
        &self,
        particles: [u32; N],
        value: impl Fn(&SheetConstants) -> f64,
    ) -> f64 {
        particles
            .iter()
            .map(|&k| value(&self.constants[k as usize]))
            .sum::<f64>()
            / N as f64
    }
}
