//! Tests of inverse kinematics, on chains with closed forms and on random chains.

use std::f64::consts::{PI, TAU};

use pliant_mesh::glam::{DMat3, DVec3};
use proptest::prelude::*;

use super::kinematics::{Angles, jacobian};
use super::{IkJoint, IkRoot, IkSkeleton, IkSolver};

/// A chain through `places`; the last joint is the effector.
fn chain(places: &[DVec3], root: IkRoot) -> IkSkeleton {
    let name = |k: usize| format!("j{k}");
    let joint = |k: usize| {
        IkJoint::new(name(k), k.checked_sub(1).map(name).as_deref(), places[k]).with_control(k)
    };
    let mut joints: Vec<IkJoint> = (0..places.len()).map(joint).collect();
    joints.last_mut().unwrap().effector = true;
    IkSkeleton::new(joints, root).unwrap()
}

fn arm() -> IkSkeleton {
    chain(
        &[
            DVec3::ZERO,
            DVec3::new(2.0, 0.1, 0.0),
            DVec3::new(3.0, 0.0, 0.0),
        ],
        IkRoot::Fixed,
    )
}

/// Two fingers on a palm whose thumb shares the root's place.
fn hand(root: IkRoot) -> IkSkeleton {
    let at = |x: f64, y: f64, z: f64| DVec3::new(x, y, z);
    let joints = vec![
        IkJoint::new("palm", Some("wrist"), at(0.0, 0.0, 0.0)),
        IkJoint::new("wrist", None, at(0.0, 0.0, 0.0)),
        IkJoint::new("thumb", Some("wrist"), at(0.0, 0.0, 0.0)),
        IkJoint::new("thumb1", Some("thumb"), at(1.0, 0.5, 0.1)),
        IkJoint::new("thumb2", Some("thumb1"), at(1.6, 1.2, 0.0)).as_effector(),
        IkJoint::new("index", Some("palm"), at(0.5, 2.0, 0.1)),
        IkJoint::new("index1", Some("index"), at(0.5, 3.0, 0.2)),
        IkJoint::new("index2", Some("index1"), at(0.5, 3.8, 0.1)).as_effector(),
        IkJoint::new("center", Some("palm"), at(0.1, 1.5, 0.3)).as_effector(),
    ];

    IkSkeleton::new(joints, root).unwrap()
}

fn lengths(skeleton: &IkSkeleton, places: &[DVec3]) -> Vec<f64> {
    let bone = |(k, parent): (usize, &Option<usize>)| {
        parent.map(|parent| places[k].distance(places[parent]))
    };
    skeleton
        .parents
        .iter()
        .enumerate()
        .filter_map(bone)
        .collect()
}

fn rest(skeleton: &IkSkeleton) -> Vec<DVec3> {
    skeleton.joints.iter().map(|joint| joint.at).collect()
}

#[test]
fn two_bones_bend_by_the_law_of_cosines() {
    let solver = IkSolver::new(arm()).unwrap();
    let goal = DVec3::new(0.4, 1.1, -0.9);
    let pose = solver.solve(&[goal], None).unwrap();

    assert!(
        pose.residual < 1e-6 * solver.skeleton().reach(),
        "{}",
        pose.residual
    );

    let [a, b] = [
        pose.positions[0].distance(pose.positions[1]),
        pose.positions[1].distance(pose.positions[2]),
    ];
    let cosine = (pose.positions[0] - pose.positions[1]).dot(pose.positions[2] - pose.positions[1])
        / (a * b);

    assert!((cosine - (a * a + b * b - goal.length_squared()) / (2.0 * a * b)).abs() < 1e-6);
}

#[test]
fn the_jacobian_is_the_derivative_of_the_positions() {
    let skeleton = hand(IkRoot::Free);
    // Turns of ordinary size, none at all, small ones on both sides of where series take over, and
    // about half and whole turns.
    for size in [
        1.0,
        0.0,
        1e-10,
        1e-6,
        0.9e-4,
        1.1e-4,
        PI - 1e-7,
        PI,
        PI + 1e-7,
        TAU - 1e-3,
    ] {
        let mut angles = Angles::rest(&skeleton);
        for (k, rotation) in angles.rotations.iter_mut().enumerate() {
            let length = if k.is_multiple_of(2) { size } else { 1.3 };
            *rotation =
                DVec3::new(0.3 * k as f64 - 1.0, 0.7 - 0.2 * k as f64, 0.4).normalize() * length;
        }
        angles.translation = DVec3::new(0.1, -0.2, 0.3);
        assert_slope(&skeleton, &angles, size);
    }
}

fn assert_slope(skeleton: &IkSkeleton, angles: &Angles, size: f64) {
    let placed = angles.forward(skeleton);
    let step = 1e-6;
    for &effector in &skeleton.effectors {
        let columns = jacobian(skeleton, angles, &placed, effector);
        for (k, column) in columns.iter().enumerate() {
            for axis in 0..3 {
                let at = |by: f64| {
                    let mut moved = angles.clone();
                    let slot = if k < moved.rotations.len() {
                        &mut moved.rotations[k]
                    } else {
                        &mut moved.translation
                    };
                    slot[axis] += by;
                    moved.forward(skeleton).positions[effector] / skeleton.reach
                };

                let slope = (at(step) - at(-step)) / (2.0 * step);
                assert!(
                    slope.distance(column.col(axis)) < 1e-9,
                    "turns of {size}, effector {effector}, joint {k}, axis {axis}"
                );
            }
        }
    }
}

#[test]
fn a_goal_out_of_reach_stretches_the_chain_towards_it() {
    let solver = IkSolver::new(arm()).unwrap();
    let reach = solver.skeleton().reach();
    for far in [1.01, 2.0, 50.0] {
        let goal = DVec3::new(1.0, 2.0, -2.0).normalize() * far * reach;
        let pose = solver.solve(&[goal], None).unwrap();
        assert!(
            pose.positions[2].distance(goal.normalize() * reach) < 1e-5 * reach,
            "{far}: {}",
            pose.positions[2]
        );
    }
}

#[test]
fn small_changes_of_goals_give_small_changes_of_the_pose() {
    for skeleton in [hand(IkRoot::Fixed), hand(IkRoot::Free)] {
        let solver = IkSolver::new(skeleton).unwrap();
        for scale in [0.8, 3.0] {
            let goals = [
                DVec3::new(1.3, 0.9, 0.9),
                DVec3::new(0.6, 2.9, 1.4),
                DVec3::new(0.1, 1.4, 0.5),
            ]
            .map(|goal| goal * scale);

            let nudged = goals.map(|goal| goal + DVec3::new(1e-6, -1e-6, 1e-6));
            let before = solver.solve(&goals, None).unwrap();
            let [cold, warm] =
                [None, Some(&before)].map(|start| solver.solve(&nudged, start).unwrap());

            for after in [cold, warm] {
                let distance = before
                    .positions
                    .iter()
                    .zip(&after.positions)
                    .map(|(a, b)| a.distance(*b))
                    .fold(0.0, f64::max);
                assert!(distance < 1e-4, "{scale}: {distance:e}");
            }
        }
    }
}

#[test]
fn goals_at_rest_leave_every_joint_at_rest() {
    for root in [IkRoot::Fixed, IkRoot::Free] {
        let solver = IkSolver::new(hand(root)).unwrap();
        let skeleton = solver.skeleton();
        let goals: Vec<DVec3> = skeleton
            .effectors
            .iter()
            .map(|&joint| skeleton.joints[joint].at)
            .collect();

        let pose = solver.solve(&goals, None).unwrap();
        assert!(
            rest(skeleton)
                .iter()
                .zip(&pose.positions)
                .all(|(a, b)| a.distance(*b) < 1e-7)
        );
    }
}

#[test]
fn a_rigid_motion_of_all_goals_moves_a_free_skeleton_rigidly() {
    let solver = IkSolver::new(hand(IkRoot::Free)).unwrap();
    let goals = [
        DVec3::new(1.3, 0.9, 0.6),
        DVec3::new(0.6, 3.2, 1.0),
        DVec3::new(0.1, 1.4, 0.4),
    ];

    let rotation = DMat3::from_axis_angle(DVec3::new(1.0, -1.0, 0.3).normalize(), 2.0);
    let moved = goals.map(|goal| rotation * goal + DVec3::new(5.0, 1.0, -3.0));
    let [here, there] = [&goals, &moved].map(|goals| solver.solve(goals, None).unwrap());

    for (a, b) in here.positions.iter().zip(&there.positions) {
        assert!((rotation * *a + DVec3::new(5.0, 1.0, -3.0)).distance(*b) < 1e-5);
    }
}

#[test]
fn limits_hold_and_a_stiff_joint_rotates_less() {
    let goal = [DVec3::new(0.5, 1.5, 0.0)];
    let rotation = |skeleton: IkSkeleton| {
        let pose = IkSolver::new(skeleton).unwrap().solve(&goal, None).unwrap();
        (
            pose.angles.rotations[0].length(),
            pose.angles.rotations[1].length(),
        )
    };
    let mut limited = arm();

    limited.joints[1].limit_rad = Some(0.3);
    assert!(rotation(limited).1 <= 0.3 + 1e-12 && rotation(arm()).1 > 0.3);

    let places = [
        DVec3::ZERO,
        DVec3::new(1.0, 0.1, 0.0),
        DVec3::new(2.0, 0.0, 0.0),
        DVec3::new(3.0, 0.1, 0.0),
    ];

    let loose = chain(&places, IkRoot::Fixed);
    let mut stiff = chain(&places, IkRoot::Fixed);
    stiff.joints[1].stiffness = 20.0;
    assert!(rotation(stiff).1 < 0.5 * rotation(loose).1);
}

#[test]
fn a_locked_root_stays_and_the_other_joints_reach_the_goal() {
    let places = [
        DVec3::ZERO,
        DVec3::X,
        DVec3::new(2.0, 0.1, 0.0),
        DVec3::X * 3.0,
    ];

    let mut skeleton = chain(&places, IkRoot::Fixed);
    skeleton.joints[0].limit_rad = Some(0.0);
    let goal = [DVec3::new(1.8, 1.2, 0.3)];
    let pose = IkSolver::new(skeleton).unwrap().solve(&goal, None).unwrap();

    assert_eq!(
        pose.positions[1],
        DVec3::X,
        "its direct children do not move either"
    );
    assert!(pose.residual < 1e-6, "{}", pose.residual);
}

#[test]
fn a_learned_prior_reproduces_angles_that_the_effector_leaves_open() {
    let places = [
        DVec3::ZERO,
        DVec3::X,
        DVec3::X * 2.0,
        DVec3::X * 3.0,
        DVec3::X * 4.0,
    ];

    let skeleton = chain(&places, IkRoot::Fixed);
    let posed = |bend: f64| {
        let mut angles = Angles::rest(&skeleton);
        for (k, share) in [0.2, 1.0, 0.7].iter().enumerate() {
            angles.rotations[k + 1] = DVec3::Z * bend * share;
        }
        angles.forward(&skeleton).positions
    };

    let learned =
        IkSolver::learned(skeleton.clone(), &[posed(0.5), posed(1.0), posed(1.5)]).unwrap();
    let plain = IkSolver::new(skeleton.clone()).unwrap();
    let truth = posed(1.2);
    let error = |solver: &IkSolver| {
        let pose = solver.solve(&[truth[4]], None).unwrap();
        assert!(pose.residual < 1e-5);
        pose.positions
            .iter()
            .zip(&truth)
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f64::max)
    };

    assert!(
        error(&learned) < 0.1 && error(&learned) < 0.5 * error(&plain),
        "{} against {}",
        error(&learned),
        error(&plain)
    );
}

#[test]
fn invalid_skeletons_are_rejected_by_name() {
    let joint = |name: &str, parent: Option<&str>| IkJoint::new(name, parent, DVec3::ZERO);
    for (joints, word) in [
        (vec![joint("a", None), joint("a", None)], "'a'"),
        (
            vec![joint("wrist", None), joint("b", Some("wrst")).as_effector()],
            "did you mean wrist",
        ),
        (
            vec![joint("a", Some("b")), joint("b", Some("a")).as_effector()],
            "ancestor",
        ),
        (vec![joint("a", None)], "effector"),
        (
            vec![IkJoint {
                stiffness: 0.0,
                ..joint("a", None)
            }],
            "stiffness",
        ),
        (
            vec![IkJoint {
                limit_rad: Some(f64::NAN),
                ..joint("a", None)
            }],
            "limit",
        ),
    ] {
        let message = IkSkeleton::new(joints, IkRoot::Fixed)
            .unwrap_err()
            .to_string();
        assert!(message.contains(word), "{message}");
    }

    assert!(
        arm()
            .require_controls(4)
            .unwrap_err()
            .to_string()
            .contains("control point 3")
    );

    assert!(arm().require_controls(2).is_err() && arm().require_controls(3).is_ok());
    let solver = IkSolver::new(arm()).unwrap();
    assert!(solver.solve(&[], None).is_err() && solver.solve(&[DVec3::NAN], None).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn goals_of_a_pose_are_reached_and_bones_keep_their_lengths(
        bones in prop::collection::vec(prop::array::uniform3(-1.0..1.0_f64), 3..7),
        turns in prop::collection::vec(prop::array::uniform3(-0.8..0.8_f64), 8),
    ) {
        let mut places = vec![DVec3::ZERO];
        bones.iter().for_each(|bone| places.push(places[places.len() - 1] + DVec3::from_array(*bone) + DVec3::X * 0.3));
        let skeleton = chain(&places, IkRoot::Fixed);
        let mut angles = Angles::rest(&skeleton);
        angles.rotations.iter_mut().zip(&turns).for_each(|(rotation, given)| *rotation = DVec3::from_array(*given));
        let goal = *angles.forward(&skeleton).positions.last().unwrap();
        let solver = IkSolver::new(skeleton.clone()).unwrap();
        let pose = solver.solve(&[goal], None).unwrap();
        prop_assert!(pose.residual < 1e-6 * skeleton.reach(), "{:e}", pose.residual / skeleton.reach());
        let kept = lengths(&skeleton, &rest(&skeleton)).into_iter().zip(lengths(&skeleton, &pose.positions)).all(|(a, b)| (a - b).abs() < 1e-12 * (1.0 + a));
        prop_assert!(kept);
    }
}
