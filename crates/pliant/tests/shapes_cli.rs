//! `pliant shapes`: rig transfer.

mod command;

use command::{folder, inside, json, pliant, refuses};
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
    let report = json(&[
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

    assert_eq!(report["targets"], serde_json::json!(["bump", "idle"]));
    assert_eq!(
        (
            report["map"]["uncovered"].as_u64(),
            report["problems"].as_array().map(Vec::len)
        ),
        (Some(0), Some(0))
    );

    assert!(report["shapes"][0]["moved"].as_u64() > Some(10) && report["shapes"][1]["moved"] == 0);
    let made = load(&out, &LoadOptions::default()).unwrap().rig().unwrap();
    let large = made.evaluate(&[1.0]);
    let small = source().evaluate(&[1.0]);

    assert!(
        large
            .iter()
            .zip(&small)
            .all(|(large, small)| large.distance(*small * 3.0) < 1e-5)
    );
}

#[test]
fn invalid_input_is_refused_in_one_line_and_leaves_no_file() {
    let folder = folder();
    let [rig, target, pairs] = files(&folder);
    let out = inside(&folder, "no.glb");
    refuses(
        &["shapes", "--source", &target, "--target", &rig],
        &out,
        &["large.obj", "no targets"],
    );

    refuses(
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
    refuses(
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
    refuses(
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
