//! Quality of trained models: comparison of methods, confidence, exact examples, secondary motion
//! and continued training.

mod bending_sheet;
mod command;

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use bending_sheet::{POINTS, array, bent, frames_of, points, sheet_recipe, studio_with};
use command::{inside, json, pliant, refuses};
use pliant::io::npy;
use pliant::jobs::LearnJob;
use pliant::mesh::Progress;
use pliant::mesh::glam::DVec3;
use pliant::recipes::LearnRecipe;
use tempfile::TempDir;

/// A folder with a learned model and one of points, frame by frame.
fn driven(goals: &[Vec<DVec3>]) -> (TempDir, String, String) {
    let (folder, recipe) = sheet_recipe("");
    let model = inside(&folder, "m.safetensors");
    let file = inside(&folder, "p.npy");
    json(&["learn", &recipe, "--out", &model]);
    fs::write(&file, array(goals)).unwrap();
    (folder, model, file)
}

#[test]
fn methods_are_compared_pose_by_pose() {
    let (_folder, recipe) = sheet_recipe("");
    let plain = json(&["validate", &recipe]);
    let report = json(&["validate", &recipe, "--against", "arap,paper"]);

    assert_eq!(report["poses"], plain["poses"]);
    assert!(plain.get("against").is_none());

    let against = report["against"].as_object().unwrap();
    assert_eq!(against.keys().collect::<Vec<_>>(), ["arap", "paper"]);

    let poses: Vec<f64> = report["poses"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pose| pose["rms"].as_f64().unwrap())
        .collect();

    for rival in against.values() {
        let theirs: Vec<f64> = rival["rms"]
            .as_array()
            .unwrap()
            .iter()
            .map(|rms| rms.as_f64().unwrap())
            .collect();

        let better = poses
            .iter()
            .zip(&theirs)
            .filter(|(ours, theirs)| ours < theirs)
            .count();

        assert_eq!(rival["better"], better);
        assert_eq!(rival["pairs"], 4);

        // Four of four is the most that four poses can say: 2 / 2⁴.
        assert!(
            rival["sign_p"].as_f64().unwrap() >= 0.125
                && rival["rank_p"].as_f64().unwrap() >= 0.125
        );
    }

    let text =
        String::from_utf8(pliant(&["validate", &recipe, "--against", "all"]).stdout).unwrap();
    assert!(
        text.starts_with("auto     paper    feng     meshik   arap     pose\n")
            && text.contains("by signed ranks"),
        "{text}"
    );

    assert_eq!(
        pliant(&["validate", &recipe, "--against", "magic"])
            .status
            .code(),
        Some(2)
    );
}

#[test]
fn a_number_of_control_points_is_chosen_and_named() {
    let (folder, recipe) = studio_with("5", "");
    let model = inside(&folder, "m.safetensors");
    let report = json(&["learn", &recipe, "--out", &model]);
    let vertices = report["control_vertices"].as_array().unwrap().clone();

    assert!(report["control_points"] == 5 && vertices.len() == 5);
    let (other, named) = studio_with(&serde_json::to_string(&vertices).unwrap(), "");
    let again = inside(&other, "m.safetensors");
    json(&["learn", &named, "--out", &again]);

    assert_eq!(fs::read(&model).unwrap(), fs::read(&again).unwrap());
    let (folder, many) = studio_with("1000", "");
    refuses(
        &["learn", &many],
        &inside(&folder, "m.safetensors"),
        &["control_points", "1000", "81"],
    );
}

#[test]
fn exact_returns_the_examples_by_flag_and_by_recipe() {
    let (folder, model, file) = driven(&[points(0.1), points(0.3), points(-0.2)]);
    let out = inside(&folder, "out.npy");
    let farthest = || {
        let truth = [bent(0.1), bent(0.3), bent(-0.2)];
        let pairs = frames_of(&out)
            .into_iter()
            .flatten()
            .zip(truth.into_iter().flatten());
        pairs.map(|(a, b)| a.distance(b)).fold(0.0, f64::max)
    };

    json(&["drive", &model, "--points", &file, "--out", &out]);
    assert!(farthest() > 1e-6);
    json(&["drive", &model, "--points", &file, "--exact", "--out", &out]);

    // The points file and the clip are written as 32-bit numbers.
    assert!(farthest() < 1e-6, "{}", farthest());

    let (folder, recipe) = sheet_recipe("exact = true\n");
    let report = json(&["learn", &recipe, "--out", &inside(&folder, "m.safetensors")]);
    assert!(report["rms"].as_f64().unwrap() < 1e-9, "{report}");
}

#[test]
fn confidence_is_written_for_every_vertex_and_shown_as_colour() {
    let (folder, model, file) = driven(&[points(0.2), points(0.9)]);
    let out = inside(&folder, "out.glb");
    let sure = inside(&folder, "c.npy");
    let picture = inside(&folder, "c.png");

    let report = json(&[
        "drive",
        &model,
        "--points",
        &file,
        "--confidence",
        &sure,
        "--out",
        &out,
    ]);

    let array = npy::read(&fs::read(&sure).unwrap()).unwrap();
    assert_eq!(array.shape, [2, 81]);
    assert!(array.values.iter().all(|value| (0.0..=1.0).contains(value)));

    let mean = |k: usize| report["confidence"][k].as_f64().unwrap();
    assert!(mean(0) > mean(1), "{report}");

    let problems = report["problems"].to_string();
    assert!(
        problems.contains("outside what the examples show"),
        "{problems}"
    );
    json(&[
        "render", &out, "--frame", "1", "--scalar", &sure, "--out", &picture,
    ]);

    assert!(Path::new(&picture).exists());
    refuses(
        &["render", &out, "--frame", "7", "--scalar", &sure],
        &inside(&folder, "d.png"),
        &["7"],
    );
}

#[test]
fn a_method_without_confidence_is_refused() {
    let (folder, recipe) = sheet_recipe("method = \"arap\"\n");
    let model = inside(&folder, "m.safetensors");
    let file = inside(&folder, "p.npy");
    json(&["learn", &recipe, "--out", &model]);
    fs::write(&file, array(&[points(0.2)])).unwrap();

    let sure = inside(&folder, "c.npy");
    refuses(
        &["drive", &model, "--points", &file, "--confidence", &sure],
        &inside(&folder, "out.npy"),
        &["arap", "auto"],
    );

    assert!(!Path::new(&sure).exists());
}

#[test]
fn control_points_that_cannot_be_followed_are_named() {
    let mut torn = points(0.1);
    torn[3].z += 4.0;
    let (folder, model, file) = driven(&[points(0.1), torn]);
    let report = json(&[
        "drive",
        &model,
        "--points",
        &file,
        "--beta",
        "0.3",
        "--out",
        &inside(&folder, "out.npy"),
    ]);

    let problems = report["problems"].to_string();
    assert!(
        problems.contains("control point 3 (vertex 40) cannot be followed: in frame 1"),
        "{problems}"
    );

    let report = json(&[
        "drive",
        &model,
        "--points",
        &file,
        "--hard",
        "--out",
        &inside(&folder, "out.npy"),
    ]);

    assert!(
        !report["problems"]
            .to_string()
            .contains("cannot be followed"),
        "{report}"
    );
}

#[test]
fn secondary_motion_continues_after_a_stop_and_is_zero_at_rest() {
    let still = vec![points(0.1); 4];
    let (folder, model, file) = driven(&still);
    let plain = inside(&folder, "plain.npy");
    let swung = inside(&folder, "swung.npy");
    let compare = || {
        json(&["drive", &model, "--points", &file, "--out", &plain]);
        json(&[
            "drive", &model, "--points", &file, "--jiggle", "3,0.2", "--fps", "30", "--out", &swung,
        ]);
        (frames_of(&plain), frames_of(&swung))
    };

    let (before, after) = compare();
    assert!(before == after);

    let lifted = |k: usize| {
        points(0.1)
            .iter()
            .map(|p| *p + DVec3::Z * 0.1 * k.min(2) as f64)
            .collect::<Vec<_>>()
    };

    fs::write(&file, array(&(0..6).map(lifted).collect::<Vec<_>>())).unwrap();
    let (before, after) = compare();
    let apart = |frame: usize| {
        before[frame]
            .iter()
            .zip(&after[frame])
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f64::max)
    };

    assert!(
        (0..3).all(|frame| apart(frame) < 1e-12),
        "as long as the velocity is constant nothing swings"
    );
    assert!(apart(3) > 1e-3, "{}", apart(3));
    assert!(POINTS.iter().all(|&v| before[3][v] == after[3][v]));

    for (wrong, code) in [("x", 2), ("0", 1), ("3,-1", 1)] {
        let output = pliant(&[
            "drive",
            &model,
            "--points",
            &file,
            "--jiggle",
            wrong,
            "--out",
            &inside(&folder, "no.npy"),
        ]);
        assert_eq!(output.status.code(), Some(code), "{wrong}");
    }
}

struct StopAfter(AtomicUsize);

impl Progress for StopAfter {
    fn report(&self, _stage: &str, _done: f64) -> ControlFlow<()> {
        let left = self
            .0
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                left.checked_sub(1)
            });
        if left.is_ok() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }
}

#[test]
fn a_cancelled_run_is_continued_and_its_log_is_removed() {
    let (folder, recipe) = sheet_recipe("");
    let undisturbed = json(&["validate", &recipe]);
    assert_eq!(undisturbed["resumed"], 0);

    let job = LearnJob::load(
        &LearnRecipe::parse(&fs::read_to_string(&recipe).unwrap()).unwrap(),
        Some(folder.path()),
    )
    .unwrap();
    let all = StopAfter(usize::MAX.into());
    job.compare(&[], &mut job.log(), &all).unwrap();
    let reports = usize::MAX - all.0.into_inner();

    let mut log = job.log();
    job.compare(&[], &mut log, &StopAfter((reports / 2).into()))
        .unwrap_err();
    assert!(!log.is_empty());

    let partial = format!("{recipe}.partial");
    fs::write(&partial, log.to_text()).unwrap();
    let report = json(&["validate", &recipe]);

    assert_eq!(report["resumed"], log.len());
    assert_eq!(
        (&report["poses"], &report["mean_rms"]),
        (&undisturbed["poses"], &undisturbed["mean_rms"])
    );
    assert!(!Path::new(&partial).exists());
}

#[test]
fn a_log_of_another_recipe_gives_a_warning_and_is_kept() {
    let (folder, recipe) = sheet_recipe("");
    let model = inside(&folder, "m.safetensors");
    for (text, word) in [
        ("rubbish", "no log"),
        ("pliant-learn log 1\n0000000000000001\n", "other examples"),
    ] {
        fs::write(format!("{model}.partial"), text).unwrap();
        let report = json(&["learn", &recipe, "--out", &model]);
        assert!(
            report["resumed"] == 0 && report["problems"].to_string().contains(word),
            "{report}"
        );

        assert_eq!(
            fs::read_to_string(format!("{model}.partial")).unwrap(),
            text
        );
    }
}
