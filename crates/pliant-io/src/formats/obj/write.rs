//! Writer of OBJ files.

use pliant_mesh::{CornerLayer, FaceLabels, Mesh};

use super::mtl_write::Library;
use crate::parse::text::push_number;
use crate::{Asset, Capabilities, EncodedAsset, Object, UpAxes};

/// What an OBJ file can store.
pub const CAPABILITIES: Capabilities = Capabilities {
    faces: true,
    polygons: true,
    objects: true,
    uv_layers: 1,
    color_layers: 1,
    normals: true,
    groups: true,
    materials: true,
    textures: true,
    smoothing: true,
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

/// The asset at rest, in the vertex order of the file it came from.
#[must_use]
pub fn write(asset: &Asset) -> EncodedAsset {
    let mut writer = Writer {
        file_indices: asset.file_indices(),
        ..Writer::default()
    };

    let library = Library::of(asset);
    writer.libraries(asset, library.name.as_deref());

    // If the vertices of the objects follow each other, each object is written with its own.
    let mut indices = writer.file_indices.iter().flatten().enumerate();
    let in_order = indices.all(|(k, &index)| k == index as usize);
    if !in_order {
        writer.all_vertices(asset);
    }
    for (k, object) in asset.objects.iter().enumerate() {
        writer.object(k, object, in_order);
    }

    EncodedAsset {
        bytes: writer.out,
        sidecar_files: library.files,
        left_out: [CAPABILITIES.left_out_of(asset), library.left_out].concat(),
    }
}

#[derive(Default)]
struct Writer {
    out: Vec<u8>,
    /// For each object, the indices of its vertices in the order of the whole file.
    file_indices: Vec<Vec<u32>>,
    /// How many UVs and normals earlier objects wrote.
    uvs: u32,
    normals: u32,
    /// The current labels, `None` before the first.
    group: Option<String>,
    material: Option<String>,
    smoothing: Option<String>,
}

impl Writer {
    /// The libraries that the meshes name; the first under the name of the file that is written.
    fn libraries(&mut self, asset: &Asset, written: Option<&str>) {
        let mut known: Vec<&str> = Vec::new();
        if let Some(name) = written {
            self.keyword("mtllib", name);
        }
        for library in asset
            .objects
            .iter()
            .flat_map(|o| o.rig.neutral().material_library())
        {
            if !known.contains(&library.as_str()) {
                known.push(library);
                // The first one is the library that is written.
                if written.is_none() || known.len() > 1 {
                    self.keyword("mtllib", library);
                }
            }
        }
    }

    fn all_vertices(&mut self, asset: &Asset) {
        // A shared vertex is written from the first object that has it.
        let mut owner = vec![None; asset.vertex_count()];
        for (k, indices) in self.file_indices.iter().enumerate() {
            for (v, &index) in indices.iter().enumerate() {
                owner[index as usize].get_or_insert((k, v));
            }
        }

        for owner in owner {
            match owner {
                Some((k, v)) => self.vertex(asset.objects[k].rig.neutral(), v),
                None => self.out.extend_from_slice(b"v 0 0 0\n"),
            }
        }
    }

    fn object(&mut self, index: usize, object: &Object, with_vertices: bool) {
        let mesh = object.rig.neutral();
        let name = written_name(object);
        if index > 0 || !name.is_empty() {
            self.keyword("o", name);
        }
        if with_vertices {
            for vertex in 0..mesh.vertex_count() {
                self.vertex(mesh, vertex);
            }
        }

        let uvs = mesh.uv_layers().first();
        for uv in uvs.iter().flat_map(|layer| &layer.values) {
            self.values("vt", &uv.to_array());
        }
        for normal in mesh.normals().iter().flat_map(|layer| &layer.values) {
            self.values("vn", &normal.to_array());
        }

        for face in 0..mesh.face_count() {
            self.labels(mesh, &object.smoothing, face);
            self.face(index, mesh, face);
        }

        self.uvs += uvs.map_or(0, |layer| layer.values.len() as u32);
        self.normals += mesh.normals().map_or(0, |layer| layer.values.len() as u32);
    }

    fn vertex(&mut self, mesh: &Mesh, vertex: usize) {
        let position = mesh.positions()[vertex];
        let color = mesh.colors().first().map(|layer| layer.values[vertex]);
        match color {
            None => self.values("v", &position.to_array()),
            Some(color) => {
                let [x, y, z] = position.to_array();
                let [r, g, b, a] = color.to_array();
                let values = [x, y, z, r, g, b, a];
                self.values("v", &values[..if a == 1.0 { 6 } else { 7 }]);
            }
        }
    }

    fn labels(&mut self, mesh: &Mesh, smoothing: &FaceLabels, face: usize) {
        let kinds: [(&str, &FaceLabels, CurrentLabel); 3] = [
            ("g", mesh.groups(), |w| &mut w.group),
            ("usemtl", mesh.materials(), |w| &mut w.material),
            ("s", smoothing, |w| &mut w.smoothing),
        ];
        for (keyword, labels, current) in kinds {
            // An empty label ends the labels of the object before.
            let label = labels.of(face).unwrap_or("");
            if current(self).as_deref().unwrap_or("") != label {
                *current(self) = Some(label.to_owned());
                let is_off = keyword == "s" && label.is_empty();
                self.keyword(keyword, if is_off { "off" } else { label });
            }
        }
    }

    fn face(&mut self, index: usize, mesh: &Mesh, face: usize) {
        self.out.push(b'f');
        let value = |layer: Option<u32>, before: u32| layer.map(|k| k + before + 1);
        for corner in mesh.face_corners(face) {
            let vertex = mesh.face(face)[corner - mesh.face_corners(face).start];
            let uv = value(corner_of(mesh.uv_layers().first(), corner), self.uvs);
            let normal = value(corner_of(mesh.normals(), corner), self.normals);
            self.out.push(b' ');
            self.index(self.file_indices[index][vertex as usize] + 1);

            if uv.is_some() || normal.is_some() {
                self.out.push(b'/');
                if let Some(uv) = uv {
                    self.index(uv);
                }
            }
            if let Some(normal) = normal {
                self.out.push(b'/');
                self.index(normal);
            }
        }

        self.out.push(b'\n');
    }

    fn index(&mut self, index: u32) {
        // Digits from the last to the first, without an intermediate string.
        let mut digits = [0; 10];
        let mut at = digits.len();
        let mut rest = index;

        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }

        self.out.extend_from_slice(&digits[at..]);
    }

    fn values(&mut self, keyword: &str, values: &[f64]) {
        self.out.extend_from_slice(keyword.as_bytes());
        for &value in values {
            self.out.push(b' ');
            push_number(&mut self.out, value);
        }
        self.out.push(b'\n');
    }

    /// A line with a name, without line breaks and without a backslash at its end.
    fn keyword(&mut self, keyword: &str, name: &str) {
        let clean = name.replace(char::is_control, " ");
        let clean = clean.trim().trim_end_matches('\\').trim_end();
        self.out.extend_from_slice(keyword.as_bytes());
        if !clean.is_empty() {
            self.out.push(b' ');
            self.out.extend_from_slice(clean.as_bytes());
        }
        self.out.push(b'\n');
    }
}

/// The current label of one kind.
type CurrentLabel = fn(&mut Writer) -> &mut Option<String>;

fn corner_of<T>(layer: Option<&CornerLayer<T>>, corner: usize) -> Option<u32> {
    layer.and_then(|layer| layer.corners[corner])
}

/// The name of the mesh if the path of the object ends in it, else the last part of the path. A
/// mesh name may contain a slash, which a path cannot distinguish from a step.
fn written_name(object: &Object) -> &str {
    let name = object.rig.neutral().name();
    let is_end = object
        .path
        .strip_suffix(name)
        .is_some_and(|above| above.is_empty() || above.ends_with('/'));

    if is_end && !name.is_empty() {
        name
    } else {
        object.name()
    }
}
