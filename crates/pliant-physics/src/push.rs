//! One-sided conditions between a few vertices, as a part of the energy.
//!
//! **Problem.** A vertex and a triangle of the same shape must not pass each other. Both move, so
//! neither can be held; the condition joins four vertices, and whoever is kept away pushes the
//! others back.
//!
//! **Equation.** With the clearance `c(x) = Σ gᵢ · xᵢ − o`, the push `λ ≥ 0` known so far and a
//! stiffness `ρ`,
//!
//! ```text
//! E = max(0, λ − ρ c)² / 2ρ        fᵢ = max(0, λ − ρ c) gᵢ        ∂²E/∂xᵢ∂xⱼ = ρ gᵢ gⱼᵀ where it pushes
//! ```
//!
//! Balance, `λ ← max(0, λ − ρ c)`, and again: at the end `c ≥ 0`, `λ ≥ 0` and `λ c = 0`. A push
//! never pulls, and where the gradients sum to zero, pushes do too.
//!
//! **Source.** Rockafellar, "The multiplier method of Hestenes and Powell applied to convex
//! programming", 1973; Nocedal and Wright 2006, section 17.4 (inequalities).

use pliant_linalg::outer;
use pliant_mesh::glam::{DMat3, DVec3};

/// Vertices that a push joins at most: one and the corners of a triangle.
pub(crate) const ENDS: usize = 4;

/// One condition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Push {
    /// Vertices and the gradients of the clearance there.
    pub(crate) ends: [(u32, DVec3); ENDS],
    /// What is subtracted from the sum over the ends.
    pub(crate) offset: f64,
    /// `ρ`.
    pub(crate) stiffness: f64,
    /// `λ`.
    pub(crate) known: f64,
}

impl Push {
    /// How much room there is; negative where the condition is broken.
    pub(crate) fn clearance(&self, positions: &[DVec3]) -> f64 {
        self.ends
            .iter()
            .map(|(vertex, gradient)| gradient.dot(positions[*vertex as usize]))
            .sum::<f64>()
            - self.offset
    }

    /// How hard it pushes along the gradients; zero where it does not.
    pub(crate) fn force(&self, positions: &[DVec3]) -> f64 {
        (self.known - self.stiffness * self.clearance(positions)).max(0.0)
    }

    /// The energy of a push of `force`.
    pub(crate) fn energy(&self, force: f64) -> f64 {
        0.5 * force * force / self.stiffness
    }

    /// The block of the Hessian between two ends where it pushes.
    pub(crate) fn block(&self, end: usize, other: usize) -> DMat3 {
        outer(self.ends[end].1, self.ends[other].1 * self.stiffness)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::{Node, SpringEnergy, Transverse};
    use crate::springs::Spring;
    use crate::support::Support;

    /// A triangle below and a vertex with a spring to each corner, and what keeps it above.
    fn pressed(known: f64) -> (SpringEnergy, Vec<DVec3>) {
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
        energy.press(vec![Push {
            ends,
            offset: 0.0,
            stiffness: 30.0,
            known,
        }]);
        (energy, points)
    }

    fn moved(points: &[DVec3], unknown: usize, step: f64) -> Vec<DVec3> {
        let mut points = points.to_vec();
        points[unknown / 3][unknown % 3] += step;
        points
    }

    #[test]
    fn forces_and_hessian_are_the_derivatives_of_the_energy_also_where_it_pushes() {
        for known in [0.0, 5.0] {
            let (energy, points) = pressed(known);
            assert_eq!(energy.pushing(&points).count(), usize::from(known > 0.0));
            let hessian = energy.hessian(&points, &Support::free(4), Transverse::Exact, 0.0);
            let (mut above, mut below, mut here) = (
                vec![Node::default(); 4],
                vec![Node::default(); 4],
                vec![Node::default(); 4],
            );
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
    fn a_push_is_silent_with_room_to_spare_and_grows_as_room_is_lost() {
        let (energy, points) = pressed(0.0);
        let push = Push {
            known: 3.0,
            ..energy_push(&energy, &points)
        };
        let room = push.clearance(&points);
        let lowered: Vec<DVec3> = points
            .iter()
            .enumerate()
            .map(|(v, p)| {
                if v == 0 {
                    *p - push.ends[0].1 * room
                } else {
                    *p
                }
            })
            .collect();
        assert!(
            (push.force(&lowered) - 3.0).abs() < 1e-12,
            "at the gap it is what is known"
        );
        assert_eq!(Push { known: 0.0, ..push }.force(&points), 0.0);
        assert!(push.force(&points) < 3.0);
    }

    fn energy_push(energy: &SpringEnergy, points: &[DVec3]) -> Push {
        let far_below: Vec<DVec3> = points
            .iter()
            .enumerate()
            .map(|(v, p)| if v == 0 { *p - DVec3::Z } else { *p })
            .collect();
        *energy
            .pushing(&far_below)
            .next()
            .expect("it pushes from far below")
    }

    #[test]
    fn a_patch_feels_the_pushes_that_reach_it() {
        let (energy, points) = pressed(5.0);
        let (patch, around) = energy.patch(&[0]);
        let places: Vec<DVec3> = around.iter().map(|&v| points[v as usize]).collect();
        let (mut whole, mut part) = (
            vec![Node::default(); 4],
            vec![Node::default(); around.len()],
        );
        energy.evaluate(&points, &mut whole);
        patch.evaluate(&places, &mut part);
        assert!(whole[0].force.distance(part[0].force) < 1e-14);
    }
}
