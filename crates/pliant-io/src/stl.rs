//! STL: loose triangles, read only.
//!
//! **Form.** Binary: 80 bytes of comment, a count, then 50 bytes per triangle (normal, three
//! corners, two spare bytes). Text: `solid NAME`, then `facet … outer loop`, three `vertex x y z`,
//! `endloop`, `endfacet`.
//!
//! **Source.** 3D Systems, "StereoLithography interface specification", 1989.
//!
//! **Ours.** Corners in exactly one place become one vertex, in order of first use. Each solid of a
//! text is an object. A binary comment may begin with `solid`: the length of the file tells the two
//! apart. The normals, which the corners give too, are not kept.

use std::collections::HashMap;

use pliant_mesh::MeshBuilder;
use pliant_mesh::glam::DVec3;
use pliant_rig::Rig;

use crate::binary::Cursor;
use crate::text::{Lines, Words, number, shown};
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
        let (vertices, name) = (solid.builder.positions.len(), solid.builder.name.clone());
        if solid.unread > 0 {
            asset.problems.push(format!(
                "{} byte(s) after the last triangle were not read",
                solid.unread
            ));
        }
        let mut object = Object::new(Rig::still(solid.builder.build()?));
        object.file_vertices = corners;
        asset.objects.push(object);
        if corners > 0 {
            let of = if name.is_empty() {
                String::new()
            } else {
                format!(" of solid '{name}'")
            };
            asset.problems.push(format!("{corners} loose corners{of} were welded to {vertices} vertices by their exact places"));
        }
    }
    asset.name = asset
        .objects
        .first()
        .map(|o| o.name().to_owned())
        .unwrap_or_default();
    Ok(asset)
}

/// Text begins with `solid`, and is neither as long as a binary file of its count nor without a
/// word of the form.
fn is_text(bytes: &[u8]) -> bool {
    let count = bytes
        .get(HEAD_BYTES..HEAD_BYTES + 4)
        .map(|b| u32::from_le_bytes(b.try_into().expect("four bytes")));
    let binary_length =
        count.map(|n| (HEAD_BYTES + 4) as u64 + u64::from(n) * TRIANGLE_BYTES as u64);
    let early = bytes[..bytes.len().min(1024)].to_ascii_lowercase();
    let says = |word: &[u8]| early.windows(word.len()).any(|w| w == word);
    early.trim_ascii_start().starts_with(b"solid")
        && binary_length != Some(bytes.len() as u64)
        && (says(b"facet") || says(b"endsolid"))
}

/// Triangles with equal corners made one.
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

    fn corner(&mut self, place: DVec3) -> u32 {
        let positions = &mut self.builder.positions;
        // Adding zero makes −0 and 0 one place.
        let key = place.to_array().map(|x| (x + 0.0).to_bits());
        *self.index_of.entry(key).or_insert_with(|| {
            positions.push(place);
            positions.len() as u32 - 1
        })
    }

    fn triangle(&mut self, corners: [DVec3; 3]) {
        let face = corners.map(|place| self.corner(place));
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
        let float = |at: usize| {
            f64::from(f32::from_le_bytes(
                triangle[at..at + 4].try_into().expect("four bytes"),
            ))
        };
        solid.triangle([12, 24, 36].map(|at| DVec3::new(float(at), float(at + 4), float(at + 8))));
    }
    solid.unread = cursor.left();
    Ok(solid)
}

fn read_text(bytes: &[u8]) -> Result<Vec<Solid>, ReadError> {
    let mut solids: Vec<Solid> = Vec::new();
    let mut corners: Vec<DVec3> = Vec::new();
    let (mut last_line, mut open) = (0, false);
    for (line, text) in Lines::of(bytes) {
        last_line = line;
        let wrong = |why: String| ReadError::line(line, why);
        let mut words = Words::of(text);
        match words.next().map(<[u8]>::to_ascii_lowercase).as_deref() {
            None | Some(b"outer" | b"endloop") => {}
            Some(b"solid") => {
                solids.push(Solid::named(
                    String::from_utf8_lossy(words.rest()).replace(char::is_control, " "),
                ));
                open = true;
            }
            Some(b"facet") => corners.clear(),
            Some(b"vertex") => corners.push(
                place(words)
                    .ok_or_else(|| wrong(format!("'{}' is not three coordinates", shown(text))))?,
            ),
            Some(b"endfacet") => {
                let solid = solids
                    .last_mut()
                    .ok_or_else(|| wrong("a facet stands before any 'solid'".into()))?;
                let three = <[DVec3; 3]>::try_from(corners.as_slice());
                solid.triangle(three.map_err(|_| {
                    wrong(format!(
                        "a facet has {} corners instead of 3",
                        corners.len()
                    ))
                })?);
                corners.clear();
            }
            Some(b"endsolid") => open = false,
            Some(_) => {
                return Err(wrong(format!(
                    "'{}' is not a line of an STL text",
                    shown(text)
                )));
            }
        }
    }
    if open {
        return Err(ReadError::line(
            last_line,
            "the file ends before 'endsolid'; it is cut off, export it again",
        ));
    }
    Ok(solids)
}

fn place(words: Words<'_>) -> Option<DVec3> {
    let numbers: Vec<f64> = words.map(number).collect::<Option<_>>()?;
    <[f64; 3]>::try_from(numbers).ok().map(DVec3::from_array)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Place;

    const TETRAHEDRON: [[usize; 3]; 4] = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
    const PLACES: [DVec3; 4] = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];

    fn binary(head: &str) -> Vec<u8> {
        let mut bytes = format!("{head:80}").into_bytes();
        bytes.extend_from_slice(&4_u32.to_le_bytes());
        for face in TETRAHEDRON {
            bytes.extend_from_slice(&[0; 12]);
            let places = face.map(|v| {
                PLACES[v]
                    .to_array()
                    .map(|x| (x as f32).to_le_bytes().to_vec())
                    .concat()
            });
            bytes.extend(places.concat());
            bytes.extend_from_slice(&[0; 2]);
        }
        bytes
    }

    fn text(name: &str) -> String {
        let corner = |v: usize| {
            format!(
                "   vertex {:e} {} -{}\n",
                PLACES[v].x, PLACES[v].y, PLACES[v].z
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
            assert_eq!(pliant_mesh::Health::of(&mesh).boundary_loops, 0);
            assert!(
                asset.problems[0].contains("12 loose corners")
                    && asset.problems[0].contains("4 vertices"),
                "{:?}",
                asset.problems
            );
        }
    }

    #[test]
    fn bytes_beyond_the_count_are_told() {
        let longer = [binary("x"), vec![0; 50]].concat();
        let asset = read(&longer).unwrap();
        assert_eq!(asset.mesh().unwrap().face_count(), 4);
        assert_eq!(
            asset.problems[0],
            "50 byte(s) after the last triangle were not read"
        );
    }

    #[test]
    fn solids_of_a_text_are_objects() {
        let asset = read((text("left part") + &text("right")).as_bytes()).unwrap();
        assert_eq!(
            asset.objects.iter().map(Object::name).collect::<Vec<_>>(),
            ["left part", "right"]
        );
    }

    #[test]
    fn what_is_cut_off_or_wrong_is_named_with_its_place() {
        let whole = binary("x");
        let error = read(&whole[..whole.len() - 1]).unwrap_err();
        assert_eq!(error.place, Place::Byte(84));
        assert!(
            error
                .message
                .contains("4 triangles are promised, which need 200 bytes, but 199 are left"),
            "{error}"
        );
        let mut huge = whole.clone();
        huge[80..84].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(
            read(&huge)
                .unwrap_err()
                .message
                .contains("4294967295 triangles are promised")
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
            error.message.contains("before 'endsolid'") && error.place == Place::Line(29),
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
