//! Damaged files of every format are rejected with one line that names the file, the position and
//! the reason.

use std::fs;

use pliant_io::{Asset, LoadOptions, alembic, load, ply, point_cache, save, usda};
use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use pliant_rig::Clip;

/// A triangle that rises for three frames.
fn rising() -> Asset {
    let points = [DVec3::ZERO, DVec3::X, DVec3::Y];
    let frames = (0..3)
        .map(|k| points.map(|p| p + DVec3::Z * f64::from(k)).to_vec())
        .collect();
    let mesh = Mesh::from_triangles(points.to_vec(), &[[0, 1, 2]]).unwrap();
    Asset::from_clip(&Clip::new("rise", mesh, frames).unwrap())
}

/// What is said about `bytes` in a file called `name`.
fn message(name: &str, bytes: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    let text = load(path.to_str().unwrap(), &LoadOptions::default())
        .unwrap_err()
        .to_string();
    assert!(!text.contains('\n'), "one line: {text}");
    text
}

fn assert_says(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "'{word}' in: {text}");
    }
}

fn cut(bytes: &[u8], keep: usize) -> &[u8] {
    &bytes[..keep]
}

#[test]
fn truncated_files_are_reported_with_their_position() {
    let asset = rising();
    let ply = ply::write(&asset).unwrap().bytes;
    assert_says(
        &message("cut.ply", cut(&ply, ply.len() - 1)),
        &[
            "cut.ply, byte ",
            "face 0 of 1 needs 4 bytes, but 3 are left",
        ],
    );

    assert_says(
        &message("head.ply", cut(&ply, 60)),
        &["head.ply, line ", "before 'end_header'"],
    );

    let mdd = point_cache::write_mdd(&asset).unwrap().bytes;
    assert_says(
        &message("cut.mdd", cut(&mdd, mdd.len() - 1)),
        &[
            "cut.mdd, byte 8: ",
            "3 frames of 3 points are announced",
            "119 are left",
        ],
    );

    let pc2 = point_cache::write_pc2(&asset).unwrap().bytes;
    assert_says(
        &message("cut.pc2", cut(&pc2, pc2.len() - 1)),
        &["cut.pc2, byte 32: ", "3 samples of 3 points are announced"],
    );

    let usda = usda::write(&asset).unwrap().bytes;
    assert_says(
        &message("cut.usda", cut(&usda, usda.len() / 2)),
        &["cut.usda, line ", "the file ends", "cut off"],
    );

    let stl = [&[b'x'; 80][..], &2_u32.to_le_bytes(), &[0; 99]].concat();
    assert_says(
        &message("cut.stl", &stl),
        &[
            "cut.stl, byte 84: ",
            "2 triangles are announced, which need 100 bytes, but 99 are left",
        ],
    );
}

#[test]
fn damaged_alembic_files_are_reported_with_their_position() {
    let whole = alembic::write(&rising()).unwrap().bytes;
    assert_says(
        &message("cut.abc", cut(&whole, whole.len() - 1)),
        &["cut.abc, byte ", "are left", "cut off or damaged"],
    );
    assert_says(
        &message("old.abc", b"\x89HDF\r\n\x1a\n and more"),
        &["old.abc: ", "HDF5, which is not supported", "as Ogawa"],
    );
    assert_says(
        &message("text.abc", b"this is not an archive\n"),
        &["text.abc, byte 0", "not an Alembic file"],
    );

    let mut huge = whole;
    huge[16..24].copy_from_slice(&u64::MAX.to_le_bytes());
    assert_says(
        &message("huge.abc", &huge),
        &["huge.abc, byte 16", "data of 18446744073709551615 bytes"],
    );
}

#[test]
fn sizes_of_gigabytes_in_a_small_file_are_rejected() {
    let ply = "ply\nformat binary_little_endian 1.0\nelement vertex 4000000000\nproperty float x\nproperty float y\nproperty float z\nend_header\n";
    assert_says(
        &message("huge.ply", ply.as_bytes()),
        &[
            "huge.ply, byte ",
            "4000000000 rows",
            "48000000000 bytes, but 0 are left",
        ],
    );

    let stl = [&[b'x'; 80][..], &u32::MAX.to_le_bytes()].concat();
    assert_says(
        &message("huge.stl", &stl),
        &["huge.stl, byte 84", "4294967295 triangles"],
    );

    let mdd = [i32::MAX.to_be_bytes(), i32::MAX.to_be_bytes()].concat();
    assert_says(
        &message("huge.mdd", &mdd),
        &["huge.mdd, byte 8", "2147483647 frames"],
    );

    let usda = "#usda 1.0\n( startTimeCode = 0 endTimeCode = 999999 )\ndef Mesh \"m\" { point3f[] points.timeSamples = { 0: [(0,0,0), (1,1,1)] } }\n";
    assert_says(
        &message("huge.usda", usda.as_bytes()),
        &[
            "huge.usda",
            "the frames of the points",
            "more than a file of this size",
        ],
    );
}

#[test]
fn mixed_byte_orders_in_a_ply_are_reported() {
    let ply = String::from_utf8_lossy(&ply::write(&rising()).unwrap().bytes)
        .replace("1.0\n", "1.0\nformat binary_big_endian 1.0\n");
    assert_says(
        &message("mixed.ply", ply.as_bytes()),
        &[
            "mixed.ply, line 3",
            "both binary_little_endian and binary_big_endian",
        ],
    );
}

#[test]
fn nan_in_frames_is_an_error_or_a_warning_on_request() {
    let mut mdd = point_cache::write_mdd(&rising()).unwrap().bytes;
    let end = mdd.len();
    mdd[end - 4..].copy_from_slice(&f32::NAN.to_be_bytes());
    assert_says(
        &message("nan.mdd", &mdd),
        &["nan.mdd", "frame 2 of clip 'nan'", "vertex 2"],
    );
}

#[cfg(feature = "fbx")]
#[test]
fn a_file_that_is_not_a_scene_is_rejected_as_fbx() {
    let scene = include_bytes!("../src/formats/fbx/quad.fbx");
    assert_says(
        &message("text.fbx", b"this is not a scene\n"),
        &["text.fbx, byte 0", "not an FBX scene"],
    );

    assert_says(
        &message(
            "part.fbx",
            b"Kaydara FBX Binary  \0\x1a\0\xe8\x1c\0\0\xff\xff\xff\0",
        ),
        &["part.fbx", "cut off", "export it again"],
    );

    assert_says(
        &message("cut.fbx", cut(scene, scene.len() / 2)),
        &["cut.fbx, byte ", "cut off"],
    );
}

#[test]
fn the_error_for_a_wrong_ending_names_the_real_format() {
    let asset = rising();
    let folder = tempfile::tempdir().unwrap();
    for ending in ["obj", "glb", "ply", "usda", "abc", "pc2"] {
        save(&asset, folder.path().join(format!("rise.{ending}"))).unwrap();
        let bytes = fs::read(folder.path().join(format!("rise.{ending}"))).unwrap();
        for wrong in [
            "obj", "glb", "gltf", "ply", "usda", "abc", "pc2", "mdd", "stl", "off",
        ]
        .into_iter()
        .filter(|wrong| *wrong != ending)
        {
            if (ending, wrong) == ("glb", "gltf") {
                continue;
            }

            let text = message(&format!("wrong.{wrong}"), &bytes);
            assert_says(
                &text,
                &[
                    &format!("wrong.{wrong}: this looks like a"),
                    &format!("rename it to end in '.{ending}'"),
                ],
            );
        }
    }
}

#[test]
fn a_cache_for_another_mesh_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    save(&rising(), folder.path().join("rise.mdd")).unwrap();
    fs::write(
        folder.path().join("quad.obj"),
        "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n",
    )
    .unwrap();

    let error = load(
        "quad.obj+rise.mdd",
        &LoadOptions::default().with_folder(folder.path()),
    )
    .unwrap_err()
    .to_string();

    assert_says(&error, &["rise.mdd", "3 vertices", "4"]);
}
