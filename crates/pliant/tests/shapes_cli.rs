//! Rigs from rigs on the command line.

mod command;

use command::{declines, folder, inside, json, pliant};
use pliant::io::{Asset, LoadOptions, load, save};
use pliant::mesh::glam::DVec3;
use pliant::mesh::{Mesh, shapes};
use pliant::rig::{Rig, Target};
use tempfile::TempDir;

/// A sheet with two sliders, one of which moves nothing.
fn source() -> Rig {
    let sheet = shapes::bumpy_sheet(12, 0.1);
    let center = sheet.bounds().unwrap().center();
    let bump = |p: &DVec3| (DVec3::Z * (0.1 - p.distance_squared(center)).max(0.0)).as_vec3();
    let bump = Target::from_dense("bump", sheet.positions().iter().map(bump));
    Rig::new(sheet, vec![bump, Target::from_dense("idle", [])]).unwrap()
}

fn scaled(mesh: &Mesh, scale: f64) -> Mesh {
    mesh.posed(mesh.positions().iter().map(|&p| p * scale).collect())
        .unwrap()
}

/// The source, a target three times as large, and pairs.
fn files(folder: &TempDir) -> [String; 3] {
    let [rig, target, pairs] =
        ["face.glb", "large.obj", "pairs.json"].map(|name| inside(folder, name));
    save(&Asset::from_rig(source()), &rig).unwrap();
    save(&Asset::from_mesh(scaled(source().neutral(), 3.0)), &target).unwrap();
    let some: Vec<[usize; 2]> = (0..source().neutral().vertex_count())
        .step_by(5)
        .map(|v| [v, v])
        .collect();
    std::fs::write(&pairs, serde_json::to_string(&some).unwrap()).unwrap();
    [rig, target, pairs]
}

#[test]
fn the_new_rig_has_the_sliders_of_the_source_and_poses_the_target() {
    let folder = folder();
    let [rig, target, pairs] = files(&folder);
    let out = inside(&folder, "out.glb");
    let told = json(&[
        "shapes",
        "--source",
        &rig,
        "--target",
        &target,
        "--markers",
        &pairs,
        "--out",
        &out,
    ]);
    assert_eq!(told["targets"], serde_json::json!(["bump", "idle"]));
    assert_eq!(
        (
            told["map"]["uncovered"].as_u64(),
            told["problems"].as_array().map(Vec::len)
        ),
        (Some(0), Some(0))
    );
    assert!(told["shapes"][0]["moved"].as_u64() > Some(10) && told["shapes"][1]["moved"] == 0);
    let made = load(&out, &LoadOptions::default()).unwrap().rig().unwrap();
    let (large, small) = (made.evaluate(&[1.0]), source().evaluate(&[1.0]));
    assert!(
        large
            .iter()
            .zip(&small)
            .all(|(large, small)| large.distance(*small * 3.0) < 1e-5)
    );
}

#[test]
fn what_cannot_work_is_one_line_and_leaves_nothing() {
    let folder = folder();
    let [rig, target, pairs] = files(&folder);
    let out = inside(&folder, "no.glb");
    declines(
        &["shapes", "--source", &target, "--target", &rig],
        &out,
        &["large.obj", "no targets"],
    );
    declines(
        &[
            "shapes",
            "--source",
            &rig,
            "--target",
            &target,
            "--markers",
            "missing.json",
        ],
        &out,
        &["missing.json"],
    );
    let few = inside(&folder, "few.json");
    std::fs::write(&few, "[[0, 0], [1, 1]]").unwrap();
    declines(
        &[
            "shapes",
            "--source",
            &rig,
            "--target",
            &target,
            "--markers",
            &few,
        ],
        &out,
        &["marker"],
    );
    let odd = inside(&folder, "out.xyz");
    declines(
        &[
            "shapes",
            "--source",
            &rig,
            "--target",
            &target,
            "--markers",
            &pairs,
        ],
        &odd,
        &["out.xyz"],
    );
    assert_eq!(
        pliant(&["shapes", "--source", &rig, "--out", &out])
            .status
            .code(),
        Some(2)
    );
}
