//! Model files in the `safetensors` format, which contains numbers and no code.
//!
//! **Layout.** `poses` (f64, examples × vertices × 3, the reference first), `face_sizes` and
//! `face_vertices` (u32, the authored polygons one after the other), `control_points` (u32),
//! `frame_names` (u8, lines). The header's metadata holds one entry, `pliant-learn`, of `key =
//! value` lines, the version first. Methods on abstract bones add `bone_rotations` (f64, examples ×
//! bones × 4), `skin_sizes` and `skin_bones` (u32, the influences on each vertex one after the
//! other) and `skin_weights` (f64). A model with a detail layer has `detail_heights` (f32, examples
//! × vertices of the detailed mesh) and lines that begin with `detail`. Module `appearance` adds
//! UVs, colours, groups and materials.
//!
//! **Implementation.** The file holds the examples, the chosen hyper-parameters and the bones. All
//! other quantities are computed again on loading, to the same bits, which takes a tenth of the
//! space. Files of version 1 have no bones, which are then computed again as well. All content of a
//! file is checked before use.

use std::borrow::Cow;
use std::collections::HashMap;
use std::str::FromStr;

use pliant_mesh::MeshBuilder;
use pliant_mesh::glam::{DQuat, DVec3};
use pliant_rig::{Influence, Skin};
use safetensors::{Dtype, SafeTensors, View};

use super::appearance;
use crate::detail::{DetailSurface, Details};
use crate::methods::AbstractBones;
use crate::{
    ControlPoints, DetailLayer, DetailMode, DetailOptions, DetailSettings, Examples, LearnError,
    LearnOptions, LocalSettings, Method, Model,
};

/// The value for all neighbours.
const ALL: &str = "all";
/// The key of the entry in the metadata.
const HEADER: &str = "pliant-learn";
/// Version of the layout.
const VERSION: &str = "2";
/// Versions that can be read.
const READABLE: [&str; 2] = ["1", VERSION];
/// Version of the detail layer.
const DETAIL_VERSION: &str = "1";

impl Model {
    /// The model as the bytes of a `safetensors` file; equal models give equal bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let examples = self.examples();
        let mesh = examples.reference();
        let shape = vec![examples.count(), mesh.vertex_count(), 3];
        let poses = (0..examples.count())
            .flat_map(|i| examples.pose(i))
            .flat_map(|p| p.to_array());
        let face_sizes = mesh.faces().map(|face| face.len() as u32);
        let face_vertices = mesh.faces().flat_map(|face| face.iter().copied());
        let control_points = self.control().vertices().iter().copied();
        let frame_names = examples.names().join("\n").into_bytes();

        let mut tables = vec![
            ("poses", Table::of_numbers(shape, poses)),
            ("face_sizes", Table::of_indices(face_sizes)),
            ("face_vertices", Table::of_indices(face_vertices)),
            ("control_points", Table::of_indices(control_points)),
            ("frame_names", Table::of_bytes(frame_names)),
        ];
        // Tables that depend on the method and on the detail layer.
        if let Some(bones) = self.bones() {
            tables.extend(bone_tables(bones));
        }
        if let Some(layer) = self.detail() {
            tables.push(("detail_heights", Table::of_heights(layer)));
        }

        let mut tensors: Vec<(String, Table)> = Vec::new();
        for (name, table) in tables {
            tensors.push((name.to_owned(), table));
        }
        tensors.extend(appearance::tables(mesh));
        let header = HashMap::from([(HEADER.to_owned(), self.header())]);
        safetensors::serialize(tensors, Some(header))
            .expect("the tables have the sizes of their shapes")
    }

    /// A model from the bytes of [`to_bytes`](Self::to_bytes).
    ///
    /// # Errors
    /// [`LearnError::NotAModel`] for other bytes, and errors of their content.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LearnError> {
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(not_a_model)?;
        let header = metadata
            .metadata()
            .as_ref()
            .and_then(|entries| entries.get(HEADER));
        let header = Header {
            text: header.ok_or_else(|| not_a_model("the header has no entry 'pliant-learn'"))?,
        };

        // An unknown version is reported before anything else is read.
        let version: String = header.value("version")?;
        if !READABLE.contains(&version.as_str()) {
            return Err(not_a_model(format!(
                "it has version {version}, but this program reads versions {}",
                READABLE.join(" and ")
            )));
        }

        let tables = Tables {
            file: SafeTensors::deserialize(bytes).map_err(not_a_model)?,
        };
        let examples = tables
            .examples()?
            .with_meters_per_unit(header.meters_per_unit()?);
        let control: Vec<usize> = tables
            .indices("control_points")?
            .into_iter()
            .map(|v| v as usize)
            .collect();

        let control = ControlPoints::new(examples.reference(), &control)?;
        let options = header.options()?;
        // The detail is checked before the costly training.
        let details = match header.detail_options()? {
            Some(options) => Some((header.details(&tables, &examples)?, options)),
            None => None,
        };

        // The stored hyper-parameters or bones replace their computation.
        let model = match options.method() {
            Method::Auto => Self::train_with(examples, control, &options, &header.settings()?),
            Method::Huang2012 | Method::Feng2008 if version == VERSION => {
                let bones = tables.bones(examples.count(), examples.reference().vertex_count())?;
                Self::train_on_bones(examples, control, &options, bones)
            }
            _ => Self::train(examples, control, &options, &()),
        }?;

        match details {
            Some((details, options)) => model.with_details(details, &options),
            None => Ok(model),
        }
    }

    fn header(&self) -> String {
        let options = self.options();
        let mut text = format!(
            "version = {VERSION}\nmethod = {}\nk_c = {}\nk_p = {}\nbeta = {}\nbones = {}\n",
            options.method().name(),
            count_name(options.neighbors()),
            count_name(options.pose_neighbors()),
            options.beta(),
            options.bones(),
        );
        // Optional lines are only written if needed, so that older programs can read the rest.
        if options.exact() {
            text += "exact = true\n";
        }
        if let Some(unit) = self.examples().meters_per_unit() {
            text += &format!("meters_per_unit = {unit}\n");
        }
        if let Some(chosen) = self.chosen() {
            let LocalSettings {
                sharpness,
                ridge,
                refits,
            } = chosen;
            text += &format!("sharpness = {sharpness}\nridge = {ridge}\nrefits = {refits}\n");
        }
        if let Some(layer) = self.detail() {
            text += &detail_header(layer);
        }
        text
    }
}

fn detail_header(layer: &DetailLayer) -> String {
    let mut text = format!(
        "detail = {DETAIL_VERSION}\ndetail_mode = {}\ndetail_levels = {}\ndetail_steered = {}\n",
        layer.options().mode().name(),
        layer.levels(),
        layer.controls_detailed_surface(),
    );
    if let Some(settings) = layer.settings() {
        let DetailSettings {
            sharpness,
            width,
            ridge,
        } = settings;
        text += &format!("detail_width = {width}\ndetail_ridge = {ridge}\n");
        if let Some(sharpness) = sharpness {
            text += &format!("detail_sharpness = {sharpness}\n");
        }
    }
    text
}

/// Tables of the skinning weights and of the bone rotations.
fn bone_tables(bones: &AbstractBones) -> [(&'static str, Table); 4] {
    let AbstractBones { skin, rotations } = bones;
    let quaternions = rotations.iter().flatten().flat_map(|q| q.to_array());
    let shape = vec![rotations.len(), skin.bone_count(), 4];
    let sizes = (0..skin.vertex_count()).map(|v| skin.influences(v).len() as u32);

    // The influences of all vertices, one after the other.
    let mut influences = Vec::new();
    for v in 0..skin.vertex_count() {
        influences.extend_from_slice(skin.influences(v));
    }
    let bones = influences.iter().map(|influence| influence.bone);
    let weights = influences.iter().map(|influence| influence.weight);
    [
        ("bone_rotations", Table::of_numbers(shape, quaternions)),
        ("skin_sizes", Table::of_indices(sizes)),
        ("skin_bones", Table::of_indices(bones)),
        (
            "skin_weights",
            Table::of_numbers(vec![influences.len()], weights),
        ),
    ]
}

fn not_a_model(why: impl ToString) -> LearnError {
    LearnError::NotAModel {
        why: why.to_string(),
    }
}

fn count_name(count: usize) -> String {
    if count == LearnOptions::ALL {
        ALL.to_owned()
    } else {
        count.to_string()
    }
}

/// The `key = value` lines.
struct Header<'a> {
    text: &'a str,
}

impl Header<'_> {
    /// The text of a value.
    fn get(&self, key: &str) -> Option<&str> {
        for line in self.text.lines() {
            if let Some((name, value)) = line.split_once(" = ")
                && name == key
            {
                return Some(value);
            }
        }
        None
    }

    fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    fn value<T: FromStr>(&self, key: &str) -> Result<T, LearnError> {
        let Some(value) = self.get(key) else {
            return Err(not_a_model(format!("the header has no '{key}'")));
        };
        value
            .parse()
            .map_err(|_| not_a_model(format!("the header's '{key}' cannot be '{value}'")))
    }

    /// A number, or the word for all.
    fn count(&self, key: &str) -> Result<usize, LearnError> {
        if self.value::<String>(key)? == ALL {
            Ok(LearnOptions::ALL)
        } else {
            self.value(key)
        }
    }

    fn options(&self) -> Result<LearnOptions, LearnError> {
        Ok(LearnOptions::default()
            .with_method(self.value("method")?)
            .with_neighbors(self.count("k_c")?)
            .with_pose_neighbors(self.count("k_p")?)
            .with_beta(self.value("beta")?)
            .with_bones(self.value("bones")?)
            .with_exact(self.has("exact") && self.value("exact")?))
    }

    fn meters_per_unit(&self) -> Result<Option<f64>, LearnError> {
        if !self.has("meters_per_unit") {
            return Ok(None);
        }
        let unit: f64 = self.value("meters_per_unit")?;
        if unit > 0.0 && unit.is_finite() {
            Ok(Some(unit))
        } else {
            Err(not_a_model(format!("one unit cannot be {unit} m")))
        }
    }

    /// Options of the detail layer; `None` without one.
    fn detail_options(&self) -> Result<Option<DetailOptions>, LearnError> {
        if !self.has("detail") {
            return Ok(None);
        }

        let version: String = self.value("detail")?;
        if version != DETAIL_VERSION {
            return Err(not_a_model(format!(
                "its detail has version {version}, but this program reads version {DETAIL_VERSION}"
            )));
        }

        let mode: DetailMode = self.value("detail_mode")?;
        let options = DetailOptions::default().with_mode(mode);
        // The static mode has no hyper-parameters.
        if mode == DetailMode::Static {
            return Ok(Some(options));
        }

        let sharpness = self
            .has("detail_sharpness")
            .then(|| self.value("detail_sharpness"))
            .transpose()?;

        let settings = DetailSettings {
            sharpness,
            width: self.value("detail_width")?,
            ridge: self.value("detail_ridge")?,
        };

        Ok(Some(options.with_settings(settings)))
    }

    /// The detail layer. The surface is never subdivided beyond the number of heights in the file.
    fn details(&self, tables: &Tables<'_>, base: &Examples) -> Result<Details, LearnError> {
        let (shape, bytes) = tables.bytes("detail_heights", Dtype::F32)?;
        let [examples, vertices] = shape[..] else {
            return Err(not_a_model(
                "the table 'detail_heights' is not examples x vertices",
            ));
        };

        // The number of heights bounds the subdivision, so that a hostile file cannot exhaust
        // memory.
        let surface =
            DetailSurface::within(base.reference(), self.value("detail_levels")?, vertices)?;
        let Some(surface) = surface
            .filter(|surface| surface.vertex_count() == vertices && examples == base.count())
        else {
            return Err(not_a_model("its detail does not belong to its base"));
        };

        // Little-endian numbers, example after example.
        let numbers: Vec<f32> = bytes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|b| f32::from_le_bytes(*b))
            .collect();

        if numbers.iter().any(|height| !height.is_finite()) {
            return Err(not_a_model(
                "its detail has a height that is not a finite number",
            ));
        }

        let heights = numbers
            .chunks_exact(vertices)
            .map(<[f32]>::to_vec)
            .collect();

        Ok(Details {
            surface,
            heights,
            controls_detailed_surface: self.value("detail_steered")?,
        })
    }

    fn settings(&self) -> Result<LocalSettings, LearnError> {
        Ok(LocalSettings {
            sharpness: self.value("sharpness")?,
            ridge: self.value("ridge")?,
            refits: self.value("refits")?,
        })
    }
}

/// The tables of a file in memory.
pub(crate) struct Tables<'a> {
    file: SafeTensors<'a>,
}

impl Tables<'_> {
    fn bytes(&self, name: &str, dtype: Dtype) -> Result<(Vec<usize>, &[u8]), LearnError> {
        let tensor = self
            .file
            .tensor(name)
            .map_err(|_| not_a_model(format!("there is no table '{name}'")))?;

        if tensor.dtype() != dtype {
            return Err(not_a_model(format!(
                "the table '{name}' has another number type"
            )));
        }

        Ok((tensor.shape().to_vec(), tensor.data()))
    }

    pub(crate) fn indices(&self, name: &str) -> Result<Vec<u32>, LearnError> {
        let (_, bytes) = self.bytes(name, Dtype::U32)?;
        Ok(bytes
            .chunks_exact(4)
            .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
            .collect())
    }

    fn numbers(&self, name: &str) -> Result<(Vec<usize>, Vec<f64>), LearnError> {
        let (shape, bytes) = self.bytes(name, Dtype::F64)?;
        Ok((
            shape,
            bytes
                .as_chunks::<8>()
                .0
                .iter()
                .map(|b| f64::from_le_bytes(*b))
                .collect(),
        ))
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.file.tensor(name).is_ok()
    }

    /// The lines of a text; there is always at least one.
    pub(crate) fn lines(&self, name: &str) -> Result<Vec<String>, LearnError> {
        let (_, text) = self.bytes(name, Dtype::U8)?;
        let text = std::str::from_utf8(text)
            .map_err(|_| not_a_model(format!("the table '{name}' is not text")))?;
        Ok(text.split('\n').map(str::to_owned).collect())
    }

    /// Rows of `N` numbers.
    pub(crate) fn rows<const N: usize>(&self, name: &str) -> Result<Vec<[f64; N]>, LearnError> {
        let (shape, numbers) = self.numbers(name)?;
        let [_, columns] = shape[..] else {
            return Err(not_a_model(format!("the table '{name}' has no rows")));
        };
        if columns != N {
            return Err(not_a_model(format!(
                "the table '{name}' has rows of {columns}, not of {N}"
            )));
        }

        Ok(numbers.as_chunks::<N>().0.to_vec())
    }

    /// Abstract bones of `vertices` vertices in `examples` examples.
    fn bones(&self, examples: usize, vertices: usize) -> Result<AbstractBones, LearnError> {
        let (shape, numbers) = self.numbers("bone_rotations")?;
        let [found, bones, 4] = shape[..] else {
            return Err(not_a_model(
                "the table 'bone_rotations' is not examples x bones x 4",
            ));
        };
        let rotations: Vec<DQuat> = numbers
            .as_chunks::<4>()
            .0
            .iter()
            .map(|q| DQuat::from_array(*q))
            .collect();
        // Quaternions that are not normalised would scale the surface.
        if found != examples || bones == 0 || rotations.iter().any(|q| !q.is_normalized()) {
            return Err(not_a_model("its bone rotations do not match its examples"));
        }

        Ok(AbstractBones {
            skin: self.skin(bones, vertices)?,
            rotations: rotations
                .chunks_exact(bones)
                .map(<[DQuat]>::to_vec)
                .collect(),
        })
    }

    fn skin(&self, bones: usize, vertices: usize) -> Result<Skin, LearnError> {
        let sizes = self.indices("skin_sizes")?;
        let influences: Vec<Influence> = self
            .indices("skin_bones")?
            .into_iter()
            .zip(self.numbers("skin_weights")?.1)
            .map(|(bone, weight)| Influence { bone, weight })
            .collect();
        let count: usize = sizes.iter().map(|&size| size as usize).sum();
        if sizes.len() != vertices || count != influences.len() {
            return Err(not_a_model("its bones do not match its vertices"));
        }

        // The influences of all vertices follow each other; their sizes separate them.
        let mut rest = influences.as_slice();
        let mut by_vertex = Vec::with_capacity(vertices);
        for size in sizes {
            let (own, others) = rest.split_at(size as usize);
            by_vertex.push(own.to_vec());
            rest = others;
        }
        Ok(Skin::new(bones, by_vertex)?)
    }

    fn examples(&self) -> Result<Examples, LearnError> {
        let (shape, numbers) = self.numbers("poses")?;
        let [count, vertices, 3] = shape[..] else {
            return Err(not_a_model(
                "the table 'poses' is not examples x vertices x 3",
            ));
        };
        if count == 0 || vertices == 0 {
            return Err(not_a_model("the table 'poses' is empty"));
        }

        let points: Vec<DVec3> = numbers
            .as_chunks::<3>()
            .0
            .iter()
            .map(|p| DVec3::from_array(*p))
            .collect();

        // The first pose is the reference.
        let mut poses = points.chunks_exact(vertices).map(<[DVec3]>::to_vec);
        let mut builder = MeshBuilder {
            positions: poses.next().expect("there is a first pose"),
            ..MeshBuilder::default()
        };

        for polygon in self.polygons()? {
            builder.push_face(&polygon);
        }

        let reference = appearance::with_appearance(builder, self)?.build()?;
        let frames: Vec<Vec<DVec3>> = poses.collect();
        let names = self.lines("frame_names")?;

        if names.len() != frames.len() {
            return Err(not_a_model(format!(
                "it has {} names for {} frames",
                names.len(),
                frames.len()
            )));
        }

        Examples::new(reference, frames, names)
    }

    fn polygons(&self) -> Result<Vec<Vec<u32>>, LearnError> {
        let corners = self.indices("face_vertices")?;
        let mut rest = corners.as_slice();
        let mut polygons = Vec::new();

        for size in self.indices("face_sizes")? {
            let (polygon, others) = rest
                .split_at_checked(size as usize)
                .ok_or_else(|| not_a_model("its faces have fewer corners than their sizes"))?;
            polygons.push(polygon.to_vec());
            rest = others;
        }

        if rest.is_empty() {
            Ok(polygons)
        } else {
            Err(not_a_model("its faces have more corners than their sizes"))
        }
    }
}

/// A table for writing.
pub(crate) struct Table {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Table {
    fn new(dtype: Dtype, shape: Vec<usize>, bytes: Vec<u8>) -> Self {
        Self {
            dtype,
            shape,
            bytes,
        }
    }

    pub(crate) fn of_indices(indices: impl Iterator<Item = u32>) -> Self {
        let bytes: Vec<u8> = indices.flat_map(u32::to_le_bytes).collect();
        Self::new(Dtype::U32, vec![bytes.len() / 4], bytes)
    }

    pub(crate) fn of_numbers(shape: Vec<usize>, numbers: impl Iterator<Item = f64>) -> Self {
        Self::new(
            Dtype::F64,
            shape,
            numbers.flat_map(f64::to_le_bytes).collect(),
        )
    }

    fn of_heights(layer: &DetailLayer) -> Self {
        let bytes = (0..layer.example_count())
            .flat_map(|i| layer.example_heights(i))
            .flat_map(f32::to_le_bytes)
            .collect();
        Self::new(
            Dtype::F32,
            vec![layer.example_count(), layer.mesh().vertex_count()],
            bytes,
        )
    }

    pub(crate) fn of_bytes(bytes: Vec<u8>) -> Self {
        Self::new(Dtype::U8, vec![bytes.len()], bytes)
    }
}

impl View for Table {
    fn dtype(&self) -> Dtype {
        self.dtype
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }

    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_bar::{bar_control, bar_examples};
    use pliant_mesh::glam::{DVec2, DVec4};
    use pliant_mesh::{CornerLayer, FaceLabels, VertexLayer};

    fn model(method: Method) -> Model {
        let options = LearnOptions::default().with_method(method).with_bones(20);
        Model::train(bar_examples(), bar_control(), &options, &()).unwrap()
    }

    #[test]
    fn a_model_read_back_drives_to_the_same_bits() {
        for method in [Method::Auto, Method::Huang2012, Method::Feng2008] {
            let model = model(method);
            let bytes = model.to_bytes();
            let again = Model::from_bytes(&bytes).unwrap();
            let goals = model.control().at(model.examples().pose(2));
            assert_eq!(model.drive(&goals), again.drive(&goals));
            assert_eq!(again.to_bytes(), bytes);
            assert_eq!(again.examples().names(), model.examples().names());
        }
    }

    #[test]
    fn uvs_colours_groups_and_the_name_are_read_back() {
        let examples = bar_examples();
        let mut builder = examples.reference().to_builder();
        let corners = builder.corners.len();
        let faces = builder.face_sizes.len();
        builder.name = "bar".into();

        let uv = CornerLayer {
            name: "map".into(),
            values: vec![DVec2::new(0.25, 0.5), DVec2::ONE],
            corners: (0..corners)
                .map(|k| [Some(0), Some(1), None][k % 3])
                .collect(),
        };

        builder.uv_layers = vec![uv];
        builder.colors = vec![VertexLayer {
            name: "skin".into(),
            values: vec![DVec4::new(0.1, 0.2, 0.3, 1.0); builder.positions.len()],
        }];

        builder.groups = FaceLabels {
            names: vec!["left".into(), "right".into()],
            of_face: (0..faces).map(|k| (k % 2) as u32).collect(),
        };

        let mesh = builder.build().unwrap();
        let frames = (1..examples.count())
            .map(|i| examples.pose(i).to_vec())
            .collect();
        let dressed = Examples::new(mesh.clone(), frames, examples.names().to_vec()).unwrap();
        let options = LearnOptions::default().with_method(Method::Sorkine2007);

        // ARAP trains fastest.
        let bytes = Model::train(dressed, bar_control(), &options, &())
            .unwrap()
            .to_bytes();
        let found = Model::from_bytes(&bytes).unwrap();
        let found = found.examples().reference();

        assert_eq!(
            (found.name(), found.uv_layers(), found.colors()),
            (mesh.name(), mesh.uv_layers(), mesh.colors())
        );

        assert_eq!(
            (found.groups(), found.materials()),
            (mesh.groups(), mesh.materials())
        );
    }

    #[test]
    fn damaged_files_are_rejected_or_driven_without_a_panic() {
        let bytes = model(Method::Sorkine2007).to_bytes();
        for length in [0, 1, 5, 7, 8, 9, 100, bytes.len() / 2, bytes.len() - 1] {
            assert!(
                matches!(
                    Model::from_bytes(&bytes[..length]),
                    Err(LearnError::NotAModel { .. })
                ),
                "{length} bytes"
            );
        }

        for place in (0..400).step_by(3) {
            let mut changed = bytes.clone();
            changed[place] ^= 0x15;
            let _ = Model::from_bytes(&changed);
        }
    }

    #[test]
    fn a_changed_skin_is_rejected_or_driven_without_a_panic() {
        let bytes = model(Method::Huang2012).to_bytes();
        let start = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        for place in (start..bytes.len()).step_by(97) {
            let mut changed = bytes.clone();
            changed[place] ^= 0xd5;
            if let Ok(model) = Model::from_bytes(&changed) {
                let _ = model.drive(&model.control().at(model.examples().pose(1)));
            }
        }
    }

    #[test]
    fn bones_of_another_mesh_are_rejected_with_a_reason() {
        let model = model(Method::Huang2012);
        let mut bones = model.bones().unwrap().clone();
        bones.rotations.pop();

        let message = |tables: Vec<(&'static str, Table)>| {
            let file = safetensors::serialize(tables, None).unwrap();
            let tables = Tables {
                file: SafeTensors::deserialize(&file).unwrap(),
            };

            tables
                .bones(
                    model.examples().count(),
                    model.examples().reference().vertex_count(),
                )
                .unwrap_err()
                .to_string()
        };

        assert!(message(bone_tables(&bones).into()).contains("rotations"));
        let mut tables: Vec<_> = bone_tables(model.bones().unwrap()).into();
        tables[1] = ("skin_sizes", Table::of_indices([1, 2].into_iter()));

        assert!(message(tables).contains("vertices"));
        let mut tables: Vec<_> = bone_tables(model.bones().unwrap()).into();
        tables[0] = (
            "bone_rotations",
            Table::of_numbers(vec![7, 20, 4], std::iter::repeat_n(f64::NAN, 560)),
        );

        assert!(message(tables).contains("rotations"));
    }

    #[test]
    fn a_header_with_too_large_sizes_allocates_no_memory() {
        let mut bytes = model(Method::Sorkine2007).to_bytes();
        bytes[..8].copy_from_slice(&(1_u64 << 60).to_le_bytes());
        assert!(matches!(
            Model::from_bytes(&bytes),
            Err(LearnError::NotAModel { .. })
        ));
    }

    #[test]
    fn other_files_and_other_versions_have_different_errors() {
        let other =
            safetensors::serialize([("weight", Table::of_indices([1, 2].into_iter()))], None)
                .unwrap();

        assert!(
            Model::from_bytes(&other)
                .unwrap_err()
                .to_string()
                .contains("header")
        );

        let header = HashMap::from([(HEADER.to_owned(), "version = 99\n".to_owned())]);
        let later = safetensors::serialize(
            [("weight", Table::of_indices([1, 2].into_iter()))],
            Some(header),
        )
        .unwrap();

        assert!(
            Model::from_bytes(&later)
                .unwrap_err()
                .to_string()
                .contains("version 99")
        );
    }
}
