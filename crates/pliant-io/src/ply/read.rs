use std::collections::HashMap;
use std::fmt::Display;

use pliant_mesh::glam::{DVec2, DVec3, DVec4};
use pliant_mesh::{CornerLayer, Mesh, MeshBuilder, VertexLayer};

use super::header::{Element, Encoding, Header, Property, Scalar};
use crate::binary::Cursor;
use crate::text::{Lines, Words, number, shown};
use crate::{Asset, ReadError};

/// Reads a mesh.
pub fn read(bytes: &[u8]) -> Result<Asset, ReadError> {
    let header = Header::read(bytes)?;
    let encoding = header.encoding;
    read_as(bytes, &header, encoding).map_err(|error| match encoding.swapped() {
        Some(swapped) if read_as(bytes, &header, swapped).is_ok() => {
            let hint = format!(
                "{} (read as {} it would fit: the header names the wrong byte order)",
                error.message,
                swapped.name()
            );
            ReadError {
                message: hint,
                ..error
            }
        }
        _ => error,
    })
}

fn read_as(bytes: &[u8], header: &Header, encoding: Encoding) -> Result<Asset, ReadError> {
    let mut body = Body::of(bytes, header, encoding);
    let mut mesh = PlyMesh::new(&header.elements);
    for element in &header.elements {
        body.require_rows(element)?;
        match element.name.as_str() {
            _ if element.properties.is_empty() => {}
            "vertex" => mesh.read_vertices(&mut body, element)?,
            "face" => mesh.read_faces(&mut body, element)?,
            _ => mesh.skip(&mut body, element)?,
        }
    }
    let mut problems = mesh.problems();
    problems.extend(body.rest());
    let mut asset = Asset::from_mesh(mesh.build()?);
    asset.problems = problems;
    Ok(asset)
}

/// The rows, as text or packed.
enum Body<'a> {
    Text {
        lines: Lines<'a>,
        words: Words<'a>,
        line: usize,
        header_lines: usize,
        left: usize,
    },
    Packed {
        cursor: Cursor<'a>,
        big: bool,
    },
}

impl<'a> Body<'a> {
    fn of(bytes: &'a [u8], header: &Header, encoding: Encoding) -> Self {
        if encoding == Encoding::Ascii {
            let rest = &bytes[header.length..];
            return Self::Text {
                lines: Lines::of(rest),
                words: Words::of(b""),
                line: 0,
                header_lines: header.lines,
                left: rest.len(),
            };
        }
        let mut cursor = Cursor::of(bytes);
        cursor
            .take(header.length, "the header")
            .expect("the header was read from these bytes");
        Self::Packed {
            cursor,
            big: encoding == Encoding::BigEndian,
        }
    }

    fn error(&self, message: String) -> ReadError {
        match self {
            Self::Text {
                line, header_lines, ..
            } => ReadError::line(header_lines + line, message),
            Self::Packed { cursor, .. } => ReadError::byte(cursor.at(), message),
        }
    }

    /// Declines more rows than the bytes could hold.
    fn require_rows(&self, element: &Element) -> Result<(), ReadError> {
        let what = format!("rows of element '{}'", element.name);
        match self {
            Self::Packed { cursor, .. } => {
                cursor.require(element.count, element.least_bytes(), what)
            }
            // A number and the space after it, which the last one may lack.
            Self::Text { left, .. }
                if u128::from(element.count) * 2 * element.properties.len() as u128
                    > *left as u128 + 1 =>
            {
                let count = element.count;
                Err(self.error(format!("{count} {what} are promised, but {left} bytes are left; the file is cut off or damaged")))
            }
            Self::Text { .. } => Ok(()),
        }
    }

    #[inline]
    fn number(&mut self, kind: Scalar, what: &dyn Display) -> Result<f64, ReadError> {
        match self {
            Self::Packed { cursor, big } => Ok(kind.decode(cursor.take(kind.size(), what)?, *big)),
            Self::Text { .. } => {
                let word = self.word(what)?;
                number(word).ok_or_else(|| {
                    self.error(format!("'{}' stands where {what} is needed", shown(word)))
                })
            }
        }
    }

    fn word(&mut self, what: &dyn Display) -> Result<&'a [u8], ReadError> {
        let Self::Text {
            lines,
            words,
            line,
            header_lines,
            ..
        } = self
        else {
            unreachable!("only text has words")
        };
        loop {
            if let Some(word) = words.next() {
                return Ok(word);
            }
            let Some((number, text)) = lines.next() else {
                return Err(ReadError::line(
                    *header_lines + *line,
                    format!("the file ends before {what}; export it again"),
                ));
            };
            (*line, *words) = (number, Words::of(text));
        }
    }

    /// A sentence about what stands after the last row.
    fn rest(&mut self) -> Option<String> {
        match self {
            Self::Packed { cursor, .. } => (cursor.left() > 0)
                .then(|| format!("{} byte(s) after the last row were not read", cursor.left())),
            Self::Text { .. } => {
                self.word(&"the end").ok()?;
                let Self::Text {
                    line, header_lines, ..
                } = self
                else {
                    return None;
                };
                Some(format!(
                    "what stands from line {} on, after the last row, was not read",
                    *line + *header_lines
                ))
            }
        }
    }

    fn length(&mut self, kind: Scalar, what: &dyn Display) -> Result<usize, ReadError> {
        let length = self.number(kind, what)?;
        if length < 0.0 || length.fract() != 0.0 || !length.is_finite() {
            return Err(self.error(format!("{what} is {length}, which is no count")));
        }
        Ok(length as usize)
    }

    fn list(
        &mut self,
        property: &Property,
        length_kind: Scalar,
        into: &mut Vec<f64>,
        what: &dyn Display,
    ) -> Result<(), ReadError> {
        into.clear();
        let length = self.length(length_kind, what)?;
        for _ in 0..length {
            let value = self.number(property.kind, what)?;
            into.push(value);
        }
        Ok(())
    }

    fn skip(&mut self, property: &Property, what: &dyn Display) -> Result<(), ReadError> {
        let length = property
            .list
            .map_or(Ok(1), |kind| self.length(kind, what))?;
        match self {
            Self::Packed { cursor, .. } => {
                cursor.take(length.saturating_mul(property.kind.size()), what)?;
            }
            Self::Text { .. } => {
                for _ in 0..length {
                    self.word(what)?;
                }
            }
        }
        Ok(())
    }
}

/// Where the parts of a vertex row stand; the names that programs give them.
const PARTS: [&[&str]; 12] = [
    &["x"],
    &["y"],
    &["z"],
    &["nx"],
    &["ny"],
    &["nz"],
    &["red", "diffuse_red", "r"],
    &["green", "diffuse_green", "g"],
    &["blue", "diffuse_blue", "b"],
    &["alpha", "diffuse_alpha", "a"],
    &["s", "u", "texture_u", "texture_s"],
    &["t", "v", "texture_v", "texture_t"],
];
const NORMAL: std::ops::Range<usize> = 3..6;
const COLOR: std::ops::Range<usize> = 6..10;
const UV: std::ops::Range<usize> = 10..12;

#[derive(Default)]
struct PlyMesh {
    builder: MeshBuilder,
    vertex_count: u64,
    normals: Vec<DVec3>,
    colors: Vec<DVec4>,
    uvs: Vec<DVec2>,
    corner_uvs: CornerUvs,
    small_faces: usize,
    odd_texcoords: usize,
    skipped: Vec<String>,
}

/// Per-corner UVs, each distinct one once.
#[derive(Default)]
struct CornerUvs {
    values: Vec<DVec2>,
    corners: Vec<Option<u32>>,
    index_of: HashMap<[u64; 2], u32>,
}

impl CornerUvs {
    fn push(&mut self, uv: Option<DVec2>) {
        let index = uv.map(|uv| {
            *self
                .index_of
                .entry([uv.x.to_bits(), uv.y.to_bits()])
                .or_insert_with(|| {
                    self.values.push(uv);
                    self.values.len() as u32 - 1
                })
        });
        self.corners.push(index);
    }
}

impl PlyMesh {
    fn new(elements: &[Element]) -> Self {
        let vertices = elements
            .iter()
            .filter(|e| e.name == "vertex")
            .map(|e| e.count)
            .sum();
        Self {
            vertex_count: vertices,
            ..Self::default()
        }
    }

    fn read_vertices(&mut self, body: &mut Body<'_>, element: &Element) -> Result<(), ReadError> {
        let slots: Vec<Option<usize>> = element
            .properties
            .iter()
            .map(|p| {
                PARTS
                    .iter()
                    .position(|names| p.list.is_none() && names.contains(&p.name.as_str()))
            })
            .collect();
        let has =
            |parts: std::ops::Range<usize>| parts.clone().all(|part| slots.contains(&Some(part)));
        if !has(0..3) {
            return Err(
                body.error("element 'vertex' has no properties x, y and z; export it again".into())
            );
        }
        self.tell_skipped(element, |k| slots[k].is_none());
        // Alpha may be missing.
        let (normals, colors, uvs) = (has(NORMAL), has(6..9), has(UV));
        for vertex in 0..element.count {
            let mut row = [0.0; 12];
            row[9] = 1.0;
            for (property, slot) in element.properties.iter().zip(&slots) {
                let what = RowPart {
                    element: "vertex",
                    row: vertex,
                    of: element.count,
                    property: &property.name,
                };
                match slot {
                    None => body.skip(property, &what)?,
                    Some(slot) if COLOR.contains(slot) => {
                        row[*slot] =
                            body.number(property.kind, &what)? / property.kind.full_intensity();
                    }
                    Some(slot) => row[*slot] = body.number(property.kind, &what)?,
                }
            }
            self.builder.positions.push(DVec3::from_slice(&row));
            if normals {
                self.normals.push(DVec3::from_slice(&row[NORMAL]));
            }
            if colors {
                self.colors.push(DVec4::from_slice(&row[COLOR]));
            }
            if uvs {
                self.uvs.push(DVec2::from_slice(&row[UV]));
            }
        }
        Ok(())
    }

    fn read_faces(&mut self, body: &mut Body<'_>, element: &Element) -> Result<(), ReadError> {
        let list = |names: &[&str]| {
            element
                .property(names)
                .filter(|&k| element.properties[k].list.is_some())
        };
        let (indices, texcoord) = (
            list(&["vertex_indices", "vertex_index"]),
            list(&["texcoord"]),
        );
        if indices.is_none() {
            return Err(
                body.error("element 'face' has no list of vertex_indices; export it again".into())
            );
        }
        self.tell_skipped(element, |k| ![indices, texcoord].contains(&Some(k)));
        let (mut corners, mut uvs) = (Vec::new(), Vec::new());
        for face in 0..element.count {
            uvs.clear();
            for (k, property) in element.properties.iter().enumerate() {
                let what = RowPart {
                    element: "face",
                    row: face,
                    of: element.count,
                    property: &property.name,
                };
                match property.list {
                    Some(length) if Some(k) == indices => {
                        body.list(property, length, &mut corners, &what)?
                    }
                    Some(length) if Some(k) == texcoord => {
                        body.list(property, length, &mut uvs, &what)?
                    }
                    _ => body.skip(property, &what)?,
                }
            }
            self.add_face(body, face, &corners, &uvs)?;
        }
        Ok(())
    }

    fn add_face(
        &mut self,
        body: &Body<'_>,
        face: u64,
        corners: &[f64],
        uvs: &[f64],
    ) -> Result<(), ReadError> {
        if let Some(&far) = corners
            .iter()
            .find(|&&v| !(v >= 0.0 && v < self.vertex_count as f64 && v.fract() == 0.0))
        {
            let vertices = self.vertex_count;
            return Err(body.error(format!(
                "face {face} names vertex {far}, but there are {vertices} vertices, counted from 0"
            )));
        }
        if corners.len() < 3 {
            self.small_faces += 1;
            return Ok(());
        }
        self.builder.face_sizes.push(corners.len() as u32);
        self.builder
            .corners
            .extend(corners.iter().map(|&v| v as u32));
        let fits = uvs.len() == 2 * corners.len();
        self.odd_texcoords += usize::from(!fits && !uvs.is_empty());
        for k in 0..corners.len() {
            self.corner_uvs
                .push(fits.then(|| DVec2::new(uvs[2 * k], uvs[2 * k + 1])));
        }
        Ok(())
    }

    fn skip(&mut self, body: &mut Body<'_>, element: &Element) -> Result<(), ReadError> {
        for row in 0..element.count {
            for property in &element.properties {
                body.skip(
                    property,
                    &RowPart {
                        element: &element.name,
                        row,
                        of: element.count,
                        property: &property.name,
                    },
                )?;
            }
        }
        if element.count > 0 {
            self.skipped.push(format!(
                "{} row(s) of element '{}' were skipped",
                element.count, element.name
            ));
        }
        Ok(())
    }

    /// Properties that a mesh has no place for, such as a scanner's confidence.
    fn tell_skipped(&mut self, element: &Element, skipped: impl Fn(usize) -> bool) {
        const MOST_NAMES: usize = 8;
        let mut names = (0..element.properties.len())
            .filter(|&k| skipped(k))
            .map(|k| format!("'{}'", element.properties[k].name));
        let shown: Vec<_> = names.by_ref().take(MOST_NAMES).collect();
        let more = names.count();
        if !shown.is_empty() && element.count > 0 {
            let more = if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            };
            self.skipped.push(format!(
                "of element '{}', these properties are not kept: {}{more}",
                element.name,
                shown.join(", ")
            ));
        }
    }

    fn problems(&self) -> Vec<String> {
        let mut problems = self.skipped.clone();
        let kinds = [
            (
                self.small_faces,
                "face(s) with fewer than 3 corners were skipped",
            ),
            (
                self.odd_texcoords,
                "face(s) have a 'texcoord' list that does not fit their corners; it was skipped",
            ),
        ];
        problems.extend(
            kinds
                .iter()
                .filter(|(count, _)| *count > 0)
                .map(|(count, what)| format!("{count} {what}")),
        );
        problems
    }

    fn build(self) -> Result<Mesh, ReadError> {
        let mut builder = self.builder;
        let by_vertex = || builder.corners.iter().map(|&v| Some(v)).collect::<Vec<_>>();
        if !self.corner_uvs.values.is_empty() {
            let CornerUvs {
                values, corners, ..
            } = self.corner_uvs;
            builder.uv_layers.push(CornerLayer {
                name: String::new(),
                values,
                corners,
            });
        } else if !self.uvs.is_empty() {
            builder.uv_layers.push(CornerLayer {
                name: String::new(),
                values: self.uvs,
                corners: by_vertex(),
            });
        }
        if !self.normals.is_empty() {
            builder.normals = Some(CornerLayer {
                name: String::new(),
                values: self.normals,
                corners: by_vertex(),
            });
        }
        if !self.colors.is_empty() {
            builder.colors.push(VertexLayer {
                name: String::new(),
                values: self.colors,
            });
        }
        Ok(builder.build()?)
    }
}

/// A cell of a table, for messages.
struct RowPart<'a> {
    element: &'a str,
    row: u64,
    of: u64,
    property: &'a str,
}

impl Display for RowPart<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "'{}' of {} {} of {}",
            self.property, self.element, self.row, self.of
        )
    }
}
