//! Assets that are written and read again.

use std::path::Path;
use std::sync::Arc;

use pliant_mesh::glam::{DAffine3, DQuat, DVec2, DVec3, DVec4, Vec3};
use pliant_mesh::{CornerLayer, FaceLabels, MeshBuilder, VertexLayer};
use pliant_rig::{
    InBetween, Influence, Interpolation, Joint, Rig, Skeleton, Skin, Target, WeightTrack,
};

use super::read::files_below;
use super::{read, write};
use crate::{
    Animation, Asset, Motion, NoFiles, Object, PlacementTrack, Shape, SkinBinding, SkinTrack,
    UpAxis,
};

/// Curves hold single precision; angles of nested joints add up.
const TOLERANCE: f64 = 1e-5;

fn again(asset: &Asset) -> Asset {
    let written = write(asset).unwrap();
    assert_eq!(
        written,
        write(asset).unwrap(),
        "equal assets give equal bytes"
    );
    let read = read(&written.bytes, &NoFiles).unwrap();
    read.check().unwrap();
    read
}

/// The largest distance of two lists of points, relative to the diagonal of the first.
fn distance(a: &[DVec3], b: &[DVec3]) -> f64 {
    assert_eq!(a.len(), b.len());
    let finite = |p: &&DVec3| p.is_finite();
    let least = a
        .iter()
        .filter(finite)
        .fold(DVec3::INFINITY, |m, p| m.min(*p));
    let greatest = a
        .iter()
        .filter(finite)
        .fold(DVec3::NEG_INFINITY, |m, p| m.max(*p));
    let far = a
        .iter()
        .zip(b)
        .map(|(a, b)| a.distance(*b))
        .fold(0.0, f64::max);
    if far == 0.0 {
        0.0
    } else {
        far / greatest.distance(least)
    }
}

/// Where two assets differ, as a sentence.
fn difference(a: &Asset, b: &Asset) -> Option<String> {
    let paths = |asset: &Asset| {
        asset
            .objects
            .iter()
            .map(|o| o.path.clone())
            .collect::<Vec<_>>()
    };
    if paths(a) != paths(b) {
        return Some(format!("objects {:?} and {:?}", paths(a), paths(b)));
    }
    for (x, y) in a.objects.iter().zip(&b.objects) {
        let (m, n) = (x.rig.neutral(), y.rig.neutral());
        let far = distance(m.positions(), n.positions());
        if far > 1e-12 {
            return Some(format!("{}: positions by {far:e}", x.path));
        }
        if !m.faces().eq(n.faces()) {
            return Some(format!("{}: faces", x.path));
        }
        if m.materials() != n.materials() {
            return Some(format!(
                "{}: materials {:?} {:?}",
                x.path,
                m.materials().names,
                n.materials().names
            ));
        }
        if m.uv_layers() != n.uv_layers() {
            return Some(format!("{}: UVs", x.path));
        }
        if m.normals() != n.normals() && m.normals().is_some() {
            return Some(format!("{}: normals", x.path));
        }
        if m.colors() != n.colors() {
            return Some(format!("{}: colours", x.path));
        }
        let names = |o: &Object| {
            o.rig
                .targets()
                .iter()
                .map(|t| t.name.clone())
                .collect::<Vec<_>>()
        };
        if names(x) != names(y) {
            return Some(format!("{}: targets {:?} {:?}", x.path, names(x), names(y)));
        }
        for (s, t) in x.rig.targets().iter().zip(y.rig.targets()) {
            let inner = |t: &Target| t.in_betweens.len();
            if s.vertices != t.vertices || s.deltas != t.deltas || inner(s) != inner(t) {
                return Some(format!("{}: target {}", x.path, s.name));
            }
        }
        let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-12;
        let weights = x.rest_weights.iter().zip(&y.rest_weights);
        if x.rest_weights.len() != y.rest_weights.len() || !weights.into_iter().all(near) {
            return Some(format!("{}: rest weights", x.path));
        }
        if x.skin.is_some() != y.skin.is_some() {
            return Some(format!("{}: skin", x.path));
        }
    }

    let names = |asset: &Asset| {
        let clips = asset.clips.iter();
        clips
            .map(|c| (c.name.clone(), c.frame_count))
            .collect::<Vec<_>>()
    };
    if names(a) != names(b) {
        return Some(format!("clips {:?} and {:?}", names(a), names(b)));
    }
    for clip in 0..a.clips.len() {
        let last = a.clips[clip].frame_count - 1;
        for frame in [0, 1, last / 3, last] {
            let Some(x) = a.clip_positions(clip, frame) else {
                continue;
            };
            let far = distance(&x, &b.clip_positions(clip, frame).unwrap());
            if far > TOLERANCE || far.is_nan() {
                return Some(format!(
                    "clip {}, frame {frame} by {far:e}",
                    a.clips[clip].name
                ));
            }
        }
    }
    None
}

/// A quad and a triangle with everything that a mesh can have, and two targets.
fn head() -> Object {
    let corners = [0, 1, 2, 3, 3, 2, 4];
    let mesh = MeshBuilder {
        name: "head".into(),
        positions: [
            [0.1, 0.0, 0.0],
            [1.0, 0.0, 0.3],
            [1.0, 1.0, 0.0],
            [0.0, 1.0, 0.0],
            [0.0, 2.0, 1.0 / 3.0],
        ]
        .map(DVec3::from_array)
        .to_vec(),
        face_sizes: vec![4, 3],
        corners: corners.to_vec(),
        uv_layers: vec![
            CornerLayer {
                name: "skin".into(),
                values: (0..7)
                    .map(|k| DVec2::new(f64::from(k) / 7.0, 0.5))
                    .collect(),
                corners: (0..7).map(Some).collect(),
            },
            CornerLayer {
                name: "detail".into(),
                values: vec![DVec2::ZERO, DVec2::ONE],
                corners: [0, 1, 0, 1, 0, 1, 0].map(Some).to_vec(),
            },
        ],
        normals: Some(CornerLayer {
            name: String::new(),
            values: vec![DVec3::Z, DVec3::Y],
            corners: [0, 0, 0, 0, 1, 1, 1].map(Some).to_vec(),
        }),
        colors: vec![VertexLayer {
            name: "tint".into(),
            values: vec![DVec4::new(1.0, 0.5, 0.25, 1.0); 5],
        }],
        materials: FaceLabels::from_names(["lips", "teeth"]),
        ..MeshBuilder::default()
    };

    let mut smile = Target::from_dense("smile", [Vec3::X, Vec3::Y, Vec3::ZERO, Vec3::Z, Vec3::X]);
    smile.in_betweens = vec![
        InBetween {
            name: "back".into(),
            weight: -0.5,
            vertices: vec![0],
            deltas: vec![Vec3::NEG_Y],
        },
        InBetween {
            name: "half".into(),
            weight: 0.5,
            vertices: vec![1, 4],
            deltas: vec![Vec3::Z, Vec3::X * 3.0],
        },
    ];
    let blink = Target::from_dense("blink", [Vec3::ZERO; 5]);
    Object {
        path: "/group/head".into(),
        rest_weights: vec![0.25, 0.0],
        ..Object::new(Rig::new(mesh.build().unwrap(), vec![smile, blink]).unwrap())
    }
}

fn clip(name: &str, motions: Vec<Motion>) -> Animation {
    let mut clip = Animation::new(name, 4);
    clip.frames_per_second = 30.0;
    clip.start_secs = 0.5;
    clip.motions = motions;
    clip
}

#[test]
fn a_rig_with_a_clip_of_weights_is_read_as_it_was_written() {
    let rows = vec![
        vec![0.0, 0.5],
        vec![-0.25, 0.5],
        vec![0.75, 0.5],
        vec![1.5, 0.5],
    ];
    let times = (0..4).map(|k| 0.5 + f64::from(k) / 30.0).collect();
    let track = WeightTrack::new(times, rows.clone(), Interpolation::Linear).unwrap();
    let talk = clip("talk", vec![Motion::new(0, Shape::Weights(track))]);
    let mut asset = Asset {
        objects: vec![head()],
        clips: vec![talk],
        up_axis: UpAxis::Z,
        meters_per_unit: Some(0.01),
        ..Asset::default()
    };

    let copy = again(&asset);
    assert_eq!(difference(&asset, &copy), None);
    assert!(write(&asset).unwrap().left_out.is_empty());
    assert_eq!(
        (copy.up_axis, copy.meters_per_unit),
        (UpAxis::Z, Some(0.01))
    );
    let clip = &copy.clips[0];
    assert_eq!((clip.frames_per_second, clip.start_secs), (30.0, 0.5));
    let Shape::Weights(track) = &clip.motions[0].shape else {
        panic!("weights stay weights")
    };
    for (found, expected) in track.keys().iter().flatten().zip(rows.iter().flatten()) {
        assert!((found - expected).abs() < 1e-7);
    }
    assert!(copy.warnings.is_empty(), "{:?}", copy.warnings);

    asset.meters_per_unit = None;
    asset.up_axis = UpAxis::X;
    let copy = again(&asset);
    assert_eq!((copy.up_axis, copy.meters_per_unit), (UpAxis::X, Some(1.0)));
}

#[test]
fn a_moving_object_and_frames_of_positions_are_read_as_they_were_written() {
    let placement = PlacementTrack {
        times_secs: (0..4).map(|k| 0.5 + f64::from(k) / 30.0).collect(),
        moved_from_rest: (0..4)
            .map(|k| {
                let angle = DQuat::from_rotation_y(f64::from(k)) * DQuat::from_rotation_x(2.0);
                let scale = DVec3::new(1.0, 2.0, 1.0 + f64::from(k));
                DAffine3::from_scale_rotation_translation(scale, angle, DVec3::X * 3.0)
            })
            .collect(),
    };
    let moved = Motion {
        placement: Some(placement),
        ..Motion::new(0, Shape::Rest)
    };
    let rest = head().rig.neutral().positions().to_vec();
    let frames = (0..4).map(|k| rest.iter().map(|p| *p * (1.0 + f64::from(k))).collect());
    let grown = Motion::new(0, Shape::Points(frames.collect()));

    let asset = Asset {
        objects: vec![head()],
        clips: vec![clip("spin", vec![moved]), clip("grow", vec![grown])],
        ..Asset::default()
    };
    let copy = again(&asset);
    assert_eq!(difference(&asset, &copy), None);
    assert_eq!(copy.target_names(), asset.target_names());
    let shape = &copy.clips[1].motions[0].shape;
    assert!(matches!(shape, Shape::Points(frames) if frames.len() == 4));
}

/// Two objects that follow two joints.
fn character() -> Asset {
    let joint = |name: &str, origin: DVec3, parent| Joint {
        name: name.into(),
        origin,
        axes: DQuat::from_rotation_z(0.3),
        parent,
    };
    let joints = vec![
        joint("lower", DVec3::Y, Some(1)),
        joint("upper", DVec3::ZERO, None),
    ];
    let skeleton = Arc::new(Skeleton::new(joints).unwrap());
    let bound = |weights: [f64; 5]| {
        let both = |w: f64| {
            let influence = |bone, weight| Influence { bone, weight };
            vec![influence(0, w), influence(1, 1.0 - w)]
        };
        let skin = Arc::new(Skin::new(2, weights.map(both)).unwrap());
        let skeleton = skeleton.clone();
        SkinBinding { skin, skeleton }
    };

    let motions = (0..4).map(|k| {
        let bend = DAffine3::from_rotation_x(f64::from(k) * 0.7);
        let scaled = DAffine3::from_scale(DVec3::splat(1.0 + f64::from(k)));
        vec![
            DAffine3::from_translation(DVec3::Z * f64::from(k)) * bend,
            scaled,
        ]
    });
    let motions = Arc::new(motions.collect::<Vec<_>>());
    let mut asset = Asset::default();
    let mut played = Vec::new();
    for (k, weights) in [[0.0, 0.25, 0.5, 0.75, 1.0], [1.0; 5]]
        .into_iter()
        .enumerate()
    {
        let binding = bound(weights);
        let motions = motions.clone();
        played.push(Motion {
            skin: Some(SkinTrack {
                binding: binding.clone(),
                motions,
            }),
            ..Motion::new(k, Shape::Rest)
        });
        asset.objects.push(Object {
            path: format!("/body{k}"),
            skin: Some(binding),
            ..head()
        });
    }
    asset.clips = vec![clip("bend", played), clip("still", Vec::new())];
    asset
}

#[test]
fn a_character_keeps_its_one_skeleton_and_its_weights() {
    let mut asset = character();
    for object in &mut asset.objects {
        object.rest_weights.clear();
    }
    asset.clips.truncate(1);
    let copy = again(&asset);
    assert_eq!(difference(&asset, &copy), None);

    assert!(copy.warnings.is_empty(), "{:?}", copy.warnings);

    let skins: Vec<_> = copy
        .objects
        .iter()
        .map(|o| o.skin.clone().unwrap())
        .collect();
    assert!(Arc::ptr_eq(&skins[0].skeleton, &skins[1].skeleton));
    let joints = skins[0].skeleton.joints();
    for (found, expected) in joints
        .iter()
        .zip(asset.objects[0].skin.as_ref().unwrap().skeleton.joints())
    {
        assert_eq!(
            (&found.name, found.parent),
            (&expected.name, expected.parent)
        );
        assert!(found.bind().abs_diff_eq(expected.bind(), 1e-12));
    }
    let influences = |object: &Object| object.skin.as_ref().unwrap().skin.influences(1).to_vec();
    assert_eq!(influences(&copy.objects[0]), influences(&asset.objects[0]));
    let twice = again(&copy);
    assert_eq!(difference(&copy, &twice), None);
}

#[test]
fn a_clip_without_weights_plays_an_object_at_its_rest_weights() {
    let asset = character();
    let copy = again(&asset);
    assert_eq!(difference(&asset, &copy), None);
}

#[test]
fn what_curves_cannot_hold_is_listed() {
    let mut asset = character();
    asset.clips[1].frames_per_second = 24.0;
    let shear = DAffine3::from_mat3(pliant_mesh::glam::DMat3::from_cols(
        DVec3::X,
        DVec3::new(1.0, 1.0, 0.0),
        DVec3::Z,
    ));
    asset.objects.truncate(1);
    asset.clips[0].motions = vec![Motion {
        placement: Some(PlacementTrack {
            times_secs: vec![0.0],
            moved_from_rest: vec![shear],
        }),
        ..Motion::new(0, Shape::Rest)
    }];
    asset.objects[0].skin = None;
    let left_out = write(&asset).unwrap().left_out.join("; ");
    assert!(
        left_out.contains("1 motion(s) that shear") && left_out.contains("frame rate of 1"),
        "{left_out}"
    );
}

#[test]
fn real_files_are_read_as_they_were_written() {
    let Some(folder) = std::env::var_os("PLIANT_DATA") else {
        #[allow(clippy::print_stderr, reason = "a skipped test says why")]
        {
            eprintln!("skipped: PLIANT_DATA is not set, so no FBX file is read");
        }
        return;
    };
    let mut files = Vec::new();
    files_below(Path::new(&folder), &mut files);
    files.sort();

    let mut failures = Vec::new();
    for path in files {
        let Ok(asset) = read(&std::fs::read(&path).unwrap(), &NoFiles) else {
            continue;
        };
        if !asset.not_finite_places(1).is_empty() {
            continue;
        }
        let written = write(&asset).unwrap();
        match read(&written.bytes, &NoFiles) {
            Ok(copy) => {
                if let Some(what) = difference(&asset, &copy) {
                    failures.push(format!("{}: {what} {:?}", path.display(), written.left_out));
                }
            }
            Err(error) => failures.push(format!("{}: {error}", path.display())),
        }
    }
    assert!(
        failures.is_empty(),
        "{}:\n{}",
        failures.len(),
        failures.join("\n")
    );
}
