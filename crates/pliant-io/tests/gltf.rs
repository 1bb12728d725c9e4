//! glTF files: invalid ones, those of other programs, and real ones.

use std::fs;
use std::path::PathBuf;

use pliant_io::{Asset, LoadOptions, NoFiles, Object, Shape, gltf, load};
use pliant_mesh::glam::{DVec3, Vec3};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

/// One triangle: 36 bytes of positions, 6 of indices, 2 of filling.
fn triangle() -> (Value, Vec<u8>) {
    let mut binary: Vec<u8> = [0_f32, 0., 0., 1., 0., 0., 0., 1., 0.]
        .iter()
        .flat_map(|x| x.to_le_bytes())
        .collect();

    binary.extend([0, 0, 1, 0, 2, 0, 0, 0]);
    let document = json!({
        "asset": {"version": "2.0"}, "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"},
                      {"bufferView": 1, "componentType": 5123, "count": 3, "type": "SCALAR"}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}, {"buffer": 0, "byteOffset": 36, "byteLength": 6}],
        "buffers": [{"byteLength": 44}],
    });

    (document, binary)
}

fn glb(document: &Value, binary: &[u8]) -> Vec<u8> {
    let mut text = document.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut bytes = b"glTF\x02\0\0\0".to_vec();
    bytes.extend(((28 + text.len() + binary.len()) as u32).to_le_bytes());

    for (kind, content) in [(b"JSON", text.as_slice()), (b"BIN\0", binary)] {
        bytes.extend((content.len() as u32).to_le_bytes());
        bytes.extend(kind);
        bytes.extend(content);
    }

    bytes
}

fn read(document: &Value, binary: &[u8]) -> Result<Asset, String> {
    gltf::read(&glb(document, binary), &NoFiles).map_err(|e| e.to_string())
}

/// The message about a triangle of which `change` made something else.
fn message(change: impl FnOnce(&mut Value)) -> String {
    let (mut document, binary) = triangle();
    change(&mut document);
    let text = read(&document, &binary).unwrap_err();
    assert!(!text.contains('\n'), "one line: {text}");
    text
}

fn push(list: &mut Value, entry: Value) {
    list.as_array_mut().unwrap().push(entry);
}

fn assert_says(text: &str, words: &[&str]) {
    for word in words.iter() {
        assert!(text.contains(word), "'{word}' in: {text}");
    }
}

#[test]
fn a_valid_triangle_is_read() {
    let (document, binary) = triangle();
    let asset = read(&document, &binary).unwrap();
    assert_eq!(
        asset.mesh().unwrap().positions(),
        [DVec3::ZERO, DVec3::X, DVec3::Y]
    );
    assert_eq!(asset.mesh().unwrap().triangles(), [[0, 1, 2]]);
}

#[test]
fn a_truncated_file_is_reported_with_its_end() {
    let (document, binary) = triangle();
    let whole = glb(&document, &binary);
    for cut in [11, 30, whole.len() / 2, whole.len() - 1] {
        let text = gltf::read(&whole[..cut], &NoFiles).unwrap_err().to_string();
        assert_says(&text, &[&format!("byte {cut}"), "copy it again"]);
    }

    let mut chunk = whole.clone();
    chunk[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_says(
        &gltf::read(&chunk, &NoFiles).unwrap_err().to_string(),
        &["byte 12", "needs 4294967295 bytes"],
    );

    let mut first = whole;
    first[4] = 1;
    assert_says(
        &gltf::read(&first, &NoFiles).unwrap_err().to_string(),
        &["version 1"],
    );
}

#[test]
fn lengths_and_counts_beyond_the_bytes_are_rejected_before_allocating() {
    assert_says(
        &message(|d| d["buffers"][0]["byteLength"] = json!(1_000_000)),
        &["buffer 0", "1000000", "has 44"],
    );

    assert_says(
        &message(|d| d["accessors"][0]["count"] = json!(1_u64 << 31)),
        &["accessor 0", "2147483648 rows", "36 bytes"],
    );

    assert_says(
        &message(|d| d["bufferViews"][0]["byteOffset"] = json!(u64::MAX - 8)),
        &["buffer view 0", "buffer 0 has 44"],
    );

    assert_says(
        &message(|d| d["bufferViews"][0]["byteStride"] = json!(4)),
        &["accessor 0", "rows of 12 bytes", "stride of 4 bytes"],
    );

    assert_says(
        &message(|d| d["bufferViews"][0]["byteStride"] = json!(1_u64 << 62)),
        &["accessor 0", "needs"],
    );

    let zeros = json!({"componentType": 5126, "count": 1_u64 << 31, "type": "VEC3"});
    assert_says(
        &message(|d| d["accessors"][0] = zeros),
        &["accessor 0", "more than a file of this size"],
    );

    let sparse = json!({"count": 1_u64 << 31, "indices": {"bufferView": 1, "componentType": 5123}, "values": {"bufferView": 0}});
    assert_says(
        &message(|d| d["accessors"][0]["sparse"] = sparse),
        &["accessor 0", "2147483648 rows"],
    );
}

#[test]
fn references_to_missing_items_are_reported() {
    assert_says(
        &message(|d| d["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = json!(7)),
        &["mesh 0", "accessor 7"],
    );

    assert_says(
        &message(|d| d["accessors"][0]["bufferView"] = json!(9)),
        &["buffer view 9"],
    );

    assert_says(
        &message(|d| d["bufferViews"][0]["buffer"] = json!(3)),
        &["buffer view 0", "buffer 3"],
    );

    assert_says(
        &message(|d| d["nodes"] = json!([{"mesh": 4}])),
        &["node 0", "mesh 4"],
    );

    assert_says(
        &message(|d| d["nodes"] = json!([{"mesh": 0, "children": [1]}, {"children": [0]}])),
        &["its own ancestor"],
    );

    assert_says(
        &message(|d| d["nodes"] = json!([{"mesh": 0, "children": [5]}])),
        &["node 0", "child 5"],
    );

    assert_says(
        &message(|d| d["accessors"][0]["type"] = json!("SCALAR")),
        &["accessor 0", "VEC3"],
    );

    assert_says(
        &message(|d| d["accessors"][0]["componentType"] = json!(99)),
        &["accessor 0", "99"],
    );

    assert_says(
        &message(|d| d["accessors"][1]["count"] = json!(-1)),
        &["JSON", "-1"],
    );

    assert_says(
        &message(|d| d["extensionsRequired"] = json!(["KHR_technique_webgl"])),
        &["KHR_technique_webgl"],
    );
    assert_says(&message(|d| d["meshes"] = json!([])), &["mesh"]);

    let (document, mut binary) = triangle();
    binary[40] = 99;
    assert_says(
        &read(&document, &binary).unwrap_err(),
        &["index 2 of accessor 1", "vertex 99", "there are 3"],
    );
}

#[test]
fn a_target_with_another_vertex_count_is_reported() {
    let text = message(|d| {
        d["meshes"][0]["primitives"][0]["targets"] = json!([{"POSITION": 2}]);
        push(
            &mut d["accessors"],
            json!({"bufferView": 0, "componentType": 5126, "count": 2, "type": "VEC3"}),
        );
    });
    assert_says(&text, &["accessor 2", "2 vertices", "its mesh has 3"]);
}

#[test]
fn a_small_file_cannot_use_one_array_very_often() {
    let text = message(|d| {
        let targets: Vec<Value> = (0..60_000).map(|_| json!({"POSITION": 2})).collect();
        d["accessors"][0] = json!({"componentType": 5126, "count": 300_000, "type": "VEC3"});
        push(
            &mut d["accessors"],
            json!({"componentType": 5126, "count": 300_000, "type": "VEC3",
            "sparse": {"count": 3, "indices": {"bufferView": 1, "componentType": 5123}, "values": {"bufferView": 0}}}),
        );

        let primitive = &mut d["meshes"][0]["primitives"][0];
        primitive["targets"] = json!(targets);
        let primitives: Vec<Value> = (0..40)
            .map(|k| json!({"attributes": {"POSITION": 0, "X": k}}))
            .collect();

        d["meshes"]
            .as_array_mut()
            .unwrap()
            .push(json!({"primitives": primitives}));
    });
    assert_says(&text, &["are needed", "more than a file of this size"]);
}

#[test]
fn buffers_outside_the_folder_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("in");
    fs::create_dir(&inside).unwrap();

    let (mut document, binary) = triangle();
    fs::write(folder.path().join("secret.bin"), &binary).unwrap();
    fs::write(inside.join("good.bin"), &binary).unwrap();

    let path = inside.join("scene.gltf");
    let mut load_with = |uri: &str| {
        document["buffers"][0]["uri"] = json!(uri);
        fs::write(&path, document.to_string()).unwrap();
        load(path.to_str().unwrap(), &LoadOptions::default())
    };

    assert!(load_with("good.bin").is_ok());
    let absolute = folder.path().join("secret.bin").display().to_string();
    for uri in [
        "../secret.bin",
        "%2e%2e/secret.bin",
        &absolute,
        "http://localhost:9/secret.bin",
        "file:///secret.bin",
    ] {
        assert_says(
            &load_with(uri).unwrap_err().to_string(),
            &["scene.gltf", uri, "outside its folder"],
        );
    }

    assert_says(
        &load_with("none.bin").unwrap_err().to_string(),
        &["none.bin", "does not exist"],
    );

    assert_says(
        &load_with("data:;base64,@@").unwrap_err().to_string(),
        &["scene.gltf", "buffer 0", "base64"],
    );
}

#[test]
fn node_transforms_apply_and_mirrored_faces_keep_their_outside() {
    let (mut document, binary) = triangle();
    document["nodes"] = json!([{"children": [1], "translation": [0, 0, 5], "name": "room"},
        {"mesh": 0, "scale": [-2, 1, 1], "rotation": [0, 0, 0, 1], "name": "mirror"}]);

    let asset = read(&document, &binary).unwrap();
    let mesh = asset.mesh().unwrap();
    assert_eq!(asset.objects[0].path, "/room/mirror");
    assert_eq!(
        mesh.positions(),
        [
            DVec3::Z * 5.0,
            DVec3::new(-2.0, 0.0, 5.0),
            DVec3::new(0.0, 1.0, 5.0)
        ]
    );

    assert_eq!(mesh.triangles(), [[0, 2, 1]]);
}

#[test]
fn a_mesh_of_several_primitives_survives_a_round_trip() {
    let (mut document, binary) = triangle();
    let target = json!({"POSITION": 0});
    document["materials"] = json!([{"name": "skin"}, {"name": "lip", "doubleSided": true}]);

    let same = document["accessors"][0].clone();
    push(&mut document["accessors"], same);
    document["meshes"] = json!([{"name": "face", "extras": {"targetNames": ["open"]}, "primitives": [
        {"attributes": {"POSITION": 0}, "indices": 1, "material": 0, "targets": [target]},
        {"attributes": {"POSITION": 2}, "indices": 1, "material": 1, "targets": [target]}]}]);

    let asset = read(&document, &binary).unwrap();
    let rig = asset.rig().unwrap();
    assert_eq!(
        (
            asset.objects.len(),
            asset.objects[0].file_vertices,
            rig.neutral().vertex_count()
        ),
        (1, 6, 3)
    );

    assert_eq!(rig.neutral().materials().of_face, [0, 1]);
    assert_eq!(
        (rig.targets()[0].name.as_str(), &*rig.targets()[0].deltas),
        ("open", &[Vec3::X, Vec3::Y][..])
    );

    let written = gltf::write(&asset).bytes;
    let length = u32::from_le_bytes(written[12..16].try_into().unwrap()) as usize;
    let again: Value = serde_json::from_slice(&written[20..20 + length]).unwrap();
    let primitives = again["meshes"][0]["primitives"].as_array().unwrap();

    assert_eq!(primitives.len(), 2);
    assert_eq!(
        (&again["materials"][0]["name"], &again["materials"][1]),
        (&json!("skin"), &json!({"name": "lip", "doubleSided": true}))
    );
    assert_eq!(again["meshes"][0]["extras"]["targetNames"], json!(["open"]));
}

#[test]
fn lines_are_skipped_with_a_warning() {
    let (mut document, binary) = triangle();
    document["meshes"][0]["primitives"]
        .as_array_mut()
        .unwrap()
        .push(json!({"attributes": {"POSITION": 0}, "mode": 1}));
    let asset = read(&document, &binary).unwrap();
    assert_eq!(asset.mesh().unwrap().triangles().len(), 1);
    assert_says(&asset.warnings[0], &["1 primitive(s) of lines"]);
}

fn data(name: &str) -> Option<PathBuf> {
    let Some(folder) = std::env::var_os("PLIANT_DATA") else {
        #[allow(clippy::print_stderr, reason = "a skipped test says why")]
        {
            eprintln!("skipped: PLIANT_DATA is not set, so {name} is not read");
        }
        return None;
    };

    let path = PathBuf::from(folder).join(name);
    assert!(
        path.exists(),
        "PLIANT_DATA is set, but {} is missing",
        path.display()
    );

    Some(path)
}

fn read_data(name: &str) -> Option<Asset> {
    data(name).map(|path| load(path.to_str().unwrap(), &LoadOptions::default()).unwrap())
}

/// Of all skins, object by object.
fn joint_names(asset: &Asset) -> Vec<Vec<&str>> {
    fn of(object: &Object) -> Vec<&str> {
        object
            .skin
            .iter()
            .flat_map(|skin| skin.skeleton.joints())
            .map(|joint| joint.name.as_str())
            .collect()
    }
    asset.objects.iter().map(of).collect()
}

/// Stored vertices, triangles and targets.
const FILES: [(&str, usize, usize, usize); 10] = [
    ("facecap-head/facecap.glb", 4368, 8042, 52),
    ("facecap-head/facecap-plain.glb", 4368, 8042, 52),
    ("morph-glb/Horse.glb", 796, 984, 15),
    ("morph-glb/Flamingo.glb", 337, 542, 14),
    ("morph-glb/MorphStressTest.glb", 1528, 2412, 8),
    ("morph-glb/AnimatedMorphCube.glb", 24, 12, 2),
    ("morph-glb/quantized/AnimatedMorphCube.gltf", 24, 12, 2),
    ("hands/generic-hand-left.glb", 1360, 2314, 0),
    ("hands/generic-hand-right.glb", 1360, 2314, 0),
    ("static/LeePerrySmith.glb", 9279, 17684, 0),
];

#[test]
fn real_files_have_their_counts_and_survive_a_round_trip() {
    for (name, stored, triangles, targets) in FILES {
        let Some(asset) = read_data(name) else { return };
        let rig = asset.rig().unwrap();
        let count = asset.objects.iter().map(|o| o.file_vertices).sum::<usize>();

        assert_eq!(
            (count, rig.neutral().triangles().len(), rig.targets().len()),
            (stored, triangles, targets),
            "{name}"
        );

        let first = gltf::write(&asset);
        assert!(first.left_out.is_empty(), "{name}: {:?}", first.left_out);

        let copy = gltf::read(&first.bytes, &NoFiles).unwrap();
        let second = gltf::write(&copy).bytes;
        if asset.objects.iter().all(|object| object.skin.is_none()) {
            assert!(
                second == first.bytes,
                "{name}: a second round trip changes no byte"
            );
        } else {
            // Where a joint is bound goes through the inverse of a matrix in single precision each
            // time.
            let again = gltf::read(&second, &NoFiles).unwrap();
            assert_same_within_single_precision(name, &copy, &again);
            assert_eq!(joint_names(&asset), joint_names(&again), "{name}");
        }

        assert_same_within_single_precision(name, &asset, &copy);
    }
}

fn assert_same_within_single_precision(name: &str, before: &Asset, after: &Asset) {
    for (a, b) in before.objects.iter().zip(&after.objects) {
        let (mesh, copy) = (a.rig.neutral(), b.rig.neutral());
        assert_eq!(
            (&a.path, a.file_vertices),
            (&b.path, b.file_vertices),
            "{name}"
        );

        assert!(mesh.faces().eq(copy.faces()), "{name}: faces");
        let bounds = mesh.bounds().unwrap();
        let size = bounds.min.abs().max(bounds.max.abs()).max_element() * f64::from(f32::EPSILON);

        assert!(
            mesh.positions()
                .iter()
                .zip(copy.positions())
                .all(|(p, q)| (*p - *q).abs().max_element() <= size),
            "{name}: positions"
        );

        assert_eq!(mesh.materials(), copy.materials(), "{name}");
        assert_eq!(mesh.uv_layers(), copy.uv_layers(), "{name}");
        assert_eq!(a.rig.targets(), b.rig.targets(), "{name}");
    }
    for (a, b) in before.clips.iter().zip(&after.clips) {
        assert_eq!(
            (&a.name, a.frame_count, a.frames_per_second),
            (&b.name, b.frame_count, b.frames_per_second),
            "{name}"
        );

        let weights = |clip: &pliant_io::Animation| {
            clip.motions
                .iter()
                .filter(|m| matches!(m.shape, Shape::Weights(_)))
                .count()
        };

        assert_eq!(
            (a.motions.len(), weights(a)),
            (b.motions.len(), weights(b)),
            "{name}"
        );
    }
}

#[test]
fn a_compressed_head_equals_the_uncompressed_one() {
    let (Some(packed), Some(plain)) = (
        read_data("facecap-head/facecap.glb"),
        read_data("facecap-head/facecap-plain.glb"),
    ) else {
        return;
    };

    for (a, b) in packed.objects.iter().zip(&plain.objects) {
        assert_eq!(a.rig.neutral().positions(), b.rig.neutral().positions());
        assert!(a.rig.neutral().faces().eq(b.rig.neutral().faces()));
        assert_eq!(a.rig.targets(), b.rig.targets());
    }

    assert_eq!(packed.clips.len(), plain.clips.len());
    for frame in [0, 100, 334] {
        let [a, b] = [&packed, &plain].map(|asset| {
            let clip = &asset.clips[3];
            asset
                .objects
                .iter()
                .enumerate()
                .flat_map(|(k, o)| clip.positions(k, o, frame))
                .collect::<Vec<_>>()
        });
        assert!(
            a.iter().zip(&b).all(|(p, q)| (*p - *q).length() < 1e-6),
            "frame {frame}"
        );
    }
}

#[test]
fn the_clips_of_the_robot_move_its_parts_by_their_bones() {
    let Some(asset) = read_data("morph-glb/RobotExpressive.glb") else {
        return;
    };

    let walking = asset.clips.iter().find(|c| c.name == "Walking").unwrap();
    let moved = walking
        .motions
        .iter()
        .filter(|m| m.placement.is_some())
        .count();

    assert!(moved >= 10, "{moved} parts move as a whole");
    let hands = walking.motions.iter().filter(|m| m.skin.is_some()).count();
    assert_eq!(hands, 2, "the hands follow joints");
    assert!(
        asset
            .warnings
            .iter()
            .any(|p| p.contains("rests in another pose"))
    );

    assert!(asset.target_names().iter().any(|n| n == "Surprised"));
}

/// Some bytes replaced, removed, doubled or cut off, and the lengths of the container made to fit
/// again.
fn mutated(seed: Vec<u8>) -> impl Strategy<Value = Vec<u8>> {
    let alphabet = prop_oneof![
        any::<u8>(),
        proptest::sample::select(b"0123456789-[]{}\":,.e".to_vec())
    ];
    vec((any::<prop::sample::Index>(), 0..4_u8, alphabet), 0..8).prop_map(move |changes| {
        let mut bytes = seed.clone();
        for (at, kind, byte) in changes {
            let at = at.index(bytes.len());
            match kind {
                0 | 1 => bytes[at] = byte,
                2 if at > 20 => bytes.insert(at, byte),
                _ if at > 20 && byte < 4 => bytes.truncate(at),
                _ => {}
            }
        }

        let length = bytes.len() as u32;
        bytes[8..12].copy_from_slice(&length.to_le_bytes());
        bytes
    })
}

/// A file with all that the reader knows: sparse targets, clips of both kinds, polygons, labels,
/// quantized numbers.
fn rich() -> Vec<u8> {
    let (mut document, mut binary) = triangle();
    binary.extend([0, 0, 0, 0, 0, 0, 128, 63, 255, 127, 0, 0, 0, 0, 1, 128]);
    document["buffers"][0]["byteLength"] = json!(60);
    push(
        &mut document["bufferViews"],
        json!({"buffer": 0, "byteOffset": 44, "byteLength": 8}),
    );

    push(
        &mut document["bufferViews"],
        json!({"buffer": 0, "byteOffset": 52, "byteLength": 8}),
    );

    push(
        &mut document["bufferViews"],
        json!({"buffer": 0, "byteLength": 64, "extensions": {"EXT_meshopt_compression":
        {"buffer": 0, "byteLength": 44, "byteStride": 4, "mode": "ATTRIBUTES", "count": 16, "filter": "EXPONENTIAL"}}}),
    );

    push(
        &mut document["accessors"],
        json!({"componentType": 5126, "count": 3, "type": "VEC3",
        "sparse": {"count": 1, "indices": {"bufferView": 1, "byteOffset": 2, "componentType": 5123}, "values": {"bufferView": 0, "byteOffset": 12}}}),
    );

    push(
        &mut document["accessors"],
        json!({"bufferView": 2, "componentType": 5126, "count": 2, "type": "SCALAR"}),
    );

    push(
        &mut document["accessors"],
        json!({"bufferView": 0, "componentType": 5126, "count": 2, "type": "VEC3"}),
    );

    push(
        &mut document["accessors"],
        json!({"bufferView": 0, "componentType": 5122, "normalized": true, "count": 3, "type": "VEC2"}),
    );

    push(
        &mut document["accessors"],
        json!({"bufferView": 4, "componentType": 5121, "normalized": true, "count": 3, "type": "VEC4"}),
    );
    document["meshes"][0] = json!({"name": "m", "weights": [2.0], "extras": {"targetNames": ["t"]}, "primitives": [
        {"attributes": {"POSITION": 0, "TEXCOORD_0": 5}, "indices": 1, "targets": [{"POSITION": 2, "NORMAL": 2}], "mode": 5},
        {"attributes": {"POSITION": 0, "NORMAL": 0}, "targets": [{"POSITION": 2}], "mode": 6}]});

    document["nodes"] =
        json!([{"mesh": 0, "scale": [1, 2, 3]}, {"children": [0], "rotation": [0, 0, 1, 1]}]);
    document["animations"] = json!([{"channels": [{"sampler": 0, "target": {"node": 0, "path": "weights"}},
        {"sampler": 1, "target": {"node": 1, "path": "translation"}}],
        "samplers": [{"input": 3, "output": 3}, {"input": 3, "output": 4, "interpolation": "STEP"}]}]);

    glb(&document, &binary)
}

#[test]
fn a_file_with_every_feature_is_read_completely() {
    let asset = gltf::read(&rich(), &NoFiles).unwrap();
    assert_eq!(
        (
            asset.rig().unwrap().targets().len(),
            asset.clips.len(),
            asset.clips[0].motions.len()
        ),
        (1, 1, 1)
    );

    assert!(
        asset.clips[0].motions[0].placement.is_some()
            && matches!(asset.clips[0].motions[0].shape, Shape::Weights(_))
    );
}

fn survive(bytes: &[u8]) -> Result<(), TestCaseError> {
    if let Ok(asset) = gltf::read(bytes, &NoFiles) {
        let mesh = asset.mesh().unwrap();
        prop_assert!(mesh.vertex_count() <= (1 << 22) + 4 * bytes.len());
        if asset.require_finite().is_ok() && mesh.vertex_count() < 10_000 {
            let copy = gltf::read(&gltf::write(&asset).bytes, &NoFiles).unwrap();
            prop_assert_eq!(copy.mesh().unwrap().vertex_count(), mesh.vertex_count());
            prop_assert!(copy.mesh().unwrap().faces().eq(mesh.faces()));
        }
    }
    Ok(())
}

/// Small real files, the packed head among them, with bytes changed.
#[test]
fn damaged_real_files_are_rejected_or_survive_a_round_trip() {
    let names = [
        "morph-glb/AnimatedMorphCube.glb",
        "facecap-head/facecap.glb",
        "morph-glb/Flamingo.glb",
        "morph-glb/RobotExpressive.glb",
    ];
    for name in names {
        let Some(path) = data(name) else { return };
        // PROPTEST_CASES asks for more.
        let cases = ProptestConfig::default().cases.max(64);
        let config = ProptestConfig {
            cases,
            failure_persistence: None,
            ..ProptestConfig::default()
        };

        let mut runner = proptest::test_runner::TestRunner::new_with_rng(
            config,
            proptest::test_runner::TestRng::deterministic_rng(Default::default()),
        );

        runner
            .run(&mutated(fs::read(path).unwrap()), |bytes| survive(&bytes))
            .unwrap();
    }
}

proptest! {
    // PROPTEST_CASES asks for more.
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(4000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_foreign_file_is_declined_or_comes_back(bytes in mutated(rich())) {
        survive(&bytes)?;
    }

    #[test]
    fn a_damaged_file_of_our_own_is_declined_or_comes_back(bytes in mutated(gltf::write(&gltf::read(&rich(), &NoFiles).unwrap()).bytes)) {
        survive(&bytes)?;
    }
}
