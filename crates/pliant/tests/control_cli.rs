//! `pliant drive` with captured markers and end effectors, and `pliant info` of captures.

mod bending_sheet;
mod command;

use std::fs;

use bending_sheet::{array, bent, frames_of, points, sheet_recipe};
use command::{folder, inside, json, pliant, refuses};
use pliant::mesh::glam::DVec3;
use tempfile::TempDir;

const NAMES: [&str; 6] = ["A", "B", "C", "D", "E", "F"];

/// A folder with a model of the sheet.
fn learned() -> (TempDir, String) {
    let (folder, recipe) = sheet_recipe("");
    let model = inside(&folder, "bend.safetensors");
    json(&["learn", &recipe, "--out", &model]);
    (folder, model)
}

/// A table of markers in millimetres with z before y; the columns go from the last point to the
/// first, and frame 2 lacks one marker.
fn table(frames: &[Vec<DVec3>]) -> String {
    let head: Vec<String> = NAMES
        .iter()
        .rev()
        .flat_map(|name| ["x", "y", "z"].map(|axis| format!("{name}_{axis}")))
        .collect();

    let mut text = format!("Frame;{}\n", head.join(";"));
    for (k, places) in frames.iter().enumerate() {
        let cell = |(point, p): (usize, &DVec3)| {
            if k == 2 && point == 1 {
                "NA;NA;NA".to_owned()
            } else {
                format!("{};{};{}", p.x * 1000.0, p.z * 1000.0, p.y * 1000.0)
            }
        };

        let cells: Vec<String> = places.iter().enumerate().rev().map(cell).collect();
        text.push_str(&format!("{k};{}\n", cells.join(";")));
    }

    text
}

fn farthest(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(a, b)| a.distance(*b))
        .fold(0.0, f64::max)
}

#[test]
fn a_capture_with_other_names_units_axes_and_a_gap_gives_the_same_clip() {
    let (folder, model) = learned();
    let take = inside(&folder, "take.csv");
    let plain = inside(&folder, "p.npy");
    let out = inside(&folder, "out.npy");

    let truth: Vec<Vec<DVec3>> = (0..6).map(|k| points(0.05 * f64::from(k))).collect();
    fs::write(&take, table(&truth)).unwrap();
    fs::write(&plain, array(&truth)).unwrap();
    json(&["drive", &model, "--points", &plain, "--out", &out]);

    let expected = frames_of(&out);
    let report = json(&[
        "drive",
        &model,
        "--points",
        &take,
        "--markers",
        "A,B,C,D,E,F",
        "--scale",
        "0.001",
        "--axes",
        "xzy",
        "--take-fps",
        "60",
        "--out",
        &out,
    ]);

    assert!(
        report["fps"] == 60.0
            && report["problems"][0]
                .as_str()
                .unwrap()
                .contains("'B' is not seen in frame 2"),
        "{report}"
    );

    let found = frames_of(&out);
    assert!(
        expected
            .iter()
            .zip(&found)
            .all(|(a, b)| farthest(a, b) < 1e-9)
    );

    let report = json(&[
        "drive",
        &model,
        "--points",
        &take,
        "--markers",
        "A,-,C,D,E,F",
        "--scale=0.001",
        "--axes=xzy",
        "--take-fps",
        "60",
        "--fps",
        "30",
        "--smooth",
        "1",
        "--take-frames",
        "0-4",
        "--out",
        &out,
    ]);

    assert!(
        report["frames"] == 3 && report["problems"].to_string().contains("never seen"),
        "{report}"
    );
}

#[test]
fn the_rigid_motion_of_a_capture_is_removed_by_named_markers() {
    let (folder, model) = learned();
    let take = inside(&folder, "take.npy");
    let out = inside(&folder, "out.npy");
    let turn = pliant::mesh::glam::DMat3::from_rotation_y(0.8);
    let moved: Vec<DVec3> = points(0.0)
        .iter()
        .map(|p| turn * *p + DVec3::new(3.0, 1.0, -2.0))
        .collect();

    fs::write(&take, array(&[moved])).unwrap();
    json(&[
        "drive", &model, "--points", &take, "--align", "0,2,3,5", "--out", &out,
    ]);

    assert!(farthest(&frames_of(&out)[0], &bent(0.0)) < 0.02);
}

#[test]
fn end_effectors_alone_drive_the_sheet_through_a_skeleton() {
    let (folder, model) = learned();
    let skeleton = inside(&folder, "s.json");
    let take = inside(&folder, "tips.csv");
    let out = inside(&folder, "out.npy");

    let joint = |name: &str, parent: &str, control: usize, end: bool| {
        format!(
            "{{\"name\": \"{name}\", \"parent\": \"{parent}\", \"control\": {control}, \"effector\": {end}}}"
        )
    };

    let joints = [
        "{\"name\": \"middle\", \"control\": 3}".to_owned(),
        joint("a", "middle", 0, true),
        joint("b", "middle", 1, false),
        joint("c", "middle", 2, true),
        joint("e", "middle", 4, true),
        joint("f", "middle", 5, true),
    ];

    fs::write(
        &skeleton,
        format!("{{\"root\": \"free\", \"joints\": [{}]}}", joints.join(",")),
    )
    .unwrap();

    let shift = DVec3::new(0.0, 0.5, 0.2);
    let goals: Vec<String> = [5, 4, 2, 0]
        .map(|k| points(0.0)[k] + shift)
        .iter()
        .map(|p| format!("{},{},{}", p.x, p.y, p.z))
        .collect();

    fs::write(
        &take,
        format!(
            "f_x,f_y,f_z,e_x,e_y,e_z,c_x,c_y,c_z,a_x,a_y,a_z\n{}\n",
            goals.join(",")
        ),
    )
    .unwrap();

    let report = json(&[
        "drive",
        &model,
        "--points",
        &take,
        "--skeleton",
        &skeleton,
        "--out",
        &out,
    ]);

    assert!(
        report["effectors"]["miss"].as_f64().unwrap() < 1e-5
            && report["effectors"]["ms_per_frame"].is_number(),
        "{report}"
    );

    let expected: Vec<DVec3> = bent(0.0).iter().map(|p| *p + shift).collect();
    assert!(farthest(&frames_of(&out)[0], &expected) < 0.02);
    fs::write(
        &skeleton,
        format!("{{\"joints\": [{}]}}", joints[..5].join(",")),
    )
    .unwrap();

    refuses(
        &["drive", &model, "--points", &take, "--skeleton", &skeleton],
        &inside(&folder, "no.npy"),
        &["s.json", "control point 5 has no joint"],
    );
    fs::write(&skeleton, "{\"joints\": 3}").unwrap();

    refuses(
        &["drive", &model, "--points", &take, "--skeleton", &skeleton],
        &inside(&folder, "no.npy"),
        &["s.json"],
    );
}

#[test]
fn an_unusable_capture_is_refused_in_one_line() {
    let (folder, model) = learned();
    let take = inside(&folder, "take.csv");
    let out = inside(&folder, "no.npy");
    fs::write(&take, table(&[points(0.0), points(0.1)])).unwrap();

    let with = |more: &[&str], words: &[&str]| {
        refuses(
            &[&["drive", &model, "--points", &take], more].concat(),
            &out,
            words,
        )
    };

    with(
        &["--markers", "A,B,C,D,E,Fingertip"],
        &["take.csv", "'Fingertip'", "did you mean F"],
    );
    with(&["--markers", "A,B"], &["2 markers", "6 points"]);
    with(&["--align", "A,B"], &["at least 3"]);
    with(&["--rest-frame", "7"], &["frame 7"]);
    with(&["--smooth", "0.1s"], &["frame rate"]);

    let plain = inside(&folder, "gap.npy");
    let mut places = points(0.1);
    places[3].y = f64::NAN;
    fs::write(&plain, array(&[places])).unwrap();
    refuses(
        &["drive", &model, "--points", &plain],
        &out,
        &["gap.npy", "'3'", "frame 0"],
    );

    json(&[
        "drive",
        &model,
        "--points",
        &plain,
        "--max-gap",
        "5",
        "--out",
        &inside(&folder, "filled.npy"),
    ]);

    for wrong in [
        ["--axes", "xxy"],
        ["--smooth", "soon"],
        ["--take-frames", "5"],
    ] {
        let output = pliant(&[
            "drive", &model, "--points", &take, wrong[0], wrong[1], "--out", &out,
        ]);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn info_lists_names_frames_and_gaps_of_a_capture() {
    let folder = folder();
    let take = inside(&folder, "take.csv");
    fs::write(&take, table(&[points(0.0), points(0.1), points(0.2)])).unwrap();

    let report = json(&["info", &take]);
    assert!(
        report["frames"] == 3 && report["fps"].is_null() && report["ignored"][0] == "Frame",
        "{report}"
    );

    assert_eq!(
        (
            &report["markers"][4]["name"],
            &report["markers"][4]["longest_gap"]
        ),
        (&"B".into(), &1.into())
    );

    assert_eq!(report["problems"].as_array().unwrap().len(), 0);
}
