//! Reader and writer of MakeHuman targets (`.target`): displacements of vertices, as text.
//!
//! **Format.** One line `index dx dy dz` per moved vertex, counted from 0; `#` begins a comment.
//!
//! **Source.** MakeHuman community, documentation of the target file format.

use std::collections::BTreeMap;

use pliant_mesh::glam::Vec3;
use pliant_rig::Target;

use crate::ReadError;
use crate::parse::text::{Lines, Words, excerpt, number, push_number};

/// Reads a target for a mesh of `vertex_count` vertices.
pub fn read(bytes: &[u8], name: &str, vertex_count: usize) -> Result<Target, ReadError> {
    let mut moved = BTreeMap::new();
    for (line, text) in Lines::of(bytes) {
        let words: Vec<_> = Words::of(text).collect();
        if words.is_empty() {
            continue;
        }

        let (vertex, delta) = parse(&words).ok_or_else(|| {
            ReadError::line(
                line,
                format!(
                    "'{}' is not a vertex index and three numbers; export the target again",
                    excerpt(text)
                ),
            )
        })?;

        if vertex as usize >= vertex_count {
            return Err(ReadError::line(
                line,
                format!(
                    "the target moves vertex {vertex}, but the mesh has {vertex_count} vertices, counted from 0; use the mesh it was made for"
                ),
            ));
        }

        moved.insert(vertex, delta);
    }

    moved.retain(|_, delta| *delta != Vec3::ZERO);
    let (vertices, deltas) = moved.into_iter().unzip();
    Ok(Target {
        name: name.into(),
        vertices,
        deltas,
        in_betweens: Vec::new(),
    })
}

fn parse(words: &[&[u8]]) -> Option<(u32, Vec3)> {
    let [index, x, y, z] = words else { return None };
    let index = std::str::from_utf8(index).ok()?.parse().ok()?;
    Some((
        index,
        Vec3::new(number(x)? as f32, number(y)? as f32, number(z)? as f32),
    ))
}

/// A target as a file, without in-betweens.
#[must_use]
pub fn write(target: &Target) -> Vec<u8> {
    let mut out = Vec::new();
    for (vertex, delta) in target.vertices.iter().zip(&target.deltas) {
        out.extend_from_slice(vertex.to_string().as_bytes());
        for value in delta.to_array() {
            out.push(b' ');
            // The shortest decimal of the f32, not of the f64 it would become.
            push_number(&mut out, value.to_string().parse().unwrap_or(f64::NAN));
        }
        out.push(b'\n');
    }

    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_survives_a_round_trip() {
        let target = read(
            b"# made by hand\n7 .1 -0.25 0\r\n2 1e-8 0 3\n3 0 0 0",
            "smile",
            8,
        )
        .unwrap();

        assert_eq!(target.vertices, [2, 7]);
        assert_eq!(target.deltas[1], Vec3::new(0.1, -0.25, 0.0));

        let text = write(&target);
        assert_eq!(
            String::from_utf8_lossy(&text),
            "2 1e-8 0 3\n7 0.1 -0.25 0\n"
        );
        assert_eq!(read(&text, "smile", 8).unwrap(), target);
    }

    #[test]
    fn a_vertex_beyond_the_mesh_is_reported_with_its_line() {
        let error = read(b"0 1 1 1\n8 1 1 1\n", "smile", 8).unwrap_err();
        assert_eq!(error.position, crate::FilePosition::Line(2));
        assert!(
            error.message.contains("vertex 8") && error.message.contains("8 vertices"),
            "{error}"
        );

        assert!(
            read(b"0 1 one 1", "smile", 8)
                .unwrap_err()
                .message
                .contains("'0 1 one 1'")
        );
    }
}
