//! Steps that turn what they turn.
//!
//! **Problem.** A limb that swings moves its tip along a circle. Along the straight line of a
//! direction its springs stretch by the square of the angle, so straight steps stay short, and soft
//! shapes take dozens where one would do.
//!
//! **Equation.** For a direction `δ` let `ωᵢ` be the turn that fits it best around a vertex, `min
//! Σⱼ k |δᵢⱼ − ωᵢ × dᵢⱼ|²` with `dᵢⱼ = xᵢ − xⱼ`. At the share `t` of the step, with the mean over
//! the turns `ω` of both ends,
//!
//! ```text
//! dᵢⱼ(t) = mean exp(t ω) (dᵢⱼ + t (δᵢⱼ − ω × dᵢⱼ))        min Σ k |xᵢ − xⱼ − dᵢⱼ(t)|²
//! ```
//!
//! which is one solve with the spring Laplacian; it begins at `x` along `δ`.
//!
//! **Source.** Choi and Ko, "Modal warping: real-time simulation of large rotational deformation
//! and manipulation", 2005 (turns from the curl of a linear move); Huang, Tong, Zhou, Bao, Desbrun,
//! "Interactive shape interpolation through controllable dynamic deformation", 2011 (the pieces put
//! together by a solve).
//!
//! **Ours.** As the path of a line search rather than of modes.

use pliant_linalg::parallel;
use pliant_mesh::glam::{DMat3, DQuat, DVec3, Vec3Swizzles};

use crate::energy::SpringEnergy;
use crate::equilibrium::Equilibrium;
use crate::fast::SpringLaplacian;
use crate::quasi_newton::Preconditioner;
use crate::support::Support;

/// Vertices in one parallel task.
const GRAIN: usize = 256;
/// Turns below this stretch springs by less than half a thousandth: there the straight line will
/// do.
const SMALL_TURN: f64 = 0.03;

/// Springs along one line resist no turn around it: this share of the inertia is added, far below
/// that of a sound neighbourhood.
const LEAST_INERTIA: f64 = 1e-6;

/// The turns of a direction.
pub(crate) struct Warp {
    turns: Vec<DVec3>,
    moves: Vec<DVec3>,
}

impl Warp {
    /// The turns of `direction`, or `None` where they are small.
    pub(crate) fn of(
        energy: &SpringEnergy,
        support: &Support,
        positions: &[DVec3],
        direction: &[DVec3],
    ) -> Option<Self> {
        let mut moves = vec![DVec3::ZERO; positions.len()];
        for (move_, &vertex) in direction.iter().zip(support.unknown_vertices()) {
            moves[vertex as usize] = *move_;
        }
        let turns = parallel::map(positions.len(), GRAIN, |vertex| {
            if support.unknown_of(vertex).is_none() {
                DVec3::ZERO
            } else {
                turn(energy, positions, &moves, vertex)
            }
        });
        let largest = turns
            .iter()
            .map(|turn| turn.length_squared())
            .fold(0.0, f64::max)
            .sqrt();
        (largest > SMALL_TURN).then_some(Self { turns, moves })
    }

    /// Where the share `step` of the direction leads from `from`.
    pub(crate) fn advance(
        &self,
        energy: &SpringEnergy,
        laplacian: &mut SpringLaplacian,
        support: &Support,
        from: &[DVec3],
        step: f64,
        positions: &mut [DVec3],
    ) {
        let unknowns = support.unknown_vertices();
        let constants = laplacian.constants();
        // For each vertex ½ exp(t ω) and ½ exp(t ω) (I − t ω×).
        let halves = parallel::map(from.len(), GRAIN, |vertex| {
            let turn = self.turns[vertex] * step;
            let half = DMat3::from_quat(DQuat::from_scaled_axis(turn)) * 0.5;
            (half, half * (DMat3::IDENTITY - cross_matrix(turn)))
        });
        let mut sides = parallel::map(unknowns.len(), GRAIN, |unknown| {
            let vertex = unknowns[unknown] as usize;
            let (turned, strained) = halves[vertex];
            let pull = |(other, q): (usize, usize)| {
                let (spring, moved) = (
                    from[vertex] - from[other],
                    self.moves[vertex] - self.moves[other],
                );
                let held = if support.unknown_of(other).is_none() {
                    from[other]
                } else {
                    DVec3::ZERO
                };
                ((strained + halves[other].1) * spring
                    + (turned + halves[other].0) * (moved * step)
                    + held)
                    * constants[q]
            };
            energy.around(vertex).map(pull).sum::<DVec3>()
        });
        laplacian.apply(&mut sides);
        for (place, &vertex) in sides.iter().zip(unknowns) {
            positions[vertex as usize] = *place;
        }
    }
}

/// Takes a step that begins along `direction` and turns what it turns; returns the move, or `None`
/// where nothing helped.
pub(crate) fn advance(
    state: &mut Equilibrium<'_>,
    laplacian: &mut SpringLaplacian,
    direction: &[DVec3],
) -> Option<Vec<DVec3>> {
    let (energy, support) = (state.energy, state.support);
    match Warp::of(energy, support, &state.positions, direction) {
        Some(warp) => state.step_along(direction, |from, share, to| {
            warp.advance(energy, laplacian, support, from, share, to);
            support.place(to);
        })?,
        None => state.step(direction)?,
    };
    Some(state.last_move())
}

/// The matrix of `v ↦ a × v`.
fn cross_matrix(a: DVec3) -> DMat3 {
    DMat3::from_cols(
        DVec3::new(0.0, a.z, -a.y),
        DVec3::new(-a.z, 0.0, a.x),
        DVec3::new(a.y, -a.x, 0.0),
    )
}

/// The turn that fits the moves around a vertex best.
fn turn(energy: &SpringEnergy, positions: &[DVec3], moves: &[DVec3], vertex: usize) -> DVec3 {
    // The sums of `d dᵀ`, beside and on its diagonal.
    let (mut mixed, mut squares, mut momentum) = (DVec3::ZERO, DVec3::ZERO, DVec3::ZERO);
    for ((other, _), rest) in energy.around(vertex).zip(energy.rests(vertex)) {
        let (spring, moved) = (
            positions[vertex] - positions[other],
            moves[vertex] - moves[other],
        );
        let weighted = spring / rest.max(f64::MIN_POSITIVE);
        mixed += weighted * spring.yzx();
        squares += weighted * spring;
        momentum += weighted.cross(moved);
    }
    let diagonal = squares.yzx() + squares.zxy();
    let [xy, yz, zx] = (-mixed).to_array();
    let inertia = DMat3::from_cols(
        DVec3::new(diagonal.x, xy, zx),
        DVec3::new(xy, diagonal.y, yz),
        DVec3::new(zx, yz, diagonal.z),
    );
    let trace = diagonal.element_sum();
    let turn =
        (inertia + DMat3::from_diagonal(DVec3::splat(LEAST_INERTIA * trace))).inverse() * momentum;
    if turn.is_finite() { turn } else { DVec3::ZERO }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::springs::Springs;
    use crate::test_shapes::bar;

    #[test]
    fn a_direction_that_turns_a_bar_turns_it_rigidly_and_begins_along_itself() {
        let bar = bar(10, 2);
        let springs = Springs::new(
            &bar.mesh,
            &bar.tetrahedra,
            &[],
            std::slice::from_ref(&bar.points),
        );
        let blended = springs.blended(&[1.0]);
        let energy = SpringEnergy::new(springs.points(), springs.ends(), &blended);
        let support = Support::holding(&(0..springs.points()).map(|v| v == 0).collect::<Vec<_>>());
        let mut laplacian = SpringLaplacian::factor(&energy, &blended, &support).unwrap();
        let (turn, center) = (DVec3::new(0.2, 0.9, -0.3), bar.points[0]);
        let direction: Vec<DVec3> = support
            .unknown_vertices()
            .iter()
            .map(|&v| turn.cross(bar.points[v as usize] - center))
            .collect();
        let warp = Warp::of(&energy, &support, &bar.points, &direction).expect("a large turn");
        let inner = |v: usize| energy.around(v).all(|(other, _)| other != 0);
        for step in [1e-4, 1.0] {
            let mut found = bar.points.clone();
            warp.advance(
                &energy,
                &mut laplacian,
                &support,
                &bar.points,
                step,
                &mut found,
            );
            let turned =
                |v: usize| center + DQuat::from_scaled_axis(turn * step) * (bar.points[v] - center);
            // The held vertex does not turn with its springs, so that these lag behind; the others
            // show the motion.
            let length = |[i, j]: [u32; 2], p: &[DVec3]| p[i as usize].distance(p[j as usize]);
            for &ends in springs.ends().iter().filter(|e| {
                e.iter()
                    .all(|&v| inner(v as usize) && bar.points[v as usize].x > 2.0)
            }) {
                assert!(
                    (length(ends, &found) / length(ends, &bar.points) - 1.0).abs() < 0.01 * step,
                    "{ends:?}"
                );
            }
            let off = support
                .unknown_vertices()
                .iter()
                .map(|&v| found[v as usize].distance(turned(v as usize)))
                .fold(0.0, f64::max);
            assert!(off < 0.5 * step, "{off}");
        }
    }

    #[test]
    fn small_turns_go_straight() {
        let bar = bar(4, 2);
        let springs = Springs::new(
            &bar.mesh,
            &bar.tetrahedra,
            &[],
            std::slice::from_ref(&bar.points),
        );
        let energy = SpringEnergy::new(springs.points(), springs.ends(), &springs.blended(&[1.0]));
        let direction: Vec<DVec3> = bar
            .points
            .iter()
            .map(|p| DVec3::Z.cross(*p) * 0.01)
            .collect();
        assert!(
            Warp::of(
                &energy,
                &Support::free(springs.points()),
                &bar.points,
                &direction
            )
            .is_none()
        );
    }
}
