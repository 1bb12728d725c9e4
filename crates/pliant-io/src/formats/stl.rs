//! Reader of STL: triangles without shared vertices.
//!
//! **Format.** Binary: 80 bytes of comment, a count, then 50 bytes per triangle (normal, three
//! corners, two spare bytes). Text: `solid NAME`, then `facet … outer loop`, three `vertex x y z`,
//! `endloop`, `endfacet`.
//!
//! **Source.** 3D Systems, "StereoLithography interface specification", 1989.
//!
//! **Departures.** Corners with exactly equal positions become one vertex, in order of first use.
//! Each solid of a text is an object. A binary comment may begin with `solid`; then the length of
//! the file shows that it is binary. Normals follow from the corners and are not kept.

use std::collections::HashMap;

use pliant_mesh::MeshBuilder;
use pliant_mesh::glam::DVec3;
use pliant_rig::Rig;

use crate::parse::binary::Cursor;
use crate::parse::text::{Lines, Words, excerpt, number};
use crate::{Asset, Object, ReadError};

const HEAD_BYTES: usize = 80;
const TRIANGLE_BYTES: usize = 50;

/// Reads the triangles of a solid, or of several.
pub fn read(bytes: &[u8]) -> Result<Asset, ReadError> {
    let solids = if is_text(bytes) {
        read_text(bytes)?
    } else {
        vec![read_binary(bytes)?]
    };

    let mut asset = Asset::default();
    for solid in solids {
        let corners = solid.builder.corners.len();
        let vertices = solid.builder.positions.len();
        let name = solid.builder.name.clone();
        if solid.unread > 0 {
            asset.warnings.push(format!(
                "{} byte(s) after the last triangle were not read",
                solid.unread
            ));
        }

        let mut object = Object::new(Rig::without_targets(solid.builder.build()?));
        object.file_vertices = corners;
        asset.objects.push(object);

        if corners > 0 {
            let of = if name.is_empty() {
                String::new()
            } else {
                format!(" of solid '{name}'")
            };
            asset.warnings.push(format!(
                "{corners} loose corners{of} were welded to {vertices} vertices by their exact positions"
            ));
        }
    }

    asset.name = asset
        .objects
        .first()
        .map(|o| o.name().to_owned())
        .unwrap_or_default();

    Ok(asset)
}

/// Whether a file is text: it begins with `solid`, contains `facet` or `endsolid`, and has another
/// length than a binary file with its count.
fn is_text(bytes: &[u8]) -> bool {
    // The length that a binary file with this count would have.
    let count = bytes
        .get(HEAD_BYTES..HEAD_BYTES + 4)
        .map(|b| u32::from_le_bytes(b.try_into().expect("four bytes")));
    let binary_length =
        count.map(|n| (HEAD_BYTES + 4) as u64 + u64::from(n) * TRIANGLE_BYTES as u64);
    let beginning = bytes[..bytes.len().min(1024)].to_ascii_lowercase();
    let contains = |word: &[u8]| beginning.windows(word.len()).any(|w| w == word);

    beginning.trim_ascii_start().starts_with(b"solid")
        && binary_length != Some(bytes.len() as u64)
        && (contains(b"facet") || contains(b"endsolid"))
}

/// Triangles whose equal corners are one vertex.
#[derive(Default)]
struct Solid {
    builder: MeshBuilder,
    index_of: HashMap<[u64; 3], u32>,
    /// Bytes after the last triangle.
    unread: usize,
}

impl Solid {
    fn named(name: String) -> Self {
        Self {
            builder: MeshBuilder {
                name,
                ..MeshBuilder::default()
            },
            ..Self::default()
        }
    }

    /// The vertex at a position.
    fn vertex(&mut self, position: DVec3) -> u32 {
        let positions = &mut self.builder.positions;
        // Adding zero makes −0 and 0 equal.
        let key = position.to_array().map(|x| (x + 0.0).to_bits());
        *self.index_of.entry(key).or_insert_with(|| {
            positions.push(position);
            positions.len() as u32 - 1
        })
    }

    fn triangle(&mut self, corners: [DVec3; 3]) {
        let face = corners.map(|position| self.vertex(position));
        self.builder.push_face(&face);
    }
}

fn read_binary(bytes: &[u8]) -> Result<Solid, ReadError> {
    let mut cursor = Cursor::of(bytes);
    cursor.take(HEAD_BYTES, "the head of a binary STL file")?;
    let count = u32::from_le_bytes(cursor.array("the number of triangles")?);
    cursor.require(count.into(), TRIANGLE_BYTES, "triangles")?;

    let mut solid = Solid::default();
    for k in 0..count {
        let triangle = cursor.take(TRIANGLE_BYTES, format_args!("triangle {k} of {count}"))?;
        // The normal takes the first 12 bytes and is skipped.
        let float = |at: usize| {
            f64::from(f32::from_le_bytes(
                triangle[at..at + 4].try_into().expect("four bytes"),
            ))
        };
        solid.triangle([12, 24, 36].map(|at| DVec3::new(float(at), float(at + 4), float(at + 8))));
    }

    solid.unread = cursor.left();
    if count == 0 && solid.unread > 0 {
        return Err(ReadError::byte(
            HEAD_BYTES,
            format!(
                "the file announces no triangle, but {} bytes follow; it is damaged, export it again",
                solid.unread
            ),
        ));
    }
    Ok(solid)
}

fn read_text(bytes: &[u8]) -> Result<Vec<Solid>, ReadError> {
    let mut reader = TextReader::default();
    let mut last_line = 0;
    for (line, text) in Lines::of(bytes) {
        last_line = line;
        reader
            .line(text)
            .map_err(|message| ReadError::line(line, message))?;
    }

    if reader.open {
        return Err(ReadError::line(
            last_line,
            "the file ends before 'endsolid'; it is cut off, export it again",
        ));
    }

    Ok(reader.solids)
}

#[derive(Default)]
struct TextReader {
    solids: Vec<Solid>,
    /// The corners of the current facet.
    corners: Vec<DVec3>,
    /// Whether the current solid is not ended.
    open: bool,
}

impl TextReader {
    fn line(&mut self, text: &[u8]) -> Result<(), String> {
        let mut words = Words::of(text);
        match words.next().map(<[u8]>::to_ascii_lowercase).as_deref() {
            None | Some(b"outer" | b"endloop") => {}
            Some(b"solid") => {
                let name = String::from_utf8_lossy(words.rest()).replace(char::is_control, " ");
                self.solids.push(Solid::named(name));
                self.open = true;
            }
            Some(b"facet") => self.corners.clear(),
            Some(b"vertex") => match position(words) {
                Some(corner) => self.corners.push(corner),
                None => return Err(format!("'{}' is not three coordinates", excerpt(text))),
            },
            Some(b"endfacet") => self.end_facet()?,
            Some(b"endsolid") => self.open = false,
            Some(_) => return Err(format!("'{}' is not a line of an STL text", excerpt(text))),
        }

        Ok(())
    }

    fn end_facet(&mut self) -> Result<(), String> {
        let Some(solid) = self.solids.last_mut() else {
            return Err("a facet comes before any 'solid'".into());
        };
        let count = self.corners.len();
        let corners = <[DVec3; 3]>::try_from(self.corners.as_slice())
            .map_err(|_| format!("a facet has {count} corners instead of 3"))?;

        solid.triangle(corners);
        self.corners.clear();
        Ok(())
    }
}

fn position(words: Words<'_>) -> Option<DVec3> {
    let numbers: Vec<f64> = words.map(number).collect::<Option<_>>()?;
    <[f64; 3]>::try_from(numbers).ok().map(DVec3::from_array)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FilePosition;

    const TETRAHEDRON: [[usize; 3]; 4] = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
    const POSITIONS: [DVec3; 4] = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];

    fn binary(head: &str) -> Vec<u8> {
        let mut bytes = format!("{head:80}").into_bytes();
        bytes.extend_from_slice(&4_u32.to_le_bytes());
        for face in TETRAHEDRON {
            bytes.extend_from_slice(&[0; 12]);
            let corners = face.map(|v| {
                POSITIONS[v]
                    .to_array()
                    .map(|x| (x as f32).to_le_bytes().to_vec())
                    .concat()
            });

            bytes.extend(corners.concat());
            bytes.extend_from_slice(&[0; 2]);
        }

        bytes
    }

    fn text(name: &str) -> String {
        let corner = |v: usize| {
            format!(
                "   vertex {:e} {} -{}\n",
                POSITIONS[v].x, POSITIONS[v].y, POSITIONS[v].z
            )
        };

        let facet = |f: [usize; 3]| {
            format!(
                " facet normal 0 0 1\n  outer loop\n{}  endloop\n endfacet\n",
                f.map(corner).concat()
            )
        };

        format!(
            "solid {name}\n{}endsolid {name}\n",
            TETRAHEDRON.map(facet).concat()
        )
    }

    #[test]
    fn loose_corners_become_a_closed_surface() {
        for bytes in [
            binary("solid but binary"),
            binary("x"),
            text("").into_bytes(),
            text("spike")
                .replace('\n', "\r\n")
                .to_uppercase()
                .into_bytes(),
        ] {
            let asset = read(&bytes).unwrap();
            let mesh = asset.mesh().unwrap();
            assert_eq!(
                (
                    mesh.vertex_count(),
                    mesh.face_count(),
                    asset.objects[0].file_vertices
                ),
                (4, 4, 12)
            );

            assert_eq!(pliant_mesh::MeshReport::of(&mesh).boundary_loops, 0);
            assert!(
                asset.warnings[0].contains("12 loose corners")
                    && asset.warnings[0].contains("4 vertices"),
                "{:?}",
                asset.warnings
            );
        }
    }

    #[test]
    fn bytes_after_the_last_triangle_are_reported() {
        let longer = [binary("x"), vec![0; 50]].concat();
        let asset = read(&longer).unwrap();
        assert_eq!(asset.mesh().unwrap().face_count(), 4);
        assert_eq!(
            asset.warnings[0],
            "50 byte(s) after the last triangle were not read"
        );
    }

    #[test]
    fn each_solid_of_a_text_is_an_object() {
        let asset = read((text("left part") + &text("right")).as_bytes()).unwrap();
        assert_eq!(
            asset.objects.iter().map(Object::name).collect::<Vec<_>>(),
            ["left part", "right"]
        );
    }

    #[test]
    fn truncated_and_invalid_files_are_reported_with_their_position() {
        let whole = binary("x");
        let error = read(&whole[..whole.len() - 1]).unwrap_err();
        assert_eq!(error.position, FilePosition::Byte(84));
        assert!(
            error
                .message
                .contains("4 triangles are announced, which need 200 bytes, but 199 are left"),
            "{error}"
        );

        let mut huge = whole.clone();
        huge[80..84].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(
            read(&huge)
                .unwrap_err()
                .message
                .contains("4294967295 triangles are announced")
        );

        assert!(
            read(b"short")
                .unwrap_err()
                .message
                .contains("needs 80 bytes, but 5 are left")
        );

        let cut = text("spike").replace("endsolid spike\n", "");
        let error = read(cut.as_bytes()).unwrap_err();
        assert!(
            error.message.contains("before 'endsolid'") && error.position == FilePosition::Line(29),
            "{error:?}"
        );

        let message = |from: &str, to: &str| {
            read(text("s").replacen(from, to, 1).as_bytes())
                .unwrap_err()
                .message
        };

        assert!(
            message("vertex 1e0 0 -0", "vertex one 0 0")
                .contains("'   vertex one 0 0' is not three coordinates")
        );
        assert!(message("   vertex 1e0 0 -0\n", "").contains("2 corners"));
        assert!(message("outer", "inner").contains("'  inner loop'"));
    }
}
