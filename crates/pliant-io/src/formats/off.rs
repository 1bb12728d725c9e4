//! Reader of OFF, the Object File Format of Geomview.
//!
//! **Format.** A header `[ST][C][N][4]OFF`, three counts, then vertices (`x y z`, then the normal,
//! colour and texture coordinates that the header announces) and faces (a count, that many indices,
//! a colour).
//!
//! **Source.** Geomview manual, "OFF files".
//!
//! **Departures.** The header may be missing, or be on one line or in one word with the counts. The
//! third count may be missing, and a comment may be anywhere. Colours of faces are not kept.

use std::fmt::{Arguments, Display};

use pliant_mesh::glam::{DVec2, DVec3, DVec4};
use pliant_mesh::{CornerLayer, Mesh, MeshBuilder, VertexLayer};

use crate::parse::text::{TextWords, excerpt, number};
use crate::{Asset, ReadError};

/// Reads a mesh.
pub fn read(bytes: &[u8]) -> Result<Asset, ReadError> {
    let mut words = Stream::new(bytes);
    let header = Header::read(&mut words)?;
    let (vertices, faces) = read_counts(&mut words, &header)?;

    let mut mesh = OffMesh::default();
    for vertex in 0..vertices {
        mesh.read_vertex(&mut words, &header, vertex, vertices)?;
    }
    for face in 0..faces {
        mesh.read_face(&mut words, face, faces, vertices)?;
    }

    let mut warnings = mesh.warnings();
    if words.words.next().is_some() {
        warnings.push(format!(
            "the text from line {} on, after the last of {faces} face(s), was not read",
            words.line()
        ));
    }

    let mut asset = Asset::from_mesh(mesh.build()?);
    asset.warnings = warnings;
    Ok(asset)
}

/// The words of a text with their lines.
struct Stream<'a> {
    words: TextWords<'a>,
}

impl<'a> Stream<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self {
            words: TextWords::of(bytes),
        }
    }

    fn expect(&mut self, what: Arguments<'_>) -> Result<&'a [u8], ReadError> {
        self.words.next().ok_or_else(|| {
            ReadError::line(
                self.words.line,
                format!("the file ends before {what}; export it again"),
            )
        })
    }

    fn line(&self) -> usize {
        self.words.line
    }

    fn wrong(&self, word: &[u8], what: impl Display) -> ReadError {
        ReadError::line(
            self.words.line,
            format!("expected {what}, found '{}'", excerpt(word)),
        )
    }

    fn count(&mut self, what: Arguments<'_>) -> Result<usize, ReadError> {
        let word = self.expect(what)?;
        parse_count(word).ok_or_else(|| self.wrong(word, what))
    }

    fn number(&mut self, what: Arguments<'_>) -> Result<f64, ReadError> {
        let word = self.expect(what)?;
        number(word).ok_or_else(|| self.wrong(word, what))
    }

    /// The words left on the current line.
    fn rest_of_line(&mut self) -> Vec<&'a [u8]> {
        self.words.on_this_line().collect()
    }
}

fn parse_count(word: &[u8]) -> Option<usize> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// What each vertex has, and a first count that directly follows the header.
#[derive(Default)]
struct Header {
    texture: bool,
    color: bool,
    normal: bool,
    homogeneous: bool,
    first_count: Option<usize>,
}

impl Header {
    fn read(words: &mut Stream<'_>) -> Result<Self, ReadError> {
        let word = words.expect(format_args!("the header"))?;
        let Some(at) = word.windows(3).position(|w| w == b"OFF") else {
            let first_count =
                parse_count(word).ok_or_else(|| words.wrong(word, "the header OFF"))?;
            return Ok(Self {
                first_count: Some(first_count),
                ..Self::default()
            });
        };

        let mut header = Self::default();
        let mut flags = &word[..at];
        let mut take = |flag: &[u8]| match flags.strip_prefix(flag) {
            Some(rest) => {
                flags = rest;
                true
            }
            None => false,
        };

        // The flags have a fixed order.
        header.texture = take(b"ST");
        header.color = take(b"C");
        header.normal = take(b"N");
        header.homogeneous = take(b"4");
        if !flags.is_empty() {
            return Err(words.wrong(
                word,
                "a header of three dimensions such as OFF, COFF or NOFF",
            ));
        }

        let attached = &word[at + 3..];
        if !attached.is_empty() {
            header.first_count =
                Some(parse_count(attached).ok_or_else(|| words.wrong(word, "the header OFF"))?);
        }

        Ok(header)
    }
}

fn read_counts(words: &mut Stream<'_>, header: &Header) -> Result<(usize, usize), ReadError> {
    let vertices = match header.first_count {
        Some(count) => count,
        None => words.count(format_args!("the number of vertices"))?,
    };
    let faces = words.count(format_args!("the number of faces"))?;
    words.rest_of_line(); // The number of edges, which is not needed and may be missing.
    Ok((vertices, faces))
}

#[derive(Default)]
struct OffMesh {
    builder: MeshBuilder,
    normals: Vec<DVec3>,
    colors: Vec<DVec4>,
    texture: Vec<DVec2>,
    small_faces: usize,
    colored_faces: usize,
}

impl OffMesh {
    fn read_vertex(
        &mut self,
        words: &mut Stream<'_>,
        header: &Header,
        vertex: usize,
        vertices: usize,
    ) -> Result<(), ReadError> {
        let mut next = || {
            words.number(format_args!(
                "a coordinate of vertex {vertex} of {vertices}"
            ))
        };

        let mut position = DVec3::new(next()?, next()?, next()?);
        if header.homogeneous {
            position /= next()?;
        }

        self.builder.positions.push(position);
        if header.normal {
            self.normals.push(DVec3::new(next()?, next()?, next()?));
        }
        if !header.color && header.texture {
            self.texture.push(DVec2::new(next()?, next()?));
        }

        // A colour has a variable number of components: the rest of the line.
        if header.color {
            let mut rest = words.rest_of_line();
            if header.texture && rest.len() >= 2 {
                let uv = rest.split_off(rest.len() - 2);
                self.texture.push(DVec2::new(
                    color_part(words, uv[0])?,
                    color_part(words, uv[1])?,
                ));
            }

            self.colors.push(color(words, &rest)?);
        }

        Ok(())
    }

    fn read_face(
        &mut self,
        words: &mut Stream<'_>,
        face: usize,
        faces: usize,
        vertices: usize,
    ) -> Result<(), ReadError> {
        // Indices are checked here, because the mesh builder does not know the line.
        let corners = words.count(format_args!(
            "the number of corners of face {face} of {faces}"
        ))?;
        let start = self.builder.corners.len();

        for _ in 0..corners {
            let vertex = words.count(format_args!("a vertex index"))?;
            if vertex >= vertices {
                return Err(ReadError::line(
                    words.line(),
                    format!(
                        "face {face} names vertex {vertex}, but there are {vertices} vertices, counted from 0"
                    ),
                ));
            }

            let index = u32::try_from(vertex).map_err(|_| {
                ReadError::line(words.line(), "there are more vertices than a mesh can hold")
            })?;
            self.builder.corners.push(index);
        }

        self.colored_faces += usize::from(!words.rest_of_line().is_empty());
        if corners < 3 {
            self.small_faces += 1;
            self.builder.corners.truncate(start);
        } else {
            self.builder.face_sizes.push(corners as u32);
        }

        Ok(())
    }

    fn warnings(&self) -> Vec<String> {
        let kinds = [
            (
                self.small_faces,
                "face(s) with fewer than 3 corners were skipped",
            ),
            (
                self.colored_faces,
                "face(s) have a colour, which is not kept",
            ),
        ];
        kinds
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect()
    }

    fn build(self) -> Result<Mesh, ReadError> {
        let mut builder = self.builder;
        let by_vertex = || builder.corners.iter().map(|&v| Some(v)).collect::<Vec<_>>();
        let vertices = builder.positions.len();

        if self.texture.len() == vertices && vertices > 0 {
            builder.uv_layers = vec![CornerLayer {
                name: String::new(),
                values: self.texture,
                corners: by_vertex(),
            }];
        }

        if !self.normals.is_empty() {
            builder.normals = Some(CornerLayer {
                name: String::new(),
                values: self.normals,
                corners: by_vertex(),
            });
        }

        if !self.colors.is_empty() {
            builder.colors = vec![VertexLayer {
                name: String::new(),
                values: self.colors,
            }];
        }

        Ok(builder.build()?)
    }
}

/// Whole numbers count to 255, others to 1; a missing alpha is opaque.
fn color(words: &Stream<'_>, parts: &[&[u8]]) -> Result<DVec4, ReadError> {
    let whole = parts.iter().all(|part| part.iter().all(u8::is_ascii_digit));
    let mut color = DVec4::ONE;
    for (k, part) in parts.iter().take(4).enumerate() {
        color[k] = color_part(words, part)? / if whole { 255.0 } else { 1.0 };
    }
    Ok(color)
}

fn color_part(words: &Stream<'_>, part: &[u8]) -> Result<f64, ReadError> {
    number(part).ok_or_else(|| words.wrong(part, "a part of a colour"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mesh(text: &str) -> Mesh {
        read(text.as_bytes()).unwrap().mesh().unwrap()
    }

    #[test]
    fn headers_and_counts_come_in_many_forms() {
        let body = "0 0 0\n1 0 0 # a comment\n\n1 1 0\n0 1 0\n4 0 1 2 3\n3 0 1 2 255 0 0\n";
        for head in [
            "OFF\n4 2 0\n",
            "OFF 4 2 0\n",
            "OFF4 2 0\n",
            "# made by hand\nOFF\n# counts\n4 2\n",
            "4 2 0\n",
            "\r\nOFF\r\n4 2 6\r\n",
        ] {
            let mesh = mesh(&format!("{head}{body}"));
            assert_eq!(mesh.vertex_count(), 4, "{head}");
            assert_eq!(
                mesh.faces().collect::<Vec<_>>(),
                [&[0, 1, 2, 3][..], &[0, 1, 2]],
                "{head}"
            );
        }
    }

    #[test]
    fn colours_and_normals_do_not_disturb_the_positions() {
        let mesh = mesh(
            "CNOFF\n3 1 0\n0 0 0 0 0 1 255 0 0 255\n1 0 0 0 0 1 0 255 0\n0 1 0 0 0 1 0.5 0 0.25 0.75\n3 0 1 2\n",
        );

        assert_eq!(mesh.positions(), [DVec3::ZERO, DVec3::X, DVec3::Y]);
        assert_eq!(mesh.normals().unwrap().values, [DVec3::Z; 3]);

        let colors = [
            DVec4::new(1.0, 0.0, 0.0, 1.0),
            DVec4::new(0.0, 1.0, 0.0, 1.0),
            DVec4::new(0.5, 0.0, 0.25, 0.75),
        ];

        assert_eq!(mesh.colors()[0].values, colors);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let error = |text: &str| read(text.as_bytes()).unwrap_err();
        let far = error("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 7\n");
        assert_eq!(far.position, crate::FilePosition::Line(6));
        assert!(
            far.message.contains("vertex 7") && far.message.contains("3 vertices"),
            "{far}"
        );

        assert!(
            error("OFF\n4000000000 1 0\n0 0 0\n")
                .message
                .contains("ends before a coordinate of vertex 1")
        );
        assert!(error("OFF BINARY\n").message.contains("'BINARY'"));
        assert!(error("nOFF\n4\n").message.contains("nOFF"));
        assert!(error("solid\n").message.contains("header OFF"));
    }

    #[test]
    fn faces_beyond_the_count_are_reported() {
        let asset = read(b"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n\n3 0 2 1\n").unwrap();
        assert_eq!(asset.mesh().unwrap().face_count(), 1);
        assert_eq!(
            asset.warnings,
            ["the text from line 8 on, after the last of 1 face(s), was not read"]
        );
    }

    #[test]
    fn a_face_of_two_corners_is_skipped_and_reported() {
        let asset = read(b"OFF\n3 2 0\n0 0 0\n1 0 0\n0 1 0\n2 0 1\n3 0 1 2\n").unwrap();
        assert_eq!(asset.mesh().unwrap().face_count(), 1);
        assert_eq!(
            asset.warnings,
            ["1 face(s) with fewer than 3 corners were skipped"]
        );
    }
}
