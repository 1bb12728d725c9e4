//! Tests of all methods through the model.

use pliant_mesh::Mesh;
use pliant_mesh::glam::{DMat3, DVec3};

use crate::test_bar::{bar, bar_control, bar_examples, bent};
use crate::{
    ControlConstraint, ControlPoints, Examples, LearnError, LearnOptions, LeaveOneOut, Method,
    Model, TrainingLog,
};

fn trained(method: Method) -> Model {
    let options = LearnOptions::default().with_method(method).with_bones(30);
    Model::train(bar_examples(), bar_control(), &options, &()).unwrap()
}

fn rms(a: &[DVec3], b: &[DVec3]) -> f64 {
    (a.iter()
        .zip(b)
        .map(|(a, b)| a.distance_squared(*b))
        .sum::<f64>()
        / a.len() as f64)
        .sqrt()
}

#[test]
fn a_rigid_motion_of_all_control_points_moves_the_result_rigidly() {
    let rotation = DMat3::from_axis_angle(DVec3::new(1.0, -2.0, 0.5).normalize(), 2.3);
    let shift = DVec3::new(4.0, -2.0, 7.0);
    let goals = bar_control().at(&bent(0.4, 0.4));
    let moved: Vec<DVec3> = goals.iter().map(|p| rotation * *p + shift).collect();

    for method in Method::ALL {
        let model = trained(method);
        let expected: Vec<DVec3> = model
            .drive(&goals)
            .unwrap()
            .iter()
            .map(|p| rotation * *p + shift)
            .collect();

        let distance = rms(&model.drive(&moved).unwrap(), &expected);
        assert!(distance < 1e-6, "{}: {distance:e}", method.name());
    }
}

#[test]
fn a_driver_outlives_its_model_and_gives_the_same_poses() {
    let goals = bar_control().at(&bent(0.4, 0.4));
    for exact in [false, true] {
        let options = LearnOptions::default().with_exact(exact);
        let model = Model::train(bar_examples(), bar_control(), &options, &()).unwrap();
        let expected = model.drive(&goals).unwrap();
        let driver = model.driver();
        drop(model);

        let given = goals.clone();
        let moved = std::thread::spawn(move || driver.pose(&given).unwrap());
        assert_eq!(moved.join().unwrap(), expected);
    }
}

#[test]
fn the_control_points_of_an_example_reproduce_the_example() {
    let model = trained(Method::Auto);
    assert!(model.fit_error() < 0.005, "{}", model.fit_error());
    let still = model.drive(&model.control().at(bar().positions())).unwrap();
    assert!(model.examples().error(&still, 0) < 0.005);
}

#[test]
fn methods_on_bones_reproduce_an_example_up_to_skinning_and_regression() {
    for method in [Method::Huang2012, Method::Feng2008] {
        let model = trained(method);
        assert_eq!(
            (model.bone_count(), model.skin().unwrap().vertex_count()),
            (30, bar().vertex_count())
        );

        assert!(
            model.fit_error() < 0.015,
            "{}: {}",
            method.name(),
            model.fit_error()
        );
    }
}

#[test]
fn k_c_and_k_p_give_four_different_variants() {
    let goals = bar_control().at(&bent(0.75, 0.2));
    let drive = |neighbors: usize, pose_neighbors: usize| {
        let options = LearnOptions::default()
            .with_method(Method::Huang2012)
            .with_bones(30);
        let options = options
            .with_neighbors(neighbors)
            .with_pose_neighbors(pose_neighbors);

        Model::train(bar_examples(), bar_control(), &options, &())
            .unwrap()
            .drive(&goals)
            .unwrap()
    };

    let all = LearnOptions::ALL;
    let variants = [drive(all, all), drive(6, all), drive(all, 3), drive(6, 3)];
    assert_eq!(
        variants[0],
        trained(Method::Feng2008).drive(&goals).unwrap()
    );

    for (k, variant) in variants.iter().enumerate() {
        assert!(
            variants[..k].iter().all(|other| rms(variant, other) > 1e-5),
            "variant {k}"
        );
        assert!(rms(variant, &bent(0.75, 0.2)) < 0.2, "variant {k}");
    }
}

#[test]
fn too_many_bones_for_the_mesh_are_reduced() {
    let options = LearnOptions::default()
        .with_method(Method::Huang2012)
        .with_bones(1000);
    let model = Model::train(bar_examples(), bar_control(), &options, &()).unwrap();
    assert_eq!(model.bone_count(), bar().vertex_count() / 3);
}

#[test]
fn methods_on_bones_give_the_same_bits_on_one_and_two_threads() {
    let goals = bar_control().at(&bent(0.75, 0.2));
    let options = LearnOptions::default()
        .with_method(Method::Huang2012)
        .with_bones(66);
    let driven = [1, 2].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a thread pool");
        pool.install(|| {
            let model = Model::train(bar_examples(), bar_control(), &options, &()).unwrap();
            (
                model.to_bytes(),
                model.drive(&goals).unwrap(),
                model
                    .driver_with(ControlConstraint::Hard)
                    .unwrap()
                    .pose(&goals)
                    .unwrap(),
            )
        })
    });

    assert!(driven[0] == driven[1]);
}

#[test]
fn a_pose_between_the_examples_has_a_smaller_error_than_with_any_baseline() {
    let truth = bent(0.75, 0.2);
    let goals = bar_control().at(&truth);
    let error = |method: Method| rms(&trained(method).drive(&goals).unwrap(), &truth);
    let ours = error(Method::Auto);

    for method in [
        Method::Huang2012,
        Method::Feng2008,
        Method::Sumner2005,
        Method::Sorkine2007,
    ] {
        assert!(
            ours < error(method),
            "{}: {ours} against {}",
            method.name(),
            error(method)
        );
    }
}

/// The bar's examples, so many times as large.
fn sized(size: f64) -> Examples {
    let examples = bar_examples();
    let frames: Vec<Vec<DVec3>> = (1..examples.count())
        .map(|i| times(size, examples.pose(i)))
        .collect();

    Examples::new(
        bar().posed(times(size, bar().positions())).unwrap(),
        frames,
        examples.names().to_vec(),
    )
    .unwrap()
}

fn times(size: f64, positions: &[DVec3]) -> Vec<DVec3> {
    positions.iter().map(|p| *p * size).collect()
}

#[test]
fn a_scaled_scene_gives_a_scaled_result() {
    let options = LearnOptions::default().with_bones(30);
    let small = trained(Method::Auto);
    let large = Model::train(sized(1000.0), bar_control(), &options, &()).unwrap();

    assert_eq!(small.chosen(), large.chosen());
    let goals = bar_control().at(&bent(0.4, 0.4));
    let distance = rms(
        &large.drive(&times(1000.0, &goals)).unwrap(),
        &times(1000.0, &small.drive(&goals).unwrap()),
    );

    assert!(distance < 1e-5, "{distance:e}");
}

#[test]
fn no_method_depends_on_the_unit() {
    // Powers of two cost no digits, so that a length that stands alone somewhere could not hide
    // behind rounding.
    let goals = bar_control().at(&bent(0.4, 0.4));
    for method in Method::ALL {
        let expected = trained(method)
            .driver_with(ControlConstraint::Hard)
            .unwrap()
            .with_exact_examples()
            .pose(&goals)
            .unwrap();
        for size in [1024.0, 1.0 / 1024.0] {
            let options = LearnOptions::default().with_method(method).with_bones(30);
            let model = Model::train(sized(size), bar_control(), &options, &()).unwrap();
            let found = model
                .driver_with(ControlConstraint::Hard)
                .unwrap()
                .with_exact_examples()
                .pose(&times(size, &goals))
                .unwrap();

            let distance = rms(&times(1.0 / size, &found), &expected);
            assert!(distance < 1e-10, "{}, {size}: {distance:e}", method.name());
        }
    }
}

#[test]
fn a_moved_control_point_moves_near_vertices_and_not_far_ones() {
    let model = trained(Method::Auto);
    let goals = model.control().at(bar().positions());
    let mut pulled = goals.clone();
    *pulled.last_mut().unwrap() += DVec3::new(0.1, 0.1, 0.0);
    let before = model.drive(&goals).unwrap();
    let after = model.drive(&pulled).unwrap();
    let step = |v: usize| before[v].distance(after[v]);
    assert!(step(*model.control().vertices().last().unwrap() as usize) > 0.05);
    assert!((0..8 * 6).all(|v| step(v) < 0.01), "the far end stays");
}

#[test]
fn hard_control_points_are_reached_by_every_method() {
    let mut goals = bar_control().at(&bent(0.4, 0.4));
    goals[4] += DVec3::new(0.2, 0.3, -0.1);
    for method in Method::ALL {
        let model = trained(method);
        let found = model
            .driver_with(ControlConstraint::Hard)
            .unwrap()
            .pose(&goals)
            .unwrap();
        let farthest = model
            .control()
            .at(&found)
            .iter()
            .zip(&goals)
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f64::max);

        assert!(farthest < 1e-9, "{}: {farthest}", method.name());
    }
}

#[test]
fn leave_one_out_errors_are_those_of_models_trained_without_the_pose() {
    let examples = bar_examples();
    for method in Method::ALL {
        let options = LearnOptions::default()
            .with_method(method)
            .with_bones(30)
            .with_exact(method == Method::Huang2012);
        let validation = LeaveOneOut::of(examples.clone(), bar_control(), &options, &()).unwrap();

        assert_eq!(validation.poses.len(), examples.count() - 1);
        for left_out in [1, 4] {
            let frames: Vec<Vec<DVec3>> = (1..examples.count())
                .filter(|&i| i != left_out)
                .map(|i| examples.pose(i).to_vec())
                .collect();
            let names = (0..frames.len()).map(|k| k.to_string()).collect();
            let rest = Examples::new(bar(), frames, names).unwrap();
            let model = Model::train(rest, bar_control(), &options, &()).unwrap();

            let found = model
                .drive(&bar_control().at(examples.pose(left_out)))
                .unwrap();

            assert_eq!(
                examples.error(&found, left_out),
                validation.poses[left_out - 1].rms,
                "{}",
                method.name()
            );

            assert_eq!(model.chosen(), validation.poses[left_out - 1].chosen);
        }
    }
}

#[test]
fn identical_examples_with_few_points_give_finite_poses() {
    let still = bar().positions().to_vec();
    let names = vec!["a".to_owned(), "b".to_owned()];
    let few = ControlPoints::new(&bar(), &[0, 100, 190]).unwrap();

    for frames in [
        vec![still.clone(), still.clone()],
        vec![bent(0.5, 0.1), bent(0.5, 0.1)],
    ] {
        for method in Method::ALL {
            let examples = Examples::new(bar(), frames.clone(), names.clone()).unwrap();
            let options = LearnOptions::default().with_method(method);
            let model = Model::train(examples.clone(), few.clone(), &options, &()).unwrap();
            let found = model.drive(&few.at(&bent(0.3, 0.0))).unwrap();
            assert!(found.iter().all(|p| p.is_finite()), "{}", method.name());
            let validation = LeaveOneOut::of(examples, few.clone(), &options, &()).unwrap();
            assert!(validation.mean_rms().is_finite(), "{}", method.name());
        }
    }
}

#[test]
fn a_component_without_control_points_follows_its_neighbours() {
    // A bead beside the bar's right end, which no edge joins to it.
    let bead = |positions: &[DVec3]| {
        let end = positions[24 * 8];
        let side = positions[24 * 8 + 1] - end;
        let along = end - positions[23 * 8];
        positions
            .iter()
            .copied()
            .chain([end + along, end + along + side, end + along * 2.0])
            .collect::<Vec<DVec3>>()
    };

    let polygons: Vec<Vec<u32>> = bar()
        .faces()
        .map(<[u32]>::to_vec)
        .chain([vec![200, 201, 202]])
        .collect();
    let mesh = Mesh::from_polygons(bead(bar().positions()), &polygons).unwrap();

    let frames = vec![
        bead(&bent(0.5, 0.0)),
        bead(&bent(1.0, 0.0)),
        bead(&bent(-0.5, 0.0)),
    ];
    let names = (0..3).map(|k| k.to_string()).collect();
    let examples = Examples::new(mesh, frames, names).unwrap();
    let model = Model::train(examples, bar_control(), &LearnOptions::default(), &()).unwrap();
    let truth = bead(&bent(0.75, 0.0));
    let found = model.drive(&model.control().at(&truth)).unwrap();

    assert!(
        (200..203).all(|v| found[v].distance(truth[v]) < 0.2),
        "{:?} {:?}",
        &found[200..],
        &truth[200..]
    );
}

#[test]
fn invalid_positions_of_control_points_are_rejected() {
    let model = trained(Method::Sorkine2007);
    assert_eq!(
        model.drive(&[DVec3::ZERO; 3]).unwrap_err(),
        LearnError::ControlCount {
            found: 3,
            expected: 15
        }
    );

    let mut goals = model.control().at(bar().positions());
    goals[2].x = f64::NAN;
    assert_eq!(
        model.drive(&goals).unwrap_err(),
        LearnError::ControlNotFinite { point: 2 }
    );
}

#[test]
fn with_exact_examples_every_method_reproduces_them_and_keeps_rigid_motion() {
    let rotation = DMat3::from_axis_angle(DVec3::new(1.0, -2.0, 0.5).normalize(), 2.3);
    let shift = DVec3::new(4.0, -2.0, 7.0);
    let goals = bar_control().at(&bent(0.55, 0.1));
    let moved: Vec<DVec3> = goals.iter().map(|p| rotation * *p + shift).collect();

    for method in Method::ALL {
        let options = LearnOptions::default()
            .with_method(method)
            .with_bones(30)
            .with_exact(true);
        let model = Model::train(bar_examples(), bar_control(), &options, &()).unwrap();

        for driver in [
            model.driver(),
            model.driver_with(ControlConstraint::Hard).unwrap(),
            model.driver_with(ControlConstraint::Soft(0.3)).unwrap(),
        ] {
            for example in 0..model.examples().count() {
                let found = driver
                    .pose(&model.control().at(model.examples().pose(example)))
                    .unwrap();
                let error = model.examples().error(&found, example);

                assert!(
                    error < 1e-9,
                    "{}, example {example}: {error:e}",
                    method.name()
                );
            }
        }

        let expected: Vec<DVec3> = model
            .drive(&goals)
            .unwrap()
            .iter()
            .map(|p| rotation * *p + shift)
            .collect();

        assert!(
            rms(&model.drive(&moved).unwrap(), &expected) < 1e-6,
            "{}",
            method.name()
        );
    }
}

#[test]
fn far_from_every_example_the_correction_is_zero() {
    let plain = trained(Method::Auto);
    let mut goals = plain.control().at(bar().positions());
    for p in goals.iter_mut() {
        *p *= 3.0;
    }
    assert_eq!(
        plain.driver().with_exact_examples().pose(&goals),
        plain.driver().pose(&goals)
    );
}

#[test]
fn confidence_is_highest_at_the_examples_and_falls_with_distance() {
    let model = trained(Method::Auto);
    let driver = model.driver();
    let confidence = |goals: &[DVec3]| driver.confidence(goals).unwrap().unwrap().mean();
    let rest = model.control().at(bar().positions());
    let at_examples = (0..model.examples().count())
        .map(|i| confidence(&model.control().at(model.examples().pose(i))));
    let least = at_examples.fold(1.0, f64::min);

    // From the pose bent most, on and on.
    let from = model.control().at(&bent(1.0, 0.0));
    let along = |step: f64| {
        from.iter()
            .zip(&rest)
            .map(|(p, r)| *p + (*p - *r) * step)
            .collect::<Vec<_>>()
    };

    let ray: Vec<f64> = (1..10)
        .map(|k| confidence(&along(0.2 * f64::from(k))))
        .collect();

    assert!(
        ray.windows(2).all(|pair| pair[1] <= pair[0] + 1e-12),
        "{ray:?}"
    );
    assert!(*ray.last().unwrap() < least, "{ray:?} {least}");
    assert!(ray.iter().all(|value| (0.0..=1.0).contains(value)));
}

#[test]
fn novelty_is_small_at_the_examples_and_large_outside_their_range() {
    let model = trained(Method::Auto);
    let of = |pose: &[DVec3]| model.novelty(&model.control().at(pose));
    assert!((0..model.examples().count()).all(|i| of(model.examples().pose(i)) < 1e-6));
    assert!(of(&bent(0.55, 0.1)) < 1.0);
    assert!(of(&bent(3.0, 0.0)) > 2.0);

    let turned: Vec<DVec3> = bent(0.55, 0.1)
        .iter()
        .map(|p| DMat3::from_rotation_y(1.0) * *p + DVec3::X)
        .collect();

    assert!((of(&turned) - of(&bent(0.55, 0.1))).abs() < 1e-6);
}

#[test]
fn an_unreached_control_point_is_listed_with_its_error() {
    let model = trained(Method::Auto);
    let mut goals = model.control().at(bar().positions());
    goals[7] += DVec3::new(0.0, 40.0, 0.0);

    let found = model
        .driver_with(ControlConstraint::Soft(0.3))
        .unwrap()
        .pose(&goals)
        .unwrap();
    let missed = model.unreached_control_points(&found, &goals, 0.5);
    let worst = missed
        .iter()
        .max_by(|a, b| a.error.total_cmp(&b.error))
        .unwrap();

    assert_eq!(
        (worst.point, worst.vertex.get()),
        (7, model.control().vertices()[7])
    );

    assert_eq!(
        worst.error,
        found[worst.vertex.index()].distance(goals[7]) / model.examples().longest_side()
    );
}

#[test]
fn a_resumed_training_ends_at_the_same_bits() {
    struct StopAfter(std::sync::atomic::AtomicUsize);
    impl pliant_mesh::Progress for StopAfter {
        fn report(&self, _stage: &str, _done: f64) -> std::ops::ControlFlow<()> {
            let left = self.0.fetch_update(
                std::sync::atomic::Ordering::SeqCst,
                std::sync::atomic::Ordering::SeqCst,
                |n| n.checked_sub(1),
            );
            if left.is_ok() {
                std::ops::ControlFlow::Continue(())
            } else {
                std::ops::ControlFlow::Break(())
            }
        }
    }

    let examples = bar_examples();
    let control = bar_control();
    let options = LearnOptions::default().with_bones(30);
    let all = StopAfter(usize::MAX.into());
    let undisturbed = LeaveOneOut::of(examples.clone(), control.clone(), &options, &all).unwrap();
    let reports = usize::MAX - all.0.into_inner();
    let mut text = TrainingLog::new(&examples, &control, &options).to_text();

    let mut known = 0;
    loop {
        let mut log = TrainingLog::new(&examples, &control, &options);
        assert_eq!(log.resume(&text), Ok(true));
        match LeaveOneOut::logged(
            examples.clone(),
            control.clone(),
            &options,
            &mut log,
            &StopAfter((reports / 2).into()),
        ) {
            Ok(found) => {
                assert_eq!(found, undisturbed);
                break;
            }
            Err(error) => assert_eq!(error, LearnError::Stopped(pliant_mesh::Stopped)),
        }

        assert!(log.len() > known, "every run gets further");
        known = log.len();
        text = log.to_text();
    }
}

#[test]
fn progress_rises_during_hyper_parameter_selection() {
    struct Seen(std::sync::Mutex<Vec<f64>>);
    impl pliant_mesh::Progress for Seen {
        fn report(&self, _stage: &str, done: f64) -> std::ops::ControlFlow<()> {
            self.0.lock().unwrap().push(done);
            std::ops::ControlFlow::Continue(())
        }
    }

    let seen = Seen(std::sync::Mutex::new(Vec::new()));
    Model::train(
        bar_examples(),
        bar_control(),
        &LearnOptions::default().with_bones(30),
        &seen,
    )
    .unwrap();

    let seen = seen.0.into_inner().unwrap();
    assert!(
        seen.len() >= 8 && seen.windows(2).all(|pair| pair[0] <= pair[1]),
        "{seen:?}"
    );

    assert!(
        seen.windows(2).all(|pair| pair[1] - pair[0] < 0.35),
        "{seen:?}"
    );
}
