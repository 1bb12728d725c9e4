use pliant_linalg::RigidMotion;
use pliant_mesh::glam::{DQuat, DVec3};
use pliant_mesh::{Mesh, shapes, triangle_normal};

use super::*;
use crate::test_shapes::{LENGTH, apart, apart_rigid, bar, bent, twisted};
use crate::{Blend, Obstacle, ObstacleMotion, Solver};

/// A bar with ripples that its cage cannot hold.
fn rippled() -> Mesh {
    let bar = bar(48, 12).mesh;
    let ripple = |p: &DVec3| {
        let out = DVec3::new(0.0, p.y, p.z).normalize_or_zero();
        *p + out * (0.02 * (20.0 * p.x).sin() * (15.0 * (p.y + p.z)).cos())
    };
    bar.posed(bar.positions().iter().map(ripple).collect())
        .unwrap()
}

fn posed(mesh: &Mesh, pose: impl Fn(&[DVec3]) -> Vec<DVec3>) -> Mesh {
    mesh.posed(pose(mesh.positions())).unwrap()
}

fn caged(shapes: &[Mesh], vertices: usize, options: &BlendOptions) -> (Cage, Blend) {
    let cage = Cage::build(shapes, CageSize::Vertices(vertices), options)
        .unwrap()
        .expect("the mesh has more vertices");
    let blend = Blend::new(cage.shapes(), cage.options()).unwrap();
    (cage, blend)
}

fn at(shapes: &[Mesh], vertices: usize, options: &BlendOptions, weights: &[f64]) -> BlendFrame {
    let (cage, mut blend) = caged(shapes, vertices, options);
    let frame = blend.at(weights).unwrap();
    assert!(frame.report.converged, "{:?}", frame.report);
    cage.to_full_mesh(&frame).unwrap()
}

/// The sharpest angle between neighbouring triangles.
fn sharpest(mesh: &Mesh) -> f64 {
    let normal = |t: u32| triangle_normal(mesh.triangle_points(t as usize));
    let pairs =
        (0..mesh.topology().edges().len()).map(|edge| mesh.topology().edge_triangles().row(edge));
    pairs
        .filter(|pair| pair.len() == 2)
        .map(|pair| normal(pair[0]).angle_between(normal(pair[1])))
        .fold(0.0, f64::max)
}

#[test]
fn one_hot_weights_give_the_shapes_to_the_bit_and_nearby_weights_are_near() {
    let mesh = rippled();
    let shapes = [
        mesh.clone(),
        posed(&mesh, |p| bent(p, 90.0)),
        posed(&mesh, |p| twisted(p, 120.0)),
    ];

    let (cage, mut blend) = caged(
        &shapes,
        300,
        &BlendOptions::default().with_solver(Solver::Tight),
    );

    for (k, shape) in shapes.iter().enumerate() {
        let mut weights = vec![0.0; 3];
        weights[k] = 1.0;
        let frame = cage.to_full_mesh(&blend.at(&weights).unwrap()).unwrap();

        assert_eq!(frame.positions, shape.positions());

        // Without the short cut, too: the maps are the identity, and shares sum to one.
        // Weights that are not one-hot skip the shortcut.
        let moved = BlendFrame {
            weights: weights.iter().map(|w| w * (1.0 - 1e-12)).collect(),
            ..blend.at(&weights).unwrap()
        };

        assert!(apart(&cage.positions(&moved), shape.positions()) < 1e-9);
    }

    let near = cage
        .to_full_mesh(&blend.at(&[1.0 - 1e-6, 1e-6, 0.0]).unwrap())
        .unwrap();

    assert!(
        apart(&near.positions, mesh.positions()) < 1e-4,
        "{}",
        apart(&near.positions, mesh.positions())
    );
}

#[test]
fn rigid_copies_have_rigid_in_betweens() {
    let mesh = rippled();
    let motion = RigidMotion {
        rotation: DQuat::from_axis_angle(DVec3::new(1.0, 2.0, 3.0).normalize(), 1.75),
        translation: DVec3::new(3.0, -2.0, 1.0),
    };

    let shapes = [
        mesh.clone(),
        posed(&mesh, |p| p.iter().map(|p| motion.apply(*p)).collect()),
    ];
    let (cage, mut blend) = caged(&shapes, 300, &BlendOptions::default());

    for alpha in [0.25, 0.5, 0.8] {
        let frame = cage.to_full_mesh(&blend.between(alpha).unwrap()).unwrap();
        assert!(
            apart_rigid(&frame.positions, mesh.positions()) < 1e-9,
            "{}",
            apart_rigid(&frame.positions, mesh.positions())
        );
    }
}

#[test]
fn the_order_of_the_shapes_does_not_matter() {
    let mesh = rippled();
    let [a, b, c] = [
        mesh.clone(),
        posed(&mesh, |p| bent(p, 90.0)),
        posed(&mesh, |p| twisted(p, 120.0)),
    ];

    let tight = BlendOptions::default().with_solver(Solver::Tight);
    let one = at(
        &[a.clone(), b.clone(), c.clone()],
        300,
        &tight,
        &[0.5, 0.3, 0.2],
    );

    let two = at(&[c, a, b], 300, &tight, &[0.2, 0.5, 0.3]);
    assert!(
        apart(&one.positions, &two.positions) < 1e-3,
        "{}",
        apart(&one.positions, &two.positions)
    );
}

#[test]
fn a_bend_agrees_with_the_full_solve_and_keeps_volume_and_ripples() {
    let mesh = rippled();
    let shapes = [mesh.clone(), posed(&mesh, |p| bent(p, 90.0))];
    let frame = at(&shapes, 400, &BlendOptions::default(), &[0.5, 0.5]);
    let full = Blend::new(&shapes, &BlendOptions::default())
        .unwrap()
        .between(0.5)
        .unwrap();

    let off = apart_rigid(&frame.positions, &full.positions);
    assert!(off < 0.01, "{off}");

    let off = apart_rigid(&frame.positions, &bent(mesh.positions(), 45.0));
    assert!(off < 0.01, "{off}");
    assert!(
        (frame.volume / mesh.signed_volume() - 1.0).abs() < 0.02,
        "{}",
        frame.volume / mesh.signed_volume()
    );

    assert!(frame.linear.volume < 0.9 * mesh.signed_volume());
    assert!(
        frame.strain < 0.03 && frame.strain < 0.2 * frame.linear.strain,
        "{} {}",
        frame.strain,
        frame.linear.strain
    );
}

#[test]
fn no_triangle_of_the_cage_is_visible_on_a_smooth_shape() {
    let ball = shapes::icosphere(5);
    let egg = posed(&ball, |p| {
        p.iter().map(|p| *p * DVec3::new(1.7, 0.9, 0.9)).collect()
    });
    let frame = at(
        &[ball.clone(), egg.clone()],
        300,
        &BlendOptions::default(),
        &[0.5, 0.5],
    );

    let found = sharpest(&ball.posed(frame.positions).unwrap());
    let shapes = sharpest(&ball).max(sharpest(&egg));

    // The cage itself has sharp edges.
    let cage = sharpest(
        &caged(&[ball, egg], 300, &BlendOptions::default())
            .0
            .shapes()[1],
    );

    assert!(
        found < 1.5 * shapes && cage > 3.0 * shapes,
        "{found} {shapes} {cage}"
    );
}

#[test]
fn the_two_leaves_of_a_fold_do_not_follow_each_other() {
    let sheet = shapes::flat_sheet(60, 0.0);
    let bounds = sheet.bounds().unwrap();
    let middle = bounds.center().x;
    let width = bounds.size().x;

    // Two leaves a hundredth of the width apart, joined at the fold.
    // A fold along the middle.
    let leaf = |p: &DVec3| {
        DVec3::new(
            (p.x - middle).abs(),
            p.y,
            0.005 * width * ((p.x - middle) / (0.05 * width)).clamp(-1.0, 1.0),
        )
    };

    let folded = posed(&sheet, |p| p.iter().map(leaf).collect());
    let opened = posed(&folded, |p| {
        p.iter().map(|p| *p * DVec3::new(1.0, 1.0, 1.5)).collect()
    });
    let (cage, _) = caged(&[folded, opened], 400, &BlendOptions::default());
    let sides: Vec<f64> = (0..sheet.vertex_count())
        .filter_map(|v| {
            cage.binding
                .node_at(v)
                .map(|_| sheet.positions()[v].x - middle)
        })
        .collect();

    let across = |v: usize| {
        let side = sheet.positions()[v].x - middle;
        let other: f64 = cage
            .binding
            .row(v)
            .iter()
            .filter(|(node, _)| sides[*node as usize] * side < 0.0)
            .map(|(_, share)| share)
            .sum();

        (side.abs() > 0.2 * width && other > 0.0).then_some(other)
    };

    assert_eq!((0..sheet.vertex_count()).find_map(across), None);
}

#[test]
fn seams_stay_closed_and_vertices_without_a_face_move_linearly() {
    let mesh = rippled();

    // Cut open at x = 2: the right half has vertices of its own there.
    let mut builder = mesh.to_builder();
    let cut: Vec<u32> = (0..mesh.vertex_count() as u32)
        .filter(|&v| (mesh.positions()[v as usize].x - 2.0).abs() < 1e-9)
        .collect();

    let first = builder.positions.len() as u32;
    builder
        .positions
        .extend(cut.iter().map(|&v| mesh.positions()[v as usize]));

    let right = |t: &[u32]| {
        t.iter()
            .any(|&v| mesh.positions()[v as usize].x > 2.0 + 1e-9)
    };

    let renamed = |v: u32| {
        cut.iter()
            .position(|&c| c == v)
            .map_or(v, |k| first + k as u32)
    };

    builder.corners = mesh
        .faces()
        .flat_map(|t| {
            t.iter()
                .map(|&v| if right(t) { renamed(v) } else { v })
                .collect::<Vec<_>>()
        })
        .collect();

    builder.positions.push(DVec3::new(9.0, 9.0, 9.0));
    let split = builder.build().unwrap();
    let loose = split.vertex_count() - 1;
    let target = posed(&split, |p| bent(p, 90.0));
    let frame = at(
        &[split.clone(), target.clone()],
        300,
        &BlendOptions::default(),
        &[0.5, 0.5],
    );

    for (k, &v) in cut.iter().enumerate() {
        assert_eq!(
            frame.positions[v as usize],
            frame.positions[first as usize + k]
        );
    }

    assert!(
        frame.positions[loose]
            .distance(split.positions()[loose].lerp(target.positions()[loose], 0.5))
            < 1e-12
    );
}

#[test]
fn fixed_and_pulled_vertices_are_exact_and_neighbours_follow() {
    let mesh = rippled();
    let target = posed(&mesh, |p| {
        p.iter()
            .map(|p| *p + DVec3::new(0.1, 0.2, 0.05) * p.x)
            .collect()
    });

    let foot: Vec<usize> = (0..mesh.vertex_count())
        .filter(|&v| mesh.positions()[v].x < 0.3)
        .collect();
    let tip = (0..mesh.vertex_count())
        .find(|&v| mesh.positions()[v].x == LENGTH)
        .unwrap();

    let goal = target.positions()[tip] + DVec3::new(0.1, 0.1, 0.0);

    // Many fixed vertices are thinned out on the cage, few are not.
    for fixed in [foot.clone(), foot[..5].to_vec()] {
        let options = BlendOptions::default()
            .with_fixed(fixed.clone())
            .with_pulls(vec![(tip, goal)]);
        let frame = at(&[mesh.clone(), target.clone()], 300, &options, &[0.7, 0.3]);

        assert_eq!(frame.positions[tip], goal);
        let linear = |v: usize| mesh.positions()[v].lerp(target.positions()[v], 0.3);
        assert!(
            fixed
                .iter()
                .all(|&v| frame.positions[v].distance(linear(v)) < 1e-12)
        );

        // Neighbours of a pulled vertex follow it.
        let edge = mesh.mean_edge_length();
        for &other in mesh.topology().vertex_neighbors().row(tip) {
            let length = |points: &[DVec3]| points[other as usize].distance(points[tip]);
            assert!(
                (length(&frame.positions) - length(mesh.positions())).abs() < 0.5 * edge,
                "no spike"
            );
        }
    }
}

#[test]
fn vertices_of_the_full_mesh_stay_out_of_obstacles() {
    let ball = shapes::icosphere(4);
    let egg = posed(&ball, |p| {
        p.iter().map(|p| *p * DVec3::new(1.6, 0.9, 0.9)).collect()
    });
    let (cage, blend) = caged(&[ball, egg], 300, &BlendOptions::default());
    let center = DVec3::X * 1.9;
    let radius = 0.5;
    let obstacle = Obstacle::sphere(center, radius).unwrap();

    let mut contact = ContactBlend::new(
        blend,
        vec![(obstacle, ObstacleMotion::still())],
        &crate::ContactOptions::default(),
    )
    .unwrap();

    for alpha in [0.0, 0.5, 1.0] {
        let frame = contact.step(&[1.0 - alpha, alpha], 0.0).unwrap();
        let full = cage.to_full_mesh_with_contact(&frame, &contact).unwrap();
        let nearest = full
            .shape
            .positions
            .iter()
            .map(|p| p.distance(center))
            .fold(f64::INFINITY, f64::min);

        assert!(nearest > radius - 1e-5, "{alpha}: {nearest}");
        assert_eq!(full.contacts, frame.contacts);
        assert!(alpha < 1.0 || full.contacts > 0);
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let mesh = rippled();
    let shapes = [mesh.clone(), posed(&mesh, |p| bent(p, 90.0))];
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| at(&shapes, 300, &BlendOptions::default(), &[0.4, 0.6]))
    };

    assert_eq!(on(1), on(2));
}

#[test]
fn a_stiffness_map_applies_to_the_cage() {
    let mesh = rippled();
    let map: Vec<f64> = mesh
        .positions()
        .iter()
        .map(|p| if p.x < 0.5 * LENGTH { 10.0 } else { 1.0 })
        .collect();

    let ends = |x: f64| {
        (0..mesh.vertex_count())
            .filter(|&v| mesh.positions()[v].x == x)
            .collect::<Vec<_>>()
    };

    let pulls = ends(LENGTH)
        .into_iter()
        .map(|v| (v, mesh.positions()[v] + DVec3::X * 0.4))
        .collect();

    let options = BlendOptions::default()
        .with_solver(Solver::Tight)
        .with_fixed(ends(0.0))
        .with_pulls(pulls)
        .with_stiffness(map);
    let frame = at(&[mesh.clone(), mesh.clone()], 700, &options, &[0.5, 0.5]);

    let middle = (0..mesh.vertex_count())
        .find(|&v| (mesh.positions()[v].x - 0.5 * LENGTH).abs() < 1e-9)
        .unwrap();
    let moved = frame.positions[middle].x - mesh.positions()[middle].x;

    assert!(
        moved > 0.0 && moved < 0.12,
        "an even bar would give half of 0.4: {moved}"
    );
}

#[test]
fn small_meshes_have_no_cage_and_invalid_shapes_are_rejected() {
    let mesh = rippled();
    let two = [mesh.clone(), mesh.clone()];
    let plain = BlendOptions::default();

    for size in [
        CageSize::Auto,
        CageSize::None,
        CageSize::Vertices(mesh.vertex_count()),
    ] {
        assert!(
            Cage::build(&two, size, &plain).unwrap().is_none(),
            "{size:?}"
        );
    }

    assert!(matches!(
        Cage::build(&[], CageSize::Auto, &plain),
        Err(PhysicsError::NoShapes)
    ));

    let other = shapes::icosphere(1);
    assert!(matches!(
        Cage::build(&[mesh.clone(), other.clone()], CageSize::Auto, &plain),
        Err(PhysicsError::VertexCountMismatch { shape: 1, .. })
    ));

    assert!(
        Cage::build(
            &two,
            CageSize::Vertices(300),
            &plain.clone().with_fixed(vec![mesh.vertex_count()])
        )
        .is_err()
    );

    let (cage, _) = caged(&two, 300, &plain);
    assert!(cage.warnings()[0].contains("300"), "{:?}", cage.warnings());

    let foreign = Blend::new(&[other], &plain).unwrap().at(&[1.0]).unwrap();
    assert!(matches!(
        cage.to_full_mesh(&foreign),
        Err(PhysicsError::PerVertex { .. })
    ));
}

/// A sheet with a slit in its middle row whose sides lie on each other; `open` lowers the lower side.
fn mouth(open: f64) -> (Mesh, Vec<[usize; 2]>) {
    let size = 48;
    let index = |row: usize, column: usize| row * (size + 1) + column;
    let middle = size / 2;
    let slit = size / 4..=3 * size / 4;
    let mut points = Vec::new();
    for row in 0..=size {
        for column in 0..=size {
            points.push(DVec3::new(column as f64, row as f64, 0.0));
        }
    }

    // The lower side of the slit has vertices of its own, except for its corners.
    let mut lips = Vec::new();
    for column in slit.start() + 1..*slit.end() {
        lips.push([index(middle, column), points.len()]);
        points.push(points[index(middle, column)]);
    }
    let below = |row: usize, column: usize| {
        let lip = lips.iter().find(|lip| lip[0] == index(row, column));
        lip.map_or(index(row, column), |lip| lip[1]) as u32
    };
    let mut triangles = Vec::new();
    for row in 0..size {
        for column in 0..size {
            // Faces below the middle row use the lower side.
            let at = |r: usize, c: usize| {
                if row < middle {
                    below(r, c)
                } else {
                    index(r, c) as u32
                }
            };
            let [a, b, c, d] = [
                at(row, column),
                at(row, column + 1),
                at(row + 1, column + 1),
                at(row + 1, column),
            ];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }

    let drop = |p: &DVec3, is_lower: bool| {
        let across = ((p.x / size as f64 - 0.5) / 0.25).abs().min(1.0);
        let along = 1.0 - (middle as f64 - p.y).abs() / middle as f64;
        let fall = if is_lower { 1.0 - across * across } else { 0.0 };
        *p - DVec3::Y * (open * fall * along.max(0.0))
    };
    let first_lower = (size + 1) * (size + 1);
    let moved = (0..points.len()).map(|v| {
        let is_lower = v >= first_lower || points[v].y < middle as f64;
        drop(&points[v], is_lower)
    });
    let mesh = Mesh::from_triangles(moved.collect(), &triangles).unwrap();
    (mesh, lips)
}

#[test]
fn the_sides_of_an_opening_do_not_follow_each_other() {
    let open = 6.0;
    let [(closed, lips), (opened, _)] = [mouth(0.0), mouth(open)];
    for vertices in [60, 120, 400] {
        let shapes = [closed.clone(), opened.clone()];
        let half = at(&shapes, vertices, &BlendOptions::default(), &[0.5, 0.5]);

        // In the middle of the mouth the upper lip stays, and the lower one moves half way.
        let is_middle = |lip: &&[usize; 2]| (closed.positions()[lip[0]].x - 24.0).abs() < 5.0;
        for lip in lips.iter().filter(is_middle) {
            let gap = half.positions[lip[0]].y - half.positions[lip[1]].y;
            let expected = opened.positions()[lip[0]].y - opened.positions()[lip[1]].y;
            assert!(
                (gap / (0.5 * expected) - 1.0).abs() < 0.15,
                "{vertices}: {gap} of {expected}"
            );
        }
    }
}
