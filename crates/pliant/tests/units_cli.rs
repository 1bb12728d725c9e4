//! Units on the command line: real sizes of files, `info`, and warnings about typed lengths.

use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

/// What a command prints on stdout; it succeeds.
fn pliant(args: &[&str]) -> Vec<u8> {
    let output = Command::new(env!("CARGO_BIN_EXE_pliant"))
        .args(args)
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {message}");
    output.stdout
}

fn json(args: &[&str]) -> Value {
    serde_json::from_slice(&pliant(&[args, &["--json"]].concat())).unwrap()
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn inside(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).display().to_string()
}

fn size_m(report: &Value) -> Vec<f64> {
    let size = report["size_m"].as_array().expect("a known unit");
    size.iter().map(|x| x.as_f64().unwrap()).collect()
}

#[test]
fn specimens_have_real_sizes_in_their_files() {
    let folder = folder();
    for (name, height) in [
        ("head", 0.307),
        ("hand", 0.19),
        ("hound", 0.8),
        ("tapir", 0.9),
    ] {
        let specimen = format!("specimen:{name}");
        let before = json(&["info", &specimen]);
        let in_specimen = size_m(&before);
        let tallest = in_specimen.iter().copied().fold(0.0, f64::max);
        assert!(
            tallest > 0.6 * height && tallest < 2.5 * height,
            "{name}: {in_specimen:?}"
        );

        for ending in ["glb", "usda"] {
            let file = inside(&folder, &format!("{name}.{ending}"));
            json(&["convert", &specimen, &file]);
            let after = json(&["info", &file]);
            for (a, b) in size_m(&after).iter().zip(&in_specimen) {
                assert!((a - b).abs() < 1e-6, "{name}.{ending}: {a} and {b}");
            }
        }
        let glb = json(&["info", &inside(&folder, &format!("{name}.glb"))]);
        assert_eq!(
            (&glb["meters_per_unit"], &glb["up_axis"]),
            (&json!(1.0), &json!("Y"))
        );
    }
}

#[test]
fn info_of_a_file_without_a_unit_says_so() {
    let folder = folder();
    let path = inside(&folder, "mesh.obj");
    std::fs::write(&path, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    let report = json(&["info", &path]);
    assert_eq!(
        (
            &report["meters_per_unit"],
            &report["size_m"],
            &report["up_axis"]
        ),
        (&Value::Null, &Value::Null, &json!("Y"))
    );
    let text = String::from_utf8(pliant(&["info", &path])).unwrap();
    assert!(text.contains("unit: unknown; Y is up"), "{text}");
}

#[test]
fn a_radius_in_metres_on_a_head_in_centimetres_gets_a_warning() {
    let folder = folder();
    let out = inside(&folder, "touched.glb");
    let warned = |radius: &str| {
        let report = json(&[
            "touch",
            "specimen:head",
            "--center",
            "2134",
            "--radius",
            radius,
            "--collider",
            "sphere:6,-3.2,9.7,1.5",
            "--toward=-0.7,-0.2,-1.35",
            "--frames",
            "3",
            "--out",
            &out,
        ]);
        report["problems"].to_string()
    };
    let warning = warned("0.04");
    assert!(
        warning.contains("--radius 0.04 is") && warning.contains("did you mean 4?"),
        "{warning}"
    );
    assert!(!warned("4").contains("--radius"));
}

#[test]
fn shapes_of_files_in_other_units_meet_in_the_unit_of_the_first() {
    let folder = folder();
    let [bar, out] = ["bar.glb", "blend.obj"].map(|name| inside(&folder, name));
    json(&["convert", "specimen:bar:coarse", &bar]);
    json(&[
        "blend",
        "specimen:bar:coarse",
        &bar,
        "--weights",
        "0,1",
        "--out",
        &out,
    ]);

    let blended = pliant::load(&out).unwrap().mesh().unwrap();
    let own = pliant::load("specimen:bar:coarse").unwrap().mesh().unwrap();
    for (a, b) in blended.positions().iter().zip(own.positions()) {
        assert!(a.distance(*b) < 1e-5, "{a} and {b}");
    }
}
