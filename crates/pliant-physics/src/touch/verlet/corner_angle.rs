//! Shearing constraint of Çetinaslan 2016: the angles of a triangle.
//!
//! **Problem.** Move the three vertices of a triangle so that its angle at one of them is the one
//! at rest.
//!
//! **Equation.** At the corner `i`, with its sides `a = q_j − q_i` and `b = q_k − q_i` and `D = a ·
//! b / (|a| |b|)`,
//!
//! ```text
//! C = cos⁻¹ D − γ        r_j = (a · b / |a|²) a − b        r_k = (a · b / |b|²) b − a        r_i = −r_j − r_k
//! ```
//!
//! where `r = |a × b| ∇C`; the correction is that of [`AngleGradient`].
//!
//! **Source.** Çetinaslan 2016, eq. 5.9 and A.3–A.12.
//!
//! **Departures.** The general form in the thesis is correct; its expanded form has errors. There `r = √(1 − D²)
//! ∇C`, which is ours over `|a| |b|`:
//!
//! | | printed, times `\|a\| \|b\|` | right, times `\|a\| \|b\|` |
//! |---|---|---|
//! | A.3–A.7 | | as printed |
//! | A.8 | `r₂ = −(q_i − q_k)`, which is `b` | `(a · b / \|a\|²) a − b`: the part along the side is lacking, and the sign |
//! | A.9 | `r₃ = −(q_i − q_j)`, which is `a` | `(a · b / \|b\|²) b − a`: likewise |
//! | A.10–A.12 | | as printed, with these `r`; in A.12 the root's bracket closes too late |
//!
//! As printed the corner also stretches its sides, and is driven away from its angle. All three
//! corners of a triangle are projected one after the other while it is loaded: still one corner at
//! a time, in the order of the triangles.

use super::RestMeasure;
use super::angle_gradient::{AngleGradient, inverse};
use crate::touch::projection::constraint_group::Constraint;
use crate::touch::projection::lanes::{Lanes, Vectors};

/// A triangle; the parameters are its angles at rest.
pub(super) struct CornerAngles;

impl RestMeasure<3, 3> for CornerAngles {
    #[inline(always)]
    fn measure(&[i, j, k]: &[Vectors; 3]) -> [Lanes; 3] {
        [
            corner_angle(&[i, j, k]).angle,
            corner_angle(&[j, k, i]).angle,
            corner_angle(&[k, i, j]).angle,
        ]
    }
}

impl Constraint<3, 3, 0> for CornerAngles {
    #[inline(always)]
    fn project(
        &self,
        positions: &mut [Vectors; 3],
        inverse_masses: &[Lanes; 3],
        parameters: &[Lanes; 3],
        _: &mut [Lanes; 0],
    ) {
        project_first_of([0, 1, 2], positions, inverse_masses, parameters);
        project_first_of([1, 2, 0], positions, inverse_masses, parameters);
        project_first_of([2, 0, 1], positions, inverse_masses, parameters);
    }
}

/// Projects the corner at the first of three vertices of a triangle.
#[inline(always)]
fn project_first_of(
    [i, j, k]: [usize; 3],
    positions: &mut [Vectors; 3],
    inverse_masses: &[Lanes; 3],
    rest: &[Lanes; 3],
) {
    let mut corner = [positions[i], positions[j], positions[k]];
    let weights = [inverse_masses[i], inverse_masses[j], inverse_masses[k]];
    corner_angle(&corner).correct(&mut corner, &weights, rest[i], Lanes::splat(1.0));
    [positions[i], positions[j], positions[k]] = corner;
}

/// The angle at the first of three vertices.
#[inline(always)]
fn corner_angle(&[i, j, k]: &[Vectors; 3]) -> AngleGradient<3> {
    let a = j - i;
    let b = k - i;
    let a_square = a.dot(a);
    let b_square = b.dot(b);
    let dot = a.dot(b);
    let cross = a.cross(b).length();

    // One quotient for both gradients and the sine.
    let inverse_square = inverse(a_square * b_square);
    let share = dot * inverse_square;
    let at_j = a * (share * b_square) - b;
    let at_k = b * (share * a_square) - a;

    AngleGradient::new(
        dot,
        cross,
        inverse_square,
        cross,
        [-at_j - at_k, at_j, at_k],
    )
}

#[cfg(test)]
mod tests {
    use super::super::test_gradients::{difference_gradients, lone, projected, scattered, torque};
    use super::*;
    use pliant_mesh::glam::DVec3;

    fn angle([i, j, k]: [DVec3; 3]) -> f64 {
        (j - i).normalize().dot((k - i).normalize()).acos()
    }

    /// A corner alone: the first of a triangle.
    struct FirstCorner;

    impl Constraint<3, 1, 0> for FirstCorner {
        fn project(
            &self,
            positions: &mut [Vectors; 3],
            inverse_masses: &[Lanes; 3],
            parameters: &[Lanes; 1],
            _: &mut [Lanes; 0],
        ) {
            corner_angle(positions).correct(
                positions,
                inverse_masses,
                parameters[0],
                Lanes::splat(1.0),
            );
        }
    }

    /// A.8 and A.9.
    fn printed_slopes([i, j, k]: [DVec3; 3]) -> [DVec3; 3] {
        let lengths = (j - i).length() * (k - i).length();
        let second = -(i - k) / lengths;
        let third = -(i - j) / lengths;
        [-second - third, second, third]
    }

    /// A.10–A.12.
    fn printed_correction(positions: [DVec3; 3], gradients: [DVec3; 3], rest: f64) -> [DVec3; 3] {
        let sine = angle(positions).sin();
        let response: f64 = gradients.iter().map(|r| r.length_squared()).sum();
        let step = -sine * (angle(positions) - rest) / response;
        [0, 1, 2].map(|v| positions[v] + gradients[v] * step)
    }

    #[test]
    fn gradients_match_differences() {
        for seed in 0..50 {
            let positions: [DVec3; 3] = scattered(seed);
            let ours = corner_angle(&positions.map(lone));
            assert!((ours.angle.0[0] - angle(positions)).abs() < 1e-12);

            for (gradient, expected) in ours
                .gradients
                .iter()
                .zip(difference_gradients(angle, positions))
            {
                assert!(
                    (gradient.lane(0) / ours.factor.0[0]).distance(expected)
                        < 1e-7 * (1.0 + expected.length()),
                    "{seed}"
                );
            }
        }
    }

    #[test]
    fn the_printed_slopes_are_none_of_the_angle_but_at_right_angles_and_there_have_the_other_sign()
    {
        for seed in 0..50 {
            let positions: [DVec3; 3] = scattered(seed);
            let sine = angle(positions).sin();
            for (printed, gradient) in printed_slopes(positions)
                .into_iter()
                .zip(difference_gradients(angle, positions))
                .skip(1)
            {
                let lacking = angle(positions).cos().abs() * printed.length();
                assert!(
                    (printed + gradient * sine).length() > 0.999 * lacking,
                    "{seed}"
                );

                assert!(
                    (printed - gradient * sine).length() > 0.999 * lacking,
                    "{seed}"
                );
            }
        }

        let square = [DVec3::ZERO, DVec3::X * 2.0, DVec3::Y * 3.0];
        for (printed, gradient) in printed_slopes(square)
            .into_iter()
            .zip(difference_gradients(angle, square))
        {
            assert!((printed + gradient).length() < 1e-8);
        }
    }

    #[test]
    fn the_printed_correction_leads_away_and_with_our_slopes_to_the_angle_at_rest() {
        for seed in 0..50 {
            let positions: [DVec3; 3] = scattered(seed);
            let before = 1e-4;
            let rest = angle(positions) - 1e-4;
            let ours = corner_angle(&positions.map(lone));
            let ours = ours
                .gradients
                .map(|gradient| gradient.lane(0) * (angle(positions).sin() / ours.factor.0[0]));

            let after =
                |gradients| (angle(printed_correction(positions, gradients, rest)) - rest).abs();
            assert!(after(printed_slopes(positions)) > before, "{seed}");
            assert!(after(ours) < 0.01 * before, "{seed}");
            assert!(
                (after(ours.map(|gradient| -gradient)) / before - 2.0).abs() < 0.01,
                "{seed}"
            );
        }
    }

    #[test]
    fn a_projection_leaves_the_square_of_the_violation() {
        for (seed, violation) in
            (0..50).flat_map(|seed| [1e-2, -1e-3, 1e-4].map(|violation| (seed, violation)))
        {
            let positions: [DVec3; 3] = scattered(seed);
            let moved = projected(
                &FirstCorner,
                positions,
                [1.0; 3],
                [angle(positions) - violation],
            );
            let left = angle(moved) - angle(positions) + violation;

            assert!(
                left.abs() < 3.0 * violation * violation,
                "{seed}: {left} of {violation}"
            );
            assert!(torque(&positions, &moved).length() < 1e-14);
            assert!(
                (0..3)
                    .map(|v| moved[v] - positions[v])
                    .sum::<DVec3>()
                    .length()
                    < 1e-14
            );
        }
    }

    #[test]
    fn three_corners_are_three_projections_one_after_the_other() {
        let positions: [DVec3; 3] = scattered(8);
        let rest = [1.2, 0.9, 1.0];
        let mut expected = positions;

        for (first, &rest) in rest.iter().enumerate() {
            let order = [first, (first + 1) % 3, (first + 2) % 3];
            let moved = projected(&FirstCorner, order.map(|v| expected[v]), [1.0; 3], [rest]);
            for (&v, place) in order.iter().zip(moved) {
                expected[v] = place;
            }
        }

        assert_eq!(
            projected(&CornerAngles, positions, [1.0; 3], rest),
            expected
        );
    }

    #[test]
    fn triangles_that_are_lines_or_points_rest_and_so_do_those_that_were_at_rest() {
        let line = [DVec3::ZERO, DVec3::X, DVec3::X * 3.0];
        let doubled = [DVec3::ZERO, DVec3::ZERO, DVec3::Y];
        for positions in [line, doubled, [DVec3::ONE; 3]] {
            assert_eq!(
                projected(&CornerAngles, positions, [1.0; 3], [1.0, 1.0, 1.0]),
                positions
            );
        }

        let sound: [DVec3; 3] = scattered(2);
        let rest = CornerAngles::measure(&[DVec3::ONE; 3].map(lone)).map(|angle| angle.0[0]);
        assert_eq!(projected(&CornerAngles, sound, [1.0; 3], rest), sound);
    }
}
