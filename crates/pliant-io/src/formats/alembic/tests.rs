use pliant_mesh::glam::{DAffine3, DVec2, DVec3, DVec4};
use pliant_mesh::{CornerLayer, FaceLabels, Mesh, MeshBuilder, VertexLayer};
use pliant_rig::{Interpolation, Rig, Target, WeightTrack};

use super::{read, write};
use crate::{Animation, Asset, Motion, Object, PlacementTrack, Shape, UpAxis};

/// Two quads and a triangle with a UV seam, normals, colours and materials.
fn sheet() -> Mesh {
    let points = [
        (0.0, 0.0),
        (1.0, 0.0),
        (1.0, 1.0),
        (0.0, 1.0),
        (2.0, 0.0),
        (2.0, 1.0),
        (3.0, 0.5),
    ];
    let builder = MeshBuilder {
        name: "sheet".into(),
        positions: points.map(|(x, y)| DVec3::new(x, y, -0.0)).to_vec(),
        face_sizes: vec![4, 4, 3],
        corners: vec![0, 1, 2, 3, 1, 4, 5, 2, 4, 6, 5],
        uv_layers: [("map 1", 0.0), ("", 0.5)]
            .map(|(name, v)| CornerLayer {
                name: name.into(),
                values: (0..9).map(|k| DVec2::new(f64::from(k) / 8.0, v)).collect(),
                // The second quad is not joined to the first in the UV plane.
                corners: [0, 1, 2, 3, 4, 5, 6, 7, 5, 8, 6].map(Some).to_vec(),
            })
            .to_vec(),
        normals: Some(CornerLayer {
            name: String::new(),
            values: vec![DVec3::Z, DVec3::Y],
            corners: [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1].map(Some).to_vec(),
        }),
        colors: vec![VertexLayer {
            name: "Cd".into(),
            values: (0..7)
                .map(|k| DVec4::new(0.5, 0.25, 0.0, f64::from(k) / 8.0))
                .collect(),
        }],
        materials: FaceLabels::from_names(["skin", "lid", "skin"]),
        ..MeshBuilder::default()
    };
    builder.build().unwrap()
}

/// Two quads that a shape key lifts and a triangle below them that moves by itself, over frames 1
/// to 5 at 30 a second, with a camera; exported by Blender 5.0.
const BLENDER: &[u8] = include_bytes!("blender.abc");

#[test]
fn a_file_of_blender_has_the_scene_that_was_exported() {
    let asset = read(BLENDER).unwrap();
    asset.check().unwrap();
    assert_eq!(asset.warnings, ["1 camera(s) are not read"]);

    let paths: Vec<&str> = asset.objects.iter().map(|o| o.path.as_str()).collect();
    assert_eq!(paths, ["/grid/mesh", "/grid/mover/tri"]);
    let grid = asset.objects[0].rig.neutral();
    assert_eq!([grid.face(0), grid.face(1)], [[0, 1, 4, 3], [1, 2, 5, 4]]);
    assert_eq!(grid.materials(), &FaceLabels::from_names(["skin", "lid"]));

    let layer = &grid.uv_layers()[0];
    let uvs = layer
        .corners
        .iter()
        .map(|c| layer.values[c.unwrap() as usize]);
    let authored = (0..8).map(|k| DVec2::new(f64::from(k) / 8.0, 0.25));
    assert_eq!(layer.name, "UVMap");
    assert!(uvs.eq(authored));

    let clip = &asset.clips[0];
    assert_eq!((clip.frame_count, clip.frames_per_second), (5, 30.0));
    assert!((clip.start_secs - 1.0 / 30.0).abs() < 1e-15);

    // The grid is at (1, 2, 3), its last column rises by 1; the triangle moves by 4 and turns by
    // 90°. Blender's z is our y.
    let y_up = |(x, y, z): (f64, f64, f64)| DVec3::new(1.0 + x, 3.0 + z, -2.0 - y);
    let last = asset.frame_positions(4).unwrap();
    for (vertex, place) in [
        (0, (0.0, 0.0, 0.0)),
        (2, (2.0, 0.0, 1.0)),
        (5, (2.0, 1.0, 1.0)),
        (6, (4.0, 0.0, 0.0)),
        (7, (4.0, 1.0, 0.0)),
        (8, (3.0, 0.0, 0.0)),
    ] {
        assert!(
            last[vertex].distance(y_up(place)) < 1e-6,
            "vertex {vertex}: {}",
            last[vertex]
        );
    }
    let first = asset.frame_positions(0).unwrap();
    assert_eq!(first, asset.mesh().unwrap().positions());
    assert!(first[8].distance(y_up((0.0, 1.0, 0.0))) < 1e-6);
}

#[test]
fn a_file_of_blender_comes_back_with_its_frames() {
    let asset = read(BLENDER).unwrap();
    let copy = again(&asset);
    assert_eq!(copy.objects[1].path, "/grid/mover/tri");
    for frame in 0..5 {
        let found = copy.frame_positions(frame).unwrap();
        for (a, b) in found.iter().zip(asset.frame_positions(frame).unwrap()) {
            assert!(a.distance(b) < 1e-6, "frame {frame}: {a} {b}");
        }
    }
}

fn object(path: &str, mesh: Mesh) -> Object {
    Object {
        path: path.into(),
        ..Object::new(Rig::without_targets(mesh))
    }
}

fn triangle() -> Mesh {
    let points = vec![DVec3::ZERO, DVec3::X, DVec3::Y];
    Mesh::from_triangles(points, &[[0, 1, 2]]).unwrap()
}

/// A sheet that moves point by point and a triangle that moves as a whole, over 30 frames.
fn moving() -> Asset {
    let sheet = sheet();
    let wave = |frame: usize| {
        let rise = |p: &DVec3| *p + DVec3::Z * (0.25 * p.x * frame as f64 + 1.0);
        sheet.positions().iter().map(rise).collect::<Vec<_>>()
    };

    let mut clip = Animation::new("wave", 30);
    clip.frames_per_second = 29.97;
    clip.start_secs = 1.0 / 29.97;
    let times: Vec<f64> = (0..30).map(|k| clip.time_secs(k)).collect();
    let turned = |k: usize| {
        let angle = 0.1 * k as f64 + 0.3;
        DAffine3::from_rotation_z(angle) * DAffine3::from_translation(DVec3::new(1.0, 0.0, 2.0))
    };
    let placement = Some(PlacementTrack {
        moved_from_rest: (0..30).map(turned).collect(),
        times_secs: times,
    });
    clip.motions = vec![
        Motion::new(0, Shape::Points((0..30).map(wave).collect())),
        Motion {
            placement,
            ..Motion::new(1, Shape::Rest)
        },
    ];

    Asset {
        objects: vec![
            object("/rig/sheet", sheet.clone()),
            object("/rig/prop", triangle()),
        ],
        clips: vec![clip],
        ..Asset::default()
    }
}

fn again(asset: &Asset) -> Asset {
    let copy = read(&write(asset).unwrap().bytes).unwrap();
    copy.check().unwrap();
    assert!(copy.warnings.is_empty(), "{:?}", copy.warnings);
    copy
}

fn assert_same_mesh(a: &Mesh, b: &Mesh) {
    assert!(a.faces().eq(b.faces()), "faces");
    assert_eq!(a.positions(), b.positions());
    assert_eq!(a.uv_layers(), b.uv_layers());
    assert_eq!(a.colors(), b.colors());
    assert_eq!(a.materials(), b.materials());
    assert_eq!(a.name(), b.name());
}

#[test]
fn a_still_mesh_comes_back_with_quads_seams_normals_and_materials() {
    let asset = Asset {
        objects: vec![object("/sheet", sheet())],
        ..Asset::default()
    };
    let written = write(&asset).unwrap();
    assert!(written.left_out.is_empty(), "{:?}", written.left_out);

    let copy = again(&asset);
    assert_eq!(copy.objects[0].path, "/sheet");
    let mesh = copy.objects[0].rig.neutral();
    assert_same_mesh(mesh, &sheet());
    assert_eq!(mesh.normals(), sheet().normals());
    assert!(copy.clips.is_empty());
}

#[test]
fn two_objects_and_thirty_frames_come_back() {
    let asset = moving();
    let copy = again(&asset);

    let paths: Vec<&str> = copy.objects.iter().map(|o| o.path.as_str()).collect();
    assert_eq!(paths, ["/rig/sheet", "/rig/prop"]);
    for (a, b) in copy.objects.iter().zip(&asset.objects) {
        assert!(a.rig.neutral().faces().eq(b.rig.neutral().faces()));
        assert_eq!(a.rig.neutral().positions(), b.rig.neutral().positions());
    }

    let (a, b) = (&copy.clips[0], &asset.clips[0]);
    assert_eq!(
        (a.name.as_str(), a.frame_count, a.frames_per_second),
        ("wave", 30, 29.97)
    );
    assert_eq!(a.start_secs, b.start_secs);
    assert_eq!(a.motions[1].placement, b.motions[1].placement);
    assert!(matches!(a.motions[1].shape, Shape::Rest));
    for frame in 0..30 {
        assert_eq!(
            copy.frame_positions(frame).unwrap(),
            asset.frame_positions(frame).unwrap()
        );
    }
}

#[test]
fn equal_assets_are_equal_files_and_a_copy_is_the_same_file() {
    let written = write(&moving()).unwrap().bytes;
    assert_eq!(written, write(&moving()).unwrap().bytes);
    assert_eq!(written, write(&again(&moving())).unwrap().bytes);
}

#[test]
fn equal_samples_are_stored_once() {
    let mut asset = moving();
    let long = write(&asset).unwrap().bytes.len();
    let Shape::Points(frames) = &mut asset.clips[0].motions[0].shape else {
        unreachable!()
    };
    for frame in 10..30 {
        frames[frame] = frames[9].clone();
    }

    let short = write(&asset).unwrap().bytes.len();
    let frame_bytes = 7 * 12 + 6 * 8;
    assert!(short < long - 20 * frame_bytes, "{short} of {long}");

    let copy = again(&asset);
    for frame in 0..30 {
        assert_eq!(
            copy.frame_positions(frame).unwrap(),
            asset.frame_positions(frame).unwrap()
        );
    }
}

#[test]
fn a_clip_of_one_frame_keeps_its_rest_pose() {
    let mut asset = moving();
    asset.objects.truncate(1);
    asset.clips[0].motions.truncate(1);
    asset.clips[0].frame_count = 1;
    let Shape::Points(frames) = &mut asset.clips[0].motions[0].shape else {
        unreachable!()
    };
    frames.truncate(1);

    let copy = again(&asset);
    assert_same_mesh(copy.objects[0].rig.neutral(), &sheet());
    assert_eq!(copy.clips[0].frame_count, 1);
    assert_eq!(
        copy.frame_positions(0).unwrap(),
        asset.frame_positions(0).unwrap()
    );
}

#[test]
fn sliders_become_positions_and_are_reported() {
    let lift = Target::from_dense("lift", (0..3).map(|_| pliant_mesh::glam::Vec3::Z));
    let mut asset = Asset::from_rig(Rig::new(triangle(), vec![lift]).unwrap());
    let keys = vec![vec![0.0], vec![2.0]];
    let track = WeightTrack::new(vec![0.0, 1.0], keys, Interpolation::Linear).unwrap();
    let mut clip = Animation::new("lift", 3);
    clip.frames_per_second = 2.0;
    clip.motions = vec![Motion::new(0, Shape::Weights(track))];
    asset.clips = vec![
        clip.clone(),
        Animation {
            name: "other".into(),
            ..clip
        },
    ];

    let left_out = write(&asset).unwrap().left_out.join("; ");
    for words in ["1 target(s)", "animation(s) of weights", "1 clip ('other')"] {
        assert!(left_out.contains(words), "'{words}' in {left_out}");
    }

    let copy = again(&asset);
    let heights: Vec<f64> = (0..3)
        .map(|frame| copy.frame_positions(frame).unwrap()[0].z)
        .collect();
    assert_eq!(heights, [0.0, 1.0, 2.0]);
    assert_eq!(copy.clips[0].frames_per_second, 2.0);
}

#[test]
fn a_model_in_centimetres_with_z_up_is_written_in_metres_with_y_up() {
    let mut asset = Asset::from_mesh(triangle());
    let before = asset.mesh().unwrap().bounds().unwrap().size();
    asset.up_axis = UpAxis::Z;
    asset.meters_per_unit = Some(0.01);
    assert!(write(&asset).unwrap().left_out.is_empty());

    let after = again(&asset).mesh().unwrap().bounds().unwrap().size();
    let expected = DVec3::new(before.x, before.z, before.y) * 0.01;
    assert!(after.distance(expected) < 1e-7 * before.length());
}

#[test]
fn interleaved_objects_keep_the_vertex_order_of_the_file() {
    let mut asset = Asset {
        objects: vec![
            object("/a/one", triangle()),
            object("/b/two", triangle()),
            object("/a/three", triangle()),
        ],
        ..Asset::default()
    };
    let shifted = |k: f64| triangle().posed(vec![DVec3::splat(k); 3]).unwrap();
    for (k, object) in asset.objects.iter_mut().enumerate() {
        object.rig = Rig::without_targets(shifted(k as f64));
    }
    asset.objects[0].file_index = Some(vec![0, 2, 4]);
    asset.objects[1].file_index = Some(vec![1, 3, 5]);

    let copy = again(&asset);
    let paths: Vec<&str> = copy.objects.iter().map(|o| o.path.as_str()).collect();
    assert_eq!(paths, ["/a/one", "/b/two", "/a/three"]);
    assert_eq!(
        copy.mesh().unwrap().positions(),
        asset.mesh().unwrap().positions()
    );
}

#[test]
fn corners_without_uvs_and_normals_of_moving_meshes_are_reported() {
    let mut asset = moving();
    let mut builder = sheet().to_builder();
    builder.uv_layers[0].corners[5] = None;
    asset.objects[0].rig = Rig::without_targets(builder.build().unwrap());

    let written = write(&asset).unwrap();
    let left_out = written.left_out.join("; ");
    assert!(
        left_out.contains("1 corner(s) have no texture"),
        "{left_out}"
    );
    assert!(left_out.contains("the normals of 1 mesh(es)"), "{left_out}");
    let copy = read(&written.bytes).unwrap();
    let layer = &copy.objects[0].rig.neutral().uv_layers()[0];
    assert_eq!(
        layer.values[layer.corners[5].unwrap() as usize],
        DVec2::ZERO
    );
}

#[test]
fn a_placed_object_with_others_below_it_does_not_move_them() {
    let mut asset = moving();
    asset.objects[1].path = "/rig".into();
    let copy = again(&asset);
    for frame in [0, 29] {
        let expected = asset.frame_positions(frame).unwrap();
        let found = copy.frame_positions(frame).unwrap();
        let worst = expected.iter().zip(&found).map(|(a, b)| a.distance(*b));
        assert!(worst.fold(0.0, f64::max) < 1e-6, "{found:?} {expected:?}");
    }
}

#[test]
fn a_placement_with_shear_is_written_as_points() {
    let mut asset = moving();
    let squash = DAffine3::from_scale(DVec3::new(1.0, 2.0, 1.0));
    let placement = asset.clips[0].motions[1].placement.as_mut().unwrap();
    for moved in &mut placement.moved_from_rest {
        *moved = squash * *moved;
    }

    let copy = again(&asset);
    let motion = &copy.clips[0].motions[1];
    assert!(motion.placement.is_none() && matches!(motion.shape, Shape::Points(_)));
    assert_eq!(
        copy.objects[1].rig.neutral().positions(),
        triangle().positions()
    );
    let expected = asset.frame_positions(29).unwrap();
    for (a, b) in copy.frame_positions(29).unwrap().iter().zip(expected) {
        assert!(a.distance(b) < 1e-5, "{a} {b}");
    }
}

#[test]
fn names_with_separators_are_changed_and_reported() {
    let mut asset = moving();
    asset.clips[0].name = "walk; slow".into();
    let mut builder = sheet().to_builder();
    builder.materials = FaceLabels::from_names(["skin/left", "lid", "skin/left"]);
    asset.objects[0].rig = Rig::without_targets(builder.build().unwrap());

    let written = write(&asset).unwrap();
    let left_out = written.left_out.join("; ");
    assert!(left_out.contains("2 name(s) with '/'"), "{left_out}");
    let copy = read(&written.bytes).unwrap();
    assert_eq!(copy.clips[0].name, "walk_ slow");
    let materials = copy.objects[0].rig.neutral().materials();
    assert_eq!(materials.names, ["skin_left", "lid"]);
}

#[test]
fn positions_beyond_single_precision_are_declined() {
    let far = triangle().posed(vec![DVec3::splat(1e300); 3]).unwrap();
    let error = write(&Asset::from_mesh(far)).unwrap_err().to_string();
    assert!(
        error.contains("vertex 0") && error.contains("scale the asset"),
        "{error}"
    );
}

#[test]
fn a_tree_deeper_than_the_limit_is_declined_without_overflow() {
    let path = "/a".repeat(400);
    let asset = Asset {
        objects: vec![object(&path, triangle())],
        ..Asset::default()
    };
    let error = read(&write(&asset).unwrap().bytes).unwrap_err();
    assert!(error.message.contains("nested more than"), "{error}");
}

/// A unit cube that Blender exported with two instances, 3 and 6 to the right.
const INSTANCES: &[u8] = include_bytes!("../../../tests/alembic/instances.abc");

#[test]
fn instances_are_objects_at_their_places() {
    let asset = read(INSTANCES).unwrap();
    assert!(asset.warnings.is_empty(), "{:?}", asset.warnings);
    asset.check().unwrap();

    let centers = asset.objects.iter().map(|object| {
        let bounds = object.rig.neutral().bounds().unwrap();
        assert!((bounds.max - bounds.min).abs_diff_eq(DVec3::ONE, 1e-6));
        bounds.center()
    });
    let mut centers: Vec<f64> = centers.map(|center| center.x).collect();
    centers.sort_by(f64::total_cmp);
    assert_eq!(centers.len(), 3);
    for (found, expected) in centers.iter().zip([0.0, 3.0, 6.0]) {
        assert!((found - expected).abs() < 1e-6, "{centers:?}");
    }
}
