use super::*;
use crate::test_shapes::lump;

/// Markers all over two lumps with noses of different length.
fn lumps() -> (Mesh, Mesh, Vec<(u32, u32)>) {
    (
        lump(3, 0.0),
        lump(3, 0.3),
        (0..42).map(|v| (v, v)).collect(),
    )
}

fn flaws(check: &MarkerCheck) -> Vec<(usize, MarkerFlaw)> {
    check
        .assessments
        .iter()
        .enumerate()
        .flat_map(|(k, assessment)| assessment.flaws.iter().map(move |&flaw| (k, flaw)))
        .collect()
}

#[test]
fn correct_markers_have_no_flaw() {
    let (source, target, pairs) = lumps();
    let check = check_markers(&source, &target, &Markers::new(pairs)).unwrap();
    assert!(
        flaws(&check)
            .iter()
            .all(|(_, flaw)| *flaw == MarkerFlaw::Unlike),
        "the longer nose deviates: {check:?}"
    );

    assert!(
        check.warnings.is_empty() && check.error.is_none(),
        "{check:?}"
    );

    let [on_source, _] = check.coverage.unwrap();
    assert!(
        on_source.mean < on_source.farthest
            && on_source.farthest < 0.2
            && on_source.components_without == 0,
        "{on_source:?}"
    );
}

#[test]
fn two_markers_with_each_others_partner_are_reported_as_exchanged() {
    let (source, target, mut pairs) = lumps();
    (pairs[4].1, pairs[9].1) = (pairs[9].1, pairs[4].1);
    let check = check_markers(&source, &target, &Markers::new(pairs)).unwrap();
    let wrong: Vec<(usize, MarkerFlaw)> = flaws(&check)
        .into_iter()
        .filter(|(_, flaw)| flaw.is_wrong())
        .collect();

    assert_eq!(
        wrong,
        [
            (4, MarkerFlaw::Exchanged { with: 9 }),
            (9, MarkerFlaw::Exchanged { with: 4 })
        ]
    );

    assert!(
        check.warnings.len() == 2 && check.warnings[0].contains("marker 4"),
        "{:?}",
        check.warnings
    );
}

#[test]
fn left_and_right_exchanged_in_all_markers_gives_a_warning() {
    let (source, _, pairs) = lumps();
    let target = source
        .posed(
            source
                .positions()
                .iter()
                .map(|p| *p * DVec3::new(1.0, 1.0, -1.0))
                .collect(),
        )
        .unwrap();

    let check = check_markers(&source, &target, &Markers::new(pairs)).unwrap();
    assert!(
        check
            .warnings
            .iter()
            .any(|warning| warning.contains("left and right")),
        "{:?}",
        check.warnings
    );
}

#[test]
fn the_error_of_a_transfer_is_reported_with_all_flaws() {
    let (source, target, pairs) = lumps();
    let mut bad: Vec<(u32, u32)> = pairs[..8].to_vec();
    bad.insert(0, (99_999, 0));
    bad.extend([(3, 3), (5, 20)]);

    let check = check_markers(&source, &target, &Markers::new(bad)).unwrap();
    let found = flaws(&check);
    for expected in [
        (0, MarkerFlaw::OutOfRange),
        (9, MarkerFlaw::Repeated { first: 4 }),
        (10, MarkerFlaw::SecondPartner { other: 6 }),
    ] {
        assert!(found.contains(&expected), "{expected:?} in {found:?}");
    }

    assert!(matches!(
        check.error,
        Some(TransferError::MarkerOutOfRange { .. })
    ));

    let few = check_markers(&source, &target, &Markers::new(pairs[..3].to_vec())).unwrap();
    assert!(
        matches!(
            few.error,
            Some(TransferError::TooFewMarkers { found: 3, .. })
        ) && few.assessments[0].deviation.is_none()
    );

    assert!(
        check_markers(&source, &target, &Markers::default())
            .unwrap()
            .coverage
            .is_none()
    );
}

#[test]
fn markers_on_one_side_only_give_a_coverage_warning() {
    let (source, target, _) = lumps();
    let near = |v: &u32| source.positions()[*v as usize].x > 0.5;
    let pairs = (0..source.vertex_count() as u32)
        .filter(near)
        .step_by(9)
        .map(|v| (v, v))
        .collect();

    let check = check_markers(&source, &target, &Markers::new(pairs)).unwrap();
    let far = source.positions()[check.coverage.unwrap()[0].farthest_vertex as usize];
    assert!(
        far.x < -0.5
            && check
                .warnings
                .iter()
                .any(|warning| warning.contains("set one there")),
        "{far} {:?}",
        check.warnings
    );
}
