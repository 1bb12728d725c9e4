//! `pliant rename`, `pliant mirror` and `pliant split`, and the vertex order of targets.

use std::path::PathBuf;
use std::process::{Command, Output};

use pliant::io::{Asset, LoadOptions, UpAxis, load, save};
use pliant::mesh::glam::{DMat3, DVec3, Vec3};
use pliant::rig::{MirrorPlane, Rig, SliderPairs, Target, VertexMirror, find_reordered_targets};
use serde_json::Value;
use tempfile::TempDir;

fn pliant(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pliant"))
        .args(args)
        .output()
        .expect("the command starts")
}

fn json(args: &[&str]) -> Value {
    let output = pliant(args);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("one JSON object on stdout")
}

/// The command gives exit code `code` and a message with all `words`; for 1, in one line.
fn refuses(args: &[&str], code: i32, words: &[&str]) {
    let output = pliant(args);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {message}");
    assert!(
        code != 1 || message.trim_end().lines().count() == 1,
        "{message}"
    );

    for word in words.iter() {
        assert!(message.contains(word), "'{word}' in: {message}");
    }
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn path(folder: &TempDir, name: &str) -> String {
    folder
        .path()
        .join(name)
        .to_str()
        .expect("a temporary path in UTF-8")
        .to_owned()
}

fn read(locator: &str) -> Asset {
    load(locator, &LoadOptions::default()).expect("a file that was just written")
}

fn head() -> Rig {
    pliant_specimens::specimen("head")
        .expect("a head ships with the product")
        .rig
}

fn head_mirror(rig: &Rig) -> VertexMirror {
    VertexMirror::by_position(
        rig.neutral(),
        MirrorPlane::find(rig.neutral()).expect("the head is symmetric"),
    )
}

fn names(rig: &Rig) -> Vec<&str> {
    rig.targets()
        .iter()
        .map(|target| target.name.as_str())
        .collect()
}

fn target<'a>(rig: &'a Rig, name: &str) -> &'a Target {
    rig.targets()
        .iter()
        .find(|target| target.name == name)
        .unwrap_or_else(|| panic!("a target '{name}'"))
}

/// The longest displacement by which two targets differ.
fn difference(rig: &Rig, a: &Target, b: &Target) -> f32 {
    let n = rig.neutral().vertex_count();
    a.to_dense(n)
        .iter()
        .zip(b.to_dense(n))
        .map(|(a, b)| a.distance(b))
        .fold(0.0, f32::max)
}

#[test]
fn the_head_is_symmetric_in_vertices_and_in_sliders() {
    let rig = head();
    let mirror = head_mirror(&rig);
    assert_eq!(mirror.unmatched(), Vec::<u32>::new());

    let pairs = SliderPairs::by_name(&names(&rig));
    assert_eq!(
        SliderPairs::by_shape(&rig, &mirror),
        pairs,
        "shapes and names agree"
    );

    for (k, partner) in pairs.partners().iter().enumerate() {
        let image = mirror.mirror_target(&rig.targets()[k]);
        let partner = &rig.targets()[partner.expect("each slider of the head has a partner")];
        assert_eq!(image.name, partner.name);
        assert_eq!(difference(&rig, &image, partner), 0.0, "{}", partner.name);
    }
}

#[test]
fn a_tilted_head_is_mirrored_at_its_own_plane() {
    let neutral = head().neutral().clone();
    let straight = VertexMirror::by_position(&neutral, MirrorPlane::across(0, 0.0));
    let moved = DVec3::new(0.1, 0.3, 0.0) * neutral.bounds().unwrap().diagonal();

    for tilt in [0.01, 0.04, 0.08] {
        let turn = DMat3::from_rotation_z(tilt) * DMat3::from_rotation_y(-0.7 * tilt);
        let askew = neutral
            .posed(
                neutral
                    .positions()
                    .iter()
                    .map(|p| turn * *p + moved)
                    .collect(),
            )
            .unwrap();

        let plane = MirrorPlane::find(&askew).unwrap_or_else(|| panic!("a plane at {tilt} rad"));
        assert!(
            plane.normal().dot(turn * DVec3::X).abs() > 1.0 - 1e-6,
            "{tilt} rad"
        );

        assert_eq!(
            VertexMirror::by_position(&askew, plane).partners(),
            straight.partners(),
            "{tilt} rad"
        );
    }
}

#[test]
fn a_mirrored_pose_swaps_left_and_right() {
    let folder = folder();
    let from = path(&folder, "w.json");
    let to = path(&folder, "m.json");
    std::fs::write(
        &from,
        r#"{"mouthSmileLeft": 0.5, "jawOpen": 0.25, "jawLeft": 1}"#,
    )
    .unwrap();

    let report = json(&[
        "mirror",
        "specimen:head",
        "--weights-in",
        &from,
        "--weights-out",
        &to,
        "--json",
    ]);

    let weights: Value = serde_json::from_slice(&std::fs::read(&to).unwrap()).unwrap();
    assert_eq!(weights, report["weights"]);

    let expected = serde_json::json!({"mouthSmileRight": 0.5, "jawOpen": 0.25, "jawRight": 1.0});
    assert_eq!(weights, expected);
    assert_eq!(report["unpaired"], serde_json::json!([]));
}

/// The head with a weaker right smile, as a file.
fn uneven_head(folder: &TempDir) -> String {
    let rig = head();
    let weaker = |t: &Target| match t.name.as_str() {
        "mouthSmileRight" => Target {
            deltas: t.deltas.iter().map(|d| *d * 0.5).collect(),
            ..t.clone()
        },
        _ => t.clone(),
    };

    let uneven = rig
        .with_targets(rig.targets().iter().map(weaker).collect())
        .unwrap();
    let file = path(folder, "uneven.glb");

    save(&Asset::from_rig(uneven), &file).unwrap();
    file
}

#[test]
fn a_rig_becomes_symmetric_from_one_side() {
    let folder = folder();
    let uneven = uneven_head(&folder);
    let even = path(&folder, "even.glb");
    let report = json(&[
        "mirror", &uneven, "--from", "left", "--out", &even, "--json",
    ]);

    assert_eq!(report["unmatched_vertices"], serde_json::json!([]));
    let whole = head();
    let made = read(&even).rig().unwrap();
    assert_eq!(names(&made), names(&whole));

    let size = whole.neutral().bounds().unwrap().diagonal() as f32;
    for target in whole.targets() {
        let found = self::target(&made, &target.name);
        assert!(
            difference(&whole, found, target) < 1e-6 * size,
            "{}",
            target.name
        );
    }

    // From the right, the left becomes weak.
    json(&[
        "mirror", &uneven, "--from", "right", "--out", &even, "--json",
    ]);

    let weak = read(&even).rig().unwrap();
    let strength = |rig: &Rig| {
        target(rig, "mouthSmileLeft")
            .deltas
            .iter()
            .map(|d| d.length())
            .fold(0.0, f32::max)
    };

    assert!((strength(&weak) / strength(&whole) - 0.5).abs() < 1e-4);
}

#[test]
fn a_split_target_adds_up_and_its_clip_still_plays() {
    let folder = folder();
    let out = path(&folder, "sides.glb");
    let report = json(&[
        "split",
        "specimen:head",
        "--target",
        "mouthPucker",
        "--out",
        &out,
        "--json",
    ]);

    assert_eq!(report["split"][0]["left"], "mouthPuckerLeft");
    // The file is in metres, the head in centimetres.
    let (before, after) = (head(), read(&out).in_space(UpAxis::Y, 0.01).into_owned());
    let rig = after.rig().unwrap();

    assert_eq!(rig.targets().len(), before.targets().len() + 1);
    let left = target(&rig, "mouthPuckerLeft");
    let right = target(&rig, "mouthPuckerRight");
    let n = before.neutral().vertex_count();

    let sum: Vec<Vec3> = left
        .to_dense(n)
        .iter()
        .zip(right.to_dense(n))
        .map(|(a, b)| *a + b)
        .collect();

    let whole = target(&before, "mouthPucker").to_dense(n);
    let miss = sum.iter().zip(&whole).map(|(a, b)| a.distance(*b));
    assert!(miss.fold(0.0, f32::max) < 1e-6, "only rounding to metres");
    let lean = |t: &Target| {
        t.vertices
            .iter()
            .zip(&t.deltas)
            .map(|(&v, d)| before.neutral().positions()[v as usize].x * f64::from(d.length()))
            .sum::<f64>()
    };

    let blink = lean(target(&before, "eyeBlinkLeft"));
    assert!(
        lean(left) * blink > 0.0 && lean(right) * blink < 0.0,
        "left is the side of the left eye"
    );

    // Both through the same format, which has no in-betweens.
    let plain = path(&folder, "whole.glb");
    save(&pliant::load("specimen:head").unwrap(), &plain).unwrap();

    let whole = read(&plain).in_space(UpAxis::Y, 0.01).into_owned();
    let frame = |asset: &Asset| asset.frame_positions(25).unwrap();
    let worst = frame(&whole)
        .iter()
        .zip(frame(&after))
        .map(|(a, b)| a.distance(b))
        .fold(0.0, f64::max);

    assert!(
        worst < 1e-5 * before.neutral().bounds().unwrap().diagonal(),
        "{worst}"
    );
}

#[test]
fn sliders_get_the_names_of_a_vocabulary_and_the_rest_is_listed() {
    let folder = folder();
    let ours = path(&folder, "ours.glb");
    let out = path(&folder, "arkit.glb");
    let rig = head();
    let other_name = |t: &Target| Target {
        name: format!(
            "mesh.{}",
            t.name.replace("Left", "_L").replace("Right", "_R")
        ),
        ..t.clone()
    };

    let mut targets: Vec<Target> = rig.targets().iter().map(other_name).collect();
    targets.push(Target::from_dense("tail wag", [Vec3::X]));
    save(&Asset::from_rig(rig.with_targets(targets).unwrap()), &ours).unwrap();

    let dry = json(&["rename", &ours, "--map", "arkit", "--dry-run", "--json"]);
    assert!(dry.get("out").is_none());

    let report = json(&["rename", &ours, "--map", "arkit", "--out", &out, "--json"]);
    assert_eq!(report["renamed"], dry["renamed"]);
    assert_eq!(report["unmatched_sliders"], serde_json::json!(["tail wag"]));
    assert_eq!(report["unmatched_names"], serde_json::json!(["tongueOut"]));

    let made = read(&out).rig().unwrap();
    assert_eq!(names(&made)[..51], names(&rig)[..]);

    let size = rig.neutral().bounds().unwrap().diagonal() as f32;
    assert!(
        rig.targets()
            .iter()
            .all(|t| difference(&rig, t, target(&made, &t.name)) < 1e-6 * size)
    );

    let text =
        String::from_utf8(pliant(&["rename", &ours, "--map", "vrm", "--dry-run"]).stdout).unwrap();
    assert!(
        text.contains("blinkLeft") && text.contains("meaning") && text.contains("not recognised"),
        "{text}"
    );
}

#[test]
fn invalid_requests_are_refused_in_one_line_and_leave_no_file() {
    let folder = folder();
    let weights = path(&folder, "w.json");
    let out = path(&folder, "out.glb");
    std::fs::write(&weights, r#"{"smirk": 1}"#).unwrap();

    let to = path(&folder, "m.json");
    refuses(
        &[
            "mirror",
            "specimen:head",
            "--weights-in",
            &weights,
            "--weights-out",
            &to,
        ],
        1,
        &["w.json", "smirk"],
    );

    std::fs::write(&weights, "[1]").unwrap();
    refuses(
        &[
            "mirror",
            "specimen:head",
            "--weights-in",
            &weights,
            "--weights-out",
            &to,
        ],
        1,
        &["w.json", "map"],
    );

    refuses(
        &["mirror", "specimen:hound", "--out", &out],
        1,
        &["specimen:hound", "no targets"],
    );

    refuses(
        &["mirror", "specimen:head", "--plane", "x:1e9", "--out", &out],
        1,
        &["--plane"],
    );
    refuses(&["mirror", "specimen:head"], 2, &["--out"]);

    refuses(
        &[
            "mirror",
            "specimen:head",
            "--weights-in",
            &weights,
            "--out",
            &out,
        ],
        2,
        &[],
    );

    refuses(
        &["split", "specimen:head", "--target", "smirk", "--out", &out],
        1,
        &["specimen:head", "smirk"],
    );

    refuses(
        &["split", "specimen:head", "--width", "-1", "--out", &out],
        2,
        &["-1"],
    );

    refuses(
        &["rename", "specimen:head", "--map", "arkit"],
        2,
        &["--out"],
    );

    refuses(
        &["rename", "specimen:head", "--map", "klingon", "--dry-run"],
        2,
        &["klingon"],
    );

    assert!(!std::path::Path::new(&out).exists() && !std::path::Path::new(&to).exists());
}

/// A fixed shuffle of the places of a block of vertices (Fisher and Yates with a linear
/// congruence).
fn shuffled(shape: &[DVec3], block: std::ops::Range<usize>) -> Vec<DVec3> {
    let mut shape = shape.to_vec();
    let mut state = 12345_u64;
    for k in (block.start + 1..block.end).rev() {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        shape.swap(
            k,
            block.start + (state >> 33) as usize % (k + 1 - block.start),
        );
    }

    shape
}

#[test]
fn a_head_with_300_vertices_in_another_order_is_found_and_named() {
    let rig = head();
    assert_eq!(find_reordered_targets(&rig), []);

    let weights: Vec<f64> = rig
        .targets()
        .iter()
        .map(|t| f64::from(t.name == "jawOpen"))
        .collect();
    let shape = rig.evaluate(&weights);

    for first in [0, 700, 2000] {
        let scrambled = shuffled(&shape, first..first + 300);
        let truth: Vec<u32> = (0..shape.len() as u32)
            .filter(|&v| scrambled[v as usize] != shape[v as usize])
            .collect();
        let deltas = scrambled
            .iter()
            .zip(rig.neutral().positions())
            .map(|(a, b)| (*a - *b).as_vec3());

        let broken = rig
            .with_targets(vec![
                rig.targets()[0].clone(),
                Target::from_dense("broken", deltas),
            ])
            .unwrap();

        let found = find_reordered_targets(&broken);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].target, "broken");

        let both = found[0]
            .vertices
            .iter()
            .filter(|v| truth.binary_search(v).is_ok())
            .count() as f64;

        let precision = both / found[0].vertices.len() as f64;
        let recall = both / truth.len() as f64;

        assert!(
            precision > 0.9 && recall > 0.9,
            "from {first}: precision {precision}, recall {recall}"
        );
    }
}

#[test]
fn info_names_the_target_in_another_order() {
    let folder = folder();
    let rig = head();
    let scrambled = shuffled(rig.neutral().positions(), 500..800);
    let deltas = scrambled
        .iter()
        .zip(rig.neutral().positions())
        .map(|(a, b)| (*a - *b).as_vec3());

    let file = path(&folder, "broken.glb");
    save(
        &Asset::from_rig(
            rig.with_targets(vec![Target::from_dense("smile", deltas)])
                .unwrap(),
        ),
        &file,
    )
    .unwrap();

    let problems = json(&["info", &file, "--json"])["problems"].to_string();
    assert!(
        problems.contains("'smile'")
            && problems.contains("another order")
            && problems.contains("more"),
        "{problems}"
    );

    assert!(
        !json(&["info", "specimen:head", "--json"])["problems"]
            .to_string()
            .contains("another order")
    );
}

fn data(name: &str) -> Option<String> {
    let Some(folder) = std::env::var_os("PLIANT_DATA") else {
        #[allow(clippy::print_stderr, reason = "a skipped test says why")]
        {
            eprintln!("skipped: PLIANT_DATA is not set, so {name} is not read");
        }
        return None;
    };
    Some(
        PathBuf::from(folder)
            .join(name)
            .to_str()
            .expect("a path in UTF-8")
            .to_owned(),
    )
}

const RIGS: [(&str, usize); 4] = [
    (
        "ict-facekit/generic_neutral_mesh.obj+expressions.delta.npy",
        57,
    ),
    ("facecap-head/facecap.glb", 52),
    ("makehuman-face/base.obj+expression-units-caucasian", 34),
    ("morph-glb/Horse.glb", 15),
];

#[test]
fn no_target_of_a_real_rig_has_another_order() {
    for (name, count) in RIGS {
        let Some(locator) = data(name) else { return };
        let rig = read(&locator).rig().unwrap();
        assert_eq!(rig.targets().len(), count, "{name}");
        let found: Vec<String> = find_reordered_targets(&rig)
            .into_iter()
            .map(|s| s.target)
            .collect();
        assert_eq!(found, Vec::<String>::new(), "{name}");
    }
}

#[test]
fn real_expressions_are_in_order_until_a_run_of_vertices_is_shuffled() {
    let Some(locator) = data("face-poses/face-poses.reference.obj+face-poses.frames.npy") else {
        return;
    };

    let clip = read(&locator).clip().unwrap();
    let neutral = clip.reference().positions();
    let rig_of = |frame: &[DVec3]| {
        let deltas = frame.iter().zip(neutral).map(|(a, b)| (*a - *b).as_vec3());
        Rig::new(
            clip.reference().clone(),
            vec![Target::from_dense("frame", deltas)],
        )
        .unwrap()
    };

    for frame in clip.frames() {
        assert_eq!(find_reordered_targets(&rig_of(frame)), []);
        // The run that came in another order in the files these poses were published in.
        let found = find_reordered_targets(&rig_of(&shuffled(frame, 22_941..23_514)));
        let inside = found[0]
            .vertices
            .iter()
            .filter(|v| (22_941..23_514).contains(*v))
            .count();

        assert!(
            inside as f64 > 0.95 * 573.0 && inside as f64 > 0.95 * found[0].vertices.len() as f64
        );
    }
}

#[test]
fn real_faces_mirror_themselves() {
    for (name, least) in [(RIGS[0].0, 1.0), (RIGS[1].0, 0.95), (RIGS[2].0, 1.0)] {
        let Some(locator) = data(name) else { return };
        let rig = read(&locator).rig().unwrap();
        let mirror = head_mirror(&rig);
        let matched = 1.0 - mirror.unmatched().len() as f64 / rig.neutral().vertex_count() as f64;

        assert!(matched >= least, "{name}: {matched}");
        let by_name = SliderPairs::by_name(&names(&rig));
        assert!(by_name.unpaired().is_empty(), "{name}");

        let by_shape = SliderPairs::by_shape(&rig, &mirror);
        let agree = by_name
            .partners()
            .iter()
            .zip(by_shape.partners())
            .filter(|(a, b)| a == b)
            .count();

        assert!(
            agree as f64 >= 0.9 * rig.targets().len() as f64,
            "{name}: {agree} of {}",
            rig.targets().len()
        );
    }
}
