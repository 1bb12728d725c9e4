use pliant_mesh::glam::DQuat;
use pliant_mesh::shapes;

use super::*;
use crate::EnergyTerms;
use crate::test_shapes::{Bar, LENGTH, apart, apart_rigid, bar, bent, foot, twisted};

/// A blend of poses of a bar with its points inside.
fn blend_of(bar: &Bar, poses: Vec<Vec<DVec3>>, options: &BlendOptions) -> Blend {
    Blend::connect(&bar.mesh, poses, &bar.tetrahedra, &[], options).expect("the bar is sound")
}

/// Springs with blended rest lengths.
fn springs() -> BlendOptions {
    BlendOptions::default().with_energy(EnergyTerms::springs())
}

fn tight() -> BlendOptions {
    springs().with_solver(Solver::Tight)
}

fn motion() -> RigidMotion {
    RigidMotion {
        rotation: DQuat::from_axis_angle(DVec3::new(1.0, 2.0, 3.0).normalize(), 1.75),
        translation: DVec3::new(3.0, -2.0, 1.0),
    }
}

#[test]
fn the_ends_are_the_shapes_to_the_bit() {
    let bar = bar(8, 2);
    let poses = vec![
        bar.points.clone(),
        bent(&bar.points, 90.0),
        twisted(&bar.points, 120.0),
    ];

    let mut blend = blend_of(&bar, poses.clone(), &springs());
    for (shape, weights) in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        .iter()
        .enumerate()
    {
        let frame = blend.at(weights).unwrap();
        assert_eq!([frame.positions, frame.interior].concat(), poses[shape]);
        assert!(
            frame.report.converged && frame.report.residual < 1e-12,
            "{:?}",
            frame.report
        );
    }
}

#[test]
fn a_bent_bar_keeps_the_volume_that_linear_blending_loses() {
    let bar = bar(20, 4);
    let target = bent(&bar.points, 90.0);

    // The linear blend loses a tenth of the volume.
    let linear: Vec<DVec3> = bar
        .mesh
        .positions()
        .iter()
        .zip(&target)
        .map(|(a, b)| (*a + *b) * 0.5)
        .collect();

    assert!(bar.mesh.posed(linear).unwrap().signed_volume() < 0.9 * bar.mesh.signed_volume());
    let frame = blend_of(&bar, vec![bar.points.clone(), target], &springs())
        .between(0.5)
        .unwrap();

    assert!(
        (frame.volume / bar.mesh.signed_volume() - 1.0).abs() < 0.02,
        "{}",
        frame.volume
    );
    assert_eq!(frame.inverted, 0);
    assert!(frame.report.converged);
}

#[test]
fn half_way_to_a_bend_is_half_the_bend() {
    let bar = bar(20, 4);
    let options = springs().with_fixed(foot(&bar));
    let frame = blend_of(
        &bar,
        vec![bar.points.clone(), bent(&bar.points, 90.0)],
        &options,
    )
    .between(0.5)
    .unwrap();

    assert!(apart(&frame.positions, &bent(bar.mesh.positions(), 45.0)) < 0.01);
}

#[test]
fn a_twist_beyond_half_a_turn_takes_the_longer_arc() {
    let bar = bar(32, 3);
    let options = springs().with_fixed(foot(&bar));
    let frame = blend_of(
        &bar,
        vec![bar.points.clone(), twisted(&bar.points, 300.0)],
        &options,
    )
    .between(0.5)
    .unwrap();

    assert!(frame.report.converged, "{:?}", frame.report);
    let off = apart(&frame.positions, &twisted(bar.mesh.positions(), 150.0));
    assert!(
        off < 0.06 && apart(&frame.positions, &twisted(bar.mesh.positions(), -30.0)) > 0.1,
        "{off}"
    );

    assert_eq!(frame.inverted, 0);
}

#[test]
fn all_solvers_converge_in_every_frame_to_one_shape() {
    let bar = bar(14, 3);
    let poses = vec![bar.points.clone(), twisted(&bar.points, 120.0)];

    // Anchored, and with fixed vertices.
    for fixed in [Vec::new(), foot(&bar)] {
        let options = springs().with_fixed(fixed);
        let mut blends = [Solver::Fast, Solver::Tight, Solver::Newton]
            .map(|s| blend_of(&bar, poses.clone(), &options.clone().with_solver(s)));

        for step in 1..6 {
            let [fast, tight, newton] = blends
                .each_mut()
                .map(|blend| blend.between(f64::from(step) / 6.0).unwrap());

            for (frame, tolerance) in [(&fast, 1e-3), (&tight, 1e-6), (&newton, 1e-6)] {
                assert!(
                    frame.report.converged && frame.report.residual <= tolerance,
                    "{step}: {:?}",
                    frame.report
                );
            }

            assert!(apart(&tight.positions, &newton.positions) < 1e-5, "{step}");
            assert!(
                apart(&fast.positions, &newton.positions) < 5e-3,
                "{step}: {}",
                apart(&fast.positions, &newton.positions)
            );
        }
    }
}

#[test]
fn a_shape_does_not_depend_on_earlier_calls() {
    let bar = bar(12, 3);
    let poses = vec![bar.points.clone(), bent(&bar.points, 120.0)];
    let fresh = blend_of(&bar, poses.clone(), &tight())
        .between(0.4)
        .unwrap();

    // Other frames before must not matter.
    let mut used = blend_of(&bar, poses, &tight());
    for alpha in [0.9, 0.1, 1.0, 0.7] {
        used.between(alpha).unwrap();
    }

    assert_eq!(used.between(0.4).unwrap(), fresh);
}

#[test]
fn a_sampled_path_has_the_same_shapes() {
    let bar = bar(12, 3);
    let poses = vec![bar.points.clone(), bent(&bar.points, 120.0)];
    let mut plain = blend_of(&bar, poses.clone(), &tight());
    let mut sampled = blend_of(&bar, poses, &tight());

    sampled.prepare_frames(Blend::MIN_SAMPLED_FRAMES).unwrap();
    for alpha in [0.1, 0.4, 0.75] {
        let one = plain.between(alpha).unwrap();
        let two = sampled.between(alpha).unwrap();

        assert!(
            two.report.converged && two.report.iterations < one.report.iterations,
            "{:?} {:?}",
            one.report,
            two.report
        );

        assert!(apart(&one.positions, &two.positions) < 1e-4);
    }
}

#[test]
fn shapes_between_rigid_copies_are_rigid_copies() {
    let bar = bar(12, 3);

    // A rigid copy has the same lengths, so every blend is a rigid copy, too.
    let moved: Vec<DVec3> = bar.points.iter().map(|p| motion().apply(*p)).collect();
    for solver in [Solver::Fast, Solver::Tight] {
        let mut blend = blend_of(
            &bar,
            vec![bar.points.clone(), moved.clone()],
            &springs().with_solver(solver),
        );
        for alpha in [0.25, 0.5, 0.8] {
            assert!(
                apart_rigid(
                    &blend.between(alpha).unwrap().positions,
                    bar.mesh.positions()
                ) < 1e-9
            );
        }
    }
}

#[test]
fn an_anchored_shape_does_not_depend_on_the_placement_of_the_target() {
    let bar = bar(12, 3);
    let here = bent(&bar.points, 90.0);
    let there: Vec<DVec3> = here.iter().map(|p| motion().apply(*p)).collect();
    let [here, there] = [here, there].map(|target| {
        blend_of(&bar, vec![bar.points.clone(), target], &tight())
            .between(0.3)
            .unwrap()
    });

    let off = apart_rigid(&here.positions, &there.positions);
    assert!(off < 5e-5, "{off} {:?} {:?}", here.report, there.report);
    assert!(
        apart(&here.positions, &there.positions) > 0.1,
        "but where it stands does"
    );
}

#[test]
fn an_anchor_can_be_placed_around_given_vertices() {
    let bar = bar(12, 3);
    let poses = vec![bar.points.clone(), bent(&bar.points, 90.0)];
    let [middle, end] = [Vec::new(), foot(&bar)].map(|anchor| {
        blend_of(&bar, poses.clone(), &tight().with_anchor(anchor))
            .between(0.5)
            .unwrap()
    });

    let moved = |frame: &BlendFrame| {
        foot(&bar)
            .iter()
            .map(|&v| frame.positions[v].distance(bar.points[v]))
            .fold(0.0, f64::max)
    };

    assert!(
        moved(&end) < 0.03 * LENGTH && moved(&middle) > 2.0 * moved(&end),
        "{} {}",
        moved(&end),
        moved(&middle)
    );

    assert!(apart_rigid(&middle.positions, &end.positions) < 0.01);
}

#[test]
fn the_order_of_the_shapes_does_not_matter() {
    let bar = bar(12, 3);
    let [a, b, c] = [
        bar.points.clone(),
        bent(&bar.points, 90.0),
        twisted(&bar.points, 120.0),
    ];

    for options in [tight(), tight().with_fixed(foot(&bar))] {
        let one = blend_of(&bar, vec![a.clone(), b.clone(), c.clone()], &options)
            .at(&[0.5, 0.3, 0.2])
            .unwrap();
        let two = blend_of(&bar, vec![c.clone(), a.clone(), b.clone()], &options)
            .at(&[0.2, 0.5, 0.3])
            .unwrap();

        assert!(one.report.converged && two.report.converged);
        assert!(
            apart(&one.positions, &two.positions) < 1e-3,
            "{}",
            apart(&one.positions, &two.positions)
        );
    }
}

#[test]
fn fixed_vertices_move_linearly_and_pulled_ones_are_at_their_goals() {
    let bar = bar(12, 3);
    let target: Vec<DVec3> = bar
        .points
        .iter()
        .map(|p| *p + DVec3::new(0.1, 0.2, 0.05) * p.x)
        .collect();

    let tip = (0..bar.mesh.vertex_count())
        .find(|&v| bar.points[v].x == LENGTH)
        .unwrap();
    let goal = DVec3::new(4.2, 0.3, 0.4);

    for fixed in [foot(&bar), Vec::new()] {
        let options = springs()
            .with_fixed(fixed.clone())
            .with_pulls(vec![(tip, goal)]);
        let frame = blend_of(&bar, vec![bar.points.clone(), target.clone()], &options)
            .between(0.3)
            .unwrap();

        assert_eq!(frame.positions[tip], goal);
        assert!(
            fixed
                .iter()
                .all(|&v| frame.positions[v].distance(bar.points[v].lerp(target[v], 0.3)) < 1e-12)
        );

        assert!(frame.report.converged, "{:?}", frame.report);
    }
}

#[test]
fn all_vertices_fixed_is_linear_blending() {
    let bar = bar(4, 2);
    let target = bent(&bar.points, 90.0);
    let options = springs().with_fixed((0..bar.mesh.vertex_count()).collect());
    let surface = vec![
        bar.mesh.positions().to_vec(),
        target[..bar.mesh.vertex_count()].to_vec(),
    ];

    for solver in [Solver::Fast, Solver::Tight, Solver::Newton] {
        let options = options.clone().with_solver(solver);
        let frame = Blend::connect(&bar.mesh, surface.clone(), &[], &[], &options)
            .unwrap()
            .between(0.25)
            .unwrap();

        assert!(
            frame
                .positions
                .iter()
                .enumerate()
                .all(|(v, p)| p.distance(bar.points[v].lerp(target[v], 0.25)) < 1e-12)
        );
    }
}

#[test]
fn a_plane_through_the_free_result_has_no_effect_and_one_beyond_it_is_satisfied() {
    let bar = bar(12, 3);
    let poses = vec![bar.points.clone(), bent(&bar.points, 90.0)];
    for solver in [Solver::Fast, Solver::Tight, Solver::Newton] {
        let mut blend = blend_of(&bar, poses.clone(), &springs().with_solver(solver));
        let free = blend.between(0.5).unwrap();

        let tip = (0..bar.mesh.vertex_count())
            .find(|&v| bar.points[v].x == LENGTH)
            .unwrap();
        let normal = DVec3::new(2.0, -1.0, 2.0) / 3.0;

        // A plane through the free position needs no force.
        let offset = normal.dot(free.positions[tip]);
        let same = blend
            .constrained_at(
                &[0.5, 0.5],
                &[(tip, Constraint::Plane { normal, offset })],
                None,
            )
            .unwrap();

        assert!(apart(&same.positions, &free.positions) < 2e-3);

        // A plane beyond it moves the vertex and its neighbours.
        let beyond = Constraint::Plane {
            normal,
            offset: offset + 0.1,
        };
        let start = [free.positions.clone(), free.interior.clone()].concat();

        let pushed = blend
            .constrained_at(&[0.5, 0.5], &[(tip, beyond)], Some(&start))
            .unwrap();

        assert!((normal.dot(pushed.positions[tip]) - offset - 0.1).abs() < 1e-12);
        assert!(pushed.report.converged, "{solver:?}: {:?}", pushed.report);
        assert!(
            pushed
                .positions
                .iter()
                .zip(&free.positions)
                .any(|(p, q)| p.distance(*q) > 0.02),
            "neighbours follow"
        );

        let again = blend.between(0.5).unwrap();
        assert!(
            apart(&again.positions, &free.positions) < 1e-5,
            "constraints apply to one call only"
        );
    }
}

#[test]
fn a_stiff_end_strains_less_than_a_soft_one() {
    let bar = bar(12, 3);
    let tip: Vec<(usize, DVec3)> = (0..bar.mesh.vertex_count())
        .filter(|&v| bar.points[v].x == LENGTH)
        .map(|v| (v, bar.points[v] + DVec3::X * 0.4))
        .collect();

    // The first half is ten times stiffer.
    let map: Vec<f64> = bar
        .mesh
        .positions()
        .iter()
        .map(|p| if p.x < 0.5 * LENGTH { 10.0 } else { 1.0 })
        .collect();

    let options = tight()
        .with_fixed(foot(&bar))
        .with_pulls(tip)
        .with_stiffness(map);
    let frame = blend_of(&bar, vec![bar.points.clone(); 2], &options)
        .between(0.5)
        .unwrap();

    let middle = (0..bar.mesh.vertex_count())
        .find(|&v| (bar.points[v].x - 0.5 * LENGTH).abs() < 1e-9)
        .unwrap();
    let moved = frame.positions[middle].x - bar.points[middle].x;

    assert!(
        moved > 0.0 && moved < 0.1,
        "an even bar would give half of 0.4: {moved}"
    );
}

#[test]
fn coincident_vertices_and_open_sheets_of_several_components_are_blended() {
    let bar = bar(8, 2);
    let [a, b] = bar.mesh.topology().edges()[20].map(|v| v as usize);

    // Two coincident vertices.
    let poses = [bar.points.clone(), bent(&bar.points, 90.0)].map(|mut pose| {
        pose[b] = pose[a];
        pose
    });

    let frame = blend_of(&bar, poses.to_vec(), &springs())
        .between(0.5)
        .unwrap();

    assert!(
        frame.positions.iter().all(|p| p.is_finite()) && frame.report.converged,
        "{:?}",
        frame.report
    );

    let sheet = shapes::bumpy_sheet(6, 0.2);

    // Two open sheets in one mesh.
    let twice: Vec<DVec3> = sheet
        .positions()
        .iter()
        .copied()
        .chain(sheet.positions().iter().map(|p| *p + DVec3::Z * 3.0))
        .collect();

    let count = sheet.vertex_count() as u32;
    let faces: Vec<[u32; 3]> = sheet
        .triangles()
        .iter()
        .copied()
        .chain(sheet.triangles().iter().map(|t| t.map(|v| v + count)))
        .collect();

    let two = Mesh::from_triangles(twice.clone(), &faces).unwrap();
    let mut blend = Blend::connect(
        &two,
        vec![twice.clone(), bent(&twice, 60.0)],
        &[],
        &[],
        &springs(),
    )
    .unwrap();

    assert!(
        blend
            .warnings()
            .iter()
            .any(|warning| warning.contains("2 connected components")),
        "{:?}",
        blend.warnings()
    );

    assert_eq!(blend.spring_counts().internal, 0);
    let frame = blend.between(0.5).unwrap();
    assert!(
        frame.positions.iter().all(|p| p.is_finite()) && frame.report.converged,
        "{:?}",
        frame.report
    );
}

#[test]
fn extrapolated_weights_converge_too() {
    let bar = bar(12, 3);
    let frame = blend_of(
        &bar,
        vec![bar.points.clone(), bent(&bar.points, 60.0)],
        &tight().with_fixed(foot(&bar)),
    )
    .at(&[-0.2, 1.2])
    .unwrap();

    assert!(frame.report.converged);
    assert!(apart(&frame.positions, &bent(bar.mesh.positions(), 72.0)) < 0.02);
}

#[test]
fn invalid_shapes_and_options_are_rejected() {
    let [bar, other] = [4, 5].map(|along| bar(along, 2));
    let mut faces = bar.mesh.triangles().to_vec();
    faces.swap(0, 1);

    let swapped = Mesh::from_triangles(bar.mesh.positions().to_vec(), &faces).unwrap();
    let nan = bar
        .mesh
        .posed(vec![DVec3::NAN; bar.mesh.vertex_count()])
        .unwrap();
    let new = |shapes: &[Mesh], options: &BlendOptions| {
        Blend::new(shapes, options).map(|_| ()).unwrap_err()
    };

    let plain = springs();
    assert!(matches!(new(&[], &plain), PhysicsError::NoShapes));
    assert!(matches!(
        new(&[bar.mesh.clone(), other.mesh], &plain),
        PhysicsError::VertexCountMismatch { shape: 1, .. }
    ));

    assert!(matches!(
        new(&[bar.mesh.clone(), swapped], &plain),
        PhysicsError::FaceMismatch { shape: 1 }
    ));

    assert!(matches!(
        new(&[bar.mesh.clone(), nan], &plain),
        PhysicsError::Shape { shape: 1, .. }
    ));

    // Vertices that do not exist.
    let last = bar.mesh.vertex_count();
    for options in [
        plain.clone().with_fixed(vec![last]),
        plain.clone().with_anchor(vec![last]),
        plain.clone().with_pulls(vec![(last, DVec3::ZERO)]),
    ] {
        assert!(
            new(std::slice::from_ref(&bar.mesh), &options)
                .to_string()
                .contains(&last.to_string())
        );
    }

    assert!(matches!(
        new(
            std::slice::from_ref(&bar.mesh),
            &plain.clone().with_pulls(vec![(0, DVec3::NAN)])
        ),
        PhysicsError::Pull { vertex: 0 }
    ));

    let bad = new(
        std::slice::from_ref(&bar.mesh),
        &plain.clone().with_stiffness(vec![0.0; last]),
    );

    assert!(matches!(bad, PhysicsError::Stiffness { vertex: 0, .. }));
    let mut blend = blend_of(
        &bar,
        vec![bar.points.clone(), bent(&bar.points, 30.0)],
        &plain,
    );

    assert!(matches!(
        blend.at(&[1.0]),
        Err(PhysicsError::WeightCount {
            found: 1,
            expected: 2
        })
    ));

    assert!(matches!(
        blend.at(&[0.5, 0.2]),
        Err(PhysicsError::WeightSum { .. })
    ));

    assert!(matches!(
        blend.at(&[f64::NAN, 1.0]),
        Err(PhysicsError::WeightSum { .. })
    ));

    // Constraints and starts of the wrong size.
    let far = [(bar.points.len(), Constraint::Fixed(DVec3::ZERO))];
    assert!(matches!(
        blend.constrained_at(&[0.5, 0.5], &far, None),
        Err(PhysicsError::Mesh(_))
    ));

    assert!(matches!(
        blend.constrained_at(&[0.5, 0.5], &[], Some(&[])),
        Err(PhysicsError::PerVertex { found: 0, .. })
    ));
}

#[test]
fn every_solver_converges_on_an_open_dome_held_at_its_rim() {
    let low = shapes::flat_sheet(11, 0.0);
    let bounds = low.bounds().unwrap();
    let center = bounds.center();
    let half = 0.5 * bounds.size().x;
    let dome = |height: f64, aside: f64| -> Vec<DVec3> {
        let lift = |p: &DVec3| {
            let x = (p.x - center.x) / half;
            let y = (p.y - center.y) / half;
            let bulge = (1.0 - x * x) * (1.0 - y * y);
            *p + DVec3::new(aside * bulge, 0.0, height * (1.0 - 0.5 * (x * x + y * y))) * half
        };
        low.positions().iter().map(lift).collect()
    };

    // Fixed boundary, no interior, no anchor.
    let rim: Vec<usize> = low
        .topology()
        .boundary_loops()
        .concat()
        .iter()
        .map(|&v| v as usize)
        .collect();

    let first = dome(0.4, 0.0);
    let last = dome(1.2, 0.4);
    for solver in [Solver::Fast, Solver::Tight, Solver::Newton] {
        let options = springs().with_solver(solver).with_fixed(rim.clone());
        let mut blend = Blend::new(
            &[
                low.posed(first.clone()).unwrap(),
                low.posed(last.clone()).unwrap(),
            ],
            &options,
        )
        .unwrap();

        assert_eq!(
            blend.spring_counts().internal + blend.spring_counts().anchor,
            0
        );

        for step in 0..=4 {
            let alpha = f64::from(step) / 4.0;
            let frame = blend.between(alpha).unwrap();
            assert!(
                frame.report.converged,
                "{solver:?} {alpha}: {:?}",
                frame.report
            );

            assert!(
                rim.iter()
                    .all(|&v| frame.positions[v].distance(first[v].lerp(last[v], alpha)) < 1e-12)
            );
        }
    }
}
