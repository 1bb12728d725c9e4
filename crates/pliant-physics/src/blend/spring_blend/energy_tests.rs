use pliant_mesh::glam::DQuat;

use super::*;
use crate::EnergyTerms;
use crate::blend::energy::hinge::angle;
use crate::test_shapes::{Bar, apart, apart_rigid, bar, bent, foot, twisted};

fn blend_of(bar: &Bar, poses: Vec<Vec<DVec3>>, energy: EnergyTerms, solver: Solver) -> Blend {
    Blend::connect(
        &bar.mesh,
        poses,
        &bar.tetrahedra,
        &[],
        &BlendOptions::default()
            .with_solver(solver)
            .with_energy(energy),
    )
    .expect("sound")
}

fn all_terms() -> EnergyTerms {
    EnergyTerms::springs().with_angles(1.0).with_volume(1.0)
}

#[test]
fn springs_invert_tetrahedra_of_a_coiled_bar_and_volumes_prevent_it() {
    let bar = bar(12, 3);
    let inverted = |energy: EnergyTerms, solver: Solver| {
        let frame = blend_of(
            &bar,
            vec![bar.points.clone(), bent(&bar.points, 720.0)],
            energy,
            solver,
        )
        .between(0.5)
        .unwrap();

        assert!(frame.report.converged, "{energy}: {:?}", frame.report);
        frame.inverted
    };

    assert!(inverted(EnergyTerms::springs(), Solver::Tight) > 10);
    for solver in [Solver::Fast, Solver::Tight, Solver::Newton] {
        assert_eq!(
            inverted(EnergyTerms::springs().with_volume(1.0), solver),
            0,
            "{solver:?}"
        );
    }
}

#[test]
fn the_ends_are_the_shapes_to_the_bit_whatever_the_terms() {
    let bar = bar(8, 2);
    let poses = vec![
        bar.points.clone(),
        bent(&bar.points, 90.0),
        twisted(&bar.points, 120.0),
    ];

    let mut blend = blend_of(&bar, poses.clone(), all_terms(), Solver::Tight);
    for (shape, weights) in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        .iter()
        .enumerate()
    {
        let frame = blend.at(weights).unwrap();
        assert_eq!([frame.positions, frame.interior].concat(), poses[shape]);
        assert!(
            frame.report.residual < 1e-11,
            "all terms rest in every shape: {:?}",
            frame.report
        );
    }
}

#[test]
fn all_solvers_converge_to_one_shape_with_all_terms() {
    let bar = bar(12, 3);
    let poses = vec![bar.points.clone(), bent(&bar.points, 120.0)];
    let frames = [Solver::Newton, Solver::Tight, Solver::Fast].map(|solver| {
        blend_of(&bar, poses.clone(), all_terms(), solver)
            .between(0.5)
            .unwrap()
    });

    assert!(
        frames
            .iter()
            .all(|frame| frame.report.converged && frame.inverted == 0),
        "{:?}",
        frames.each_ref().map(|f| f.report)
    );

    assert!(apart(&frames[1].positions, &frames[0].positions) < 1e-5);
    assert!(apart(&frames[2].positions, &frames[0].positions) < 2e-3);
}

#[test]
fn shapes_between_rigid_copies_are_rigid_copies_with_all_terms() {
    let bar = bar(12, 3);
    let motion = RigidMotion {
        rotation: DQuat::from_rotation_y(1.5),
        translation: DVec3::new(3.0, -2.0, 1.0),
    };

    // Lengths, angles and volumes of a rigid copy are the same.
    let copy = bar.points.iter().map(|p| motion.apply(*p)).collect();

    let frame = blend_of(
        &bar,
        vec![bar.points.clone(), copy],
        all_terms(),
        Solver::Tight,
    )
    .between(0.3)
    .unwrap();

    assert!(apart_rigid(&frame.positions, bar.mesh.positions()) < 1e-6);
}

#[test]
fn half_way_to_a_shape_twice_as_large_is_one_and_a_half_times_as_large() {
    let bar = bar(8, 2);
    let double = bar.points.iter().map(|p| *p * 2.0).collect();

    // Held at its foot: an anchor is rigid and does not grow.
    let options = BlendOptions::default()
        .with_solver(Solver::Tight)
        .with_energy(all_terms())
        .with_fixed(foot(&bar));

    let mut blend = Blend::connect(
        &bar.mesh,
        vec![bar.points.clone(), double],
        &bar.tetrahedra,
        &[],
        &options,
    )
    .unwrap();

    let frame = blend.between(0.5).unwrap();
    assert!(
        (frame.volume / bar.mesh.signed_volume() / 1.5_f64.powi(3) - 1.0).abs() < 1e-5,
        "{}",
        frame.volume
    );

    assert!(
        frame.strain < 1e-5,
        "lengths, angles and volumes agree: {}",
        frame.strain
    );
}

#[test]
fn another_unit_of_length_gives_the_same_shape() {
    let bar = bar(8, 2);
    let shape = |scale: f64| {
        let poses = [bar.points.clone(), bent(&bar.points, 150.0)]
            .map(|pose| pose.iter().map(|p| *p * scale).collect());
        // All lengths scaled by one factor.
        let mesh = bar
            .mesh
            .posed(bar.mesh.positions().iter().map(|p| *p * scale).collect())
            .unwrap();

        let scaled = Bar {
            mesh,
            points: Vec::new(),
            tetrahedra: bar.tetrahedra.clone(),
        };

        blend_of(&scaled, poses.to_vec(), all_terms(), Solver::Tight)
            .between(0.4)
            .unwrap()
    };

    let one = shape(1.0);
    let thousand = shape(1000.0);
    assert!(
        one.report.converged && thousand.report.converged,
        "{:?} {:?}",
        one.report,
        thousand.report
    );

    let back: Vec<DVec3> = thousand.positions.iter().map(|p| *p / 1000.0).collect();
    assert!(apart(&back, &one.positions) < 1e-6);
}

#[test]
fn fixed_pulled_and_constrained_vertices_are_exact_with_all_terms() {
    let bar = bar(12, 2);
    let foot = foot(&bar);
    let last = bar.mesh.vertex_count() - 1;
    let goal = bar.points[last] + DVec3::new(-0.2, 0.0, 0.4);
    let options = BlendOptions::default()
        .with_solver(Solver::Tight)
        .with_energy(all_terms())
        .with_fixed(foot.clone())
        .with_pulls(vec![(last, goal)]);

    let poses = vec![bar.points.clone(), bent(&bar.points, 60.0)];
    let mut blend =
        Blend::connect(&bar.mesh, poses.clone(), &bar.tetrahedra, &[], &options).unwrap();
    let middle = bar.mesh.vertex_count() / 2;
    let plane = Constraint::Plane {
        normal: DVec3::Z,
        offset: bar.points[middle].z + 0.3,
    };

    let frame = blend
        .constrained_at(&[0.5, 0.5], &[(middle, plane)], None)
        .unwrap();

    assert!(frame.report.converged, "{:?}", frame.report);
    assert_eq!(frame.positions[last], goal);
    assert!((frame.positions[middle].z - bar.points[middle].z - 0.3).abs() < 1e-9);
    assert!(
        foot.iter()
            .all(|&v| frame.positions[v].distance((poses[0][v] + poses[1][v]) * 0.5) < 1e-12)
    );
}

#[test]
fn only_ratios_of_a_stiffness_map_matter_to_all_terms() {
    let bar = bar(8, 2);
    let shape = |scale: f64| {
        let map = bar
            .mesh
            .positions()
            .iter()
            .map(|p| scale * (1.0 + p.x))
            .collect();

        let options = BlendOptions::default()
            .with_solver(Solver::Tight)
            .with_energy(all_terms())
            .with_stiffness(map);
        let poses = vec![bar.points.clone(), bent(&bar.points, 150.0)];

        Blend::connect(&bar.mesh, poses, &bar.tetrahedra, &[], &options)
            .unwrap()
            .between(0.5)
            .unwrap()
            .positions
    };

    assert!(apart(&shape(1.0), &shape(40.0)) < 1e-6);
}

/// A strip of `count` squares along x, each turned by `turn` against the one before; the first lies
/// still.
fn strip(count: usize, turn: f64) -> Mesh {
    let mut corner = DVec3::ZERO;
    let mut points = Vec::new();
    for k in 0..=count {
        points.extend([corner, corner + DVec3::Y]);
        let angle = turn * k as f64;
        corner += DVec3::new(angle.cos(), 0.0, angle.sin());
    }

    let quad = |k: u32| [[2 * k, 2 * k + 2, 2 * k + 3], [2 * k, 2 * k + 3, 2 * k + 1]];
    Mesh::from_triangles(
        points,
        &(0..count as u32).flat_map(quad).collect::<Vec<_>>(),
    )
    .expect("a strip")
}

/// How far an angle may be from its share where the largest force is at most 1e-6.
const ANGLE_SLACK: f64 = 1e-5;

#[test]
fn every_angle_of_a_strip_rolled_to_a_cylinder_is_interpolated() {
    let count = 24;
    let turn = 0.25; // Almost a whole turn.
    let shapes = [strip(count, 0.0), strip(count, turn)];
    let energy = EnergyTerms::springs()
        .with_lengths(LengthTerm::Edges)
        .with_angles(1.0);
    let options = BlendOptions::default()
        .with_solver(Solver::Tight)
        .with_energy(energy)
        .with_fixed(vec![0, 1, 2, 3]);

    let mut blend = Blend::new(&shapes, &options).unwrap();
    for alpha in [0.2, 0.5, 0.9] {
        let frame = blend.between(alpha).unwrap();
        assert!(
            frame.report.converged && frame.strain < 1e-5,
            "{alpha}: {:?} {}",
            frame.report,
            frame.strain
        );

        let gap = apart(&frame.positions, strip(count, alpha * turn).positions());

        // What each of the angles below may lack adds up along the strip.
        assert!(
            gap < ANGLE_SLACK * (count * count) as f64 / 2.0,
            "{alpha}: {gap}, {:?}",
            frame.report
        );

        let p = &frame.positions;
        for k in 1..count {
            let (found, _) = angle([p[2 * k], p[2 * k + 1], p[2 * k + 3], p[2 * k - 2]]).unwrap();
            assert!(
                (found.abs() - alpha * turn).abs() < ANGLE_SLACK,
                "{alpha} {k}: {found}"
            );
        }
    }
}

#[test]
fn a_bent_thin_shell_keeps_lengths_angles_and_volume() {
    let bar = bar(16, 3);
    let surface = |points: &[DVec3]| {
        bar.mesh
            .posed(points[..bar.mesh.vertex_count()].to_vec())
            .unwrap()
    };

    let shapes = [surface(&bar.points), surface(&bent(&bar.points, 90.0))];
    let options = BlendOptions::default()
        .with_solver(Solver::Tight)
        .with_energy(EnergyTerms::shell());
    let mut blend = Blend::new(&shapes, &options).unwrap();

    assert_eq!(
        (
            blend.interior_points(),
            blend.spring_counts().bending,
            blend.spring_counts().internal
        ),
        (0, 0, 0)
    );

    let frame = blend.between(0.5).unwrap();
    assert!(frame.report.converged, "{:?}", frame.report);

    // The enclosed volume is blended linearly.
    let target = 0.5 * (shapes[0].signed_volume() + shapes[1].signed_volume());
    assert!(
        (frame.volume / target - 1.0).abs() < 2e-3,
        "{} {target}",
        frame.volume
    );

    assert!(
        frame.strain < 0.01 && frame.linear.strain > 0.03,
        "{} {}",
        frame.strain,
        frame.linear.strain
    );
}

#[test]
fn one_thread_and_two_give_the_same_bits_with_all_terms() {
    let bar = bar(12, 3);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let poses = vec![bar.points.clone(), bent(&bar.points, 200.0)];

        pool.install(|| {
            blend_of(&bar, poses, all_terms(), Solver::Tight)
                .between(0.5)
                .unwrap()
        })
    };

    assert_eq!(run(1), run(2));
}

#[test]
fn an_open_sheet_has_no_volume_and_gives_a_warning() {
    let shapes = [strip(4, 0.0), strip(4, 0.3)];
    let blend = Blend::new(
        &shapes,
        &BlendOptions::default().with_energy(EnergyTerms::shell()),
    )
    .unwrap();

    assert!(
        blend
            .warnings()
            .iter()
            .any(|warning| warning.contains("no volume to keep")),
        "{:?}",
        blend.warnings()
    );

    let wrong = BlendOptions::default().with_energy(EnergyTerms::shell().with_volume(f64::NAN));
    assert!(matches!(
        Blend::new(&shapes, &wrong),
        Err(PhysicsError::TermWeight { term: "volume", .. })
    ));
}
