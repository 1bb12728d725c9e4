//! `pliant register`, with its result as input of `pliant learn`.

mod command;

use std::fs;
use std::path::Path;

use command::{folder, inside, json, refuses};
use pliant::mesh::glam::{DQuat, DVec3};
use pliant::mesh::shapes;
use tempfile::TempDir;

/// A point of the unit sphere on a long body that bends.
fn body(u: DVec3, bend: f64) -> DVec3 {
    let round = DVec3::new(2.0 * u.x, u.y, 0.8 * u.z) * (1.0 + 0.01 * (12.0 * u.x).sin());
    DQuat::from_rotation_z(0.5 * bend * u.x) * round
}

/// Unit points and triangles of a rotated tiling, so that scans share no vertex.
fn tiling(turn: f64) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let sphere = shapes::icosphere(4);
    (
        sphere
            .positions()
            .iter()
            .map(|&u| DQuat::from_rotation_y(turn) * u)
            .collect(),
        sphere.triangles().to_vec(),
    )
}

fn obj(positions: &[DVec3], triangles: &[[u32; 3]]) -> String {
    let vertices: String = positions
        .iter()
        .map(|p| format!("v {} {} {}\n", p.x, p.y, p.z))
        .collect();
    vertices
        + &triangles
            .iter()
            .map(|[a, b, c]| format!("f {} {} {}\n", a + 1, b + 1, c + 1))
            .collect::<String>()
}

/// Writes a scan somewhere in space and its markers, at the vertices nearest to those of a coarse
/// sphere.
fn write_scan(folder: &TempDir, name: &str, turn: f64, bend: f64) {
    let (units, triangles) = tiling(turn);
    let place = |&u: &DVec3| {
        DQuat::from_rotation_x(turn) * body(u, bend) + DVec3::new(7.0 * turn, 3.0, -1.0)
    };

    fs::write(
        inside(folder, &format!("{name}.obj")),
        obj(&units.iter().map(place).collect::<Vec<_>>(), &triangles),
    )
    .unwrap();

    let nearest = |points: &[DVec3], u: DVec3| {
        (0..points.len())
            .min_by(|&a, &b| {
                points[a]
                    .distance_squared(u)
                    .total_cmp(&points[b].distance_squared(u))
            })
            .unwrap()
    };

    let pairs: Vec<[usize; 2]> = shapes::icosphere(1)
        .positions()
        .iter()
        .map(|&u| [nearest(&tiling(0.0).0, u), nearest(&units, u)])
        .collect();

    fs::write(
        inside(folder, &format!("{name}.json")),
        format!("{pairs:?}"),
    )
    .unwrap();
}

/// A folder with a reference scan, three examples and a recipe.
fn scan_recipe(more: &str) -> (TempDir, String) {
    let folder = folder();
    let (units, triangles) = tiling(0.0);
    fs::write(
        inside(&folder, "rest.obj"),
        obj(
            &units.iter().map(|&u| body(u, 0.0)).collect::<Vec<_>>(),
            &triangles,
        ),
    )
    .unwrap();

    let mut text = format!("{more}reference = \"rest.obj\"\nvertices = 500\n");
    for (name, turn, bend) in [("left", 0.4, 0.6), ("right", 0.9, -0.6), ("far", 1.4, 1.0)] {
        write_scan(&folder, name, turn, bend);
        text += &format!("[[example]]\nscan = \"{name}.obj\"\nmarkers = \"{name}.json\"\n");
    }

    let recipe = inside(&folder, "body.toml");
    fs::write(&recipe, text).unwrap();
    (folder, recipe)
}

#[test]
fn scans_become_two_clips_and_threads_do_not_change_them() {
    let (folder, recipe) = scan_recipe("");
    let report = json(&[
        "register",
        &recipe,
        "--out",
        &inside(&folder, "made"),
        "--threads",
        "1",
    ]);

    assert_eq!(report["examples"].as_array().unwrap().len(), 3);
    assert_eq!(report["examples"][2]["name"], "far");
    for scan in report["examples"]
        .as_array()
        .unwrap()
        .iter()
        .chain([&report["reference"]])
    {
        assert!(scan["after"]["mean"].as_f64().unwrap() < 1e-3, "{scan}");
        assert_eq!(
            (scan["flipped"].as_u64(), scan["flipped_low"].as_u64()),
            (Some(0), Some(0)),
            "{scan}"
        );
    }

    let low = json(&[
        "info",
        &inside(&folder, "made.low.reference.obj+made.low.frames.npy"),
    ]);

    let high = json(&[
        "info",
        &inside(&folder, "made.high.reference.obj+made.high.frames.npy"),
    ]);
    let triangles = |report: &serde_json::Value| report["meshes"][0]["triangles"].as_u64().unwrap();

    assert_eq!(
        (4 * triangles(&low), low["clips"][0]["frames"].as_u64()),
        (triangles(&high), Some(3))
    );

    json(&[
        "register",
        &recipe,
        "--out",
        &inside(&folder, "again"),
        "--threads",
        "2",
    ]);

    for which in ["low", "high"] {
        let bytes =
            |name: &str| fs::read(inside(&folder, &format!("{name}.{which}.frames.npy"))).unwrap();
        assert_eq!(bytes("made"), bytes("again"), "{which}");
    }

    let lesson = inside(&folder, "lesson.toml");
    fs::write(&lesson, "examples = \"made.low.reference.obj+made.low.frames.npy\"\ncontrol_points = [0, 60, 120, 240, 360]\n").unwrap();
    let learned = json(&[
        "learn",
        &lesson,
        "--out",
        &inside(&folder, "model.safetensors"),
    ]);

    assert!(learned["rms"].as_f64().unwrap() < 0.02, "{learned}");
}

#[test]
fn the_ending_of_the_output_selects_its_format() {
    let (folder, recipe) = scan_recipe("levels = 0\n");
    json(&["register", &recipe, "--out", &inside(&folder, "made.glb")]);
    assert!(
        ["made.low.glb", "made.high.glb"]
            .iter()
            .all(|name| Path::new(&inside(&folder, name)).is_file())
    );
    let frames = json(&["info", &inside(&folder, "made.high.glb")]);
    assert_eq!(frames["clips"][0]["frames"], 3);
}

#[test]
fn invalid_scans_and_markers_are_refused_in_one_line() {
    let (folder, recipe) = scan_recipe("");
    let out = inside(&folder, "made.glb");
    let markers = inside(&folder, "right.json");
    let refuses_with = |text: &str, words: &[&str]| {
        fs::write(&markers, text).unwrap();
        refuses(&["register", &recipe], &out, words);
    };

    refuses_with("[[0, 0], [1, 1]]", &["body.toml", "'right'", "at least 3"]);
    refuses_with(
        "[[0, 0], [1, 1], [2, 99999]]",
        &["'right'", "99999", "scan"],
    );
    refuses_with("[[0, 0], [1, 1], [2, \"x\"]]", &["right.json"]);
    write_scan(&folder, "right", 0.9, -0.6);

    let scan = inside(&folder, "right.obj");
    fs::write(&scan, "v 0 0 0\nv 1 0 0\nv 0 1 0\n").unwrap();
    refuses(&["register", &recipe], &out, &["'right'", "no faces"]);

    let two = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 5 0 0\nv 6 0 0\nv 5 1 0\nf 1 2 3\nf 4 5 6\n";
    fs::write(&scan, two).unwrap();
    refuses(
        &["register", &recipe],
        &out,
        &["'right'", "2 connected component(s)"],
    );

    fs::write(&scan, "v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    refuses(&["register", &recipe], &out, &["right.obj"]);
    fs::remove_file(&scan).unwrap();
    refuses(&["register", &recipe], &out, &["right.obj"]);
    fs::write(&recipe, "reference = \"rest.obj\"\nvertces = 3\n").unwrap();
    refuses(
        &["register", &recipe],
        &out,
        &["body.toml", "line 2", "vertces"],
    );
}
