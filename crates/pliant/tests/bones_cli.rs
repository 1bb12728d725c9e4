//! `pliant bones`: skinning decomposition.

mod command;

use command::{folder, inside, json, pliant, refuses};
use pliant::io::npy;

const WALK: &str = "specimen:hound#walk";

#[test]
fn the_reconstruction_of_a_rig_has_the_reported_error() {
    let folder = folder();
    let out = inside(&folder, "rig.glb");
    let shown = inside(&folder, "r.npy");
    let report = json(&[
        "bones",
        WALK,
        "--count",
        "12",
        "--out",
        &out,
        "--reconstruction",
        &shown,
    ]);

    assert_eq!(report["bones"], 12);
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
        (rms - report["rms"].as_f64().unwrap()).abs() < 1e-9 * rms,
        "{rms} and {}",
        report["rms"]
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
fn invalid_counts_and_clips_are_refused_and_leave_no_file() {
    let folder = folder();
    let out = inside(&folder, "rig.glb");
    refuses(
        &["bones", WALK, "--count", "0"],
        &out,
        &["bones", "at least 1"],
    );

    refuses(&["bones", WALK, "--count", "100000"], &out, &["too many"]);
    refuses(
        &["bones", "specimen:hound#walk@2", "--count", "3"],
        &out,
        &["no clip"],
    );

    refuses(
        &[
            "bones",
            "nowhere.reference.obj+nowhere.frames.npy",
            "--count",
            "3",
        ],
        &out,
        &["nowhere"],
    );

    refuses(
        &["bones", WALK, "--count", "3"],
        &inside(&folder, "rig.obj"),
        &["rig.obj"],
    );
}
