//! Claims about the bounded solver along paths and beyond reach.

use pliant_mesh::glam::{DVec3, Vec3};
use pliant_mesh::shapes::bumpy_sheet;

use super::Bounded;
use crate::pose::tests::{bumps, largest_difference};
use crate::pose::{Grab, Pin, Poser, Range};
use crate::{Rig, Target};

/// Vertices of the sheets that are dragged, and held.
const DRAGGED: usize = 112;
const HELD: [usize; 2] = [40, 181];

fn grab(rig: &Rig, start: &[f64], vertices: &[usize]) -> Grab {
    let pins: Vec<Pin> = vertices.iter().map(|&vertex| Pin::hold(vertex)).collect();
    let poser = Poser::new(rig).unwrap();
    let grab = poser.grab(start, &pins, &Bounded::default(), Range::Clip);
    grab.unwrap()
}

/// Sliders that shift a whole sheet.
fn shifts(names: &[(&str, [f32; 3])]) -> Rig {
    let mesh = bumpy_sheet(4, 0.1);
    let count = mesh.vertex_count();
    let shift =
        |&(name, by): &(&str, [f32; 3])| Target::from_dense(name, vec![Vec3::from(by); count]);
    Rig::new(mesh, names.iter().map(shift).collect()).unwrap()
}

/// The largest change of a weight in one of `steps` steps; the first pin follows `path`.
fn largest_change(grab: &mut Grab, path: &dyn Fn(f64) -> DVec3, steps: usize) -> f64 {
    let mut goals = vec![DVec3::ZERO; grab.system().pins().len()];
    goals[0] = path(0.0);
    let mut last = grab.solve(&goals).weights;
    let mut largest = 0.0_f64;
    for k in 1..=steps {
        goals[0] = path(k as f64 / steps as f64);
        let next = grab.solve(&goals).weights;
        largest = largest.max(largest_difference(&last, &next));
        last = next;
    }

    largest
}

#[test]
fn steps_an_eighth_as_long_change_the_weights_a_third_as_much() {
    let rig = bumps(12);
    let opposites = shifts(&[
        ("jawLeft", [1.0, -0.2, 0.0]),
        ("jawRight", [-1.0, -0.2, 0.0]),
        ("lift", [0.0, 0.9, 0.1]),
        ("drop", [0.1, -0.8, 0.0]),
    ]);

    // Through reachable goals, far beyond reach, past the start and back.
    let path = |t: f64| {
        let angle_rad = std::f64::consts::TAU * t;
        DVec3::new(
            angle_rad.sin(),
            0.6 * (2.0 * angle_rad).sin(),
            angle_rad.cos() - 1.0,
        ) * 0.7
    };

    let grabs = [
        grab(&rig, &[], &[DRAGGED]),
        grab(&rig, &[0.5, 0.0, 0.3], &[DRAGGED, HELD[0], HELD[1]]),
        grab(&opposites, &[], &[6]),
    ];
    for mut grab in grabs {
        let [coarse, fine] = [1000, 8000].map(|steps| largest_change(&mut grab, &path, steps));
        assert!(fine < 0.35 * coarse, "{coarse} {fine}");
    }
}

#[test]
fn a_path_that_returns_to_the_start_returns_every_bit_of_the_pose() {
    let rig = bumps(8);
    let start = [0.1, 0.0, 0.7, 1.0, 0.3, 0.0, 0.2, 0.0];
    let mut grab = grab(&rig, &start, &[DRAGGED, HELD[0]]);
    for k in 0..40 {
        let angle_rad = f64::from(k) * 0.3;
        let goal = DVec3::new(angle_rad.sin(), angle_rad.cos(), 0.2) * 0.05 * f64::from(k);
        grab.solve(&[goal, DVec3::ZERO]);
    }

    assert_eq!(grab.solve(&[DVec3::ZERO; 2]).weights, start);
}

#[test]
fn beyond_three_times_the_reach_the_pose_is_constant() {
    let rig = bumps(8);
    let mut grab = grab(&rig, &[], &[DRAGGED]);
    for direction in [DVec3::X, DVec3::NEG_X, DVec3::new(0.3, -0.8, 0.5), DVec3::Z] {
        // No slider displaces a vertex by more than 0.2.
        let weights = [1.0, 3.0, 1e6].map(|length| grab.solve(&[direction.normalize() * length]));
        for pose in &weights[1..] {
            assert!(largest_difference(&pose.weights, &weights[0].weights) < 1e-9);
            assert!(pose.kkt.unwrap() < 1e-9);
        }
    }
}

#[test]
fn a_goal_a_hundred_times_as_far_moves_the_slider_that_goes_farthest_along_it_and_few_others() {
    let rig = bumps(12);
    let mut grab = grab(&rig, &[], &[DRAGGED]);
    for slider in 0..12 {
        let along = grab.system().pin_derivatives(slider)[0];
        if along.length() < 0.05 {
            continue;
        }

        let goes = |k: usize| grab.system().pin_derivatives(k)[0].dot(along);
        let farthest = (0..12).max_by(|&a, &b| goes(a).total_cmp(&goes(b)));
        let farthest = farthest.expect("twelve sliders");
        let far = grab.solve(&[along * 100.0]).weights;
        assert!(far[farthest] > 0.25, "slider {farthest}: {far:?}");
        assert!(far.iter().sum::<f64>() < 1.5, "slider {slider}: {far:?}");
        assert_eq!(far[0], 0.0, "it hardly moves the pin");
    }
}

#[test]
fn a_far_goal_is_a_direction_and_a_near_one_a_place() {
    // The nearest point of the line w (1, 1, 0) to (x, 0, 0) is at w = x / 2. Seen along a far goal,
    // which is 1.2 long, at w = 1.2 / (1 + 1/4).
    let rig = shifts(&[("a", [1.0, 1.0, 0.0])]);
    let mut grab = grab(&rig, &[], &[6]);
    let weight = |grab: &mut Grab, x: f64| grab.solve(&[DVec3::X * x]).weights[0];
    assert!((weight(&mut grab, 0.5) - 0.25).abs() < 0.03);
    let far = weight(&mut grab, 100.0);
    assert!((0.8..=0.96 + 1e-9).contains(&far), "{far}");
}

#[test]
fn a_mouth_closes_only_as_far_as_its_jaw_is_open() {
    let rig = shifts(&[
        ("mouth_close", [0.0, 1.0, 0.0]),
        ("jawOpen", [0.0, -1.0, 0.3]),
        ("smile", [0.5, 0.3, 0.0]),
    ]);

    for open in [0.0, 0.3, 0.9] {
        let mut grab = grab(&rig, &[0.0, open], &[6]);
        let mut closed = 0.0_f64;
        for k in -20..=20 {
            let goal = DVec3::new(0.1, 0.1 * f64::from(k), 0.0);
            let weights = grab.solve(&[goal]).weights;
            assert!(
                weights[0] <= weights[1],
                "jaw at {open}, goal {goal}: {weights:?}"
            );
            closed = closed.max(weights[0]);
        }
        assert_eq!(closed > 0.05, open > 0.0, "jaw at {open}: {closed}");
    }
}

#[test]
fn sliders_of_one_place_share_its_range_beyond_reach() {
    let rig = shifts(&[
        ("blink", [0.0, -1.0, 0.1]),
        ("look", [0.1, -0.5, 0.0]),
        ("squint", [-0.1, -0.6, 0.1]),
    ]);
    let mut grab = grab(&rig, &[], &[6]);
    let pose = grab.solve(&[DVec3::NEG_Y * 50.0]);
    let moved = pose.pins[0].reached - grab.system().positions()[0];

    let single = DVec3::new(0.0, -1.0, 0.1).length();
    assert!(
        moved.length() < single + 1e-6,
        "{moved}: {:?}",
        pose.weights
    );
    assert!(moved.y < -0.9, "{moved}: {:?}", pose.weights);
}

#[test]
fn sliders_together_move_a_place_a_tenth_farther_than_one_alone_at_most() {
    let rig = shifts(&[
        ("drop", [0.0, -1.0, 0.1]),
        ("left", [0.8, -0.4, 0.0]),
        ("right", [-0.8, -0.5, 0.1]),
    ]);
    let mut grab = grab(&rig, &[], &[6]);
    let single = DVec3::new(0.0, -1.0, 0.1).length();
    let mut farthest = 0.0_f64;
    for k in 1..=60 {
        let pose = grab.solve(&[DVec3::NEG_Y * 0.05 * f64::from(k)]);
        let moved = pose.pins[0].reached - grab.system().positions()[0];
        farthest = farthest.max(moved.length());
    }

    assert!(farthest > 0.9 * single, "{farthest}");
    assert!(farthest < 1.1 * single + 1e-9, "{farthest}");
}

#[test]
fn cheeks_are_not_puffed_while_the_jaw_is_open() {
    let rig = shifts(&[
        ("cheekPuff", [1.0, -0.3, 0.2]),
        ("jawOpen", [0.1, -1.0, 0.1]),
        ("mouthLeft", [0.4, 0.0, 0.0]),
    ]);
    let mut grab = grab(&rig, &[], &[6]);
    let mut used = [0.0_f64; 2];
    for k in 0..=24 {
        let angle_rad = 0.1 * f64::from(k) - 1.8;
        let goal = DVec3::new(angle_rad.cos(), angle_rad.sin(), 0.1);
        let weights = grab.solve(&[goal]).weights;
        assert_eq!(weights[0].min(weights[1]), 0.0, "{goal}: {weights:?}");
        used = [used[0].max(weights[0]), used[1].max(weights[1])];
    }

    assert!(used[0] > 0.3 && used[1] > 0.3, "each alone: {used:?}");
}

#[test]
fn a_cheek_gives_way_to_a_jaw_that_is_open_at_the_start() {
    let rig = shifts(&[
        ("cheekPuff", [1.0, -0.3, 0.2]),
        ("jawOpen", [0.1, -1.0, 0.1]),
        ("mouthLeft", [0.4, 0.0, 0.0]),
    ]);
    let mut grab = grab(&rig, &[0.0, 0.5, 0.0], &[6]);
    let mut last = 0.0;
    for k in 0..=60 {
        let goal = DVec3::new(1.0, -0.3, 0.2) * (f64::from(k) / 60.0);
        let weights = grab.solve(&[goal]).weights;
        assert!(weights[1] > 0.4, "the jaw stays open: {weights:?}");
        if k <= 20 {
            assert_eq!(weights[0], 0.0, "{goal}: {weights:?}");
        }
        assert!((weights[0] - last).abs() < 0.06, "{goal}: {weights:?}");
        last = weights[0];
    }

    assert!(last > 0.1, "a far hand means the cheek: {last}");
}

#[test]
fn a_place_is_moved_by_the_slider_that_moves_it_most() {
    // Both move the pin alike and as much surface; the second is made for another place.
    let mesh = bumpy_sheet(12, 0.0);
    let pin = mesh.positions()[DRAGGED];
    let positions = mesh.positions();
    let bump = |center: DVec3, height: f64, radius: f64| {
        let deltas = positions.iter().map(|p| {
            let t = (p.distance(center) / radius).min(1.0);
            Vec3::Z * (height * (1.0 - t)) as f32
        });
        deltas.collect::<Vec<_>>()
    };
    let farthest = positions
        .iter()
        .copied()
        .max_by(|a, b| a.distance(pin).total_cmp(&b.distance(pin)))
        .unwrap();
    let mut elsewhere = bump(farthest, 1.2, 0.5);
    for (sum, delta) in elsewhere.iter_mut().zip(bump(pin, 0.4, 0.6)) {
        *sum += delta;
    }
    let wide = bump(pin, 0.4, 9.0);
    let targets = vec![
        Target::from_dense("here", wide),
        Target::from_dense("elsewhere", elsewhere),
    ];

    let rig = Rig::new(mesh, targets).unwrap();
    let mut grab = grab(&rig, &[], &[DRAGGED]);
    let weights = grab.solve(&[DVec3::Z * 0.2]).weights;
    assert!(weights[0] > 1.5 * weights[1], "{weights:?}");
}

#[test]
fn a_goal_limit_that_is_no_number_is_an_error_and_none_follows_every_goal() {
    let rig = bumps(8);
    let poser = Poser::new(&rig).unwrap();
    let goal = DVec3::new(0.3, 0.4, 0.5);
    let error = |limit: Option<f64>| {
        let solver = Bounded::default().with_goal_limit(limit);
        let grab = poser.grab(&[], &[Pin::hold(DRAGGED)], &solver, Range::Clip);
        grab.map(|mut grab| grab.solve(&[goal]).pins[0].error)
    };

    assert!(error(Some(f64::NAN)).is_err() && error(Some(-1.0)).is_err());
    assert!(error(None).unwrap() < error(Some(1.2)).unwrap());
}
