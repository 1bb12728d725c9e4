//! `pliant repair`: what it names, what it mends, and what it leaves alone.

mod command;

use command::{folder, inside, json, pliant, refuses};
use pliant::io::{Asset, LoadOptions, load, save};
use serde_json::json;

fn read(locator: &str) -> Asset {
    load(locator, &LoadOptions::default()).unwrap()
}

#[test]
fn a_misordered_target_is_named_vertex_by_vertex_and_mended() {
    let folder = folder();
    let head = pliant::load("specimen:head").unwrap();
    let rig = head.rig().unwrap();
    let jaw = rig.slider_named("jawOpen").unwrap();
    let mut weights = vec![0.0; rig.targets().len()];
    weights[jaw.index()] = 1.0;
    let shape = rig.evaluate(&weights);
    let mut stored = shape.clone();
    stored[2000..2401].reverse();

    // The wrong target, in a file of its own.
    let rest = rig.neutral().positions().iter();
    let deltas = stored
        .iter()
        .zip(rest)
        .map(|(to, from)| (*to - *from).as_vec3());
    let mut targets = rig.targets().to_vec();
    targets[jaw.index()] = pliant::rig::Target::from_dense("jawOpen", deltas);
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
