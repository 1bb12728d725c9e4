use super::*;
use crate::Obstacle;
use crate::touch::projection::connections::Connections;
use crate::touch::soft_material::SheetConstants;
use crate::touch::verlet::VerletOptions;
use pliant_mesh::VertexId;
use pliant_mesh::glam::DQuat;
use pliant_mesh::shapes::{bumpy_sheet, flat_sheet, icosphere};

const SECS: f64 = 1.0 / 60.0;
const PATCH: SoftPatch = SoftPatch {
    center: VertexId::new(7),
    radius: 0.6,
};

impl Touch {
    fn body(&self) -> &SoftBody {
        match &self.dynamics {
            Dynamics::Xpbd(body) => body,
            Dynamics::Verlet(_) => panic!("no body in blocks"),
        }
    }
}

fn still(colliders: &[RigidMotion]) -> TouchFrame<'_> {
    TouchFrame {
        shape: None,
        colliders,
        pulls: &[],
        secs: SECS,
    }
}

fn to(translation: DVec3) -> RigidMotion {
    RigidMotion {
        translation,
        ..RigidMotion::IDENTITY
    }
}

/// A ball of radius one with a soft patch, and a small ball in front of its middle.
fn pressed_ball(scale: f64, options: &TouchOptions) -> (Touch, DVec3) {
    let ball = icosphere(4);
    let ball = ball
        .posed(ball.positions().iter().map(|p| *p * scale).collect())
        .unwrap();
    let mut touch = Touch::new(
        &ball,
        &[SoftPatch {
            radius: PATCH.radius * scale,
            ..PATCH
        }],
        options,
    )
    .unwrap();

    let out = ball.positions()[PATCH.center.index()];
    touch
        .add_collider(
            Collider::new(Obstacle::sphere(out * 1.4, 0.2 * scale).unwrap(), 0.0).unwrap(),
        )
        .unwrap();

    (touch, out)
}

fn shares(frames: usize) -> impl Iterator<Item = f64> {
    (0..frames).map(move |k| 1.0 - (2.0 * k as f64 / (frames - 1) as f64 - 1.0).abs())
}

fn press(
    scale: f64,
    frames: usize,
    depth: f64,
    options: &TouchOptions,
) -> Vec<(Vec<DVec3>, TouchReport)> {
    let (mut touch, out) = pressed_ball(scale, options);
    let mut clip = Vec::new();
    for share in shares(frames) {
        let report = touch
            .step(&still(&[to(-out * ((0.2 + depth) * share))]))
            .unwrap();
        clip.push((touch.positions().to_vec(), report));
    }

    clip
}

#[test]
fn a_pressed_ball_yields_and_nothing_outside_the_patch_moves_by_a_bit() {
    let ball = icosphere(4);
    let frames = press(1.0, 61, 0.15, &TouchOptions::default());
    let region = SoftRegion::select(&ball, &[PATCH]).unwrap();

    for (positions, report) in &frames {
        assert!(report.max_penetration < 1e-12, "{}", report.max_penetration);
        for (v, (now, rest)) in positions.iter().zip(ball.positions()).enumerate() {
            assert!(now == rest || region.vertices().binary_search(&(v as u32)).is_ok());
        }
    }

    assert_eq!(frames[0].0, ball.positions());
    assert!(
        frames[30].1.max_displacement > 0.14 && frames[30].1.max_displacement < 0.3,
        "{:?}",
        frames[30].1
    );
}

#[test]
fn five_seconds_after_release_the_surface_is_back() {
    let (mut touch, out) = pressed_ball(1.0, &TouchOptions::default());
    for share in [0.0, 0.5, 1.0] {
        touch.step(&still(&[to(-out * (0.4 * share))])).unwrap();
    }

    let mut last = 0.0;
    for _ in 0..300 {
        last = touch
            .step(&still(&[RigidMotion::IDENTITY]))
            .unwrap()
            .max_displacement;
    }

    assert!(last < 1e-4 * icosphere(4).mean_edge_length(), "{last}");
}

#[test]
fn a_scene_of_another_size_is_the_same_scene() {
    let small = press(1.0, 21, 0.15, &TouchOptions::default());
    let large = press(128.0, 21, 0.15, &TouchOptions::default());
    for (a, b) in small.iter().zip(&large) {
        let scaled: Vec<DVec3> = a.0.iter().map(|p| *p * 128.0).collect();
        assert_eq!(scaled, b.0);
    }
}

/// A ball that turns, moves and swells.
fn animated(ball: &Mesh, time: f64) -> Vec<DVec3> {
    let turn = DQuat::from_rotation_y(2.0 * time);
    let swell = |p: DVec3| p * (1.0 + 0.2 * (3.0 * time + 2.0 * p.y).sin());
    ball.positions()
        .iter()
        .map(|p| turn * swell(*p) + DVec3::new(time, time * time, 0.0))
        .collect()
}

#[test]
fn without_contact_the_result_is_the_animation_to_the_bit() {
    let (mut touch, _) = pressed_ball(1.0, &TouchOptions::default());
    let ball = icosphere(4);
    for frame in 0..20 {
        let shape = animated(&ball, f64::from(frame) * SECS);
        touch
            .step(&TouchFrame {
                shape: Some(&shape),
                ..still(&[to(DVec3::X * 50.0)])
            })
            .unwrap();
        assert_eq!(touch.positions(), shape);
    }
}

#[test]
fn an_animated_surface_yields_to_a_resting_ball() {
    let (mut touch, out) = pressed_ball(1.0, &TouchOptions::default());
    let ball = icosphere(4);
    for frame in 0..30 {
        let ahead: Vec<DVec3> = ball
            .positions()
            .iter()
            .map(|p| *p + out * (0.35 * f64::from(frame) / 29.0))
            .collect();

        let report = touch
            .step(&TouchFrame {
                shape: Some(&ahead),
                ..still(&[RigidMotion::IDENTITY])
            })
            .unwrap();

        assert!(report.max_penetration < 1e-12);
        if frame == 29 {
            assert!(report.max_displacement > 0.1);
        }
    }
}

#[test]
fn a_collider_that_crosses_the_patch_in_one_frame_leaves_no_vertex_inside() {
    for toward in [DVec3::new(0.0, 0.0, -0.55), DVec3::new(1.0, 0.0, 0.0)] {
        let sheet = bumpy_sheet(24, 0.0);
        let center = 12 * 25 + 12;
        let mut touch = Touch::new(
            &sheet,
            &[SoftPatch {
                center: center.into(),
                radius: 0.4,
            }],
            &TouchOptions::default(),
        )
        .unwrap();

        let start = if toward.x > 0.0 {
            DVec3::new(-0.5, 0.5, 0.1)
        } else {
            DVec3::new(0.5, 0.5, 0.6)
        };
        let start = start + DVec3::Z * sheet.positions()[center].z;

        touch
            .add_collider(Collider::new(Obstacle::sphere(start, 0.15).unwrap(), 0.0).unwrap())
            .unwrap();
        touch.step(&still(&[RigidMotion::IDENTITY])).unwrap();

        let report = touch.step(&still(&[to(toward)])).unwrap();
        assert!(
            report.max_penetration < 0.01 * sheet.mean_edge_length(),
            "{report:?}"
        );

        // A quarter of the ball's thickness in a substep, or the substeps asked for.
        let expected = (toward.length() / (0.25 * 0.3)).ceil() as usize;
        assert!(
            report.contacts > 0 && report.substeps == expected.max(SoftMaterial::MIN_SUBSTEPS),
            "{report:?}"
        );
    }
}

#[test]
fn every_kind_of_solid_presses_and_leaves_no_vertex_inside() {
    let out = icosphere(4).positions()[PATCH.center.index()];
    let at = out * 1.4;
    let mesh = icosphere(2);
    let mesh = mesh
        .posed(mesh.positions().iter().map(|p| *p * 0.2 + at).collect())
        .unwrap();

    let across = out.any_orthonormal_vector();
    let solids = [
        Obstacle::sphere(at, 0.2),
        Obstacle::capsule(at - across * 0.2, at + across * 0.2, 0.15),
        Obstacle::cylinder(at - across * 0.2, at + across * 0.2, 0.15),
        Obstacle::cuboid(at, DVec3::splat(0.14), DQuat::from_rotation_x(0.4)),
        Obstacle::mesh(&mesh),
    ];

    for solid in solids {
        let mut touch = Touch::new(&icosphere(4), &[PATCH], &TouchOptions::default()).unwrap();
        touch
            .add_collider(Collider::new(solid.unwrap(), 0.3).unwrap())
            .unwrap();

        let mut largest = 0.0_f64;
        for share in shares(31) {
            let report = touch.step(&still(&[to(-out * (0.4 * share))])).unwrap();
            assert!(report.max_penetration < 1e-9, "{report:?}");
            largest = largest.max(report.max_displacement);
        }

        assert!(largest > 0.1, "{largest}");
    }
}

#[test]
fn one_thread_and_two_give_the_same_bits() {
    let sheet = bumpy_sheet(60, 0.1);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            let mut touch = Touch::new(
                &sheet,
                &[SoftPatch {
                    center: 1860.into(),
                    radius: 0.48,
                }],
                &TouchOptions::default(),
            )
            .unwrap();

            assert!(touch.body().block_count() > 2);
            let top = sheet.positions()[1860];
            touch
                .add_collider(
                    Collider::new(Obstacle::sphere(top + DVec3::Z * 0.2, 0.15).unwrap(), 0.2)
                        .unwrap(),
                )
                .unwrap();

            for share in shares(12) {
                touch
                    .step(&still(&[to(DVec3::new(0.1, 0.0, -0.25) * share)]))
                    .unwrap();
            }

            touch.positions().to_vec()
        })
    };

    let one = run(1);
    assert_eq!(one, run(2));
    assert!(one != sheet.positions());
}

#[test]
fn several_patches_are_independent() {
    let ball = icosphere(4);
    let other = SoftPatch {
        center: 0.into(),
        radius: 0.2,
    };

    assert!(ball.positions()[0].distance(ball.positions()[7]) > 1.0);
    let options = TouchOptions::default().with_gravity(DVec3::new(0.0, -3.0, 0.0));
    let run = |patches: &[SoftPatch]| {
        let mut touch = Touch::new(&ball, patches, &options).unwrap();
        for _ in 0..10 {
            assert!(touch.step(&still(&[])).is_ok());
        }
        touch
    };

    let both = run(&[PATCH, other]);
    let first = run(&[PATCH]);
    assert!(both.region().vertices().len() > first.region().vertices().len());
    // The pressure of all patches is one solve, so that sums are rounded in another order.
    for &v in first.region().vertices() {
        let apart = both.positions()[v as usize] - first.positions()[v as usize];
        assert!(apart.length() < 1e-13, "{apart}");
    }
}

/// A sheet that nothing holds.
fn free_sheet(material: SoftMaterial, options: TouchOptions) -> Touch {
    let sheet = bumpy_sheet(8, 0.1);
    Touch::new(
        &sheet,
        &[SoftPatch {
            center: 40.into(),
            radius: 100.0,
        }],
        &options.with_material(material),
    )
    .unwrap()
}

#[test]
fn free_fall_is_that_of_the_closed_form() {
    let bed_less = SoftMaterial {
        frequency_hz: 1e-12,
        damping_ratio: 0.0,
        ..SoftMaterial::default()
    };

    let gravity = DVec3::new(0.3, -9.81, 0.0);
    let substeps = SoftMaterial::MIN_SUBSTEPS as f64;
    let mut touch = free_sheet(bed_less, TouchOptions::default().with_gravity(gravity));
    let rest = touch.positions().to_vec();

    for frame in 1..=30 {
        touch.step(&still(&[])).unwrap();

        // Velocities before positions: after n substeps of h, g h² n (n + 1) / 2.
        let n = f64::from(frame) * substeps;
        let fallen = gravity * ((SECS / substeps).powi(2) * n * (n + 1.0) / 2.0);

        assert!(
            touch
                .positions()
                .iter()
                .zip(&rest)
                .all(|(now, rest)| (*now - *rest).distance(fallen) < 1e-9)
        );
    }
}

#[test]
fn an_accelerated_patch_lags_by_the_compliance_of_its_foundation() {
    let options = TouchOptions::default().with_inertia(1.0);
    let mut touch = free_sheet(
        SoftMaterial {
            damping_ratio: 1.0,
            volume: 0.0,
            ..SoftMaterial::default()
        },
        options,
    );

    let rest = touch.positions().to_vec();
    let acceleration = DVec3::new(2.0, 0.0, 1.0);
    let omega = std::f64::consts::TAU * SoftMaterial::default().frequency_hz;

    for frame in 1..=120 {
        let time = f64::from(frame) * SECS;
        let ahead: Vec<DVec3> = rest
            .iter()
            .map(|p| *p + acceleration * (0.5 * time * time))
            .collect();

        touch
            .step(&TouchFrame {
                shape: Some(&ahead),
                ..still(&[])
            })
            .unwrap();

        if frame == 120 {
            // The middle is fully soft; the sheet moves as a whole there.
            let lag = touch.positions()[40] - ahead[40];
            assert!(
                lag.distance(-acceleration / (omega * omega)) < 0.02 * lag.length(),
                "{lag}"
            );
        }
    }
}

#[test]
fn pulls_hold_their_vertex_in_place_and_pins_theirs() {
    let ball = icosphere(4);
    let pin = SoftRegion::select(&ball, &[PATCH]).unwrap().vertices()[9] as usize;
    let mut touch = Touch::new(
        &ball,
        &[PATCH],
        &TouchOptions::default().with_pins(vec![pin]),
    )
    .unwrap();

    let place = ball.positions()[PATCH.center.index()] * 1.2;
    for _ in 0..10 {
        touch
            .step(&TouchFrame {
                pulls: &[(PATCH.center.index(), place)],
                ..still(&[])
            })
            .unwrap();
        assert_eq!(touch.positions()[PATCH.center.index()], place);
        assert_eq!(touch.positions()[pin], ball.positions()[pin]);
    }

    let neighbors = ball.topology().vertex_neighbors().row(PATCH.center.index());
    let drawn = |v: &u32| touch.positions()[*v as usize].distance(ball.positions()[*v as usize]);
    assert!(
        neighbors.iter().all(|v| drawn(v) > 0.1),
        "a pull is no needle"
    );

    for _ in 0..300 {
        touch.step(&still(&[])).unwrap();
    }

    assert!(
        touch.positions()[PATCH.center.index()].distance(ball.positions()[PATCH.center.index()])
            < 1e-6
    );
}

#[test]
fn friction_drags_skin() {
    let slid = |friction: f64| {
        let ball = icosphere(4);
        let mut touch = Touch::new(&ball, &[PATCH], &TouchOptions::default()).unwrap();
        let out = ball.positions()[PATCH.center.index()];
        let across = out.any_orthonormal_vector();

        touch
            .add_collider(
                Collider::new(Obstacle::sphere(out * 1.15, 0.2).unwrap(), friction).unwrap(),
            )
            .unwrap();

        for frame in 0..9 {
            touch
                .step(&still(&[to(across * (0.01 * f64::from(frame)))]))
                .unwrap();
        }

        (touch.positions()[PATCH.center.index()] - ball.positions()[PATCH.center.index()])
            .dot(across)
    };
    assert!(slid(1.0) > slid(0.0) + 0.01, "{} {}", slid(1.0), slid(0.0));
}

/// The volume between two shapes of one mesh, positive where the second is outside.
fn volume_between(mesh: &Mesh, rest: &[DVec3], now: &[DVec3]) -> f64 {
    let volume = |shape: &[DVec3]| mesh.posed(shape.to_vec()).unwrap().signed_volume();
    volume(now) - volume(rest)
}

#[test]
fn a_dent_keeps_most_of_the_volume_that_it_displaces() {
    let lost = |volume: f64| {
        let material = SoftMaterial {
            volume,
            ..SoftMaterial::default()
        };
        let options = TouchOptions::default().with_material(material);
        let clip = press(1.0, 61, 0.15, &options);
        let ball = icosphere(4);
        -volume_between(&ball, ball.positions(), &clip[30].0)
    };

    let depth = 0.15;
    let cap = std::f64::consts::PI * depth * depth * (3.0 * 0.2 - depth) / 3.0;
    let kept = lost(SoftMaterial::default().volume) / cap;
    assert!(
        kept.abs() < 0.25 && lost(0.0) > 0.5 * cap,
        "{kept} {}",
        lost(0.0) / cap
    );
}

/// A coarse sheet of soft skin in the plane z = 0, and the centre of one of its triangles.
fn coarse_sheet() -> (Mesh, DVec3, Touch) {
    let sheet = flat_sheet(10, 0.0);
    let touch = Touch::new(
        &sheet,
        &[SoftPatch {
            center: 60.into(),
            radius: 0.45,
        }],
        &TouchOptions::default(),
    )
    .unwrap();
    let around = sheet.topology().vertex_triangles().row(60)[0];
    let center = sheet.triangle_points(around as usize).iter().sum::<DVec3>() / 3.0;
    (sheet, center, touch)
}

#[test]
fn solids_that_fit_between_vertices_press_faces_and_do_not_pass() {
    let edge = 0.1;
    let (_, center, _) = coarse_sheet();
    let ball = Obstacle::sphere(center + DVec3::Z * 0.2, 0.3 * edge).unwrap();
    let needle = Obstacle::capsule(
        center + DVec3::Z * 0.2,
        center + DVec3::Z * 2.0,
        0.08 * edge,
    )
    .unwrap();
    let spike = {
        let mesh = icosphere(1);
        let thin = |p: &DVec3| center + DVec3::Z * 0.3 + *p * DVec3::new(0.01, 0.01, 0.08);
        Obstacle::mesh(
            &mesh
                .posed(mesh.positions().iter().map(thin).collect())
                .unwrap(),
        )
        .unwrap()
    };

    for (name, solid) in [("ball", ball), ("needle", needle), ("spike", spike)] {
        let (sheet, _, mut touch) = coarse_sheet();
        touch
            .add_collider(Collider::new(solid, 0.0).unwrap())
            .unwrap();
        let mut deepest: f64 = 0.0;
        let mut lowest: f64 = 0.0;
        for share in shares(41) {
            let report = touch.step(&still(&[to(DVec3::Z * -0.3 * share)])).unwrap();
            deepest = deepest.max(report.max_face_penetration);
            lowest = touch.positions().iter().map(|p| p.z).fold(lowest, f64::min);
        }

        assert!(deepest < 0.01 * edge, "{name}: {deepest}");
        assert!(lowest < -0.05, "{name}: the sheet yields by {lowest}");
        assert_eq!(sheet.vertex_count(), touch.positions().len());
    }
}

#[test]
fn two_overlapping_balls_leave_nothing_inside() {
    let (_, _, mut touch) = coarse_sheet();
    for x in [-0.06, 0.06] {
        let center = DVec3::new(0.5 + x, 0.5, 0.15);
        let ball = Obstacle::sphere(center, 0.1).unwrap();
        touch
            .add_collider(Collider::new(ball, 0.0).unwrap())
            .unwrap();
    }
    for share in shares(31) {
        let motion = to(DVec3::Z * -0.15 * share);
        let report = touch.step(&still(&[motion, motion])).unwrap();
        assert!(
            report.max_penetration < 1e-3 && report.max_face_penetration < 1e-3,
            "{} {}",
            report.max_penetration,
            report.max_face_penetration
        );
    }
}

#[test]
fn a_strain_limit_holds_where_nothing_forbids_it() {
    for limit in [0.02, 0.1] {
        let material = SoftMaterial {
            strain_limit: limit,
            ..SoftMaterial::default()
        };
        let options = TouchOptions::default()
            .with_material(material)
            .with_gravity(DVec3::new(400.0, 0.0, -300.0));
        let (mut touch, _) = pressed_ball(1.0, &options);
        for _ in 0..40 {
            let report = touch.step(&still(&[RigidMotion::IDENTITY])).unwrap();
            assert!(
                report.max_strain < 1.02 * limit,
                "{} for {limit}",
                report.max_strain
            );
        }
    }
}

#[test]
fn without_damping_an_oscillation_of_the_foundation_keeps_its_amplitude() {
    let material = SoftMaterial {
        damping_ratio: 0.0,
        spread: 0.0,
        roundness: 0.0,
        shear: 0.0,
        volume: 0.0,
        ..SoftMaterial::default()
    };
    let gravity = DVec3::Z * -1.0;
    let options = TouchOptions::default().with_gravity(gravity);
    let mut touch = free_sheet(material, options);
    let node = touch.region().node_of(40).unwrap();
    let rest = touch.positions()[40];
    assert!((touch.region().softness()[node] - 1.0).abs() < 1e-12);

    // Around the sag under gravity, in the first and in the last second of ten.
    let sag = 1.0 / (std::f64::consts::TAU * 5.0).powi(2);
    let mut amplitude = [0.0_f64; 10];
    for frame in 0..600 {
        touch.step(&still(&[])).unwrap();
        let off = (touch.positions()[40] - rest).z + sag;
        amplitude[frame / 60] = amplitude[frame / 60].max(off.abs());
    }
    assert!(
        (amplitude[9] / amplitude[0] - 1.0).abs() < 0.02 && amplitude[0] > 0.9 * sag,
        "{amplitude:?} around {sag}"
    );
}

#[test]
fn the_method_of_cetinaslan2016_stays_finite_in_three_frames_with_strong_damping() {
    for damping in [0.0, 0.5, 0.95, 1.0] {
        let verlet = VerletOptions::default()
            .with_damping(damping)
            .with_iterations(10);
        let options = TouchOptions::default().with_method(TouchMethod::Verlet(verlet));
        for (positions, _) in press(1.0, 3, 0.4, &options) {
            assert!(positions.iter().all(|p| p.is_finite() && p.length() < 20.0));
        }
    }
}

#[test]
fn tissue_that_keeps_its_volume_bulges_around_the_finger() {
    let bulge = |volume: f64| {
        let material = SoftMaterial {
            volume,
            ..SoftMaterial::default()
        };

        let clip = press(
            1.0,
            61,
            0.15,
            &TouchOptions::default().with_material(material),
        );

        clip[30].0.iter().map(|p| p.length()).fold(0.0, f64::max) - 1.0
    };
    assert!(
        bulge(8.0) > bulge(0.0) + 1e-3,
        "{} {}",
        bulge(8.0),
        bulge(0.0)
    );
}

/// A chain of springs that hangs from a held node, each of length 1; springs of mass 1 per node.
fn chain(springs: usize, constant: f64, steps: TimeSteps, seconds: f64) -> Vec<f64> {
    let count = springs + 1;
    let edge = |k: u32| {
        if k == 0 {
            [springs as u32, 0]
        } else {
            [k - 1, k]
        }
    };

    let connections = Connections {
        edges: (0..springs as u32).map(edge).collect(),
        edge_areas: vec![1.0; springs],
        ..Connections::default()
    };

    let mesh = SoftMesh {
        vertices: (0..count as u32).collect(),
        soft_count: springs,
        connections,
    };

    let rest: Vec<DVec3> = (1..=springs)
        .map(|k| DVec3::Y * -(k as f64))
        .chain([DVec3::ZERO])
        .collect();

    let constants = SheetConstants {
        foundation: 1e-12,
        stretch: constant,
        damping_rate: 4.0,
        strain_limit: 100.0,
        ..SheetConstants::default()
    };

    let mut inverse_masses = vec![1.0; count];
    inverse_masses[springs] = 0.0;
    let nodes = SoftNodes {
        rest: &rest,
        constants: &vec![constants; count],
        masses: &vec![1.0; count],
        inverse_masses: &inverse_masses,
        softness: &vec![1.0; springs],
    };

    let mut body = SoftBody::new(&mesh, &nodes);
    body.set_accelerations(&vec![DVec3::Y * -10.0; springs]);
    let frames = (seconds / (steps.substep_secs * steps.substeps as f64)).round() as usize;
    for _ in 0..frames {
        body.advance(steps, |_, _| {}, |_, _| {}).unwrap();
    }

    body.soft_places().map(|p| -p.y).collect()
}

fn steps(substeps: usize, iterations: usize) -> TimeSteps {
    TimeSteps::of_frame(SECS, substeps, iterations)
}

#[test]
fn a_hanging_spring_reaches_its_closed_form_whatever_the_substeps_and_iterations() {
    for substeps in [1, 2, 5, 10, 40] {
        for iterations in [1, 5, 20] {
            let length = chain(1, 200.0, steps(substeps, iterations), 30.0)[0];
            assert!(
                (length - 1.0 - 10.0 / 200.0).abs() < 1e-9,
                "{substeps} × {iterations}: {length}"
            );
        }
    }
}

#[test]
fn a_hanging_chain_reaches_its_closed_form_as_substeps_or_iterations_grow() {
    // Spring k of n bears the n − k nodes below it.
    let count = 10;
    let constant = 2000.0;
    let sunk: f64 = (1..=count).map(|k| k as f64 * 10.0 / constant).sum();
    let off = |substeps, iterations| {
        let length = chain(count, constant, steps(substeps, iterations), 60.0)[count - 1];
        (length - count as f64) / sunk - 1.0
    };

    let few = off(10, 1).abs();
    let more = off(40, 1).abs();
    let iterated = off(10, 10).abs();
    assert!(
        few < 0.05 && more < 0.3 * few && iterated < 0.3 * few,
        "{few} {more} {iterated}"
    );
}

#[test]
fn degenerate_triangles_in_a_patch_give_finite_positions() {
    let ball = icosphere(3);
    let mut triangles = ball.triangles().to_vec();
    let last = ball.vertex_count() as u32;
    let mut points = ball.positions().to_vec();

    points.extend([points[7], points[7]]);
    triangles.extend([
        [7, last, triangles[0][0]],
        [7, last, last + 1],
        [7, 7, last],
    ]);

    let mesh = Mesh::from_triangles(points, &triangles).unwrap();
    let mut touch = Touch::new(&mesh, &[PATCH], &TouchOptions::default()).unwrap();
    let out = mesh.positions()[7];
    touch
        .add_collider(Collider::new(Obstacle::sphere(out * 1.3, 0.2).unwrap(), 0.1).unwrap())
        .unwrap();

    for share in shares(20) {
        touch.step(&still(&[to(-out * (0.3 * share))])).unwrap();
        assert!(touch.positions().iter().all(|p| p.is_finite()));
    }
}

#[test]
fn invalid_frames_are_rejected_and_change_nothing() {
    let (mut touch, out) = pressed_ball(1.0, &TouchOptions::default());
    touch.step(&still(&[to(-out * 0.3)])).unwrap();
    let before = touch.positions().to_vec();
    let nowhere = vec![DVec3::NAN; before.len()];
    let rigid = (0..before.len())
        .find(|v| {
            touch
                .region()
                .vertices()
                .binary_search(&(*v as u32))
                .is_err()
        })
        .unwrap();

    let lost = [to(DVec3::new(f64::NAN, 0.0, 0.0))];
    let at = &[RigidMotion::IDENTITY][..];
    type IsExpected = fn(&PhysicsError) -> bool;

    let wrong: [(TouchFrame<'_>, IsExpected); 9] = [
        (still(&[]), |e| {
            matches!(
                e,
                PhysicsError::ColliderCount {
                    found: 0,
                    expected: 1
                }
            )
        }),
        (still(&lost), |e| {
            matches!(e, PhysicsError::ColliderPosition { collider: 0 })
        }),
        (
            TouchFrame {
                secs: 0.0,
                ..still(at)
            },
            |e| matches!(e, PhysicsError::FrameTime { .. }),
        ),
        (
            TouchFrame {
                shape: Some(&before[1..]),
                ..still(at)
            },
            |e| matches!(e, PhysicsError::PerVertex { .. }),
        ),
        (
            TouchFrame {
                shape: Some(&nowhere),
                ..still(at)
            },
            |e| matches!(e, PhysicsError::AnimatedShape { vertex: 0 }),
        ),
        (
            TouchFrame {
                pulls: &[(rigid, DVec3::ZERO)],
                ..still(at)
            },
            |e| matches!(e, PhysicsError::PullOutsidePatch { .. }),
        ),
        (
            TouchFrame {
                pulls: &[(usize::MAX, DVec3::ZERO)],
                ..still(at)
            },
            |e| matches!(e, PhysicsError::Mesh(_)),
        ),
        (
            TouchFrame {
                pulls: &[(PATCH.center.index(), DVec3::INFINITY)],
                ..still(at)
            },
            |e| matches!(e, PhysicsError::Pull { .. }),
        ),
        (
            TouchFrame {
                pulls: &[(PATCH.center.index(), DVec3::X); 2],
                ..still(at)
            },
            |e| matches!(e, PhysicsError::PulledTwice { .. }),
        ),
    ];

    for (frame, is_expected) in wrong {
        let error = touch.step(&frame).unwrap_err();
        assert!(is_expected(&error), "{error}");
        assert_eq!(touch.positions(), before);
    }
}

#[test]
fn the_method_of_cetinaslan2016_runs_on_any_shape_and_moves_soft_vertices_only() {
    let ball = icosphere(4);
    let options = TouchOptions::default().with_method(TouchMethod::Verlet(
        VerletOptions::default().with_damping(0.3),
    ));
    let (mut touch, out) = pressed_ball(1.0, &options);

    let mut largest = 0.0_f64;
    for (frame, share) in shares(31).enumerate() {
        let shape: Vec<DVec3> = ball
            .positions()
            .iter()
            .map(|p| *p + DVec3::X * (0.01 * frame as f64))
            .collect();
        let place = DVec3::X * (0.01 * frame as f64) - out * (0.35 * share);

        let report = touch
            .step(&TouchFrame {
                shape: Some(&shape),
                ..still(&[to(place)])
            })
            .unwrap();

        largest = largest.max(report.max_displacement);
        for (v, (now, rest)) in touch.positions().iter().zip(&shape).enumerate() {
            assert!(now == rest || touch.region().vertices().binary_search(&(v as u32)).is_ok());
        }
        if share < 0.4 && frame < 15 {
            assert_eq!(touch.positions(), shape);
        }
    }

    assert!(largest > 0.1, "{largest}");
}

#[test]
fn the_method_of_cetinaslan2016_rejects_pulls_pins_inertia_and_skin_contact() {
    let ball = icosphere(3);
    let verlet = TouchOptions::default().with_method(TouchMethod::Verlet(VerletOptions::default()));
    for options in [
        verlet.clone().with_pins(vec![7]),
        verlet.clone().with_inertia(1.0),
        verlet.clone().with_skin_contact(true),
    ] {
        assert!(matches!(
            Touch::new(&ball, &[PATCH], &options),
            Err(PhysicsError::UnsupportedByVerlet { .. })
        ));
    }

    let mut touch = Touch::new(&ball, &[PATCH], &verlet).unwrap();
    let pulled = touch.step(&TouchFrame {
        pulls: &[(7, DVec3::ZERO)],
        ..still(&[])
    });

    assert!(matches!(
        pulled,
        Err(PhysicsError::UnsupportedByVerlet { .. })
    ));
}

/// Two sheets that face each other, one above the other.
fn lips(gap: f64) -> Mesh {
    let sheet = bumpy_sheet(16, 0.0);
    let count = sheet.vertex_count() as u32;
    let flat = |z: f64| {
        sheet
            .positions()
            .iter()
            .map(move |p| DVec3::new(p.x, p.y, z))
    };

    let upper = sheet
        .triangles()
        .iter()
        .map(|t| t.map(|v| v + count))
        .map(|[a, b, c]| [a, c, b]);

    Mesh::from_triangles(
        flat(0.0).chain(flat(gap)).collect(),
        &sheet
            .triangles()
            .iter()
            .copied()
            .chain(upper)
            .collect::<Vec<_>>(),
    )
    .unwrap()
}

#[test]
fn lips_that_are_pressed_together_do_not_pass_through_each_other() {
    let lips = lips(0.05);
    let center = 8 * 17 + 8;
    let count = 17 * 17;
    let run = |contact: bool| {
        let patches = [
            SoftPatch {
                center: center.into(),
                radius: 0.4,
            },
            SoftPatch {
                center: (center + count).into(),
                radius: 0.4,
            },
        ];

        let mut touch = Touch::new(
            &lips,
            &patches,
            &TouchOptions::default().with_skin_contact(contact),
        )
        .unwrap();

        touch.step(&still(&[])).unwrap();
        assert_eq!(
            touch.positions(),
            lips.positions(),
            "at rest nothing pushes"
        );

        let down = lips.positions()[center + count] - DVec3::Z * 0.12;
        for frame in 1..=20 {
            let place = lips.positions()[center + count].lerp(down, f64::from(frame) / 20.0);
            touch
                .step(&TouchFrame {
                    pulls: &[(center + count, place)],
                    ..still(&[])
                })
                .unwrap();
        }

        (0..count)
            .map(|v| touch.positions()[v + count].z - touch.positions()[v].z)
            .fold(f64::INFINITY, f64::min)
    };

    assert!(
        run(false) < -0.05,
        "without contact they pass: {}",
        run(false)
    );
    assert!(run(true) > -0.01, "with contact they do not: {}", run(true));
}

#[test]
fn pulls_of_pinned_vertices_and_regions_of_other_meshes_are_rejected() {
    let mut touch = Touch::new(
        &icosphere(3),
        &[PATCH],
        &TouchOptions::default().with_pins(vec![7]),
    )
    .unwrap();

    let pulled = touch.step(&TouchFrame {
        pulls: &[(7, DVec3::X)],
        ..still(&[])
    });

    assert!(matches!(
        pulled,
        Err(PhysicsError::PinnedPull { vertex: 7 })
    ));

    let region = SoftRegion::select(&icosphere(4), &[PATCH]).unwrap();
    assert!(matches!(
        Touch::on(&icosphere(3), region, &TouchOptions::default()),
        Err(PhysicsError::RegionMismatch { .. })
    ));
}

#[test]
fn a_rough_ball_that_strikes_in_one_frame_has_skin_on_its_surface() {
    let sheet = bumpy_sheet(24, 0.0);
    let center = 12 * 25 + 12;
    let mut touch = Touch::new(
        &sheet,
        &[SoftPatch {
            center: center.into(),
            radius: 0.4,
        }],
        &TouchOptions::default().with_substeps(1),
    )
    .unwrap();

    let start = sheet.positions()[center] + DVec3::new(0.0, 0.0, 0.3);
    touch
        .add_collider(Collider::new(Obstacle::sphere(start, 0.1).unwrap(), 1.0).unwrap())
        .unwrap();
    touch.step(&still(&[RigidMotion::IDENTITY])).unwrap();

    let place = DVec3::new(0.0, 0.0, -0.28);
    touch.step(&still(&[to(place)])).unwrap();
    let off = touch.positions()[center].distance(start + place) - 0.1;

    // Faces around the vertex stay outside, too: with chords of an edge it is off by e²/(6R).
    let edge = sheet.mean_edge_length();
    assert!(
        off > -1e-9 && off < 1.5 * edge * edge / (6.0 * 0.1),
        "{off}"
    );
}

#[test]
fn frames_of_any_length_leave_steady_motion_without_lag() {
    let mut touch = free_sheet(
        SoftMaterial::default(),
        TouchOptions::default().with_inertia(1.0),
    );
    let rest = touch.positions().to_vec();

    let mut time = 0.0;
    for frame in 0..20 {
        let secs = if frame % 2 == 0 { SECS } else { 2.0 * SECS };
        time += secs;
        let ahead: Vec<DVec3> = rest
            .iter()
            .map(|p| *p + DVec3::new(3.0, 0.0, 1.0) * time)
            .collect();

        let report = touch
            .step(&TouchFrame {
                shape: Some(&ahead),
                secs,
                ..still(&[])
            })
            .unwrap();

        assert!(report.max_displacement < 1e-12, "{report:?}");
    }
}

#[test]
fn the_sag_of_a_sheet_depends_neither_on_substeps_nor_on_iterations_nor_on_resolution() {
    let sag = |cells: usize, substeps: Option<usize>, iterations: usize| {
        let sheet = bumpy_sheet(cells, 0.0);
        let flat = sheet
            .posed(
                sheet
                    .positions()
                    .iter()
                    .map(|p| DVec3::new(p.x, p.y, 0.0))
                    .collect(),
            )
            .unwrap();

        let center = (cells / 2) * (cells + 1) + cells / 2;
        let material = SoftMaterial {
            damping_ratio: 0.7,
            ..SoftMaterial::default()
        };

        let options = TouchOptions::default()
            .with_material(material)
            .with_iterations(iterations)
            .with_gravity(DVec3::Z * -50.0);
        let options = substeps.map_or(options.clone(), |substeps| options.with_substeps(substeps));
        let mut touch = Touch::new(
            &flat,
            &[SoftPatch {
                center: center.into(),
                radius: 0.4,
            }],
            &options,
        )
        .unwrap();

        for _ in 0..60 {
            assert!(touch.step(&still(&[])).is_ok());
        }
        -touch.positions()[center].z
    };

    let converged = sag(24, Some(80), 1);
    for (substeps, iterations) in [
        (None, 1),
        (Some(5), 1),
        (Some(5), 4),
        (Some(20), 1),
        (Some(20), 4),
    ] {
        let found = sag(24, substeps, iterations);
        assert!(
            (found / converged - 1.0).abs() < 0.01,
            "{substeps:?} × {iterations}: {found} beside {converged}"
        );
    }

    let fine = sag(40, None, 1);
    assert!(
        (fine / converged - 1.0).abs() < 0.08,
        "{fine} beside {converged}"
    );
}

#[test]
fn skin_dragged_far_by_a_rough_ball_returns_without_a_fold() {
    let sheet = bumpy_sheet(24, 0.0);
    let center = 12 * 25 + 12;
    let mut touch = Touch::new(
        &sheet,
        &[SoftPatch {
            center: center.into(),
            radius: 0.4,
        }],
        &TouchOptions::default(),
    )
    .unwrap();

    let start = sheet.positions()[center] + DVec3::new(-0.2, 0.0, 0.2);
    touch
        .add_collider(Collider::new(Obstacle::sphere(start, 0.15).unwrap(), 1.0).unwrap())
        .unwrap();

    for frame in 0..30 {
        let share = f64::from(frame) / 29.0;
        touch
            .step(&still(&[to(DVec3::new(
                0.4 * share,
                0.0,
                -0.15 * (share * 4.0).min(1.0),
            ))]))
            .unwrap();
    }

    let mut last = 0.0;
    for _ in 0..300 {
        last = touch
            .step(&still(&[to(DVec3::Z * 5.0)]))
            .unwrap()
            .max_displacement;
    }

    assert!(last < 1e-4 * sheet.mean_edge_length(), "{last}");
}

#[test]
fn a_collider_that_spins_in_place_far_from_the_origin_stays_in_place() {
    for offset in [0.0, 100.0] {
        let sheet = bumpy_sheet(16, 0.0);
        let away = DVec3::X * offset;
        let sheet = sheet
            .posed(sheet.positions().iter().map(|p| *p + away).collect())
            .unwrap();
        let center = 8 * 17 + 8;

        let mut touch = Touch::new(
            &sheet,
            &[SoftPatch {
                center: center.into(),
                radius: 0.4,
            }],
            &TouchOptions::default(),
        )
        .unwrap();

        let middle = sheet.positions()[center] + DVec3::Z * 0.3;
        touch
            .add_collider(
                Collider::new(
                    Obstacle::cuboid(middle, DVec3::splat(0.1), DQuat::IDENTITY).unwrap(),
                    0.0,
                )
                .unwrap(),
            )
            .unwrap();

        for frame in 0..12 {
            let rotation = DQuat::from_rotation_z(f64::from(frame) * 0.5);
            let spun = RigidMotion {
                rotation,
                translation: middle - rotation * middle,
            };
            assert_eq!(touch.step(&still(&[spun])).unwrap().max_displacement, 0.0);
        }
    }
}

#[test]
fn a_thin_wall_of_a_hollow_mesh_is_not_passed() {
    let sheet = bumpy_sheet(24, 0.0);
    let flat = sheet
        .posed(
            sheet
                .positions()
                .iter()
                .map(|p| DVec3::new(p.x, p.y, 0.0))
                .collect(),
        )
        .unwrap();

    let center = 12 * 25 + 12;

    // Two plates far apart as one solid: as a whole it is half a unit thick, each plate a fiftieth.
    let plate = |z: f64| {
        let plate = pliant_mesh::shapes::closed_box([6, 6, 1], DVec3::new(0.2, 0.2, 0.02));
        let place = DVec3::new(0.5, 0.5, z);
        (
            plate
                .positions()
                .iter()
                .map(|p| *p + place)
                .collect::<Vec<_>>(),
            plate.triangles().to_vec(),
        )
    };

    let (mut points, mut triangles) = plate(0.1);
    let (more, again) = plate(0.6);
    let count = points.len() as u32;
    triangles.extend(again.iter().map(|t| t.map(|v| v + count)));
    points.extend(more);

    let solid = Obstacle::mesh(&Mesh::from_triangles(points, &triangles).unwrap()).unwrap();
    let mut touch = Touch::new(
        &flat,
        &[SoftPatch {
            center: center.into(),
            radius: 0.45,
        }],
        &TouchOptions::default(),
    )
    .unwrap();

    touch
        .add_collider(Collider::new(solid, 0.0).unwrap())
        .unwrap();

    for frame in 0..60 {
        touch
            .step(&still(&[to(DVec3::Z * (-0.2 * f64::from(frame) / 59.0))]))
            .unwrap();
    }

    assert!(
        touch.positions()[center].z < -0.1,
        "{}",
        touch.positions()[center].z
    );
}

#[test]
fn a_free_oscillating_patch_keeps_linear_and_angular_momentum() {
    let sheet = bumpy_sheet(30, 0.2);
    let all: Vec<u32> = (0..sheet.vertex_count() as u32).collect();
    let part = SoftMesh::around(&sheet, &all);
    let rest = sheet.positions();
    let constants = SheetConstants {
        foundation: 1e-12,
        stretch: 40.0,
        shear: 20.0,
        bend: 0.05,
        strain_limit: f64::INFINITY,
        ..SheetConstants::default()
    };

    let masses = masses(&part, rest);
    let inverse_masses: Vec<f64> = masses.iter().map(|mass| 1.0 / mass).collect();
    let nodes = SoftNodes {
        rest,
        constants: &vec![constants; rest.len()],
        masses: &masses,
        inverse_masses: &inverse_masses,
        softness: &vec![1.0; rest.len()],
    };

    let mut body = SoftBody::new(&part, &nodes);
    assert!(body.block_count() > 1, "with seams");
    for (node, place) in rest.iter().enumerate() {
        put(
            body.particle_mut(node),
            *place
                + DVec3::new(
                    0.1 * place.y,
                    -0.05 * place.x * place.x,
                    0.1 * (4.0 * place.x).sin(),
                ),
        );
    }

    let start: Vec<DVec3> = body.soft_places().collect();
    let center = |places: &[DVec3]| {
        places
            .iter()
            .zip(&masses)
            .map(|(p, m)| *p * *m)
            .sum::<DVec3>()
    };

    for _ in 0..5 {
        body.advance(steps(10, 2), |_, _| {}, |_, _| {}).unwrap();
    }

    let before: Vec<DVec3> = body.soft_places().collect();
    body.advance(steps(10, 2), |_, _| {}, |_, _| {}).unwrap();
    let after: Vec<DVec3> = body.soft_places().collect();

    assert!(center(&after).distance(center(&start)) < 1e-12);
    let turning = |k: usize| before[k].cross(after[k] - before[k]) * masses[k];
    let (turn, motion) = (0..rest.len()).fold((DVec3::ZERO, 0.0), |(turn, motion), k| {
        (turn + turning(k), motion + turning(k).length())
    });

    assert!(
        motion > 1e-4 && turn.length() < 0.02 * motion,
        "{} of {motion}",
        turn.length()
    );
}
