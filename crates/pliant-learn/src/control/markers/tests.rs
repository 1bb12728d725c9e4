//! Tests of the marker preparation, on takes of known motions.

use pliant_mesh::glam::{DMat3, DVec3};
use pliant_rig::MarkerTrack;

use super::{Anchor, DrivenPoints, MarkerAlignment, MarkerPreparation, Window};
use crate::LearnError;

const REST: [DVec3; 5] = [
    DVec3::ZERO,
    DVec3::new(2.0, 0.0, 0.1),
    DVec3::new(0.0, 1.0, 0.0),
    DVec3::new(0.3, 0.4, 1.5),
    DVec3::new(1.0, 1.0, -0.5),
];

fn source() -> DrivenPoints<'static> {
    DrivenPoints {
        rest: &REST,
        names: &[],
        reference: &REST,
    }
}

fn take(frames: Vec<Vec<Option<DVec3>>>) -> MarkerTrack {
    let names = ["a", "b", "c", "d", "e", "f"][..frames[0].len()]
        .iter()
        .map(|name| (*name).to_owned())
        .collect();
    MarkerTrack::new(names, Some(120.0), frames).unwrap()
}

fn whole(frames: &[Vec<DVec3>]) -> MarkerTrack {
    take(
        frames
            .iter()
            .map(|places| places.iter().copied().map(Some).collect())
            .collect(),
    )
}

/// A rigid motion over time.
fn motion(frame: usize) -> (DMat3, DVec3) {
    let t = frame as f64 * 0.05;
    (
        DMat3::from_axis_angle(DVec3::new(1.0, 2.0, -0.5).normalize(), 2.0 * t),
        DVec3::new(3.0 * t, -t * t, 1.0 + t),
    )
}

fn rigid(count: usize) -> Vec<Vec<DVec3>> {
    let placed = |frame| {
        let (rotation, shift) = motion(frame);
        REST.map(|p| rotation * p + shift).to_vec()
    };
    (0..count).map(placed).collect()
}

fn farthest(a: &[Vec<DVec3>], b: &[Vec<DVec3>]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter()
        .flatten()
        .zip(b.iter().flatten())
        .map(|(a, b)| a.distance(*b))
        .fold(0.0, f64::max)
}

fn filled(max_gap: usize) -> MarkerPreparation {
    MarkerPreparation {
        max_gap: Some(max_gap),
        ..MarkerPreparation::default()
    }
}

fn why(error: LearnError) -> String {
    error.to_string()
}

#[test]
fn without_options_every_bit_is_kept() {
    let frames = rigid(3);
    let prepared = MarkerPreparation::default()
        .run(&whole(&frames), &source())
        .unwrap();
    assert!(
        prepared.frames == frames && prepared.warnings.is_empty() && prepared.fps == Some(120.0)
    );
}

#[test]
fn a_short_gap_in_a_cubic_motion_is_filled_exactly_and_reported() {
    let curve = |f: usize| {
        let t = f as f64 - 10.0;
        DVec3::new(t * t * t * 0.01 - t, 2.0 - 0.3 * t * t, t)
    };
    let truth: Vec<Vec<DVec3>> = (0..24)
        .map(|f| REST.iter().map(|p| *p + curve(f)).collect())
        .collect();

    let mut frames = whole(&truth).frames().to_vec();
    for f in 9..14 {
        frames[f][1] = None;
    }
    let prepared = filled(5).run(&take(frames), &source()).unwrap();

    assert!(farthest(&prepared.frames, &truth) < 1e-11);
    assert_eq!(
        prepared.warnings,
        ["marker 'b' is not seen in frames 9 to 13 (5 in a row): filled by a cubic over time"]
    );
}

#[test]
fn a_gap_in_a_smooth_motion_is_filled_to_the_remainder_of_the_cubic() {
    let curve = |f: f64| DVec3::X * (0.1 * f).sin();
    let truth: Vec<Vec<DVec3>> = (0..60)
        .map(|f| REST.iter().map(|p| *p + curve(f64::from(f))).collect())
        .collect();
    let mut frames = whole(&truth).frames().to_vec();

    for f in 20..28 {
        frames[f][2] = None;
    }
    let prepared = filled(8).run(&take(frames), &source()).unwrap();

    // |f⁗| Π|t − tᵢ| / 24 with knots at 11, 19, 28, 36 and t between 19 and 28.
    let bound = 1e-4 * (12.5 * 4.5 * 4.5 * 12.5) / 24.0;
    let error = farthest(&prepared.frames, &truth);

    assert!(error < bound && error > 0.0, "{error} against {bound}");
}

#[test]
fn a_long_gap_in_a_rigid_motion_is_filled_exactly_by_the_neighbours_also_at_the_ends() {
    let truth = rigid(60);
    let mut frames = whole(&truth).frames().to_vec();
    for f in 0..15 {
        frames[f][0] = None;
    }
    for f in 20..50 {
        frames[f][3] = None;
    }
    for f in 40..60 {
        frames[f][1] = None;
    }

    let prepared = filled(5).run(&take(frames), &source()).unwrap();
    assert!(
        farthest(&prepared.frames, &truth) < 1e-7,
        "{}",
        farthest(&prepared.frames, &truth)
    );

    assert!(
        prepared.warnings.len() == 3
            && prepared.warnings[0].contains("'d'")
            && prepared.warnings[0].contains("30 in a row")
    );
}

#[test]
fn frames_without_any_marker_are_held_at_the_ends_interpolated_between_and_reported_once() {
    let truth = rigid(50);
    let mut frames = whole(&truth).frames().to_vec();
    for f in (0..10).chain(20..40) {
        frames[f].fill(None);
    }

    let prepared = filled(5).run(&take(frames), &source()).unwrap();
    assert_eq!(prepared.frames[0], truth[10]);

    let middle: Vec<DVec3> = truth[19]
        .iter()
        .zip(&truth[40])
        .map(|(a, b)| a.lerp(*b, 10.0 / 21.0))
        .collect();

    assert!(farthest(&[prepared.frames[29].clone()], &[middle]) < 1e-12);
    assert!(
        prepared.warnings[0].starts_with("no marker is seen in frames 20 to 39")
            && prepared.warnings[1].contains("held")
    );
    assert_eq!(prepared.warnings.len(), 2);
}

#[test]
fn a_point_without_a_marker_follows_the_points_around_it() {
    let truth = rigid(8);
    let mut frames = whole(&truth).frames().to_vec();
    for places in frames.iter_mut() {
        places[4] = None;
    }

    let prepared = filled(5).run(&take(frames), &source()).unwrap();
    assert!(
        farthest(&prepared.frames, &truth) < 1e-7 && prepared.warnings[0].contains("never seen")
    );

    let markers = ["a", "b", "c", "d"]
        .map(|name| Some(name.to_owned()))
        .into_iter()
        .chain([None])
        .collect();

    let named = MarkerPreparation {
        markers: Some(markers),
        ..filled(5)
    };

    assert!(
        farthest(
            &named.run(&whole(&truth), &source()).unwrap().frames,
            &truth
        ) < 1e-7
    );
}

#[test]
fn gaps_are_rejected_unless_filling_is_enabled() {
    let mut frames = whole(&rigid(3)).frames().to_vec();
    frames[1][2] = None;
    let message = why(MarkerPreparation::default()
        .run(&take(frames.clone()), &source())
        .unwrap_err());

    assert!(
        message.contains("'c'") && message.contains("frame 1"),
        "{message}"
    );
    for places in frames.iter_mut() {
        places.fill(None);
    }

    assert!(why(filled(5).run(&take(frames), &source()).unwrap_err()).contains("no marker"));
}

#[test]
fn an_alignment_removes_rigid_motion_and_size_and_anchors_keep_the_other_motion() {
    let truth = rigid(20);
    let all = MarkerPreparation {
        align: MarkerAlignment::Rigid {
            anchors: Vec::new(),
            frame: None,
            scaled: false,
        },
        ..MarkerPreparation::default()
    };

    let still = all.run(&whole(&truth), &source()).unwrap().frames;
    assert!(farthest(&still, &vec![REST.to_vec(); 20]) < 1e-7);

    let larger: Vec<Vec<DVec3>> = truth
        .iter()
        .map(|places| places.iter().map(|p| *p * 1000.0).collect())
        .collect();

    let sized = MarkerPreparation {
        align: MarkerAlignment::Rigid {
            anchors: Vec::new(),
            frame: None,
            scaled: true,
        },
        ..MarkerPreparation::default()
    };

    assert!(
        farthest(
            &sized.run(&whole(&larger), &source()).unwrap().frames,
            &vec![REST.to_vec(); 20]
        ) < 1e-6
    );

    // A fifth marker moves on the rigid part of the others.
    let wave = |f: usize| DVec3::Y * (f as f64 * 0.3).sin();
    let mut moving = truth;
    for (f, places) in moving.iter_mut().enumerate() {
        places[4] += motion(f).0 * wave(f);
    }

    let anchors = ["a", "b", "c", "d"]
        .map(|name| Anchor {
            marker: name.into(),
            vertex: None,
        })
        .to_vec();

    let part = MarkerPreparation {
        align: MarkerAlignment::Rigid {
            anchors,
            frame: None,
            scaled: false,
        },
        ..MarkerPreparation::default()
    };

    for (f, places) in part
        .run(&whole(&moving), &source())
        .unwrap()
        .frames
        .iter()
        .enumerate()
    {
        assert!(places[4].distance(REST[4] + wave(f)) < 1e-7);
    }
}

#[test]
fn an_alignment_by_one_frame_keeps_the_root_motion() {
    let once = MarkerPreparation {
        align: MarkerAlignment::Rigid {
            anchors: Vec::new(),
            frame: Some(4),
            scaled: false,
        },
        ..MarkerPreparation::default()
    };

    let frames = once.run(&whole(&rigid(9)), &source()).unwrap().frames;
    assert!(farthest(&[frames[4].clone()], &[REST.to_vec()]) < 1e-7);

    let from = motion(4);
    let to = motion(8);
    let expected: Vec<DVec3> = REST
        .iter()
        .map(|p| from.0.transpose() * (to.0 * *p + to.1 - from.1))
        .collect();

    assert!(farthest(&[frames[8].clone()], &[expected]) < 1e-6);
}

#[test]
fn offsets_of_a_rest_frame_are_subtracted_and_extra_markers_align_without_a_vertex() {
    let offsets = [
        DVec3::X * 0.2,
        DVec3::Y * 0.1,
        DVec3::Z * -0.2,
        DVec3::X * -0.1,
        DVec3::ZERO,
        DVec3::ZERO,
    ];

    let extra = DVec3::new(0.7, -1.0, 0.2);
    let placed = |f: usize| {
        let (rotation, shift) = motion(f);
        REST.iter()
            .chain([&extra])
            .zip(offsets)
            .map(|(p, offset)| rotation * (*p + offset) + shift)
            .collect::<Vec<_>>()
    };

    let truth: Vec<Vec<DVec3>> = (0..6).map(placed).collect();
    let markers = Some(
        ["a", "b", "c", "d", "e"]
            .map(|name| Some(name.to_owned()))
            .to_vec(),
    );

    let anchors = ["a", "b", "f"]
        .map(|name| Anchor {
            marker: name.into(),
            vertex: None,
        })
        .to_vec();

    let align = MarkerAlignment::Rigid {
        anchors,
        frame: None,
        scaled: false,
    };

    let prepared = MarkerPreparation {
        markers: markers.clone(),
        align: align.clone(),
        rest_frame: Some(2),
        ..MarkerPreparation::default()
    };

    assert!(
        farthest(
            &prepared.run(&whole(&truth), &source()).unwrap().frames,
            &vec![REST.to_vec(); 6]
        ) < 1e-6
    );

    let message = why(MarkerPreparation {
        markers,
        align,
        ..MarkerPreparation::default()
    }
    .run(&whole(&truth), &source())
    .unwrap_err());

    assert!(
        message.contains("'f'") && message.contains("VERTEX"),
        "{message}"
    );
}

#[test]
fn axes_are_mapped_with_their_signs() {
    let z_up: super::Axes = "xz-y".parse().unwrap();
    assert_eq!(
        z_up.apply(DVec3::new(1.0, 2.0, 3.0)),
        DVec3::new(1.0, 3.0, -2.0)
    );

    let mirrored: super::Axes = "-xyz".parse().unwrap();
    assert_eq!(mirrored.apply(DVec3::ONE), DVec3::new(-1.0, 1.0, 1.0));
    for wrong in ["xy", "xyy", "xyzz", "abc", ""] {
        assert!(wrong.parse::<super::Axes>().is_err(), "{wrong}");
    }

    let scaled = MarkerPreparation {
        scale: 0.5,
        axes: z_up,
        ..MarkerPreparation::default()
    };

    assert_eq!(
        scaled
            .run(&whole(&[REST.to_vec()]), &source())
            .unwrap()
            .frames[0][1],
        DVec3::new(1.0, 0.05, 0.0)
    );
}

#[test]
fn smoothing_keeps_parabolas_and_reduces_noise() {
    let curve = |f: usize| DVec3::new(7.0, 2.0 * f as f64, 0.1 * (f * f) as f64);
    let line: Vec<Vec<DVec3>> = (0..40).map(|f| vec![curve(f); 5]).collect();
    for window in [
        Window::Frames(0.3),
        Window::Frames(3.0),
        Window::Seconds(0.1),
    ] {
        let smooth = MarkerPreparation {
            smooth: Some(window),
            ..MarkerPreparation::default()
        };
        assert!(
            farthest(&smooth.run(&whole(&line), &source()).unwrap().frames, &line) < 1e-9,
            "{window:?}"
        );
    }

    let noise = |f: usize| {
        if f.is_multiple_of(2) {
            DVec3::X
        } else {
            -DVec3::X
        }
    };

    let rough: Vec<Vec<DVec3>> = (0..40).map(|f| vec![noise(f); 5]).collect();
    let smooth = MarkerPreparation {
        smooth: Some(Window::Frames(3.0)),
        ..MarkerPreparation::default()
    }
    .run(&whole(&rough), &source())
    .unwrap();

    assert!(
        smooth.frames[10..30]
            .iter()
            .all(|places| places[0].length() < 0.01)
    );
}

#[test]
fn resampling_takes_original_frames_where_times_coincide_and_cubics_otherwise() {
    let curve = |t: f64| DVec3::new(t * t * t, t * t, 1.0);
    let frames: Vec<Vec<DVec3>> = (0..25)
        .map(|f| vec![curve(f64::from(f) / 120.0); 5])
        .collect();
    let at = |fps: f64| {
        MarkerPreparation {
            fps: Some(fps),
            ..MarkerPreparation::default()
        }
        .run(&whole(&frames), &source())
        .unwrap()
    };

    assert_eq!(
        at(30.0).frames,
        frames.iter().step_by(4).cloned().collect::<Vec<_>>()
    );

    let film = at(50.0);
    assert_eq!((film.frames.len(), film.fps), (11, Some(50.0)));
    assert!((0..11).all(|k| film.frames[k][0].distance(curve(k as f64 / 50.0)) < 1e-13));

    let unknown =
        MarkerTrack::new(vec!["a".into(); 5], None, whole(&frames).frames().to_vec()).unwrap();
    let said = MarkerPreparation {
        fps: Some(30.0),
        ..MarkerPreparation::default()
    }
    .run(&unknown, &source())
    .unwrap();

    assert!(
        said.frames == frames && said.fps == Some(30.0),
        "the requested rate is that of the take"
    );

    let smooth = Some(Window::Seconds(0.1));
    assert!(
        MarkerPreparation {
            smooth,
            ..MarkerPreparation::default()
        }
        .run(&unknown, &source())
        .is_err()
    );
}

#[test]
fn invalid_names_numbers_and_counts_are_rejected() {
    let frames = rigid(2);
    let run = |preparation: MarkerPreparation| {
        why(preparation.run(&whole(&frames), &source()).unwrap_err())
    };
    let names = |names: &[&str]| Some(names.iter().map(|name| Some((*name).to_owned())).collect());

    assert!(
        run(MarkerPreparation {
            markers: names(&["a", "b", "c", "d", "elbow"]),
            ..MarkerPreparation::default()
        })
        .contains("did you mean e")
    );

    assert!(
        run(MarkerPreparation {
            markers: names(&["a", "b"]),
            ..MarkerPreparation::default()
        })
        .contains("2 markers, but 5")
    );

    assert!(
        run(MarkerPreparation {
            markers: names(&["a", "b", "c", "d", "a"]),
            ..MarkerPreparation::default()
        })
        .contains("points 0 and 4")
    );

    assert!(
        run(MarkerPreparation {
            range: Some([1, 5]),
            ..MarkerPreparation::default()
        })
        .contains("the take has 2")
    );

    assert!(
        run(MarkerPreparation {
            rest_frame: Some(9),
            ..MarkerPreparation::default()
        })
        .contains("frame 9")
    );

    assert!(
        run(MarkerPreparation {
            scale: 0.0,
            ..MarkerPreparation::default()
        })
        .contains("scale")
    );

    let anchors = vec![Anchor {
        marker: "a".into(),
        vertex: Some(77),
    }];

    assert!(
        run(MarkerPreparation {
            align: MarkerAlignment::Rigid {
                anchors,
                frame: None,
                scaled: false
            },
            ..MarkerPreparation::default()
        })
        .contains("vertex 77")
    );

    let fewer = MarkerTrack::new(vec!["a".into()], None, vec![vec![Some(DVec3::X)]]).unwrap();
    assert!(
        why(MarkerPreparation::default()
            .run(&fewer, &source())
            .unwrap_err())
        .contains("the take has 1 markers")
    );
}
