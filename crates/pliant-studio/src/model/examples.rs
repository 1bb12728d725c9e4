//! Example documents of every room.

use super::document::Document;
use super::room::RoomName;
use super::{blend, learn, pose, touch, transfer};

/// An example of a room: a name, and how to make it.
pub type Example = (&'static str, fn() -> Document);

/// The examples of a room.
#[must_use]
pub fn examples(room: RoomName) -> Vec<Example> {
    match room {
        RoomName::Pose => pose::examples(),
        RoomName::Touch => touch::examples(),
        RoomName::Blend => blend::examples(),
        RoomName::Transfer => transfer::examples(),
        RoomName::Learn => learn::examples(),
    }
}
