//! Vertices on the command line: alone, or with a displacement, a position or a radius.

use pliant_mesh::glam::DVec3;

use super::number;

/// Parses a pin, `V:dx,dy,dz`.
pub(crate) fn parse_pin(text: &str) -> Result<(usize, DVec3), String> {
    vertex_and_vector(text).map_err(|reason| {
        format!("'{text}' is not a pin: {reason}; write V:dx,dy,dz, as in 1204:0,0.5,0")
    })
}

/// Parses a pull to a position, `V:x,y,z`.
pub(crate) fn parse_pull_to(text: &str) -> Result<(usize, DVec3), String> {
    vertex_and_vector(text).map_err(|reason| {
        format!(
            "'{text}' is not a pull: {reason}; write V:x,y,z, a vertex and its position, as in 1204:0,1.5,0"
        )
    })
}

/// Parses a pull by a displacement, `V:dx,dy,dz`.
pub(crate) fn parse_pull_by(text: &str) -> Result<(usize, DVec3), String> {
    vertex_and_vector(text).map_err(|reason| {
        format!(
            "'{text}' is not a pull: {reason}; write V:dx,dy,dz, a vertex and its displacement, as in 1204:0,0,1.5"
        )
    })
}

/// Parses a geodesic disc, `V:R`.
pub(crate) fn parse_disc(text: &str) -> Result<(usize, f64), String> {
    let disc = text.split_once(':').and_then(|(vertex, radius)| {
        let vertex = vertex.trim().parse().ok()?;
        let radius = number::non_negative(radius).ok()?;
        Some((vertex, radius))
    });
    disc.ok_or_else(|| format!("'{text}' is not V:R, a vertex and a radius, as in 1204:2.5"))
}

/// Parses a displacement of finite length, `dx,dy,dz`.
pub(crate) fn parse_displacement(text: &str) -> Result<DVec3, String> {
    match number::list(text).as_deref() {
        Some(&[x, y, z]) if [x, y, z].iter().all(|part: &f64| part.is_finite()) => {
            Ok(DVec3::new(x, y, z))
        }
        _ => Err(format!(
            "'{text}' is not three numbers; write x,y,z, as in 0,0,-1.5"
        )),
    }
}

/// `V:x,y,z`, or the reason why it is not.
fn vertex_and_vector(text: &str) -> Result<(usize, DVec3), String> {
    let (vertex, vector) = text.split_once(':').ok_or("there is no colon")?;
    let vertex = vertex
        .trim()
        .parse()
        .map_err(|_| format!("'{vertex}' is not a vertex"))?;

    match number::list(vector).as_deref() {
        Some(&[x, y, z]) => Ok((vertex, DVec3::new(x, y, z))),
        _ => Err(format!("'{vector}' is not three numbers")),
    }
}
