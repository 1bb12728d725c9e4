//! Meshes, rigs and clips as bytes, complete and exact: for another process, a cache or a pickle.
//!
//! **Problem.** File formats round positions to single precision or leave content out. A process
//! that hands a rig to another one needs the same rig, to the bit.
//!
//! **Layout.** The seven letters `PLIANT:` and the letter `M`, `R` or `C` of the kind; the version,
//! a `u32`; then the fields in the order of the types. Numbers are little-endian; lists and texts
//! begin with their length, a `u64`. The layout belongs to a version of Pliant: keep work in the
//! formats of [`save`](crate::save), not in these bytes.

use pliant_mesh::glam::{DVec2, DVec3, DVec4, Vec3};
use pliant_mesh::{CornerLayer, FaceLabels, Mesh, MeshBuilder, VertexLayer};
use pliant_rig::{
    Clip, Combination, Driver, InBetween, Limits, Path, Rig, Rule, Slider, SliderGroup, SliderId,
    Target,
};

use crate::ReadError;
use crate::parse::binary::Cursor;

const MAGIC: &[u8; 7] = b"PLIANT:";
const VERSION: u32 = 1;

/// A corner without a value.
const NONE: u32 = u32::MAX;

/// What can be stored as bytes.
pub trait Stored: Sized {
    /// All of it, exactly.
    fn to_bytes(&self) -> Vec<u8>;

    /// What [`to_bytes`](Self::to_bytes) stored.
    ///
    /// # Errors
    /// Other bytes, another version, or content that is not consistent.
    fn from_bytes(bytes: &[u8]) -> Result<Self, ReadError>;
}

impl Stored for Mesh {
    fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new(b'M');
        out.mesh(self);
        out.bytes
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, ReadError> {
        let mut reader = Reader::new(bytes, b'M', "a mesh")?;
        let mesh = reader.mesh()?;
        reader.end()?;
        Ok(mesh)
    }
}

impl Stored for Rig {
    fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new(b'R');
        out.mesh(self.neutral());
        out.list(self.targets(), |out, target| {
            out.text(&target.name);
            out.shape(&target.vertices, &target.deltas);
            out.list(&target.in_betweens, |out, in_between| {
                out.text(&in_between.name);
                out.number(in_between.weight);
                out.shape(&in_between.vertices, &in_between.deltas);
            });
        });
        out.list(self.sliders(), |out, slider| {
            out.number(slider.limits.min);
            out.number(slider.limits.max);
            out.index(slider.locked.into());
            out.index((slider.path == Path::Spline).into());
        });
        out.list(self.combinations(), |out, combination| {
            out.text(&combination.name);
            out.list(&combination.drivers, |out, driver| {
                let (kind, index) = match driver {
                    Driver::Slider(slider) => (0, slider.index()),
                    Driver::Combination(before) => (1, *before),
                };
                out.index(kind);
                out.index(index as u32);
            });
            out.index(match combination.rule {
                Rule::Product => 0,
                Rule::Lowest => 1,
                Rule::SmoothLowest => 2,
            });
            out.shape(&combination.vertices, &combination.deltas);
        });
        out.list(self.groups(), |out, group| {
            out.text(&group.name);
            out.list(&group.sliders, |out, slider| {
                out.index(slider.index() as u32)
            });
        });
        out.list(self.exclusive_pairs(), |out, pair| {
            for slider in pair {
                out.index(slider.index() as u32);
            }
        });
        out.bytes
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, ReadError> {
        let mut reader = Reader::new(bytes, b'R', "a rig")?;
        let neutral = reader.mesh()?;
        let targets = reader.list("targets", |reader| {
            let name = reader.text()?;
            let (vertices, deltas) = reader.shape()?;
            let in_betweens = reader.list("in-betweens", |reader| {
                let name = reader.text()?;
                let weight = reader.number()?;
                let (vertices, deltas) = reader.shape()?;
                Ok(InBetween {
                    name,
                    weight,
                    vertices,
                    deltas,
                })
            })?;
            Ok(Target {
                name,
                vertices,
                deltas,
                in_betweens,
            })
        })?;
        let sliders = reader.list("sliders", |reader| {
            Ok(Slider {
                limits: Limits::new(reader.number()?, reader.number()?),
                locked: reader.choice(&[false, true])?,
                path: reader.choice(&[Path::Linear, Path::Spline])?,
            })
        })?;
        let combinations = reader.list("combinations", |reader| {
            let name = reader.text()?;
            let drivers = reader.list("drivers", |reader| {
                let is_slider = reader.choice(&[true, false])?;
                let index = reader.index()?;
                Ok(if is_slider {
                    Driver::Slider(SliderId::new(index))
                } else {
                    Driver::Combination(index as usize)
                })
            })?;
            let rule = reader.choice(&[Rule::Product, Rule::Lowest, Rule::SmoothLowest])?;
            let (vertices, deltas) = reader.shape()?;
            Ok(Combination {
                name,
                drivers,
                rule,
                vertices,
                deltas,
            })
        })?;
        let groups = reader.list("groups", |reader| {
            Ok(SliderGroup {
                name: reader.text()?,
                sliders: reader.list("sliders", |reader| Ok(SliderId::new(reader.index()?)))?,
            })
        })?;
        let exclusive = reader.list("exclusive pairs", |reader| {
            Ok([reader.index()?, reader.index()?].map(SliderId::new))
        })?;
        reader.end()?;

        Ok(Self::new(neutral, targets)?
            .with_sliders(sliders)?
            .with_combinations(combinations)?
            .with_groups(groups)?
            .with_exclusive_pairs(exclusive)?)
    }
}

impl Stored for Clip {
    fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new(b'C');
        out.text(self.name());
        out.mesh(self.reference());
        out.list(self.frames(), |out, frame| out.points(frame));
        out.list(self.frame_names(), |out, name| out.text(name));
        out.number(self.frames_per_second());
        out.bytes
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, ReadError> {
        let mut reader = Reader::new(bytes, b'C', "a clip")?;
        let name = reader.text()?;
        let reference = reader.mesh()?;
        let frames = reader.list("frames", Reader::points)?;
        let names = reader.list("names", Reader::text)?;
        let rate = reader.number()?;
        if !(rate.is_finite() && rate > 0.0) {
            return Err(reader.error(format!("a clip has {rate} frames per second")));
        }
        reader.end()?;
        Ok(Self::new(name, reference, frames)?
            .with_frame_names(names)
            .with_frames_per_second(rate))
    }
}

/// Fields as bytes.
struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    fn new(kind: u8) -> Self {
        let mut bytes = MAGIC.to_vec();
        bytes.push(kind);
        bytes.extend(VERSION.to_le_bytes());
        Self { bytes }
    }

    fn number(&mut self, number: f64) {
        self.bytes.extend(number.to_le_bytes());
    }

    fn numbers<const N: usize>(&mut self, numbers: [f64; N]) {
        for number in numbers {
            self.number(number);
        }
    }

    fn index(&mut self, index: u32) {
        self.bytes.extend(index.to_le_bytes());
    }

    fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.bytes.extend((items.len() as u64).to_le_bytes());
        for item in items {
            write(self, item);
        }
    }

    fn text(&mut self, text: &str) {
        self.list(text.as_bytes(), |out, byte| out.bytes.push(*byte));
    }

    fn indices(&mut self, indices: &[u32]) {
        self.list(indices, |out, index| out.index(*index));
    }

    fn points(&mut self, points: &[DVec3]) {
        self.list(points, |out, point| out.numbers(point.to_array()));
    }

    fn shape(&mut self, vertices: &[u32], deltas: &[Vec3]) {
        self.indices(vertices);
        self.list(deltas, |out, delta| {
            for x in delta.to_array() {
                out.bytes.extend(x.to_le_bytes());
            }
        });
    }

    fn layer<T>(&mut self, layer: &CornerLayer<T>, write: impl FnMut(&mut Self, &T)) {
        self.text(&layer.name);
        self.list(&layer.values, write);
        self.list(&layer.corners, |out, corner| {
            out.index(corner.unwrap_or(NONE))
        });
    }

    fn labels(&mut self, labels: &FaceLabels) {
        self.list(&labels.names, |out, name| out.text(name));
        self.indices(&labels.of_face);
    }

    fn mesh(&mut self, mesh: &Mesh) {
        let mesh = mesh.to_builder();
        self.text(&mesh.name);
        self.points(&mesh.positions);
        self.indices(&mesh.face_sizes);
        self.indices(&mesh.corners);
        self.list(&mesh.uv_layers, |out, layer| {
            out.layer(layer, |out, uv| {
                out.numbers(uv.to_array());
            });
        });
        self.list(mesh.normals.as_slice(), |out, layer| {
            out.layer(layer, |out, normal| {
                out.numbers(normal.to_array());
            });
        });
        self.list(&mesh.colors, |out, layer| {
            out.text(&layer.name);
            out.list(&layer.values, |out, color| out.numbers(color.to_array()));
        });
        self.labels(&mesh.groups);
        self.labels(&mesh.materials);
        self.list(&mesh.material_library, |out, name| out.text(name));
    }
}

/// Fields from bytes, none of which is trusted.
struct Reader<'a> {
    cursor: Cursor<'a>,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8], kind: u8, what: &str) -> Result<Self, ReadError> {
        let mut reader = Self {
            cursor: Cursor::of(bytes),
        };
        let is_stored = bytes.starts_with(MAGIC) && bytes.get(MAGIC.len()) == Some(&kind);
        if !is_stored {
            return Err(ReadError::whole(format!(
                "these bytes are not those of {what}; give what to_bytes returned"
            )));
        }
        reader.cursor.take(MAGIC.len() + 1, "the header")?;
        let version = reader.index()?;
        if version != VERSION {
            return Err(ReadError::whole(format!(
                "these bytes have version {version}, but this program reads version {VERSION}; store {what} again"
            )));
        }
        Ok(reader)
    }

    fn error(&self, message: impl Into<String>) -> ReadError {
        ReadError::byte(self.cursor.at(), message)
    }

    fn end(&self) -> Result<(), ReadError> {
        match self.cursor.left() {
            0 => Ok(()),
            left => Err(self.error(format!("{left} bytes are left over; the bytes are damaged"))),
        }
    }

    fn number(&mut self) -> Result<f64, ReadError> {
        Ok(f64::from_le_bytes(self.cursor.array("a number")?))
    }

    fn index(&mut self) -> Result<u32, ReadError> {
        Ok(u32::from_le_bytes(self.cursor.array("an index")?))
    }

    fn choice<T: Copy>(&mut self, choices: &[T]) -> Result<T, ReadError> {
        let index = self.index()? as usize;
        let choice = choices.get(index).copied();
        choice.ok_or_else(|| self.error(format!("there is no choice {index}")))
    }

    /// A list of items, which take a byte each at least.
    fn list<T>(
        &mut self,
        what: &str,
        mut read: impl FnMut(&mut Self) -> Result<T, ReadError>,
    ) -> Result<Vec<T>, ReadError> {
        let count = u64::from_le_bytes(self.cursor.array("a length")?);
        self.cursor.require(count, 1, what)?;
        // Memory grows with what is read, not with what is announced.
        let mut items = Vec::new();
        for _ in 0..count {
            items.push(read(self)?);
        }
        Ok(items)
    }

    fn text(&mut self) -> Result<String, ReadError> {
        let length = u64::from_le_bytes(self.cursor.array("a length")?);
        self.cursor.require(length, 1, "letters")?;
        let bytes = self.cursor.take(length as usize, "a text")?.to_vec();
        String::from_utf8(bytes).map_err(|_| self.error("a text is not in UTF-8"))
    }

    fn numbers<const N: usize>(&mut self) -> Result<[f64; N], ReadError> {
        let mut numbers = [0.0; N];
        for number in &mut numbers {
            *number = self.number()?;
        }
        Ok(numbers)
    }

    fn indices(&mut self) -> Result<Vec<u32>, ReadError> {
        self.list("indices", Self::index)
    }

    fn points(&mut self) -> Result<Vec<DVec3>, ReadError> {
        self.list("points", |reader| Ok(DVec3::from_array(reader.numbers()?)))
    }

    fn shape(&mut self) -> Result<(Vec<u32>, Vec<Vec3>), ReadError> {
        let vertices = self.indices()?;
        let deltas = self.list("displacements", |reader| {
            let mut delta = [0.0; 3];
            for x in &mut delta {
                *x = f32::from_le_bytes(reader.cursor.array("a displacement")?);
            }
            Ok(Vec3::from_array(delta))
        })?;
        if vertices.len() != deltas.len() {
            return Err(self.error(format!(
                "a shape has {} displacements for {} vertices",
                deltas.len(),
                vertices.len()
            )));
        }
        Ok((vertices, deltas))
    }

    fn layer<T>(
        &mut self,
        read: impl FnMut(&mut Self) -> Result<T, ReadError>,
    ) -> Result<CornerLayer<T>, ReadError> {
        Ok(CornerLayer {
            name: self.text()?,
            values: self.list("values", read)?,
            corners: self.list("corners", |reader| {
                let corner = reader.index()?;
                Ok((corner != NONE).then_some(corner))
            })?,
        })
    }

    fn labels(&mut self) -> Result<FaceLabels, ReadError> {
        Ok(FaceLabels {
            names: self.list("names", Self::text)?,
            of_face: self.indices()?,
        })
    }

    fn mesh(&mut self) -> Result<Mesh, ReadError> {
        let builder = MeshBuilder {
            name: self.text()?,
            positions: self.points()?,
            face_sizes: self.indices()?,
            corners: self.indices()?,
            uv_layers: self.list("UV sets", |reader| {
                reader.layer(|reader| Ok(DVec2::from_array(reader.numbers()?)))
            })?,
            normals: self
                .list("normals", |reader| {
                    reader.layer(|reader| Ok(DVec3::from_array(reader.numbers()?)))
                })?
                .pop(),
            colors: self.list("colours", |reader| {
                Ok(VertexLayer {
                    name: reader.text()?,
                    values: reader
                        .list("colours", |reader| Ok(DVec4::from_array(reader.numbers()?)))?,
                })
            })?,
            groups: self.labels()?,
            materials: self.labels()?,
            material_library: self.list("material files", Self::text)?,
        };
        Ok(builder.build()?)
    }
}

#[cfg(test)]
mod tests {
    use pliant_mesh::shapes;

    use super::*;

    fn mesh() -> Mesh {
        let mut builder = shapes::bumpy_sheet(3, 0.1).to_builder();
        let corners = builder.corners.len();
        builder.name = "sheet ✓".into();
        builder.uv_layers = vec![CornerLayer {
            name: "map1".into(),
            values: vec![DVec2::new(0.1, 0.7), DVec2::new(1.0 / 3.0, 0.0)],
            corners: (0..corners)
                .map(|k| [Some(1), None, Some(0)][k % 3])
                .collect(),
        }];
        builder.colors = vec![VertexLayer {
            name: String::new(),
            values: vec![DVec4::new(0.1, 0.2, 0.3, 1.0); builder.positions.len()],
        }];
        let names: Vec<String> = (0..builder.face_sizes.len())
            .map(|k| format!("g{}", k % 2))
            .collect();
        builder.groups = FaceLabels::from_names(names.iter().map(String::as_str));
        builder.build().unwrap()
    }

    fn rig() -> Rig {
        let target = |name: &str, vertex: u32| Target {
            name: name.into(),
            vertices: vec![vertex, vertex + 2],
            deltas: vec![Vec3::new(0.1, -0.2, 1e-30), Vec3::Z],
            in_betweens: vec![InBetween {
                name: format!("{name}_half"),
                weight: 0.5,
                vertices: vec![vertex],
                deltas: vec![Vec3::X],
            }],
        };
        let [a, b] = [0, 1].map(SliderId::new);
        let spline = Slider {
            limits: Limits::FREE,
            locked: true,
            path: Path::Spline,
        };
        Rig::new(mesh(), vec![target("a", 3), target("b", 4)])
            .and_then(|rig| rig.with_sliders(vec![spline, Slider::default()]))
            .and_then(|rig| {
                rig.with_combinations(vec![Combination {
                    name: "a_b".into(),
                    drivers: vec![Driver::Slider(a), Driver::Slider(b)],
                    rule: Rule::SmoothLowest,
                    vertices: vec![1],
                    deltas: vec![Vec3::Y],
                }])
            })
            .and_then(|rig| {
                rig.with_groups(vec![SliderGroup {
                    name: "both".into(),
                    sliders: vec![a, b],
                }])
            })
            .and_then(|rig| rig.with_exclusive_pairs(vec![[a, b]]))
            .unwrap()
    }

    #[test]
    fn a_rig_comes_back_with_all_of_its_content_and_the_same_bits() {
        let rig = rig();
        let back = Rig::from_bytes(&rig.to_bytes()).unwrap();
        assert_eq!(back.targets(), rig.targets());
        assert_eq!(back.sliders(), rig.sliders());
        assert_eq!(back.combinations(), rig.combinations());
        assert_eq!(back.groups(), rig.groups());
        assert_eq!(back.exclusive_pairs(), rig.exclusive_pairs());
        assert_eq!(back.to_bytes(), rig.to_bytes());

        let [mesh, known] = [back.neutral(), rig.neutral()];
        assert_eq!(mesh.positions(), known.positions());
        assert_eq!(mesh.uv_layers(), known.uv_layers());
        assert_eq!(mesh.colors(), known.colors());
        assert_eq!((mesh.name(), mesh.groups()), (known.name(), known.groups()));
        assert!(mesh.same_surface(known));
    }

    #[test]
    fn a_clip_comes_back_with_names_and_rate() {
        let frames = vec![vec![DVec3::splat(1.0 / 3.0); 16], vec![DVec3::NAN; 16]];
        let clip = Clip::new("take", mesh(), frames)
            .unwrap()
            .with_frame_names(vec!["one".into(), "two".into()])
            .with_frames_per_second(29.97);
        let back = Clip::from_bytes(&clip.to_bytes()).unwrap();
        assert_eq!(back.frames()[0], clip.frames()[0]);
        assert!(back.frames()[1][3].is_nan());
        assert_eq!(back.frame_names(), clip.frame_names());
        assert_eq!((back.name(), back.frames_per_second()), ("take", 29.97));
    }

    #[test]
    fn damaged_bytes_are_errors_and_never_a_panic() {
        let bytes = rig().to_bytes();
        assert!(Mesh::from_bytes(&bytes).is_err());
        for end in 0..bytes.len() {
            assert!(Rig::from_bytes(&bytes[..end]).is_err(), "{end} bytes");
        }

        // A changed byte is an error or another rig, but no panic and no large allocation.
        for at in 0..bytes.len() {
            for change in [0x01, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] ^= change;
                let _ = Rig::from_bytes(&damaged);
            }
        }
    }
}
