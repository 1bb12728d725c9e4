//! `--cage`: the number of vertices that a blend solves while the others follow.

use pliant_physics::CageSize;

/// Fewest vertices of a cage: a tetrahedron, the smallest shape with an interior.
const MIN_VERTICES: usize = 4;

/// Parses `auto`, `none` or a number of vertices.
pub(crate) fn parse_cage(text: &str) -> Result<CageSize, String> {
    match text {
        "auto" => Ok(CageSize::Auto),
        "none" => Ok(CageSize::None),
        number => match number.parse() {
            Ok(vertices) if vertices >= MIN_VERTICES => Ok(CageSize::Vertices(vertices)),
            _ => Err(format!(
                "'{text}' is not a cage; write auto, none, or a number of vertices from {MIN_VERTICES}"
            )),
        },
    }
}
