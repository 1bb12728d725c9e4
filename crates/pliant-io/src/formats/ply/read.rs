//! Reader of PLY elements: vertices and faces.

use std::collections::HashMap;
use std::ops::Range;

use pliant_mesh::glam::{DVec2, DVec3, DVec4};
use pliant_mesh::{CornerLayer, Mesh, MeshBuilder, VertexLayer};

use super::body::{Body, Cell};
use super::header::{Element, Encoding, Header};
use crate::{Asset, ReadError};

/// Reads a mesh.
pub fn read(bytes: &[u8]) -> Result<Asset, ReadError> {
    let header = Header::read(bytes)?;
    let encoding = header.encoding;
    read_as(bytes, &header, encoding).map_err(|error| match encoding.swapped() {
        Some(swapped) if read_as(bytes, &header, swapped).is_ok() => {
            // The file is valid in the other byte order, so that the header must be wrong.
            let message = format!(
                "{} (read as {} it would fit: the header names the wrong byte order)",
                error.message,
                swapped.name()
            );
            ReadError { message, ..error }
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

    let mut warnings = mesh.warnings();
    warnings.extend(body.rest());
    let mut asset = Asset::from_mesh(mesh.build()?);
    asset.warnings = warnings;

    Ok(asset)
}

/// The components of a vertex, with the names that programs give them.
const COMPONENTS: [&[&str]; 12] = [
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
const POSITION: Range<usize> = 0..3;
const NORMAL: Range<usize> = 3..6;
const COLOR: Range<usize> = 6..10;
/// The components of a colour that a file must have; alpha may be missing.
const RGB: Range<usize> = 6..9;
const ALPHA: usize = 9;
const UV: Range<usize> = 10..12;

#[derive(Default)]
struct PlyMesh {
    builder: MeshBuilder,
    vertex_count: u64,
    normals: Vec<DVec3>,
    colors: Vec<DVec4>,
    uvs: Vec<DVec2>,
    corner_uvs: CornerUvs,
    small_faces: usize,
    misfit_texcoords: usize,
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
        // The component of each property; unknown properties and lists have none.
        let slots: Vec<Option<usize>> = element
            .properties
            .iter()
            .map(|p| {
                COMPONENTS
                    .iter()
                    .position(|names| p.list.is_none() && names.contains(&p.name.as_str()))
            })
            .collect();

        let has = |parts: Range<usize>| parts.clone().all(|part| slots.contains(&Some(part)));
        if !has(POSITION) {
            return Err(
                body.error("element 'vertex' has no properties x, y and z; export it again".into())
            );
        }

        self.warn_about_skipped(element, |k| slots[k].is_none());
        let with_normals = has(NORMAL);
        let with_colors = has(RGB);
        let with_uvs = has(UV);
        for vertex in 0..element.count {
            let row = read_vertex(body, element, vertex, &slots)?;
            self.builder.positions.push(DVec3::from_slice(&row));
            if with_normals {
                self.normals.push(DVec3::from_slice(&row[NORMAL]));
            }
            if with_colors {
                self.colors.push(DVec4::from_slice(&row[COLOR]));
            }
            if with_uvs {
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

        let indices = list(&["vertex_indices", "vertex_index"]);
        let texcoord = list(&["texcoord"]);
        if indices.is_none() {
            return Err(
                body.error("element 'face' has no list of vertex_indices; export it again".into())
            );
        }

        self.warn_about_skipped(element, |k| ![indices, texcoord].contains(&Some(k)));
        let mut corners = Vec::new();
        let mut uvs = Vec::new();
        for face in 0..element.count {
            uvs.clear();
            for (k, property) in element.properties.iter().enumerate() {
                let what = Cell {
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
        let vertices = self.vertex_count;
        let is_index = |v: f64| v >= 0.0 && v < vertices as f64 && v.fract() == 0.0;
        if let Some(invalid) = corners.iter().find(|&&v| !is_index(v)) {
            return Err(body.error(format!(
                "face {face} names vertex {invalid}, but there are {vertices} vertices, counted from 0"
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

        // MeshLab stores two numbers for each corner.
        let fits = uvs.len() == 2 * corners.len();
        self.misfit_texcoords += usize::from(!fits && !uvs.is_empty());
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
                    &Cell {
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

    /// Warns about properties that a mesh cannot store, such as the confidence of a scanner.
    fn warn_about_skipped(&mut self, element: &Element, skipped: impl Fn(usize) -> bool) {
        const MOST_NAMES: usize = 8;

        let mut names: Vec<String> = (0..element.properties.len())
            .filter(|&k| skipped(k))
            .map(|k| format!("'{}'", element.properties[k].name))
            .collect();
        if names.is_empty() || element.count == 0 {
            return;
        }

        let more = names.len().saturating_sub(MOST_NAMES);
        names.truncate(MOST_NAMES);
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        self.skipped.push(format!(
            "of element '{}', these properties are not kept: {}{more}",
            element.name,
            names.join(", ")
        ));
    }

    fn warnings(&self) -> Vec<String> {
        let mut warnings = self.skipped.clone();
        if self.small_faces > 0 {
            warnings.push(format!(
                "{} face(s) with fewer than 3 corners were skipped",
                self.small_faces
            ));
        }
        if self.misfit_texcoords > 0 {
            warnings.push(format!(
                "{} face(s) have a 'texcoord' list that does not fit their corners; it was skipped",
                self.misfit_texcoords
            ));
        }

        warnings
    }

    fn build(self) -> Result<Mesh, ReadError> {
        // UVs at corners take precedence over UVs at vertices.
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

/// The components of one vertex, each in the slot of its property.
fn read_vertex(
    body: &mut Body<'_>,
    element: &Element,
    vertex: u64,
    slots: &[Option<usize>],
) -> Result<[f64; 12], ReadError> {
    // A vertex without alpha is opaque.
    let mut row = [0.0; 12];
    row[ALPHA] = 1.0;

    for (property, slot) in element.properties.iter().zip(slots) {
        let what = Cell {
            element: "vertex",
            row: vertex,
            of: element.count,
            property: &property.name,
        };
        let Some(slot) = *slot else {
            body.skip(property, &what)?;
            continue;
        };

        // Integer colours are fractions of full intensity.
        let value = body.number(property.kind, &what)?;
        row[slot] = if COLOR.contains(&slot) {
            value / property.kind.full_intensity()
        } else {
            value
        };
    }

    Ok(row)
}
