use pliant_mesh::{CornerLayer, FaceLabels, Mesh};

use crate::text::push_number;
use crate::{Asset, Holds, Object, UpAxes, Written};

/// What an OBJ file can hold.
pub const HOLDS: Holds = Holds {
    faces: true,
    polygons: true,
    objects: true,
    uv_layers: 1,
    color_layers: 1,
    normals: true,
    groups: true,
    materials: true,
    smoothing: true,
    targets: false,
    in_betweens: false,
    rest_weights: false,
    clips: 0,
    weight_tracks: false,
    skins: false,
    frame_names: false,
    up_axes: UpAxes::Unsaid,
};

/// The asset at rest, in the vertex order of its own file.
#[must_use]
pub fn write(asset: &Asset) -> Written {
    let mut writer = Writer {
        places: asset.file_indices(),
        ..Writer::default()
    };
    writer.libraries(asset);
    // Objects whose vertices stand one after another are written one after another, each with its
    // own.
    let in_order = writer
        .places
        .iter()
        .flatten()
        .enumerate()
        .all(|(k, &place)| k == place as usize);
    if !in_order {
        writer.all_vertices(asset);
    }
    for (k, object) in asset.objects.iter().enumerate() {
        writer.object(k, object, in_order);
    }
    Written {
        bytes: writer.out,
        left_out: HOLDS.left_out_of(asset),
        ..Written::default()
    }
}

#[derive(Default)]
struct Writer {
    out: Vec<u8>,
    places: Vec<Vec<u32>>,
    uvs: u32,
    normals: u32,
    /// The labels in force, `None` before the first.
    group: Option<String>,
    material: Option<String>,
    smoothing: Option<String>,
}

impl Writer {
    fn libraries(&mut self, asset: &Asset) {
        let mut known: Vec<&str> = Vec::new();
        for library in asset
            .objects
            .iter()
            .flat_map(|o| o.rig.neutral().material_library())
        {
            if !known.contains(&library.as_str()) {
                known.push(library);
                self.keyword("mtllib", library);
            }
        }
    }

    fn all_vertices(&mut self, asset: &Asset) {
        // Of vertices that objects share, the first object's is taken.
        let mut owner = vec![None; asset.vertex_count()];
        for (k, places) in self.places.iter().enumerate() {
            for (v, &place) in places.iter().enumerate() {
                owner[place as usize].get_or_insert((k, v));
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
        // A mesh's name may hold a slash, which the path cannot tell from a step.
        let whole = object
            .path
            .strip_suffix(mesh.name())
            .is_some_and(|above| above.is_empty() || above.ends_with('/'));
        let name = if whole && !mesh.name().is_empty() {
            mesh.name()
        } else {
            object.name()
        };
        if index > 0 || !name.is_empty() {
            self.keyword("o", name);
        }
        if with_vertices {
            (0..mesh.vertex_count()).for_each(|v| self.vertex(mesh, v));
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
        let kinds: [(&str, &FaceLabels, Current); 3] = [
            ("g", mesh.groups(), |w| &mut w.group),
            ("usemtl", mesh.materials(), |w| &mut w.material),
            ("s", smoothing, |w| &mut w.smoothing),
        ];
        for (keyword, labels, current) in kinds {
            // A face without a label may follow an object that has some: the empty one ends theirs.
            let label = labels.of(face).unwrap_or("");
            if current(self).as_deref().unwrap_or("") != label {
                *current(self) = Some(label.to_owned());
                self.keyword(
                    keyword,
                    if keyword == "s" && label.is_empty() {
                        "off"
                    } else {
                        label
                    },
                );
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
            self.index(self.places[index][vertex as usize] + 1);
            if uv.is_some() || normal.is_some() {
                self.out.push(b'/');
                uv.into_iter().for_each(|k| self.index(k));
            }
            if let Some(normal) = normal {
                self.out.push(b'/');
                self.index(normal);
            }
        }
        self.out.push(b'\n');
    }

    fn index(&mut self, index: u32) {
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

    /// A line with a name, which must not hold a line end nor end in a backslash.
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

/// The place in a writer where a label in force is kept.
type Current = fn(&mut Writer) -> &mut Option<String>;

fn corner_of<T>(layer: Option<&CornerLayer<T>>, corner: usize) -> Option<u32> {
    layer.and_then(|layer| layer.corners[corner])
}
