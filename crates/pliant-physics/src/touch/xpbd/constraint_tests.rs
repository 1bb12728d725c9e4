//! What the constraints of the default method promise, each against its own definition.

use pliant_mesh::glam::DVec3;

use super::area::{Area, area_parameters};
use super::bend::{Bend, bend_parameters};
use super::shear::{Shear, shear_parameters};
use super::stretch::{Stretch, stretch_parameters};
use crate::touch::projection::constraint_group::Constraint;
use crate::touch::projection::lanes::{Lanes, Vectors};

const REST: [DVec3; 4] = [
    DVec3::new(0.1, -0.2, 0.3),
    DVec3::new(1.2, 0.1, 0.2),
    DVec3::new(0.4, 0.9, 0.5),
    DVec3::new(0.6, -0.8, 0.9),
];
const NOW: [DVec3; 4] = [
    DVec3::new(0.15, -0.1, 0.25),
    DVec3::new(1.3, 0.2, 0.1),
    DVec3::new(0.5, 1.1, 0.35),
    DVec3::new(0.4, -0.9, 1.2),
];
const MASSES: [f64; 4] = [1.0, 0.5, 2.0, 0.25];
const INVERSE_SQUARE_TIME: Lanes = Lanes([1.0; 8]);
/// So soft that a projection is `−C/α` times the gradient and nothing else, to five digits.
const SOFT: f64 = 1e6;

/// What one projection moves, in the first lane; all lanes hold the same.
fn moved<const N: usize, const P: usize, const R: usize>(
    constraint: &impl Constraint<N, P, R>,
    parameters: [f64; P],
    now: [DVec3; N],
) -> [DVec3; N] {
    let mut positions = now.map(Vectors::splat);
    let inverse_masses = std::array::from_fn(|k| Lanes::splat(1.0 / MASSES[k]));
    constraint.project(
        &mut positions,
        &inverse_masses,
        &parameters.map(Lanes::splat),
        &mut [Lanes::ZERO; R],
    );

    std::array::from_fn(|k| {
        let after = positions[k].lane(0);
        let lane = positions[k].lane(7);
        assert_eq!(after, lane);
        after - now[k]
    })
}

/// Minus `C` times its gradient by central differences.
fn expected<const N: usize>(value: impl Fn(&[DVec3; N]) -> f64, now: [DVec3; N]) -> [DVec3; N] {
    const STEP: f64 = 1e-5;
    std::array::from_fn(|k| {
        let slope = |axis: DVec3| {
            let shifted = |by: f64| {
                let mut positions = now;
                positions[k] += axis * by;
                value(&positions)
            };
            (shifted(STEP) - shifted(-STEP)) / (2.0 * STEP)
        };
        DVec3::new(slope(DVec3::X), slope(DVec3::Y), slope(DVec3::Z)) * -value(&now)
    })
}

fn assert_gradient<const N: usize>(found: [DVec3; N], expected: [DVec3; N]) {
    for k in 0..N {
        let found = found[k] * SOFT * MASSES[k];
        assert!(
            found.distance(expected[k]) < 1e-4 * expected[k].length().max(1e-3),
            "corner {k}: {found} is not {}",
            expected[k]
        );
    }
}

fn first<const N: usize>(of: [DVec3; 4]) -> [DVec3; N] {
    std::array::from_fn(|k| of[k])
}

/// Neither the momentum nor the angular momentum of free masses changes.
fn assert_momentum<const N: usize>(found: [DVec3; N], now: [DVec3; N]) {
    let largest = found.iter().map(|d| d.length()).fold(0.0, f64::max);
    let linear: DVec3 = (0..N).map(|k| found[k] * MASSES[k]).sum();
    let angular: DVec3 = (0..N).map(|k| now[k].cross(found[k]) * MASSES[k]).sum();
    assert!(
        largest > 1e-3 && linear.length() < 1e-14 && angular.length() < 1e-11,
        "{largest} {linear} {angular}"
    );
}

fn length([a, b]: &[DVec3; 2]) -> f64 {
    a.distance(*b) - REST[0].distance(REST[1])
}

fn area([a, b, c]: &[DVec3; 3]) -> f64 {
    let of = |a: DVec3, b: DVec3, c: DVec3| 0.5 * (b - a).cross(c - a).length();
    of(*a, *b, *c) / of(REST[0], REST[1], REST[2]) - 1.0
}

/// The angle between both triangles.
fn hinge_angle([a, b, c, d]: &[DVec3; 4]) -> f64 {
    let edge = *b - *a;
    let first = edge.cross(*c - *a).normalize();
    let second = (*d - *a).cross(edge).normalize();
    let sine = first.cross(second).dot(edge.normalize());
    sine.atan2(first.dot(second))
}

#[test]
fn the_gradient_of_a_length_is_that_of_finite_differences() {
    let parameters = stretch_parameters(first(REST), SOFT, 10.0);
    assert_gradient(
        moved(
            &Stretch::<true> {
                inverse_square_time: INVERSE_SQUARE_TIME,
            },
            parameters,
            first(NOW),
        ),
        expected(length, first(NOW)),
    );
}

#[test]
fn the_gradient_of_an_area_is_that_of_finite_differences() {
    let parameters = area_parameters(first(REST), SOFT);
    assert_gradient(
        moved(
            &Area {
                inverse_square_time: INVERSE_SQUARE_TIME,
            },
            parameters,
            first(NOW),
        ),
        expected(area, first(NOW)),
    );
}

/// `G₁₁ − G₂₂` over two and `G₁₂`, by the inverse of the rest triangle's matrix.
fn strain(positions: &[DVec3; 3]) -> [f64; 2] {
    let first = REST[1] - REST[0];
    let second = REST[2] - REST[0];
    let x = first.normalize();
    let y = (second - x * x.dot(second)).normalize();
    let rest = pliant_mesh::glam::DMat2::from_cols_array(&[
        first.dot(x),
        first.dot(y),
        second.dot(x),
        second.dot(y),
    ])
    .inverse();

    let e1 = positions[1] - positions[0];
    let e2 = positions[2] - positions[0];
    let f1 = e1 * rest.x_axis.x + e2 * rest.x_axis.y;
    let f2 = e1 * rest.y_axis.x + e2 * rest.y_axis.y;

    [
        0.5 * (f1.length_squared() - f2.length_squared()),
        f1.dot(f2),
    ]
}

#[test]
fn the_gradients_of_shear_are_those_of_finite_differences() {
    let parameters = shear_parameters(first(REST), SOFT);
    let found = moved(
        &Shear {
            inverse_square_time: INVERSE_SQUARE_TIME,
        },
        parameters,
        first(NOW),
    );

    let [one, two] = [0, 1].map(|row| expected(|positions| strain(positions)[row], first(NOW)));
    assert_gradient(found, std::array::from_fn(|k| one[k] + two[k]));
}

#[test]
fn shear_does_not_depend_on_the_corner_a_triangle_begins_with() {
    let turn = |of: [DVec3; 4]| [of[1], of[2], of[0]];
    let shear = Shear {
        inverse_square_time: INVERSE_SQUARE_TIME,
    };

    // The masses are by place, so equal ones are taken here through gradients: motion times mass.
    let here = moved(&shear, shear_parameters(first(REST), SOFT), first(NOW));
    let turned = moved(&shear, shear_parameters(turn(REST), SOFT), turn(NOW));

    for k in 0..3 {
        let a = here[(k + 1) % 3] * MASSES[(k + 1) % 3];
        let b = turned[k] * MASSES[k];
        assert!((a - b).length() < 1e-5 * a.length(), "{a} {b}");
    }
}

/// The length of the edge at rest times the change of the angle.
fn bend(positions: &[DVec3; 4]) -> f64 {
    REST[0].distance(REST[1]) * (hinge_angle(positions) - hinge_angle(&REST))
}

#[test]
fn the_rest_angle_of_a_hinge_is_that_between_its_triangles() {
    let [a, b, c, d] = REST;
    let edge = (b - a).normalize();
    for angle in [-3.0, -1.5, -0.3, 0.0, 0.8, 2.0, 2.9] {
        let turned = a + pliant_mesh::glam::DQuat::from_axis_angle(edge, angle) * (d - a);
        let corners = [a, b, c, turned];
        let [length, _, found] = bend_parameters(corners, 1.0);
        assert!(
            (found - hinge_angle(&corners)).abs() < 1e-12 && length == a.distance(b),
            "{angle}: {found}"
        );
    }
}

/// In a sheet of unequal triangles a sharp crease would otherwise be stable.
#[test]
fn a_hinge_that_is_folded_more_is_pushed_back_more() {
    let flat = [
        DVec3::ZERO,
        DVec3::X,
        DVec3::new(0.4, 1.5, 0.0),
        DVec3::new(0.6, -0.4, 0.0),
    ];
    let push = |angle: f64| {
        let mut folded = flat;
        folded[3] = pliant_mesh::glam::DQuat::from_axis_angle(DVec3::X, angle) * flat[3];
        let step = moved(
            &Bend {
                inverse_square_time: INVERSE_SQUARE_TIME,
            },
            bend_parameters(flat, SOFT),
            folded,
        );
        step[3].length()
    };
    let pushes: Vec<f64> = (1..62).map(|k| push(0.05 * f64::from(k))).collect();
    assert!(pushes.is_sorted(), "{pushes:?}");
    assert!((pushes[59] / pushes[0] / 60.0 - 1.0).abs() < 0.01);
}

#[test]
fn the_gradient_of_a_bend_is_that_of_finite_differences() {
    let areas = 0.5
        * ((REST[1] - REST[0]).cross(REST[2] - REST[0]).length()
            + (REST[1] - REST[0]).cross(REST[3] - REST[0]).length());
    let found = moved(
        &Bend {
            inverse_square_time: INVERSE_SQUARE_TIME,
        },
        bend_parameters(REST, SOFT * 3.0 / areas),
        NOW,
    );

    assert_gradient(found, expected(bend, NOW));
}

#[test]
fn a_strained_hinge_passes_through_flat_without_a_jump() {
    let flat = [
        DVec3::ZERO,
        DVec3::X,
        DVec3::new(0.4, 0.9, 0.0),
        DVec3::new(0.6, -0.8, 0.0),
    ];

    let strained = |height: f64| {
        [
            DVec3::ZERO,
            DVec3::X * 1.3,
            DVec3::new(0.7, 0.8, 0.0),
            DVec3::new(0.5, -1.0, height),
        ]
    };

    let step = |height: f64| {
        moved(
            &Bend {
                inverse_square_time: INVERSE_SQUARE_TIME,
            },
            bend_parameters(flat, 0.0),
            strained(height),
        )
    };

    let above = step(1e-9);
    let below = step(-1e-9);
    assert!(
        (0..4).all(|k| (above[k] - below[k]).length() < 1e-7),
        "{above:?} {below:?}"
    );
}

#[test]
fn a_hinge_folded_to_the_other_side_returns() {
    let mut flipped = REST;
    flipped[3] -= 2.0
        * (REST[3] - REST[0]).dot((REST[1] - REST[0]).cross(REST[2] - REST[0]).normalize())
        * (REST[1] - REST[0]).cross(REST[2] - REST[0]).normalize();

    assert!(hinge_angle(&flipped) * hinge_angle(&REST) < 0.0);
    let bend = Bend {
        inverse_square_time: INVERSE_SQUARE_TIME,
    };

    let mut positions = flipped;
    for _ in 0..400 {
        let step = moved(&bend, bend_parameters(REST, 0.0), positions);
        for k in 0..4 {
            positions[k] += step[k] * 0.2;
        }
    }

    assert!(
        hinge_angle(&positions) * hinge_angle(&REST) > 0.0,
        "{}",
        hinge_angle(&positions)
    );
}

#[test]
fn projections_conserve_linear_and_angular_momentum() {
    let time = INVERSE_SQUARE_TIME;
    assert_momentum(
        moved(
            &Stretch::<true> {
                inverse_square_time: time,
            },
            stretch_parameters(first(REST), 0.3, 10.0),
            first(NOW),
        ),
        first(NOW),
    );

    assert_momentum(
        moved(
            &Stretch::<true> {
                inverse_square_time: time,
            },
            stretch_parameters(first(REST), 0.3, 1e-3),
            first(NOW),
        ),
        first(NOW),
    );

    assert_momentum(
        moved(
            &Area {
                inverse_square_time: time,
            },
            area_parameters(first(REST), 0.3),
            first(NOW),
        ),
        first(NOW),
    );

    assert_momentum(
        moved(
            &Bend {
                inverse_square_time: time,
            },
            bend_parameters(REST, 0.3),
            NOW,
        ),
        NOW,
    );
}

#[test]
fn shear_conserves_linear_momentum_and_each_of_its_rows_angular_momentum() {
    // Its two rows are projected one after the other, so the second turns about positions that the
    // first has moved.
    let positions = first(NOW);
    let shear = Shear {
        inverse_square_time: INVERSE_SQUARE_TIME,
    };

    let found = moved(&shear, shear_parameters(first(REST), SOFT), positions);
    let angular: DVec3 = (0..3)
        .map(|k| positions[k].cross(found[k]) * MASSES[k])
        .sum();
    let linear: DVec3 = (0..3).map(|k| found[k] * MASSES[k]).sum();

    assert!(
        linear.length() * SOFT < 1e-7 && angular.length() * SOFT < 1e-5,
        "{linear} {angular}"
    );
}

#[test]
fn the_rest_shape_is_at_rest_to_the_bit() {
    let time = INVERSE_SQUARE_TIME;
    assert_eq!(
        moved(
            &Stretch::<true> {
                inverse_square_time: time
            },
            stretch_parameters(first(REST), 0.0, 0.1),
            first(REST)
        ),
        [DVec3::ZERO; 2]
    );

    assert_eq!(
        moved(
            &Shear {
                inverse_square_time: time
            },
            shear_parameters(first(REST), 0.0),
            first(REST)
        ),
        [DVec3::ZERO; 3]
    );

    assert_eq!(
        moved(
            &Area {
                inverse_square_time: time
            },
            area_parameters(first(REST), 0.0),
            first(REST)
        ),
        [DVec3::ZERO; 3]
    );

    assert_eq!(
        moved(
            &Bend {
                inverse_square_time: time
            },
            bend_parameters(REST, 0.0),
            REST
        ),
        [DVec3::ZERO; 4]
    );
}

#[test]
fn degenerate_elements_are_inactive() {
    let time = INVERSE_SQUARE_TIME;
    let point = [DVec3::ONE; 4];
    for now in [point, NOW] {
        let all = [
            moved(
                &Stretch::<true> {
                    inverse_square_time: time,
                },
                stretch_parameters(first(point), 0.0, 0.1),
                first(point),
            )
            .to_vec(),
            moved(
                &Shear {
                    inverse_square_time: time,
                },
                shear_parameters(first(point), 0.0),
                first(now),
            )
            .to_vec(),
            moved(
                &Area {
                    inverse_square_time: time,
                },
                area_parameters(first(point), 0.0),
                first(now),
            )
            .to_vec(),
            moved(
                &Bend {
                    inverse_square_time: time,
                },
                bend_parameters(point, 0.0),
                now,
            )
            .to_vec(),
        ];
        assert!(all.iter().flatten().all(|d| *d == DVec3::ZERO), "{all:?}");
    }
}

#[test]
fn an_edge_stays_within_its_strain_limits() {
    let parameters = stretch_parameters(first(REST), 1e9, 0.2);
    let now = [REST[0], REST[0] + (REST[1] - REST[0]) * 3.0];
    let found = moved(
        &Stretch::<true> {
            inverse_square_time: INVERSE_SQUARE_TIME,
        },
        parameters,
        now,
    );

    let length = (now[0] + found[0]).distance(now[1] + found[1]);
    assert!((length / REST[0].distance(REST[1]) - 1.2).abs() < 1e-12);
}
