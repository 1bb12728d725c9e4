//! Bones from the command line.

mod command;

use command::{declines, folder, inside, json, pliant};
use pliant::io::npy;

const WALK: &str = "specimen:hound#walk";

#[test]
fn a_walk_becomes_a_rig_and_its_reconstruction_is_as_far_as_told() {
    let folder = folder();
    let (out, shown) = (inside(&folder, "rig.glb"), inside(&folder, "r.npy"));
    let told = json(&[
        "bones",
        WALK,
        "--count",
        "12",
        "--out",
        &out,
        "--reconstruction",
        &shown,
    ]);
    assert_eq!(told["bones"], 12);
    let walk = pliant::specimens::specimen("hound")
        .unwrap()
        .clips
        .swap_remove(0);
    let frames = npy::read(&std::fs::read(&shown).unwrap())
        .unwrap()
        .into_point_rows("frames")
        .unwrap();
    let squares: f64 = frames
        .iter()
        .flatten()
        .zip(walk.frames().iter().flatten())
        .map(|(a, b)| a.distance_squared(*b))
        .sum();
    let rms = (squares / (frames.len() * frames[0].len()) as f64).sqrt();
    assert!(
        (rms - told["rms"].as_f64().unwrap()).abs() < 1e-9 * rms,
        "{rms} and {}",
        told["rms"]
    );
    assert!(rms < 0.02 * walk.reference().bounds().unwrap().diagonal());
    let info = json(&["info", &out]);
    assert_eq!(
        info["meshes"][0]["vertices"],
        walk.reference().vertex_count()
    );
}

#[test]
fn a_rig_has_the_same_bytes_on_one_thread_and_on_two() {
    let folder = folder();
    let rig = |threads: &str| {
        let out = inside(&folder, &format!("rig{threads}.glb"));
        assert!(
            pliant(&[
                "bones",
                WALK,
                "--count",
                "9",
                "--out",
                &out,
                "--threads",
                threads
            ])
            .status
            .success()
        );
        std::fs::read(out).unwrap()
    };
    assert_eq!(rig("1"), rig("2"));
}

#[test]
fn counts_and_clips_that_make_no_sense_leave_nothing_behind() {
    let folder = folder();
    let out = inside(&folder, "rig.glb");
    declines(
        &["bones", WALK, "--count", "0"],
        &out,
        &["bones", "at least 1"],
    );
    declines(&["bones", WALK, "--count", "100000"], &out, &["too many"]);
    declines(
        &["bones", "specimen:hound#walk@2", "--count", "3"],
        &out,
        &["no clip"],
    );
    declines(
        &[
            "bones",
            "nowhere.reference.obj+nowhere.frames.npy",
            "--count",
            "3",
        ],
        &out,
        &["nowhere"],
    );
    declines(
        &["bones", WALK, "--count", "3"],
        &inside(&folder, "rig.obj"),
        &["rig.obj"],
    );
}
