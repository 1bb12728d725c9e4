use super::*;
use crate::test_shapes::lump;
use pliant_mesh::SurfaceIndex;
use pliant_mesh::glam::DQuat;
use pliant_mesh::shapes::icosphere;

/// Some vertices with the places of the same vertices in another pose.
fn goals(to: &Mesh, vertices: &[u32]) -> Vec<(u32, DVec3)> {
    vertices
        .iter()
        .map(|&v| (v, to.positions()[v as usize]))
        .collect()
}

fn farthest(points: &[DVec3], from: &Mesh) -> f64 {
    let index = SurfaceIndex::new(from).unwrap();
    points
        .iter()
        .map(|&p| index.closest_point(p).unwrap().distance)
        .fold(0.0, f64::max)
}

#[test]
fn registering_a_surface_onto_itself_changes_nothing() {
    let mesh = lump(3, 0.0);
    for options in [
        RegistrationOptions::default(),
        RegistrationOptions::default()
            .with_pull_from_target(0.5)
            .with_sliding(0.5),
    ] {
        let moved = register(
            &mesh,
            &mesh,
            mesh.positions().to_vec(),
            &goals(&mesh, &[0, 1, 2, 3]),
            &options,
        )
        .unwrap();

        let off = moved
            .iter()
            .zip(mesh.positions())
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f64::max);

        assert!(off < 1e-9, "{off}");
    }
}

#[test]
fn a_registered_lump_and_its_target_cover_each_other() {
    let (source, target) = (lump(3, 0.0), lump(4, 0.5));
    let before = farthest(source.positions(), &target);
    let marks = goals(&target, &[0, 1, 2, 3, 5, 8]);
    let fit = |options: RegistrationOptions| {
        register(
            &source,
            &target,
            source.positions().to_vec(),
            &marks,
            &options,
        )
        .unwrap()
    };

    let moved = fit(RegistrationOptions::default());
    assert!(farthest(&moved, &target) < 0.05 * before);

    // Only where the target pulls, too, is the end of its nose reached.
    let pulled = fit(RegistrationOptions::default().with_pull_from_target(0.5));
    let missing = |moved: Vec<DVec3>| farthest(target.positions(), &source.posed(moved).unwrap());

    assert!(farthest(&pulled, &target) < 0.2 * before);
    let (plain, pulled) = (missing(moved), missing(pulled));
    assert!(pulled < 0.25 * plain, "{pulled} {plain}");
}

#[test]
fn a_bent_arm_is_followed_although_its_parts_rotate() {
    // A long ellipsoid bent by a right angle over its length.
    let arm = icosphere(3);
    let long = arm
        .posed(
            arm.positions()
                .iter()
                .map(|&p| p * DVec3::new(6.0, 1.0, 1.0))
                .collect(),
        )
        .unwrap();

    let bend = |p: DVec3| {
        let turn = DQuat::from_rotation_z(p.x / 6.0 * std::f64::consts::FRAC_PI_4);
        DVec3::new(p.x, -0.05 * p.x * p.x, 0.0) + turn.inverse() * DVec3::new(0.0, p.y, p.z)
    };
    let bent = long
        .posed(long.positions().iter().map(|&p| bend(p)).collect())
        .unwrap();

    let marks: Vec<u32> = (0..12).collect();
    let moved = register(
        &long,
        &bent,
        long.positions().to_vec(),
        &goals(&bent, &marks),
        &RegistrationOptions::default(),
    )
    .unwrap();

    let off = |points: &[DVec3]| {
        points
            .iter()
            .zip(bent.positions())
            .map(|(a, b)| a.distance_squared(*b))
            .sum::<f64>()
            .sqrt()
    };

    let before = off(long.positions());
    let after = off(&moved);
    assert!(after < 0.3 * before, "{after} {before}");
}

#[test]
fn over_a_hole_of_the_target_the_source_is_not_drawn_to_the_boundary() {
    let (source, whole) = (lump(3, 0.0), lump(4, 0.3));
    let over = |v: u32| whole.positions()[v as usize].normalize().z > 0.9;
    let kept: Vec<[u32; 3]> = whole
        .triangles()
        .iter()
        .copied()
        .filter(|t| !t.iter().any(|&v| over(v)))
        .collect();

    let open = Mesh::from_triangles(whole.positions().to_vec(), &kept).unwrap();
    let marks = goals(&whole, &[0, 1, 2, 3, 5, 8]);
    let fit = |target: &Mesh, gaps: bool| {
        let options = RegistrationOptions::default().with_gaps(gaps);
        register(
            &source,
            target,
            source.positions().to_vec(),
            &marks,
            &options,
        )
        .unwrap()
    };

    let complete = fit(&whole, true);
    assert_eq!(complete, fit(&whole, false), "a closed target has no gap");

    let off = |found: Vec<DVec3>| {
        found
            .iter()
            .zip(&complete)
            .map(|(a, b)| a.distance_squared(*b))
            .sum::<f64>()
            .sqrt()
    };

    let with = off(fit(&open, true));
    let without = off(fit(&open, false));
    assert!(with < 0.5 * without, "{with} {without}");
}

#[test]
fn scaling_by_a_power_of_two_scales_every_bit() {
    let (source, target) = (lump(2, 0.0), lump(3, 0.4));
    let options = RegistrationOptions::default().with_pull_from_target(0.5);
    let marks = goals(&target, &[0, 1, 2, 3, 5]);
    let plain = register(
        &source,
        &target,
        source.positions().to_vec(),
        &marks,
        &options,
    )
    .unwrap();

    for scale in [1024.0, 1.0 / 1024.0] {
        let grow = |points: &[DVec3]| points.iter().map(|&p| p * scale).collect::<Vec<_>>();
        let large = target.posed(grow(target.positions())).unwrap();
        let marks: Vec<(u32, DVec3)> = marks.iter().map(|&(v, p)| (v, p * scale)).collect();
        let found = register(&source, &large, grow(source.positions()), &marks, &options).unwrap();
        assert_eq!(found, grow(&plain));
    }
}

#[test]
fn errors_name_options_out_of_range() {
    let mesh = lump(1, 0.0);
    let run = |options: RegistrationOptions| {
        register(&mesh, &mesh, mesh.positions().to_vec(), &[], &options)
    };
    let default = RegistrationOptions::default();

    for wrong in [
        default.with_lengths(0.0, 0.1),
        default.with_lengths(0.1, f64::NAN),
        default.with_facing(1.5),
        default.with_pull_from_target(-0.1),
        default.with_sliding(2.0),
        default.with_marker_shares(0.0, 1.0),
    ] {
        assert!(
            matches!(run(wrong), Err(TransferError::BadNumber { .. })),
            "{wrong:?}"
        );
    }

    assert!(run(default).is_ok());
}
