//! Documents to start with in the Touch room.

use pliant::mesh::VertexId;

use super::{ColliderSetup, Form, Patch, Preset, Setup};
use crate::model::document::{Character, Document};
use crate::model::examples::Example;

/// The centre of the built-in head's left cheek, and how far it is soft, in centimetres: those of
/// the demo and of the published pictures.
const CHEEK: Patch = Patch {
    center: VertexId::new(2134),
    radius: 4.0,
};

/// The same on its chin.
const CHIN: Patch = Patch {
    center: VertexId::new(1083),
    radius: 4.0,
};

/// The head with a soft cheek and a ball ready beside it.
#[must_use]
pub fn press_a_cheek() -> Document {
    head(Setup {
        patches: vec![CHEEK],
        ..Setup::default()
    })
}

/// The head with a chin of jelly and a finger that drags its skin along.
#[must_use]
pub fn finger_on_a_chin() -> Document {
    let finger = ColliderSetup {
        form: Form::Capsule,
        friction: 0.6,
        ..ColliderSetup::default()
    };
    head(Setup {
        patches: vec![CHIN],
        solid: finger,
        material: Preset::Jelly.material(),
        ..Setup::default()
    })
}

fn head(touch: Setup) -> Document {
    let character = Character {
        asset: "specimen:head".into(),
        ..Character::default()
    };
    Document {
        character,
        touch,
        ..Document::default()
    }
}

/// Documents to begin with.
#[must_use]
pub fn examples() -> Vec<Example> {
    vec![
        ("Press a cheek", press_a_cheek),
        ("A finger on a jelly chin", finger_on_a_chin),
    ]
}
