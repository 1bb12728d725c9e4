use super::*;
use crate::test_solids::{bar, joined};
use pliant_mesh::shapes::{bumpy_sheet, closed_box, icosphere};

/// An obstacle and an independent inside test.
struct Told {
    obstacle: Obstacle,
    holds: Box<dyn Fn(DVec3) -> bool>,
}

fn turn() -> DQuat {
    DQuat::from_rotation_x(0.8) * DQuat::from_rotation_y(0.7)
}

/// One of each solid, none along the axes.
fn solids() -> Vec<Told> {
    let a = DVec3::new(0.3, -0.2, 0.1);
    let b = DVec3::new(1.5, 0.8, -0.4);
    let radius = 0.3;
    let height = move |p: DVec3| (p - a).dot((b - a).normalize());
    let from_axis = move |p: DVec3| (p - a).cross((b - a).normalize()).length();
    let length = a.distance(b);
    let center = DVec3::new(0.2, 0.1, -0.3);
    let half = DVec3::new(0.7, 0.3, 0.45);
    let in_box = move |p: DVec3| (turn().conjugate() * (p - center)).abs().cmple(half).all();
    let mesh = closed_box([3, 2, 2], 2.0 * half);

    let mesh = mesh
        .posed(
            mesh.positions()
                .iter()
                .map(|p| center + turn() * *p)
                .collect(),
        )
        .unwrap();

    let in_capsule = move |p: DVec3| match height(p) {
        h if h < 0.0 => p.distance(a) <= radius,
        h if h > length => p.distance(b) <= radius,
        _ => from_axis(p) <= radius,
    };
    let in_cylinder = move |p: DVec3| from_axis(p) <= radius && (0.0..=length).contains(&height(p));

    vec![
        Told {
            obstacle: Obstacle::sphere(a, 0.7).unwrap(),
            holds: Box::new(move |p| p.distance(a) <= 0.7),
        },
        Told {
            obstacle: Obstacle::capsule(a, b, radius).unwrap(),
            holds: Box::new(in_capsule),
        },
        Told {
            obstacle: Obstacle::cylinder(a, b, radius).unwrap(),
            holds: Box::new(in_cylinder),
        },
        Told {
            obstacle: Obstacle::cuboid(center, half, turn()).unwrap(),
            holds: Box::new(in_box),
        },
        Told {
            obstacle: Obstacle::mesh(&mesh).unwrap(),
            holds: Box::new(in_box),
        },
    ]
}

/// Points in and around an obstacle.
fn places(obstacle: &Obstacle, count: usize) -> Vec<DVec3> {
    let bounds = obstacle.bounds();
    grid(-0.3, 1.3, count)
        .into_iter()
        .map(|p| bounds.min + p * bounds.size())
        .collect()
}

fn grid(low: f64, high: f64, count: usize) -> Vec<DVec3> {
    let at = |k: usize| low + (high - low) * (k as f64 + 0.37) / count as f64;
    (0..count.pow(3))
        .map(|k| DVec3::new(at(k % count), at(k / count % count), at(k / count / count)))
        .collect()
}

/// Every contact's point lies on the surface, straight above the vertex, and moving there leaves no
/// depth.
fn assert_consistent(obstacle: &Obstacle, tolerance: f64) {
    let positions = places(obstacle, 12);
    let contacts = obstacle.contacts(&positions, f64::MAX.sqrt());
    assert_eq!(contacts.len(), positions.len());
    assert!(contacts.iter().any(|c| c.depth > 0.0) && contacts.iter().any(|c| c.depth < 0.0));

    for contact in contacts {
        let position = positions[contact.vertex.index()];
        assert!((contact.normal.length() - 1.0).abs() < 1e-9);
        assert!((position + contact.normal * contact.depth).distance(contact.point) < tolerance);
        let there = obstacle.contacts(&[contact.point], 1.0);
        assert!(there[0].depth.abs() < tolerance, "{} left", there[0].depth);
    }
}

#[test]
fn the_thickness_of_a_plate_does_not_depend_on_its_rotation() {
    let bar = bar(2);
    for turn in [DQuat::IDENTITY, turn()] {
        let points = bar
            .positions()
            .iter()
            .map(|p| turn * (*p * DVec3::new(1.0, 3.0, 0.1)))
            .collect();
        let plate = Obstacle::mesh(&bar.posed(points).unwrap()).unwrap();

        assert!(
            (plate.thickness() - 0.1).abs() < 1e-12,
            "{}",
            plate.thickness()
        );

        assert_eq!(
            Obstacle::cuboid(DVec3::ZERO, DVec3::new(2.0, 1.5, 0.05), turn)
                .unwrap()
                .thickness(),
            0.1
        );
    }
}

#[test]
fn moving_a_vertex_along_its_normal_by_its_depth_brings_it_to_the_surface() {
    for solid in solids() {
        assert_consistent(&solid.obstacle, 1e-9);
    }
    assert_consistent(&Obstacle::mesh(&icosphere(3)).unwrap(), 1e-9);
    assert_consistent(&Obstacle::mesh(&bar(3)).unwrap(), 1e-9);
}

#[test]
fn a_box_has_the_depth_of_its_closed_form() {
    let obstacle = Obstacle::mesh(&bar(4)).unwrap();
    let positions: Vec<DVec3> = grid(-0.45, 0.45, 8)
        .into_iter()
        .map(|p| p + DVec3::X * 2.0)
        .collect();

    for contact in obstacle.contacts(&positions, 0.0) {
        let p = positions[contact.vertex.index()];
        let expected = 0.5 - p.y.abs().max(p.z.abs());
        assert!((contact.depth - expected).abs() < 1e-12);
    }
}

#[test]
fn a_mesh_of_a_ball_agrees_with_the_ball() {
    let mesh = Obstacle::mesh(&icosphere(5)).unwrap();
    let ball = Obstacle::sphere(DVec3::ZERO, 1.0).unwrap();
    let positions: Vec<DVec3> = grid(-1.1, 1.1, 10);
    let found = mesh.contacts(&positions, 0.05);
    let expected = ball.contacts(&positions, 0.05);

    let vertices = |contacts: &[Contact]| {
        contacts
            .iter()
            .filter(|c| c.depth.abs() < 0.04)
            .map(|c| c.vertex)
            .collect::<Vec<_>>()
    };

    assert_eq!(vertices(&found), vertices(&expected));
    for (a, b) in found.iter().zip(&expected).filter(|(_, b)| b.depth < 0.8) {
        assert!((a.depth - b.depth).abs() < 1e-3 && a.normal.dot(b.normal) > 0.99);
    }
}

#[test]
fn a_mesh_that_faces_inward_is_the_same_obstacle() {
    let sphere = icosphere(2);
    let turned: Vec<[u32; 3]> = sphere
        .triangles()
        .iter()
        .map(|&[a, b, c]| [a, c, b])
        .collect();

    let turned = Mesh::from_triangles(sphere.positions().to_vec(), &turned).unwrap();
    let positions = grid(-0.9, 0.9, 6);
    let contacts = |mesh: &Mesh| Obstacle::mesh(mesh).unwrap().contacts(&positions, 0.1);
    let outward = contacts(&sphere);
    let inward = contacts(&turned);

    assert_eq!(outward.len(), inward.len());
    for (a, b) in outward.iter().zip(&inward) {
        assert!(a.vertex == b.vertex && (a.depth - b.depth).abs() < 1e-12);
    }
}

#[test]
fn a_moved_obstacle_has_the_same_contacts_with_moved_vertices() {
    let obstacle = Obstacle::mesh(&bar(2)).unwrap();
    let motion = RigidMotion {
        rotation: DQuat::from_rotation_y(1.1),
        translation: DVec3::new(3.0, -1.0, 0.5),
    };
    let positions: Vec<DVec3> = grid(-1.0, 1.0, 6);
    let moved: Vec<DVec3> = positions.iter().map(|&p| motion.apply(p)).collect();

    let still = obstacle.contacts(&positions, 0.2);
    let carried = obstacle.contacts_at(&motion, &moved, 0.2);

    assert_eq!(still.len(), carried.len());
    for (a, b) in still.iter().zip(&carried) {
        // Points between two faces may choose either; how deep they are does not change.
        assert!(a.vertex == b.vertex && (a.depth - b.depth).abs() < 1e-9);
        assert!(
            motion
                .inverse()
                .apply(b.point)
                .distance(positions[b.vertex.index()])
                < a.depth.abs() + 1e-9
        );
    }
}

#[test]
fn an_open_mesh_is_rejected_and_the_hole_is_named() {
    let error = Obstacle::mesh(&bumpy_sheet(3, 0.1)).unwrap_err();
    assert!(
        matches!(
            error,
            PhysicsError::OpenObstacle {
                holes: 1,
                edges: 12,
                ..
            }
        ),
        "{error}"
    );

    for radius in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Obstacle::sphere(DVec3::ZERO, radius).is_err());
    }

    assert!(Obstacle::cylinder(DVec3::ONE, DVec3::ONE, 1.0).is_err());
    assert!(Obstacle::sphere(DVec3::NAN, 1.0).is_err());
    for half in [
        DVec3::new(1.0, 0.0, 1.0),
        DVec3::new(1.0, 1.0, -1.0),
        DVec3::new(1.0, f64::INFINITY, 1.0),
        DVec3::NAN,
    ] {
        assert!(Obstacle::cuboid(DVec3::ZERO, half, DQuat::IDENTITY).is_err());
    }

    assert!(
        Obstacle::cuboid(
            DVec3::ZERO,
            DVec3::ONE,
            DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0)
        )
        .is_err()
    );
}

#[test]
fn positions_that_are_not_finite_have_no_contact() {
    let obstacle = Obstacle::sphere(DVec3::ZERO, 1.0).unwrap();
    assert!(
        obstacle
            .contacts(&[DVec3::NAN, DVec3::INFINITY], 1.0)
            .is_empty()
    );
}

#[test]
fn the_centre_of_a_solid_has_a_nearest_surface_point() {
    for obstacle in [
        Obstacle::sphere(DVec3::ZERO, 1.0),
        Obstacle::capsule(-DVec3::X, DVec3::X, 1.0),
        Obstacle::capsule(DVec3::ZERO, DVec3::ZERO, 1.0),
        Obstacle::cylinder(-DVec3::X * 2.0, DVec3::X * 2.0, 1.0),
        Obstacle::cuboid(DVec3::ZERO, DVec3::ONE, turn()),
    ] {
        let contact = obstacle.unwrap().contacts(&[DVec3::ZERO], 0.0)[0];
        assert!(
            (contact.depth - 1.0).abs() < 1e-12 && (contact.point.length() - 1.0).abs() < 1e-12
        );
    }
}

#[test]
fn a_ball_with_the_distance_as_radius_just_touches_the_surface() {
    let directions = icosphere(2).positions().to_vec();
    for Told { obstacle, holds } in solids() {
        for place in places(&obstacle, 8) {
            let nearest = obstacle.nearest(place, f64::MAX.sqrt()).unwrap();
            assert_eq!(holds(place), nearest.depth > 0.0);

            let within = |share: f64, direction: DVec3| {
                holds(place + direction * (share * nearest.depth.abs()))
            };
            assert!(
                directions
                    .iter()
                    .all(|&direction| within(1.0 - 1e-9, direction) == holds(place)),
                "{place}"
            );

            let out = nearest.normal * nearest.depth.signum();
            assert_ne!(within(1.0 + 1e-6, out), holds(place), "{place}");
        }
    }
}

#[test]
fn the_normal_is_the_gradient_of_the_distance() {
    let step = 1e-6;
    for Told { obstacle, .. } in solids() {
        let depth = |p: DVec3| obstacle.nearest(p, f64::MAX.sqrt()).unwrap().depth;
        let mut checked = 0;
        for place in places(&obstacle, 7) {
            let normal = obstacle.nearest(place, f64::MAX.sqrt()).unwrap().normal;
            let change = |offset: f64| {
                DVec3::from(
                    DVec3::AXES.map(|axis| (depth(place) - depth(place + axis * offset)) / offset),
                )
            };

            // Between two nearest points the gradient is undefined.
            if change(step).distance(change(-step)) < 1e-4 {
                assert!(
                    change(step).distance(normal) < 1e-4,
                    "{place}: {} {normal}",
                    change(step)
                );
                checked += 1;
            }
        }

        assert!(checked > 300, "{checked}");
    }
}

#[test]
fn a_segment_enters_where_dense_samples_of_it_do() {
    const SAMPLES: usize = 2000;
    for Told { obstacle, holds } in solids() {
        let places = places(&obstacle, 6);
        let mut entered = 0;
        for (k, &from) in places.iter().enumerate() {
            let to = places[(k * 89 + 41) % places.len()];
            let sample = |n: usize| from.lerp(to, n as f64 / SAMPLES as f64);
            let found = obstacle.entry(from, to);
            if holds(from) {
                assert_eq!(found, None);
                continue;
            }

            let first = (0..=SAMPLES).find(|&n| holds(sample(n)));
            if let Some(n) = first {
                let (point, normal) = found.expect("a sample is inside");
                let time = (point - from).dot(to - from) / (to - from).length_squared();
                assert!(
                    time > (n as f64 - 1.0001) / SAMPLES as f64
                        && time < (n as f64 + 1e-4) / SAMPLES as f64
                );

                assert!(normal.is_normalized() && normal.dot(to - from) < 0.0);
                assert!(obstacle.nearest(point, 1.0).unwrap().depth.abs() < 1e-9);
                entered += 1;
            } else if let Some((point, _)) = found {
                // Between two samples it may cut a corner.
                assert!(obstacle.nearest(point, 1.0).unwrap().depth.abs() < 1e-9);
                assert!(sample(0).distance(point) < from.distance(to));
            }
        }

        assert!(entered > 20, "{entered}");
    }
}

#[test]
fn a_segment_does_not_pass_plates_thinner_than_a_step() {
    let half = DVec3::new(1.0, 1.0, 1e-7);
    let mesh = closed_box([8, 8, 1], 2.0 * half);
    for plate in [
        Obstacle::cuboid(DVec3::ZERO, half, DQuat::IDENTITY).unwrap(),
        Obstacle::mesh(&mesh).unwrap(),
    ] {
        for place in grid(-0.9, 0.9, 5) {
            let from = DVec3::new(place.x, place.y, 5.0);
            let to = DVec3::new(place.y, place.z, -7.0);
            let (point, normal) = plate.entry(from, to).unwrap();

            assert!(
                (point.z - 1e-7).abs() < 1e-12 && normal == DVec3::Z,
                "{point} {normal}"
            );
            assert_eq!(plate.entry(to, from).unwrap().1, -DVec3::Z);
            assert_eq!(plate.entry(from, DVec3::new(to.x, to.y, 2e-7)), None);

            // One that rests on it and is pushed through goes in where it rests.
            let (point, normal) = plate.entry(DVec3::new(place.x, place.y, 1e-7), to).unwrap();
            assert!(
                point.distance(DVec3::new(place.x, place.y, 1e-7)) < 1e-8 && normal == DVec3::Z
            );
            assert_eq!(plate.entry(DVec3::new(place.x, place.y, 1e-7), from), None);
        }

        assert_eq!(plate.entry(DVec3::NAN, DVec3::ZERO), None);
        assert_eq!(plate.entry(DVec3::Z, DVec3::Z), None);
    }
}

#[test]
fn a_box_is_the_mesh_of_that_box() {
    let center = DVec3::new(1.0, -2.0, 0.5);
    let half = DVec3::new(0.7, 0.3, 0.45);
    let mesh = closed_box([4, 3, 2], 2.0 * half);
    let mesh = mesh
        .posed(
            mesh.positions()
                .iter()
                .map(|p| center + turn() * *p)
                .collect(),
        )
        .unwrap();

    let mesh = Obstacle::mesh(&mesh).unwrap();
    let cuboid = Obstacle::cuboid(center, half, turn() * 3.0).unwrap();

    assert!(
        mesh.bounds().min.distance(cuboid.bounds().min) < 1e-12
            && mesh.bounds().max.distance(cuboid.bounds().max) < 1e-12
    );

    let places = places(&cuboid, 9);
    for (k, &place) in places.iter().enumerate() {
        let a = mesh.nearest(place, 9.0).unwrap();
        let b = cuboid.nearest(place, 9.0).unwrap();

        assert!((a.depth - b.depth).abs() < 1e-12, "{place}");
        assert!(
            b.depth > 0.0 || a.normal.distance(b.normal) < 1e-9,
            "{place}"
        );

        let to = places[(k * 89 + 41) % places.len()];
        let a = mesh.entry(place, to);
        let b = cuboid.entry(place, to);
        assert_eq!(a.is_some(), b.is_some(), "{place} {to}");

        let Some(((p, m), (q, n))) = a.zip(b) else {
            continue;
        };

        assert!(
            p.distance(q) < 1e-9 && m.distance(n) < 1e-9,
            "{p} {q} {m} {n}"
        );
    }
}

#[test]
fn two_balls_in_one_mesh_are_inside_wherever_one_of_them_is() {
    let ball = icosphere(3);
    let other = ball
        .posed(ball.positions().iter().map(|p| *p + DVec3::X).collect())
        .unwrap();
    let both = Obstacle::mesh(&joined(&ball, &other)).unwrap();

    for place in grid(-1.4, 2.4, 12) {
        let one = place.length();
        let another = place.distance(DVec3::X);

        // The faces lie up to 0.03 below the balls.
        if (one - 1.0).abs() > 0.03 && (another - 1.0).abs() > 0.03 {
            assert_eq!(
                both.nearest(place, 9.0).unwrap().depth > 0.0,
                one.min(another) < 1.0,
                "{place}"
            );
        }
    }
}
