//! Energy terms of a blended shape: springs, angles, areas, volumes and contact.
//!
//! - [`springs`]: which vertices springs join, and their rest lengths between the shapes.
//! - [`spring_energy`]: energy, forces and Hessian of all terms together.
//! - [`assembly`]: nodal forces and block rows of the Hessian.
//! - [`element`]: terms over four points; their measures are [`hinge`] angles, triangle areas
//!   ([`triangle_area`]) and volumes of tetrahedra ([`tetrahedron_volume`]).
//! - [`enclosed_volume`]: the volume of closed surfaces without tetrahedra.
//! - [`unilateral_constraint`]: contact as an augmented Lagrangian term.
//! - [`support`]: fixed vertices and constrained directions.
//! - [`energy_terms`]: the terms that a user selects; [`shape_terms`]: these terms for given
//!   shapes.

pub(crate) mod assembly;
pub(crate) mod element;
pub(crate) mod enclosed_volume;
pub(crate) mod energy_terms;
pub(crate) mod hinge;
pub(crate) mod shape_terms;
pub(crate) mod spring_energy;
pub(crate) mod springs;
pub(crate) mod support;
pub(crate) mod tetrahedron_volume;
pub(crate) mod triangle_area;
pub(crate) mod unilateral_constraint;

pub(crate) use assembly::{Node, Transverse};
pub use energy_terms::{EnergyTerms, LengthTerm};
pub(crate) use spring_energy::SpringEnergy;
pub use springs::SpringCounts;
pub(crate) use springs::{Spring, Springs};
pub use support::Constraint;
pub(crate) use support::Support;
pub(crate) use unilateral_constraint::UnilateralConstraint;
