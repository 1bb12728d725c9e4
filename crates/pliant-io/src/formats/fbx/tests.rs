use std::sync::Arc;

use pliant_mesh::glam::DVec3;

use super::read;
use crate::{Asset, FilePosition, IoError, NoFiles, Shape, UpAxis, gltf, point_cache};

/// A quad at (1, 2, 3) with a channel of two shapes, driven from 0 to 1 in a second.
const QUAD: &str = include_str!("quad.fbx");

fn quad() -> Asset {
    read(QUAD.as_bytes(), &NoFiles).unwrap_or_else(|e| panic!("{e} {:?}", e.position))
}

#[test]
fn a_scene_gives_polygons_channels_and_clips() {
    let asset = quad();
    assert_eq!(asset.objects[0].path, "/group/quad");

    let mesh = asset.mesh().unwrap();
    assert_eq!(mesh.face(0), [0, 1, 2, 3]);
    assert_eq!(mesh.positions()[2], DVec3::new(2.0, 3.0, 3.0));
    assert_eq!(mesh.uv_layers()[0].name, "map1");
    assert_eq!(mesh.materials().names, ["skin"]);

    let target = &asset.objects[0].rig.targets()[0];
    assert_eq!(
        (
            target.name.as_str(),
            target.in_betweens.len(),
            target.in_betweens[0].weight
        ),
        ("lid", 1, 0.5)
    );

    let clip = &asset.clips[0];
    assert_eq!(
        (clip.name.as_str(), clip.frame_count, clip.frames_per_second),
        ("Take 001", 25, 24.0)
    );
    assert!(matches!(clip.motions[0].shape, Shape::Weights(_)));

    // Half way the in-between stands: one along z; at the end two along x.
    let at = |frame: usize| asset.frame_positions(frame).unwrap()[2] - DVec3::new(2.0, 3.0, 3.0);
    assert!(
        (at(12) - DVec3::Z).length() < 1e-6 && (at(24) - DVec3::X * 2.0).length() < 1e-6,
        "{} {}",
        at(12),
        at(24)
    );

    assert!((at(18) - (DVec3::Z * 0.5 + DVec3::X)).length() < 1e-6);
}

#[test]
fn up_axis_and_unit_are_read() {
    let space = |text: &str| {
        let asset = read(text.as_bytes(), &NoFiles).unwrap();
        (
            asset.up_axis,
            asset.meters_per_unit,
            asset.warnings.iter().any(|p| p.contains("negative")),
        )
    };

    assert_eq!(space(QUAD), (UpAxis::Y, Some(0.01), false));
    let turned = QUAD.replace(
        "\"UpAxis\", \"int\", \"Integer\", \"\",1",
        "\"UpAxis\", \"int\", \"Integer\", \"\",2",
    );

    let turned = turned.replace(
        "\"FrontAxis\", \"int\", \"Integer\", \"\",2",
        "\"FrontAxis\", \"int\", \"Integer\", \"\",1",
    );

    let metres = turned.replace(
        "\"UnitScaleFactor\", \"double\", \"Number\", \"\",1",
        "\"UnitScaleFactor\", \"double\", \"Number\", \"\",100",
    );

    assert_eq!(space(&metres), (UpAxis::Z, Some(1.0), false));
    let down = metres.replace(
        "\"UpAxisSign\", \"int\", \"Integer\", \"\",1",
        "\"UpAxisSign\", \"int\", \"Integer\", \"\",-1",
    );

    assert_eq!(space(&down), (UpAxis::Z, Some(1.0), true));
}

#[test]
fn a_moving_node_moves_its_mesh() {
    let moved = QUAD.replace(
        "C: \"OP\",402,301, \"DeformPercent\"",
        "C: \"OP\",402,201, \"Lcl Translation\"",
    );
    let moved = moved.replace("d|DeformPercent", "d|X");
    let asset = read(moved.as_bytes(), &NoFiles).unwrap();
    let at = |frame: usize| asset.frame_positions(frame).unwrap()[0];

    assert!(
        (at(24) - at(0) - DVec3::X * 100.0).length() < 1e-9,
        "{} {}",
        at(0),
        at(24)
    );

    assert!(asset.clips[0].motions[0].placement.is_some());
}

/// Two meshes that follow one skeleton of two bones, whose lower one bends by 90° in a second.
const ARM: &str = include_str!("arm.fbx");

#[test]
fn meshes_of_one_skeleton_share_its_joints_and_their_motions() {
    let asset = read(ARM.as_bytes(), &NoFiles).unwrap();
    let skins: Vec<_> = asset
        .objects
        .iter()
        .filter_map(|o| o.skin.as_ref())
        .collect();
    assert_eq!(skins.len(), 2);
    assert!(Arc::ptr_eq(&skins[0].skeleton, &skins[1].skeleton));

    // A vertex without weights follows the node of its mesh.
    let joints = skins[0].skeleton.joints();
    let names: Vec<_> = joints.iter().map(|j| (&*j.name, j.parent)).collect();
    assert_eq!(names, [("upper", None), ("lower", Some(0)), ("arm", None)]);
    assert_eq!(joints[1].origin, DVec3::Y);

    let track = |object: usize| asset.clips[0].motions[object].skin.clone().unwrap();
    assert!(Arc::ptr_eq(&track(0).motions, &track(1).motions));

    let json = String::from_utf8(gltf::write_json(&asset).bytes).unwrap();
    let matrices = json.matches("inverseBindMatrices").count();
    assert_eq!(matrices, 1, "glTF gets one skin");

    let end = asset.frame_positions(24).unwrap();
    let expected = [
        DVec3::ZERO,
        DVec3::Y,
        DVec3::new(-1.0, 1.0, 0.0),
        DVec3::X * 5.0,
        DVec3::new(-1.0, 1.0, 0.0),
        DVec3::new(-1.0, 2.0, 0.0),
        DVec3::new(-2.0, 1.0, 0.0),
    ];
    for (found, expected) in end.iter().zip(expected) {
        assert!(found.distance(expected) < 1e-12, "{end:?}");
    }
    assert!(asset.warnings.is_empty(), "{:?}", asset.warnings);
}

#[test]
fn a_scene_that_rests_bent_has_its_bind_pose_as_neutral() {
    let bent = ARM.replace("\"A\",0,1,0", "\"A\",0,1,7");
    let asset = read(bent.as_bytes(), &NoFiles).unwrap();
    assert_eq!(asset.mesh().unwrap().positions()[2], DVec3::Y * 2.0);
    assert_eq!(
        asset.frame_positions(0).unwrap()[2],
        DVec3::new(0.0, 2.0, 7.0)
    );
    assert!(asset.warnings[0].contains("its neutral is the bind pose"));
}

#[test]
fn channels_that_are_not_zero_give_the_rest_weights() {
    let set = QUAD.replace("DeformPercent: 0", "DeformPercent: 30");
    let asset = read(set.as_bytes(), &NoFiles).unwrap();
    assert_eq!(asset.objects[0].rest_weights, [0.3]);
    assert!(quad().objects[0].rest_weights.is_empty());
}

struct OneFile(Vec<u8>);

impl crate::FileProvider for OneFile {
    fn read(&self, uri: &str) -> Result<Vec<u8>, IoError> {
        assert_eq!(uri, "caches/quad.pc2");
        Ok(self.0.clone())
    }
}

#[test]
fn a_point_cache_moves_the_mesh_and_a_missing_one_is_reported() {
    let cached = QUAD.replace("; cache", "");
    let warnings = read(cached.as_bytes(), &NoFiles).unwrap().warnings;
    assert!(
        warnings
            .iter()
            .any(|p| p.contains("'caches/quad.pc2'") && p.contains("does not exist")),
        "{warnings:?}"
    );

    let frames = (0..3)
        .map(|k| vec![DVec3::splat(f64::from(k)); 4])
        .collect();
    let mesh = pliant_mesh::Mesh::from_polygons(vec![DVec3::ZERO; 4], &[]).unwrap();
    let clip = Asset::from_clip(&pliant_rig::Clip::new("", mesh, frames).unwrap());
    let mut pc2 = point_cache::write_pc2(&clip).unwrap().bytes;

    pc2[20..24].copy_from_slice(&4_f32.to_le_bytes());
    pc2[24..28].copy_from_slice(&2_f32.to_le_bytes());
    let asset = read(cached.as_bytes(), &OneFile(pc2)).unwrap();
    let at = |frame: usize| asset.frame_positions(frame).unwrap()[3] - DVec3::new(1.0, 2.0, 3.0);

    for (frame, value) in [(0, 0.0), (4, 0.0), (5, 0.5), (6, 1.0), (8, 2.0), (20, 2.0)] {
        assert!(
            (at(frame) - DVec3::splat(value)).length() < 1e-9,
            "frame {frame}: {}",
            at(frame)
        );
    }
}

#[test]
fn files_that_are_not_scenes_are_rejected() {
    let message = |bytes: &[u8]| read(bytes, &NoFiles).unwrap_err();
    let text = message(b"this is not a scene\n");
    assert!(
        text.position == FilePosition::Byte(0) && text.message.contains("not an FBX scene"),
        "{text:?}"
    );

    let half = &QUAD.as_bytes()[..QUAD.len() / 2];
    let cut = message(half);
    assert!(
        cut.position == FilePosition::Byte(half.len()) && cut.message.contains("cut off"),
        "{cut:?}"
    );

    let binary = message(b"Kaydara FBX Binary  \0\x1a\0\xe8\x1c\0\0\xff\xff\xff\0");
    assert!(
        binary.message.contains("cut off") && binary.message.contains("export it again"),
        "{binary:?}"
    );
}
