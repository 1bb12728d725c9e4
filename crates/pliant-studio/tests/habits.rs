//! Habits of artists: a pose library, favourites, pictures of sliders, ghosts, typed lengths, views.

mod journey;

use eframe::egui::{
    Event, Key, Modifiers, MouseWheelSource, MouseWheelUnit, PointerButton, Pos2, TouchPhase, Vec2,
    pos2, vec2,
};
use egui_kittest::kittest::Queryable;
use journey::Journey;
use pliant::io::Object;
use pliant::mesh::Bounds;
use pliant::mesh::glam::DVec3;
use pliant::rig::Rig;
use pliant_studio::model::document::Document;
use pliant_studio::model::pose;
use pliant_studio::model::room::RoomName;
use pliant_studio::view::View;

/// The left corner of the mouth of the built-in head.
const MOUTH_CORNER: usize = 4686;

fn posed(weights: &[(&str, f64)]) -> Document {
    let mut document = pose::head();
    for (slider, weight) in weights {
        document.character.set_weight(slider, *weight);
    }
    document
}

fn weights(journey: &Journey) -> Vec<(String, f64)> {
    journey.document().character.weights.into_iter().collect()
}

fn weight(journey: &Journey, slider: &str) -> f64 {
    let weights = journey.document().character.weights;
    weights.get(slider).copied().unwrap_or(0.0)
}

fn set(journey: &mut Journey, slider: &str, value: f64) {
    let row = journey.harness.get_by_label(slider);
    row.set_value_accesskit(value);
    journey.settle();
}

fn enter(journey: &mut Journey, field: &str, text: &str) {
    journey.harness.get_by_label(field).focus();
    journey.settle();
    journey.harness.get_by_label(field).type_text(text);
    journey.settle();
}

/// Presses and releases a button of the pointer at a place.
fn click_at(journey: &mut Journey, place: Pos2, button: PointerButton, modifiers: Modifiers) {
    let harness = &mut journey.harness;
    harness.event_modifiers(Event::PointerMoved(place), modifiers);
    harness.step();
    for pressed in [true, false] {
        let event = Event::PointerButton {
            pos: place,
            button,
            pressed,
            modifiers,
        };
        harness.event_modifiers(event, modifiers);
        harness.step();
    }
    journey.settle();
}

fn choose_from_menu(journey: &mut Journey, of: &str, entry: &str) {
    let place = journey.rect(of).center();
    click_at(journey, place, PointerButton::Secondary, Modifiers::NONE);
    journey.click(entry);
}

#[test]
fn a_saved_pose_is_applied_blended_mirrored_renamed_and_exported() {
    let smirk = [("jawOpen", 0.2), ("mouthSmileLeft", 0.8)];
    let Some(mut journey) = Journey::start(posed(&smirk), RoomName::Pose) else {
        return;
    };
    let pose_of = |weights: &[(&str, f64)]| -> Vec<(String, f64)> {
        let own = weights.iter();
        own.map(|(name, weight)| ((*name).to_owned(), *weight))
            .collect()
    };

    journey.click("Poses");
    enter(&mut journey, "Name of the pose", "Mouth/Smirk");
    journey.click("Save pose");
    journey.click("Sliders");
    journey.click("Reset all");
    set(&mut journey, "browInnerUp", 0.5);
    journey.click("Poses");
    journey.picture("habits_poses");

    // A click applies all of it; undo takes it back as one step.
    journey.click("Pose Smirk");
    assert_eq!(weights(&journey), pose_of(&smirk));
    journey.undo();
    assert_eq!(weights(&journey), pose_of(&[("browInnerUp", 0.5)]));

    // A drag over a part of the picture applies that part, from the pose of before.
    let card = journey.rect("Pose Smirk");
    let start = pos2(card.left() + 4.0, card.center().y);
    let way = |share: f32| start + vec2(share * 0.9 * 84.0, 0.0);
    journey.drag(&[start, way(0.1), way(0.3), way(0.5)]);
    let half = [
        weight(&journey, "mouthSmileLeft") / 0.8,
        weight(&journey, "jawOpen") / 0.2,
        weight(&journey, "browInnerUp") / 0.5,
    ];
    assert!(
        half.iter().all(|share| (share - 0.5).abs() < 0.03),
        "{half:?}"
    );
    journey.undo();
    assert_eq!(weights(&journey), pose_of(&[("browInnerUp", 0.5)]));

    let place = journey.rect("Pose Smirk").center();
    click_at(
        &mut journey,
        place,
        PointerButton::Primary,
        Modifiers::COMMAND,
    );
    let mirrored = [("jawOpen", 0.2), ("mouthSmileRight", 0.8)];
    assert_eq!(weights(&journey), pose_of(&mirrored));

    choose_from_menu(&mut journey, "Pose Smirk", "Rename or move…");
    journey.press(Modifiers::COMMAND, Key::A);
    journey.harness.event(Event::Text("Lips/Grin".into()));
    journey.settle();
    journey.press(Modifiers::NONE, Key::Enter);
    let library = journey.document().pose.library;
    assert_eq!(library.poses[0].path(), "Lips/Grin");

    // The file brings the pose into another project.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("poses.json");
    journey.click("Export poses…");
    journey.choose_file(&file);
    journey.settle();
    assert!(file.is_file(), "{}", journey.notice_text());

    let Some(mut other) = Journey::start(pose::head(), RoomName::Pose) else {
        return;
    };
    other.drop_files(&[file]);
    assert_eq!(other.document().pose.library, library);
    assert!(
        other.notice_text().contains("Grin"),
        "{}",
        other.notice_text()
    );
}

#[test]
fn a_slider_shows_what_it_does_and_favourites_come_first() {
    let Some(mut journey) = Journey::start(posed(&[]), RoomName::Pose) else {
        return;
    };

    let first = journey.rect("browDownLeft").top();
    enter(&mut journey, "Search sliders", "pucker");
    choose_from_menu(&mut journey, "mouthPucker", "Add to favourites");
    journey.click("Clear search");
    let favourite = journey.rect("mouthPucker");
    assert!(favourite.top() < first + 40.0, "{favourite}");
    assert!(
        journey
            .document()
            .character
            .favourites
            .contains("mouthPucker")
    );

    // Resting on a slider shows its picture.
    let place = favourite.center();
    journey.harness.event(Event::PointerMoved(place));
    for _ in 0..8 {
        journey.harness.step();
    }
    journey.settle();
    journey.harness.snapshot("habits_slider_picture");

    choose_from_menu(&mut journey, "mouthPucker", "Remove from favourites");
    assert!(journey.document().character.favourites.is_empty());
}

/// The viewport, and where the mouth corner is on it and in space.
fn corner(journey: &mut Journey) -> (View, Pos2, DVec3) {
    journey.press(Modifiers::NONE, Key::F);
    let view = journey.view(0);
    let head = pliant::load("specimen:head").unwrap().mesh().unwrap();
    let place = head.positions()[MOUTH_CORNER];
    (view, view.project(place).unwrap(), place)
}

#[test]
fn a_typed_number_is_the_length_of_a_drag() {
    let Some(mut journey) = Journey::start(posed(&[]), RoomName::Pose) else {
        return;
    };
    let (_, at, place) = corner(&mut journey);

    let button = |pos, pressed| Event::PointerButton {
        pos,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    let end = at + vec2(30.0, -30.0);
    journey.harness.event(Event::PointerMoved(at));
    journey.harness.step();
    journey.harness.event(button(at, true));
    journey.harness.step();
    for k in 1..=6 {
        let place = at + (end - at) * (k as f32 / 6.0);
        journey.harness.event(Event::PointerMoved(place));
        journey.harness.step();
    }
    journey.settle_held();
    let yaw = journey.view(0).camera.yaw;
    for letter in ["1", ".", "2", "3", "5"] {
        journey.harness.event(Event::Text(letter.into()));
        journey.harness.step();
    }
    journey.harness.key_press(Key::Backspace);
    journey.settle_held();
    journey.harness.snapshot("habits_typed_length");
    journey.harness.event(button(end, false));
    journey.settle();

    assert_eq!(journey.view(0).camera.yaw, yaw, "digits are no views now");
    let document = journey.document();
    let goal = document.pose.pull.expect("a drag").pins[0].goal;
    let length = (DVec3::from_array(goal) - place).length();
    assert!((length - 1.23).abs() < 1e-5, "{length}");
}

#[test]
fn onion_skins_show_the_keys_before_and_after_a_frame() {
    let mut document = posed(&[]);
    for (frame, weight) in [(0, 0.0), (12, 0.5), (24, 1.0)] {
        document.timeline.set_key("jawOpen", frame, weight);
    }
    let Some(mut journey) = Journey::start(document, RoomName::Pose) else {
        return;
    };

    // The ruler reaches 8 points beyond its first and last frame.
    let ruler = journey.rect("Ruler");
    let x = ruler.left() + 8.0 + (ruler.width() - 16.0) * 12.0 / 48.0;
    let place = pos2(x, ruler.center().y);
    click_at(&mut journey, place, PointerButton::Primary, Modifiers::NONE);
    assert!((weight(&journey, "jawOpen") - 0.5).abs() < 1e-9);

    journey.click("View");
    journey.click("Onion skins");
    journey.press(Modifiers::NONE, Key::Escape);
    let over = journey.view(0).rect.center();
    journey.harness.event(Event::PointerMoved(over));
    journey.settle();
    journey.press(Modifiers::NONE, Key::Num3);
    journey.picture("habits_onion_skins");
}

#[test]
fn keys_and_two_fingers_turn_the_view() {
    let Some(mut journey) = Journey::start(posed(&[]), RoomName::Pose) else {
        return;
    };
    let (view, ..) = corner(&mut journey);
    let over = view.rect.center();
    journey.harness.event(Event::PointerMoved(over));
    journey.settle();

    journey.press(Modifiers::NONE, Key::Num2);
    let left = journey.view(0).camera;
    journey.press(Modifiers::ALT, Key::Num2);
    let right = journey.view(0).camera;
    assert!(left.yaw > 0.3 && left.yaw == -right.yaw && left.pitch == right.pitch);

    let scroll = |journey: &mut Journey, modifiers: Modifiers| {
        let before = journey.view(0).camera;
        journey.harness.event(Event::PointerMoved(over));
        let event = Event::MouseWheel {
            unit: MouseWheelUnit::Point,
            delta: Vec2::new(40.0, 0.0),
            phase: TouchPhase::Move,
            source: MouseWheelSource::Unknown,
            modifiers,
        };
        journey.harness.event_modifiers(event, modifiers);
        journey.settle();
        let after = journey.view(0).camera;
        (after.yaw - before.yaw, after.distance / before.distance)
    };
    assert_eq!(scroll(&mut journey, Modifiers::NONE).0, 0.0);
    journey.click("View");
    journey.click("Navigation");
    journey.click("Touch pad");
    journey.press(Modifiers::NONE, Key::Escape);
    let (turned, zoomed) = scroll(&mut journey, Modifiers::NONE);
    assert!(turned.abs() > 0.1 && zoomed == 1.0, "{turned} {zoomed}");
}

/// A file of two objects: a head, and a ball before its face.
fn head_and_ball(folder: &std::path::Path) -> String {
    let mut asset = pliant::load("specimen:head").unwrap();
    asset.objects[0].path = "head".into();
    let ball = pliant::mesh::shapes::icosphere(3);
    let bounds = asset.objects[0].rig.neutral().bounds().unwrap();
    let center = bounds.center() + DVec3::Z * (0.5 * bounds.size().z);
    let places = ball.positions().iter();
    let places = places.map(|place| *place * 3.0 + center).collect();
    let ball = ball.posed(places).unwrap();
    let mut object = Object::new(Rig::without_targets(ball));
    object.path = "ball".into();
    asset.objects.push(object);

    let path = folder.join("two.glb");
    drop(pliant::io::save(&asset, &path).unwrap());
    path.display().to_string()
}

#[test]
fn objects_are_hidden_and_locked() {
    let folder = tempfile::tempdir().unwrap();
    let mut document = Document::default();
    document.character.asset = head_and_ball(folder.path());
    let Some(mut journey) = Journey::start(document, RoomName::Pose) else {
        return;
    };
    journey.press(Modifiers::NONE, Key::F);
    let count = pliant::load("specimen:head").unwrap().vertex_count();
    let file = journey.document().character.asset;
    let both = pliant::load(&file).unwrap().mesh().unwrap();
    let ball = Bounds::of(&both.positions()[count..]).expect("a ball");
    let over = journey.view(0).project(ball.center()).expect("in view");
    let pinned = |journey: &mut Journey| {
        click_at(journey, over, PointerButton::Primary, Modifiers::NONE);
        let pins = journey.document().pose.pins;
        let vertices: Vec<usize> = pins.iter().map(|pin| pin.vertex.index()).collect();
        if !pins.is_empty() {
            journey.undo();
        }
        vertices
    };

    let on_ball = pinned(&mut journey);
    assert!(
        on_ball[0] >= count,
        "the ball is before the face: {on_ball:?}"
    );
    journey.click("Lock ball");
    assert!(pinned(&mut journey).is_empty());
    journey.picture("habits_objects");

    journey.click("Show ball");
    let on_head = pinned(&mut journey);
    assert!(on_head[0] < count, "{on_head:?}");
    journey.click("Show all");
    assert!(pinned(&mut journey).is_empty(), "it is still locked");
}

#[test]
fn the_tour_notices_that_its_tasks_are_done() {
    let Some(mut journey) = Journey::start(Document::default(), RoomName::Blend) else {
        return;
    };
    journey.click("Help");
    journey.click("Tour");
    assert_eq!(journey.studio().view_state().room, RoomName::Pose);
    assert!(journey.harness.query_by_label("Done").is_none());
    journey.picture("habits_tour");

    let (_, at, _) = corner(&mut journey);
    let way: Vec<Pos2> = (0..=6).map(|k| at + vec2(5.0, -6.0) * k as f32).collect();
    journey.drag(&way);
    assert!(
        weight(&journey, "mouthSmileLeft") > 0.25,
        "{:?}",
        weights(&journey)
    );
    assert!(journey.harness.query_by_label("Done").is_some());

    // Nobody asks to save the practice.
    journey.click("Next: Touch");
    assert_eq!(journey.studio().view_state().room, RoomName::Touch);
    assert_eq!(journey.document().touch.patches.len(), 1);
    journey.click("End tour");
    assert!(journey.harness.query_by_label("End tour").is_none());
}
