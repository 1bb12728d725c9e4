//! Skins read from glTF: closed forms, round trips, invalid files and real ones.

use std::f64::consts::FRAC_PI_2;
use std::path::PathBuf;

use pliant_io::{Asset, LoadOptions, NoFiles, Shape, gltf, load};
use pliant_mesh::glam::{DQuat, DVec3};
use serde_json::{Value, json};

/// A glTF document and its bytes, array by array.
struct Draft {
    document: Value,
    binary: Vec<u8>,
}

impl Draft {
    fn array(&mut self, kind: &str, component: u32, count: usize, bytes: &[u8]) -> usize {
        let offset = self.binary.len();
        self.binary.extend(bytes);
        self.binary.resize(self.binary.len().next_multiple_of(4), 0);
        push(
            &mut self.document["bufferViews"],
            json!({"buffer": 0, "byteOffset": offset, "byteLength": bytes.len()}),
        );

        let view = self.document["bufferViews"].as_array().unwrap().len() - 1;
        let normalized = component == 5121 && kind == "VEC4W";
        let kind = kind.trim_end_matches('W');
        push(
            &mut self.document["accessors"],
            json!({"bufferView": view, "componentType": component, "count": count, "type": kind, "normalized": normalized}),
        );

        self.document["accessors"].as_array().unwrap().len() - 1
    }

    fn floats(&mut self, kind: &str, width: usize, numbers: &[f32]) -> usize {
        let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.array(kind, 5126, numbers.len() / width, &bytes)
    }

    fn read(&self) -> Result<Asset, String> {
        let mut document = self.document.clone();
        document["buffers"] = json!([{"byteLength": self.binary.len()}]);
        let mut text = document.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');

        let mut bytes = b"glTF\x02\0\0\0".to_vec();
        bytes.extend(((28 + text.len() + self.binary.len()) as u32).to_le_bytes());
        for (kind, content) in [(b"JSON", &text), (b"BIN\0", &self.binary)] {
            bytes.extend((content.len() as u32).to_le_bytes());
            bytes.extend(kind);
            bytes.extend(content);
        }

        gltf::read(&bytes, &NoFiles).map_err(|e| e.to_string())
    }

    /// Asserts that reading notes a number that is not finite.
    fn assert_not_finite(&self) {
        let error = self.read().unwrap().require_finite().unwrap_err();
        assert!(error.to_string().contains("not finite"), "{error}");
    }

    /// Asserts that reading fails with one line that contains `words`.
    fn assert_rejected(&self, words: &[&str]) {
        let text = self.read().unwrap_err();
        assert!(!text.contains('\n'), "one line: {text}");
        for word in words.iter() {
            assert!(text.contains(word), "'{word}' in: {text}");
        }
    }
}

fn push(list: &mut Value, entry: Value) {
    list.as_array_mut().unwrap().push(entry);
}

/// A triangle along x with an arm of two joints, at 0 and at 1; the last vertex follows the second
/// joint, the middle one both by halves, stored as bytes. Accessors: 0 positions, 1 joints, 2
/// weights, 3 inverse bind matrices.
fn arm() -> Draft {
    let document = json!({
        "asset": {"version": "2.0"}, "accessors": [], "bufferViews": [],
        "nodes": [{"mesh": 0, "skin": 0, "translation": [7, 7, 7]}, {"name": "upper", "children": [2]}, {"name": "lower", "translation": [1, 0, 0]}],
        "meshes": [{"name": "arm", "primitives": [{"attributes": {"POSITION": 0, "JOINTS_0": 1, "WEIGHTS_0": 2}}]}],
        "skins": [{"joints": [1, 2], "inverseBindMatrices": 3}],
    });

    let mut draft = Draft {
        document,
        binary: Vec::new(),
    };

    draft.floats("VEC3", 3, &[0., 0., 0., 1., 0., 0., 2., 0., 0.]);
    draft.array("VEC4", 5121, 3, &[0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0]);
    draft.array(
        "VEC4W",
        5121,
        3,
        &[255, 0, 0, 0, 127, 127, 0, 0, 255, 0, 0, 0],
    );

    let mut matrices = [[
        1_f32, 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1.,
    ]; 2];
    matrices[1][12] = -1.0;
    draft.floats("MAT4", 16, matrices.as_flattened());

    draft
}

/// The arm whose second joint turns by a quarter about z between the keys at 0 and 1 s, with a key
/// between.
fn waving(interpolation: &str) -> Draft {
    let mut draft = arm();
    let quarter = |part: f64| {
        DQuat::from_rotation_z(FRAC_PI_2 * part)
            .as_quat()
            .to_array()
    };

    let times = draft.floats("SCALAR", 1, &[0.0, 0.5, 1.0]);
    let keys = [0.0, 0.5, 1.0].map(quarter);
    let rows: Vec<[f32; 4]> = match interpolation {
        "CUBICSPLINE" => keys
            .into_iter()
            .flat_map(|key| [[0.0; 4], key, [0.0; 4]])
            .collect(),
        _ => keys.to_vec(),
    };

    let values = draft.floats("VEC4", 4, rows.as_flattened());
    draft.document["animations"] = json!([{"name": "wave", "channels": [{"sampler": 0, "target": {"node": 2, "path": "rotation"}}],
        "samplers": [{"input": times, "output": values, "interpolation": interpolation}]}]);

    draft
}

fn assert_near(found: &[DVec3], wanted: &[DVec3], tolerance: f64) {
    let near = |(a, b): (&DVec3, &DVec3)| a.abs_diff_eq(*b, tolerance);
    assert!(
        found.len() == wanted.len() && found.iter().zip(wanted).all(near),
        "{found:?} and {wanted:?}"
    );
}

#[test]
fn a_joint_rotates_its_vertices_about_its_own_origin() {
    let asset = waving("LINEAR").read().unwrap();
    // The mesh's own node does not move what joints hold.
    assert_near(
        asset.mesh().unwrap().positions(),
        &[DVec3::ZERO, DVec3::X, DVec3::X * 2.0],
        0.0,
    );

    let binding = asset.objects[0].skin.as_ref().unwrap();
    assert_eq!(binding.skeleton.joints()[1].parent, Some(0));
    assert_eq!(
        (
            binding.skeleton.joints()[1].origin,
            &*binding.skeleton.joints()[1].name
        ),
        (DVec3::X, "lower")
    );

    let clip = asset.clip().unwrap();
    assert_eq!((clip.frames().len(), clip.frames_per_second()), (3, 2.0));

    let half = 0.5_f64.sqrt();
    assert_near(
        &clip.frames()[1],
        &[DVec3::ZERO, DVec3::X, DVec3::new(1.0 + half, half, 0.0)],
        1e-6,
    );

    assert_near(
        &clip.frames()[2],
        &[DVec3::ZERO, DVec3::X, DVec3::new(1.0, 1.0, 0.0)],
        1e-6,
    );

    assert!(asset.warnings.is_empty(), "{:?}", asset.warnings);
}

#[test]
fn step_and_spline_curves_interpolate_as_specified() {
    for (interpolation, between) in [("STEP", 0.0), ("CUBICSPLINE", f64::NAN), ("LINEAR", 0.25)] {
        let mut draft = waving(interpolation);
        // A translation of the root that changes nothing puts frames between the keys.
        let times = draft.floats("SCALAR", 1, &[0.0, 0.25, 0.5, 0.75, 1.0]);
        let still = draft.floats("VEC3", 3, &[0.0; 15]);

        push(
            &mut draft.document["animations"][0]["samplers"],
            json!({"input": times, "output": still}),
        );

        push(
            &mut draft.document["animations"][0]["channels"],
            json!({"sampler": 1, "target": {"node": 1, "path": "translation"}}),
        );

        let clip = draft.read().unwrap().clip().unwrap();
        let at = |part: f64| DVec3::X + DQuat::from_rotation_z(FRAC_PI_2 * part) * DVec3::X;
        for (frame, part) in [(0, 0.0), (2, 0.5), (4, 1.0)] {
            assert_near(&clip.frames()[frame][2..], &[at(part)], 1e-6);
        }

        if between.is_nan() {
            // Without slopes a spline of two unit quaternions is half way in the middle.
            assert_near(&clip.frames()[1][2..], &[at(0.25)], 1e-6);
        } else {
            assert_near(&clip.frames()[1][2..], &[at(between)], 1e-6);
        }
    }
}

#[test]
fn targets_apply_before_joints() {
    let mut draft = waving("LINEAR");
    let lift = draft.floats("VEC3", 3, &[0., 0., 0., 0., 0., 0., 1., 0., 0.]);
    let times = draft.floats("SCALAR", 1, &[0.0, 1.0]);
    let weights = draft.floats("SCALAR", 1, &[0.0, 2.0]);

    draft.document["meshes"][0]["primitives"][0]["targets"] = json!([{"POSITION": lift}]);
    push(
        &mut draft.document["animations"][0]["samplers"],
        json!({"input": times, "output": weights}),
    );

    push(
        &mut draft.document["animations"][0]["channels"],
        json!({"sampler": 1, "target": {"node": 0, "path": "weights"}}),
    );

    let asset = draft.read().unwrap();
    // Two longer by the target, then turned by a quarter.
    assert_near(
        &asset.clip().unwrap().frames()[2],
        &[DVec3::ZERO, DVec3::X, DVec3::new(1.0, 3.0, 0.0)],
        1e-6,
    );

    assert!(
        matches!(asset.clips[0].motions[0].shape, Shape::Weights(_)),
        "weights stay weights"
    );
    assert_round_trip(&asset);
}

#[test]
fn five_joints_of_a_vertex_use_two_sets_of_attributes() {
    let mut draft = waving("LINEAR");
    for k in 0..4 {
        push(
            &mut draft.document["nodes"],
            json!({"name": format!("weight {k}"), "translation": [0, 0, 0]}),
        );
        push(&mut draft.document["skins"][0]["joints"], json!(3 + k));
    }

    draft.document["skins"][0]
        .as_object_mut()
        .unwrap()
        .remove("inverseBindMatrices");
    draft.document["nodes"][2]["translation"] = json!([0, 0, 0]);

    let tenth = |k: u8| [k; 4];
    let joints = draft.array("VEC4", 5121, 3, &[[2, 3, 4, 5]; 3].concat());
    let weights = draft.array("VEC4W", 5121, 3, &[tenth(0), tenth(0), tenth(51)].concat());
    let attributes = &mut draft.document["meshes"][0]["primitives"][0]["attributes"];

    (attributes["JOINTS_1"], attributes["WEIGHTS_1"]) = (json!(joints), json!(weights));
    draft.binary[48..60].copy_from_slice(&[255, 0, 0, 0, 127, 127, 0, 0, 51, 0, 0, 0]);
    let asset = draft.read().unwrap();

    assert_eq!(
        asset.objects[0]
            .skin
            .as_ref()
            .unwrap()
            .skin
            .most_influences(),
        5
    );

    // A fifth turns by a quarter about the origin, four fifths stay.
    assert_near(
        &asset.clip().unwrap().frames()[2][2..],
        &[DVec3::new(1.6, 0.4, 0.0)],
        1e-6,
    );

    assert_round_trip(&asset);
}

/// EncodedAsset and read again, all frames and the skin are the same.
fn assert_round_trip(asset: &Asset) {
    let written = gltf::write(asset);
    assert!(written.left_out.is_empty(), "{:?}", written.left_out);

    let again = gltf::read(&written.bytes, &NoFiles).unwrap();
    let size = asset.mesh().unwrap().bounds().unwrap().diagonal();
    for (a, b) in asset.clips.iter().zip(&again.clips) {
        assert_eq!(
            (a.frame_count, a.motions.len()),
            (b.frame_count, b.motions.len())
        );
        for frame in 0..a.frame_count {
            for (k, (own, other)) in asset.objects.iter().zip(&again.objects).enumerate() {
                assert_near(
                    &b.positions(k, other, frame),
                    &a.positions(k, own, frame),
                    1e-6 * size,
                );
            }
        }
    }

    assert_eq!(asset.clips.len(), again.clips.len());
    for (own, other) in asset.objects.iter().zip(&again.objects) {
        let skin = |object: &pliant_io::Object| {
            object
                .skin
                .as_ref()
                .map(|s| (s.skin.most_influences(), s.skeleton.joints().len()))
        };

        assert_eq!(skin(own), skin(other), "{}", own.path);
        assert_eq!(
            own.rig.targets().len(),
            other.rig.targets().len(),
            "no frame became a target"
        );
    }
}

#[test]
fn a_skin_without_animation_is_kept() {
    let asset = arm().read().unwrap();
    assert!(asset.clips.is_empty());
    assert_round_trip(&asset);
    let again = gltf::read(&gltf::write(&asset).bytes, &NoFiles).unwrap();
    assert_eq!(
        again.objects[0].skin.as_ref().unwrap().skeleton,
        asset.objects[0].skin.as_ref().unwrap().skeleton
    );
}

#[test]
fn a_rest_pose_other_than_the_bind_pose_is_reported_and_animated() {
    let mut draft = waving("LINEAR");
    draft.document["nodes"][2]["rotation"] = json!([0.0, 0.0, 1.0, 0.0]);
    draft.document["animations"][0]["channels"][0]["target"] =
        json!({"node": 1, "path": "rotation"});

    let asset = draft.read().unwrap();
    assert!(
        asset.warnings[0].contains("another pose"),
        "{:?}",
        asset.warnings
    );

    assert_near(
        asset.mesh().unwrap().positions(),
        &[DVec3::ZERO, DVec3::X, DVec3::X * 2.0],
        0.0,
    );

    // The lower arm rests folded back.
    assert_near(
        &asset.clip().unwrap().frames()[0],
        &[DVec3::ZERO, DVec3::X, DVec3::ZERO],
        1e-6,
    );

    assert_near(
        &asset.clip().unwrap().frames()[2],
        &[DVec3::ZERO, DVec3::Y, DVec3::ZERO],
        1e-6,
    );
}

#[test]
fn weights_that_do_not_sum_to_one_are_normalised_with_a_warning() {
    let mut draft = waving("LINEAR");
    draft.binary[48..60].copy_from_slice(&[255, 0, 0, 0, 50, 50, 0, 0, 0, 0, 0, 0]);
    let asset = draft.read().unwrap();

    assert!(
        asset.warnings[0].contains("1 vertices have weights")
            && asset.warnings[0].contains("1 vertices follow no joint")
    );

    assert_near(
        &asset.clip().unwrap().frames()[2],
        &[DVec3::ZERO, DVec3::X, DVec3::X * 2.0],
        1e-6,
    );
}

#[test]
fn invalid_skins_are_rejected_with_one_line() {
    let changed = |change: &dyn Fn(&mut Draft)| {
        let mut draft = waving("LINEAR");
        change(&mut draft);
        draft
    };

    changed(&|d| d.binary[36 + 8] = 9).assert_rejected(&["stored vertex 2", "joint 9 of 2"]);
    changed(&|d| d.document["nodes"][0]["skin"] = json!(4))
        .assert_rejected(&["skin 4", "there are 1"]);
    changed(&|d| d.document["skins"][0]["joints"] = json!([1, 77]))
        .assert_rejected(&["skin 0", "node 77"]);
    changed(&|d| d.document["skins"][0]["joints"] = json!([]))
        .assert_rejected(&["skin 0", "no joints"]);
    changed(&|d| d.document["accessors"][3]["count"] = json!(1))
        .assert_rejected(&["skin 0", "1 inverse bind matrices for 2 joints"]);
    changed(&|d| d.document["accessors"][3]["count"] = json!(1_u64 << 40))
        .assert_rejected(&["skin 0", "accessor 3"]);
    changed(&|d| d.document["accessors"][3]["type"] = json!("VEC4"))
        .assert_rejected(&["accessor 3", "MAT4"]);

    changed(&|d| d.document["skins"][0]["inverseBindMatrices"] = json!(99))
        .assert_rejected(&["accessor 99"]);
    changed(&|d| d.binary[60..64].copy_from_slice(&f32::NAN.to_le_bytes())).assert_not_finite();

    for bad in [f32::NAN, -0.5, f32::INFINITY] {
        let mut draft = waving("LINEAR");
        let weights = draft.floats(
            "VEC4",
            4,
            &[1.0, 0.0, 0.0, 0.0, bad, 0.5, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
        );
        draft.document["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"] = json!(weights);
        if bad.is_finite() {
            draft.assert_rejected(&["stored vertex 1", "weight"]);
        } else {
            draft.assert_not_finite();
        }
    }

    let mut draft = waving("LINEAR");
    let times = draft.floats("SCALAR", 1, &[0.0, 1e-3, 1e9]);
    let huge = draft.floats("VEC3", 3, &[0.0; 9]);

    push(
        &mut draft.document["animations"][0]["samplers"],
        json!({"input": times, "output": huge}),
    );

    push(
        &mut draft.document["animations"][0]["channels"],
        json!({"sampler": 1, "target": {"node": 1, "path": "translation"}}),
    );

    assert!(
        draft
            .read()
            .unwrap()
            .warnings
            .iter()
            .any(|p| p.contains("frames")),
        "a billion seconds are reported"
    );
}

#[test]
fn a_long_chain_of_joints_is_evaluated_in_linear_time() {
    let mut draft = arm();
    let count = 40_000;
    let nodes = draft.document["nodes"].as_array_mut().unwrap();
    nodes[2]["children"] = json!([3]);
    nodes.extend((3..count).map(|k| {
        if k + 1 < count {
            json!({"children": [k + 1]})
        } else {
            json!({})
        }
    }));

    draft.document["skins"][0] = json!({"joints": (1..count).collect::<Vec<usize>>()});
    let asset = draft.read().unwrap();
    assert_eq!(
        asset.objects[0]
            .skin
            .as_ref()
            .unwrap()
            .skeleton
            .joints()
            .len(),
        count - 1
    );
}

#[test]
fn a_joint_scaled_to_zero_survives_a_round_trip() {
    let mut draft = waving("LINEAR");
    let times = draft.floats("SCALAR", 1, &[0.0, 1.0]);
    let scales = draft.floats("VEC3", 3, &[1.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
    push(
        &mut draft.document["animations"][0]["samplers"],
        json!({"input": times, "output": scales}),
    );

    push(
        &mut draft.document["animations"][0]["channels"],
        json!({"sampler": 1, "target": {"node": 1, "path": "scale"}}),
    );

    let asset = draft.read().unwrap();
    assert_near(&asset.clip().unwrap().frames()[2], &[DVec3::ZERO; 3], 1e-6);
    let again = gltf::read(&gltf::write(&asset).bytes, &NoFiles).unwrap();
    again.require_finite().unwrap();
    assert_near(&again.clip().unwrap().frames()[2], &[DVec3::ZERO; 3], 1e-6);
}

fn data(name: &str) -> Option<Asset> {
    let Some(folder) = std::env::var_os("PLIANT_DATA") else {
        #[allow(clippy::print_stderr, reason = "a skipped test says why")]
        {
            eprintln!("skipped: PLIANT_DATA is not set, so {name} is not read");
        }
        return None;
    };
    let path = PathBuf::from(folder).join(name);
    Some(load(path.to_str().unwrap(), &LoadOptions::default()).unwrap())
}

#[test]
fn real_hands_keep_their_skins() {
    let Some(hand) = data("hands/generic-hand-left.glb") else {
        return;
    };

    assert_eq!(
        hand.objects[0]
            .skin
            .as_ref()
            .unwrap()
            .skeleton
            .joints()
            .len(),
        25
    );

    assert!(
        hand.warnings
            .iter()
            .all(|p| !p.contains("skin") && !p.contains("pose")),
        "{:?}",
        hand.warnings
    );

    assert_round_trip(&hand);
}
