//! `pliant invert`: slider curves from moving meshes and markers.

use std::process::{Command, Output};

use pliant::io::{Asset, LoadOptions, Shape, load, npy, save};
use pliant::mesh::glam::{DQuat, DVec3};
use pliant::rig::{Clip, Rig, WeightTrack};
use serde_json::Value;
use tempfile::TempDir;

fn pliant(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pliant"))
        .args(args)
        .output()
        .expect("the command starts")
}

fn json(args: &[&str]) -> Value {
    let output = pliant(&[args, &["--json"]].concat());
    assert_eq!(
        output.status.code(),
        Some(0),
        "{args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("one JSON object on stdout")
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn path(folder: &TempDir, name: &str) -> String {
    folder
        .path()
        .join(name)
        .to_str()
        .expect("a temporary path in UTF-8")
        .to_owned()
}

/// The head, the weights of its performance, and the performance as plain positions.
fn performance() -> (Rig, WeightTrack, Clip) {
    let head = pliant_specimens::specimen("head").expect("a head ships with the product");
    let track = head.performances[0].track.clone();
    let frames = track
        .keys()
        .iter()
        .map(|weights| head.rig.evaluate(weights))
        .collect();
    let clip = Clip::new("baked", head.rig.neutral().clone(), frames).unwrap();
    (head.rig, track, clip)
}

fn clip_file(folder: &TempDir, clip: &Clip) -> String {
    let file = path(folder, "baked.reference.obj+baked.frames.npy");
    save(&Asset::from_clip(clip), &file).unwrap();
    path(folder, "baked.reference.obj+baked.frames.npy")
}

fn weights_in(file: &str) -> (Asset, WeightTrack) {
    let asset = load(file, &LoadOptions::default()).expect("a file that was just written");
    let Shape::Weights(track) = &asset.clips[0].motions[0].shape else {
        panic!("a clip of weights")
    };
    let track = track.clone();
    (asset, track)
}

#[test]
fn the_performance_of_the_head_is_recovered_from_its_positions() {
    let folder = folder();
    let (rig, planted, clip) = performance();
    let out = path(&folder, "weights.glb");
    let report = json(&[
        "invert",
        "specimen:head",
        &clip_file(&folder, &clip),
        "--out",
        &out,
    ]);

    let tolerance = 1e-3;
    let (asset, track) = weights_in(&out);
    let frames = planted.keys().len();

    assert_eq!(report["frames"], frames);
    assert_eq!(asset.clips[0].frame_count, frames);

    let mut square = 0.0;
    for (time, row) in planted.times_secs().iter().zip(planted.keys()) {
        square += track
            .at(*time)
            .iter()
            .zip(row)
            .map(|(found, planted)| (found - planted).powi(2))
            .sum::<f64>();
    }

    let rms = (square / (frames * rig.targets().len()) as f64).sqrt();
    assert!(rms < 5.0 * tolerance, "weights are {rms} away");

    let size = rig.neutral().bounds().unwrap().diagonal();
    assert!(
        report["max"].as_f64().unwrap() < 1e-3 * size
            && report["rms"].as_f64().unwrap() <= report["max"].as_f64().unwrap()
    );
    assert_eq!(report["converged"], true);

    let moving = (0..rig.targets().len())
        .filter(|&k| planted.keys().iter().any(|row| row[k] > 0.05))
        .count();
    let used = report["sliders_used"].as_u64().unwrap() as usize;

    assert!(
        used >= moving && report["keys"].as_u64().unwrap() < (frames * used) as u64,
        "{used} sliders of {moving}"
    );
}

#[test]
fn the_rigid_motion_of_a_nodding_head_is_recovered() {
    let folder = folder();
    let (_, _, clip) = performance();
    let nod = |t: usize, p: DVec3| {
        DQuat::from_rotation_x(0.2 * (0.2 * t as f64).sin()) * p + DVec3::Y * 0.01 * t as f64
    };
    let frames = clip
        .frames()
        .iter()
        .enumerate()
        .skip(20)
        .step_by(6)
        .map(|(t, frame)| frame.iter().map(|p| nod(t, *p)).collect());

    let nodding = Clip::new("nod", clip.reference().clone(), frames.collect()).unwrap();
    let out = path(&folder, "nod.usda");
    let file = clip_file(&folder, &nodding);
    let report = json(&[
        "invert",
        "specimen:head",
        &file,
        "--align",
        "--tolerance",
        "1e-4",
        "--out",
        &out,
    ]);

    assert_eq!(
        report["motions"].as_array().unwrap().len(),
        nodding.frames().len()
    );

    let size = clip.reference().bounds().unwrap().diagonal();
    assert!(
        report["max"].as_f64().unwrap() < 2e-3 * size,
        "{}",
        report["max"]
    );

    let (asset, _) = weights_in(&out);
    for (t, frame) in nodding.frames().iter().enumerate() {
        let found = asset.frame_positions(t).unwrap();
        let worst = found
            .iter()
            .zip(frame)
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f64::max);
        assert!(worst < 3e-3 * size, "frame {t}: {worst}");
    }
}

#[test]
fn only_moving_sliders_get_keys() {
    let folder = folder();
    let (rig, _, clip) = performance();
    let blink = rig.slider_named("eyeBlinkLeft").unwrap().index();
    let pose = |weight: f64| {
        let mut weights = vec![0.0; rig.targets().len()];
        weights[blink] = weight;
        rig.evaluate(&weights)
    };

    let frames = [0.0, 0.0, 0.0, 0.5, 1.0, 0.5, 0.0, 0.0, 0.0]
        .map(pose)
        .to_vec();
    let blinking = Clip::new("blink", clip.reference().clone(), frames)
        .unwrap()
        .with_frames_per_second(24.0);

    let out = path(&folder, "keys.json");
    let report = json(&[
        "invert",
        "specimen:head",
        &clip_file(&folder, &blinking),
        "--roughness",
        "0",
        "--out",
        &out,
    ]);

    let keys: Value = serde_json::from_slice(&std::fs::read(&out).unwrap()).unwrap();
    assert_eq!(keys["fps"], 24.0);

    let sliders = keys["sliders"].as_object().unwrap();
    assert_eq!(sliders.keys().collect::<Vec<_>>(), ["eyeBlinkLeft"]);

    let blink = sliders["eyeBlinkLeft"].as_array().unwrap();
    assert_eq!(
        (blink.len(), report["keys"].as_u64().unwrap()),
        (5, 5),
        "{blink:?}"
    );

    assert!(
        (blink[2][0].as_f64().unwrap() - 4.0 / 24.0).abs() < 1e-9
            && (blink[2][1].as_f64().unwrap() - 1.0).abs() < 2e-3
    );
}

#[test]
fn markers_on_a_few_vertices_move_the_right_sliders() {
    let folder = folder();
    let (rig, _, clip) = performance();
    let jaw = rig.slider_named("jawOpen").unwrap().index();
    let mut weights = vec![0.0; rig.targets().len()];

    weights[jaw] = 0.5;
    let moved = rig.evaluate(&weights);
    let markers: Vec<usize> = (0..moved.len()).step_by(40).collect();

    let mut values: Vec<f64> = Vec::new();
    for frame in [clip.reference().positions(), &moved, &moved] {
        for &v in markers.iter() {
            values.extend(frame[v].to_array());
        }
    }

    values[0..3].fill(f64::NAN);
    let array = path(&folder, "points.npy");
    std::fs::write(
        &array,
        npy::write_f64(&[3, markers.len(), 3], values.iter().copied()),
    )
    .unwrap();

    let list: Vec<String> = markers.iter().map(usize::to_string).collect();
    let out = path(&folder, "weights.glb");
    let report = json(&[
        "invert",
        "specimen:head",
        &array,
        "--markers",
        &list.join(","),
        "--fps",
        "30",
        "--roughness",
        "0",
        "--out",
        &out,
    ]);

    assert_eq!(
        (report["frames"].as_u64(), report["fps"].as_f64()),
        (Some(3), Some(30.0))
    );

    let (_, track) = weights_in(&out);
    assert!(
        (track.at(2.0 / 30.0)[jaw] - 0.5).abs() < 0.02 && track.at(0.0)[jaw].abs() < 0.02,
        "{}",
        track.at(2.0 / 30.0)[jaw]
    );
}

#[test]
fn a_clip_of_another_mesh_is_refused_with_both_counts() {
    let folder = folder();
    let out = path(&folder, "w.glb");
    let refused = |args: &[&str], words: &[&str]| {
        let output = pliant(args);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{message}");
        for word in words.iter() {
            assert!(message.contains(word), "'{word}' in: {message}");
        }
    };

    let (rig, _, clip) = performance();
    let still = path(&folder, "still.obj");
    save(&Asset::from_mesh(clip.reference().clone()), &still).unwrap();
    refused(
        &["invert", "specimen:head", &still, "--out", &out],
        &["no clip"],
    );

    refused(&["invert", &still, &still, "--out", &out], &["no targets"]);
    refused(
        &[
            "invert",
            "specimen:head",
            "specimen:head",
            "--lock",
            "jawOpne",
            "--out",
            &out,
        ],
        &["jawOpne", "jawOpen"],
    );

    let bar = pliant_specimens::specimen("bar")
        .expect("a bar ships with the product")
        .rig
        .neutral()
        .clone();
    let count = rig.neutral().vertex_count();
    let other = bar.vertex_count();
    let short = Clip::new("bar", bar.clone(), vec![bar.positions().to_vec()]).unwrap();

    refused(
        &[
            "invert",
            "specimen:head",
            &clip_file(&folder, &short),
            "--out",
            &out,
        ],
        &[&count.to_string(), &other.to_string()],
    );
}
