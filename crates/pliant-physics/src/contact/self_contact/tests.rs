use std::f64::consts::TAU;

use super::*;
use crate::test_solids::joined;
use crate::{Blend, BlendFrame, BlendOptions, ContactBlend, ContactFrame, ContactOptions, Solver};

const AROUND: usize = 12;
const ALONG: usize = 14;
const LENGTH: f64 = 4.0;
const RADIUS: f64 = 0.5;

/// A round finger that stands on z = 0 at `x`, with closed ends; its axis leans by `lean` at the
/// tip.
fn finger(x: f64, lean: DVec3) -> Mesh {
    let mut positions = Vec::new();
    for k in 0..=ALONG {
        let share = k as f64 / ALONG as f64;
        let center = DVec3::new(x, 0.0, LENGTH * share) + lean * (share * share);
        let angle = |j: usize| TAU * (j as f64 + 0.5 * (k % 2) as f64) / AROUND as f64;
        positions.extend(
            (0..AROUND).map(|j| center + DVec3::new(angle(j).cos(), angle(j).sin(), 0.0) * RADIUS),
        );
    }

    let at = |k: usize, j: usize| (k * AROUND + j % AROUND) as u32;
    let mut triangles = Vec::new();
    for (k, j) in (0..ALONG).flat_map(|k| (0..AROUND).map(move |j| (k, j))) {
        let shift = k % 2;
        triangles.push([at(k, j), at(k, j + 1), at(k + 1, j + shift)]);
        triangles.push([at(k, j + 1 - shift), at(k + 1, j + 1), at(k + 1, j)]);
    }

    let tip = positions.len() as u32;
    positions.push(positions[at(ALONG, 0) as usize..].iter().sum::<DVec3>() / AROUND as f64);
    positions.push(DVec3::new(x, 0.0, 0.0));

    for j in 0..AROUND {
        triangles.push([at(ALONG, j), at(ALONG, j + 1), tip]);
        triangles.push([at(0, j + 1), at(0, j), tip + 1]);
    }

    Mesh::from_triangles(positions, &triangles).unwrap()
}

/// Two fingers on the ground; the left one leans over to the right one, on this side of it or
/// beyond.
fn crossing(side: f64) -> Mesh {
    joined(
        &finger(0.0, DVec3::new(0.6, 1.2 * side, -0.2)),
        &finger(1.3, DVec3::ZERO),
    )
}

fn fingers(solver: Solver) -> Blend {
    let shapes = [crossing(1.0), crossing(-1.0)];
    let feet = (0..shapes[0].vertex_count())
        .filter(|&v| shapes[0].positions()[v].z < 1e-9)
        .collect();
    Blend::new(
        &shapes,
        &BlendOptions::default().with_solver(solver).with_fixed(feet),
    )
    .unwrap()
}

const STEPS: usize = 10;

fn weights(step: usize) -> [f64; 2] {
    let alpha = step as f64 / STEPS as f64;
    [1.0 - alpha, alpha]
}

fn watching(blend: Blend) -> ContactBlend {
    ContactBlend::new(
        blend,
        Vec::new(),
        &ContactOptions::default().with_self_contact(true),
    )
    .unwrap()
}

/// How deep vertices of one finger are inside the other, by the other's own mesh.
fn deepest(positions: &[DVec3]) -> f64 {
    let half = positions.len() / 2;
    let one = finger(0.0, DVec3::ZERO);
    let depth = |self_contact: &[DVec3], others: &[DVec3]| {
        let index = SurfaceIndex::new(&one.posed(others.to_vec()).unwrap()).unwrap();
        self_contact
            .iter()
            .filter(|p| index.contains(**p))
            .map(|p| index.closest_point(*p).unwrap().distance)
            .fold(0.0, f64::max)
    };

    depth(&positions[..half], &positions[half..]).max(depth(&positions[half..], &positions[..half]))
}

#[test]
fn a_finger_is_closed_and_faces_outward() {
    let mesh = finger(0.0, DVec3::ZERO);
    assert!(mesh.topology().boundary_loops().is_empty());
    let round = TAU / 2.0 * RADIUS * RADIUS * LENGTH;
    assert!(
        (mesh.signed_volume() / round - 1.0).abs() < 0.1,
        "{}",
        mesh.signed_volume()
    );
}

fn walk(contact: &mut ContactBlend) -> Vec<ContactFrame> {
    walk_to(STEPS, contact)
}

fn walk_to(last: usize, contact: &mut ContactBlend) -> Vec<ContactFrame> {
    (0..=last)
        .map(|step| contact.step(&weights(step), 0.0).unwrap())
        .collect()
}

#[test]
fn crossing_fingers_touch_and_are_free_before_and_after() {
    for solver in [Solver::Fast, Solver::Tight, Solver::Newton] {
        let mut free = fingers(solver);
        let free: Vec<BlendFrame> = (0..=STEPS)
            .map(|step| free.at(&weights(step)).unwrap())
            .collect();
        let edge = crossing(1.0).mean_edge_length();

        assert!(deepest(&free[0].positions) == 0.0 && deepest(&free[STEPS].positions) == 0.0);
        assert!(
            deepest(&free[STEPS / 2].positions) > 0.5 * edge,
            "the scene: {}",
            deepest(&free[STEPS / 2].positions)
        );

        for (step, (frame, free)) in walk(&mut watching(fingers(solver)))
            .iter()
            .zip(&free)
            .enumerate()
        {
            assert!(
                frame.shape.report.converged,
                "{solver:?} {step}: {:?}",
                frame.shape.report
            );

            assert_eq!(
                (deepest(&frame.shape.positions), frame.self_depth),
                (0.0, 0.0),
                "{solver:?} {step}"
            );

            if deepest(&free.positions) > 0.0 {
                assert!(frame.self_contacts > 0, "{solver:?} {step}");
            } else {
                assert!(
                    frame.shape.positions == free.positions
                        && frame.shape.interior == free.interior,
                    "{solver:?} {step}"
                );
            }
        }
    }
}

#[test]
fn contact_forces_balance_the_springs_and_sum_to_zero() {
    let mut contact = watching(fingers(Solver::Tight));
    let frame = walk_to(STEPS / 2, &mut contact).pop().unwrap();
    let points = [&frame.shape.positions[..], &frame.shape.interior].concat();
    let left = contact
        .forces(&weights(STEPS / 2), &points)
        .unwrap()
        .iter()
        .map(|force| force.length())
        .fold(0.0, f64::max);

    assert!(left <= Solver::Tight.tolerance(), "{left}");
    let constraints = contact.unilateral_constraints();
    assert!(
        constraints
            .iter()
            .all(|constraint| constraint.multiplier >= 0.0),
        "nothing pulls"
    );

    let mut forces = vec![DVec3::ZERO; points.len()];
    for (constraint, (vertex, gradient)) in constraints
        .iter()
        .flat_map(|constraint| constraint.ends.iter().map(move |end| (constraint, end)))
    {
        forces[*vertex as usize] += *gradient * constraint.multiplier;
    }

    let half = crossing(1.0).vertex_count() / 2;
    let one = forces[..half].iter().sum::<DVec3>();
    let other = forces[half..].iter().sum::<DVec3>();

    assert!((one + other).length() < 1e-12, "{one} {other}");
    assert!(
        one.x < -1e-2,
        "the left finger is pushed to the left: {one}"
    );
}

#[test]
fn a_given_shape_is_returned_unchanged_although_its_path_is_obstructed() {
    let head_on = |side: f64| {
        joined(
            &finger(0.0, DVec3::new(1.3, 1.2 * side, -0.3)),
            &finger(1.3, DVec3::ZERO),
        )
    };

    let shapes = [head_on(1.0), head_on(-1.0)];
    let feet = (0..shapes[0].vertex_count())
        .filter(|&v| shapes[0].positions()[v].z < 1e-9)
        .collect();
    let blend = Blend::new(&shapes, &BlendOptions::default().with_fixed(feet)).unwrap();
    let frames = walk(&mut watching(blend));

    assert!(frames[STEPS / 2].self_contacts > 0);
    assert_eq!(frames[STEPS].shape.positions, shapes[1].positions());
}

#[test]
fn a_single_frame_does_not_start_on_the_wrong_side() {
    let mut contact = watching(fingers(Solver::Fast));
    let frame = contact.step(&[0.5, 0.5], 0.0).unwrap();
    assert!(
        frame.shape.report.converged && frame.self_contacts > 0 && frame.substeps > 1,
        "{:?}",
        frame.shape.report
    );
    assert_eq!(deepest(&frame.shape.positions), 0.0);
}

#[test]
fn penetrations_of_the_given_shapes_are_tolerated_and_counted() {
    let overlapping = joined(&finger(0.0, DVec3::ZERO), &finger(0.7, DVec3::ZERO));
    let leaning = joined(&finger(0.0, DVec3::Y * 0.3), &finger(0.7, DVec3::Y * 0.3));
    let feet: Vec<usize> = (0..overlapping.vertex_count())
        .filter(|&v| overlapping.positions()[v].z < 1e-9)
        .collect();
    let options = BlendOptions::default().with_fixed(feet);
    let shapes = [overlapping, leaning];

    let free = Blend::new(&shapes, &options)
        .unwrap()
        .at(&[0.5, 0.5])
        .unwrap();
    let mut contact = watching(Blend::new(&shapes, &options).unwrap());

    assert!(deepest(&free.positions) > 0.0);
    assert!(
        contact.warnings().len() == 1 && contact.warnings()[0].contains("in the shapes already"),
        "{:?}",
        contact.warnings()
    );

    let frame = contact.step(&[0.5, 0.5], 0.0).unwrap();
    assert_eq!(
        (frame.shape.positions, frame.self_contacts),
        (free.positions, 0)
    );
    assert!(watching(fingers(Solver::Fast)).warnings().is_empty());
}

#[test]
fn both_sides_of_a_thin_part_are_not_in_contact() {
    let plate = |turn: f64| {
        let thin = |p: &DVec3| DVec3::new(p.x, p.y, 0.02 * p.z + turn * p.x * p.x);
        let ball = pliant_mesh::shapes::icosphere(3);
        ball.posed(ball.positions().iter().map(thin).collect())
            .unwrap()
    };

    let shapes = [plate(0.0), plate(0.4)];
    let free = Blend::new(&shapes, &BlendOptions::default())
        .unwrap()
        .at(&[0.5, 0.5])
        .unwrap();
    let mut contact = watching(Blend::new(&shapes, &BlendOptions::default()).unwrap());
    let frame = contact.step(&[0.5, 0.5], 0.0).unwrap();

    assert_eq!(
        (frame.shape.positions, frame.self_contacts),
        (free.positions, 0)
    );
}

#[test]
fn another_unit_of_length_and_an_inverted_surface_give_the_same_shape() {
    let last = |scale: f64, inward: bool| {
        let shapes = [1.0, -1.0].map(|side| {
            let mesh = crossing(side);
            let triangles: Vec<[u32; 3]> = mesh
                .triangles()
                .iter()
                .map(|&[a, b, c]| if inward { [a, c, b] } else { [a, b, c] })
                .collect();

            Mesh::from_triangles(
                mesh.positions().iter().map(|&p| p * scale).collect(),
                &triangles,
            )
            .unwrap()
        });

        let feet = (0..shapes[0].vertex_count())
            .filter(|&v| shapes[0].positions()[v].z < 1e-9 * scale)
            .collect();
        let blend = Blend::new(
            &shapes,
            &BlendOptions::default()
                .with_solver(Solver::Tight)
                .with_fixed(feet),
        )
        .unwrap();

        let mut contact = watching(blend);
        walk_to(STEPS / 2, &mut contact).pop().unwrap()
    };

    let one = last(1.0, false);

    // A power of two, which loses no bits.
    for (scale, other) in [(1024.0, last(1024.0, false)), (1.0, last(1.0, true))] {
        assert_eq!(one.self_contacts, other.self_contacts);
        for (p, q) in one.shape.positions.iter().zip(&other.shape.positions) {
            assert!(p.distance(*q / scale) < 1e-4, "{p} {q}");
        }
    }
}

#[test]
fn one_thread_and_two_give_the_same_bits() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| walk(&mut watching(fingers(Solver::Fast))))
    };
    assert_eq!(run(1), run(2));
}
