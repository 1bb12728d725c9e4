//! `pliant play`: performances on rigs.

#[allow(dead_code, reason = "other tests use the rest of the module")]
mod command;

use std::path::PathBuf;

use command::{folder, inside, json, pliant, refuses};
use pliant::io::performance::{PerformanceOptions, read_csv, write_csv};
use pliant::io::{Asset, LoadOptions, Shape, load};
use pliant::rig::{Channel, Performance, Timecode, WeightTrack};
use serde_json::Value;

/// The head specimen, and its performance at 30 frames per second.
fn head() -> (Asset, Performance) {
    let head = pliant_specimens::specimen("head").expect("a head ships with the product");
    let track = &head.performances[0].track;
    let end = *track.times_secs().last().unwrap();
    let count = (30.0 * end) as usize;
    let rows: Vec<Vec<f64>> = (0..count).map(|k| track.at(k as f64 / 30.0)).collect();
    let channels =
        head.rig.targets().iter().enumerate().map(|(k, target)| {
            Channel::new(&*target.name, rows.iter().map(|row| row[k]).collect())
        });
    let take = Performance::even("planted", 30.0, channels.collect()).unwrap();
    (Asset::from_rig(head.rig), take)
}

fn weights_in(file: &str) -> (Asset, WeightTrack) {
    let asset = load(file, &LoadOptions::default()).expect("a file that was just written");
    let Shape::Weights(track) = &asset.clips[0].motions[0].shape else {
        panic!("a clip of weights")
    };
    let track = track.clone();
    (asset, track)
}

fn texts(value: &Value) -> Vec<&str> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v.as_str().unwrap())
        .collect()
}

#[test]
fn a_planted_performance_comes_back_from_every_format_that_holds_curves() {
    let folder = folder();
    let (asset, take) = head();
    let csv = inside(&folder, "take.csv");
    std::fs::write(&csv, write_csv(&take)).unwrap();
    let names = asset.target_names();

    for ending in ["glb", "usda", "fbx"] {
        let out = inside(&folder, &format!("played.{ending}"));
        let report = json(&["play", "specimen:head", &csv, "--out", &out]);
        assert_eq!(report["frames"], take.frame_count(), "{ending}");
        assert_eq!(report["fps"], 30.0);
        assert_eq!(report["channels"].as_array().unwrap().len(), names.len());
        assert!(texts(&report["unmapped"]).is_empty());

        let (asset, track) = weights_in(&out);
        assert_eq!(asset.clips[0].frame_count, take.frame_count(), "{ending}");
        for (k, channel) in take.channels().iter().enumerate() {
            for (frame, value) in channel.values.iter().enumerate() {
                let found = track.at(asset.clips[0].time_secs(frame))[k];
                assert!(
                    (found - value.clamp(0.0, 1.0)).abs() < 1e-5,
                    "{ending}: {}",
                    channel.name
                );
            }
        }

        // The written clip is itself a performance.
        let again = inside(&folder, "again.csv");
        json(&["play", "specimen:head", &out, "--out", &again]);
        let read = read_csv(
            &std::fs::read(&again).unwrap(),
            &PerformanceOptions::default(),
        )
        .unwrap();
        for channel in take.channels() {
            let found = &read.channel(&channel.name).unwrap().values;
            for (a, b) in found.iter().zip(&channel.values) {
                assert!(
                    (a - b.clamp(0.0, 1.0)).abs() < 1e-5,
                    "{ending}: {}",
                    channel.name
                );
            }
        }
    }
}

#[test]
fn the_curves_of_invert_can_be_played() {
    let folder = folder();
    let keys = inside(&folder, "keys.json");
    json(&["invert", "specimen:head", "specimen:head", "--out", &keys]);
    let out = inside(&folder, "played.glb");
    let report = json(&["play", "specimen:head", &keys, "--out", &out]);
    assert!(report["frames"].as_u64().unwrap() > 20);
    let (_, track) = weights_in(&out);
    assert!(track.keys().iter().flatten().any(|w| *w > 0.3));
}

#[test]
fn a_map_file_is_written_edited_and_used() {
    let folder = folder();
    let csv = inside(&folder, "take.csv");
    let names = head().0.target_names();
    let table = format!(
        "Timecode,BlendShapeCount,{},mystery,HeadYaw\n01:00:00:00,3,0.5,0.2,0.1\n01:00:00:01,3,1,0.2,0.2\n",
        names[0]
    );
    std::fs::write(&csv, table).unwrap();

    let map = inside(&folder, "map.json");
    let report = json(&["play", "specimen:head", &csv, "--init", &map]);
    assert_eq!(texts(&report["unmapped"]), ["mystery"]);
    assert_eq!(report["timecode"], "01:00:00:00");

    let mut routes: Value = serde_json::from_slice(&std::fs::read(&map).unwrap()).unwrap();
    routes["channels"][0]["gain"] = 0.5.into();
    routes["channels"][0]["offset"] = 0.1.into();
    routes["channels"]
        .as_array_mut()
        .unwrap()
        .push(serde_json::json!({"from": "mystery", "to": names[1]}));
    std::fs::write(&map, routes.to_string()).unwrap();
    let out = inside(&folder, "played.json");
    json(&["play", "specimen:head", &csv, "--map", &map, "--out", &out]);
    let played: Value = serde_json::from_slice(&std::fs::read(&out).unwrap()).unwrap();
    let first = played["channels"][&names[0]][0].as_f64().unwrap();
    assert!((first - 0.35).abs() < 1e-12);
    assert_eq!(played["channels"][&names[1]][0], 0.2);
    assert_eq!(played["timecode"], "01:00:00:00");

    routes["channels"][0]["to"] = "nose".into();
    std::fs::write(&map, routes.to_string()).unwrap();
    refuses(
        &["play", "specimen:head", &csv, "--map", &map],
        &out.replace("played", "no"),
        &["nose"],
    );
    std::fs::write(&map, "{\"channels\": [{\"form\": \"a\"}]}").unwrap();
    refuses(
        &["play", "specimen:head", &csv, "--map", &map],
        &out.replace("played", "no"),
        &["form", "--init"],
    );
}

#[test]
fn a_calibration_take_sets_rest_and_range() {
    let folder = folder();
    let rom = inside(&folder, "rom.csv");
    std::fs::write(&rom, "frame,jawOpen\n0,0.1\n1,0.1\n2,0.6\n").unwrap();
    let file = inside(&folder, "face.json");
    std::fs::write(
        &file,
        r#"{"take": "rom.csv", "rest": [0, 1], "extremes": {"jawOpen": 2}}"#,
    )
    .unwrap();
    let out = inside(&folder, "played.json");
    json(&[
        "play",
        "specimen:head",
        &rom,
        "--calibrate",
        &file,
        "--out",
        &out,
    ]);
    let played: Value = serde_json::from_slice(&std::fs::read(&out).unwrap()).unwrap();
    let jaw: Vec<f64> = serde_json::from_value(played["channels"]["jawOpen"].clone()).unwrap();
    assert!(jaw[0].abs() < 1e-12 && (jaw[2] - 1.0).abs() < 1e-12);

    std::fs::write(
        &file,
        r#"{"take": "rom.csv", "rest": [0, 1], "extremes": {"jawOpen": 9}}"#,
    )
    .unwrap();
    let other = inside(&folder, "other.json");
    refuses(
        &["play", "specimen:head", &rom, "--calibrate", &file],
        &other,
        &["frame 9"],
    );
}

#[test]
fn the_head_rotates_and_everything_else_of_the_file_stays() {
    let folder = folder();
    let rig = inside(&folder, "head.glb");
    assert_eq!(
        pliant(&["convert", "specimen:head", &rig]).status.code(),
        Some(0)
    );
    let csv = inside(&folder, "take.csv");
    std::fs::write(&csv, "time,jawOpen,HeadYaw\n0,0,0\n0.5,0,0.4\n").unwrap();
    let out = inside(&folder, "played.glb");
    let report = json(&["play", &rig, &csv, "--out", &out]);
    assert_eq!(report["rotations"][0]["part"], "head");
    assert_eq!(report["rotations"][0]["moves"], "the mesh");

    let before = load(&rig, &LoadOptions::default()).unwrap();
    let after = load(&out, &LoadOptions::default()).unwrap();
    assert_eq!(before.target_names(), after.target_names());
    let rest = before.mesh().unwrap();
    let take = after
        .clips
        .iter()
        .position(|clip| clip.name == "take")
        .unwrap();
    let last = after.clips[take].frame_count - 1;
    let turned = after.clip_positions(take, last).unwrap();
    let nose = (0..rest.vertex_count())
        .max_by(|&a, &b| rest.positions()[a].z.total_cmp(&rest.positions()[b].z))
        .unwrap();
    let left = before.mesh().unwrap().bounds().unwrap();
    assert!(left.max.x > 0.0, "the head looks along z");
    assert!(
        turned[nose].x < rest.positions()[nose].x,
        "a positive yaw is to the right"
    );
}

#[test]
fn a_performance_of_one_rig_plays_in_the_sliders_of_another() {
    let folder = folder();
    let (_, take) = head();
    let csv = inside(&folder, "take.csv");
    std::fs::write(&csv, write_csv(&take)).unwrap();
    let out = inside(&folder, "played.json");
    let report = json(&[
        "play",
        "specimen:head",
        &csv,
        "--via",
        "specimen:head",
        "--out",
        &out,
    ]);
    let fit = &report["retarget"];
    let (rms, motion) = (
        fit["rms"].as_f64().unwrap(),
        fit["motion_rms"].as_f64().unwrap(),
    );
    assert!(rms < 0.05 * motion, "{rms} of {motion}");
}

#[test]
fn a_sound_moves_the_mouth() {
    let folder = folder();
    let wav = inside(&folder, "speech.wav");
    // A second of silence, then a second of pulses.
    let samples = (0..32_000).map(|k| {
        if k > 16_000 && k % 145 < 20 {
            8000_i16
        } else {
            0
        }
    });
    let data: Vec<u8> = samples.flat_map(i16::to_le_bytes).collect();
    let mut bytes =
        b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x80\x3e\0\0\0\x7d\0\0\x02\0\x10\0data"
            .to_vec();
    bytes.extend((data.len() as u32).to_le_bytes());
    bytes.extend(data);
    std::fs::write(&wav, bytes).unwrap();
    let out = inside(&folder, "played.json");
    let report = json(&["play", "specimen:head", &wav, "--out", &out]);
    assert!(
        report["problems"][0]
            .as_str()
            .unwrap()
            .contains("estimated")
    );
    let played: Value = serde_json::from_slice(&std::fs::read(&out).unwrap()).unwrap();
    let jaw = played["channels"]["jawOpen"].as_array().unwrap();
    assert!(jaw[20].as_f64().unwrap() < 1e-6 && jaw[90].as_f64().unwrap() > 0.05);
}

#[test]
fn damaged_and_foreign_files_are_refused_in_one_line() {
    let folder = folder();
    let csv = inside(&folder, "take.csv");
    let out = inside(&folder, "out.glb");
    for (text, words) in [
        ("frame,jawOpen\n1,0.5,7\n", &["line 2", "header has 2"][..]),
        (
            "frame,jawOpen\n1,half\n2,1\n",
            &["line 2", "'jawOpen'", "'half'"],
        ),
        ("frame,tail\n1,0.5\n", &["tail", "--map"]),
        ("A_x,A_y,A_z\n1,2,3\n", &["markers (A)", "--markers"]),
    ] {
        std::fs::write(&csv, text).unwrap();
        refuses(&["play", "specimen:head", &csv], &out, words);
    }
    refuses(&["play", "specimen:head", "specimen:hand"], &out, &["hand"]);
    let usage = pliant(&["play", "specimen:head", &csv]);
    assert_eq!(usage.status.code(), Some(2), "neither --init nor --out");
}

#[test]
fn a_real_take_plays_on_real_heads() {
    let Some(data) = std::env::var_os("PLIANT_DATA").map(PathBuf::from) else {
        #[allow(clippy::print_stderr, reason = "a skipped test says why")]
        {
            eprintln!("skipped: PLIANT_DATA is not set, so no take is read");
        }
        return;
    };
    let take = data.join("mocap/livelinkface-alex_rom_3.csv");
    let facecap = data.join("facecap-head/facecap-plain.glb");
    let makehuman = format!(
        "{}+expression-units-caucasian",
        data.join("makehuman-face/base.obj").display()
    );
    let folder = folder();
    let out = inside(&folder, "weights.csv");

    for (rig, least) in [(facecap.to_str().unwrap(), 52), (&*makehuman, 20)] {
        let report = json(&["play", rig, take.to_str().unwrap(), "--out", &out]);
        assert_eq!(report["fps"], 30.0);
        // 13:13:04:31.652 to 13:15:18:54.561 at 60 labels per second are 4,031.45 frames.
        assert_eq!(report["frames"], 4032);
        assert_eq!(report["dropped"], 3);
        assert!(
            report["channels"].as_array().unwrap().len() >= least,
            "{rig}"
        );
    }

    // The file itself comes back, label by label.
    let bytes = std::fs::read(&take).unwrap();
    let read = read_csv(&bytes, &PerformanceOptions::default()).unwrap();
    let again = String::from_utf8(write_csv(&read)).unwrap();
    let source = String::from_utf8(bytes).unwrap();
    for (a, b) in again.lines().zip(source.lines()).skip(1) {
        let label = |line: &str| Timecode::parse(line.split(',').next().unwrap()).unwrap();
        assert_eq!(label(a), label(b));
    }
}
