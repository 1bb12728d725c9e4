//! Line search along arcs (modal warping).
//!
//! **Problem.** The tip of a limb that swings moves along a circle. Along the straight line of a
//! search direction its springs stretch by the square of the angle, so straight steps stay short,
//! and soft shapes take dozens of steps where one would do.
//!
//! **Equation.** For a direction `δ` let `ωᵢ` be the infinitesimal rotation that fits it best
//! around a vertex, `min Σⱼ k |δᵢⱼ − ωᵢ × dᵢⱼ|²` with `dᵢⱼ = xᵢ − xⱼ`. At the step length `t`, with
//! the mean over the rotations `ω` of both ends,
//!
//! ```text
//! dᵢⱼ(t) = mean exp(t ω) (dᵢⱼ + t (δᵢⱼ − ω × dᵢⱼ))        min Σ k |xᵢ − xⱼ − dᵢⱼ(t)|²
//! ```
//!
//! which is one solve with the spring Laplacian; the path starts at `x` along `δ`.
//!
//! **Source.** Choi and Ko, "Modal warping: real-time simulation of large rotational deformation
//! and manipulation", 2005 (rotations from the curl of a linear displacement); Huang, Tong, Zhou,
//! Bao, Desbrun, "Interactive shape interpolation through controllable dynamic deformation", 2011
//! (local rotations joined by a solve).
//!
//! **Departures.** As the path of a line search and not of modes.

use pliant_linalg::parallel;
use pliant_mesh::glam::{DMat3, DQuat, DVec3, Vec3Swizzles};

use crate::blend::energy::SpringEnergy;
use crate::blend::energy::Support;
use crate::blend::solvers::Equilibrium;
use crate::blend::solvers::Preconditioner;
use crate::blend::solvers::SpringLaplacian;

/// Vertices in one parallel task.
const GRAIN: usize = 256;
/// Smaller rotations stretch springs by less than half a thousandth: the straight line suffices.
const SMALL_ROTATION: f64 = 0.03;

/// Collinear springs do not resist a rotation around their line: this share of the inertia is
/// added, far below that of a regular neighbourhood.
const LEAST_INERTIA: f64 = 1e-6;

/// A search direction with its rotation at each vertex.
pub(crate) struct WarpedPath {
    rotation_vectors: Vec<DVec3>,
    moves: Vec<DVec3>,
}

impl WarpedPath {
    /// The path of `direction`, or `None` where its rotations are small.
    pub(crate) fn of(
        energy: &SpringEnergy,
        support: &Support,
        positions: &[DVec3],
        direction: &[DVec3],
    ) -> Option<Self> {
        // Held vertices have no displacement and no rotation.
        let mut moves = vec![DVec3::ZERO; positions.len()];
        for (step, &vertex) in direction.iter().zip(support.unknown_vertices()) {
            moves[vertex as usize] = *step;
        }

        let rotation_vectors = parallel::map(positions.len(), GRAIN, |vertex| {
            if support.unknown_of(vertex).is_none() {
                DVec3::ZERO
            } else {
                fitted_rotation(energy, positions, &moves, vertex)
            }
        });

        // Small rotations do not need an arc.
        let largest = rotation_vectors
            .iter()
            .map(|rotation_vector| rotation_vector.length_squared())
            .fold(0.0, f64::max)
            .sqrt();

        (largest > SMALL_ROTATION).then_some(Self {
            rotation_vectors,
            moves,
        })
    }

    /// The positions at the step length `step` from `from`.
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
            let rotation_vector = self.rotation_vectors[vertex] * step;
            let half = DMat3::from_quat(DQuat::from_scaled_axis(rotation_vector)) * 0.5;
            (
                half,
                half * (DMat3::IDENTITY - cross_matrix(rotation_vector)),
            )
        });

        // The right-hand side: Σⱼ k dᵢⱼ(t), and held neighbours.
        let mut solution = parallel::map(unknowns.len(), GRAIN, |unknown| {
            let vertex = unknowns[unknown] as usize;
            let (rotated, strained) = halves[vertex];
            let mut sum = DVec3::ZERO;
            for (other, q) in energy.around(vertex) {
                let spring = from[vertex] - from[other];
                let moved = self.moves[vertex] - self.moves[other];
                let held = if support.unknown_of(other).is_none() {
                    from[other]
                } else {
                    DVec3::ZERO
                };

                sum += ((strained + halves[other].1) * spring
                    + (rotated + halves[other].0) * (moved * step)
                    + held)
                    * constants[q];
            }
            sum
        });

        laplacian.apply(&mut solution);
        for (position, &vertex) in solution.iter().zip(unknowns) {
            positions[vertex as usize] = *position;
        }
    }
}

/// Line search along the warped path of `direction`; returns the displacement, or `None` where no
/// step lowers the energy.
pub(crate) fn advance(
    state: &mut Equilibrium<'_>,
    laplacian: &mut SpringLaplacian,
    direction: &[DVec3],
) -> Option<Vec<DVec3>> {
    let energy = state.energy;
    let support = state.support;
    match WarpedPath::of(energy, support, &state.positions, direction) {
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

/// The rotation vector that fits the displacements around a vertex best.
fn fitted_rotation(
    energy: &SpringEnergy,
    positions: &[DVec3],
    moves: &[DVec3],
    vertex: usize,
) -> DVec3 {
    // The sums of `d dᵀ`, beside and on its diagonal.
    let mut mixed = DVec3::ZERO;
    let mut squares = DVec3::ZERO;
    let mut momentum = DVec3::ZERO;
    for ((other, _), rest) in energy.around(vertex).zip(energy.rests(vertex)) {
        let spring = positions[vertex] - positions[other];
        let moved = moves[vertex] - moves[other];
        let weighted = spring / rest.max(f64::MIN_POSITIVE);
        mixed += weighted * spring.yzx();
        squares += weighted * spring;
        momentum += weighted.cross(moved);
    }

    // The inertia tensor Σ (|d|² I − d dᵀ) from the sums.
    let diagonal = squares.yzx() + squares.zxy();
    let [xy, yz, zx] = (-mixed).to_array();
    let inertia = DMat3::from_cols(
        DVec3::new(diagonal.x, xy, zx),
        DVec3::new(xy, diagonal.y, yz),
        DVec3::new(zx, yz, diagonal.z),
    );

    let trace = diagonal.element_sum();
    let rotation_vector =
        (inertia + DMat3::from_diagonal(DVec3::splat(LEAST_INERTIA * trace))).inverse() * momentum;
    if rotation_vector.is_finite() {
        rotation_vector
    } else {
        DVec3::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blend::energy::Springs;
    use crate::test_shapes::bar;

    #[test]
    fn a_rotating_direction_rotates_a_bar_rigidly_and_starts_along_itself() {
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
        let rotation_vector = DVec3::new(0.2, 0.9, -0.3);
        let center = bar.points[0];

        // The velocity field of a rotation.
        let direction: Vec<DVec3> = support
            .unknown_vertices()
            .iter()
            .map(|&v| rotation_vector.cross(bar.points[v as usize] - center))
            .collect();

        let warp = WarpedPath::of(&energy, &support, &bar.points, &direction)
            .expect("a large rotation_vector");
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

            let rotated = |v: usize| {
                center + DQuat::from_scaled_axis(rotation_vector * step) * (bar.points[v] - center)
            };

            // The held vertex does not rotate with its springs, so that these lag behind; the
            // others show the motion.
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
                .map(|&v| found[v as usize].distance(rotated(v as usize)))
                .fold(0.0, f64::max);

            assert!(off < 0.5 * step, "{off}");
        }
    }

    #[test]
    fn small_rotations_keep_the_straight_line() {
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
            WarpedPath::of(
                &energy,
                &Support::free(springs.points()),
                &bar.points,
                &direction
            )
            .is_none()
        );
    }
}
