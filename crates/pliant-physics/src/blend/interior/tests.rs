use super::tetrahedron::volume;
use super::*;
use crate::test_solids::{bar, bent, fork, joined, twisted};
use pliant_mesh::glam::DQuat;
use pliant_mesh::shapes::{bumpy_sheet, icosphere};

fn filled(shapes: &[&Mesh]) -> Interior {
    Interior::fill(shapes, &InteriorOptions::default()).unwrap()
}

fn all_points(interior: &Interior, mesh: &Mesh, shape: usize) -> Vec<DVec3> {
    [mesh.positions(), interior.points(shape)].concat()
}

fn volumes(interior: &Interior, mesh: &Mesh, shape: usize) -> Vec<f64> {
    let points = all_points(interior, mesh, shape);
    interior
        .tetrahedra()
        .iter()
        .map(|t| volume(t.map(|v| points[v as usize])))
        .collect()
}

#[test]
fn tetrahedra_fill_closed_shapes_and_none_is_inverted() {
    let straight = bar(4);
    let arc = bent(&straight, 90.0);
    let screw = twisted(&straight, 120.0);
    let shapes = [&straight, &arc, &screw];
    let interior = filled(&shapes);

    assert!(interior.points(0).len() > straight.vertex_count() / 10);
    for (shape, mesh) in shapes.into_iter().enumerate() {
        assert_eq!(interior.points(shape).len(), interior.points(0).len());
        let volumes = volumes(&interior, mesh, shape);
        assert!(volumes.iter().all(|&v| v > 0.0));
        let share = volumes.iter().sum::<f64>() / mesh.signed_volume();

        // In the bend, quads of the surface are not plane; the tetrahedra may take the other
        // diagonal.
        assert!((0.95..1.001).contains(&share), "shape {shape}: {share}");
    }
}

#[test]
fn the_order_of_the_shapes_does_not_matter() {
    let straight = bar(3);
    let arc = bent(&straight, 90.0);
    let screw = twisted(&straight, 120.0);
    let first = filled(&[&straight, &arc, &screw]);
    let second = filled(&[&screw, &straight, &arc]);

    assert_eq!(first.tetrahedra(), second.tetrahedra());
    assert_eq!(first.points(0), second.points(1));
    assert_eq!(first.points(1), second.points(2));
    assert_eq!(first.points(2), second.points(0));

    // Shapes with one spread, too: a bar and itself, moved.
    let moved = straight
        .posed(
            straight
                .positions()
                .iter()
                .map(|p| *p + DVec3::X * 8.0)
                .collect(),
        )
        .unwrap();

    assert_eq!(
        filled(&[&straight, &moved]).points(0),
        filled(&[&moved, &straight]).points(1)
    );
}

#[test]
fn unit_and_placement_do_not_matter() {
    let sphere = icosphere(3);
    let interior = filled(&[&sphere]);
    let turn = DQuat::from_axis_angle(DVec3::new(1.0, -2.0, 0.5).normalize(), 0.7);
    let motion = |p: DVec3| turn * p * 1e5 + DVec3::new(3e5, 0.0, -1e5);
    let moved = filled(&[&sphere
        .posed(sphere.positions().iter().map(|&p| motion(p)).collect())
        .unwrap()]);

    assert_eq!(interior.points(0).len(), moved.points(0).len());
    for (p, q) in interior.points(0).iter().zip(moved.points(0)) {
        assert!(motion(*p).distance(*q) < 1e-9 * 1e5);
    }
}

#[test]
fn without_interior_points_tetrahedra_connect_the_surface_only() {
    let sphere = icosphere(3);
    let options = InteriorOptions::default().with_points(InteriorPoints::None);
    let interior = Interior::fill(&[&sphere], &options).unwrap();

    assert!(interior.points(0).is_empty());
    assert!(
        interior
            .tetrahedra()
            .iter()
            .flatten()
            .all(|&v| (v as usize) < sphere.vertex_count())
    );

    assert!(volumes(&interior, &sphere, 0).iter().sum::<f64>() > 0.95 * sphere.signed_volume());
}

#[test]
fn a_sheet_has_no_interior_and_gives_a_warning() {
    let interior = filled(&[&bumpy_sheet(10, 0.3)]);
    assert!(interior.tetrahedra().is_empty() && interior.points(0).is_empty());
    assert_eq!(
        interior.warnings(),
        ["the surface: open, so without an interior; surface springs only"]
    );
}

#[test]
fn a_ball_inside_a_ball_and_a_sheet_beside_them_are_separate_components() {
    let outer = icosphere(3);
    let inner = outer
        .posed(
            outer
                .positions()
                .iter()
                .map(|p| *p * 0.4 + DVec3::X * 0.2)
                .collect(),
        )
        .unwrap();

    let all = joined(&joined(&outer, &inner), &bumpy_sheet(6, 0.3));
    let interior = filled(&[&all]);
    let component = |v: u32| (v as usize / outer.vertex_count()).min(2);
    let in_part = |t: &&[u32; 4], k: usize| {
        t.iter()
            .all(|&v| (v as usize) >= all.vertex_count() || component(v) == k)
    };

    let volume_of = |k: usize| {
        let points = all_points(&interior, &all, 0);
        let own = interior
            .tetrahedra()
            .iter()
            .filter(|t| in_part(t, k) && t.iter().any(|&v| (v as usize) < all.vertex_count()));
        own.map(|t| volume(t.map(|v| points[v as usize])))
            .sum::<f64>()
    };

    assert!(
        interior
            .tetrahedra()
            .iter()
            .all(|t| (0..2).any(|k| in_part(&t, k)))
    );

    assert!(volume_of(0) > 5.0 * volume_of(1) && volume_of(1) > 0.0);
    assert!(interior.warnings()[0].starts_with("1 of 3 components: open"));
}

#[test]
fn a_closed_shape_without_thickness_has_no_tetrahedra_and_gives_a_warning() {
    let sphere = icosphere(2);
    let flat = sphere
        .posed(
            sphere
                .positions()
                .iter()
                .map(|p| DVec3::new(p.x, p.y, 0.0))
                .collect(),
        )
        .unwrap();

    let point = sphere
        .posed(vec![DVec3::ONE; sphere.vertex_count()])
        .unwrap();

    for (shapes, warning) in [
        (vec![&flat], "too thin"),
        (vec![&point], "too thin"),
        (vec![&sphere, &flat], "flat or turned"),
        (vec![&sphere, &point], "flat or turned"),
    ] {
        let interior = filled(&shapes);
        assert!(interior.tetrahedra().is_empty() && interior.points(0).is_empty());
        assert!(
            interior
                .warnings()
                .iter()
                .any(|found| found.contains(warning)),
            "{:?}",
            interior.warnings()
        );
    }
}

#[test]
fn a_ball_split_along_a_seam_is_filled_as_one_component() {
    let sphere = icosphere(3);
    let upper = |t: &&[u32; 3]| {
        t.iter()
            .map(|&v| sphere.positions()[v as usize].z)
            .sum::<f64>()
            > 0.0
    };

    let half = |keep: bool| {
        let kept: Vec<[u32; 3]> = sphere
            .triangles()
            .iter()
            .filter(|t| upper(t) == keep)
            .copied()
            .collect();
        Mesh::from_triangles(sphere.positions().to_vec(), &kept).unwrap()
    };

    let seamed = joined(&half(true), &half(false));
    let whole = filled(&[&sphere]);
    let split = filled(&[&seamed]);
    assert!(
        split.warnings()[0].contains("coincide"),
        "{:?}",
        split.warnings()
    );

    let filled_volume =
        |interior: &Interior, mesh: &Mesh| volumes(interior, mesh, 0).iter().sum::<f64>();
    assert!((filled_volume(&split, &seamed) / filled_volume(&whole, &sphere) - 1.0).abs() < 0.02);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(48))]

    #[test]
    fn filling_ends_for_any_triangles_and_nothing_is_inverted(
        corners in proptest::collection::vec((0_u32..12, 0_u32..12, 0_u32..12), 1..40),
        first in proptest::collection::vec((-3_i8..4, -3_i8..4, -3_i8..4), 12),
        second in proptest::collection::vec((-3_i8..4, -3_i8..4, -3_i8..4), 12),
    ) {
        let points = |cells: &[(i8, i8, i8)]| cells.iter().map(|&(x, y, z)| DVec3::new(x.into(), y.into(), z.into())).collect::<Vec<_>>();
        let triangles: Vec<[u32; 3]> = corners.into_iter().map(<[u32; 3]>::from).collect();
        let mesh = Mesh::from_triangles(points(&first), &triangles).unwrap();
        let other = mesh.posed(points(&second)).unwrap();
        let interior = filled(&[&mesh, &other]);
        proptest::prop_assert!(volumes(&interior, &mesh, 0).iter().chain(&volumes(&interior, &other, 1)).all(|&v| v > 0.0));
    }

    #[test]
    fn a_crumpled_ball_is_filled_without_an_inverted_tetrahedron(seed in 0_u64..1000, depth in 0.0_f64..0.6) {
        let sphere = icosphere(2);
        let noise = |v: usize, shape: u64| delaunay::split_mix(seed << 32 ^ shape << 24 ^ v as u64) as f64 / u64::MAX as f64;
        let crumpled = |shape: u64| {
            let moved = sphere.positions().iter().enumerate().map(|(v, p)| *p * (1.0 - depth * noise(v, shape)));
            sphere.posed(moved.collect()).unwrap()
        };
        let a = crumpled(1);
        let b = crumpled(2);
        let interior = filled(&[&a, &b]);
        proptest::prop_assert!(volumes(&interior, &a, 0).iter().chain(&volumes(&interior, &b, 1)).all(|&v| v > 0.0));
    }
}

#[test]
fn a_mirrored_shape_has_no_common_interior_and_gives_a_warning() {
    let solid = fork(0.3);
    let mirrored = solid
        .posed(
            solid
                .positions()
                .iter()
                .map(|p| DVec3::new(-p.x, p.y, p.z))
                .collect(),
        )
        .unwrap();

    let interior = filled(&[&solid, &mirrored]);
    assert!(interior.tetrahedra().is_empty());
    assert!(
        interior
            .warnings()
            .iter()
            .any(|warning| warning.contains("inside out"))
    );
}

#[test]
fn shapes_of_different_meshes_are_rejected() {
    let options = InteriorOptions::default();
    let sphere = icosphere(2);
    let solid = bar(2);
    assert!(matches!(
        Interior::fill(&[], &options),
        Err(PhysicsError::NoShapes)
    ));

    assert!(matches!(
        Interior::fill(&[&sphere, &solid], &options),
        Err(PhysicsError::VertexCountMismatch { shape: 1, .. })
    ));

    let turned: Vec<[u32; 3]> = sphere
        .triangles()
        .iter()
        .map(|&[a, b, c]| [a, c, b])
        .collect();
    let turned = Mesh::from_triangles(sphere.positions().to_vec(), &turned).unwrap();

    assert!(matches!(
        Interior::fill(&[&sphere, &turned], &options),
        Err(PhysicsError::FaceMismatch { shape: 1 })
    ));

    let broken = sphere
        .posed(vec![DVec3::NAN; sphere.vertex_count()])
        .unwrap();

    assert!(matches!(
        Interior::fill(&[&sphere, &broken], &options),
        Err(PhysicsError::Shape { shape: 1, .. })
    ));

    for points in [
        InteriorPoints::Share(f64::NAN),
        InteriorPoints::Spacing(0.0),
    ] {
        assert!(Interior::fill(&[&sphere], &options.with_points(points)).is_err());
    }
}

#[cfg(feature = "parallel")]
#[test]
fn one_thread_and_two_give_the_same_bits() {
    let straight = bar(4);
    let arc = bent(&straight, 90.0);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a pool of threads");
        pool.install(|| filled(&[&straight, &arc]))
    };

    assert_eq!(on(1), on(2));
}
