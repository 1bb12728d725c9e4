//! Exit codes, messages and JSON of the command line.

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

/// The command gives exit code 1 and one line on stderr that contains all `words`. Returns the line.
fn refuses(args: &[&str], words: &[&str]) -> String {
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
fn an_invalid_input_is_named_in_one_line() {
    let folder = folder();
    let (out, out_text) = in_folder(&folder, "d.npy");
    let measure = |asset: &str, from: &str, words: &[&str]| {
        refuses(
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

    refuses(
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
    refuses(
        &["geodesic", &square, "--from", "0", "--out", &under_a_file],
        &["d.npy"],
    );

    let a_folder = shown(folder.path());
    refuses(
        &["geodesic", &square, "--from", "0", "--out", &a_folder],
        &[&a_folder, "folder"],
    );
}

#[test]
fn an_output_with_the_ending_of_another_format_is_refused() {
    let folder = folder();
    let square = file(&folder, "square.obj", SQUARE);
    let (picture, picture_text) = in_folder(&folder, "square.jpg");
    refuses(
        &["render", &square, "--out", &picture_text],
        &["square.jpg", ".png"],
    );

    let (array, array_text) = in_folder(&folder, "d.csv");
    refuses(
        &["geodesic", &square, "--from", "0", "--out", &array_text],
        &["d.csv", ".npy"],
    );

    assert!(!picture.exists() && !array.exists());
}

#[test]
fn numbers_for_another_mesh_are_refused_with_all_counts() {
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
    refuses(
        &["render", &square, "--scalar", &distances, "--out", &out],
        &["d.npy", "4 vertices", "1 faces", "2 triangles"],
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported() {
    refuses(
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
fn a_result_that_cannot_be_printed_is_a_failure() {
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
fn quiet_prints_results_only() {
    let folder = folder();
    let (_, out) = in_folder(&folder, "bar.obj");
    let output = pliant(&["convert", "specimen:bar", &out, "--quiet"]);
    assert_eq!((output.stdout.len(), output.stderr.len()), (0, 0));
    assert!(!pliant(&["info", &out, "--quiet"]).stdout.is_empty());
}

#[test]
fn sliders_are_set_by_name_and_an_unknown_one_is_refused() {
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
    refuses(
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
fn an_interrupted_write_leaves_no_file() {
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

#[cfg(unix)]
#[test]
fn no_command_replaces_its_input_by_any_spelling() {
    let folder = folder();
    let square = file(&folder, "square.obj", SQUARE);
    std::fs::create_dir(folder.path().join("sub")).expect("a folder");
    let (_, other_spelling) = in_folder(&folder, "sub/../square.obj");
    let (link, link_text) = in_folder(&folder, "link.obj");
    std::os::unix::fs::symlink(&square, link).expect("a link");

    for out in [&square, &other_spelling, &link_text] {
        for args in [
            ["convert", &square, out].as_slice(),
            &["repair", &square, "--out", out],
            &["mirror", &square, "--out", out],
            &["render", &square, "--out", out],
        ] {
            refuses(args, &["replace the input"]);
        }
    }
    assert_eq!(std::fs::read_to_string(&square).expect("the input"), SQUARE);
}

#[test]
fn two_results_do_not_share_a_file() {
    let folder = folder();
    let (out, text) = in_folder(&folder, "a.json");
    std::fs::create_dir(folder.path().join("sub")).expect("a folder");
    let (_, other_spelling) = in_folder(&folder, "sub/../a.json");
    let pin = [
        "pose",
        "specimen:head",
        "--pin",
        "4480:0.1,0,0",
        "--out",
        &text,
    ];
    let both = [pin.as_slice(), &["--weights-out", &other_spelling]].concat();
    refuses(&both, &["two results", "a.json"]);
    assert!(!out.exists());
}

#[test]
fn wrong_usage_gives_exit_code_2_and_names_the_argument() {
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
fn info_lists_warnings_and_succeeds() {
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
fn an_obj_survives_conversion_to_glb_and_back() {
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

/// All commands, in the groups of `pliant --help`.
const COMMANDS: [&str; 31] = [
    "demo",
    "studio",
    "pose",
    "sketch",
    "invert",
    "play",
    "listen",
    "touch",
    "mirror",
    "split",
    "rename",
    "blend",
    "transfer",
    "markers",
    "shapes",
    "register",
    "learn",
    "validate",
    "drive",
    "bones",
    "info",
    "pick",
    "render",
    "convert",
    "bake",
    "geodesic",
    "flexibility",
    "reproduce",
    "schema",
    "completions",
    "man",
];

fn help(args: &[&str]) -> String {
    String::from_utf8(pliant(&[args, &["--help"]].concat()).stdout).expect("help in UTF-8")
}

#[test]
fn the_help_page_of_the_program_lists_every_command_once() {
    let page = help(&[]);
    for command in COMMANDS {
        let start = format!("  {command} ");
        let entries = page.lines().filter(|line| line.starts_with(&start));
        assert_eq!(entries.count(), 1, "{command} in {page}");
    }
}

#[test]
fn help_pages_have_examples_and_fit_80_columns() {
    for command in COMMANDS {
        let page = help(&[command]);
        assert!(page.contains(&format!("pliant {command} ")), "{page}");
        assert!(page.contains("Examples:"), "{page}");
        for line in page.lines() {
            assert!(line.chars().count() <= 80, "{command}: {line}");
        }
    }
}

#[test]
fn completions_are_printed() {
    let script =
        String::from_utf8(pliant(&["completions", "bash"]).stdout).expect("a script in UTF-8");
    assert!(script.contains("geodesic"));
}

#[test]
fn a_man_page_is_written_for_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    let status = pliant(&["man", "--out", pages.to_str().unwrap()]).status;
    assert!(status.success());

    for command in COMMANDS {
        let page = std::fs::read_to_string(pages.join(format!("pliant-{command}.1"))).unwrap();
        assert!(page.contains("Examples:"), "{command}");
    }
}
