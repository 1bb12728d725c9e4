//! The Capture panel: packets over the loopback interface move the character and become a take.

mod journey;

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use eframe::egui::accesskit::Role;
use egui_kittest::kittest::Queryable;
use journey::Journey;
use pliant::io::performance::live::encode_live_link;
use pliant_studio::model::document::Document;
use pliant_studio::model::room::RoomName;
use pliant_studio::model::timeline::TakeFrames;

fn head() -> Document {
    let mut document = Document::default();
    document.character.asset = "specimen:head".into();
    document
}

/// A port that was free a moment ago.
fn free_port() -> u16 {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    socket.local_addr().unwrap().port()
}

/// Sends frames until the window shows what is wanted.
fn send_until(journey: &mut Journey, port: u16, frame: &mut i32, shown: impl Fn(&Journey) -> bool) {
    let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
    let began = Instant::now();
    loop {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "nothing is shown"
        );
        for _ in 0..4 {
            *frame += 1;
            let open = 0.5 - 0.5 * (*frame as f32 / 10.0).cos();
            let packet = encode_live_link("phone", *frame, 60, |name| match name {
                "JawOpen" => 0.1 + 0.8 * open,
                _ => 0.0,
            });
            sender.send_to(&packet, ("127.0.0.1", port)).unwrap();
        }
        std::thread::sleep(Duration::from_millis(4));
        journey.harness.step();
        if shown(journey) {
            return;
        }
    }
}

/// A picture for the eye, in the folder that `PLIANT_PICTURES` names; its numbers differ from run to
/// run, so it is not compared.
fn picture(journey: &mut Journey, name: &str) {
    if let Some(folder) = std::env::var_os("PLIANT_PICTURES") {
        let image = journey.harness.render().expect("a picture");
        let path = std::path::Path::new(&folder).join(format!("capture-{name}.png"));
        image.save(path).expect("a folder that can be written");
    }
}

#[test]
fn a_performance_is_shown_calibrated_recorded_and_cleaned() {
    let Some(mut journey) = Journey::start(head(), RoomName::Pose) else {
        return;
    };
    journey.click("View");
    journey.click("Capture");
    journey.settle();
    let port = free_port();
    let field = journey
        .harness
        .get_by_role_and_label(Role::SpinButton, "Port");
    field.set_value_accesskit(f64::from(port));
    journey.settle();
    journey.click("Listen");

    let mut frame = 0;
    let sees = |label: &'static str| move |j: &Journey| j.harness.query_by_label(label).is_some();
    send_until(&mut journey, port, &mut frame, sees("Record"));
    journey.click("Calibrate");
    let last = frame + 120;
    for _ in 0..40 {
        send_until(&mut journey, port, &mut frame, |_| true);
    }
    assert!(frame > last);
    journey.click("Range complete");
    assert!(
        journey
            .harness
            .query_by_label("Clear calibration")
            .is_some()
    );

    journey.click("Record");
    for _ in 0..40 {
        send_until(&mut journey, port, &mut frame, |_| true);
    }
    picture(&mut journey, "recording");
    journey.click("Stop recording");

    let recorded = journey.document();
    let take = recorded.timeline.takes.last().expect("a take");
    assert_eq!(recorded.timeline.playing_take.as_ref(), Some(&take.name));
    assert!((take.frames_per_second - 60.0).abs() < 1e-9);
    assert!(take.frame_count > 60, "{}", take.frame_count);
    let TakeFrames::Weights(weights) = &take.frames else {
        panic!("weights")
    };
    let jaw = weights
        .sliders
        .iter()
        .position(|name| name == "jawOpen")
        .unwrap();
    let column = |k: u32| weights.row(k as usize).unwrap()[jaw];
    let greatest = (0..take.frame_count).map(column).fold(0.0, f64::max);
    assert!(greatest > 0.97, "calibrated to the whole range: {greatest}");

    picture(&mut journey, "take");
    journey.click("Clean all");
    let cleaned = journey.document();
    assert_ne!(cleaned.timeline.takes.last(), Some(take));
    journey.undo();
    assert_eq!(journey.document().timeline.takes.last(), Some(take));
    journey.click("Few keys");
    let keyed = journey.document();
    assert_eq!(keyed.timeline.playing_take, None);
    assert!(keyed.timeline.keys["jawOpen"].len() > 3);
    journey.click("Stop listening");
    assert!(journey.harness.query_by_label("Listen").is_some());
}

#[test]
fn a_dropped_table_becomes_a_take() {
    let Some(mut journey) = Journey::start(head(), RoomName::Pose) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("interview.csv");
    let mut table = String::from("Timecode,BlendShapeCount,JawOpen,EyeBlinkLeft\n");
    for k in 0..90 {
        let jaw = 0.5 - 0.5 * (f64::from(k) / 8.0).cos();
        table += &format!("00:00:{:02}:{:02},2,{jaw},0.1\n", k / 30, k % 30);
    }
    std::fs::write(&path, table).unwrap();
    journey.drop_files(std::slice::from_ref(&path));
    let document = journey.document();
    assert_eq!(document.timeline.playing_take.as_deref(), Some("interview"));
    assert_eq!(document.timeline.takes[0].frame_count, 90);
    assert_eq!(document.timeline.frames_per_second, 30.0);
}
