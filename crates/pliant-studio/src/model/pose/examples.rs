//! Documents to start with in the Pose room.

use super::{HeatKind, Method, MethodKind, PinMark, ResidualSettings, Setup};
use crate::model::document::{Character, Document};
use crate::model::examples::Example;

/// Vertices of the built-in head.
const LEFT_MOUTH_CORNER: usize = 4686;
const LOWER_LIP: usize = 4867;
const LEFT_BROW: usize = 7005;

fn with(pose: Setup) -> Document {
    Document {
        character: Character {
            asset: "specimen:head".into(),
            ..Character::default()
        },
        pose,
        ..Document::default()
    }
}

/// The built-in head at rest.
#[must_use]
pub fn head() -> Document {
    with(Setup::default())
}

/// Pins for a smile: both corners of the mouth move together, and the lower lip stays.
#[must_use]
pub fn smile() -> Document {
    let lip = PinMark {
        held: true,
        ..PinMark::new(LOWER_LIP)
    };
    with(Setup {
        pins: vec![PinMark::new(LEFT_MOUTH_CORNER), lip],
        mirrored: true,
        ..Setup::default()
    })
}

/// What sliders do not reach is sculpted, and shown in colours.
#[must_use]
pub fn beyond() -> Document {
    let pins = vec![PinMark::new(LEFT_MOUTH_CORNER), PinMark::new(LEFT_BROW)];
    with(Setup {
        pins,
        sculpt: ResidualSettings {
            on: true,
            radius: None,
        },
        heat: HeatKind::Unreachable,
        ..Setup::default()
    })
}

/// Two methods side by side, once a pin is dragged.
#[must_use]
pub fn two_methods() -> Document {
    let pins = vec![PinMark::new(LEFT_MOUTH_CORNER)];
    with(Setup {
        pins,
        compared: Some(Method::of(MethodKind::PseudoInverse)),
        ..Setup::default()
    })
}

/// Menu entries of this room.
#[must_use]
pub fn examples() -> Vec<Example> {
    vec![
        ("Head", head),
        ("Smile on both sides", smile),
        ("Beyond the sliders", beyond),
        ("Two methods", two_methods),
    ]
}
