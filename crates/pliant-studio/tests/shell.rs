//! The window around the rooms.

mod journey;

use eframe::egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use journey::Journey;
use pliant_studio::rooms::{self, RoomName, pose};

#[test]
fn a_person_who_starts_sees_a_head_and_three_steps() {
    let Some(mut journey) = Journey::start(pose::head(), RoomName::Pose) else { return };
    journey.click("Help");
    journey.click("First steps");
    journey.picture("shell_first_start");
    journey.click("Got it");
    assert!(journey.harness.query_by_label("Got it").is_none());
}

#[test]
fn every_room_opens_by_its_tab_and_by_its_key() {
    let Some(mut journey) = Journey::start(pose::head(), RoomName::Pose) else { return };
    let keys = [Key::Num1, Key::Num2, Key::Num3, Key::Num4, Key::Num5];
    for (room, key) in RoomName::ALL.into_iter().zip(keys).rev() {
        journey.press(Modifiers::COMMAND, key);
        assert_eq!(journey.studio().desk().room, room);
    }
}

#[test]
fn every_room_has_examples_and_the_sheet_lists_the_keys() {
    for room in RoomName::ALL {
        assert!(rooms::examples(room).len() >= 2, "{room:?}");
    }
    let Some(mut journey) = Journey::start(pose::head(), RoomName::Pose) else { return };
    journey.press(Modifiers::SHIFT, Key::Questionmark);
    journey.picture("shell_shortcuts");
}
