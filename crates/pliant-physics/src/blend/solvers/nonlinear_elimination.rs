//! Nonlinear elimination: Newton's method on the few vertices with the largest forces.
//!
//! **Problem.** Where rest lengths do not fit together (an ear, a hoof, a sliver) a few vertices
//! snap from one form into another. Steps of the whole shape are then as short as those vertices
//! need, while everything else is near equilibrium.
//!
//! **Equation.** With the vertices `P` whose force exceeds a share of the largest force, and their
//! neighbours, solve `f_P(x_P, x_rest) = 0` by Newton's method with `x_rest` held. The total energy
//! falls with that of the subsystem.
//!
//! **Source.** Cai and Li, "Inexact Newton methods with restricted additive Schwarz based nonlinear
//! elimination for problems with high local nonlinearity", SIAM J. Sci. Comput. 33, 2011 (bad
//! unknowns are eliminated before a global step).

use crate::blend::energy::Support;
use crate::blend::solvers::Equilibrium;
use crate::blend::solvers::newton::Newton;

/// Vertices with more than this share of the largest force are solved separately.
const SHARE: f64 = 0.2;
/// A subsystem has at most so many vertices. Chosen: its factor then costs about as much as a step
/// of the whole.
const MOST: usize = 600;
/// Newton steps. Measured on animals, where most subsystems take two to six.
const STEPS: usize = 12;
/// The share of the tolerance to which a subsystem is solved.
const ENOUGH: f64 = 0.5;

/// Solves for the vertices with the largest forces, if they are few.
pub(crate) fn eliminate_worst(state: &mut Equilibrium<'_>, tolerance: f64) {
    let Some(vertices) = worst(state, tolerance) else {
        return;
    };

    // The vertices keep their constraints; their neighbours are held.
    let (energy, around) = state.energy.subsystem(&vertices);
    let mut held = vec![true; around.len()];
    held[..vertices.len()].fill(false);
    let mut support = Support::holding(&held);
    let mut constraints = Vec::new();
    for (k, &v) in vertices.iter().enumerate() {
        if let Some(constraint) = state.support.constraint(v as usize) {
            constraints.push((k, constraint));
        }
    }
    support.constrain(constraints);

    let start = around
        .iter()
        .map(|&v| state.positions[v as usize])
        .collect();
    let mut local = Equilibrium::start(&energy, &support, start);

    // Where the subsystem has no factor, the positions stay, and steps of the whole continue.
    let solved = Newton::default().relax(&mut local, ENOUGH * tolerance, STEPS);
    if solved.is_ok() && local.iterations > 0 {
        state.place(&vertices, &local.positions);
    }
}

/// The vertices with the largest forces and their neighbours; `None` if they are many.
fn worst(state: &Equilibrium<'_>, tolerance: f64) -> Option<Vec<u32>> {
    let least = (SHARE * state.residual()).max(ENOUGH * tolerance);
    let mut vertices = Vec::new();
    for (force, &vertex) in state.forces.iter().zip(state.support.unknown_vertices()) {
        if force.length() > least {
            vertices.push(vertex);
        }
    }
    // Many large forces are a problem of the whole shape.
    if vertices.len() > MOST {
        return None;
    }

    // The forces on these vertices depend on where their neighbours go.
    for k in 0..vertices.len() {
        for (other, _) in state.energy.around(vertices[k] as usize) {
            if state.support.unknown_of(other).is_some() {
                vertices.push(other as u32);
            }
        }
    }
    vertices.sort_unstable();
    vertices.dedup();

    (vertices.len() <= MOST).then_some(vertices)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blend::energy::SpringEnergy;
    use crate::blend::energy::Springs;
    use crate::test_shapes::bar;
    use pliant_mesh::glam::DVec3;

    #[test]
    fn a_displaced_vertex_returns_and_distant_vertices_do_not_move() {
        let bar = bar(12, 3);
        let springs = Springs::new(
            &bar.mesh,
            &bar.tetrahedra,
            &[],
            std::slice::from_ref(&bar.points),
        );

        let energy = SpringEnergy::new(springs.points(), springs.ends(), &springs.blended(&[1.0]));
        let support = Support::free(springs.points());

        // One displaced vertex.
        let mut pushed = bar.points.clone();
        pushed[0] += DVec3::new(0.05, 0.04, -0.03);

        let mut state = Equilibrium::start(&energy, &support, pushed);
        assert!(state.residual() > 0.1);
        eliminate_worst(&mut state, 1e-9);

        assert!(state.residual() < 1e-9, "{}", state.residual());
        let moved = (1..bar.points.len()).filter(|&v| state.positions[v] != bar.points[v]);
        assert!(
            moved
                .into_iter()
                .all(|v| bar.points[v].distance(bar.points[0]) < 2.0)
        );

        assert!(
            bar.points
                .iter()
                .zip(&state.positions)
                .all(|(p, q)| p.distance(*q) < 1e-8)
        );
    }

    #[test]
    fn large_forces_everywhere_are_not_eliminated() {
        let bar = bar(40, 6);
        let springs = Springs::new(
            &bar.mesh,
            &bar.tetrahedra,
            &[],
            std::slice::from_ref(&bar.points),
        );

        let energy = SpringEnergy::new(springs.points(), springs.ends(), &springs.blended(&[1.0]));
        let support = Support::free(springs.points());

        // A displacement of all vertices.
        let stretched: Vec<DVec3> = bar.points.iter().map(|p| *p * (1.0 + 0.1 * p.x)).collect();
        let mut state = Equilibrium::start(&energy, &support, stretched.clone());

        eliminate_worst(&mut state, 1e-9);
        assert_eq!(state.positions, stretched);
    }
}
