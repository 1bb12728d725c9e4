//! Documents to start with in the Transfer room.

use std::sync::Arc;

use super::Setup;
use crate::model::document::Document;
use crate::model::examples::Example;
use crate::model::timeline::Timeline;

/// The examples of the room.
#[must_use]
pub fn examples() -> Vec<Example> {
    vec![
        ("The tapir walks like the hound", walking_tapir),
        ("Hound and tapir, without markers", hound_and_tapir),
    ]
}

/// The hound's walk for the tapir, with markers.
#[must_use]
pub fn walking_tapir() -> Document {
    let mut document = hound_and_tapir();
    document.transfer.sources[0].pairs = Arc::new(pliant::specimens::markers());
    document
}

/// The hound's walk for the tapir, to place markers oneself.
#[must_use]
pub fn hound_and_tapir() -> Document {
    let mut transfer = Setup::default();
    transfer.set_target("specimen:tapir".into());
    transfer.add_source("specimen:hound#walk".into());

    let timeline = Timeline {
        frames_per_second: 30.0,
        last_frame: 31,
        ..Timeline::default()
    };

    Document {
        timeline,
        transfer,
        ..Document::default()
    }
}
