use super::test_gradients::scattered;
use super::*;
use crate::touch::projection::connections::Connections;
use pliant_mesh::Mesh;
use pliant_mesh::shapes::{flat_sheet, icosphere};

const STEP: f64 = 1.0 / 24.0;

fn cap(level: usize, above: f64) -> (Mesh, SoftMesh, Vec<DVec3>) {
    let ball = icosphere(level);
    let soft: Vec<u32> = (0..ball.vertex_count() as u32)
        .filter(|&v| ball.positions()[v as usize].z > above)
        .collect();
    part(ball, &soft)
}

fn part(mesh: Mesh, soft: &[u32]) -> (Mesh, SoftMesh, Vec<DVec3>) {
    let nodes = SoftMesh::around(&mesh, soft);
    let rest = nodes
        .vertices
        .iter()
        .map(|&v| mesh.positions()[v as usize])
        .collect();
    (mesh, nodes, rest)
}

/// Nodes that nothing connects.
fn dust(count: usize) -> SoftMesh {
    let vertices = (0..count as u32).collect();
    SoftMesh {
        vertices,
        soft_count: count,
        connections: Connections::default(),
    }
}

fn places(body: &VerletBody) -> Vec<DVec3> {
    (0..body.rest.len()).map(|node| body.place(node)).collect()
}

fn shift(particle: &mut Particle, by: DVec3) {
    for (x, d) in particle.iter_mut().zip(by.to_array()) {
        *x += d;
    }
}

fn nothing(_: &mut [Particle]) {}

/// Moves soft nodes out of a ball.
fn out_of_ball(center: DVec3, radius: f64) -> impl FnMut(&mut [Particle]) {
    move |particles| {
        for particle in particles.iter_mut().filter(|p| p[3] > 0.0) {
            let offset = DVec3::new(particle[0], particle[1], particle[2]) - center;
            if offset.length() < radius {
                shift(particle, offset.normalize() * (radius - offset.length()));
            }
        }
    }
}

#[test]
fn a_free_particle_falls_by_the_closed_form() {
    let start = DVec3::new(1.0, 2.0, 3.0);
    let gravity = DVec3::new(0.3, -9.81, 0.1);
    let h = 0.01;
    for damping in [0.0, 0.3, 0.9] {
        let mut body = VerletBody::new(
            &dust(1),
            &[start],
            &VerletOptions::default().with_damping(damping),
        );
        let kept: f64 = 1.0 - damping;

        for n in 1..=100 {
            body.step(gravity, h, &mut nothing);
            let steps = f64::from(n);
            let falls = if damping == 0.0 {
                steps * (steps + 1.0) / 2.0
            } else {
                (steps - kept * (1.0 - kept.powi(n)) / damping) / damping
            };

            assert!(
                body.place(0).distance(start + gravity * (h * h * falls)) < 1e-12,
                "{damping} {n}"
            );
        }
    }
}

#[test]
fn damping_of_one_stops_motion_at_once() {
    let (_, nodes, rest) = cap(2, -2.0);
    let mut body = VerletBody::new(&nodes, &rest, &VerletOptions::default().with_damping(1.0));
    body.step(DVec3::X, STEP, &mut nothing);

    let moved = places(&body);
    assert!(moved.iter().zip(&rest).all(|(new, old)| new.x > old.x));

    let mut free = VerletBody::new(
        &dust(rest.len()),
        &rest,
        &VerletOptions::default().with_damping(1.0),
    );

    free.step(DVec3::X, STEP, &mut nothing);
    let stopped = places(&free);
    free.step(DVec3::ZERO, STEP, &mut nothing);

    assert_eq!(places(&free), stopped);
}

#[test]
fn a_body_without_contact_stays_at_rest_to_the_bit() {
    let sheet = flat_sheet(9, 0.0);
    let inner: Vec<u32> = (0..sheet.vertex_count() as u32)
        .filter(|v| v % 3 != 0)
        .collect();

    for (_, nodes, rest) in [cap(3, 0.3), cap(2, -2.0), part(sheet, &inner)] {
        let mut body = VerletBody::new(&nodes, &rest, &VerletOptions::default());
        for _ in 0..20 {
            body.step(DVec3::ZERO, STEP, &mut nothing);
        }
        assert_eq!(places(&body), rest);
    }
}

#[test]
fn held_nodes_do_not_change_by_a_bit() {
    let (_, nodes, rest) = cap(3, 0.3);
    let mut body = VerletBody::new(&nodes, &rest, &VerletOptions::default());
    for k in 0..20 {
        body.step(
            DVec3::new(0.0, -9.81, 0.0),
            STEP,
            &mut out_of_ball(DVec3::Z * (1.4 - 0.02 * f64::from(k)), 0.4),
        );
    }

    let moved = places(&body);
    assert!((0..nodes.soft_count).all(|node| moved[node] != rest[node]));
    for node in nodes.soft_count..rest.len() {
        assert_eq!(
            moved[node].to_array().map(f64::to_bits),
            rest[node].to_array().map(f64::to_bits)
        );
    }
}

#[test]
fn each_iteration_collides_first_and_projects_last() {
    let (_, nodes, rest) = cap(2, -2.0);
    let mut body = VerletBody::new(&nodes, &rest, &VerletOptions::default().with_iterations(3));
    let mut seen: Vec<Vec<Particle>> = Vec::new();
    body.step(DVec3::Y, STEP, &mut |particles| {
        shift(&mut particles[0], DVec3::X * 0.1);
        seen.push(particles.to_vec());
    });

    assert_eq!(seen.len(), 3);
    let fallen = |node: usize| rest[node] + DVec3::Y * (STEP * STEP);
    for (node, particle) in seen[0].iter().enumerate().skip(1) {
        assert_eq!(particle[..3], fallen(node).to_array());
    }

    assert_eq!(seen[0][0][..3], (fallen(0) + DVec3::X * 0.1).to_array());

    let edge = SoftMesh {
        connections: Connections {
            edges: vec![[0, 1]],
            ..Connections::default()
        },
        ..dust(2)
    };

    let mut body = VerletBody::new(
        &edge,
        &[DVec3::ZERO, DVec3::X],
        &VerletOptions::default().with_iterations(1),
    );

    body.step(DVec3::ZERO, STEP, &mut |particles| {
        shift(&mut particles[0], DVec3::new(-3.0, 1.0, 0.0))
    });

    assert!((body.place(0).distance(body.place(1)) - 1.0).abs() < 1e-14);
}

#[test]
fn a_step_is_each_kind_after_the_other_in_order() {
    let rest: [DVec3; 4] = scattered(1);
    let start: [DVec3; 4] = scattered(2);
    let mesh = SoftMesh {
        connections: Connections {
            edges: vec![[0, 1], [1, 2], [0, 2], [0, 3], [1, 3]],
            triangles: vec![[0, 1, 2], [1, 0, 3]],
            hinges: vec![[0, 1, 2, 3]],
            ..Connections::default()
        },
        ..dust(4)
    };

    let mut body = VerletBody::new(
        &mesh,
        &rest,
        &VerletOptions::default()
            .with_iterations(1)
            .with_bend_stiffness(0.4),
    );

    body.step(DVec3::ZERO, STEP, &mut |particles| {
        for (p, q) in particles.iter_mut().zip(start) {
            *p = [q.x, q.y, q.z, 1.0];
        }
    });

    // One at a time, in the order in which no two of a group share a vertex.
    let mut q = start;
    for [i, j] in body
        .edges
        .iter()
        .flat_map(|group| (0..group.filled).map(|k| group.vertices.map(|row| row[k] as usize)))
    {
        let correction =
            (q[j] - q[i]) * (0.5 * (1.0 - rest[i].distance(rest[j]) / q[i].distance(q[j])));
        (q[i], q[j]) = (q[i] + correction, q[j] - correction);
    }

    for [a, b, c] in [
        [0, 1, 2],
        [1, 2, 0],
        [2, 0, 1],
        [1, 0, 3],
        [0, 3, 1],
        [3, 1, 0],
    ] {
        let angle = |q: [DVec3; 3]| (q[1] - q[0]).angle_between(q[2] - q[0]);
        correct(angle, &mut q, &rest, [a, b, c], 1.0);
    }

    let angle = |q: [DVec3; 4]| {
        (q[1] - q[0])
            .cross(q[2] - q[0])
            .angle_between((q[1] - q[0]).cross(q[3] - q[0]))
    };

    correct(angle, &mut q, &rest, [0, 1, 2, 3], 0.6);
    for (node, expected) in q.iter().enumerate() {
        assert!(
            body.place(node).distance(*expected) < 1e-7,
            "{node}: {} {expected}",
            body.place(node)
        );
    }
}

/// Eqs. 5.6 and 5.7 with gradients by differences.
fn correct<const N: usize>(
    value: impl Fn([DVec3; N]) -> f64,
    q: &mut [DVec3],
    rest: &[DVec3],
    nodes: [usize; N],
    share: f64,
) {
    let gradients = super::test_gradients::difference_gradients(&value, nodes.map(|n| q[n]));
    let violation = value(nodes.map(|n| q[n])) - value(nodes.map(|n| rest[n]));
    let multiplier = -violation / gradients.iter().map(|s| s.length_squared()).sum::<f64>();
    for (&n, gradient) in nodes.iter().zip(gradients) {
        q[n] += gradient * (multiplier * share);
    }
}

#[test]
fn a_free_body_keeps_its_linear_momentum() {
    let (_, nodes, rest) = cap(3, -2.0);
    let mut body = VerletBody::new(&nodes, &rest, &VerletOptions::default());
    let mut blow = true;

    for _ in 0..10 {
        let before: DVec3 = places(&body)
            .iter()
            .zip(&body.previous)
            .map(|(new, old)| *new - *old)
            .sum();
        let mut push = DVec3::ZERO;

        body.step(DVec3::ZERO, STEP, &mut |particles| {
            for (node, particle) in particles.iter_mut().enumerate().filter(|_| blow) {
                let [by] = scattered::<1>(node as u64);
                shift(particle, by * 0.05);
                push += by * 0.05;
            }
            blow = false;
        });

        let after: DVec3 = places(&body)
            .iter()
            .zip(&body.previous)
            .map(|(new, old)| *new - *old)
            .sum();

        assert!(after.distance(before + push) < 1e-11, "{after} {before}");
    }
}

/// How far the farthest node is from its rest, in mean edges: pressed, and some time after.
fn pressed_and_released(depth_edges: f64, damping: f64) -> [f64; 2] {
    let (ball, nodes, rest) = cap(3, 0.5);
    let edge = ball.mean_edge_length();
    let mut body = VerletBody::new(
        &nodes,
        &rest,
        &VerletOptions::default().with_damping(damping),
    );

    let farthest = |body: &VerletBody| {
        places(body)
            .iter()
            .zip(&rest)
            .map(|(p, q)| p.distance(*q))
            .fold(0.0, f64::max)
            / edge
    };

    for k in 1..=20 {
        body.step(
            DVec3::ZERO,
            STEP,
            &mut out_of_ball(
                DVec3::Z * (1.4 - depth_edges * edge * f64::from(k) / 20.0),
                0.4,
            ),
        );
    }

    let contacts = farthest(&body);
    for _ in 0..400 {
        body.step(DVec3::ZERO, STEP, &mut nothing);
    }

    [contacts, farthest(&body)]
}

#[test]
fn a_released_patch_returns_to_rest() {
    for damping in [0.0, 0.3, 0.9] {
        let [contacts, released] = pressed_and_released(0.6, damping);
        assert!(
            contacts > 0.4 && released < 1e-4,
            "{damping}: {contacts} {released}"
        );
    }
}

#[test]
fn disabled_constraints_have_no_effect() {
    let (_, nodes, rest) = cap(2, 0.0);
    let off = VerletOptions::default()
        .with_stretch(false)
        .with_shear(false)
        .with_bend(false);
    let mut body = VerletBody::new(&nodes, &rest, &off);

    body.step(DVec3::Y, STEP, &mut nothing);
    let fallen: Vec<DVec3> = rest[..nodes.soft_count]
        .iter()
        .map(|p| *p + DVec3::Y * (STEP * STEP))
        .collect();

    assert_eq!(places(&body)[..nodes.soft_count], fallen);
    let after = |options: VerletOptions| {
        let mut body = VerletBody::new(&nodes, &rest, &options);
        body.step(DVec3::Y, STEP, &mut nothing);
        places(&body)
    };

    let each = [
        after(off.with_stretch(true)),
        after(off.with_shear(true)),
        after(off.with_bend(true)),
        after(off),
    ];

    assert!((0..4).all(|a| (0..a).all(|b| each[a] != each[b])));
}

#[test]
fn a_stiffness_of_one_disables_bending_as_in_section_5_5() {
    let (_, nodes, rest) = cap(2, 0.0);
    let after = |options: VerletOptions| {
        let mut body = VerletBody::new(&nodes, &rest, &options);
        body.step(DVec3::new(3.0, 1.0, -8.0), STEP, &mut nothing);
        places(&body)
    };

    let without = after(VerletOptions::default().with_bend(false));
    assert_eq!(
        after(VerletOptions::default().with_bend_stiffness(1.0)),
        without
    );
    assert_ne!(after(VerletOptions::default()), without);
}

#[test]
fn nodes_at_rest_follow_a_new_rest_shape_to_the_bit() {
    let (_, nodes, rest) = cap(3, 0.3);
    let mut body = VerletBody::new(&nodes, &rest, &VerletOptions::default());
    for frame in 1..20 {
        let t = f64::from(frame) * 0.05;
        let posed: Vec<DVec3> = rest
            .iter()
            .map(|p| *p * (1.0 + 0.3 * t) + DVec3::new(t, (p.x * t).sin(), p.y * p.y * t))
            .collect();
        body.set_rest(&posed);
        body.step(DVec3::ZERO, STEP, &mut nothing);
        assert_eq!(places(&body), posed);
    }
}

#[test]
fn velocities_are_kept_with_a_new_rest_shape() {
    let rest = [DVec3::ZERO, DVec3::X];
    let mut body = VerletBody::new(&dust(2), &rest, &VerletOptions::default());
    body.step(DVec3::Y, 0.5, &mut nothing);
    body.set_rest(&rest.map(|p| p + DVec3::Z * 4.0));

    assert_eq!(
        places(&body),
        rest.map(|p| p + DVec3::Z * 4.0 + DVec3::Y * 0.25)
    );
    body.step(DVec3::ZERO, 0.5, &mut nothing);

    assert_eq!(
        places(&body),
        rest.map(|p| p + DVec3::Z * 4.0 + DVec3::Y * 0.5)
    );
}

#[test]
fn a_step_of_a_scaled_body_is_the_scaled_step() {
    let (_, nodes, rest) = cap(2, 0.2);
    let after = |scale: f64| {
        let rest: Vec<DVec3> = rest.iter().map(|p| *p * scale).collect();
        let mut body = VerletBody::new(&nodes, &rest, &VerletOptions::default());
        for _ in 0..5 {
            body.step(DVec3::new(0.2, -9.0, 1.0) * scale, STEP, &mut nothing);
        }
        places(&body)
    };

    // Powers of two are not rounded: all numbers have the same digits.
    let unit = after(1.0);
    for scale in [2_f64.powi(-30), 2_f64.powi(40)] {
        assert_eq!(
            after(scale),
            unit.iter().map(|p| *p * scale).collect::<Vec<_>>()
        );
    }
}

#[test]
fn degenerate_triangles_give_finite_positions() {
    let mut points = flat_sheet(6, 0.0).positions().to_vec();
    let sheet = flat_sheet(6, 0.0);
    let [a, b, c] = sheet.triangles()[10].map(|v| v as usize);
    points[b] = points[a];
    points[c] = points[a] + (points[c] - points[a]) * 1e-170;

    let (_, nodes, rest) = part(
        sheet.posed(points).unwrap(),
        &(0..sheet.vertex_count() as u32 - 1).collect::<Vec<_>>(),
    );

    let mut body = VerletBody::new(&nodes, &rest, &VerletOptions::default());
    for k in 0..50 {
        body.step(DVec3::new(0.0, 0.0, -9.81), STEP, &mut |particles| {
            if k == 3 {
                for p in particles.iter_mut() {
                    p[..3].fill(0.25);
                } // All in one point.
            }
        });
        assert!(places(&body).iter().all(|p| p.is_finite()), "{k}");
    }
}
