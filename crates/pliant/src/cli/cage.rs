//! Whether a big mesh is blended on a cage, and how that is told.

use pliant_physics::{Cage, CageSize};
use serde_json::{Value, json};

pub(crate) fn parse_cage(text: &str) -> Result<CageSize, String> {
    match text {
        "auto" => Ok(CageSize::Auto),
        "none" => Ok(CageSize::None),
        number => match number.parse() {
            Ok(vertices) if vertices >= LEAST => Ok(CageSize::Vertices(vertices)),
            _ => Err(format!("'{text}' is neither auto, nor none, nor a number of vertices from {LEAST} on")),
        },
    }
}

/// A tetrahedron has so many vertices; less has no inside.
const LEAST: usize = 4;

/// What the report says about a cage.
pub(crate) fn describe(cage: Option<&Cage>) -> Value {
    cage.map_or(Value::Null, |cage| json!({"vertices": cage.shapes()[0].vertex_count()}))
}

/// What a user should know about a cage.
pub(crate) fn problems(cage: &Cage, has_obstacles: bool) -> impl Iterator<Item = String> {
    let contact = has_obstacles.then(|| Cage::CONTACT_NOTE.to_owned());
    cage.notes().iter().cloned().chain(contact)
}
