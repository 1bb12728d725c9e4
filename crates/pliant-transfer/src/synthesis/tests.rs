use super::*;
use crate::extent::diagonal_ratio;
use crate::{LayerMode, blend_weights, geodesic_band};
use pliant_mesh::{DeformationGradients, shapes};

fn wave(p: DVec3, time: f64) -> DVec3 {
    let rotation = DMat3::from_rotation_z(0.8 * time * p.x);
    rotation * DVec3::new(p.x, p.y, p.z + 0.2 * (3.0 * p.x + time).sin())
        + DVec3::new(time, 0.3 * time, 0.0)
}

/// A clip of `frames` frames that bends and moves `mesh`.
fn waving(mesh: &Mesh, frames: usize) -> Clip {
    let frame = |k: usize| {
        mesh.positions()
            .iter()
            .map(|p| wave(*p, 0.3 * (k + 1) as f64))
            .collect()
    };
    Clip::new("waving", mesh.clone(), (0..frames).map(frame).collect()).unwrap()
}

fn posed(mesh: &Mesh, map: impl Fn(DVec3) -> DVec3) -> Mesh {
    mesh.posed(mesh.positions().iter().map(|p| map(*p)).collect())
        .unwrap()
}

/// One layer of all frames on all of the target, triangle by triangle.
fn onto<'a>(target: &'a Mesh, clip: &'a Clip, options: SynthesisOptions) -> Synthesis<'a> {
    let triangles = target.triangles().len();
    let source = Source {
        clip,
        map: Cow::Owned(TriangleMap::identity(triangles)),
    };
    let layer = Layer::whole(0, vec![1.0; triangles], clip.frames().len());
    Synthesis::new(target, vec![source], vec![layer], options).unwrap()
}

fn largest_apart(a: &[DVec3], b: &[DVec3]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter()
        .zip(b)
        .map(|(a, b)| a.distance(*b))
        .fold(0.0, f64::max)
}

/// A sphere, a small one inside and a sheet beside: three components that `waving` moves relative to
/// each other.
fn three_components() -> Mesh {
    let mut builder = shapes::icosphere(2).to_builder();
    let parts = [
        posed(&shapes::icosphere(1), |p| {
            p * 0.2 + DVec3::new(0.0, 0.9, 0.4)
        }),
        posed(&shapes::bumpy_sheet(3, 0.2), |p| {
            p + DVec3::new(1.1, 0.0, 0.0)
        }),
    ];

    for part in parts {
        let first = builder.positions.len() as u32;
        builder.positions.extend(part.positions());
        for triangle in part.triangles() {
            builder.push_face(&triangle.map(|v| v + first));
        }
    }

    builder.build().unwrap()
}

#[test]
fn a_clip_transferred_to_its_own_mesh_is_unchanged_for_every_component() {
    for mesh in [
        shapes::icosphere(3),
        shapes::bumpy_sheet(16, 0.3),
        three_components(),
    ] {
        let clip = waving(&mesh, 4);
        let mut synthesis = onto(&mesh, &clip, SynthesisOptions::default());
        assert_eq!(synthesis.frame_count(), 4);

        for (k, frame) in clip.frames().iter().enumerate() {
            assert!(
                largest_apart(synthesis.frame(k), frame) < 1e-11,
                "frame {k}"
            );
        }
    }
}

#[test]
fn a_rigid_motion_of_the_source_moves_the_target_rigidly_scaled_by_its_size() {
    let source = shapes::icosphere(2);
    let target = posed(&source, |p| {
        DVec3::new(2.0 * p.x, p.y, 0.5 * p.z + 0.2 * p.x * p.x)
    });
    let rotation = DMat3::from_axis_angle(DVec3::new(1.0, 0.3, -0.2).normalize(), 2.9);
    let displacement = DVec3::new(3.0, -1.0, 2.0);

    let clip = Clip::new(
        "rigid",
        source.clone(),
        vec![
            source
                .positions()
                .iter()
                .map(|p| rotation * *p + displacement)
                .collect(),
        ],
    )
    .unwrap();

    let center = Components::of(&target).centroids[0];
    let source_center = rotation * Components::of(&source).centroids[0] + displacement
        - Components::of(&source).centroids[0];

    for (root, carried) in [
        (
            RootMotion::Carry,
            source_center * diagonal_ratio(&target, &source),
        ),
        (RootMotion::Fix, DVec3::ZERO),
    ] {
        let mut synthesis = onto(&target, &clip, SynthesisOptions::default().with_root(root));
        let expected: Vec<DVec3> = target
            .positions()
            .iter()
            .map(|p| rotation * (*p - center) + center + carried)
            .collect();

        // The centroid of the source is taken by the target's areas; on a sphere it is off its
        // centre by a little.
        let tolerance = if root == RootMotion::Fix { 1e-12 } else { 0.2 };

        assert!(
            largest_apart(synthesis.frame(0), &expected) < tolerance,
            "{root:?}"
        );
    }
}

#[test]
fn root_motion_is_scaled_by_the_ratio_of_sizes_or_removed() {
    let source = shapes::bumpy_sheet(6, 0.2);
    let target = posed(&source, |p| p * 4.0);
    let slide = |distance: f64| {
        source
            .positions()
            .iter()
            .map(|p| *p + DVec3::X * distance)
            .collect()
    };

    let clip = Clip::new(
        "slide",
        source.clone(),
        vec![slide(0.0), slide(0.25), slide(2.0)],
    )
    .unwrap();

    for (root, ratio) in [(RootMotion::Carry, 4.0), (RootMotion::Fix, 0.0)] {
        let mut synthesis = onto(&target, &clip, SynthesisOptions::default().with_root(root));
        for (k, distance) in [0.0, 0.25, 2.0].into_iter().enumerate() {
            let expected: Vec<DVec3> = target
                .positions()
                .iter()
                .map(|p| *p + DVec3::X * distance * ratio)
                .collect();
            assert!(largest_apart(synthesis.frame(k), &expected) < 1e-12);
        }
    }
}

#[test]
fn scaling_the_source_or_the_target_changes_only_the_size() {
    let source = shapes::icosphere(2);
    let target = posed(&source, |p| DVec3::new(p.x, 1.5 * p.y, p.z + 0.3 * p.x));
    let clip = waving(&source, 2);
    let plain = onto(&target, &clip, SynthesisOptions::default())
        .frame(1)
        .to_vec();

    for factor in [1e-3, 1024.0] {
        let large_target = posed(&target, |p| p * factor);
        let found = onto(&large_target, &clip, SynthesisOptions::default())
            .frame(1)
            .to_vec();

        assert!(
            largest_apart(
                &found,
                &plain.iter().map(|p| *p * factor).collect::<Vec<_>>()
            ) < 1e-11 * factor
        );

        let frames = clip
            .frames()
            .iter()
            .map(|f| f.iter().map(|p| *p * factor).collect())
            .collect();
        let large = Clip::new("large", posed(&source, |p| p * factor), frames).unwrap();

        assert!(
            largest_apart(
                onto(&target, &large, SynthesisOptions::default()).frame(1),
                &plain
            ) < 1e-11
        );
    }
}

#[test]
fn a_transfer_to_another_mesh_and_back_returns_the_clip() {
    let a = shapes::icosphere(2);
    let b = posed(&a, |p| {
        DVec3::new(p.x * (1.0 + 0.4 * p.y), 1.3 * p.y, p.z + 0.2 * p.x * p.y)
    });

    // Turned as a whole and stretched evenly: a deformation that exists on both meshes.
    let frame = |k: usize| {
        let map =
            DMat3::from_axis_angle(DVec3::new(0.2, 1.0, 0.3).normalize(), 0.9 * (k + 1) as f64)
                * (1.0 + 0.2 * k as f64);
        a.positions().iter().map(|p| map * *p).collect::<Vec<_>>()
    };

    let clip = Clip::new("turn", a.clone(), (0..4).map(frame).collect()).unwrap();
    let fix = || SynthesisOptions::default().with_root(RootMotion::Fix);
    let mut there = onto(&b, &clip, fix());
    let on_b = Clip::new(
        "on b",
        b.clone(),
        (0..4).map(|k| there.frame(k).to_vec()).collect(),
    )
    .unwrap();

    let mut back = onto(&a, &on_b, fix());
    for (k, expected) in clip.frames().iter().enumerate() {
        assert!(largest_apart(back.frame(k), expected) < 1e-12);
    }
}

#[test]
fn compounding_with_the_rest_pose_changes_nothing_for_any_weights() {
    let mesh = shapes::icosphere(2);
    let clip = waving(&mesh, 3);
    let still = Clip::new("still", mesh.clone(), vec![mesh.positions().to_vec(); 3]).unwrap();
    let n = mesh.triangles().len();
    let map = || Cow::Owned(TriangleMap::identity(n));

    let sources = || {
        vec![
            Source {
                clip: &clip,
                map: map(),
            },
            Source {
                clip: &still,
                map: map(),
            },
        ]
    };

    let weights: Vec<f64> = (0..n).map(|t| (t % 5) as f64 / 4.0).collect();
    let compound = |source, weights| Layer {
        mode: LayerMode::Compound,
        ..Layer::whole(source, weights, 3)
    };
    let walk = Layer::whole(0, vec![1.0; n], 3);
    let above = vec![walk.clone(), compound(1, weights.clone())];
    let below = vec![Layer::whole(1, weights, 3), compound(0, vec![1.0; n])];

    for layers in [above, below] {
        let mut synthesis =
            Synthesis::new(&mesh, sources(), layers, SynthesisOptions::default()).unwrap();
        for (k, expected) in clip.frames().iter().enumerate() {
            assert!(largest_apart(synthesis.frame(k), expected) < 1e-11);
        }
    }
}

#[test]
fn two_sources_on_two_regions_keep_their_deformations() {
    let mesh = shapes::bumpy_sheet(20, 0.1);
    let n = mesh.triangles().len();
    let rotated = |angle: f64| {
        Clip::new(
            "turn",
            mesh.clone(),
            vec![
                posed(&mesh, |p| DMat3::from_rotation_x(angle) * p)
                    .positions()
                    .to_vec(),
            ],
        )
        .unwrap()
    };

    let (a, b) = (rotated(0.4), rotated(1.2));
    let region: Vec<bool> = (0..n).map(|t| mesh.triangle_points(t)[0].x > 0.5).collect();
    let weights = blend_weights(&mesh, &geodesic_band(&mesh, &region, 0.15).unwrap()).unwrap();
    let map = || Cow::Owned(TriangleMap::identity(n));
    let sources = vec![
        Source {
            clip: &a,
            map: map(),
        },
        Source {
            clip: &b,
            map: map(),
        },
    ];

    let layers = vec![
        Layer::whole(0, vec![1.0; n], 1),
        Layer::whole(1, weights.clone(), 1),
    ];
    let mut synthesis =
        Synthesis::new(&mesh, sources, layers, SynthesisOptions::default()).unwrap();

    assert!(synthesis.frame(0).iter().all(|p| p.is_finite()));
    for (gradient, w) in synthesis.gradients().iter().zip(&weights) {
        let expected = DMat3::from_rotation_x(0.4 + 0.8 * w);
        assert!(
            (*gradient - expected)
                .to_cols_array()
                .iter()
                .all(|x| x.abs() < 1e-12)
        );
    }
}

#[test]
fn half_of_a_twist_beyond_pi_is_half_the_twist_without_a_fold() {
    let ribbon = posed(&shapes::bumpy_sheet(40, 0.0), |p| {
        DVec3::new(p.x, 0.02 * (p.y - 0.5), 0.0)
    });
    let n = ribbon.triangles().len();
    let twisted = |angle: f64| posed(&ribbon, |p| DMat3::from_rotation_x(angle * p.x) * p);
    let clip = Clip::new(
        "twist",
        ribbon.clone(),
        vec![twisted(5.5).positions().to_vec()],
    )
    .unwrap();

    let half = DeformationGradients::from_rest(&ribbon)
        .unwrap()
        .at(twisted(2.75).positions())
        .unwrap();

    let largest = |m: DMat3| {
        m.to_cols_array()
            .into_iter()
            .fold(0.0, |a: f64, b| a.max(b.abs()))
    };

    for mode in [LayerMode::Blend, LayerMode::Compound] {
        let source = Source {
            clip: &clip,
            map: Cow::Owned(TriangleMap::identity(n)),
        };

        let layer = Layer {
            mode,
            ..Layer::whole(0, vec![0.5; n], 1)
        };

        let mut synthesis = Synthesis::new(
            &ribbon,
            vec![source],
            vec![layer],
            SynthesisOptions::default(),
        )
        .unwrap();

        synthesis.frame(0);
        for (t, (found, half)) in synthesis.gradients().iter().zip(&half).enumerate() {
            assert!(
                largest(*found - *half) < 0.2,
                "triangle {t}: {found} {half}"
            );
        }
    }
}

#[test]
fn a_rotation_over_time_beyond_pi_does_not_flip_for_any_order_of_frames() {
    let mesh = shapes::icosphere(1);
    let n = mesh.triangles().len();
    let frame = |k: usize| {
        mesh.positions()
            .iter()
            .map(|p| DMat3::from_rotation_z(0.5 * k as f64) * *p)
            .collect()
    };

    let clip = Clip::new("spin", mesh.clone(), (0..16).map(frame).collect()).unwrap();
    let source = Source {
        clip: &clip,
        map: Cow::Owned(TriangleMap::identity(n)),
    };

    let mut synthesis = Synthesis::new(
        &mesh,
        vec![source],
        vec![Layer::whole(0, vec![0.25; n], 16)],
        SynthesisOptions::default(),
    )
    .unwrap();

    let expected = |k: usize| {
        mesh.positions()
            .iter()
            .map(|p| DMat3::from_rotation_z(0.125 * k as f64) * *p)
            .collect::<Vec<_>>()
    };

    let in_order: Vec<Vec<DVec3>> = (0..16).map(|k| synthesis.frame(k).to_vec()).collect();
    for k in [15, 3, 4, 0, 15] {
        assert!(
            largest_apart(&in_order[k], &expected(k)) < 1e-11,
            "frame {k}"
        );
        assert_eq!(synthesis.frame(k), in_order[k]);
    }
}

#[test]
fn half_speed_interpolates_between_the_frames() {
    let mesh = shapes::icosphere(1);
    let n = mesh.triangles().len();
    let frame = |k: usize| {
        mesh.positions()
            .iter()
            .map(|p| DMat3::from_rotation_y(0.6 * k as f64) * *p)
            .collect()
    };

    let clip = Clip::new("spin", mesh.clone(), (0..4).map(frame).collect()).unwrap();
    let source = Source {
        clip: &clip,
        map: Cow::Owned(TriangleMap::identity(n)),
    };

    let layer = Layer {
        speed: 0.5,
        at: 2,
        ..Layer::whole(0, vec![1.0; n], 4)
    };

    let mut synthesis = Synthesis::new(
        &mesh,
        vec![source],
        vec![layer],
        SynthesisOptions::default(),
    )
    .unwrap();

    assert_eq!(synthesis.frame_count(), 9);
    for k in 0..9 {
        let angle = 0.3 * k.max(2_usize).saturating_sub(2) as f64;
        let expected: Vec<DVec3> = mesh
            .positions()
            .iter()
            .map(|p| DMat3::from_rotation_y(angle) * *p)
            .collect();

        assert!(
            largest_apart(synthesis.frame(k), &expected) < 1e-11,
            "frame {k}"
        );
    }
}

#[test]
fn a_component_that_the_source_lacks_and_an_isolated_vertex_follow_their_surroundings() {
    let body = shapes::icosphere(2);
    let mut builder = body.to_builder();
    let first = builder.positions.len() as u32;
    let button = posed(&shapes::icosphere(0), |p| p * 0.1 + DVec3::Y * 1.1);

    builder.positions.extend(button.positions());
    for t in button.triangles().iter() {
        builder.push_face(&t.map(|v| v + first));
    }
    builder.positions.push(DVec3::X * 1.2);

    let target = builder.build().unwrap();
    let rotation = DMat3::from_axis_angle(DVec3::new(1.0, 2.0, 0.5).normalize(), 2.0);
    let displacement = DVec3::new(0.3, 0.2, 0.1);

    let clip = Clip::new(
        "rigid",
        body.clone(),
        vec![
            body.positions()
                .iter()
                .map(|p| rotation * *p + displacement)
                .collect(),
        ],
    )
    .unwrap();

    let rows =
        (0..target.triangles().len() as u32).map(|t| if t < 320 { vec![(t, 1.0)] } else { vec![] });
    let source = Source {
        clip: &clip,
        map: Cow::Owned(TriangleMap::new(rows)),
    };

    let layers = vec![Layer::whole(0, vec![1.0; target.triangles().len()], 1)];
    let mut synthesis = Synthesis::new(
        &target,
        vec![source],
        layers,
        SynthesisOptions::default().with_root(RootMotion::Fix),
    )
    .unwrap();

    let expected: Vec<DVec3> = target.positions().iter().map(|p| rotation * *p).collect();
    assert!(largest_apart(synthesis.frame(0), &expected) < 1e-9);
}

#[test]
fn flat_triangles_of_the_source_do_not_distort_a_rotating_body() {
    let sheet = shapes::bumpy_sheet(6, 0.2);
    let mut points = sheet.positions().to_vec();
    let mut triangles = sheet.triangles().to_vec();

    for t in [5, 30, 50] {
        let [a, b, c] = triangles[t];
        points.push((points[a as usize] + points[b as usize]) * 0.5);
        let m = points.len() as u32 - 1;
        triangles[t] = [a, m, c];
        triangles.extend([[m, b, c], [a, b, m]]);
    }

    let mesh = Mesh::from_triangles(points, &triangles).unwrap();
    let frame = posed(&mesh, |p| DMat3::from_rotation_z(2.0) * p)
        .positions()
        .to_vec();
    let clip = Clip::new("turn", mesh.clone(), vec![frame]).unwrap();

    assert!(
        largest_apart(
            onto(&mesh, &clip, SynthesisOptions::default()).frame(0),
            &clip.frames()[0]
        ) < 1e-10
    );
}

#[test]
fn slivers_flat_triangles_fins_and_duplicate_vertices_give_finite_positions() {
    let sheet = shapes::bumpy_sheet(8, 0.2);
    let mut points = sheet.positions().to_vec();
    let mut triangles = sheet.triangles().to_vec();

    for (t, near) in [(3, 1e-3), (20, 1e-7), (40, 0.0), (60, 1e-15)] {
        let [a, b, c] = triangles[t];
        let [p, q, r] = [a, b, c].map(|v| points[v as usize]);
        points.push(p + (q - p) * near + (r - p) * near);
        let m = points.len() as u32 - 1;
        triangles[t] = [a, b, m];
        triangles.extend([[b, c, m], [c, a, m]]);
    }

    let n = points.len() as u32;
    points.extend([points[10] + DVec3::Z, points[5], points[5] + DVec3::Z]);
    triangles.extend([[10, 11, n], [20, 21, n + 1], [4, 4, 5]]);

    for size in [1e-3, 1.0, 1e3] {
        let mesh =
            Mesh::from_triangles(points.iter().map(|p| *p * size).collect(), &triangles).unwrap();
        let frame = |k: usize| {
            mesh.positions()
                .iter()
                .map(|p| wave(*p / size, k as f64) * size)
                .collect::<Vec<_>>()
        };

        let clip = Clip::new("waving", mesh.clone(), (0..3).map(frame).collect()).unwrap();
        let weights: Vec<f64> = (0..triangles.len()).map(|t| (t % 4) as f64 / 3.0).collect();
        let map = || Cow::Owned(TriangleMap::identity(triangles.len()));
        let layers = vec![
            Layer::whole(0, vec![1.0; triangles.len()], 3),
            Layer {
                speed: 0.5,
                ease: 1.5,
                ..Layer::whole(0, weights.clone(), 3)
            },
            Layer {
                mode: LayerMode::Compound,
                ..Layer::whole(0, weights, 3)
            },
        ];

        let mut synthesis = Synthesis::new(
            &mesh,
            vec![Source {
                clip: &clip,
                map: map(),
            }],
            layers,
            SynthesisOptions::default(),
        )
        .unwrap();

        for k in 0..synthesis.frame_count() {
            let extent = synthesis
                .frame(k)
                .iter()
                .fold(0.0, |most: f64, p| most.max(p.length()));
            assert!(
                extent.is_finite() && extent < 100.0 * size,
                "frame {k}: {extent}"
            );
        }
    }
}

#[test]
fn inputs_that_do_not_fit_are_rejected() {
    let mesh = shapes::bumpy_sheet(3, 0.1);
    let clip = waving(&mesh, 2);
    let go = |map: TriangleMap, layers: Vec<Layer>| {
        Synthesis::new(
            &mesh,
            vec![Source {
                clip: &clip,
                map: Cow::Owned(map),
            }],
            layers,
            SynthesisOptions::default(),
        )
        .map(|_| ())
        .unwrap_err()
    };

    let layer = |source, weights: usize, frames| Layer {
        frames,
        ..Layer::whole(source, vec![1.0; weights], 2)
    };
    let good = || TriangleMap::identity(18);

    assert_eq!(go(good(), vec![]), TransferError::NoLayers);
    assert!(matches!(
        go(TriangleMap::identity(17), vec![layer(0, 18, (0, 1))]),
        TransferError::Count { found: 17, .. }
    ));

    assert!(matches!(
        go(good(), vec![layer(0, 5, (0, 1))]),
        TransferError::Count { found: 5, .. }
    ));

    assert!(matches!(
        go(good(), vec![layer(1, 18, (0, 1))]),
        TransferError::NoSuchSource {
            source_index: 1,
            ..
        }
    ));

    assert!(matches!(
        go(good(), vec![layer(0, 18, (0, 2))]),
        TransferError::BadFrames { last: 2, .. }
    ));

    let beyond = TriangleMap::new((0..18).map(|t| [(t + 1, 1.0)]));
    assert!(matches!(
        go(beyond, vec![layer(0, 18, (0, 1))]),
        TransferError::NoSuchSourceTriangle {
            triangle: 18,
            triangles: 18
        }
    ));
}

#[test]
fn pieces_of_a_motion_are_the_whole_motion_to_the_bit() {
    let mesh = three_components();
    let clip = waving(&mesh, 20);
    let whole = onto(&mesh, &clip, SynthesisOptions::default())
        .motion(&())
        .unwrap();

    // Whatever is cut, and in whatever order: the rotations pass π in frame 11.
    for piece in [vec![17, 18, 19], vec![0, 1], vec![2, 7, 12, 17], vec![13]] {
        let mut synthesis = onto(&mesh, &clip, SynthesisOptions::default());
        let motion = synthesis.motion_of(&piece, &()).unwrap();
        assert_eq!(motion.frames.len(), piece.len());
        for (frame, &k) in motion.frames.iter().zip(&piece) {
            assert_eq!(*frame, whole.frames[k], "frame {k} of {piece:?}");
        }
    }
}
