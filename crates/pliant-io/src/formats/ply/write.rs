//! Writer of packed little-endian PLY files.

use pliant_mesh::glam::DVec3;
use pliant_mesh::{CornerLayer, Mesh};

use crate::{Asset, Capabilities, EncodedAsset, IoError, UpAxes};

/// What a PLY file can store; normals only if each vertex has one.
pub const CAPABILITIES: Capabilities = Capabilities {
    faces: true,
    polygons: true,
    objects: false,
    uv_layers: 1,
    color_layers: 1,
    normals: true,
    groups: false,
    materials: false,
    textures: false,
    smoothing: false,
    targets: false,
    in_betweens: false,
    combinations: false,
    slider_settings: false,
    rest_weights: false,
    clips: 0,
    weight_tracks: false,
    skins: false,
    rest_pose: false,
    frame_names: false,
    up_axes: UpAxes::Unspecified,
};

/// The asset at rest as one mesh, in the vertex order of the file it came from.
pub fn write(asset: &Asset) -> Result<EncodedAsset, IoError> {
    let mesh = asset.mesh()?;
    let writer = Writer::new(&mesh);
    let mut left_out = Capabilities {
        normals: writer.normals.is_some(),
        ..CAPABILITIES
    }
    .left_out_of(asset);

    if writer.partly_mapped_faces > 0 {
        left_out.push(format!(
            "the texture coordinates of {} face(s) that lack one at some corner",
            writer.partly_mapped_faces
        ));
    }

    Ok(EncodedAsset {
        bytes: writer.write(),
        left_out,
        ..EncodedAsset::default()
    })
}

/// The precision of numbers: single if it is exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Real {
    Single,
    Double,
}

impl Real {
    fn for_values(mut values: impl Iterator<Item = f64>) -> Self {
        if values.all(|value| f64::from(value as f32) == value) {
            Self::Single
        } else {
            Self::Double
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Single => "float",
            Self::Double => "double",
        }
    }

    fn push(self, out: &mut Vec<u8>, value: f64) {
        match self {
            Self::Single => out.extend_from_slice(&(value as f32).to_le_bytes()),
            Self::Double => out.extend_from_slice(&value.to_le_bytes()),
        }
    }
}

struct Writer<'a> {
    mesh: &'a Mesh,
    position: Real,
    uv: Real,
    /// One normal per vertex.
    normals: Option<Vec<DVec3>>,
    /// Whether all colours are multiples of 1/255, so that bytes store them exactly.
    byte_colors: bool,
    opaque: bool,
    /// Whether a list is longer than a byte can count.
    long_lists: bool,
    partly_mapped_faces: usize,
}

impl<'a> Writer<'a> {
    fn new(mesh: &'a Mesh) -> Self {
        let colors = || {
            mesh.colors()
                .first()
                .into_iter()
                .flat_map(|layer| &layer.values)
        };

        let uvs = mesh.uv_layers().first();
        let partly_mapped = |layer: &CornerLayer<_>, face| {
            let mapped = mesh
                .face_corners(face)
                .filter(|&c| layer.corners[c].is_some())
                .count();
            mapped > 0 && mapped < mesh.face(face).len()
        };

        Self {
            mesh,
            position: Real::for_values(mesh.positions().iter().flat_map(|p| p.to_array())),
            uv: Real::for_values(
                uvs.into_iter()
                    .flat_map(|l| &l.values)
                    .flat_map(|uv| uv.to_array()),
            ),
            normals: mesh.normals().and_then(|layer| by_vertex(mesh, layer)),
            byte_colors: colors().all(|c| {
                (*c * 255.0 - (*c * 255.0).round()).abs().max_element() < 1e-9 && is_unit(*c)
            }),
            opaque: colors().all(|c| c.w == 1.0),
            long_lists: mesh
                .faces()
                .any(|face| 2 * face.len() > usize::from(u8::MAX)),
            partly_mapped_faces: uvs.map_or(0, |layer| {
                (0..mesh.face_count())
                    .filter(|&f| partly_mapped(layer, f))
                    .count()
            }),
        }
    }

    fn write(&self) -> Vec<u8> {
        let mut out = self.header().into_bytes();
        for vertex in 0..self.mesh.vertex_count() {
            self.vertex(vertex, &mut out);
        }
        for face in 0..self.mesh.face_count() {
            self.face(face, &mut out);
        }
        out
    }

    fn header(&self) -> String {
        let mesh = self.mesh;
        let mut text = format!(
            "ply\nformat binary_little_endian 1.0\nelement vertex {}\n",
            mesh.vertex_count()
        );

        let mut properties = |kind: &str, names: &[&str]| {
            for name in names {
                text += &format!("property {kind} {name}\n");
            }
        };

        properties(self.position.name(), &["x", "y", "z"]);
        if self.normals.is_some() {
            properties("double", &["nx", "ny", "nz"]);
        }

        if !mesh.colors().is_empty() {
            let names = ["red", "green", "blue", "alpha"];
            let kind = if self.byte_colors { "uchar" } else { "float" };
            properties(kind, if self.opaque { &names[..3] } else { &names });
        }

        let count = if self.long_lists { "uint" } else { "uchar" };
        text += &format!(
            "element face {}\nproperty list {count} {} vertex_indices\n",
            mesh.face_count(),
            self.index_kind()
        );

        if !mesh.uv_layers().is_empty() {
            text += &format!("property list {count} {} texcoord\n", self.uv.name());
        }

        text + "end_header\n"
    }

    /// Signed if it fits, because some programs read nothing else.
    fn index_kind(&self) -> &'static str {
        if i32::try_from(self.mesh.vertex_count()).is_ok() {
            "int"
        } else {
            "uint"
        }
    }

    fn vertex(&self, vertex: usize, out: &mut Vec<u8>) {
        for x in self.mesh.positions()[vertex].to_array() {
            self.position.push(out, x);
        }

        if let Some(normals) = &self.normals {
            for x in normals[vertex].to_array() {
                Real::Double.push(out, x);
            }
        }

        if let Some(layer) = self.mesh.colors().first() {
            let components = if self.opaque { 3 } else { 4 };
            for value in &layer.values[vertex].to_array()[..components] {
                match self.byte_colors {
                    true => out.push((value * 255.0).round() as u8),
                    false => Real::Single.push(out, *value),
                }
            }
        }
    }

    fn face(&self, face: usize, out: &mut Vec<u8>) {
        let vertices = self.mesh.face(face);
        self.length(vertices.len(), out);
        for v in vertices {
            out.extend_from_slice(&v.to_le_bytes());
        }

        let Some(layer) = self.mesh.uv_layers().first() else {
            return;
        };

        let corners = self
            .mesh
            .face_corners(face)
            .map(|corner| layer.corners[corner]);

        // All or none, because a list cannot store a missing one.
        let uvs = corners
            .map(|c| c.map(|k| layer.values[k as usize]))
            .collect::<Option<Vec<_>>>()
            .unwrap_or_default();

        self.length(2 * uvs.len(), out);
        for x in uvs.iter().flat_map(|uv| uv.to_array()) {
            self.uv.push(out, x);
        }
    }

    fn length(&self, length: usize, out: &mut Vec<u8>) {
        match self.long_lists {
            true => out.extend_from_slice(&(length as u32).to_le_bytes()),
            false => out.push(length as u8),
        }
    }
}

fn is_unit(color: pliant_mesh::glam::DVec4) -> bool {
    color.min_element() >= 0.0 && color.max_element() <= 1.0
}

/// The normal of each vertex, if all corners of each vertex have the same one; zero for a vertex
/// that no face uses.
fn by_vertex(mesh: &Mesh, layer: &CornerLayer<DVec3>) -> Option<Vec<DVec3>> {
    let mut normals = vec![None; mesh.vertex_count()];
    let corners = mesh.faces().flatten().zip(&layer.corners);
    for (&vertex, corner) in corners {
        let normal = layer.values[(*corner)? as usize];
        if *normals[vertex as usize].get_or_insert(normal) != normal {
            return None;
        }
    }
    Some(normals.into_iter().map(Option::unwrap_or_default).collect())
}
