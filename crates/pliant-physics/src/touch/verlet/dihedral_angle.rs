//! Bending constraint of Çetinaslan 2016: the dihedral angle of a hinge.
//!
//! **Problem.** Move the four vertices of two triangles with a common edge so that the angle
//! between them is the one at rest.
//!
//! **Equation.** Over the edge `e = q_j − q_i`, with the wings `a = q_k − q_i` and `b = q_l − q_i`,
//! the normals `n_k = e × a` and `n_l = e × b`, `D = n_k · n_l / (|n_k| |n_l|)` and `σ` the sign of
//! `b · n_k`,
//!
//! ```text
//! C = cos⁻¹ D − θ        r_k = −σ n_k / |n_k|²        r_l = σ n_l / |n_l|²
//! r_j = −(a · e / e²) r_k − (b · e / e²) r_l        r_i = −r_j − r_k − r_l
//! ```
//!
//! where `r = ∇C / |e|`; the correction is that of [`AngleGradient`], times `1 − k_cons` (section
//! 5.5). The sine comes from `|n_k × n_l| = |e| |b · n_k|`.
//!
//! **Source.** Çetinaslan 2016, eq. 5.10 and A.13–A.25; Müller et al., "Position based
//! dynamics", 2007, appendix A. The short form of the same gradients: Bridson, Marino, Fedkiw,
//! "Simulation of clothing with folds and wrinkles", 2003.
//!
//! **Departures.** Here the thesis is right:
//!
//! | | printed | |
//! |---|---|---|
//! | A.13–A.17 | | right |
//! | A.18–A.21 | `r = √(1 − D²) ∇C`, for `q_i = 0` | right: ours times `\|e\| √(1 − D²)`, which is next to nothing at flat hinges |
//! | A.22–A.25 | | right; in A.24 the root's bracket closes too late |
//! | section 5.5 | `Δq (1 − k_cons)` | what is called stiffness makes softer: at 1 nothing bends back. Müller et al. multiply by it |
//!
//! Both normals wind in the same direction about the edge, so that a flat hinge has the angle π, and the
//! angle is the same for both sides of a fold: a hinge that is folded through to the other side
//! stays there. We keep that. A flat hinge rests for the sweep, as does one of a triangle without
//! area.

use super::RestMeasure;
use super::angle_gradient::{AngleGradient, inverse};
use crate::touch::projection::constraint_group::Constraint;
use crate::touch::projection::lanes::{Lanes, Vectors};

/// Both ends of an edge and the third corners of its triangles; the parameter is the angle at rest.
pub(super) struct DihedralAngle {
    /// The part of each correction that is made: `1 − k_cons`.
    pub(super) share: f64,
}

impl RestMeasure<4, 1> for DihedralAngle {
    #[inline(always)]
    fn measure(positions: &[Vectors; 4]) -> [Lanes; 1] {
        [dihedral_angle(positions).angle]
    }
}

impl Constraint<4, 1, 0> for DihedralAngle {
    #[inline(always)]
    fn project(
        &self,
        positions: &mut [Vectors; 4],
        inverse_masses: &[Lanes; 4],
        parameters: &[Lanes; 1],
        _: &mut [Lanes; 0],
    ) {
        dihedral_angle(positions).correct(
            positions,
            inverse_masses,
            parameters[0],
            Lanes::splat(self.share),
        );
    }
}

#[inline(always)]
fn dihedral_angle(&[i, j, k, l]: &[Vectors; 4]) -> AngleGradient<4> {
    let e = j - i;
    let a = k - i;
    let b = l - i;
    let n_k = e.cross(a);
    let n_l = e.cross(b);
    let k_square = n_k.dot(n_k);
    let l_square = n_l.dot(n_l);
    let e_square = e.dot(e);
    let inverse_square = inverse(k_square * l_square);
    let inverse_edge = inverse(e_square);
    let side = b.dot(n_k);
    let length = e_square.sqrt();

    // The sign of the fold selects the direction of the gradient.
    let sigma = side.map(|side| if side < 0.0 { -1.0 } else { 1.0 });

    let at_k = -n_k * (sigma * l_square * inverse_square);
    let at_l = n_l * (sigma * k_square * inverse_square);
    let at_j = -at_k * (a.dot(e) * inverse_edge) - at_l * (b.dot(e) * inverse_edge);
    let gradients = [-at_j - at_k - at_l, at_j, at_k, at_l];

    AngleGradient::new(
        n_k.dot(n_l),
        length * (sigma * side),
        inverse_square,
        length * inverse_edge,
        gradients,
    )
}

#[cfg(test)]
mod tests {
    use super::super::test_gradients::{difference_gradients, lone, projected, scattered, torque};
    use super::*;
    use pliant_mesh::glam::DVec3;
    use std::f64::consts::PI;

    const FULL: DihedralAngle = DihedralAngle { share: 1.0 };

    fn normals([i, j, k, l]: [DVec3; 4]) -> [DVec3; 2] {
        [k, l].map(|wing| (j - i).cross(wing - i).normalize())
    }

    fn angle(positions: [DVec3; 4]) -> f64 {
        let [first, second] = normals(positions);
        first.dot(second).acos()
    }

    /// Two triangles over the x axis, one of them lifted by `lift` out of the plane of the other.
    fn hinge(lift: f64) -> [DVec3; 4] {
        [
            DVec3::ZERO,
            DVec3::X,
            DVec3::new(0.3, 1.0, 0.0),
            DVec3::new(0.6, -lift.cos(), lift.sin()),
        ]
    }

    /// A.18–A.21.
    fn printed_slopes([i, j, k, l]: [DVec3; 4]) -> [DVec3; 4] {
        let [first, second] = normals([i, j, k, l]);
        let j = j - i;
        let k = k - i;
        let l = l - i;
        let d = first.dot(second);
        let areas = [j.cross(k).length(), j.cross(l).length()];
        let at_j = -(k.cross(second) + first.cross(k) * d) / areas[0]
            - (l.cross(first) + second.cross(l) * d) / areas[1];
        let at_k = (j.cross(second) + first.cross(j) * d) / areas[0];
        let at_l = (j.cross(first) + second.cross(j) * d) / areas[1];
        [-at_j - at_k - at_l, at_j, at_k, at_l]
    }

    #[test]
    fn slopes_are_those_of_differences_and_the_printed_ones_are_too() {
        for seed in 0..50 {
            let positions: [DVec3; 4] = scattered(seed);
            let ours = dihedral_angle(&positions.map(lone));
            let factor = ours.factor.0[0];
            let sine = angle(positions).sin();

            assert!((ours.angle.0[0] - angle(positions)).abs() < 1e-12);
            let printed = printed_slopes(positions);
            let differences = difference_gradients(angle, positions);
            for v in 0..4 {
                let tolerance = 1e-6 * (1.0 + differences[v].length());
                assert!(
                    (ours.gradients[v].lane(0) / factor).distance(differences[v]) < tolerance,
                    "{seed}"
                );

                assert!(
                    (printed[v] / sine).distance(differences[v]) < tolerance,
                    "{seed}"
                );
            }
        }
    }

    #[test]
    fn a_projection_leaves_the_square_of_the_violation() {
        for (lift, violation) in [-2.0, -1.0, 0.4, 1.5]
            .into_iter()
            .flat_map(|lift| [1e-2, -1e-3, 1e-4].map(|v| (lift, v)))
        {
            let positions = hinge(lift);
            let moved = projected(&FULL, positions, [1.0; 4], [angle(positions) - violation]);
            let left = angle(moved) - angle(positions) + violation;

            assert!(
                left.abs() < 3.0 * violation * violation,
                "{lift}: {left} of {violation}"
            );
            assert!(torque(&positions, &moved).length() < 1e-14);
            assert!(
                (0..4)
                    .map(|v| moved[v] - positions[v])
                    .sum::<DVec3>()
                    .length()
                    < 1e-14
            );
        }
    }

    #[test]
    fn the_share_scales_the_correction_so_that_a_stiffness_of_one_bends_nothing() {
        let positions = hinge(0.7);
        let full = projected(&FULL, positions, [1.0; 4], [2.0]);
        let part = projected(
            &DihedralAngle { share: 1.0 - 0.75 },
            positions,
            [1.0; 4],
            [2.0],
        );

        for v in 0..4 {
            assert!((part[v] - positions[v]).distance((full[v] - positions[v]) * 0.25) < 1e-15);
        }

        assert_eq!(
            projected(&DihedralAngle { share: 0.0 }, positions, [1.0; 4], [2.0]),
            positions
        );
    }

    #[test]
    fn small_folds_of_a_flat_hinge_are_flattened() {
        for lift in [0.1, -1e-3, 1e-6, -1e-8] {
            let moved = projected(&FULL, hinge(lift), [1.0; 4], [PI]);
            let left = PI - dihedral_angle(&moved.map(lone)).angle.0[0];
            assert!(left <= 0.3 * lift * lift + 1e-14, "{lift}: {left}");
        }
    }

    #[test]
    fn the_angle_is_the_same_on_both_sides_of_a_fold() {
        for lift in [0.1, 1.0, 2.0] {
            assert!((angle(hinge(lift)) - angle(hinge(-lift))).abs() < 1e-14);
            assert!((angle(hinge(lift)) - (PI - lift)).abs() < 1e-14);
            let through = projected(&FULL, hinge(-lift), [1.0; 4], [PI - lift]);
            assert!((0..4).all(|v| through[v].distance(hinge(-lift)[v]) < 1e-14));
        }
    }

    #[test]
    fn flat_hinges_and_degenerate_triangles_do_not_move() {
        let [i, j, k, l] = hinge(0.5);
        for positions in [
            hinge(0.0),
            [i, j, j * 2.0, l],
            [i, i, k, l],
            [i, j, j * 2.0, -j],
            [i; 4],
        ] {
            assert_eq!(projected(&FULL, positions, [1.0; 4], [2.0]), positions);
        }

        let rest = DihedralAngle::measure(&[i, j, j * 2.0, l].map(lone))[0].0[0];
        assert_eq!(
            projected(&FULL, [i, j, k, l], [1.0; 4], [rest]),
            [i, j, k, l]
        );
    }
}
