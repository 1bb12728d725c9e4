//! Unilateral constraints between a few vertices, as augmented Lagrangian terms of the energy.
//!
//! **Problem.** A vertex and a triangle of the same shape must not pass each other. Both move, so
//! neither can be held; the constraint joins four vertices, and its reaction acts on all of them.
//!
//! **Equation.** With the clearance `c(x) = Σ gᵢ · xᵢ − o`, the current multiplier `λ ≥ 0` and a
//! penalty stiffness `ρ`,
//!
//! ```text
//! E = max(0, λ − ρ c)² / 2ρ        fᵢ = max(0, λ − ρ c) gᵢ        ∂²E/∂xᵢ∂xⱼ = ρ gᵢ gⱼᵀ where it is active
//! ```
//!
//! Solve, set `λ ← max(0, λ − ρ c)`, and repeat: at the end `c ≥ 0`, `λ ≥ 0` and `λ c = 0`. The
//! force is never attractive. Where the gradients sum to zero, the forces do too.
//!
//! **Source.** Rockafellar, "The multiplier method of Hestenes and Powell applied to convex
//! programming", 1973; Nocedal and Wright 2006, section 17.4 (inequalities).

use pliant_linalg::outer;
use pliant_mesh::glam::{DMat3, DVec3};

/// Vertices of a constraint, at most: one vertex and the corners of a triangle.
pub(crate) const ENDS: usize = 4;

/// A lower bound on a linear function of a few positions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct UnilateralConstraint {
    /// Vertices and the gradients of the clearance there.
    pub(crate) ends: [(u32, DVec3); ENDS],
    /// The constant `o` of the clearance.
    pub(crate) offset: f64,
    /// The penalty stiffness `ρ`.
    pub(crate) stiffness: f64,
    /// The multiplier `λ`.
    pub(crate) multiplier: f64,
}

impl UnilateralConstraint {
    /// The clearance `c`; negative where the constraint is violated.
    pub(crate) fn clearance(&self, positions: &[DVec3]) -> f64 {
        self.ends
            .iter()
            .map(|(vertex, gradient)| gradient.dot(positions[*vertex as usize]))
            .sum::<f64>()
            - self.offset
    }

    /// The contact force along the gradients; zero where the constraint is inactive.
    pub(crate) fn force(&self, positions: &[DVec3]) -> f64 {
        (self.multiplier - self.stiffness * self.clearance(positions)).max(0.0)
    }

    /// The energy at a contact force.
    pub(crate) fn energy(&self, force: f64) -> f64 {
        0.5 * force * force / self.stiffness
    }

    /// The block of the Hessian between two ends of an active constraint.
    pub(crate) fn block(&self, end: usize, other: usize) -> DMat3 {
        outer(self.ends[end].1, self.ends[other].1 * self.stiffness)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blend::energy::Spring;
    use crate::blend::energy::Support;
    use crate::blend::energy::{Node, SpringEnergy, Transverse};

    /// A triangle below and a vertex with a spring to each corner, and what keeps it above.
    fn constrained_triangle(multiplier: f64) -> (SpringEnergy, Vec<DVec3>) {
        let points = vec![
            DVec3::new(0.2, 0.3, 0.1),
            DVec3::ZERO,
            DVec3::X,
            DVec3::new(0.1, 1.1, 0.2),
        ];

        let spring = Spring {
            rest: 0.4,
            stiffness: 2.0,
        };
        let mut energy = SpringEnergy::new(4, &[[0, 1], [0, 2], [0, 3]], &[spring; 3]);
        let normal = DVec3::new(0.1, 0.2, 1.0).normalize();

        let ends = [
            (0, normal),
            (1, normal * -0.5),
            (2, normal * -0.2),
            (3, normal * -0.3),
        ];

        energy.set_unilateral(vec![UnilateralConstraint {
            ends,
            offset: 0.0,
            stiffness: 30.0,
            multiplier,
        }]);

        (energy, points)
    }

    fn moved(points: &[DVec3], unknown: usize, step: f64) -> Vec<DVec3> {
        let mut points = points.to_vec();
        points[unknown / 3][unknown % 3] += step;
        points
    }

    #[test]
    fn forces_and_hessian_are_the_derivatives_of_the_energy() {
        for multiplier in [0.0, 5.0] {
            let (energy, points) = constrained_triangle(multiplier);
            assert_eq!(
                energy.active_unilateral(&points).count(),
                usize::from(multiplier > 0.0)
            );

            let hessian = energy.hessian(&points, &Support::free(4), Transverse::Exact, 0.0);
            let mut above = vec![Node::default(); 4];
            let mut below = vec![Node::default(); 4];
            let mut here = vec![Node::default(); 4];

            energy.evaluate(&points, &mut here);
            let step = 1e-5;
            for unknown in 0..12 {
                let rise = energy.evaluate(&moved(&points, unknown, step), &mut above)
                    - energy.evaluate(&moved(&points, unknown, -step), &mut below);
                assert!((here[unknown / 3].force[unknown % 3] + rise / (2.0 * step)).abs() < 1e-6);

                for row in 0..12 {
                    let slope =
                        (above[row / 3].force - below[row / 3].force)[row % 3] / (2.0 * step);
                    assert!(
                        (hessian.get(row, unknown) + slope).abs() < 1e-5,
                        "{row} {unknown}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_force_is_zero_at_a_large_clearance_and_grows_as_the_clearance_shrinks() {
        let (energy, points) = constrained_triangle(0.0);
        let constraint = UnilateralConstraint {
            multiplier: 3.0,
            ..active_constraint(&energy, &points)
        };
        let clearance = constraint.clearance(&points);

        // The vertex moved down by its clearance.
        let lowered: Vec<DVec3> = points
            .iter()
            .enumerate()
            .map(|(v, p)| {
                if v == 0 {
                    *p - constraint.ends[0].1 * clearance
                } else {
                    *p
                }
            })
            .collect();

        assert!(
            (constraint.force(&lowered) - 3.0).abs() < 1e-12,
            "at zero clearance the force is the multiplier"
        );
        assert_eq!(
            UnilateralConstraint {
                multiplier: 0.0,
                ..constraint
            }
            .force(&points),
            0.0
        );
        assert!(constraint.force(&points) < 3.0);
    }

    fn active_constraint(energy: &SpringEnergy, points: &[DVec3]) -> UnilateralConstraint {
        let far_below: Vec<DVec3> = points
            .iter()
            .enumerate()
            .map(|(v, p)| if v == 0 { *p - DVec3::Z } else { *p })
            .collect();
        *energy
            .active_unilateral(&far_below)
            .next()
            .expect("active from far below")
    }

    #[test]
    fn a_subsystem_has_the_forces_of_the_constraints_on_its_vertices() {
        let (energy, points) = constrained_triangle(5.0);
        let (subsystem, around) = energy.subsystem(&[0]);
        let places: Vec<DVec3> = around.iter().map(|&v| points[v as usize]).collect();
        let mut whole = vec![Node::default(); 4];
        let mut part = vec![Node::default(); around.len()];

        energy.evaluate(&points, &mut whole);
        subsystem.evaluate(&places, &mut part);
        assert!(whole[0].force.distance(part[0].force) < 1e-14);
    }
}
