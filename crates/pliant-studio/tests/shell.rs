//! The window around the rooms.

mod journey;

use eframe::egui::accesskit::Role;
use eframe::egui::{Key, Modifiers, Rect, Vec2, pos2, vec2};
use egui_kittest::kittest::Queryable;
use journey::Journey;
use pliant_studio::model::camera::Side;
use pliant_studio::model::document::Document;
use pliant_studio::model::examples::examples;
use pliant_studio::model::pose;
use pliant_studio::model::room::RoomName;

const BORDERS: [&str; 3] = [
    "Width of the tools",
    "Width of the options",
    "Height of the timeline",
];

fn borders(journey: &Journey) -> [Rect; 3] {
    BORDERS.map(|label| journey.rect(label))
}

fn viewport(journey: &Journey) -> Rect {
    journey
        .harness
        .get_all_by_role(Role::Canvas)
        .map(|node| node.rect())
        .reduce(Rect::union)
        .expect("a viewport")
}

fn resize(journey: &mut Journey, size: Vec2) {
    journey.harness.set_size(size);
    journey.settle();
}

#[test]
fn the_first_start_shows_a_head_and_three_steps() {
    let Some(mut journey) = Journey::start(pose::head(), RoomName::Pose) else {
        return;
    };

    journey.click("Help");
    journey.click("First steps");
    for size in [vec2(1280.0, 800.0), vec2(960.0, 600.0), vec2(1440.0, 900.0)] {
        resize(&mut journey, size);
        assert!(
            !viewport(&journey).intersects(journey.rect("Got it")),
            "the steps are beside the picture at {size}"
        );
    }

    journey.picture("shell_first_start");
    journey.click("Got it");
    assert!(journey.harness.query_by_label("Got it").is_none());
    journey.press(Modifiers::COMMAND, Key::Num3);

    assert!(
        journey.harness.query_by_label("Got it").is_some(),
        "every room has its own"
    );
    journey.click("Got it");
    journey.press(Modifiers::COMMAND, Key::Num1);
    assert!(journey.harness.query_by_label("Got it").is_none());
}

#[test]
fn every_room_opens_by_its_tab_and_by_its_key() {
    let Some(mut journey) = Journey::start(pose::head(), RoomName::Pose) else {
        return;
    };
    let keys = [Key::Num1, Key::Num2, Key::Num3, Key::Num4, Key::Num5];
    for (room, key) in RoomName::ALL.into_iter().zip(keys).rev() {
        journey.press(Modifiers::COMMAND, key);
        assert_eq!(journey.studio().view_state().room, room);
    }
}

#[test]
fn every_room_has_examples_and_shortcuts() {
    for room in RoomName::ALL {
        assert!(examples(room).len() >= 2, "{room:?}");
    }

    let Some(mut journey) = Journey::start(pose::head(), RoomName::Pose) else {
        return;
    };

    journey.press(Modifiers::SHIFT, Key::Questionmark);
    journey.picture("shell_shortcuts");
    assert!(journey.harness.query_by_label("Undo").is_some());
    journey.harness.get_by_label("Search keys").focus();
    journey.settle();
    journey
        .harness
        .get_by_label("Search keys")
        .type_text("bottom");

    journey.settle();
    assert!(
        journey
            .harness
            .query_by_label("Back, left, bottom")
            .is_some(),
        "what was searched for"
    );

    assert!(
        journey.harness.query_by_label("Undo").is_none(),
        "and nothing else"
    );
}

#[test]
fn panels_keep_the_size_that_the_user_chose() {
    let Some(mut journey) = Journey::start(pose::two_methods(), RoomName::Pose) else {
        return;
    };

    let border = journey.rect(BORDERS[0]).center();
    journey.drag(&[border, border + vec2(20.0, 0.0), border + vec2(40.0, 0.0)]);
    let given = borders(&journey);

    assert!(
        (given[0].center().x - border.x - 40.0).abs() < 4.0,
        "the border follows the hand: {} {}",
        given[0].center().x,
        border.x
    );

    for key in [Key::Num2, Key::Num3, Key::Num4, Key::Num5, Key::Num1] {
        journey.press(Modifiers::COMMAND, key);
        assert_eq!(borders(&journey), given, "{key:?}");
    }

    journey.click("Curves");
    journey.click("Curves");
    resize(&mut journey, vec2(700.0, 420.0));

    let small = borders(&journey);
    assert!(
        small[1].left() - small[0].right() >= 200.0,
        "a picture is left: {small:?}"
    );
    resize(&mut journey, vec2(1440.0, 900.0));

    assert_eq!(
        borders(&journey),
        given,
        "as large as before once the window is"
    );
}

#[test]
fn the_whole_timeline_is_visible_in_a_small_window() {
    let Some(mut journey) = Journey::start(pose::head(), RoomName::Pose) else {
        return;
    };
    // The least window, and what it holds at a scale of 150 %.
    for size in [vec2(960.0, 600.0), vec2(640.0, 400.0)] {
        resize(&mut journey, size);
        let window = Rect::from_min_size(pos2(0.0, 0.0), size);
        for label in [
            "Play",
            "Frame",
            "Key changed",
            "Key all",
            "Delete keys",
            "Step",
            "Curves",
            "Take",
            "Frame rate",
            "Last frame",
        ] {
            assert!(
                window.contains_rect(journey.rect(label)),
                "{label} at {size}"
            );
        }

        let ruler = journey.rect("Ruler");
        let keys = journey.rect("Keys over time");
        assert!(
            keys.height() >= 50.0 && window.contains_rect(ruler),
            "rows of keys at {size}: {keys}"
        );
        assert!(viewport(&journey).height() >= 130.0, "a picture at {size}");
    }
}

#[test]
fn a_click_enter_and_escape_end_typing() {
    let Some(mut journey) = Journey::start(pose::head(), RoomName::Pose) else {
        return;
    };

    let beside = viewport(&journey).left_bottom() + vec2(40.0, -40.0);
    for (k, key) in [Key::Num2, Key::Num3, Key::Num4].into_iter().enumerate() {
        journey.press(Modifiers::COMMAND, Key::Num1);
        journey.harness.get_by_label("Search sliders").focus();
        journey.settle();

        match k {
            0 => journey.press(Modifiers::NONE, Key::Escape),
            1 => journey.press(Modifiers::NONE, Key::Enter),
            _ => journey.drag(&[
                beside,
                beside + vec2(30.0, -5.0),
                beside + vec2(60.0, -10.0),
            ]),
        }

        journey.press(Modifiers::COMMAND, key);
        assert_eq!(
            journey.studio().view_state().room,
            RoomName::ALL[k + 1],
            "keys are the window's again"
        );
    }
}

#[test]
fn the_view_menu_looks_from_every_side() {
    let Some(mut journey) = Journey::start(pose::head(), RoomName::Pose) else {
        return;
    };
    for side in Side::ALL {
        journey.click("View");
        journey.click("Look from");
        journey.click(&format!("{} {}", side.label(), side.shortcut()));
        journey.press(Modifiers::NONE, Key::Escape);
        let back = journey.view(0).camera.axes().back;
        assert!(back.distance(side.direction()) < 1e-12, "{side:?}: {back}");
    }
}

#[test]
fn an_empty_room_explains_what_to_do() {
    let Some(mut journey) = Journey::start(Document::default(), RoomName::Pose) else {
        return;
    };

    let keys = [Key::Num1, Key::Num2, Key::Num3, Key::Num4, Key::Num5];
    for key in keys {
        journey.press(Modifiers::COMMAND, key);
        assert!(journey.harness.query_by_label("Open…").is_some(), "{key:?}");
        assert!(
            journey.harness.query_by_label("Try the example").is_some(),
            "{key:?}"
        );
    }

    journey.press(Modifiers::COMMAND, Key::Num2);
    journey.click("Try the example");
    assert_eq!(
        journey.document().character.asset,
        (examples(RoomName::Touch)[0].1)().character.asset
    );

    assert!(
        journey.harness.query_by_label("Try the example").is_none(),
        "there is something to see now"
    );
}
