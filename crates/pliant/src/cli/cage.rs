//! What `--cage` says.

use pliant_physics::CageSize;

pub(crate) fn parse_cage(text: &str) -> Result<CageSize, String> {
    match text {
        "auto" => Ok(CageSize::Auto),
        "none" => Ok(CageSize::None),
        number => match number.parse() {
            Ok(vertices) if vertices >= LEAST => Ok(CageSize::Vertices(vertices)),
            _ => Err(format!(
                "'{text}' is neither auto, nor none, nor a number of vertices from {LEAST} on"
            )),
        },
    }
}

/// A tetrahedron has so many vertices; less has no inside.
const LEAST: usize = 4;
