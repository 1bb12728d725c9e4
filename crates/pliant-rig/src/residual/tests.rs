use pliant_mesh::glam::{DMat3, DQuat, DVec3, Vec3};
use pliant_mesh::shapes::{bumpy_sheet, flat_sheet, icosphere};
use pliant_mesh::{ExactGeodesics, Mesh, SurfacePoint, TrianglePoint, triangle_normal};

use super::*;
use crate::{InBetween, Interpolation, Rig, RigError, Target, WeightTrack};

fn layer(mesh: &Mesh, pins: &[SurfacePoint], radius: f64) -> ResidualLayer {
    ResidualLayer::factor(
        mesh,
        mesh.positions(),
        pins,
        radius,
        &ResidualOptions::default(),
    )
    .unwrap()
}

fn vertices(pins: &[u32]) -> Vec<SurfacePoint> {
    pins.iter().map(|&v| SurfacePoint::Vertex(v)).collect()
}

fn inside(triangle: u32, barycentric: [f64; 3]) -> SurfacePoint {
    SurfacePoint::InTriangle(TrianglePoint {
        triangle,
        barycentric,
    })
}

/// The displacement of every vertex of the mesh.
fn dense(mesh: &Mesh, residual: &Residual) -> Vec<DVec3> {
    let mut dense = vec![DVec3::ZERO; mesh.vertex_count()];
    for (&v, &d) in residual.vertices().iter().zip(residual.displacements()) {
        dense[v as usize] = d;
    }
    dense
}

/// The middle of a sheet of `n` × `n` quads.
fn middle(n: usize) -> u32 {
    ((n / 2) * (n + 1) + n / 2) as u32
}

#[test]
fn pins_move_by_their_residuals_and_nothing_moves_outside_the_disc() {
    let mesh = bumpy_sheet(24, 0.3);
    let pins = [
        SurfacePoint::Vertex(312),
        inside(500, [0.2, 0.5, 0.3]),
        inside(501, [0.6, 0.0, 0.4]),
        SurfacePoint::Vertex(24),
    ];

    let goals = [
        DVec3::new(0.1, 0.0, 0.05),
        DVec3::new(0.0, -0.04, 0.1),
        DVec3::new(0.02, -0.03, 0.1),
        DVec3::Z * 0.1,
    ];

    let (residual, report) = layer(&mesh, &pins, 0.3).residual(&goals).unwrap();
    assert!(
        report.converged && report.largest_error < 1e-15,
        "{report:?}"
    );

    let mut posed = mesh.positions().to_vec();
    residual.apply_to(&mut posed, 1.0).unwrap();
    let moved = mesh.posed(posed.clone()).unwrap();

    for (pin, goal) in pins.iter().zip(goals) {
        assert!(pin.position(&moved).distance(pin.position(&mesh) + goal) < 1e-14);
    }

    let distances = ExactGeodesics::new(&mesh)
        .unwrap()
        .distances(&pins)
        .unwrap();
    let mut outside = (0..mesh.vertex_count())
        .filter(|&v| distances[v] >= 0.3)
        .peekable();

    assert!(outside.peek().is_some() && outside.all(|v| posed[v] == mesh.positions()[v]));
    let within = distances.iter().filter(|&&distance| distance < 0.3).count();
    assert_eq!(
        residual.vertices().len(),
        within,
        "cutting the mesh ahead of measuring loses no vertex"
    );
}

#[test]
fn a_stiff_linear_plate_has_the_profile_of_the_clamped_circular_plate() {
    let (n, radius) = (64, 0.4);
    let mesh = flat_sheet(n, 0.0);
    let options = ResidualOptions::default()
        .with_bending_length(1e3)
        .with_iterations(0);
    let pins = vertices(&[middle(n)]);
    let layer = ResidualLayer::factor(&mesh, mesh.positions(), &pins, radius, &options).unwrap();
    let mut displacement = vec![DVec3::ZERO; layer.vertices().len()];

    layer.solve(&[DVec3::Z], &mut displacement).unwrap();
    let centre = pins[0].position(&mesh);
    for (&v, d) in layer.vertices().iter().zip(displacement) {
        let rho = mesh.positions()[v as usize].distance(centre) / radius;
        let profile = if rho > 0.0 {
            1.0 - rho * rho + 2.0 * rho * rho * rho.ln()
        } else {
            1.0
        };

        // Half an edge of uncertainty about where the rim is, times the steepest slope, 4/e.
        assert!(
            (d.z - profile).abs() < 1.5 * 0.5 / (n as f64 * radius),
            "{rho}: {} {profile}",
            d.z
        );
    }
}

#[test]
fn slope_and_value_at_the_rim_converge_to_zero_with_shorter_edges() {
    let steepest_at_rim = |n: usize| {
        let mesh = flat_sheet(n, 0.0);
        let (residual, _) = layer(&mesh, &vertices(&[middle(n)]), 0.4)
            .residual(&[DVec3::new(0.03, 0.0, 0.1)])
            .unwrap();
        let moved = dense(&mesh, &residual);
        let free = |v: u32| residual.vertices().binary_search(&v).is_ok();

        let rim = mesh
            .topology()
            .edges()
            .iter()
            .filter(|[a, b]| free(*a) != free(*b));

        rim.map(|&[a, b]| moved[a as usize].distance(moved[b as usize]) * n as f64)
            .fold(0.0, f64::max)
    };

    let slopes = [20, 40, 80].map(steepest_at_rim);
    assert!(
        slopes[1] < 0.7 * slopes[0] && slopes[2] < 0.7 * slopes[1],
        "{slopes:?}"
    );
}

#[test]
fn zero_residuals_give_zero_displacements() {
    let mesh = bumpy_sheet(12, 0.3);
    let (residual, report) = layer(&mesh, &vertices(&[80, 30]), 0.4)
        .residual(&[DVec3::ZERO; 2])
        .unwrap();

    assert!(
        report.converged
            && residual
                .displacements()
                .iter()
                .all(|d| d.to_array().map(f64::to_bits) == [0; 3])
    );
}

#[test]
fn rotating_scaling_and_translating_the_scene_transforms_the_layer() {
    let mesh = bumpy_sheet(20, 0.3);
    let rotation = DMat3::from_axis_angle(DVec3::new(1.0, -2.0, 0.5).normalize(), 2.1);
    let similar: Vec<DVec3> = mesh
        .positions()
        .iter()
        .map(|&p| rotation * p * 300.0 + DVec3::new(50.0, -20.0, 7.0))
        .collect();

    let pins = [
        SurfacePoint::Vertex(middle(20)),
        inside(150, [0.3, 0.3, 0.4]),
    ];
    let goals = [DVec3::new(0.05, 0.02, 0.1), DVec3::new(0.0, -0.08, 0.02)];
    let (small, _) = layer(&mesh, &pins, 0.31).residual(&goals).unwrap();

    let (large, _) = layer(&mesh.posed(similar).unwrap(), &pins, 0.31 * 300.0)
        .residual(&goals.map(|g| rotation * g * 300.0))
        .unwrap();

    assert_eq!(small.vertices(), large.vertices());
    let worst = small
        .displacements()
        .iter()
        .zip(large.displacements())
        .map(|(&s, l)| (rotation * s).distance(*l / 300.0))
        .fold(0.0, f64::max);

    assert!(worst < 1e-9 * 0.1, "{worst}");
}

#[test]
fn coincident_pins_with_different_residuals_move_by_their_mean_and_are_reported() {
    let mesh = bumpy_sheet(10, 0.2);
    let goals = [DVec3::X * 0.1, DVec3::Y * 0.1];
    let (residual, report) = layer(&mesh, &vertices(&[60, 60]), 0.4)
        .residual(&goals)
        .unwrap();

    assert!(dense(&mesh, &residual)[60].distance(DVec3::new(0.05, 0.05, 0.0)) < 1e-15);
    assert!(
        (report.largest_error - goals[0].distance(goals[1]) / 2.0).abs() < 1e-15,
        "{report:?}"
    );
}

#[test]
fn a_vertex_without_faces_moves_alone() {
    let sheet = bumpy_sheet(6, 0.0);
    let mut positions = sheet.positions().to_vec();
    positions.push(DVec3::new(0.5, 0.5, 0.01));

    let mesh = Mesh::from_triangles(positions, sheet.triangles()).unwrap();
    let (residual, report) = layer(&mesh, &vertices(&[49]), 0.3)
        .residual(&[DVec3::X])
        .unwrap();

    assert_eq!(
        (residual.vertices(), residual.displacements()),
        (&[49][..], &[DVec3::X][..])
    );
    assert!(report.converged && report.largest_error == 0.0);

    let points = Mesh::from_triangles(vec![DVec3::ZERO, DVec3::X], &[]).unwrap();
    let (residual, _) = layer(&points, &vertices(&[1]), 5.0)
        .residual(&[DVec3::Z])
        .unwrap();

    assert_eq!(residual.vertices(), [1]);
}

#[test]
fn a_component_within_the_radius_is_translated_by_its_only_pin() {
    let mesh = icosphere(2);
    let pull = DVec3::new(0.3, -0.2, 0.5);
    let (residual, _) = layer(&mesh, &vertices(&[17]), 10.0)
        .residual(&[pull])
        .unwrap();

    assert_eq!(residual.vertices().len(), mesh.vertex_count());
    assert!(
        residual
            .displacements()
            .iter()
            .all(|d| d.distance(pull) < 1e-9)
    );
}

#[test]
fn vertices_near_in_space_but_far_on_the_surface_do_not_move() {
    // A sheet folded in two: two layers, 0.02 apart, joined at one side.
    let sheet = flat_sheet(40, 0.0);
    let bend = |p: &DVec3| {
        if p.x < 0.5 {
            DVec3::new(p.x, p.y, 0.02)
        } else {
            DVec3::new(1.0 - p.x, p.y, 0.0)
        }
    };

    let lids = sheet
        .posed(sheet.positions().iter().map(bend).collect())
        .unwrap();
    let pin = (4 * 41 + 20) as u32;
    let (residual, _) = layer(&lids, &vertices(&[pin]), 0.2)
        .residual(&[DVec3::Z * 0.05])
        .unwrap();

    assert!(residual.vertices().len() > 100);
    assert!(
        residual
            .vertices()
            .iter()
            .all(|&v| sheet.positions()[v as usize].x < 0.5),
        "the upper lid alone"
    );
}

#[test]
fn meshes_with_holes_boundaries_and_needles_are_solved() {
    let sheet = bumpy_sheet(20, 0.3);
    let hole = |t: &[u32; 3]| {
        t.iter()
            .any(|&v| sheet.positions()[v as usize].distance(DVec3::new(0.5, 0.5, 0.0)) < 0.2)
    };

    let mut triangles: Vec<[u32; 3]> = sheet
        .triangles()
        .iter()
        .copied()
        .filter(|t| !hole(t))
        .collect();

    triangles.push([20, 20 + 21, 20]); // A triangle without area on the outer rim.
    let mut positions = sheet.positions().to_vec();
    positions[100] = positions[101]; // And several around two coincident vertices.

    let mesh = Mesh::from_triangles(positions, &triangles).unwrap();
    let pins = vertices(&[20, 100, 5 * 21 + 10]);
    let goals = [DVec3::new(0.05, 0.0, 0.1), DVec3::Z * 0.02, DVec3::Y * 0.1];
    let (residual, report) = layer(&mesh, &pins, 0.35).residual(&goals).unwrap();

    assert!(
        report.converged && report.largest_error < 1e-14,
        "{report:?}"
    );

    let longest = residual
        .displacements()
        .iter()
        .map(|d| d.length())
        .fold(0.0, f64::max);

    assert!(
        longest < 2.0 * 0.12,
        "no vertex is thrown farther than about the pins: {longest}"
    );
}

#[test]
fn a_component_shrunk_to_a_point_moves_with_its_pin() {
    let sheet = bumpy_sheet(4, 0.2);
    let mut positions = sheet.positions().to_vec();
    positions.extend([DVec3::ONE; 3]);

    let triangles: Vec<[u32; 3]> = sheet
        .triangles()
        .iter()
        .copied()
        .chain([[25, 26, 27]])
        .collect();

    let mesh = Mesh::from_triangles(positions, &triangles).unwrap();
    let (residual, report) = layer(&mesh, &vertices(&[25, 12]), 0.4)
        .residual(&[DVec3::X * 0.1, DVec3::Z * 0.1])
        .unwrap();

    assert!(report.largest_error < 1e-15 && residual.displacements().iter().all(|d| d.is_finite()));
}

#[test]
fn below_the_shortest_edge_only_the_vertices_of_the_pins_move() {
    let mesh = bumpy_sheet(10, 0.2);
    let pins = [SurfacePoint::Vertex(60), inside(7, [0.2, 0.3, 0.5])];
    let layer = layer(&mesh, &pins, 1e-3);
    let mut held: Vec<u32> = mesh.triangles()[7].iter().copied().chain([60]).collect();
    held.sort_unstable();
    assert_eq!(layer.vertices(), held);
    let (_, report) = layer.residual(&[DVec3::X * 0.01, DVec3::Y * 0.01]).unwrap();
    assert!(report.largest_error < 1e-15);
}

#[test]
fn a_residual_along_the_surface_within_the_suggested_radius_folds_no_triangle() {
    let mesh = flat_sheet(40, 0.2);
    let pull = DVec3::new(0.15, 0.05, 0.0);
    let radius = ResidualLayer::suggested_radius(&mesh, mesh.positions(), &[pull]);

    assert!(
        (radius - ResidualLayer::RADII_PER_RESIDUAL * pull.length()).abs() < 1e-15,
        "the pull is what counts here"
    );

    let (residual, _) = layer(&mesh, &vertices(&[middle(40)]), radius)
        .residual(&[pull])
        .unwrap();
    let mut posed = mesh.positions().to_vec();

    residual.apply_to(&mut posed, 1.0).unwrap();
    let moved = mesh.posed(posed).unwrap();
    let up = |t: usize| {
        triangle_normal(moved.triangle_points(t)).dot(triangle_normal(mesh.triangle_points(t)))
    };

    assert!((0..mesh.triangles().len()).all(|t| up(t) > 0.5));
}

#[test]
fn a_residual_is_exact_in_the_bind_pose_and_rotates_with_the_surface() {
    let mesh = bumpy_sheet(12, 0.3);
    let (residual, _) = layer(&mesh, &vertices(&[middle(12)]), 0.4)
        .residual(&[DVec3::new(0.02, 0.0, 0.1)])
        .unwrap();
    let mut bind = mesh.positions().to_vec();

    residual.apply_to(&mut bind, 0.5).unwrap();
    let expected = mesh
        .positions()
        .iter()
        .zip(dense(&mesh, &residual))
        .map(|(&p, d)| p + d * 0.5);

    assert!(bind.iter().zip(expected).all(|(&a, b)| a == b));
    let rotation = DQuat::from_axis_angle(DVec3::new(0.2, 1.0, -0.4).normalize(), 1.9);
    let away = |p: DVec3| rotation * p + DVec3::new(3.0, 1.0, -2.0);
    let mut posed: Vec<DVec3> = mesh.positions().iter().map(|&p| away(p)).collect();

    residual.apply_to(&mut posed, 0.5).unwrap();
    assert!(
        posed
            .iter()
            .zip(&bind)
            .all(|(p, &b)| p.distance(away(b)) < 1e-13)
    );
}

#[test]
fn strengths_follow_their_track() {
    let mesh = bumpy_sheet(6, 0.2);
    let residual = Residual::new(
        &mesh,
        mesh.positions(),
        vec![3, 9],
        vec![DVec3::X, DVec3::Z * 2.0],
    )
    .unwrap();

    let track = |weights: usize| {
        WeightTrack::new(
            vec![0.0, 2.0],
            vec![vec![0.0; weights], vec![1.0; weights]],
            Interpolation::Linear,
        )
    };

    assert!(KeyedResidual::new(residual.clone(), track(2).unwrap()).is_err());
    let keyed = KeyedResidual::new(residual, track(1).unwrap()).unwrap();
    let mut posed = mesh.positions().to_vec();
    keyed.apply_at(0.5, &mut posed).unwrap();

    assert_eq!(posed[9], mesh.positions()[9] + DVec3::Z * 0.5);
}

#[test]
fn invalid_vertices_poses_and_options_are_errors() {
    let mesh = bumpy_sheet(4, 0.2);
    let options = ResidualOptions::default();
    let factor = |pins: &[u32], radius: f64, options: &ResidualOptions| {
        ResidualLayer::factor(&mesh, mesh.positions(), &vertices(pins), radius, options)
            .map(|layer| layer.vertices().len())
    };

    assert!(factor(&[99], 0.5, &options).is_err());
    assert!(factor(&[3], f64::NAN, &options).is_err());
    assert!(factor(&[3], 0.5, &options.with_bending_length(0.0)).is_err());
    assert_eq!(factor(&[], 0.5, &options).unwrap(), 0, "no pins, no layer");
    assert!(ResidualLayer::factor(&mesh, &[DVec3::ZERO], &vertices(&[3]), 0.5, &options).is_err());

    let layer = layer(&mesh, &vertices(&[3]), 0.5);
    assert!(layer.residual(&[]).is_err());
    assert!(matches!(
        layer.residual(&[DVec3::NAN]),
        Err(RigError::NotFinite { vertex: 3, .. })
    ));

    let bound = |vertices: &[u32], displacements: &[DVec3]| {
        Residual::new(
            &mesh,
            mesh.positions(),
            vertices.to_vec(),
            displacements.to_vec(),
        )
    };

    assert!(
        bound(&[2, 1], &[DVec3::X; 2]).is_err()
            && bound(&[1], &[]).is_err()
            && bound(&[77], &[DVec3::X]).is_err()
    );
    assert!(
        bound(&[1], &[DVec3::X])
            .unwrap()
            .apply_to(&mut [DVec3::ZERO; 2], 1.0)
            .is_err()
    );
}

/// A rig of two sliders, the first with an in-between at 0.5, and a layer made at `weights`.
fn sculpted(weights: &[f64]) -> (Rig, Residual, Vec<DVec3>) {
    let neutral = bumpy_sheet(12, 0.3);
    let wave = |k: f64| {
        move |p: &DVec3| Vec3::new(0.0, (p.x * k) as f32 * 0.1, ((p.y * k).sin() * 0.1) as f32)
    };
    let mut bent = Target::from_dense("bent", neutral.positions().iter().map(wave(2.0)));
    let in_between = Target::from_dense("", neutral.positions().iter().map(wave(5.0)));

    bent.in_betweens.push(InBetween {
        name: "half".into(),
        weight: 0.5,
        vertices: in_between.vertices,
        deltas: in_between.deltas,
    });

    let other = Target::from_dense("other", neutral.positions().iter().map(wave(-3.0)));
    let rig = Rig::new(neutral, vec![bent, other]).unwrap();
    let pose = rig.evaluate(weights);
    let pins = vertices(&[middle(12), 40]);
    let layer = ResidualLayer::factor(
        rig.neutral(),
        &pose,
        &pins,
        0.35,
        &ResidualOptions::default(),
    )
    .unwrap();

    let (residual, _) = layer.residual(&[DVec3::Z * 0.1, DVec3::X * -0.05]).unwrap();
    let mut sculpt = pose;
    residual.apply_to(&mut sculpt, 1.0).unwrap();

    (rig, residual, sculpt)
}

fn assert_same_pose(found: &[DVec3], expected: &[DVec3]) {
    // Displacements below 1 are rounded to `f32` once or twice.
    let worst = found
        .iter()
        .zip(expected)
        .map(|(a, b)| a.distance(*b))
        .fold(0.0, f64::max);
    assert!(worst < 4.0 * f64::from(f32::EPSILON), "{worst}");
}

#[test]
fn a_residual_promoted_to_a_target_gives_the_same_pose_at_its_weight() {
    let (rig, residual, sculpt) = sculpted(&[0.3, 0.8]);
    let mut targets = rig.targets().to_vec();
    targets.push(residual.to_target("fix", 0.7).unwrap());
    let promoted = Rig::new(rig.neutral().clone(), targets).unwrap();
    assert_same_pose(&promoted.evaluate(&[0.3, 0.8, 0.7]), &sculpt);
    assert_eq!(promoted.evaluate(&[0.3, 0.8]), rig.evaluate(&[0.3, 0.8]));
    assert!(residual.to_target("fix", 0.0).is_err());
}

#[test]
fn a_residual_promoted_to_an_in_between_changes_no_other_key() {
    for weight in [0.3, 0.5, 0.75, -0.4, 1.3] {
        let (rig, residual, sculpt) = sculpted(&[weight, 0.8]);
        let mut targets = rig.targets().to_vec();
        targets[0] = residual.to_in_between(&targets[0], "fix", weight).unwrap();

        assert!(
            targets[0]
                .in_betweens
                .is_sorted_by(|a, b| a.weight < b.weight)
        );

        let promoted = Rig::new(rig.neutral().clone(), targets).unwrap();
        assert_same_pose(&promoted.evaluate(&[weight, 0.8]), &sculpt);
        for key in [0.0, 0.5, 1.0].into_iter().filter(|&key| key != weight) {
            assert_eq!(promoted.evaluate(&[key, 0.8]), rig.evaluate(&[key, 0.8]));
        }

        assert_eq!(promoted.evaluate(&[0.0, 0.0]), rig.neutral().positions());
    }

    let (rig, residual, _) = sculpted(&[1.0, 0.0]);
    assert!(
        [0.0, 1.0, f64::NAN]
            .iter()
            .all(|&w| residual.to_in_between(&rig.targets()[0], "", w).is_err())
    );
}

#[test]
fn a_residual_promoted_to_a_combination_gives_the_same_pose() {
    let (rig, residual, sculpt) = sculpted(&[0.3, 0.8]);
    let coefficient = 0.3 * 0.8;
    let (vertices, deltas) = residual.displacements_for_coefficient(coefficient).unwrap();
    let mut pose = rig.evaluate(&[0.3, 0.8]);

    for (&v, delta) in vertices.iter().zip(deltas) {
        pose[v as usize] += delta.as_dvec3() * coefficient;
    }
    assert_same_pose(&pose, &sculpt);

    assert!(
        residual.displacements_for_coefficient(1e-4).is_err()
            && residual.displacements_for_coefficient(f64::NAN).is_err()
    );
}
