//! `learn`, `drive` and `validate` from the outside.

mod bending_sheet;
mod command;

use std::fs;

use bending_sheet::{POINTS, array, bent, frames_of, points, studio};
use command::{declines, inside, json};
use pliant::mesh::glam::DVec3;

#[test]
fn a_learned_sheet_bends_as_its_points_do_from_npy_and_csv_alike() {
    let (folder, recipe) = studio("");
    let (model, out) = (
        inside(&folder, "bend.safetensors"),
        inside(&folder, "out.npy"),
    );
    let told = json(&["learn", &recipe, "--out", &model]);
    assert!(
        told["bones"].as_u64().unwrap() > 0
            && told["rms"].as_f64().unwrap() < 0.01
            && told["train_ms"].is_number(),
        "{told}"
    );
    let (array_file, table_file) = (inside(&folder, "p.npy"), inside(&folder, "p.csv"));
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
        let told = json(&["drive", &model, "--points", file, "--out", &out]);
        assert_eq!(told["frames"], 2);
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
fn hard_points_are_met_and_the_number_of_threads_changes_nothing() {
    let (folder, recipe) = studio("");
    let (model, out, file) = (
        inside(&folder, "m.safetensors"),
        inside(&folder, "out.npy"),
        inside(&folder, "p.npy"),
    );
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
fn the_papers_method_takes_all_neighbours_clips_its_bones_and_says_so() {
    let (folder, recipe) =
        studio("method = \"paper\"\nk_c = \"all\"\nk_p = \"all\"\nbones = 500\n");
    let (model, out, file) = (
        inside(&folder, "m.safetensors"),
        inside(&folder, "out.npy"),
        inside(&folder, "p.npy"),
    );
    let told = json(&["learn", &recipe, "--out", &model]);
    assert!(
        told["bones"] == 27
            && told["problems"][0]
                .as_str()
                .is_some_and(|text| text.contains("500 bones")),
        "{told}"
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
    let (folder, recipe) = studio("k_c = \"many\"\n");
    declines(
        &["learn", &recipe],
        &inside(&folder, "m.safetensors"),
        &["\"all\"", "line 3"],
    );
}

#[test]
fn validate_tells_every_pose_by_name_or_index_and_what_was_chosen() {
    let (folder, recipe) = studio("");
    let told = json(&["validate", &recipe]);
    let poses = told["poses"].as_array().unwrap();
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
    assert!((told["mean_rms"].as_f64().unwrap() - mean).abs() < 1e-12);
    assert!(
        told["method"] == "auto" && told["chosen"].as_str().is_some_and(|text| !text.is_empty())
    );
    fs::write(
        inside(&folder, "bend.frames.txt"),
        "low\nmiddle\nhigh\ndown\n",
    )
    .unwrap();
    assert_eq!(json(&["validate", &recipe])["poses"][3]["name"], "down");
}

#[test]
fn recipes_models_and_points_that_cannot_work_are_told_in_one_line() {
    let (folder, recipe) = studio("method = \"magic\"\n");
    let model = inside(&folder, "m.safetensors");
    declines(&["learn", &recipe], &model, &["magic", "line 3"]);
    let (folder, recipe) = studio("");
    let model = inside(&folder, "m.safetensors");
    json(&["learn", &recipe, "--out", &model]);
    let bytes = fs::read(&model).unwrap();
    let (cut, file, out) = (
        inside(&folder, "cut.safetensors"),
        inside(&folder, "p.npy"),
        inside(&folder, "out.npy"),
    );
    fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    fs::write(&file, array(&[points(0.1)])).unwrap();
    declines(
        &["drive", &cut, "--points", &file],
        &out,
        &["cut.safetensors"],
    );
    fs::write(&file, array(&[points(0.1)[1..].to_vec()])).unwrap();
    declines(&["drive", &model, "--points", &file], &out, &["p.npy"]);
}

#[test]
fn a_model_tells_its_points_in_their_order_and_keeps_the_look_of_its_mesh() {
    let folder = command::folder();
    let (recipe, model, out) = (
        inside(&folder, "r.toml"),
        inside(&folder, "m.safetensors"),
        inside(&folder, "out.glb"),
    );
    fs::write(
        &recipe,
        "examples = \"specimen:hand\"\ncontrol_points = 8\nmethod = \"paper\"\nbones = 20\n",
    )
    .unwrap();
    let learned = json(&["learn", &recipe, "--out", &model]);
    let told = json(&["info", &model]);
    assert_eq!(told["control_vertices"], learned["control_vertices"]);
    assert!(
        told["method"] == "paper" && told["vertices"] == 14_554 && told["examples"][3] == "fist",
        "{told}"
    );
    let file = inside(&folder, "p.npy");
    let hand = pliant::load("specimen:hand").unwrap().mesh().unwrap();
    let vertices = told["control_vertices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| hand.positions()[v.as_u64().unwrap() as usize]);
    fs::write(&file, array(&[vertices.collect()])).unwrap();
    json(&["drive", &model, "--points", &file, "--out", &out]);
    let driven = pliant::load(&out).unwrap().mesh().unwrap();
    let (by_clip, by_points) = (inside(&folder, "a.npy"), inside(&folder, "b.npy"));
    let play = pliant::load("specimen:hand:play").unwrap().clip().unwrap();
    let at = |frame: &Vec<DVec3>| {
        told["control_vertices"]
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
        "--frames",
        "0-2",
        "--out",
        &by_clip,
    ]);
    assert_eq!(
        frames_of(&by_clip),
        frames_of(&by_points),
        "points of a clip are those of its frames"
    );
    declines(
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
