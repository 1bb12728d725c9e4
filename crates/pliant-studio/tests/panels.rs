//! Sliders, keys and curves, by label and pointer.

mod journey;

use eframe::egui::{
    Event, Key, Modifiers, OutputCommand, PointerButton, Pos2, Role, Vec2, pos2, vec2,
};
use egui_kittest::kittest::Queryable;
use journey::Journey;
use pliant_studio::model::document::Document;
use pliant_studio::model::room::RoomName;

fn head() -> Document {
    let mut document = Document::default();
    document.character.asset = "specimen:head".into();
    document
}

fn weight(journey: &Journey, slider: &str) -> f64 {
    journey
        .document()
        .character
        .weights
        .get(slider)
        .copied()
        .unwrap_or(0.0)
}

fn search(journey: &mut Journey, text: &str) {
    journey.harness.get_by_label("Search sliders").focus();
    journey.settle();
    journey.press(Modifiers::COMMAND, Key::A);
    journey
        .harness
        .get_by_label("Search sliders")
        .type_text(text);
    journey.settle();
    journey.press(Modifiers::NONE, Key::Enter);
}

fn set(journey: &mut Journey, label: &str, value: f64) {
    journey
        .harness
        .get_by_label(label)
        .set_value_accesskit(value);
    journey.settle();
}

#[test]
fn sliders_are_found_moved_mirrored_locked_and_muted() {
    let Some(mut journey) = Journey::start(head(), RoomName::Pose) else {
        return;
    };

    search(&mut journey, "smile left");
    assert!(
        journey.harness.query_by_label("mouthSmileRight").is_none(),
        "only what was searched for"
    );
    set(&mut journey, "mouthSmileLeft", 0.6);

    assert_eq!(
        (
            weight(&journey, "mouthSmileLeft"),
            weight(&journey, "mouthSmileRight")
        ),
        (0.6, 0.0)
    );

    journey.click("Mirror");
    let bar = journey.rect("mouthSmileLeft");
    journey.drag(&[
        bar.center(),
        bar.center() - bar.size() * 0.1,
        pos2(bar.center().x - 0.25 * bar.width(), bar.center().y),
    ]);

    let moved = weight(&journey, "mouthSmileLeft");
    assert!(
        (moved - 0.35).abs() < 0.06,
        "a quarter of the bar is a quarter of the way: {moved}"
    );

    assert_eq!(
        weight(&journey, "mouthSmileRight"),
        moved,
        "the partner comes along"
    );
    journey.undo();

    assert_eq!(
        (
            weight(&journey, "mouthSmileLeft"),
            weight(&journey, "mouthSmileRight")
        ),
        (0.6, 0.0),
        "one drag, one step"
    );

    journey.redo();
    set(&mut journey, "mouthSmileLeft", 7.0);
    assert_eq!(weight(&journey, "mouthSmileLeft"), 1.0, "inside its limits");
    journey.click("Lock mouthSmileLeft");
    journey.click("Mute mouthSmileLeft");

    let character = journey.document().character;
    assert!(
        character.locked.contains("mouthSmileLeft") && character.muted.contains("mouthSmileLeft")
    );
    journey.click("Reset all");

    assert_eq!(
        (
            weight(&journey, "mouthSmileLeft"),
            weight(&journey, "mouthSmileRight")
        ),
        (1.0, 0.0),
        "locked ones stay"
    );
}

#[test]
fn keys_are_set_scrubbed_moved_and_undone() {
    let Some(mut journey) = Journey::start(head(), RoomName::Pose) else {
        return;
    };

    search(&mut journey, "jawOpen");
    journey.click("Key jawOpen");
    set(&mut journey, "Frame", 24.0);
    set(&mut journey, "jawOpen", 0.8);
    journey.press(Modifiers::NONE, Key::K);

    let keyed = journey.document();
    let keys: Vec<(u32, f64)> = keyed.timeline.keys["jawOpen"]
        .iter()
        .map(|key| (key.frame, key.weight))
        .collect();

    assert_eq!(keys, [(0, 0.0), (24, 0.8)]);
    assert_eq!(keyed.timeline.keys.len(), 1, "only the slider that changed");
    set(&mut journey, "Frame", 12.0);

    assert!(
        (weight(&journey, "jawOpen") - 0.4).abs() < 1e-12,
        "half the way at half the time"
    );
    journey.undo();

    assert_eq!(journey.document().timeline.keys["jawOpen"].len(), 1);
    assert_eq!(
        weight(&journey, "jawOpen"),
        0.0,
        "the curve that is left is still at zero at this frame"
    );

    journey.redo();
    assert!((weight(&journey, "jawOpen") - 0.4).abs() < 1e-12);
    assert_eq!(journey.document().timeline.keys, keyed.timeline.keys);
    move_last_key(&mut journey);

    let text = serde_json::to_string(&journey.document()).unwrap();
    assert_eq!(
        serde_json::from_str::<Document>(&text).unwrap(),
        journey.document()
    );
}

/// Drags the diamond of frame 24 to frame 36, where the ruler runs from 0 to 48.
fn move_last_key(journey: &mut Journey) {
    let ruler = journey.rect("Ruler").shrink(8.0);
    let row = journey.rect("Curve of jawOpen");
    let at = |frame: f32| pos2(ruler.left() + ruler.width() * frame / 48.0, row.center().y);

    journey.drag(&[at(24.0), at(28.0), at(33.0), at(36.0)]);
    let frames: Vec<u32> = journey.document().timeline.keys["jawOpen"]
        .iter()
        .map(|key| key.frame)
        .collect();

    assert_eq!(frames, [0, 36]);
    assert!(
        weight(journey, "jawOpen") < 0.4,
        "the pose follows its curve"
    );
    journey.press(Modifiers::NONE, Key::Delete);

    assert_eq!(
        journey.document().timeline.keys["jawOpen"].len(),
        1,
        "the key that was moved is selected, and deleted"
    );
    journey.undo();

    assert_eq!(journey.document().timeline.keys["jawOpen"][1].frame, 36);
    journey.undo();
    assert_eq!(
        journey.document().timeline.keys["jawOpen"][1].frame,
        24,
        "one drag, one step"
    );

    journey.redo();
}

#[test]
fn a_clip_of_the_file_plays_and_becomes_keys() {
    let mut document = head();
    document.timeline.playing_take = Some("performance".into());
    let Some(mut journey) = Journey::start(document, RoomName::Pose) else {
        return;
    };

    set(&mut journey, "Frame", 20.0);
    assert!(
        journey.document().character.weights.is_empty(),
        "a clip is shown, not kept"
    );
    journey.click("Edit as keys");

    let document = journey.document();
    assert_eq!(document.timeline.playing_take, None);
    assert!(document.timeline.keys.contains_key("jawOpen"));
    assert!(
        !document.character.weights.is_empty(),
        "the sliders follow the keys now"
    );

    journey.click("Curves");
    journey.picture("panels_curves");
}

/// Drags a pin. While it is held the room asks again in every frame, so only after it is let go
/// there is an end to wait for.
fn drag_pin(journey: &mut Journey, from: Pos2, by: Vec2) {
    let button = |pos, pressed| Event::PointerButton {
        pos,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };

    let moves = (0..=8).map(|k| Event::PointerMoved(from + by * (k as f32 / 8.0)));
    for event in [Event::PointerMoved(from), button(from, true)]
        .into_iter()
        .chain(moves)
        .chain([button(from + by, false)])
    {
        journey.harness.event(event);
        journey.harness.step();
        std::thread::sleep(std::time::Duration::from_millis(60));
    }

    journey.settle();
}

#[test]
fn the_panels_match_their_picture_after_a_drag() {
    let mut document = head();
    for (slider, frame, weight) in [
        ("jawOpen", 0, 0.0),
        ("jawOpen", 12, 0.3),
        ("browInnerUp", 6, 0.0),
        ("browInnerUp", 30, 0.8),
        ("jawOpen", 40, 0.0),
    ] {
        document.timeline.set_key(slider, frame, weight);
    }

    let Some(mut journey) = Journey::start(document, RoomName::Pose) else {
        return;
    };

    set(&mut journey, "Frame", 18.0);
    let view = journey
        .harness
        .get_by_role_and_label(Role::Canvas, "Pose")
        .rect();
    let corner = view.center() + vec2(0.06, 0.14) * view.height();

    drag_pin(&mut journey, corner, vec2(24.0, -22.0));
    let moved = journey.document().character.weights;
    assert!(!moved.is_empty(), "the drag moved sliders");
    journey.picture("panels_dark");
    journey.click("View");
    journey.click("Light");
    journey.press(Modifiers::NONE, Key::Escape);
    journey.picture("panels_light");
}

/// What was put on the clipboard in the last frame.
fn copied(journey: &Journey) -> Option<String> {
    journey
        .harness
        .output()
        .platform_output
        .commands
        .iter()
        .find_map(|command| match command {
            OutputCommand::CopyText(text) => Some(text.clone()),
            _ => None,
        })
}

fn keys_of(journey: &Journey, slider: &str) -> Vec<(u32, f64)> {
    journey.document().timeline.keys[slider]
        .iter()
        .map(|key| (key.frame, key.weight))
        .collect()
}

#[test]
fn selected_keys_are_copied_and_pasted_at_the_shown_frame_as_one_step() {
    let mut document = head();
    for (frame, weight) in [(0, 0.0), (4, 0.7), (8, 0.2)] {
        document.timeline.set_key("jawOpen", frame, weight);
    }

    let Some(mut journey) = Journey::start(document, RoomName::Pose) else {
        return;
    };

    journey.harness.event(Event::Copy);
    journey.harness.step();
    assert_eq!(copied(&journey), None, "nothing is selected");

    let ruler = journey.rect("Ruler");
    let rows = journey.rect("Keys over time");
    // The ruler reaches 8 points beyond its first and last frame.
    let x = |frame: f32| ruler.left() + 8.0 + (ruler.width() - 16.0) * frame / 48.0;
    journey.drag(&[
        pos2(x(2.0), rows.top() + 20.0),
        pos2(x(6.0), rows.top() + 30.0),
        pos2(x(10.0), rows.top() + 34.0),
    ]);

    journey.harness.event(Event::Copy);
    journey.harness.step();
    let text = copied(&journey).expect("two keys are on the clipboard");
    journey.settle();
    set(&mut journey, "Frame", 46.0);
    journey.harness.event(Event::Paste(text));
    journey.settle();

    assert_eq!(
        keys_of(&journey, "jawOpen"),
        [(0, 0.0), (4, 0.7), (8, 0.2), (46, 0.7), (50, 0.2)]
    );

    assert_eq!(
        journey.document().timeline.last_frame,
        50,
        "what is pasted is in sight"
    );
    journey.undo();

    assert_eq!(
        keys_of(&journey, "jawOpen"),
        [(0, 0.0), (4, 0.7), (8, 0.2)],
        "one step"
    );
    journey.harness.event(Event::Paste("no keys".into()));
    journey.settle();

    assert_eq!(keys_of(&journey, "jawOpen").len(), 3);
}

#[test]
fn while_keys_play_no_slider_counts_as_changed() {
    let mut document = head();
    document.timeline.set_key("jawOpen", 0, 0.0);
    document.timeline.set_key("jawOpen", 48, 1.0);

    let Some(mut journey) = Journey::start(document.clone(), RoomName::Pose) else {
        return;
    };

    journey.harness.key_press(Key::Space);
    for _ in 0..6 {
        journey.harness.step();
    }

    assert!(weight(&journey, "jawOpen") > 0.0, "it plays");
    journey.harness.key_press(Key::K);
    journey.harness.step();
    journey.harness.key_press(Key::Space);
    journey.settle();

    assert_eq!(journey.document().timeline.keys, document.timeline.keys);
}

#[test]
fn sliders_stay_where_they_are_when_the_explanation_comes() {
    let Some(mut journey) = Journey::start(head(), RoomName::Pose) else {
        return;
    };

    let before = journey.rect("Search sliders");
    let view = journey
        .harness
        .get_by_role_and_label(Role::Canvas, "Pose")
        .rect();

    drag_pin(
        &mut journey,
        view.center() + vec2(0.06, 0.14) * view.height(),
        vec2(24.0, -22.0),
    );

    assert_eq!(journey.rect("Search sliders"), before);
    journey.click("Explain");
    assert!(
        journey.harness.query_by_label("Pin 1, dragged").is_some(),
        "the drag is explained"
    );
}
