//! The window around the rooms.

mod common;

use common::Journey;
use pliant_studio::document::{Character, Document};
use pliant_studio::rooms::RoomName;

fn head() -> Document {
    Document { character: Character { asset: "specimen:head".into(), ..Character::default() }, ..Document::default() }
}

#[test]
fn the_head_stands_in_the_window() {
    let Some(mut journey) = Journey::start(head(), RoomName::Pose) else { return };
    journey.picture("shell_head");
}
