use super::*;
use crate::test_shapes::{corner_pairs, halved, lump, shuffled, shuffled_vertex};
use pliant_mesh::glam::DQuat;
use pliant_mesh::{DecimationBudget, DecimationOptions, VertexPlacement};

fn find(source: &Mesh, target: &Mesh, pairs: Vec<(u32, u32)>) -> Correspondence {
    Correspondence::find(
        source,
        target,
        &Markers::new(pairs),
        &CorrespondenceOptions::default(),
    )
    .unwrap()
}

fn find_by(
    method: CorrespondenceMethod,
    source: &Mesh,
    target: &Mesh,
    pairs: Vec<(u32, u32)>,
) -> Correspondence {
    let options = CorrespondenceOptions::default().with_method(method);
    Correspondence::find(source, target, &Markers::new(pairs), &options).unwrap()
}

const METHODS: [CorrespondenceMethod; 2] = [
    CorrespondenceMethod::Registration,
    CorrespondenceMethod::Wang2008,
];

/// The share of the rows that are equal.
fn agreement(a: &TriangleMap, b: &TriangleMap) -> f64 {
    a.rows().zip(b.rows()).filter(|(a, b)| a == b).count() as f64 / a.len() as f64
}

fn centroid(mesh: &Mesh, triangle: usize) -> DVec3 {
    mesh.triangle_points(triangle).into_iter().sum::<DVec3>() / 3.0
}

#[test]
fn poses_of_one_mesh_correspond_triangle_by_triangle() {
    let found = find(&lump(2, 0.0), &lump(2, 0.5), corner_pairs());
    assert_eq!(found.map, TriangleMap::identity(320));
    assert_eq!(
        (found.method, found.warnings.len()),
        (CorrespondenceMethod::Identity, 0)
    );
}

#[test]
fn a_copy_in_another_order_is_found_triangle_by_triangle() {
    let source = lump(3, 0.0);
    let (copy, order) = shuffled(&source);
    let pairs: Vec<(u32, u32)> = (0..12).map(|v| (v, shuffled_vertex(&source, v))).collect();
    let found = find(&source, &copy, pairs);

    assert!(
        found
            .map
            .rows()
            .zip(&order)
            .all(|(row, &t)| row == [(t, 1.0)])
    );

    assert!(
        found.report.residual < 1e-9 && (found.report.distortion - 1.0).abs() < 1e-9,
        "{:?}",
        found.report
    );
}

#[test]
fn the_distances_of_a_complete_map_have_its_residual_as_their_mean() {
    let target = lump(3, 0.4);
    let found = find(&lump(2, 0.0), &target, corner_pairs());
    assert_eq!((found.report.uncovered, found.report.flipped), (0, 0));

    let mean =
        found.distances.iter().sum::<f64>() / found.distances.len() as f64 / diagonal(&target);
    assert!(
        (mean - found.report.residual).abs() < 1e-12 && mean > 0.0,
        "{mean} {}",
        found.report.residual
    );
}

#[test]
fn a_correspondence_stops_if_the_progress_asks_for_it() {
    struct StopAtOnce;
    impl Progress for StopAtOnce {
        fn report(&self, _: &str, _: f64) -> std::ops::ControlFlow<()> {
            std::ops::ControlFlow::Break(())
        }
    }

    let markers = Markers::new(corner_pairs());
    let options = CorrespondenceOptions::default();
    let found = Correspondence::find_with_progress(
        &lump(2, 0.0),
        &lump(3, 0.4),
        &markers,
        &options,
        &StopAtOnce,
    );

    assert!(matches!(found, Err(TransferError::Stopped(_))), "{found:?}");
}

#[test]
fn a_similarity_of_the_target_changes_almost_no_row() {
    let source = lump(3, 0.0);
    let target = shuffled(&lump(3, 0.4)).0;
    let pairs: Vec<(u32, u32)> = (0..12).map(|v| (v, shuffled_vertex(&source, v))).collect();
    let rotation = DQuat::from_scaled_axis(DVec3::new(1.0, 2.0, -0.5));
    let moved = target
        .posed(
            target
                .positions()
                .iter()
                .map(|&p| rotation * p * 0.001 + DVec3::ONE)
                .collect(),
        )
        .unwrap();

    for method in METHODS {
        let plain = find_by(method, &source, &target, pairs.clone());
        let moved_found = find_by(method, &source, &moved, pairs.clone());
        // Near-ties between two triangles may fall either way.
        let same = agreement(&plain.map, &moved_found.map);
        assert!(same > 0.97, "{method:?} {same}");
        assert!((plain.report.distortion - moved_found.report.distortion).abs() < 1e-2);
    }
}

#[test]
fn scaling_either_mesh_by_a_power_of_two_changes_no_bit() {
    let (source, target) = (lump(2, 0.0), lump(3, 0.4));
    let scaled = |mesh: &Mesh, s: f64| {
        mesh.posed(mesh.positions().iter().map(|&p| p * s).collect())
            .unwrap()
    };

    for method in METHODS {
        let plain = find_by(method, &source, &target, corner_pairs());
        for scale in [1024.0, 1.0 / 1024.0] {
            assert_eq!(
                find_by(method, &scaled(&source, scale), &target, corner_pairs()).map,
                plain.map
            );
            assert_eq!(
                find_by(method, &source, &scaled(&target, scale), corner_pairs()).map,
                plain.map
            );
        }
    }
}

#[test]
fn a_finer_copy_finds_the_triangle_it_was_cut_from() {
    let source = lump(3, 0.0);
    let fine = halved(&source);
    let found = find(&source, &fine, corner_pairs());
    let right = (0..fine.triangles().len())
        .filter(|&t| found.map.row(t).iter().any(|&(s, _)| s as usize == t / 4))
        .count();

    assert!(
        right as f64 > 0.99 * fine.triangles().len() as f64,
        "{right}"
    );
}

#[test]
fn a_coarse_copy_takes_from_all_the_triangles_below_it() {
    let source = lump(4, 0.0);
    let coarse = source
        .decimated(
            DecimationBudget::Triangles(320),
            &DecimationOptions::default().with_placement(VertexPlacement::Subset),
        )
        .unwrap();

    let pairs: Vec<(u32, u32)> = (0..coarse.mesh().vertex_count() as u32)
        .step_by(11)
        .map(|v| (coarse.sources()[v as usize], v))
        .collect();
    let target = coarse.mesh();
    let found = find(&source, target, pairs);
    let spacing = source.mean_edge_length();
    let grain = source.area() / source.triangles().len() as f64;

    for (t, row) in found.map.rows().enumerate() {
        let large = pliant_mesh::triangle_area(target.triangle_points(t)) > 6.0 * grain;
        let place = row
            .iter()
            .map(|&(s, weight)| centroid(&source, s as usize) * weight)
            .sum::<DVec3>();

        assert!(
            place.distance(centroid(target, t)) < 2.0 * spacing && (row.len() > 3 || !large),
            "{t} {}",
            row.len()
        );
    }
}

#[test]
fn only_components_without_a_counterpart_are_unmatched() {
    let (source, body) = (lump(3, 0.0), lump(3, 0.2));
    let n = body.vertex_count() as u32;
    let ball = pliant_mesh::shapes::icosphere(1);
    let mut positions = body.positions().to_vec();

    positions.extend(ball.positions().iter().map(|&p| p * 0.3 + DVec3::Y * 3.0));
    let mut triangles = body.triangles().to_vec();
    triangles.extend(ball.triangles().iter().map(|t| t.map(|v| v + n)));

    let target = Mesh::from_triangles(positions, &triangles).unwrap();
    for method in METHODS {
        let found = find_by(method, &source, &target, corner_pairs());
        let expected: Vec<bool> = (0..triangles.len())
            .map(|t| t >= body.triangles().len())
            .collect();
        assert_eq!(found.unmatched, expected, "{method:?}");
    }
}

#[test]
fn a_target_inside_out_gets_the_same_map_and_a_warning() {
    let source = lump(3, 0.0);
    let target = shuffled(&lump(3, 0.3)).0;
    let turned: Vec<[u32; 3]> = target
        .triangles()
        .iter()
        .map(|&[a, b, c]| [a, c, b])
        .collect();

    let inside_out = Mesh::from_triangles(target.positions().to_vec(), &turned).unwrap();
    let pairs: Vec<(u32, u32)> = (0..12).map(|v| (v, shuffled_vertex(&source, v))).collect();
    let plain = find(&source, &target, pairs.clone());
    let found = find(&source, &inside_out, pairs);

    assert!(agreement(&plain.map, &found.map) > 0.99);
    assert!(
        found
            .warnings
            .iter()
            .any(|p| p.contains("opposite direction")),
        "{:?}",
        found.warnings
    );
}

#[test]
fn random_markers_give_warnings() {
    let (source, target) = (lump(3, 0.0), lump(4, 0.3));
    let right = find(&source, &target, (0..40).map(|v| (v, v)).collect());
    assert_eq!(right.warnings, Vec::<String>::new());

    let nonsense: Vec<(u32, u32)> = (0..40).map(|v| (v, v * 17 % 40)).collect();
    let wrong = find(&source, &target, nonsense);
    assert!(
        !wrong.warnings.is_empty(),
        "{:?} {:?}",
        wrong.report,
        right.report
    );
}

#[test]
fn a_protruding_part_out_of_reach_is_covered_by_the_pull_from_the_target() {
    // No marker sits on the longer nose of the target, and no point of the source's nose is
    // closest to its tip.
    let (source, target) = (lump(3, 0.0), lump(4, 0.6));
    let without_pull = CorrespondenceOptions::default()
        .with_method(CorrespondenceMethod::Registration)
        .with_registration(RegistrationOptions::default());
    let markers = Markers::new(corner_pairs());
    let plain = Correspondence::find(&source, &target, &markers, &without_pull).unwrap();

    let found = find(&source, &target, corner_pairs());
    assert!(
        !plain.report.is_complete() && found.report.is_complete(),
        "{:?} {:?}",
        plain.report,
        found.report
    );
}

#[test]
fn without_markers_the_shapes_alone_give_the_correspondence() {
    let source = lump(3, 0.0);
    let target = shuffled(&lump(3, 0.2)).0;
    let rotation = DQuat::from_scaled_axis(DVec3::new(0.5, 2.5, 0.3));
    let target = target
        .posed(
            target
                .positions()
                .iter()
                .map(|&p| rotation * p * 7.0)
                .collect(),
        )
        .unwrap();
    let found =
        Correspondence::find(&source, &target, None, &CorrespondenceOptions::default()).unwrap();
    let like = lump(3, 0.2);

    let off = source
        .positions()
        .iter()
        .zip(found.source_on_target)
        .zip(like.positions());

    let rms = (off
        .map(|((_, x), &p)| x.distance_squared(rotation * p * 7.0))
        .sum::<f64>()
        / source.vertex_count() as f64)
        .sqrt();

    assert!(
        rms < 0.03 * diagonal(&target) && found.warnings.is_empty(),
        "{rms} {:?}",
        found.warnings
    );

    let tried: Vec<bool> = found
        .candidates
        .iter()
        .map(|candidate| candidate.fitted.is_some())
        .collect();

    assert!(
        tried.len() > 1 && tried.iter().filter(|&&tried| tried).count() == 1 && tried[0],
        "{tried:?}"
    );
}

#[test]
fn orientations_that_fit_equally_well_are_all_tried_and_a_warning_reports_it() {
    let ball = pliant_mesh::shapes::icosphere(3);
    let egg = ball
        .posed(
            ball.positions()
                .iter()
                .map(|&p| p * DVec3::new(3.0, 2.0, 1.0))
                .collect(),
        )
        .unwrap();

    let found = Correspondence::find(
        &egg,
        &shuffled(&egg).0,
        None,
        &CorrespondenceOptions::default(),
    )
    .unwrap();

    assert!(
        found
            .warnings
            .iter()
            .any(|warning| warning.starts_with("unsure:")),
        "{:?}",
        found.warnings
    );

    assert_eq!(
        found
            .candidates
            .iter()
            .filter(|candidate| candidate.fitted.is_some())
            .count(),
        4
    );

    let taken = found.candidates[0].fitted.unwrap();
    assert_eq!(taken, found.report);
    assert!(
        found
            .candidates
            .iter()
            .all(|candidate| taken.penalty() <= candidate.fitted.unwrap().penalty())
    );
}

#[test]
fn a_method_that_cannot_work_is_rejected() {
    let (source, target) = (lump(2, 0.0), lump(3, 0.2));
    let by = |method, markers: Option<&Markers>| {
        let options = CorrespondenceOptions::default().with_method(method);
        Correspondence::find(&source, &target, markers, &options)
    };
    let markers = Markers::new(corner_pairs());

    assert!(matches!(
        by(CorrespondenceMethod::Wang2008, None),
        Err(TransferError::WarpWithoutMarkers)
    ));

    assert!(matches!(
        by(CorrespondenceMethod::Identity, Some(&markers)),
        Err(TransferError::OtherSurface)
    ));

    assert_eq!(
        by(CorrespondenceMethod::Registration, None).unwrap().method,
        CorrespondenceMethod::Registration
    );
}

#[test]
fn degenerate_targets_give_finite_results() {
    let (source, body) = (lump(3, 0.0), lump(2, 0.2));
    let n = body.vertex_count() as u32;
    let mut positions = body.positions().to_vec();

    // A double, a loose vertex, the tip of a fin, and a point so close to a corner that its
    // triangles are needles.
    positions.extend([
        positions[3],
        DVec3::splat(9.0),
        positions[4] * 1.5,
        positions[5] * (1.0 + 1e-9),
    ]);

    let mut triangles = body.triangles().to_vec();
    let [a, b, c] = triangles[7];
    triangles.extend([
        [3, n, 4],
        [a, b, n + 2],
        [5, n + 3, a],
        [5, b, n + 3],
        [a, a, c],
    ]);

    for scale in [1.0, 1e-3, 1e3] {
        let target =
            Mesh::from_triangles(positions.iter().map(|&p| p * scale).collect(), &triangles)
                .unwrap();
        for method in METHODS {
            let found = find_by(method, &source, &target, corner_pairs());
            assert_eq!(found.map.len(), triangles.len());
            assert!(found.source_on_target.iter().all(|p| p.is_finite()));
            assert!(
                found
                    .map
                    .rows()
                    .all(|row| (row.iter().map(|&(_, w)| w).sum::<f64>() - 1.0).abs() < 1e-12)
            );

            assert!(
                [found.report.residual, found.report.distortion]
                    .iter()
                    .all(|figure| figure.is_finite())
            );
        }
    }
}

#[test]
fn a_bad_map_is_rejected_if_the_options_say_so() {
    let bad = MapReport {
        uncovered: 400,
        ..MapReport::identity(500)
    };

    let found = Correspondence {
        report: bad,
        ..find(&lump(1, 0.0), &lump(1, 0.0), corner_pairs())
    };

    assert!(matches!(
        found.clone().checked(Vec::new(), BadMapPolicy::Reject),
        Err(TransferError::BadMap { .. })
    ));

    assert_eq!(
        found
            .checked(vec!["a".into()], BadMapPolicy::Warn)
            .unwrap()
            .warnings
            .len(),
        2
    );
}

#[test]
fn two_exchanged_markers_are_left_out_of_the_map() {
    let (source, target) = (lump(3, 0.0), lump(4, 0.3));
    let right: Vec<(u32, u32)> = (0..42).map(|v| (v, v)).collect();
    let mut exchanged = right.clone();
    (exchanged[4].1, exchanged[9].1) = (right[9].1, right[4].1);
    let without: Vec<(u32, u32)> = right
        .iter()
        .copied()
        .filter(|&(v, _)| v != 4 && v != 9)
        .collect();

    let found = find(&source, &target, exchanged);
    assert_eq!(found.map, find(&source, &target, without).map);
    assert!(
        found.warnings.iter().any(|warning| warning
            .contains("2 of 42 marker pairs contradict the others and are left out")),
        "{:?}",
        found.warnings
    );
}
