//! What every method, and what the automatic one, has to keep.

use pliant_mesh::Mesh;
use pliant_mesh::glam::{DMat3, DVec3};

use crate::test_bar::{bar, bar_control, bar_examples, bent};
use crate::{ControlPoints, Examples, Hold, LearnError, LearnOptions, LeaveOneOut, Method, Model};

fn trained(method: Method) -> Model {
    let options = LearnOptions::default().with_method(method).with_bones(30);
    Model::train(bar_examples(), bar_control(), &options, &()).unwrap()
}

fn rms(a: &[DVec3], b: &[DVec3]) -> f64 {
    (a.iter().zip(b).map(|(a, b)| a.distance_squared(*b)).sum::<f64>() / a.len() as f64).sqrt()
}

#[test]
fn a_rigid_motion_of_all_control_points_moves_the_result_rigidly() {
    let turn = DMat3::from_axis_angle(DVec3::new(1.0, -2.0, 0.5).normalize(), 2.3);
    let shift = DVec3::new(4.0, -2.0, 7.0);
    let goals = bar_control().at(&bent(0.4, 0.4));
    let moved: Vec<DVec3> = goals.iter().map(|p| turn * *p + shift).collect();
    for method in Method::ALL {
        let model = trained(method);
        let expected: Vec<DVec3> = model.drive(&goals).unwrap().iter().map(|p| turn * *p + shift).collect();
        let apart = rms(&model.drive(&moved).unwrap(), &expected);
        assert!(apart < 1e-6, "{}: {apart:e}", method.name());
    }
}

#[test]
fn an_examples_own_control_points_return_the_example() {
    let model = trained(Method::Auto);
    assert!(model.fit_error() < 0.005, "{}", model.fit_error());
    let still = model.drive(&model.control().at(bar().positions())).unwrap();
    assert!(model.examples().error(&still, 0) < 0.005);
}

#[test]
fn with_bones_an_example_comes_back_to_what_skin_and_regression_leave() {
    for method in [Method::Paper, Method::Feng] {
        let model = trained(method);
        assert_eq!((model.bone_count(), model.skin().unwrap().vertex_count()), (30, bar().vertex_count()));
        assert!(model.fit_error() < 0.015, "{}: {}", method.name(), model.fit_error());
    }
}

#[test]
fn local_in_geometry_local_in_pose_both_and_neither_are_four_methods() {
    let goals = bar_control().at(&bent(0.75, 0.2));
    let drive = |neighbors: usize, pose_neighbors: usize| {
        let options = LearnOptions::default().with_method(Method::Paper).with_bones(30);
        let options = options.with_neighbors(neighbors).with_pose_neighbors(pose_neighbors);
        Model::train(bar_examples(), bar_control(), &options, &()).unwrap().drive(&goals).unwrap()
    };
    let all = LearnOptions::ALL;
    let variants = [drive(all, all), drive(6, all), drive(all, 3), drive(6, 3)];
    assert_eq!(variants[0], trained(Method::Feng).drive(&goals).unwrap());
    for (k, variant) in variants.iter().enumerate() {
        assert!(variants[..k].iter().all(|other| rms(variant, other) > 1e-5), "variant {k}");
        assert!(rms(variant, &bent(0.75, 0.2)) < 0.2, "variant {k}");
    }
}

#[test]
fn more_bones_than_the_mesh_can_carry_are_clipped() {
    let options = LearnOptions::default().with_method(Method::Paper).with_bones(1000);
    let model = Model::train(bar_examples(), bar_control(), &options, &()).unwrap();
    assert_eq!(model.bone_count(), bar().vertex_count() / 3);
}

#[test]
fn with_bones_one_thread_and_two_give_the_same_bits() {
    let goals = bar_control().at(&bent(0.75, 0.2));
    let options = LearnOptions::default().with_method(Method::Paper).with_bones(66);
    let driven = [1, 2].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool of threads");
        pool.install(|| {
            let model = Model::train(bar_examples(), bar_control(), &options, &()).unwrap();
            (model.to_bytes(), model.drive(&goals).unwrap(), model.driver_with(Hold::Hard).unwrap().pose(&goals).unwrap())
        })
    });
    assert!(driven[0] == driven[1]);
}

#[test]
fn a_pose_between_the_examples_is_met_better_than_by_any_baseline() {
    let truth = bent(0.75, 0.2);
    let goals = bar_control().at(&truth);
    let error = |method: Method| rms(&trained(method).drive(&goals).unwrap(), &truth);
    let ours = error(Method::Auto);
    for method in [Method::Paper, Method::Feng, Method::MeshIk, Method::Arap] {
        assert!(ours < error(method), "{}: {ours} against {}", method.name(), error(method));
    }
}

#[test]
fn the_scale_of_the_scene_changes_nothing_but_the_scale() {
    let examples = bar_examples();
    let larger = |positions: &[DVec3]| positions.iter().map(|p| *p * 1000.0).collect::<Vec<_>>();
    let frames: Vec<Vec<DVec3>> = (1..examples.count()).map(|i| larger(examples.pose(i))).collect();
    let mesh = bar().posed(larger(bar().positions())).unwrap();
    let scaled = Examples::new(mesh, frames, examples.names().to_vec()).unwrap();
    let options = LearnOptions::default().with_bones(30);
    let small = trained(Method::Auto);
    let large = Model::train(scaled, bar_control(), &options, &()).unwrap();
    assert_eq!(small.chosen(), large.chosen());
    let goals = bar_control().at(&bent(0.4, 0.4));
    let apart = rms(&large.drive(&larger(&goals)).unwrap(), &larger(&small.drive(&goals).unwrap()));
    assert!(apart < 1e-5, "{apart:e}");
}

#[test]
fn a_pulled_control_point_moves_what_is_near_and_leaves_what_is_far() {
    let model = trained(Method::Auto);
    let goals = model.control().at(bar().positions());
    let mut pulled = goals.clone();
    *pulled.last_mut().unwrap() += DVec3::new(0.1, 0.1, 0.0);
    let (before, after) = (model.drive(&goals).unwrap(), model.drive(&pulled).unwrap());
    let step = |v: usize| before[v].distance(after[v]);
    assert!(step(*model.control().vertices().last().unwrap() as usize) > 0.05);
    assert!((0..8 * 6).all(|v| step(v) < 0.01), "the far end stays");
}

#[test]
fn hard_control_points_are_met_by_every_method() {
    let mut goals = bar_control().at(&bent(0.4, 0.4));
    goals[4] += DVec3::new(0.2, 0.3, -0.1);
    for method in Method::ALL {
        let model = trained(method);
        let found = model.driver_with(Hold::Hard).unwrap().pose(&goals).unwrap();
        let farthest = model.control().at(&found).iter().zip(&goals).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(farthest < 1e-9, "{}: {farthest}", method.name());
    }
}

#[test]
fn what_is_left_out_is_judged_as_by_hand() {
    let options = LearnOptions::default().with_bones(30);
    let examples = bar_examples();
    let told = LeaveOneOut::of(examples.clone(), bar_control(), &options, &()).unwrap();
    assert_eq!(told.poses.len(), examples.count() - 1);
    for left_out in [1, 4] {
        let frames: Vec<Vec<DVec3>> = (1..examples.count()).filter(|&i| i != left_out).map(|i| examples.pose(i).to_vec()).collect();
        let names = (0..frames.len()).map(|k| k.to_string()).collect();
        let rest = Examples::new(bar(), frames, names).unwrap();
        let model = Model::train(rest, bar_control(), &options, &()).unwrap();
        let found = model.drive(&bar_control().at(examples.pose(left_out))).unwrap();
        assert_eq!(examples.error(&found, left_out), told.poses[left_out - 1].rms);
        assert_eq!(model.chosen(), told.poses[left_out - 1].chosen);
    }
}

#[test]
fn identical_examples_few_points_and_few_frames_are_handled() {
    let still = bar().positions().to_vec();
    let names = vec!["a".to_owned(), "b".to_owned()];
    let few = ControlPoints::new(&bar(), &[0, 100, 190]).unwrap();
    for frames in [vec![still.clone(), still.clone()], vec![bent(0.5, 0.1), bent(0.5, 0.1)]] {
        for method in Method::ALL {
            let examples = Examples::new(bar(), frames.clone(), names.clone()).unwrap();
            let options = LearnOptions::default().with_method(method);
            let model = Model::train(examples.clone(), few.clone(), &options, &()).unwrap();
            let found = model.drive(&few.at(&bent(0.3, 0.0))).unwrap();
            assert!(found.iter().all(|p| p.is_finite()), "{}", method.name());
            let told = LeaveOneOut::of(examples, few.clone(), &options, &()).unwrap();
            assert!(told.mean_rms().is_finite(), "{}", method.name());
        }
    }
}

#[test]
fn a_part_of_the_mesh_without_control_points_follows_its_neighbours() {
    // A bead beside the bar's right end, which no edge joins to it.
    let bead = |positions: &[DVec3]| {
        let end = positions[24 * 8];
        let side = positions[24 * 8 + 1] - end;
        let along = end - positions[23 * 8];
        positions.iter().copied().chain([end + along, end + along + side, end + along * 2.0]).collect::<Vec<DVec3>>()
    };
    let polygons: Vec<Vec<u32>> = bar().faces().map(<[u32]>::to_vec).chain([vec![200, 201, 202]]).collect();
    let mesh = Mesh::from_polygons(bead(bar().positions()), &polygons).unwrap();
    let frames = vec![bead(&bent(0.5, 0.0)), bead(&bent(1.0, 0.0)), bead(&bent(-0.5, 0.0))];
    let names = (0..3).map(|k| k.to_string()).collect();
    let examples = Examples::new(mesh, frames, names).unwrap();
    let model = Model::train(examples, bar_control(), &LearnOptions::default(), &()).unwrap();
    let truth = bead(&bent(0.75, 0.0));
    let found = model.drive(&model.control().at(&truth)).unwrap();
    assert!((200..203).all(|v| found[v].distance(truth[v]) < 0.2), "{:?} {:?}", &found[200..], &truth[200..]);
}

#[test]
fn places_that_do_not_fit_are_declined() {
    let model = trained(Method::Arap);
    assert_eq!(model.drive(&[DVec3::ZERO; 3]).unwrap_err(), LearnError::ControlCount { found: 3, expected: 15 });
    let mut goals = model.control().at(bar().positions());
    goals[2].x = f64::NAN;
    assert_eq!(model.drive(&goals).unwrap_err(), LearnError::ControlNotFinite { point: 2 });
}
