//! `pliant listen`: packets over the loopback interface, recorded and played.

#[allow(dead_code, reason = "other tests use the rest of the module")]
mod command;

use std::net::UdpSocket;
use std::process::{Command, Stdio};
use std::time::Duration;

use command::{folder, inside, json};
use pliant::io::performance::live::encode_live_link;
use pliant::io::performance::{PerformanceOptions, read_csv};
use serde_json::Value;

/// A port that was free a moment ago.
fn free_port() -> u16 {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    socket.local_addr().unwrap().port()
}

#[test]
fn a_stream_with_loss_disorder_and_rubbish_becomes_a_take_that_plays() {
    let folder = folder();
    let port = free_port();
    let record = inside(&folder, "take.csv");
    let mut child = Command::new(env!("CARGO_BIN_EXE_pliant"))
        .args([
            "listen",
            "--rig",
            "specimen:head",
            "--record",
            &record,
            "--json",
        ])
        .args([
            "--port",
            &port.to_string(),
            "--frames",
            "100",
            "--secs",
            "30",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the command starts");

    let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
    let send = |bytes: &[u8]| {
        // Nobody listens before the rig is loaded.
        let _ = sender.send_to(bytes, ("127.0.0.1", port));
    };
    let mut frame = 0;
    while child.try_wait().unwrap().is_none() {
        frame += 1;
        assert!(frame < 20_000, "the command did not end");
        let open = 0.5 - 0.5 * (frame as f32 / 10.0).cos();
        let packet = encode_live_link("phone", frame, 60, |name| {
            if name == "JawOpen" { open } else { 0.0 }
        });
        if frame % 10 != 0 {
            send(&packet);
        }
        if frame % 7 == 0 {
            send(&packet);
            send(&packet[..packet.len() / 2]);
            send(&[0xff; 40]);
        }
        std::thread::sleep(Duration::from_millis(2));
    }

    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["frames"], 100);
    assert!(report["lost"].as_u64().unwrap() >= 5, "{report}");
    assert!(report["late"].as_u64().unwrap() >= 5, "{report}");
    assert!(report["unreadable"].as_u64().unwrap() >= 5, "{report}");

    let take = read_csv(
        &std::fs::read(&record).unwrap(),
        &PerformanceOptions::default(),
    )
    .unwrap();
    assert_eq!(take.frame_count(), 100);
    assert!(!take.dropped_frames().is_empty());
    let out = inside(&folder, "played.glb");
    let played = json(&["play", "specimen:head", &record, "--clean", "--out", &out]);
    assert!(played["frames"].as_u64().unwrap() > 100);
}

#[test]
fn silence_leaves_no_file() {
    let folder = folder();
    let record = inside(&folder, "take.csv");
    let output = Command::new(env!("CARGO_BIN_EXE_pliant"))
        .args(["listen", "--rig", "specimen:head", "--record", &record])
        .args(["--port", "0", "--secs", "0.2"])
        .output()
        .expect("the command starts");
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("no frame came to 127.0.0.1:"), "{message}");
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}
