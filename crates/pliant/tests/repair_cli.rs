//! `pliant repair`: what it names, what it mends, and what it leaves alone.

mod command;

use command::{folder, inside, json, pliant, refuses};
use pliant::io::{Asset, LoadOptions, RepairKind, load, save};
use pliant::mesh::glam::DVec3;
use pliant::rig::VertexOrder;
use serde_json::json;

/// A file or pair of the shared data, if it is there.
fn data(name: &str) -> Option<String> {
    let root = std::env::var("PLIANT_DATA").ok()?;
    let files: Vec<String> = name
        .split('+')
        .map(|file| format!("{root}/{file}"))
        .collect();
    let all = files.iter().all(|file| std::path::Path::new(file).exists());
    all.then(|| files.join("+"))
}

fn read(locator: &str) -> Asset {
    load(locator, &LoadOptions::default()).unwrap()
}

/// The positions with those of `range` moved on by `by` places.
fn shifted(shape: &[DVec3], range: std::ops::Range<usize>, by: usize) -> Vec<DVec3> {
    let mut stored = shape.to_vec();
    stored[range].rotate_left(by);
    stored
}

#[test]
fn a_misordered_target_is_named_vertex_by_vertex_and_mended() {
    let folder = folder();
    let head = pliant::load("specimen:head").unwrap();
    let rig = head.rig().unwrap();
    let jaw = rig.slider_named("jawOpen").unwrap();
    let mut weights = vec![0.0; rig.targets().len()];
    weights[jaw] = 1.0;
    let shape = rig.evaluate(&weights);
    let stored = shifted(&shape, 700..1101, 1);

    // The wrong target, in a file of its own.
    let rest = rig.neutral().positions().iter();
    let deltas = stored
        .iter()
        .zip(rest)
        .map(|(to, from)| (*to - *from).as_vec3());
    let mut targets = rig.targets().to_vec();
    targets[jaw] = pliant::rig::Target::from_dense("jawOpen", deltas);
    let [wrong, mended] = ["wrong.usda", "mended.usda"].map(|name| inside(&folder, name));
    save(&head.with_targets(&targets).unwrap(), &wrong).unwrap();

    let report = json(&["repair", &wrong, "--only", "order", "--out", &mended]);
    let truth: Vec<usize> = (0..shape.len())
        .filter(|&v| stored[v] != shape[v])
        .collect();
    assert_eq!(report["repairs"].as_array().unwrap().len(), 1, "{report}");
    let repair = &report["repairs"][0];
    assert_eq!(
        (&repair["what"], &repair["where"]),
        (&json!("order"), &json!("target 'jawOpen'"))
    );
    assert_eq!(repair["indices"], json!(truth));
    assert_eq!(repair["count"], truth.len());

    let again = read(&mended).rig().unwrap().evaluate(&weights);
    let worst = again.iter().zip(&shape).map(|(a, b)| a.distance(*b));
    assert!(worst.fold(0.0, f64::max) < 1e-4);
}

#[test]
fn real_expressions_are_in_order_and_are_put_back_when_they_are_not() {
    let Some(locator) = data("face-poses/face-poses.reference.obj+face-poses.frames.npy") else {
        return;
    };
    let clip = read(&locator).clip().unwrap();
    let run = 22_941..23_514;
    for (k, frame) in clip.frames().iter().enumerate() {
        let own = VertexOrder::of(clip.reference(), frame);
        assert_eq!(own, VertexOrder::Equal, "frame {k}");

        // Another order of the run that came in another order in the published files.
        let mut stored = frame.clone();
        let length = run.len();
        for place in 0..length {
            stored[run.start + place] = frame[run.start + (place * 229 + 17) % length];
        }
        let order = VertexOrder::of(clip.reference(), &stored);
        let VertexOrder::Known { vertices, .. } = &order else {
            panic!("frame {k}: {order:?}")
        };
        let truth = run.clone().filter(|&v| stored[v] != frame[v]).count();
        let named = vertices
            .iter()
            .filter(|v| run.contains(&(**v as usize)))
            .count();
        let again = order.apply(&stored);
        let right = run.clone().filter(|&v| again[v] == frame[v]).count();
        eprintln!(
            "frame {k}: {named} of {truth} named, {} in all, {right} right",
            vertices.len()
        );
        assert!(
            named as f64 >= 0.99 * truth as f64,
            "frame {k}: {named} of {truth}"
        );
        assert!(
            right as f64 >= 0.97 * length as f64,
            "frame {k}: {right} of {length}"
        );
    }
}

#[test]
fn sound_rigs_need_no_other_order() {
    for name in [
        "facecap-head/facecap-plain.glb",
        "morph-glb/Horse.glb",
        "makehuman-face/base.obj+makehuman-face/expression-units-caucasian",
        "ict-facekit/generic_neutral_mesh.obj+ict-facekit/expressions.delta.npy",
    ] {
        let Some(locator) = data(name) else { return };
        let repaired = read(&locator).repaired(&[RepairKind::Order]).unwrap();
        assert_eq!(repaired.repairs, [], "{name}");
        assert_eq!(repaired.warnings, [""; 0], "{name}");
    }
    let head = pliant::load("specimen:head").unwrap();
    assert_eq!(head.repaired(&[RepairKind::Order]).unwrap().repairs, []);
}

#[test]
fn the_input_is_never_replaced() {
    let folder = folder();
    let path = inside(&folder, "mesh.obj");
    std::fs::write(&path, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    let before = std::fs::read(&path).unwrap();
    let output = pliant(&["repair", &path, "--out", &path]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(std::fs::read(&path).unwrap(), before);

    refuses(
        &["repair", &inside(&folder, "missing.obj")],
        &inside(&folder, "out.obj"),
        &["missing.obj"],
    );
}

#[test]
fn a_mesh_with_every_kind_of_trouble_is_clean_afterwards() {
    // Two squares of two triangles: twins along a diagonal, a reversed and a flat face.
    let text = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 0\nv 1 1 0\nv 5 0 0\nv 6 0 0\nv 6 1 0\n\
        v 5 1 0\nv 7 0 0\nf 1 2 3\nf 5 6 4\nf 7 8 9\nf 7 10 9\nf 7 8 11\nf 9 8 11\n";
    let folder = folder();
    let [path, out] = ["bad.obj", "good.obj"].map(|name| inside(&folder, name));
    std::fs::write(&path, text).unwrap();

    let report = json(&["repair", &path, "--split", "--out", &out]);
    let made: Vec<(&str, u64)> = report["repairs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| (r["what"].as_str().unwrap(), r["count"].as_u64().unwrap()))
        .collect();
    assert_eq!(made[0], ("twins", 2));
    assert_eq!(made[1], ("degenerate", 1));
    assert_eq!(made[2].0, "orientation");
    assert_eq!(made[3], ("components", 2));
    assert_eq!(
        (&report["vertices_before"], &report["vertices"]),
        (&json!(11), &json!(9))
    );

    let info = json(&["info", &out]);
    assert_eq!(info["problems"], json!([]), "{info}");
    assert_eq!(info["meshes"].as_array().unwrap().len(), 2);
    let again = json(&["repair", &out, "--out", &inside(&folder, "again.obj")]);
    assert_eq!(again["repairs"], json!([]));
}
