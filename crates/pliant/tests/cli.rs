//! The command line from outside: exit codes, messages, JSON.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

fn pliant(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pliant"))
        .args(args)
        .output()
        .expect("the command starts")
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn file(folder: &TempDir, name: &str, text: &str) -> String {
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("a file in a temporary folder");
    shown(&path)
}

fn shown(path: &Path) -> String {
    path.to_str().expect("a temporary path in UTF-8").to_owned()
}

fn in_folder(folder: &TempDir, name: &str) -> (PathBuf, String) {
    let path = folder.path().join(name);
    let text = shown(&path);
    (path, text)
}

const SQUARE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n";

/// The command ends with 1 and one line on stderr that holds all of `words`; returns the line.
fn declines(args: &[&str], words: &[&str]) -> String {
    let output = pliant(args);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{args:?}: {message}");
    assert_eq!(message.trim_end().lines().count(), 1, "{message}");
    for word in words {
        assert!(message.contains(word), "'{word}' in: {message}");
    }
    message
}

fn json(args: &[&str]) -> Value {
    let output = pliant(args);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("one JSON object on stdout")
}

#[test]
fn each_bad_input_gets_one_line_that_names_it() {
    let folder = folder();
    let (out, out_text) = in_folder(&folder, "d.npy");
    let measure = |asset: &str, from: &str, words: &[&str]| {
        declines(
            &["geodesic", asset, "--from", from, "--out", &out_text],
            words,
        );
        assert!(!out.exists(), "nothing is left behind");
    };
    let square = file(&folder, "square.obj", SQUARE);
    measure(
        &shown(&folder.path().join("nowhere.obj")),
        "0",
        &["nowhere.obj"],
    );
    measure(&file(&folder, "empty.obj", ""), "0", &["empty.obj"]);
    measure(
        &file(
            &folder,
            "beyond.obj",
            "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n",
        ),
        "0",
        &["beyond.obj", "9", "line 4"],
    );
    measure(
        &file(&folder, "nan.obj", "v 0 0 0\nv 1 nan 0\nv 0 1 0\nf 1 2 3\n"),
        "0",
        &["nan.obj", "vertex 1"],
    );
    measure(
        &file(&folder, "bare.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n"),
        "0",
        &["bare.obj", "no faces"],
    );
    measure(&shown(folder.path()), "0", &["folder"]);
    declines(
        &[
            "geodesic", &square, "--from", "0", "--method", "exact", "--radius", "-1", "--out",
            &out_text,
        ],
        &["square.obj", "-1"],
    );
    measure(&square, "4", &["square.obj", "vertex 4", "4 vertices"]);
    measure("specimen:unicorn", "0", &["unicorn", "head"]);
}

#[test]
fn an_output_that_cannot_be_written_is_named() {
    let folder = folder();
    let square = file(&folder, "square.obj", SQUARE);
    let under_a_file = shown(&folder.path().join("square.obj").join("d.npy"));
    declines(
        &["geodesic", &square, "--from", "0", "--out", &under_a_file],
        &["d.npy"],
    );
    let a_folder = shown(folder.path());
    declines(
        &["geodesic", &square, "--from", "0", "--out", &a_folder],
        &[&a_folder, "folder"],
    );
}

#[test]
fn a_file_never_holds_another_format_than_its_ending_says() {
    let folder = folder();
    let square = file(&folder, "square.obj", SQUARE);
    let (picture, picture_text) = in_folder(&folder, "square.jpg");
    declines(
        &["render", &square, "--out", &picture_text],
        &["square.jpg", ".png"],
    );
    let (array, array_text) = in_folder(&folder, "d.csv");
    declines(
        &["geodesic", &square, "--from", "0", "--out", &array_text],
        &["d.csv", ".npy"],
    );
    assert!(!picture.exists() && !array.exists());
}

#[test]
fn numbers_for_another_mesh_are_declined_with_all_counts() {
    let folder = folder();
    let square = file(&folder, "square.obj", SQUARE);
    let (_, distances) = in_folder(&folder, "d.npy");
    json(&[
        "geodesic",
        "specimen:bar:coarse",
        "--from",
        "0",
        "--out",
        &distances,
        "--json",
    ]);
    let (_, out) = in_folder(&folder, "d.png");
    declines(
        &["render", &square, "--scalar", &distances, "--out", &out],
        &["d.npy", "4 vertices", "1 faces", "2 triangles"],
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_is_full_is_named() {
    declines(
        &[
            "geodesic",
            "specimen:bar",
            "--from",
            "0",
            "--out",
            "/dev/full",
        ],
        &["/dev/full", "space"],
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_result_that_cannot_be_printed_is_no_success() {
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .expect("a device that is always full");
    let status = Command::new(env!("CARGO_BIN_EXE_pliant"))
        .args(["info", "specimen:bar", "-q"])
        .stdout(full)
        .status();
    assert_eq!(status.expect("the command starts").code(), Some(1));
}

#[test]
fn quiet_prints_what_was_asked_for_and_nothing_else() {
    let folder = folder();
    let (_, out) = in_folder(&folder, "bar.obj");
    let output = pliant(&["convert", "specimen:bar", &out, "--quiet"]);
    assert_eq!((output.stdout.len(), output.stderr.len()), (0, 0));
    assert!(!pliant(&["info", &out, "--quiet"]).stdout.is_empty());
}

#[test]
fn sliders_are_set_by_name_and_an_unknown_one_is_declined() {
    let folder = folder();
    let draw = |name: &str, weights: &str| {
        let (path, out) = in_folder(&folder, name);
        json(&[
            "render",
            "specimen:bar",
            "--weights",
            weights,
            "--out",
            &out,
            "--size",
            "80x60",
            "--json",
        ]);
        std::fs::read(path).expect("the picture")
    };
    assert_eq!(draw("a.png", "bent=0"), draw("b.png", "twisted=0"));
    assert_ne!(draw("a.png", "bent=0"), draw("c.png", "bent=1"));
    let (_, out) = in_folder(&folder, "d.png");
    declines(
        &[
            "render",
            "specimen:bar",
            "--weights",
            "smile=1",
            "--out",
            &out,
        ],
        &["smile", "bent"],
    );
}

#[test]
fn a_clip_is_played_as_an_animated_picture() {
    let folder = folder();
    let (path, out) = in_folder(&folder, "bend.png");
    json(&[
        "render",
        "specimen:bar#bend",
        "--play",
        "--out",
        &out,
        "--size",
        "40x30",
        "--json",
    ]);
    let png = std::fs::read(path).expect("the picture");
    let frames = png.windows(4).filter(|chunk| chunk == b"fcTL").count();
    assert_eq!(frames, 25);
}

#[cfg(unix)]
#[test]
fn a_write_that_breaks_off_leaves_nothing_behind() {
    let folder = folder();
    let (_, out) = in_folder(&folder, "d.npy");
    // A limit of one block on the size of files stands for a disk that fills up half-way.
    let limited = format!(
        "trap '' XFSZ; ulimit -f 1; '{}' geodesic specimen:bar --from 0 --out '{out}' --quiet",
        env!("CARGO_BIN_EXE_pliant")
    );
    let output = Command::new("sh")
        .args(["-c", &limited])
        .output()
        .expect("a shell");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("d.npy"), "{message}");
    assert_eq!(
        std::fs::read_dir(folder.path())
            .expect("the folder")
            .count(),
        0,
        "no file is left, not even a temporary one"
    );
}

#[test]
fn wrong_usage_ends_with_two_and_says_what() {
    let folder = folder();
    let square = file(&folder, "square.obj", SQUARE);
    let (_, out) = in_folder(&folder, "d.npy");
    for (args, word) in [
        (
            vec!["geodesic", &square, "--from", "nose", "--out", &out],
            "nose",
        ),
        (vec!["geodesic", &square, "--out", &out], "--from"),
        (
            vec![
                "geodesic", &square, "--from", "0", "--out", &out, "--radius", "1",
            ],
            "--method exact",
        ),
        (
            vec!["render", &square, "--out", "x.png", "--size", "huge"],
            "huge",
        ),
        (
            vec!["render", &square, "--out", "x.png", "--view", "below"],
            "three-quarter",
        ),
        (
            vec![
                "render",
                &square,
                "--out",
                "x.png",
                "--scalar",
                &out,
                "--isolines",
                "-1",
            ],
            "above zero",
        ),
        (vec!["frobnicate"], "frobnicate"),
    ] {
        let output = pliant(&args);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(word), "{message}");
    }
}

#[test]
fn info_lists_what_is_odd_and_still_succeeds() {
    let folder = folder();
    let path = file(
        &folder,
        "odd.obj",
        "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 0 nan 0\nv 0 1 0\nf 1 2 3\nf 1 2 5\n",
    );
    let report = json(&["info", &path, "--json"]);
    let mesh = &report["meshes"][0];
    assert_eq!(
        (
            mesh["vertices"].as_u64(),
            mesh["degenerate_triangles"].as_u64(),
            mesh["unused_vertices"].as_u64()
        ),
        (Some(5), Some(1), Some(1))
    );
    let problems = report["problems"].to_string();
    assert!(problems.contains("NaN"), "{problems}");
}

#[test]
fn distances_do_not_depend_on_the_number_of_threads() {
    let folder = folder();
    let measure = |threads: &str| {
        let (path, out) = in_folder(&folder, &format!("{threads}.npy"));
        json(&[
            "geodesic",
            "specimen:bar",
            "--from",
            "3",
            "--out",
            &out,
            "--json",
            "--quiet",
            "--threads",
            threads,
        ]);
        std::fs::read(path).expect("the distances")
    };
    assert_eq!(measure("1"), measure("2"));
}

#[test]
fn heat_and_exact_distances_agree_on_a_square() {
    let folder = folder();
    let square = file(&folder, "square.obj", SQUARE);
    let (_, out) = in_folder(&folder, "d.npy");
    let exact = json(&[
        "geodesic", &square, "--from", "0", "--out", &out, "--method", "exact", "--json",
    ]);
    assert!((exact["max"].as_f64().unwrap() - 2.0_f64.sqrt()).abs() < 1e-15);
    let disc = json(&[
        "geodesic", &square, "--from", "0", "--out", &out, "--method", "exact", "--radius", "1.2",
        "--json",
    ]);
    assert_eq!(disc["unreached"], 1);
    let heat = json(&["geodesic", &square, "--from", "0", "--out", &out, "--json"]);
    // The near field covers the whole square, so that only the fade into heat is left of its error.
    assert!((heat["max"].as_f64().unwrap() - 2.0_f64.sqrt()).abs() < 0.02);
}

#[test]
fn an_obj_comes_back_unharmed() {
    let folder = folder();
    let text = "mtllib a.mtl\no box\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\ng left\nusemtl red\nf 1/1 2/2 3/3 4/4\n";
    let input = file(&folder, "in.obj", text);
    let (path, out) = in_folder(&folder, "out.obj");
    json(&["convert", &input, &out, "--json"]);
    let again = std::fs::read_to_string(path).expect("the converted file");
    for line in text.lines() {
        assert!(again.lines().any(|l| l == line), "'{line}' in {again}");
    }
}

#[test]
fn a_picture_has_the_same_bytes_on_any_number_of_threads() {
    let folder = folder();
    let draw = |threads: &str| {
        let (path, out) = in_folder(&folder, &format!("{threads}.png"));
        json(&[
            "render",
            "specimen:bar",
            "--out",
            &out,
            "--size",
            "160x120",
            "--json",
            "--threads",
            threads,
        ]);
        std::fs::read(path).expect("the picture")
    };
    assert_eq!(draw("1"), draw("2"));
}

#[test]
fn help_teaches_by_example_and_completions_are_made() {
    for command in [
        "info",
        "convert",
        "geodesic",
        "render",
        "reproduce",
        "demo",
        "completions",
    ] {
        let help = String::from_utf8(pliant(&[command, "--help"]).stdout).expect("help in UTF-8");
        assert!(help.contains(&format!("pliant {command} ")), "{help}");
        assert!(help.contains("Examples:"), "{help}");
    }
    let script =
        String::from_utf8(pliant(&["completions", "bash"]).stdout).expect("a script in UTF-8");
    assert!(script.contains("geodesic"));
}
