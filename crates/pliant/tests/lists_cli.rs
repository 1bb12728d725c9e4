//! Lists of files, and `pliant job`: what a farm is given.

#[allow(dead_code, reason = "other tests use the rest of the module")]
mod command;

use std::fs;
use std::path::Path;

use command::{folder, inside, json, pliant};
use serde_json::Value;
use tempfile::TempDir;

fn report_of(output: &std::process::Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("one JSON object on stdout")
}

#[test]
fn one_bad_file_does_not_stop_the_others_and_the_table_names_it() {
    let folder = folder();
    let file = |name: &str| inside(&folder, name);
    json(&["convert", "specimen:bar:coarse", &file("bar.obj")]);
    json(&["convert", "specimen:hand", &file("hand.obj")]);
    fs::write(file("bad.obj"), "v 1 2\n").unwrap();

    let out = file("glb");
    let [bar, bad, hand] = ["bar.obj", "bad.obj", "hand.obj"].map(file);
    let words = [
        "convert",
        &bar,
        &bad,
        &hand,
        "--out-dir",
        &out,
        "--to",
        "glb",
    ];
    let output = pliant(&[&words[..], &["--json"]].concat());
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(message.trim_end().lines().count(), 1, "{message}");
    assert!(message.contains("bad.obj"), "{message}");

    let report = report_of(&output);
    assert_eq!((&report["done"], &report["failed"]), (&2.into(), &1.into()));
    assert!(
        report["files"][1]["error"]
            .as_str()
            .unwrap()
            .contains("line 1")
    );
    assert!(Path::new(&out).join("hand.glb").is_file());
    assert!(!Path::new(&out).join("bad.glb").exists());

    // Each file is what the command makes of it alone.
    json(&["convert", &hand, &file("alone.glb")]);
    let alone = fs::read(file("alone.glb")).unwrap();
    assert!(fs::read(Path::new(&out).join("hand.glb")).unwrap() == alone);

    let table = pliant(&words);
    let text = String::from_utf8_lossy(&table.stdout).into_owned();
    assert!(text.contains("2 done, 1 failed"), "{text}");
    assert_eq!(
        json(&["convert", &bar, "--out-dir", &out, "--to", "ply"])["failed"],
        0
    );
}

#[test]
fn targets_are_transferred_to_every_mesh_of_a_list() {
    let folder = folder();
    let file = |name: &str| inside(&folder, name);
    json(&["convert", "specimen:head", &file("head.obj")]);
    let out = file("rigs");
    let words = ["shapes", "--source", "specimen:head", "--no-closing"];
    let list = [
        "--targets",
        &file("head.obj"),
        &file("none.obj"),
        "--out-dir",
        &out,
    ];
    let output = pliant(&[&words[..], &list, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(1));
    let report = report_of(&output);
    assert!(
        report["files"][1]["error"]
            .as_str()
            .unwrap()
            .contains("does not exist")
    );

    let single = ["--target", &file("head.obj"), "--out", &file("head.glb")];
    json(&[&words[..], &single].concat());
    let made = fs::read(Path::new(&out).join("head.glb")).unwrap();
    assert!(made == fs::read(file("head.glb")).unwrap());

    // A list needs a folder, a mesh a file.
    for wrong in [&list[..2], &single[..2], &["--out", "a.glb"]] {
        let output = pliant(&[&words[..], wrong].concat());
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }
}

fn template(folder: &TempDir, words: &[&str]) -> (Value, Value) {
    let bundle = inside(folder, "bundle");
    let report = json(&[&["job"], words, &["--bundle", &bundle]].concat());
    let text = fs::read(Path::new(&bundle).join("template.json")).unwrap();
    (report, serde_json::from_slice(&text).unwrap())
}

#[test]
fn a_job_has_its_inputs_as_parameters_and_joins_its_frames() {
    let folder = folder();
    let walk = inside(&folder, "walk.glb");
    json(&["convert", "specimen:hound#walk", &walk]);
    let out = inside(&folder, "out.glb");
    let words = [
        "transfer",
        "--source",
        &walk,
        "--target",
        "specimen:hound",
        "--feet",
    ];
    let (report, template) = template(
        &folder,
        &[&words[..], &["--out", &out, "--chunk", "10"]].concat(),
    );
    assert_eq!(report["frames"], 32);
    assert_eq!(report["steps"][0]["tasks"], 4);
    assert_eq!(report["inputs"].as_array().unwrap().len(), 1);

    let parameters = template["parameterDefinitions"].as_array().unwrap();
    let input = parameters.iter().find(|p| p["name"] == "Input1").unwrap();
    assert_eq!(
        (&input["dataFlow"], &input["objectType"]),
        (&"IN".into(), &"FILE".into())
    );
    let arguments =
        |step: usize| template["steps"][step]["script"]["actions"]["onRun"]["args"].clone();
    let make = arguments(0).to_string();
    for word in [
        "--source={{Param.Input1}}",
        "--feet",
        "--frames={{Task.Param.Frames}}",
        "--resume",
    ] {
        assert!(make.contains(word), "{word} in {make}");
    }
    assert!(!make.contains(&walk), "{make}");
    let join = arguments(1).to_string();
    assert!(
        join.starts_with("[\"join\",\"{{Param.Pieces}}\",\"--out={{Param.Output}}\",\"--\""),
        "{join}"
    );
}

#[test]
fn a_job_over_a_list_has_a_task_for_each_file_and_recipes_name_their_inputs() {
    let folder = folder();
    let file = |name: &str| inside(&folder, name);
    for name in ["a.obj", "b.obj"] {
        json(&["convert", "specimen:bar:coarse", &file(name)]);
    }
    let list = [
        "convert",
        &file("a.obj"),
        &file("b.obj"),
        "--out-dir",
        &file("glb"),
        "--to",
        "glb",
    ];
    let (report, made) = template(&folder, &list);
    assert_eq!(report["steps"][0]["tasks"], 2);
    assert_eq!(report["inputs"].as_array().unwrap().len(), 2);
    let space = &made["steps"][0]["parameterSpace"];
    assert_eq!(
        space["taskParameterDefinitions"][1]["range"],
        serde_json::json!(["a", "b"])
    );

    json(&[
        "convert",
        "specimen:hand",
        &file("hand.reference.obj+hand.frames.npy"),
    ]);
    fs::write(
        file("hand.toml"),
        "examples = \"hand.reference.obj+hand.frames.npy\"\ncontrol_points = 6\n",
    )
    .unwrap();
    let (report, _) = template(
        &folder,
        &["validate", &file("hand.toml"), "--out", &file("t.json")],
    );
    let inputs = report["inputs"].to_string();
    for name in ["hand.toml", "hand.reference.obj", "hand.frames.npy"] {
        assert!(inputs.contains(name), "{name} in {inputs}");
    }
    assert_eq!(report["frames"], 14);
}

#[test]
fn wrong_jobs_are_usage_errors() {
    for words in [
        &["job", "transfer", "--bundle", "b"][..],
        &["job", "render", "specimen:bar", "--out", "a.png"],
        &["job", "fly", "--bundle", "b"],
        &["job"],
    ] {
        assert_eq!(pliant(words).status.code(), Some(2), "{words:?}");
    }
}

#[test]
fn progress_for_a_scheduler_goes_to_stderr() {
    let folder = folder();
    let out = inside(&folder, "b.npy");
    let words = [
        "blend",
        "specimen:bar:coarse",
        "specimen:bar:coarse",
        "--steps",
        "4",
    ];
    let output = pliant(
        &[
            &words[..],
            &["--progress", "openjd", "--json", "--out", &out],
        ]
        .concat(),
    );
    let lines = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(lines.contains("openjd_status: solving\n"), "{lines}");
    assert!(lines.contains("openjd_progress: 60\n"), "{lines}");
    assert!(report_of(&output)["frames"].is_array());
}
