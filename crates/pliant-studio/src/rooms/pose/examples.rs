//! Documents to begin with.

use super::Setup;
use crate::document::{Character, Document};

fn with(pose: Setup) -> Document {
    Document { character: Character { asset: "specimen:head".into(), ..Character::default() }, pose, ..Document::default() }
}

/// The built-in head at rest.
#[must_use]
pub fn head() -> Document {
    with(Setup::default())
}

/// What the menu offers for this room.
#[must_use]
pub fn examples() -> Vec<(&'static str, fn() -> Document)> {
    vec![("Head", head)]
}
