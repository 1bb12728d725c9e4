//! `pliant learn`, `pliant drive` and `pliant validate`.

mod bending_sheet;
mod command;

use std::fs;

use bending_sheet::{POINTS, array, bent, frames_of, points, sheet_recipe};
use command::{inside, json, refuses};
use pliant::mesh::glam::DVec3;

#[test]
fn npy_and_csv_points_drive_a_model_to_the_same_clip() {
    let (folder, recipe) = sheet_recipe("");
    let model = inside(&folder, "bend.safetensors");
    let out = inside(&folder, "out.npy");
    let report = json(&["learn", &recipe, "--out", &model]);

    assert!(
        report["bones"].as_u64().unwrap() > 0
            && report["rms"].as_f64().unwrap() < 0.01
            && report["train_ms"].is_number(),
        "{report}"
    );

    let array_file = inside(&folder, "p.npy");
    let table_file = inside(&folder, "p.csv");
    fs::write(&array_file, array(&[points(0.15), points(0.2)])).unwrap();
    let row = |amount: f64| {
        points(amount)
            .iter()
            .map(|p| format!("{},{},{}", p.x, p.y, p.z))
            .collect::<Vec<_>>()
            .join(",")
    };

    fs::write(&table_file, format!("{}\n{}\n", row(0.15), row(0.2))).unwrap();
    let frames = |file: &str| {
        let report = json(&["drive", &model, "--points", file, "--out", &out]);
        assert_eq!(report["frames"], 2);
        frames_of(&out)
    };

    let found = frames(&array_file);
    assert_eq!(found, frames(&table_file));
    assert!(
        found[0]
            .iter()
            .zip(bent(0.15))
            .all(|(a, b)| a.distance(b) < 0.02)
    );
}

#[test]
fn hard_points_are_reached_and_threads_do_not_change_results() {
    let (folder, recipe) = sheet_recipe("");
    let model = inside(&folder, "m.safetensors");
    let out = inside(&folder, "out.npy");
    let file = inside(&folder, "p.npy");

    json(&["learn", &recipe, "--out", &model]);
    let mut goals = points(0.1);
    goals[3].z += 0.2;
    fs::write(&file, array(&[goals.clone()])).unwrap();

    let frames = |more: &[&str]| {
        json(&[&["drive", &model, "--points", &file, "--out", &out], more].concat());
        frames_of(&out).remove(0)
    };
    let hard = frames(&["--hard"]);

    assert!(
        POINTS
            .iter()
            .zip(&goals)
            .all(|(&v, goal)| hard[v].distance(*goal) < 1e-9)
    );

    assert_eq!(frames(&["--threads", "1"]), frames(&["--threads", "2"]));
}

#[test]
fn the_method_of_huang2012_reduces_too_many_bones_with_a_warning() {
    let (folder, recipe) =
        sheet_recipe("method = \"paper\"\nk_c = \"all\"\nk_p = \"all\"\nbones = 500\n");
    let model = inside(&folder, "m.safetensors");
    let out = inside(&folder, "out.npy");
    let file = inside(&folder, "p.npy");

    let report = json(&["learn", &recipe, "--out", &model]);
    assert!(
        report["bones"] == 27
            && report["problems"][0]
                .as_str()
                .is_some_and(|text| text.contains("500 bones")),
        "{report}"
    );

    fs::write(&file, array(&[points(0.15)])).unwrap();
    json(&["drive", &model, "--points", &file, "--out", &out]);
    let found = frames_of(&out).remove(0);

    assert!(
        POINTS
            .iter()
            .zip(points(0.15))
            .all(|(&v, goal)| found[v].distance(goal) < 0.03)
    );

    let (folder, recipe) = sheet_recipe("k_c = \"many\"\n");
    refuses(
        &["learn", &recipe],
        &inside(&folder, "m.safetensors"),
        &["\"all\"", "line 3"],
    );
}

#[test]
fn validate_lists_every_pose_and_the_chosen_settings() {
    let (folder, recipe) = sheet_recipe("");
    let report = json(&["validate", &recipe]);
    let poses = report["poses"].as_array().unwrap();

    assert_eq!(
        poses
            .iter()
            .map(|pose| pose["name"].as_str().unwrap())
            .collect::<Vec<_>>(),
        ["0", "1", "2", "3"]
    );

    let mean = poses
        .iter()
        .map(|pose| pose["rms"].as_f64().unwrap())
        .sum::<f64>()
        / 4.0;

    assert!((report["mean_rms"].as_f64().unwrap() - mean).abs() < 1e-12);
    assert!(
        report["method"] == "auto"
            && report["chosen"]
                .as_str()
                .is_some_and(|text| !text.is_empty())
    );
    fs::write(
        inside(&folder, "bend.frames.txt"),
        "low\nmiddle\nhigh\ndown\n",
    )
    .unwrap();

    assert_eq!(json(&["validate", &recipe])["poses"][3]["name"], "down");
}

#[test]
fn invalid_recipes_models_and_points_are_refused_in_one_line() {
    let (folder, recipe) = sheet_recipe("method = \"magic\"\n");
    let model = inside(&folder, "m.safetensors");
    refuses(&["learn", &recipe], &model, &["magic", "line 3"]);

    let (folder, recipe) = sheet_recipe("");
    let model = inside(&folder, "m.safetensors");
    json(&["learn", &recipe, "--out", &model]);

    let bytes = fs::read(&model).unwrap();
    let cut = inside(&folder, "cut.safetensors");
    let file = inside(&folder, "p.npy");
    let out = inside(&folder, "out.npy");

    fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    fs::write(&file, array(&[points(0.1)])).unwrap();
    refuses(
        &["drive", &cut, "--points", &file],
        &out,
        &["cut.safetensors"],
    );

    fs::write(&file, array(&[points(0.1)[1..].to_vec()])).unwrap();
    refuses(&["drive", &model, "--points", &file], &out, &["p.npy"]);
}

#[test]
fn info_lists_the_control_points_of_a_model_and_its_mesh_keeps_its_look() {
    let folder = command::folder();
    let recipe = inside(&folder, "r.toml");
    let model = inside(&folder, "m.safetensors");
    let out = inside(&folder, "out.glb");

    fs::write(
        &recipe,
        "examples = \"specimen:hand\"\ncontrol_points = 8\nmethod = \"paper\"\nbones = 20\n",
    )
    .unwrap();

    let learned = json(&["learn", &recipe, "--out", &model]);
    let report = json(&["info", &model]);
    assert_eq!(report["control_vertices"], learned["control_vertices"]);
    assert!(
        report["method"] == "paper"
            && report["vertices"] == 14_554
            && report["examples"][3] == "fist",
        "{report}"
    );

    let file = inside(&folder, "p.npy");
    let hand = pliant::load("specimen:hand").unwrap().mesh().unwrap();
    let vertices = report["control_vertices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| hand.positions()[v.as_u64().unwrap() as usize]);

    fs::write(&file, array(&[vertices.collect()])).unwrap();
    json(&["drive", &model, "--points", &file, "--out", &out]);
    let driven = pliant::load(&out).unwrap().mesh().unwrap();
    let by_clip = inside(&folder, "a.npy");
    let by_points = inside(&folder, "b.npy");
    let play = pliant::load("specimen:hand:play").unwrap().clip().unwrap();
    let at = |frame: &Vec<DVec3>| {
        report["control_vertices"]
            .as_array()
            .unwrap()
            .iter()
            .map(|v| frame[v.as_u64().unwrap() as usize])
            .collect()
    };

    fs::write(
        &file,
        array(&play.frames()[..3].iter().map(at).collect::<Vec<_>>()),
    )
    .unwrap();
    json(&["drive", &model, "--points", &file, "--out", &by_points]);

    json(&[
        "drive",
        &model,
        "--points",
        "specimen:hand:play",
        "--take-frames",
        "0-2",
        "--out",
        &by_clip,
    ]);

    assert_eq!(
        frames_of(&by_clip),
        frames_of(&by_points),
        "points of a clip are those of its frames"
    );

    refuses(
        &["drive", &model, "--points", "specimen:hound#walk"],
        &inside(&folder, "no.glb"),
        &["vertices", "same mesh"],
    );

    assert!(
        driven.name() == "hand"
            && driven.groups().names == hand.groups().names
            && driven.colors().len() == 1
    );
}
