//! Rig transfer: the targets of a rig on other heads.

use pliant_mesh::Mesh;
use pliant_mesh::glam::{DQuat, DVec3, Vec3};
use pliant_rig::{Combination, Driver, InBetween, Limits, Rig, Rule, Slider, SliderGroup, Target};
use pliant_transfer::{
    Correspondence, CorrespondenceMethod, CorrespondenceOptions, Markers, RigTransfer,
    RigTransferOptions, TransferError, TransferredRig,
};

/// A sheet with an opening along the x axis, which two lips close; a second sheet beside it is a
/// component of its own.
///
/// It is open for |x| < 1, widest in the middle.
fn sheet_with_opening(columns: usize) -> Mesh {
    let rows = columns / 2;
    let (mut points, mut triangles) = (Vec::new(), Vec::new());
    for half in [1.0, -1.0] {
        let first = points.len() as u32;
        for r in 0..=rows {
            for c in 0..=columns {
                let x = 4.0 * c as f64 / columns as f64 - 2.0;
                let t = r as f64 / rows as f64;
                let rim = 0.3 * (1.0 - x * x).max(0.0);

                points.push(DVec3::new(
                    x,
                    half * (rim + (2.0 - rim) * t),
                    0.1 * (x + t).sin(),
                ));
            }
        }

        for r in 0..rows as u32 {
            for c in 0..columns as u32 {
                let at = |r: u32, c: u32| first + r * (columns as u32 + 1) + c;
                let a = at(r, c);
                let b = at(r, c + 1);
                let d = at(r + 1, c);
                let e = at(r + 1, c + 1);
                let faces = [[a, b, d], [b, e, d]];
                triangles.extend(if half > 0.0 {
                    faces
                } else {
                    faces.map(|[p, q, s]| [p, s, q])
                });
            }
        }
    }

    weld(&points, &triangles)
}

/// Joins vertices at one place.
fn weld(points: &[DVec3], triangles: &[[u32; 3]]) -> Mesh {
    let mut kept: Vec<DVec3> = Vec::new();
    let names: Vec<u32> = points
        .iter()
        .map(|p| match kept.iter().position(|q| q.distance(*p) < 1e-9) {
            Some(known) => known as u32,
            None => {
                kept.push(*p);
                kept.len() as u32 - 1
            }
        })
        .collect();

    let triangles: Vec<[u32; 3]> = triangles
        .iter()
        .map(|t| t.map(|v| names[v as usize]))
        .collect();

    Mesh::from_triangles(kept, &triangles).unwrap()
}

/// The displacement that closes the slit from above, and one that lifts the middle out of the
/// plane; both end before the rim.
fn lid_field(p: DVec3) -> DVec3 {
    let rim = 0.3 * (1.0 - p.x * p.x).max(0.0);
    let fade = if p.y > 0.0 {
        (1.0 - (p.y - rim).max(0.0)).max(0.0)
    } else {
        0.0
    };
    DVec3::new(0.0, -2.0 * rim * fade, 0.0)
}

fn bulge_field(p: DVec3) -> DVec3 {
    DVec3::Z * (1.0 - p.length_squared() / 2.0).max(0.0).powi(2)
}

fn dense(name: &str, mesh: &Mesh, field: impl Fn(DVec3) -> DVec3) -> Target {
    Target::from_dense(name, mesh.positions().iter().map(|&p| field(p).as_vec3()))
}

/// Two sliders, an in-between, a combination, and every setting that a rig has.
fn rig(columns: usize) -> Rig {
    let mesh = sheet_with_opening(columns);
    let mut lid = dense("lid", &mesh, lid_field);
    let half = dense("", &mesh, |p| {
        lid_field(p) * 0.5 + DVec3::Z * 0.2 * lid_field(p).length()
    });

    lid.in_betweens = vec![InBetween {
        name: "half".into(),
        weight: 0.5,
        vertices: half.vertices,
        deltas: half.deltas,
    }];

    let both = dense("", &mesh, |p| {
        DVec3::X * 0.3 * bulge_field(p).length() * lid_field(p).length()
    });
    let combination = Combination {
        name: "lid_bulge".into(),
        drivers: vec![Driver::Slider(0.into()), Driver::Slider(1.into())],
        rule: Rule::Lowest,
        vertices: both.vertices,
        deltas: both.deltas,
    };

    let bulge = dense("bulge", &mesh, bulge_field);
    let sliders = vec![
        Slider {
            locked: true,
            ..Slider::default()
        },
        Slider {
            limits: Limits {
                min: -0.5,
                max: 1.5,
            },
            ..Slider::default()
        },
    ];

    let rig = Rig::new(mesh, vec![lid, bulge])
        .unwrap()
        .with_sliders(sliders)
        .unwrap()
        .with_combinations(vec![combination])
        .unwrap();

    let group = SliderGroup {
        name: "all".into(),
        sliders: vec![0.into(), 1.into()],
    };

    rig.with_groups(vec![group])
        .unwrap()
        .with_exclusive_pairs(vec![[0.into(), 1.into()]])
        .unwrap()
}

fn transferred_by(
    rig: &Rig,
    target: &Mesh,
    pairs: Vec<(u32, u32)>,
    options: RigTransferOptions,
) -> TransferredRig {
    let found = Correspondence::find(
        rig.neutral(),
        target,
        &Markers::new(pairs),
        &CorrespondenceOptions::default(),
    )
    .unwrap();
    RigTransfer::new(rig, target, &found, options)
        .unwrap()
        .rig(&())
        .unwrap()
}

fn onto_same_triangles(rig: &Rig, target: &Mesh, options: RigTransferOptions) -> TransferredRig {
    let pairs = (0..target.vertex_count() as u32)
        .step_by(7)
        .map(|v| (v, v))
        .collect();
    let made = transferred_by(rig, target, pairs, options);
    assert_eq!(made.rig.targets().len(), rig.targets().len());
    made
}

fn diagonal(mesh: &Mesh) -> f64 {
    mesh.bounds().unwrap().diagonal()
}

/// The largest distance between two rigs' displacements, over all shapes.
fn apart(a: &Rig, b: &Rig, change: impl Fn(Vec3) -> DVec3) -> f64 {
    let n = a.neutral().vertex_count();
    let full = |(vertices, deltas): (&[u32], &[Vec3])| {
        let mut dense = vec![Vec3::ZERO; n];
        for (&v, &d) in vertices.iter().zip(deltas) {
            dense[v as usize] = d;
        }
        dense
    };

    a.shapes()
        .zip(b.shapes())
        .flat_map(|(a, b)| {
            full(a)
                .into_iter()
                .zip(full(b))
                .map(|(a, b)| change(a).distance(b.as_dvec3()))
                .collect::<Vec<_>>()
        })
        .fold(0.0, f64::max)
}

#[test]
fn a_mesh_gets_its_own_rig_with_in_betweens_combinations_and_settings() {
    let rig = rig(24);
    let made = onto_same_triangles(&rig, rig.neutral(), RigTransferOptions::default()).rig;
    let error = apart(&rig, &made, |d| d.as_dvec3());

    assert!(error < 2e-6 * diagonal(rig.neutral()), "{error}");
    assert_eq!(
        (made.sliders(), made.groups(), made.exclusive_pairs()),
        (rig.sliders(), rig.groups(), rig.exclusive_pairs())
    );
    assert_eq!(made.activation(), rig.activation());

    let names = |rig: &Rig| {
        rig.targets()
            .iter()
            .map(|t| (t.name.clone(), t.in_betweens.len()))
            .collect::<Vec<_>>()
    };

    assert_eq!(names(&made), names(&rig));
    assert_eq!(made.combinations()[0].name, "lid_bulge");
}

#[test]
fn on_a_similar_copy_displacements_rotate_and_scale() {
    let rig = rig(24);
    let turn = DQuat::from_scaled_axis(DVec3::new(0.4, -1.7, 0.9));
    let go = |p: DVec3| turn * p * 30.0 + DVec3::new(5.0, -80.0, 3.0);
    let target = rig
        .neutral()
        .posed(rig.neutral().positions().iter().map(|&p| go(p)).collect())
        .unwrap();

    let made = onto_same_triangles(&rig, &target, RigTransferOptions::default()).rig;
    let error = apart(&rig, &made, |d| turn * d.as_dvec3() * 30.0);
    assert!(error < 2e-6 * diagonal(&target), "{error}");
}

#[test]
fn vertices_that_no_source_vertex_moves_stay_in_place_to_the_bit() {
    let rig = rig(24);
    let warp = |p: DVec3| {
        DVec3::new(
            1.3 * p.x,
            p.y + 0.1 * p.x * p.x,
            p.z + 0.2 * (2.0 * p.y).sin(),
        )
    };

    let target = rig
        .neutral()
        .posed(rig.neutral().positions().iter().map(|&p| warp(p)).collect())
        .unwrap();
    let made = onto_same_triangles(&rig, &target, RigTransferOptions::default());

    for (old, new) in rig.targets().iter().zip(made.rig.targets()) {
        let around = target.topology().vertex_neighbors();
        let touched = |v: &u32| {
            old.vertices.contains(v)
                || around
                    .row(*v as usize)
                    .iter()
                    .any(|n| old.vertices.contains(n))
        };

        assert!(new.vertices.iter().all(touched), "{}", new.name);
        assert!(new.vertices.len() > old.vertices.len() / 2);
    }
}

#[test]
fn the_pose_of_a_combination_is_the_transferred_pose() {
    // The pose of all drivers as a target of its own says what the combination must add up to.
    let rig = rig(24);
    let pose = rig.evaluate(&[1.0, 1.0]);
    let deltas = pose
        .iter()
        .zip(rig.neutral().positions())
        .map(|(p, rest)| (*p - *rest).as_vec3());

    let alone = Rig::new(
        rig.neutral().clone(),
        vec![Target::from_dense("pose", deltas)],
    )
    .unwrap();
    let warp = |p: DVec3| DVec3::new(1.2 * p.x, 1.5 * p.y, p.z + 0.3 * p.x * p.y);

    let target = rig
        .neutral()
        .posed(rig.neutral().positions().iter().map(|&p| warp(p)).collect())
        .unwrap();
    let whole = onto_same_triangles(&rig, &target, RigTransferOptions::default())
        .rig
        .evaluate(&[1.0, 1.0]);

    let wanted = onto_same_triangles(&alone, &target, RigTransferOptions::default())
        .rig
        .evaluate(&[1.0]);
    let worst = whole
        .iter()
        .zip(&wanted)
        .map(|(a, b)| a.distance(*b))
        .fold(0.0, f64::max);

    assert!(worst < 5e-6 * diagonal(&target), "{worst}");
}

/// The widest opening of the slit in a pose: the farthest that a vertex of the upper rim is from
/// the lower one.
fn opening(mesh: &Mesh, posed: &[DVec3]) -> f64 {
    let rim = |sign: f64| {
        let on = move |p: &DVec3| {
            p.x.abs() < 0.95 && (sign * p.y - 0.3 * (1.0 - p.x * p.x)).abs() < 1e-9
        };
        mesh.positions()
            .iter()
            .enumerate()
            .filter(move |(_, p)| on(p))
            .map(|(v, _)| v)
            .collect::<Vec<_>>()
    };

    let below = rim(-1.0);
    let nearest = |v: &usize| {
        below
            .iter()
            .map(|&w| posed[*v].distance(posed[w]))
            .fold(f64::INFINITY, f64::min)
    };

    rim(1.0).iter().map(nearest).fold(0.0, f64::max)
}

#[test]
fn a_wider_opening_closes_and_its_lips_do_not_intersect() {
    let rig = rig(32);
    let mesh = rig.neutral();

    // The opening is stretched, the skin above it is not: its own gradients close only a part of
    // it.
    let widen = |p: DVec3| {
        let rim = 0.3 * (1.0 - p.x * p.x).max(0.0);
        DVec3::new(
            p.x,
            p.y + p.y.signum() * 0.6 * rim * (1.0 - (p.y.abs() - rim).max(0.0)).max(0.0),
            p.z,
        )
    };

    let target = mesh
        .posed(mesh.positions().iter().map(|&p| widen(p)).collect())
        .unwrap();
    let open = onto_same_triangles(
        &rig,
        &target,
        RigTransferOptions::default().with_closures(false),
    );

    let closed = onto_same_triangles(&rig, &target, RigTransferOptions::default());
    let at_rest = opening(mesh, target.positions());
    let before = opening(mesh, &open.rig.evaluate(&[1.0]));
    let posed = closed.rig.evaluate(&[1.0]);
    let after = opening(mesh, &posed);

    assert!(
        before > 0.1 * at_rest,
        "the claim is empty: {before} of {at_rest}"
    );
    assert!(after < 0.02 * before, "{before} to {after}");

    let report = &closed.shapes[0];
    assert!(
        report.pairs > 10 && report.gap_after < 0.05 * report.gap_before,
        "{report:?}"
    );

    // Upper vertices stay above the lower ones they were above.
    for (upper, p) in mesh
        .positions()
        .iter()
        .enumerate()
        .filter(|(_, p)| p.y > 1e-9)
    {
        let below = mesh
            .positions()
            .iter()
            .position(|q| q.distance(DVec3::new(p.x, -p.y, q.z)) < 1e-9)
            .unwrap();
        assert!(posed[upper].y - posed[below].y > -1e-3 * at_rest);
    }
}

#[test]
fn compressed_skin_is_no_closure() {
    let mesh = pliant_mesh::shapes::flat_sheet(20, 0.0);
    let center = mesh.bounds().unwrap().center();
    let squeeze = dense("squeeze", &mesh, |p| {
        (center - p) * 0.95 * DVec3::X * f64::from(u8::from(p.distance(center) < 0.3))
    });
    let rig = Rig::new(mesh, vec![squeeze]).unwrap();
    let made = onto_same_triangles(&rig, rig.neutral(), RigTransferOptions::default());
    assert_eq!(made.shapes[0].pairs, 0);
}

#[test]
fn the_error_decreases_on_finer_copies_of_the_surface() {
    let errors: Vec<f64> = [12, 24, 48]
        .map(|columns| {
            let (coarse, fine) = (rig(columns), sheet_with_opening(50));
            let corners: Vec<(u32, u32)> = coarse
                .neutral()
                .positions()
                .iter()
                .enumerate()
                .filter_map(|(v, p)| {
                    let same = fine
                        .positions()
                        .iter()
                        .position(|q| q.distance(*p) < 1e-9)?;
                    Some((v as u32, same as u32))
                })
                .collect();

            let found = Correspondence::find(
                coarse.neutral(),
                &fine,
                &Markers::new(corners),
                &CorrespondenceOptions::default().with_method(CorrespondenceMethod::Registration),
            )
            .unwrap();

            let made = RigTransfer::new(&coarse, &fine, &found, RigTransferOptions::default())
                .unwrap()
                .rig(&())
                .unwrap();
            let posed = made.rig.evaluate(&[0.0, 1.0]);
            let squares = fine
                .positions()
                .iter()
                .zip(&posed)
                .map(|(p, x)| (*p + bulge_field(*p)).distance_squared(*x));

            (squares.sum::<f64>() / posed.len() as f64).sqrt()
        })
        .to_vec();
    assert!(
        errors[1] < 0.7 * errors[0] && errors[2] < 0.9 * errors[1],
        "{errors:?}"
    );
}

#[test]
fn a_rig_without_targets_and_a_map_of_another_mesh_are_rejected() {
    let rig = rig(12);
    let found = Correspondence::find(
        rig.neutral(),
        rig.neutral(),
        &Markers::new((0..9).map(|v| (7 * v, 7 * v)).collect()),
        &CorrespondenceOptions::default(),
    )
    .unwrap();

    let still = Rig::without_targets(rig.neutral().clone());
    let error = |rig: &Rig, target: &Mesh| {
        RigTransfer::new(rig, target, &found, RigTransferOptions::default()).unwrap_err()
    };

    assert_eq!(error(&still, rig.neutral()), TransferError::NoTargets);
    assert!(matches!(
        error(&rig, &sheet_with_opening(14)),
        TransferError::Count { .. }
    ));
}

/// Vertices that a pose brings within `near` of each other from farther than `far`, by trying all.
fn met(rig: &Rig, posed: &[DVec3], near: f64, far: f64) -> Vec<(usize, usize)> {
    let rest = rig.neutral().positions();
    let moved: Vec<usize> = (0..rest.len()).filter(|&v| posed[v] != rest[v]).collect();
    let pair = |&i: &usize| {
        let others = (0..rest.len()).filter(move |&j| {
            rest[i].distance(rest[j]) > far && posed[i].distance(posed[j]) < near
        });
        others.map(move |j| (i, j)).collect::<Vec<_>>()
    };
    moved.iter().flat_map(pair).collect()
}

#[test]
fn the_built_in_head_closes_larger_eyes_when_it_blinks() {
    let head = pliant_specimens::specimen("head").unwrap().rig;
    let blink = head
        .targets()
        .iter()
        .find(|target| target.name == "eyeBlinkLeft")
        .unwrap()
        .clone();

    let rig = head.with_targets(vec![blink]).unwrap();
    let eye = DVec3::new(3.35, -0.4, 5.75);
    let swell = |p: DVec3| {
        p + (p - eye) * DVec3::new(0.3, 0.6, 0.2) * (-p.distance_squared(eye) / 18.0).exp()
    };
    let target = rig
        .neutral()
        .posed(
            rig.neutral()
                .positions()
                .iter()
                .map(|&p| swell(p))
                .collect(),
        )
        .unwrap();

    let open = onto_same_triangles(
        &rig,
        &target,
        RigTransferOptions::default().with_closures(false),
    );
    let closed = onto_same_triangles(&rig, &target, RigTransferOptions::default());
    let pairs = met(&rig, &rig.evaluate(&[1.0]), 0.05, 0.8);

    let widest = |posed: &[DVec3]| {
        pairs
            .iter()
            .map(|&(i, j)| posed[i].distance(posed[j]))
            .fold(0.0, f64::max)
    };

    let before = widest(&open.rig.evaluate(&[1.0]));
    let after = widest(&closed.rig.evaluate(&[1.0]));

    assert!(pairs.len() > 20 && before > 0.1, "{} {before}", pairs.len());
    assert!(after < 0.08 && after < 0.25 * before, "{before} to {after}");
}
