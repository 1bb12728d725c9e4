use std::f64::consts::TAU;

use pliant_linalg::RigidMotion;
use pliant_mesh::Mesh;
use pliant_mesh::glam::DQuat;

use super::*;
use crate::test_solids::{bar, bent};
use crate::{BlendOptions, Solver};

/// Vertices around the one in the middle of a fan.
const RIM: usize = 6;

/// A vertex that springs of length one join to a held rim around it, in the plane z = 0.
fn fan() -> Blend {
    let rim = (0..RIM)
        .map(|k| TAU * k as f64 / RIM as f64)
        .map(|angle| DVec3::new(angle.cos(), angle.sin(), 0.0));
    let positions: Vec<DVec3> = std::iter::once(DVec3::ZERO).chain(rim).collect();
    let triangles: Vec<[u32; 3]> = (0..RIM as u32)
        .map(|k| [0, 1 + k, 1 + (k + 1) % RIM as u32])
        .collect();

    let mesh = Mesh::from_triangles(positions, &triangles).unwrap();
    Blend::new(
        &[mesh],
        &BlendOptions::default()
            .with_solver(Solver::Tight)
            .with_fixed((1..=RIM).collect()),
    )
    .unwrap()
}

/// The force of the fan's springs on a vertex at `place`, in closed form.
fn force_at(place: DVec3) -> DVec3 {
    let rim = fan().mesh().positions()[1..].to_vec();
    rim.iter()
        .map(|end| (*end - place) * (1.0 - 1.0 / end.distance(place)))
        .sum()
}

fn still(obstacle: Result<Obstacle, PhysicsError>) -> (Obstacle, ObstacleMotion) {
    (obstacle.unwrap(), ObstacleMotion::still())
}

fn ball(center: DVec3, radius: f64) -> (Obstacle, ObstacleMotion) {
    still(Obstacle::sphere(center, radius))
}

fn shifts(shifts_by_frame: &[DVec3]) -> ObstacleMotion {
    ObstacleMotion::from_frames(
        shifts_by_frame
            .iter()
            .map(|&translation| RigidMotion {
                rotation: DQuat::IDENTITY,
                translation,
            })
            .collect(),
    )
}

fn among(blend: Blend, obstacles: Vec<(Obstacle, ObstacleMotion)>, friction: f64) -> ContactBlend {
    ContactBlend::new(
        blend,
        obstacles,
        &ContactOptions::default().with_friction(friction),
    )
    .unwrap()
}

/// The only vertex of the fan that moves.
fn middle(frame: &ContactFrame) -> DVec3 {
    assert!(
        frame.shape.report.converged && frame.moved == 0,
        "{:?}",
        frame.shape.report
    );
    frame.shape.positions[0]
}

#[test]
fn a_ball_pressed_on_a_fan_of_springs_moves_its_middle() {
    let mut contact = among(fan(), vec![ball(DVec3::Z * 0.2, 0.5)], 0.0);
    let frame = contact.step(&[1.0], 0.0).unwrap();
    assert!(
        middle(&frame).distance(DVec3::Z * -0.3) < 1e-6,
        "{}",
        middle(&frame)
    );

    assert_eq!((frame.contacts, frame.stuck), (1, 0));
    let found = contact
        .blend
        .forces_at(&[1.0], &all_points(&frame.shape))
        .unwrap()[0];
    assert!(
        found.distance(force_at(DVec3::Z * -0.3)) < 1e-6,
        "six springs of length √1.09: {found}"
    );
}

#[test]
fn without_friction_a_vertex_slides_until_the_force_is_normal() {
    let center = DVec3::new(0.1, 0.0, 0.2);
    let place = middle(
        &among(fan(), vec![ball(center, 0.5)], 0.0)
            .step(&[1.0], 0.0)
            .unwrap(),
    );

    let normal = (place - center).normalize();
    let force = force_at(place);
    assert!((place.distance(center) - 0.5).abs() < 1e-6);
    assert!(
        (force - normal * force.dot(normal)).length() < 1e-5 && force.dot(normal) < 0.0,
        "{force}"
    );
}

#[test]
fn the_method_of_ma2012_fixes_a_vertex_at_the_nearest_surface_point() {
    let center = DVec3::new(0.1, 0.0, 0.2);
    let options = ContactOptions::default().with_method(ContactMethod::Ma2012);
    let frame = ContactBlend::new(fan(), vec![ball(center, 0.5)], &options)
        .unwrap()
        .step(&[1.0], 0.0)
        .unwrap();
    assert!(middle(&frame).distance(center - center.normalize() * 0.5) < 1e-12);
    assert_eq!(frame.contacts, 1);
}

#[test]
fn a_vertex_pressed_by_two_balls_rests_in_the_groove_between_them() {
    let balls = [-0.4, 0.4]
        .map(|x| ball(DVec3::new(x, 0.0, 0.3), 0.6))
        .to_vec();
    let frame = among(fan(), balls, 0.0).step(&[1.0], 0.0).unwrap();
    let bottom = 0.3 - (0.36_f64 - 0.16).sqrt();

    assert!(
        middle(&frame).distance(DVec3::Z * bottom) < 1e-6,
        "{}",
        middle(&frame)
    );
    assert_eq!(frame.contacts, 2);
}

/// A plate from z = −0.3 upward that moves along x by `shift` once it presses on the fan.
fn dragged(friction: f64, shift: f64) -> DVec3 {
    let plate = Obstacle::cylinder(DVec3::Z * -0.3, DVec3::Z, 0.5).unwrap();
    let mut contact = among(
        fan(),
        vec![(plate, shifts(&[DVec3::ZERO, DVec3::X * shift]))],
        friction,
    );
    contact.step(&[1.0], 0.0).unwrap();
    middle(&contact.step(&[1.0], 1.0).unwrap())
}

#[test]
fn friction_drags_a_vertex_until_its_force_leaves_the_cone() {
    let shift = 0.1;
    assert!(
        dragged(0.0, shift).distance(DVec3::Z * -0.3) < 1e-6,
        "nothing without friction"
    );

    // With enough friction the vertex moves with the plate.
    let taken = DVec3::new(shift, 0.0, -0.3);
    let pull_over_push = force_at(taken).x.abs() / force_at(taken).z;
    assert!(
        dragged(1.05 * pull_over_push, shift).distance(taken) < 1e-6,
        "below the cone it sticks"
    );

    // With less friction it slips.
    let friction = 0.5 * pull_over_push;
    let slipped = dragged(friction, shift);
    let force = force_at(slipped);

    assert!(
        slipped.x > 0.1 * shift && slipped.x < 0.9 * shift,
        "{slipped}"
    );

    // Springs that are not linear end a little inside.
    let share = force.x.abs() / force.z / friction;

    assert!(
        share > 0.95 && share < 1.001,
        "about on the rim of the cone: {share}"
    );
}

#[test]
fn a_fast_thin_plate_does_not_pass_through() {
    let plate = Obstacle::cylinder(DVec3::Z * 2.0, DVec3::Z * 2.05, 0.5).unwrap();
    let mut contact = among(
        fan(),
        vec![(plate, shifts(&[DVec3::ZERO, DVec3::Z * -2.5]))],
        0.0,
    );

    assert_eq!(middle(&contact.step(&[1.0], 0.0).unwrap()), DVec3::ZERO);
    let frame = contact.step(&[1.0], 1.0).unwrap();
    assert!(frame.substeps > 100);
    assert!(
        middle(&frame).distance(DVec3::Z * -0.5) < 1e-6,
        "{}",
        middle(&frame)
    );
}

#[test]
fn a_held_vertex_stays_inside_and_is_counted() {
    let frame = among(fan(), vec![ball(DVec3::X, 0.5)], 0.0)
        .step(&[1.0], 0.0)
        .unwrap();
    assert_eq!((frame.stuck, frame.contacts), (1, 0));
    assert_eq!(frame.shape.positions[1], DVec3::X);
}

/// A bar of length 4 with its foot held, that bends by a right angle.
fn bending() -> Blend {
    let straight = bar(3);
    let foot = (0..straight.vertex_count())
        .filter(|&v| straight.positions()[v].x == 0.0)
        .collect();
    let bent = bent(&straight, 90.0);
    Blend::new(&[straight, bent], &BlendOptions::default().with_fixed(foot)).unwrap()
}

/// A ball on the inner side of the bend that the tip reaches half way along the path.
fn in_the_way() -> (DVec3, f64) {
    let tip = bent(&bar(1), 60.0)
        .positions()
        .iter()
        .copied()
        .filter(|p| p.x > 1.5)
        .fold(DVec3::ZERO, |a, b| if b.z > a.z { b } else { a });
    (DVec3::new(tip.x - 0.3, 0.0, tip.z + 0.4), 0.6)
}

const STEPS: usize = 8;

fn weights(step: usize) -> [f64; 2] {
    let alpha = step as f64 / STEPS as f64;
    [1.0 - alpha, alpha]
}

fn sequence(contact: &mut ContactBlend) -> Vec<ContactFrame> {
    (0..=STEPS)
        .map(|step| contact.step(&weights(step), step as f64).unwrap())
        .collect()
}

fn deepest(obstacle: &Obstacle, frame: &ContactFrame) -> f64 {
    obstacle
        .contacts(&frame.shape.positions, 0.0)
        .iter()
        .map(|contact| contact.depth)
        .fold(0.0, f64::max)
}

#[test]
fn no_vertex_of_a_bending_bar_enters_a_ball_and_the_shape_is_free_before_contact() {
    let (center, radius) = in_the_way();
    let obstacle = Obstacle::sphere(center, radius).unwrap();

    // The frames without the ball.
    let mut free = bending();
    let free: Vec<BlendFrame> = (0..=STEPS)
        .map(|step| free.at(&weights(step)).unwrap())
        .collect();

    let inside = |frame: &BlendFrame| frame.positions.iter().any(|p| p.distance(center) < radius);
    let first = free.iter().position(inside).expect("it is in the shift");
    assert!(first > 2 && inside(&free[STEPS]), "{first}");

    for friction in [0.0, 0.5] {
        let mut contact = among(bending(), vec![ball(center, radius)], friction);
        let edge = contact.blend().mesh().mean_edge_length();
        for (step, frame) in sequence(&mut contact).iter().enumerate() {
            assert!(
                deepest(&obstacle, frame) <= 1.001e-6 * edge,
                "{friction} {step}"
            );

            assert!(
                frame.shape.report.converged && frame.moved == 0,
                "{friction} {step}: {frame:?}"
            );

            if step < first {
                // Its report counts the steps of sub-steps too.
                assert!(
                    frame.shape.positions == free[step].positions
                        && frame.shape.interior == free[step].interior,
                    "{friction} {step}"
                );
            } else {
                assert!(frame.contacts > 0);
            }
        }
    }
}

#[test]
fn without_the_ball_the_shape_is_the_free_one_again() {
    let (center, radius) = in_the_way();
    let mut shifts_by_frame = vec![DVec3::ZERO; STEPS + 1];
    shifts_by_frame.push(DVec3::new(0.5, 0.0, 3.0));

    let mut contact = among(
        bending(),
        vec![(
            Obstacle::sphere(center, radius).unwrap(),
            shifts(&shifts_by_frame),
        )],
        0.0,
    );
    let frames = sequence(&mut contact);
    let free = bending().at(&weights(STEPS)).unwrap();

    assert!(frames[STEPS].shape.positions != free.positions);
    let gone = contact.step(&weights(STEPS), STEPS as f64 + 1.0).unwrap();
    assert_eq!(gone.contacts, 0);
    assert_eq!(gone.shape.positions, free.positions);
}

#[test]
fn a_box_is_not_entered_either() {
    let (center, _) = in_the_way();
    let mesh = bar(4);
    let places = mesh
        .positions()
        .iter()
        .map(|p| (*p - DVec3::X * 2.0) * DVec3::new(0.25, 1.2, 1.2) + center);

    let obstacle = Obstacle::mesh(&mesh.posed(places.collect()).unwrap()).unwrap();
    let mut contact = among(
        bending(),
        vec![(obstacle.clone(), ObstacleMotion::still())],
        0.0,
    );

    let edge = contact.blend().mesh().mean_edge_length();
    let frames = sequence(&mut contact);
    assert!(
        frames
            .iter()
            .all(|frame| deepest(&obstacle, frame) <= 1.001e-6 * edge)
    );

    assert!(frames[STEPS].contacts > 0);
}

#[test]
fn a_single_frame_starts_at_the_first_shape_as_a_sequence_does() {
    let (center, radius) = in_the_way();
    let walked = sequence(&mut among(bending(), vec![ball(center, radius)], 0.0))
        .pop()
        .unwrap();
    let mut contact = among(bending(), vec![ball(center, radius)], 0.0);
    let jumped = contact.step(&weights(STEPS), STEPS as f64).unwrap();

    assert!(jumped.substeps > 1 && jumped.shape.report.converged && jumped.moved == 0);
    let apart = walked
        .shape
        .positions
        .iter()
        .zip(&jumped.shape.positions)
        .map(|(p, q)| p.distance(*q))
        .fold(0.0, f64::max);

    assert!(apart < 0.02, "of a bar of length 4: {apart}");
}

#[test]
fn another_unit_of_length_gives_the_same_shape() {
    let (center, radius) = in_the_way();

    // A power of two, which loses no bits.
    // Scaling by a power of two is exact.
    let unit = 1024.0;
    let last = |scale: f64| {
        let straight = bar(3);
        let foot = (0..straight.vertex_count())
            .filter(|&v| straight.positions()[v].x == 0.0)
            .collect();
        let scaled = |mesh: &Mesh| {
            mesh.posed(mesh.positions().iter().map(|&p| p * scale).collect())
                .unwrap()
        };

        let options = BlendOptions::default().with_fixed(foot);
        let blend = Blend::new(
            &[scaled(&straight), scaled(&bent(&straight, 90.0))],
            &options,
        )
        .unwrap();

        let mut contact = among(blend, vec![ball(center * scale, radius * scale)], 0.2);
        sequence(&mut contact).pop().unwrap()
    };

    let one = last(1.0);
    let other = last(unit);
    assert_eq!(one.contacts, other.contacts);
    for (p, q) in one.shape.positions.iter().zip(&other.shape.positions) {
        assert!(p.distance(*q / unit) < 1e-9, "{p} {q}");
    }
}

#[test]
fn one_thread_and_two_give_the_same_bits() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let (center, radius) = in_the_way();
        pool.install(|| sequence(&mut among(bending(), vec![ball(center, radius)], 0.3)))
    };
    assert_eq!(run(1), run(2));
}

#[test]
fn friction_that_is_negative_or_not_finite_is_rejected() {
    for friction in [-0.1, f64::NAN, f64::INFINITY] {
        assert!(
            ContactBlend::new(
                fan(),
                Vec::new(),
                &ContactOptions::default().with_friction(friction)
            )
            .is_err()
        );
    }
}

/// A ball far smaller than the faces of the fan, under the middle of one, that rises through its
/// plane.
fn risen(height: f64) -> (Vec<DVec3>, DVec3, ContactFrame) {
    let blend = fan();
    let [a, b, c] = blend.mesh().triangle_points(0);
    let below = (a * 2.0 + b + c) / 4.0;
    let shift: Vec<DVec3> = (0..=4)
        .map(|k| DVec3::Z * (0.25 * f64::from(k) * height))
        .collect();

    let start = below - DVec3::Z * 0.1;
    let mut contact = among(
        blend,
        vec![(Obstacle::sphere(start, 0.05).unwrap(), shifts(&shift))],
        0.0,
    );

    let mut frames: Vec<ContactFrame> = (0..=4)
        .map(|time| contact.step(&[1.0], f64::from(time)).unwrap())
        .collect();
    let frame = frames.pop().unwrap();

    (
        frame.shape.positions.clone(),
        start + DVec3::Z * height,
        frame,
    )
}

#[test]
fn a_ball_that_is_smaller_than_a_face_lifts_the_face() {
    let (_, _, before) = risen(0.04);
    assert_eq!(
        (before.faces, before.contacts),
        (0, 0),
        "below it nothing happens"
    );

    let (positions, center, frame) = risen(0.25);
    assert!(
        frame.shape.report.converged && frame.faces == 1,
        "{:?} {}",
        frame.shape.report,
        frame.faces
    );

    let corners = [0, 1, 2].map(|v| positions[v]);
    let (_, nearest) = pliant_mesh::closest_on_triangle(corners, center);
    assert!(
        nearest.distance(center) > 0.05 - 2e-3 && nearest.distance(center) < 0.05 + 2e-3,
        "{}",
        nearest.distance(center)
    );

    assert!(
        positions[0].z > 0.05,
        "the vertex that may move is lifted: {}",
        positions[0]
    );

    let springs = force_at(positions[0]);
    assert!(springs.z < -1e-3, "and pulls back: {springs}");
}

#[test]
fn obstacles_around_the_shape_or_beyond_any_scale_are_rejected() {
    let ball = pliant_mesh::shapes::icosphere(2);
    let with = |center: DVec3, radius: f64| {
        let blend = Blend::new(&[ball.clone(), ball.clone()], &BlendOptions::default()).unwrap();
        let obstacle = Obstacle::sphere(center, radius).unwrap();
        let obstacles = vec![(obstacle, ObstacleMotion::still())];
        ContactBlend::new(blend, obstacles, &ContactOptions::default()).map(|_| ())
    };

    assert!(matches!(
        with(DVec3::ZERO, 5.0),
        Err(PhysicsError::EnclosingObstacle { obstacle: 0, .. })
    ));
    assert!(matches!(
        with(DVec3::X * -1e12, 1e12),
        Err(PhysicsError::ObstacleScale { obstacle: 0, .. })
    ));
    assert!(with(DVec3::X * 1.2, 0.5).is_ok());
}
