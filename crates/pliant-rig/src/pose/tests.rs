//! Claims about all pose solvers.

use pliant_linalg::{BoxQuadratic, BoxTerms, BoxWorkspace};
use pliant_mesh::Mesh;
use pliant_mesh::glam::{DQuat, DVec3, Vec3};
use pliant_mesh::shapes::bumpy_sheet;
use proptest::prelude::*;

use super::*;
use crate::{
    Combination, Driver, InBetween, Limits, Rig, RigError, Rule, Slider, SliderId, Target,
};

fn all_solvers() -> Vec<Box<dyn PoseSolver>> {
    vec![
        Box::new(PseudoInverse),
        Box::new(Tikhonov::default()),
        Box::new(Localized::default()),
        Box::new(Transpose::default()),
        Box::new(Hybrid::default()),
        Box::new(Bounded::default()),
    ]
}

/// Smooth bumps on a sheet, each in its own direction: a rig whose sliders overlap.
pub(super) fn bumps(count: usize) -> Rig {
    let sheet = bumpy_sheet(14, 0.1);
    let targets = (0..count).map(|k| {
        let centre = DVec3::new(
            0.15 + 0.7 * ((k * 5) % count) as f64 / count as f64,
            0.15 + 0.7 * k as f64 / count as f64,
            0.0,
        );
        let angle_rad = k as f64 * 1.3;
        let along = Vec3::new(
            angle_rad.cos() as f32,
            angle_rad.sin() as f32,
            1.0 - 0.2 * k as f32,
        )
        .normalize()
            * 0.2;
        let fall_off = |p: &DVec3| (-(p.distance_squared(centre) / 0.06)).exp() as f32;

        Target::from_dense(
            format!("bump{k}"),
            sheet
                .positions()
                .iter()
                .map(|p| along * fall_off(p))
                .collect::<Vec<_>>(),
        )
    });

    let targets = targets.collect();
    Rig::new(sheet, targets).unwrap()
}

fn solve(rig: &Rig, start: &[f64], pins: &[Pin], solver: &dyn PoseSolver, range: Range) -> Pose {
    let poser = Poser::new(rig).unwrap();
    let displacements: Vec<DVec3> = pins.iter().map(|pin| pin.displacement).collect();
    poser
        .grab(start, pins, solver, range)
        .unwrap()
        .solve(&displacements)
}

pub(super) fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(x, y)| (x - y).abs())
        .fold(0.0, f64::max)
}

/// A known sparse pose, and pins at the positions it gives.
fn known_pose(rig: &Rig) -> (Vec<f64>, Vec<Pin>) {
    let mut weights = vec![0.0; rig.targets().len()];
    (weights[1], weights[4]) = (0.7, 0.4);
    let posed = rig.evaluate(&weights);
    let rest = rig.neutral().positions();
    let pins = [40, 77, 112, 150, 181].map(|v| Pin::new(v, posed[v] - rest[v]));
    (weights, pins.to_vec())
}

fn transformed(rig: &Rig, scale: f64, rotation: DQuat, shift: DVec3) -> Rig {
    let positions = rig
        .neutral()
        .positions()
        .iter()
        .map(|p| rotation * (*p * scale) + shift)
        .collect();

    let moved = |d: &Vec3| (rotation * (d.as_dvec3() * scale)).as_vec3();
    let targets = rig
        .targets()
        .iter()
        .map(|t| Target {
            deltas: t.deltas.iter().map(moved).collect(),
            ..t.clone()
        })
        .collect();

    Rig::new(rig.neutral().posed(positions).unwrap(), targets).unwrap()
}

#[test]
fn scaling_rotating_and_translating_the_scene_changes_no_weight() {
    let rig = bumps(8);
    let (_, pins) = known_pose(&rig);
    let rotation = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, -0.5).normalize(), 1.1);

    for solver in all_solvers() {
        let before = solve(&rig, &[], &pins, solver.as_ref(), Range::Clip).weights;

        // A power of two rounds nothing; a rotation rounds the f32 displacements again.
        for (scale, rotation, tolerance) in [(64.0, DQuat::IDENTITY, 1e-9), (1.0, rotation, 1e-4)] {
            let other = transformed(&rig, scale, rotation, DVec3::new(3.0, -1.0, 0.5) * scale);
            let dragged: Vec<Pin> = pins
                .iter()
                .map(|pin| Pin {
                    displacement: rotation * (pin.displacement * scale),
                    ..pin.clone()
                })
                .collect();

            let after = solve(&other, &[], &dragged, solver.as_ref(), Range::Clip).weights;
            assert!(
                largest_difference(&before, &after) < tolerance,
                "{}: {before:?} {after:?}",
                solver.name()
            );
        }
    }
}

#[test]
fn in_scene_units_the_methods_of_cetinaslan2016_depend_on_the_scale() {
    let rig = bumps(8);
    let (_, pins) = known_pose(&rig);
    let scene = Units::Scene;
    let tikhonov = Tikhonov {
        alpha: 0.01,
        units: scene,
    };

    let solvers: [Box<dyn PoseSolver>; 3] = [
        Box::new(tikhonov),
        Box::new(Localized {
            tikhonov,
            outer_radius: Some(0.1),
        }),
        Box::new(Transpose { units: scene }),
    ];

    for solver in solvers {
        let before = solve(&rig, &[], &pins, solver.as_ref(), Range::Free).weights;
        let doubled: Vec<Pin> = pins
            .iter()
            .map(|pin| Pin {
                displacement: pin.displacement * 2.0,
                ..pin.clone()
            })
            .collect();

        let larger = transformed(&rig, 2.0, DQuat::IDENTITY, DVec3::ZERO);
        let after = solve(&larger, &[], &doubled, solver.as_ref(), Range::Free).weights;
        assert!(
            largest_difference(&before, &after) > 1e-3,
            "{}",
            solver.name()
        );
    }
}

#[test]
fn pins_without_displacement_keep_every_bit_of_every_weight() {
    let rig = bumps(8);
    let start = [0.1, 0.0, 0.7, 1.0, 0.3, 0.0, 1.3, -0.2];
    for solver in all_solvers() {
        for range in [Range::Clip, Range::Free] {
            let pose = solve(
                &rig,
                &start,
                &[Pin::hold(40), Pin::hold(112)],
                solver.as_ref(),
                range,
            );

            assert_eq!(pose.weights, start, "{}", solver.name());
            assert!(pose.at_limit.is_empty());
        }
    }
}

#[test]
fn the_order_of_pins_does_not_matter() {
    let rig = bumps(8);
    let (_, pins) = known_pose(&rig);
    let backwards: Vec<Pin> = pins.iter().rev().cloned().collect();
    for solver in all_solvers() {
        let [a, b] = [&pins, &backwards]
            .map(|pins| solve(&rig, &[], pins, solver.as_ref(), Range::Free).weights);
        assert!(largest_difference(&a, &b) < 1e-9, "{}", solver.name());
    }
}

#[test]
fn tikhonov_satisfies_its_normal_equations() {
    let rig = bumps(8);
    let (_, pins) = known_pose(&rig);
    let weights = solve(
        &rig,
        &[],
        &pins,
        &Tikhonov {
            alpha: 0.003,
            units: Units::Scene,
        },
        Range::Free,
    )
    .weights;

    let poser = Poser::new(&rig).unwrap();
    let system = PinSystem::new(&poser, &[], &pins).unwrap();
    let residuals: Vec<DVec3> = system
        .positions_at(&weights)
        .iter()
        .zip(system.positions())
        .zip(&pins)
        .map(|((at, from), pin)| *from + pin.displacement - *at)
        .collect();

    for (slider, weight) in weights.iter().enumerate() {
        // Eq. 3.4: B̄ᵀ(m − B̄w) = αw.
        let force: f64 = system
            .pin_derivatives(slider)
            .iter()
            .zip(&residuals)
            .map(|(b, r)| b.dot(*r))
            .sum();
        assert!((force - 0.003 * weight).abs() < 1e-12);
    }
}

#[test]
fn without_damping_tikhonov_is_the_pseudo_inverse_and_hybrid_lies_between_its_ends() {
    let rig = bumps(8);
    let (_, pins) = known_pose(&rig);
    let free = |solver: &dyn PoseSolver| solve(&rig, &[], &pins, solver, Range::Free).weights;
    let inverse = free(&PseudoInverse);
    let transpose = free(&Transpose::default());

    assert_eq!(
        free(&Tikhonov {
            alpha: 0.0,
            units: Units::Relative
        }),
        inverse
    );

    let mixed = free(&Hybrid {
        gamma: Some(0.3),
        units: Units::Relative,
    });

    let expected: Vec<f64> = inverse
        .iter()
        .zip(&transpose)
        .map(|(a, b)| 0.3 * a + 0.7 * b)
        .collect();

    assert!(largest_difference(&mixed, &expected) < 1e-12);
}

#[test]
fn on_an_orthonormal_rig_the_transpose_is_the_pseudo_inverse() {
    let mesh = Mesh::from_triangles(vec![DVec3::ZERO, DVec3::X, DVec3::Y], &[[0, 1, 2]]).unwrap();
    let axes =
        [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| Target::from_dense(format!("{axis}"), [axis]));
    let rig = Rig::new(mesh, axes.to_vec()).unwrap();
    let pins = [Pin::new(0, DVec3::new(0.3, 0.5, 0.2))];

    for units in [Units::Relative, Units::Scene] {
        let weights = solve(&rig, &[], &pins, &Transpose { units }, Range::Free).weights;
        assert!(largest_difference(&weights, &[0.3, 0.5, 0.2]) < 1e-12);
    }

    assert!(
        largest_difference(
            &solve(&rig, &[], &pins, &PseudoInverse, Range::Free).weights,
            &[0.3, 0.5, 0.2]
        ) < 1e-12
    );
}

/// Three targets whose displacements at two vertices depend on each other, but for their rounding to
/// single precision.
#[test]
fn the_pseudo_inverse_does_not_invert_the_rounding_of_targets() {
    let mesh = Mesh::from_triangles(vec![DVec3::ZERO, DVec3::X, DVec3::Y], &[[0, 1, 2]]).unwrap();
    let a = [DVec3::new(0.11, 0.7, 0.3), DVec3::new(-0.4, 0.21, 0.9)];
    let b = [DVec3::new(-0.6, 0.13, 0.5), DVec3::new(0.33, -0.8, 0.17)];
    let mixed = [0, 1].map(|k| a[k] * 0.37 + b[k] * 0.59);
    let targets = [("a", a), ("b", b), ("c", mixed)]
        .map(|(name, deltas)| Target::from_dense(name, deltas.map(|d| d.as_vec3())));
    let rig = Rig::new(mesh, targets.to_vec()).unwrap();

    let goals = [DVec3::new(0.3, -0.2, 0.1), DVec3::new(0.1, 0.2, -0.3)];
    let pins = [Pin::new(0, goals[0]), Pin::new(1, goals[1])];
    let solvers: [&dyn PoseSolver; 2] = [&PseudoInverse, &Hybrid::default()];
    for solver in solvers {
        let weights = solve(&rig, &[], &pins, solver, Range::Free).weights;
        assert!(weights.iter().all(|w| w.abs() < 2.0), "{weights:?}");
    }

    // Of all weights with the least error, those of least norm: the third target is used as the mix is.
    let weights = solve(&rig, &[], &pins, &PseudoInverse, Range::Free).weights;
    assert!(
        (weights[2] - 0.37 * weights[0] - 0.59 * weights[1]).abs() < 1e-5,
        "{weights:?}"
    );
}

#[test]
fn localized_drops_the_targets_that_move_a_pin_less_than_the_active_radius() {
    let rig = bumps(8);
    let pins = [Pin::new(112, DVec3::new(0.0, 0.05, 0.1))];
    let poser = Poser::new(&rig).unwrap();
    let system = PinSystem::new(&poser, &[], &pins).unwrap();
    let lengths: Vec<f64> = (0..8)
        .map(|k| system.pin_derivatives(k)[0].length())
        .collect();
    let solver = Localized {
        outer_radius: Some(0.08),
        ..Localized::default()
    };

    assert!(
        (solver.active_radius(1.0) - 0.048).abs() < 1e-15,
        "the mean of 0.08 and its fifth"
    );

    let weights = solve(&rig, &[], &pins, &solver, Range::Free).weights;
    for (k, length) in lengths.iter().enumerate() {
        assert_eq!(
            weights[k] != 0.0,
            *length >= 0.048,
            "slider {k} moves the pin by {length}"
        );
    }
}

#[test]
fn equal_sliders_share_a_drag_and_unrelated_ones_stay_at_zero() {
    let mesh = bumpy_sheet(4, 0.1);
    let lift = |name: &str, vertex: usize| {
        Target::from_dense(
            name,
            (0..25).map(|v| if v == vertex { Vec3::Z } else { Vec3::ZERO }),
        )
    };

    let rig = Rig::new(
        mesh,
        vec![lift("left", 6), lift("right", 6), lift("other", 18)],
    )
    .unwrap();

    for solver in all_solvers().iter().filter(|s| s.name() != "localized") {
        let weights = solve(
            &rig,
            &[],
            &[Pin::new(6, DVec3::Z * 0.6)],
            solver.as_ref(),
            Range::Free,
        )
        .weights;

        assert!(
            (weights[0] - weights[1]).abs() < 1e-9 && (weights[0] + weights[1] - 0.6).abs() < 0.01,
            "{}: {weights:?}",
            solver.name()
        );
        assert_eq!(weights[2], 0.0);
    }
}

#[test]
fn doubling_a_slider_halves_its_weight_and_changes_no_pose() {
    let rig = bumps(8);
    let (_, pins) = known_pose(&rig);
    let mut targets = rig.targets().to_vec();
    for d in targets[4].deltas.iter_mut() {
        *d *= 2.0;
    }

    let sliders = (0..8).map(|k| Slider {
        limits: Limits::new(0.0, if k == 4 { 0.5 } else { 1.0 }),
        ..Slider::default()
    });

    let doubled = Rig::new(rig.neutral().clone(), targets)
        .unwrap()
        .with_sliders(sliders.collect())
        .unwrap();
    let solver = Bounded::default();
    let mut plain = solve(&rig, &[], &pins, &solver, Range::Clip).weights;
    let scaled = solve(&doubled, &[], &pins, &solver, Range::Clip).weights;

    plain[4] *= 0.5;
    assert!(largest_difference(&plain, &scaled) < 1e-9);
}

#[test]
fn half_the_drag_gives_half_the_weights_where_no_limit_is_active() {
    let rig = bumps(8);
    let (_, pins) = known_pose(&rig);
    let halved: Vec<Pin> = pins
        .iter()
        .map(|pin| Pin {
            displacement: pin.displacement * 0.5,
            ..pin.clone()
        })
        .collect();

    let [whole, half] =
        [&pins, &halved].map(|pins| solve(&rig, &[], pins, &Bounded::default(), Range::Clip));
    assert!(whole.at_limit.is_empty());

    let doubled: Vec<f64> = half.weights.iter().map(|w| 2.0 * w).collect();
    assert!(largest_difference(&whole.weights, &doubled) < 1e-9);
}

#[test]
fn a_sparse_pose_is_recovered_from_its_pins() {
    let rig = bumps(8);
    let (weights, pins) = known_pose(&rig);
    let found = solve(&rig, &[], &pins, &Bounded::default(), Range::Clip);
    assert!(
        largest_difference(&found.weights, &weights) < 0.02,
        "{:?}",
        found.weights
    );
    assert_eq!(found.active_sliders(), 2);
}

#[test]
fn in_betweens_and_combinations_are_inverted() {
    let linear = bumps(6);
    let mut targets = linear.targets().to_vec();
    let bent: Vec<Vec3> = targets[1]
        .deltas
        .iter()
        .map(|d| *d * 0.5 + Vec3::new(0.0, 0.0, 0.15 * d.length()))
        .collect();

    let in_between = InBetween {
        name: String::new(),
        weight: 0.5,
        vertices: targets[1].vertices.clone(),
        deltas: bent,
    };

    targets[1].in_betweens.push(in_between);
    let both = Combination {
        name: "both".into(),
        drivers: vec![Driver::Slider(1.into()), Driver::Slider(4.into())],
        rule: Rule::Product,
        vertices: targets[2].vertices.clone(),
        deltas: targets[2]
            .deltas
            .iter()
            .map(|d| Vec3::new(-d.y, d.x, d.z) * 0.7)
            .collect(),
    };

    let rig = Rig::new(linear.neutral().clone(), targets)
        .unwrap()
        .with_combinations(vec![both])
        .unwrap();
    let known = [0.0, 0.83, 0.0, 0.0, 0.64, 0.0];
    let posed = rig.evaluate(&known);
    let rest = rig.neutral().positions();

    let pins: Vec<Pin> = (0..225)
        .step_by(9)
        .map(|v| Pin::new(v, posed[v] - rest[v]))
        .collect();
    let weakly_penalised = Bounded::default().with_sparsity(1e-7).with_damping(1e-9);
    let found = solve(&rig, &[], &pins, &weakly_penalised, Range::Clip);

    assert!(
        largest_difference(&found.weights, &known) < 1e-4,
        "{found:?}"
    );
    assert!(found.kkt.unwrap() < 1e-9, "{:?}", found.kkt);
}

#[test]
fn locked_sliders_stay_and_exclusive_ones_are_not_used_together() {
    let rig = bumps(8);
    let (_, pins) = known_pose(&rig);
    let mut sliders = vec![Slider::default(); 8];
    sliders[1].locked = true;

    let locked = rig.clone().with_sliders(sliders).unwrap();
    for solver in all_solvers() {
        assert_eq!(
            solve(&locked, &[], &pins, solver.as_ref(), Range::Free).weights[1],
            0.0,
            "{}",
            solver.name()
        );
    }

    assert!(matches!(
        rig.clone().with_exclusive_pairs(vec![[2.into(), 2.into()]]),
        Err(RigError::ExcludesItself { .. })
    ));

    let apart = rig
        .with_exclusive_pairs(
            [[1, 4], [0, 1], [2, 3]]
                .map(|pair| pair.map(SliderId::new))
                .to_vec(),
        )
        .unwrap();
    let weights = solve(&apart, &[], &pins, &Bounded::default(), Range::Clip).weights;

    for [a, b] in apart
        .exclusive_pairs()
        .iter()
        .map(|pair| pair.map(SliderId::index))
    {
        assert!(weights[a] == 0.0 || weights[b] == 0.0, "{weights:?}");
    }

    assert!(weights[1] > 0.0 || weights[4] > 0.0);
}

#[test]
fn mirrored_pins_give_mirrored_weights_and_coupling_moves_both_sides() {
    let sheet = bumpy_sheet(12, 0.0);
    let bump = |x: f64, side: f32| {
        let at = DVec3::new(x, 0.4, 0.0);
        let along = Vec3::new(side * 0.1, 0.15, 0.05);
        sheet
            .positions()
            .iter()
            .map(|p| along * (-(p.distance_squared(at) / 0.05)).exp() as f32)
            .collect::<Vec<_>>()
    };

    let targets = vec![
        Target::from_dense("l", bump(0.25, 1.0)),
        Target::from_dense("r", bump(0.75, -1.0)),
        Target::from_dense("l2", bump(0.4, 1.0)),
        Target::from_dense("r2", bump(0.6, -1.0)),
    ];

    let rig = Rig::new(sheet.clone(), targets).unwrap();
    let find = |x: f64| {
        (0..sheet.vertex_count())
            .find(|&v| {
                sheet.positions()[v].distance(DVec3::new(x, 5.0 / 12.0, sheet.positions()[v].z))
                    < 1e-9
            })
            .unwrap()
    };

    let [left, right] = [find(0.25), find(0.75)];
    let goal = DVec3::new(0.03, 0.08, 0.02);
    let mirrored = DVec3::new(-0.03, 0.08, 0.02);
    for solver in all_solvers() {
        let a = solve(
            &rig,
            &[],
            &[Pin::new(left, goal)],
            solver.as_ref(),
            Range::Clip,
        )
        .weights;

        let b = solve(
            &rig,
            &[],
            &[Pin::new(right, mirrored)],
            solver.as_ref(),
            Range::Clip,
        )
        .weights;

        // The two halves of the sheet differ by the rounding of f32 displacements.
        assert!(
            largest_difference(&a, &[b[1], b[0], b[3], b[2]]) < 1e-5,
            "{}: {a:?} {b:?}",
            solver.name()
        );
    }

    let coupled = Bounded::default().with_symmetry(vec![Some(1), Some(0), Some(3), Some(2)], 1.0);
    let w = solve(&rig, &[], &[Pin::new(left, goal)], &coupled, Range::Clip).weights;
    assert!(
        (w[0] - w[1]).abs() < 0.01 && (w[2] - w[3]).abs() < 0.01 && w[0] + w[2] > 0.1,
        "{w:?}"
    );
}

#[test]
fn coupled_sliders_move_together_even_if_one_of_them_moves_no_pin() {
    let mesh = bumpy_sheet(4, 0.1);
    let lift = |name: &str, vertex: usize| {
        Target::from_dense(
            name,
            (0..25).map(|v| if v == vertex { Vec3::Z } else { Vec3::ZERO }),
        )
    };

    let rig = Rig::new(mesh, vec![lift("left", 6), lift("right", 18)]).unwrap();
    let pins = [Pin::new(6, DVec3::Z * 0.6)];
    let coupled = Bounded::default().with_symmetry(vec![Some(1), Some(0)], 1.0);
    let weights = solve(&rig, &[], &pins, &coupled, Range::Clip).weights;

    assert!(
        (weights[0] - weights[1]).abs() < 0.01 && weights[0] > 0.55,
        "{weights:?}"
    );
    assert!(
        Poser::new(&rig)
            .unwrap()
            .grab(
                &[],
                &pins,
                &Bounded::default().with_symmetry(vec![None], 1.0),
                Range::Clip
            )
            .is_err()
    );
}

#[test]
fn opposites_are_not_used_together() {
    let mesh = bumpy_sheet(4, 0.1);
    let shift = |name: &str, displacement: Vec3| Target::from_dense(name, vec![displacement; 25]);

    // Both bring the pin down a little while they undo each other sideways.
    let left = shift("jawLeft", Vec3::new(1.0, -0.2, 0.0));
    let right = shift("jawRight", Vec3::new(-1.0, -0.2, 0.0));
    let rig = Rig::new(mesh, vec![left, right]).unwrap();

    for displacement in [
        DVec3::new(0.0, -0.3, 0.0),
        DVec3::new(0.4, -0.2, 0.0),
        DVec3::new(-0.4, -0.2, 0.0),
    ] {
        let weights = solve(
            &rig,
            &[],
            &[Pin::new(6, displacement)],
            &Bounded::default(),
            Range::Clip,
        )
        .weights;

        assert!(weights[0] == 0.0 || weights[1] == 0.0, "{weights:?}");
        assert_eq!(weights[0] > 0.1, displacement.x > 0.0, "{weights:?}");
    }
}

#[test]
fn a_goal_that_is_not_finite_keeps_the_pose_and_gives_a_warning() {
    let rig = bumps(8);
    let (_, pins) = known_pose(&rig);
    let poser = Poser::new(&rig).unwrap();
    let mut grab = poser
        .grab(&[], &pins, &Bounded::default(), Range::Clip)
        .unwrap();

    let mut goals: Vec<DVec3> = pins.iter().map(|pin| pin.displacement).collect();
    let before = grab.solve(&goals);
    goals[2].y = f64::NAN;

    let after = grab.solve(&goals);
    assert_eq!(after.weights, before.weights);
    assert!(
        after.warnings.iter().any(|p| p.contains("vertex 112")),
        "{:?}",
        after.warnings
    );
}

#[test]
fn the_bits_of_a_solve_do_not_depend_on_earlier_drags() {
    let rig = bumps(8);
    let (_, pins) = known_pose(&rig);
    let poser = Poser::new(&rig).unwrap();
    let goals: Vec<DVec3> = pins.iter().map(|pin| pin.displacement * 1.7).collect();
    let fresh = solve(
        &rig,
        &[],
        &pins
            .iter()
            .zip(&goals)
            .map(|(p, d)| Pin {
                displacement: *d,
                ..p.clone()
            })
            .collect::<Vec<_>>(),
        &Bounded::default(),
        Range::Clip,
    );

    let mut grab = poser
        .grab(&[], &pins, &Bounded::default(), Range::Clip)
        .unwrap();

    for k in 0..40 {
        let angle_rad = f64::from(k) * 0.7;
        let other: Vec<DVec3> = goals
            .iter()
            .map(|g| {
                *g * angle_rad.sin() + DVec3::new(angle_rad.cos(), 0.2, -angle_rad.sin()) * 0.1
            })
            .collect();
        grab.solve(&other);
        assert_eq!(grab.solve(&goals).weights, fresh.weights);
    }
}

#[test]
fn limits_that_a_step_does_not_reach_are_not_reported() {
    let rig = bumps(8);
    let (_, pins) = known_pose(&rig);
    let poser = Poser::new(&rig).unwrap();
    let mut grab = poser
        .grab(&[], &pins, &Bounded::default(), Range::Clip)
        .unwrap();

    let goals: Vec<DVec3> = pins.iter().map(|pin| pin.displacement).collect();
    let pose = grab.step(&goals, 0.01);
    assert!(
        pose.at_limit.iter().all(|k| pose.weights[k.index()] == 0.0),
        "{:?} {:?}",
        pose.at_limit,
        pose.weights
    );
    assert!(largest_difference(&pose.weights, &[0.0; 8]) <= 0.01 + 1e-15);
}

#[test]
fn localized_selects_targets_by_displacement_not_by_stiffness_or_aim() {
    let rig = bumps(8);
    let kept = |pin: Pin| {
        let solver = Localized {
            outer_radius: Some(0.08),
            ..Localized::default()
        };
        solve(&rig, &[], &[pin], &solver, Range::Free)
            .weights
            .iter()
            .map(|w| *w != 0.0)
            .collect::<Vec<_>>()
    };

    let pin = Pin::new(112, DVec3::new(0.0, 0.05, 0.1));
    assert_eq!(kept(pin.clone()), kept(pin.clone().with_stiffness(0.01)));
    assert_eq!(kept(pin.clone()), kept(pin.with_aim(Aim::Across(DVec3::X))));
}

#[test]
fn a_protected_region_moves_less() {
    let rig = bumps(8);
    let (_, pins) = known_pose(&rig);
    let protected: Vec<u32> = (0..60).collect();
    let motion = |solver: &Bounded| {
        let weights = solve(&rig, &[], &pins[2..], solver, Range::Clip).weights;
        let posed = rig.evaluate(&weights);
        protected
            .iter()
            .map(|&v| posed[v as usize].distance(rig.neutral().positions()[v as usize]))
            .fold(0.0, f64::max)
    };

    let free = motion(&Bounded::default());
    let held = motion(&Bounded::default().with_protected(protected.clone()));

    assert!(held < 0.5 * free, "{held} {free}");
}

#[test]
fn a_drag_in_the_view_plane_leaves_the_depth_free() {
    let rig = bumps(8);
    let (known, pins) = known_pose(&rig);
    let wrong_depth = |pin: &Pin| {
        Pin {
            displacement: pin.displacement + DVec3::Z * 0.4,
            ..pin.clone()
        }
        .with_aim(Aim::Across(DVec3::Z))
    };

    let found = solve(
        &rig,
        &[],
        &pins.iter().map(wrong_depth).collect::<Vec<_>>(),
        &Bounded::default(),
        Range::Clip,
    )
    .weights;

    assert!(largest_difference(&found, &known) < 0.05, "{found:?}");
}

#[test]
fn a_pin_with_a_curve_reaches_the_curve_at_any_point() {
    let rig = bumps(8);
    let (_, pins) = known_pose(&rig);
    let start = rig.neutral().positions()[112];

    // Through the goal of the known pose, far beyond it on both sides.
    let goal = start + pins[2].displacement;
    let curve = vec![goal - DVec3::X * 3.0, goal + DVec3::X * 3.0];

    // Debiasing cannot raise the goal of a curve; small penalties show that it is reached.
    let weakly_penalised = Bounded::default().with_sparsity(1e-4).with_damping(1e-4);
    let pose = solve(
        &rig,
        &[],
        &[Pin::hold(112).with_aim(Aim::Curve(curve))],
        &weakly_penalised,
        Range::Clip,
    );

    assert!(
        pose.pins[0].error < 0.02 * pins[2].displacement.length(),
        "{pose:?}"
    );
}

#[test]
fn steps_of_a_drag_stay_small_and_end_where_a_solve_ends() {
    let rig = bumps(8);
    let (_, pins) = known_pose(&rig);
    let poser = Poser::new(&rig).unwrap();
    let mut grab = poser
        .grab(&[], &pins, &Bounded::default(), Range::Clip)
        .unwrap();

    let goals: Vec<DVec3> = pins.iter().map(|pin| pin.displacement * 3.0).collect();
    let mut last = vec![0.0; 8];
    for _ in 0..60 {
        let pose = grab.step(&goals, 0.05);
        assert!(largest_difference(&pose.weights, &last) <= 0.05 + 1e-12);
        last = pose.weights;
    }

    assert!(largest_difference(&last, &grab.solve(&goals).weights) < 1e-9);
}

#[test]
fn the_published_problem_is_the_one_that_a_solve_minimises() {
    let rig = bumps(8);
    let (_, pins) = known_pose(&rig);
    let poser = Poser::new(&rig).unwrap();
    let start = [0.3, 0.0, 0.5, 1.0, 0.0, 0.2, 0.0, 0.9];
    let goals: Vec<DVec3> = pins.iter().map(|pin| pin.displacement * 1.7).collect();
    let mut grab = poser
        .grab(
            &start,
            &pins,
            &Bounded::default().with_debiasing(false),
            Range::Clip,
        )
        .unwrap();

    let problem = Bounded::default()
        .with_debiasing(false)
        .problem(grab.system(), &goals)
        .unwrap();

    let BoxProblem {
        hessian,
        linear,
        penalties,
        lower,
        upper,
        sliders,
    } = &problem;

    let mut changes = vec![0.0; sliders.len()];
    let quadratic = BoxQuadratic::new(hessian.clone()).unwrap();
    quadratic.solve(
        &BoxTerms {
            linear,
            penalties,
            lower,
            upper,
        },
        &mut changes,
        &mut BoxWorkspace::default(),
    );

    let mut weights = start.to_vec();
    for (&slider, change) in sliders.iter().zip(&changes) {
        weights[slider] += change;
    }

    let pose = grab.solve(&goals);
    assert!(
        !pose.at_limit.is_empty() && largest_difference(&pose.weights, &weights) < 1e-9,
        "{pose:?} {weights:?}"
    );
}

#[test]
fn a_reset_drag_starts_like_the_first_one() {
    let rig = bumps(8);
    let (_, pins) = known_pose(&rig);
    let poser = Poser::new(&rig).unwrap();
    let mut grab = poser
        .grab(&[], &pins, &Bounded::default(), Range::Clip)
        .unwrap();

    let goals: Vec<DVec3> = pins.iter().map(|pin| pin.displacement).collect();
    let step = grab.step(&goals, 0.05).weights;
    let solved = grab.solve(&goals).weights;
    grab.reset();

    assert_eq!(step, grab.step(&goals, 0.05).weights);
    grab.reset();
    assert!(largest_difference(&solved, &grab.solve(&goals).weights) < 1e-12);
}

#[test]
fn contributions_of_sliders_add_up_and_unreachable_goals_are_reported() {
    let rig = bumps(8);
    let (_, mut pins) = known_pose(&rig);
    pins[0].displacement *= 50.0;

    let poser = Poser::new(&rig).unwrap();
    let displacements: Vec<DVec3> = pins.iter().map(|pin| pin.displacement).collect();
    let mut grab = poser
        .grab(&[], &pins, &Bounded::default(), Range::Clip)
        .unwrap();
    let pose = grab.solve(&displacements);
    let why = grab.explain(&pose);

    for (k, pin) in pose.pins.iter().enumerate() {
        let sum: DVec3 = why.moves.iter().map(|m| m.shares[k].displacement).sum();
        assert!((sum - (pin.reached - grab.system().positions()[k])).length() < 1e-12);
    }

    assert!(why.unreachable[0].length() > 0.8 * pins[0].displacement.length());
    let total = |lengths: &mut dyn Iterator<Item = f64>| lengths.map(|l| l * l).sum::<f64>();
    let best = total(&mut why.unreachable.iter().map(|u| u.length()));
    let found = total(&mut pose.pins.iter().map(|p| p.error));

    assert!(best <= found, "without penalties the sliders come nearer");
    assert!(!pose.at_limit.is_empty());
}

#[test]
fn contradicting_pins_and_pins_that_no_target_moves_give_warnings() {
    let mesh = bumpy_sheet(4, 0.1);
    let lift = Target::from_dense(
        "lift",
        (0..25).map(|v| if v == 6 { Vec3::Z } else { Vec3::ZERO }),
    );
    let rig = Rig::new(mesh, vec![lift]).unwrap();

    let contradicting = solve(
        &rig,
        &[],
        &[Pin::new(6, DVec3::Z * 0.8), Pin::new(6, DVec3::Z * 0.4)],
        &Bounded::default(),
        Range::Clip,
    );

    assert!(
        contradicting.warnings[0].contains("vertex 6")
            && (contradicting.weights[0] - 0.6).abs() < 0.01,
        "{contradicting:?}"
    );

    let still = solve(
        &rig,
        &[],
        &[Pin::new(20, DVec3::Z)],
        &Bounded::default(),
        Range::Clip,
    );

    assert!(still.warnings[0].contains("vertex 20") && still.weights == [0.0]);
}

#[test]
fn invalid_pins_options_and_weights_are_errors() {
    let rig = bumps(3);
    let poser = Poser::new(&rig).unwrap();
    let grab =
        |pins: &[Pin], solver: &dyn PoseSolver| poser.grab(&[], pins, solver, Range::Clip).err();

    assert_eq!(grab(&[], &Bounded::default()), Some(RigError::NoPins));
    assert!(grab(&[Pin::hold(100_000)], &Bounded::default()).is_some());
    assert!(grab(&[Pin::hold(1)], &Bounded::default().with_damping(-1.0)).is_some());
    assert!(
        grab(
            &[Pin::hold(1)],
            &Tikhonov {
                alpha: f64::NAN,
                units: Units::Scene
            }
        )
        .is_some()
    );
    assert!(
        grab(
            &[Pin::hold(1)],
            &Hybrid {
                gamma: Some(1.5),
                units: Units::Relative
            }
        )
        .is_some()
    );
    assert!(
        poser
            .grab(
                &[f64::NAN],
                &[Pin::hold(1)],
                &Bounded::default(),
                Range::Clip
            )
            .is_err()
    );
    assert_eq!(
        Poser::new(&Rig::without_targets(bumpy_sheet(2, 0.1))).err(),
        Some(RigError::NoTargets)
    );
}

#[test]
fn the_weight_error_is_the_root_mean_square() {
    assert_eq!(weight_error(&[1.0, 0.0, 0.0, 0.0], &[0.0; 4]), 0.5);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn the_bounded_solver_stays_inside_limits_and_converges(
        goals in prop::collection::vec((-0.5..0.5f64, -0.5..0.5f64, -0.5..0.5f64), 4),
        start in prop::collection::vec(0.0..1.0f64, 8),
        reach in 0.0..1.0f64,
    ) {
        let rig = bumps(8);
        let pins: Vec<Pin> = goals.iter().enumerate().map(|(k, &(x, y, z))| Pin::new(30 + 47 * k, DVec3::new(x, y, z))).collect();
        let pose = solve(&rig, &start, &pins, &Bounded::default().with_reach(Some(reach)), Range::Clip);
        prop_assert!(pose.weights.iter().all(|w| (0.0..=1.0).contains(w)));
        prop_assert!(pose.kkt.unwrap() < 1e-9);

        // Smaller changes lower every penalty, so they must not lower the error of the pins too.
        let poser = Poser::new(&rig).unwrap();
        let from = PinSystem::new(&poser, &start, &pins).unwrap();
        let overshoot: f64 = pose.pins.iter().zip(from.positions()).map(|(pin, from)| (pin.reached - *from).dot(pin.reached - pin.goal)).sum();
        prop_assert!(overshoot < 1e-9, "{overshoot}");
    }
}
