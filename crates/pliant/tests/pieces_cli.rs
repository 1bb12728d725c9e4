//! `--frames` and `pliant join`: pieces of a result, and the whole from them.

#[allow(dead_code, reason = "other tests use the rest of the module")]
mod command;

use std::fs;
use std::path::Path;
use std::process::Command;

use command::{folder, inside, json, pliant, refuses};
use serde_json::Value;
use tempfile::TempDir;

/// A report without what may differ between two runs: times, the name of the file that was written,
/// and the list of pieces.
fn without_times(report: &Value, out: &str) -> Value {
    let text = report.to_string().replace(out, "OUT");
    let mut report: Value = serde_json::from_str(&text).unwrap();
    fn strip(value: &mut Value) {
        match value {
            Value::Object(keys) => {
                keys.retain(|key, _| {
                    let is_time = key == "ms" || key.ends_with("_ms") || key.contains("_ms_");
                    !is_time && key != "out"
                });
                keys.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut report);
    let keys = report.as_object_mut().unwrap();
    for key in ["command", "pieces", "ms_per_frame", "resumed"] {
        keys.remove(key);
    }
    report
}

/// The whole of `command` in `endings` equals the joined pieces of every cut, and so do the reports.
fn assert_pieces_join(command: &[&str], cuts: &[&[&str]], endings: &[&str]) {
    let folder = folder();
    for ending in endings {
        let whole = inside(&folder, &format!("whole.{ending}"));
        let report = json(&[command, &["--out", &whole]].concat());

        for (c, cut) in cuts.iter().enumerate() {
            let mut pieces = Vec::new();
            for (k, frames) in cut.iter().enumerate() {
                let piece = inside(&folder, &format!("{c}-{k}.{ending}"));
                json(&[command, &["--frames", frames, "--out", &piece]].concat());
                pieces.push(piece);
            }
            // The order of the pieces does not matter.
            pieces.rotate_left(1);
            let joined = inside(&folder, &format!("joined-{c}.{ending}"));
            let mut words = vec!["join"];
            words.extend(pieces.iter().map(String::as_str));
            words.extend(["--out", &joined]);
            let joined_report = json(&words);

            assert!(
                fs::read(&whole).unwrap() == fs::read(&joined).unwrap(),
                "{command:?} {cut:?}: {ending} differs"
            );
            assert_eq!(
                without_times(&report, &whole),
                without_times(&joined_report, &joined),
                "{command:?} {cut:?} {ending}"
            );
        }
    }
}

const HOUND: [&str; 5] = [
    "transfer",
    "--source",
    "specimen:hound#walk",
    "--target",
    "specimen:hound",
];

#[test]
fn pieces_of_a_transfer_join_to_the_whole_in_every_format() {
    let cuts: [&[&str]; 2] = [&["0-15", "16-31"], &["0", "1-30:2", "2-30:2", "31"]];
    let formats = ["glb", "npy", "mdd", "pc2", "usda", "abc", "fbx"];
    assert_pieces_join(&HOUND, &cuts[..1], &formats);
    assert_pieces_join(&HOUND, &cuts, &["npy"]);
}

#[test]
fn pieces_of_a_transfer_with_feet_and_checks_join_to_the_whole() {
    let command = [&HOUND[..], &["--feet", "--untangle"]].concat();
    assert_pieces_join(&command, &[&["0-9", "10-31"]], &["npy"]);
}

#[test]
fn pieces_of_a_blend_join_to_the_whole() {
    let bar = [
        "blend",
        "specimen:bar:coarse",
        "specimen:bar:coarse#bend@24",
    ];
    let cuts: &[&[&str]] = &[&["0-4", "5-12"], &["3", "0-2,4-12"]];
    let options: [&[&str]; 3] = [
        &[],
        &["--energy", "springs"],
        &["--obstacle", "sphere:0,2,0,1", "--self-contact"],
    ];
    for options in options {
        let command = [&bar[..], &["--steps", "12"], options].concat();
        assert_pieces_join(&command, cuts, &["glb"]);
    }
}

#[test]
fn pieces_of_an_inversion_join_to_the_whole() {
    let command = ["invert", "specimen:head", "specimen:head"];
    let folder = folder();
    let whole = inside(&folder, "whole.json");
    let frames = json(&[&command[..], &["--out", &whole]].concat())["frames"]
        .as_u64()
        .unwrap();
    let second = format!("9-{}", frames - 1);
    assert_pieces_join(&command, &[&["0-8", &second]], &["json", "glb"]);
}

/// A recipe whose examples are a bending bar.
fn recipe(folder: &TempDir) -> String {
    let recipe = inside(folder, "bar.toml");
    let text = "examples = \"specimen:bar:coarse#bend\"\ncontrol_points = 6\nmethod = \"feng\"\n";
    fs::write(&recipe, text).unwrap();
    recipe
}

#[test]
fn pieces_of_a_validation_join_to_the_whole() {
    let folder = folder();
    let recipe = recipe(&folder);
    let validate = ["validate", &recipe, "--against", "arap"];
    assert_pieces_join(
        &validate,
        &[&["0-9", "10-24"], &["0-24:2", "1-23:2"]],
        &["json"],
    );
}

#[test]
fn pieces_of_a_driven_clip_join_to_the_whole() {
    let folder = folder();
    let model = inside(&folder, "bar.safetensors");
    json(&["learn", &recipe(&folder), "--out", &model]);
    let driven = ["drive", &model, "--points", "specimen:bar:coarse#bend"];
    let whole = inside(&folder, "count.npy");
    let frames = json(&[&driven[..], &["--out", &whole]].concat())["frames"]
        .as_u64()
        .unwrap();
    let last = frames - 1;
    let cuts = [["0-2".to_owned(), format!("3-{last}")]];
    let cut: Vec<&str> = cuts[0].iter().map(String::as_str).collect();
    assert_pieces_join(&driven, &[&cut], &["npy", "glb"]);
    let swinging = [&driven[..], &["--jiggle", "3,0.2"]].concat();
    assert_pieces_join(&swinging, &[&cut], &["npy"]);
}

#[test]
fn pieces_of_pictures_join_to_the_whole_as_animation_and_as_folder() {
    let folder = folder();
    let file = |name: &str| inside(&folder, name);
    let render = ["render", "specimen:hound#walk", "--size", "64x48"];
    let make =
        |options: &[&str], out: &str| json(&[&render[..], options, &["--out", out]].concat());
    make(&["--play"], &file("whole.png"));
    make(&["--frames", "0-31"], &file("whole"));
    make(&["--frames", "0-9"], &file("a.png"));
    make(&["--frames", "10-31"], &file("b.png"));
    make(&["--frames", "0-9"], &file("parts"));
    make(&["--frames", "10-31"], &file("parts"));

    let same = |a: &str, b: &str| assert!(fs::read(file(a)).unwrap() == fs::read(file(b)).unwrap());
    for pieces in [&["b.png", "a.png"][..], &["parts"]] {
        let paths: Vec<String> = pieces.iter().map(|name| file(name)).collect();
        for out in ["joined.png", "joined"] {
            let mut words = vec!["join"];
            words.extend(paths.iter().map(String::as_str));
            let out = file(out);
            words.extend(["--out", &out]);
            assert_eq!(json(&words)["frames"], 32);
        }
        same("joined.png", "whole.png");
        for k in 0..32 {
            let name = format!("frame.{k:04}.png");
            same(&format!("joined/{name}"), &format!("whole/{name}"));
        }
    }
}

#[test]
fn missing_overlapping_foreign_and_changed_pieces_are_refused_by_name() {
    let folder = folder();
    let file = |name: &str| inside(&folder, name);
    let piece = |frames: &str, options: &[&str], out: &str| {
        json(&[&HOUND[..], &["--frames", frames], options, &["--out", out]].concat());
    };
    let [a, b, c, other] = ["a.npy", "b.npy", "c.npy", "other.npy"].map(file);
    piece("0-9", &[], &a);
    piece("10-31", &[], &b);
    piece("9-12", &[], &c);
    piece("10-31", &["--root", "fix"], &other);

    let out = file("whole.npy");
    refuses(&["join", &a], &out, &["--frames 10-31"]);
    refuses(&["join", &a, &b, &c], &out, &["frame 9", &a, &c]);
    refuses(&["join", &a, &other], &out, &["other.npy", "--root=fix"]);
    fs::write(file("plain.npy"), "no piece").unwrap();
    refuses(
        &["join", &a, &file("plain.npy")],
        &out,
        &["plain.npy", "not a piece"],
    );
    fs::write(&b, "changed").unwrap();
    refuses(&["join", &a, &b], &out, &["b.npy"]);

    let late = [&HOUND[..], &["--frames", "30-40"]].concat();
    refuses(&late, &out, &["no frame 32", "0 to 31"]);
    let words = [&HOUND[..], &["--frames", "4-2", "--out", &out]].concat();
    assert_eq!(pliant(&words).status.code(), Some(2));
}

#[test]
fn a_piece_of_other_inputs_is_refused_and_a_folder_elsewhere_is_not() {
    let here = folder();
    let there = folder();
    for place in [&here, &there] {
        json(&["convert", "specimen:hound#walk", &inside(place, "walk.glb")]);
        json(&["convert", "specimen:hound", &inside(place, "hound.obj")]);
    }
    let piece = |place: &TempDir, frames: &str, out: &str| {
        let (source, target) = (inside(place, "walk.glb"), inside(place, "hound.obj"));
        let out = inside(place, out);
        let words = [
            "--source", &source, "--target", &target, "--frames", frames, "--out", &out,
        ];
        json(&[&["transfer"], &words[..]].concat());
        out
    };
    let a = piece(&here, "0-15", "a.npy");
    let b = piece(&there, "16-31", "b.npy");
    let whole = inside(&here, "whole.npy");
    json(&["join", &a, &b, "--out", &whole]);

    // The inputs of the pieces are gone; they lie elsewhere.
    fs::rename(inside(&here, "walk.glb"), inside(&here, "moved.glb")).unwrap();
    let out = inside(&here, "again.npy");
    refuses(&["join", &a, &b], &out, &["walk.glb"]);
    let moved = inside(&here, "moved.glb");
    let target = inside(&here, "hound.obj");
    let arguments = ["--", "--source", &moved, "--target", &target];
    let status = Command::new(env!("CARGO_BIN_EXE_pliant"))
        .args(["join", &a, &b, "--out", &out])
        .args(arguments)
        .status()
        .unwrap();
    assert!(status.success());
    assert!(fs::read(&out).unwrap() == fs::read(&whole).unwrap());

    // The same name with another content makes another job.
    json(&["convert", "specimen:tapir", &inside(&there, "hound.obj")]);
    let foreign = piece(&there, "16-31", "foreign.npy");
    refuses(
        &["join", &a, &foreign],
        &inside(&here, "no.npy"),
        &["foreign.npy", "hound.obj"],
    );
}

#[test]
fn finished_work_is_not_done_again_and_changed_work_is() {
    let folder = folder();
    let out = inside(&folder, "walk.npy");
    let words = [&HOUND[..], &["--frames", "0-5", "--resume", "--out", &out]].concat();
    let first = json(&words);
    let written = fs::metadata(&out).unwrap().modified().unwrap();
    // The report of the first run comes back, with its times.
    assert_eq!(json(&words), first);
    assert_eq!(fs::metadata(&out).unwrap().modified().unwrap(), written);

    // Other frames, other options and another output are other work.
    let other = [&HOUND[..], &["--frames", "0-6", "--resume", "--out", &out]].concat();
    assert_eq!(json(&other)["frames"], 7);
    assert_ne!(
        json(&words)["solve_ms_per_frame"],
        first["solve_ms_per_frame"]
    );
    fs::write(&out, "broken").unwrap();
    json(&words);
    assert!(fs::metadata(&out).unwrap().len() > 100);

    // Without --resume everything is done again.
    let plain = [&HOUND[..], &["--frames", "0-5", "--out", &out]].concat();
    assert_ne!(json(&plain)["map_ms"], first["map_ms"]);
}

#[test]
fn finished_pictures_stay_and_are_not_drawn_again() {
    let folder = folder();
    let out = inside(&folder, "pictures");
    let words = [
        "render",
        "specimen:hound#walk",
        "--size",
        "64x48",
        "--frames",
        "0-5",
        "--resume",
    ];
    let words = [&words[..], &["--out", &out]].concat();
    json(&words);
    let picture = Path::new(&out).join("frame.0003.png");
    let written = fs::metadata(&picture).unwrap().modified().unwrap();
    json(&words);
    assert_eq!(fs::metadata(&picture).unwrap().modified().unwrap(), written);
    let files = fs::read_dir(&out).unwrap().count();
    assert_eq!(files, 7, "six pictures and a manifest");
}
