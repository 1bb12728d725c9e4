//! Balance of a few vertices while all others rest.
//!
//! **Problem.** Where rest lengths do not fit together (an ear, a hoof, a sliver) a handful of
//! vertices snaps from one form into another. Steps of the whole shape are then as short as those
//! few need, while everything else is long in balance.
//!
//! **Equation.** With the vertices `P` on which more than a share of the largest force is left, and
//! those around them, solve `f_P(x_P, x_rest) = 0` by Newton's method with `x_rest` held. The
//! energy of the whole falls with that of the patch.
//!
//! **Source.** Cai and Li, "Inexact Newton methods with restricted additive Schwarz based nonlinear
//! elimination for problems with high local nonlinearity", SIAM J. Sci. Comput. 33, 2011 (bad
//! unknowns are eliminated before a step of all).

use pliant_mesh::glam::DVec3;

use crate::equilibrium::Equilibrium;
use crate::newton::Newton;
use crate::support::Support;

/// Vertices with more than this share of the largest force are balanced among themselves.
const SHARE: f64 = 0.2;
/// A patch of more vertices is no patch: ours, its factor costs about as much as a step of the
/// whole.
const MOST: usize = 600;
/// Newton's steps: measured on animals, where most patches take two to six.
const STEPS: usize = 12;
/// The share of the tolerance to which a patch is balanced.
const ENOUGH: f64 = 0.5;

/// Balances the vertices on which most of the force is left, if they are few.
pub(crate) fn settle(state: &mut Equilibrium<'_>, tolerance: f64) {
    let Some(vertices) = worst(state, tolerance) else {
        return;
    };
    let (energy, around) = state.energy.patch(&vertices);
    let mut support = Support::holding(
        &(0..around.len())
            .map(|k| k >= vertices.len())
            .collect::<Vec<_>>(),
    );
    support.constrain(
        vertices
            .iter()
            .enumerate()
            .filter_map(|(k, &v)| Some((k, state.support.constraint(v as usize)?))),
    );
    let places = around
        .iter()
        .map(|&v| state.positions[v as usize])
        .collect();
    let mut local = Equilibrium::start(&energy, &support, places);
    // Where the patch has no factor it stays as it is, for steps of the whole.
    let balanced = Newton::default().relax(&mut local, ENOUGH * tolerance, STEPS);
    if balanced.is_ok() && local.iterations > 0 {
        let places = local.positions;
        state.place(&vertices, &places);
    }
}

/// The vertices on which most of the force is left, with those around them; `None` if they are
/// many.
fn worst(state: &Equilibrium<'_>, tolerance: f64) -> Option<Vec<u32>> {
    let least = (SHARE * state.residual()).max(ENOUGH * tolerance);
    let bad = |(force, &vertex): (&DVec3, &u32)| (force.length() > least).then_some(vertex);
    let mut vertices: Vec<u32> = state
        .forces
        .iter()
        .zip(state.support.unknown_vertices())
        .filter_map(bad)
        .collect();
    if vertices.len() > MOST {
        return None;
    }
    let ring: Vec<u32> = vertices
        .iter()
        .flat_map(|&v| {
            state
                .energy
                .around(v as usize)
                .map(|(other, _)| other as u32)
        })
        .collect();
    vertices.extend(
        ring.into_iter()
            .filter(|&v| state.support.unknown_of(v as usize).is_some()),
    );
    vertices.sort_unstable();
    vertices.dedup();
    (vertices.len() <= MOST).then_some(vertices)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::SpringEnergy;
    use crate::springs::Springs;
    use crate::test_shapes::bar;

    #[test]
    fn a_vertex_that_was_pushed_goes_back_and_all_far_from_it_rest() {
        let bar = bar(12, 3);
        let springs = Springs::new(
            &bar.mesh,
            &bar.tetrahedra,
            &[],
            std::slice::from_ref(&bar.points),
        );
        let energy = SpringEnergy::new(springs.points(), springs.ends(), &springs.blended(&[1.0]));
        let support = Support::free(springs.points());
        let mut pushed = bar.points.clone();
        pushed[0] += DVec3::new(0.05, 0.04, -0.03);
        let mut state = Equilibrium::start(&energy, &support, pushed);
        assert!(state.residual() > 0.1);
        settle(&mut state, 1e-9);
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
    fn forces_everywhere_are_no_patch() {
        let bar = bar(40, 6);
        let springs = Springs::new(
            &bar.mesh,
            &bar.tetrahedra,
            &[],
            std::slice::from_ref(&bar.points),
        );
        let energy = SpringEnergy::new(springs.points(), springs.ends(), &springs.blended(&[1.0]));
        let support = Support::free(springs.points());
        let stretched: Vec<DVec3> = bar.points.iter().map(|p| *p * (1.0 + 0.1 * p.x)).collect();
        let mut state = Equilibrium::start(&energy, &support, stretched.clone());
        settle(&mut state, 1e-9);
        assert_eq!(state.positions, stretched);
    }
}
