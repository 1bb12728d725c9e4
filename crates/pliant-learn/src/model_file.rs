//! Models as bytes: a `safetensors` file, which holds numbers and no code.
//!
//! **Layout.** `poses` (f64, examples × vertices × 3, the reference first), `face_sizes` and `face_vertices` (u32, the authored
//! polygons one after the other), `control_points` (u32), `frame_names` (u8, lines). The header's metadata holds one entry,
//! `pliant-learn`, of `key = value` lines, the version first.
//!
//! **Ours.** The file keeps the examples and what was chosen, not what follows from them: that is found again on loading to the
//! same bits, and takes a tenth of the space. Nothing in a file is trusted before it has been checked.

use std::borrow::Cow;
use std::collections::HashMap;
use std::str::FromStr;

use pliant_mesh::Mesh;
use pliant_mesh::glam::DVec3;
use safetensors::{Dtype, SafeTensors, View};

use crate::{ControlPoints, Examples, LearnError, LearnOptions, LocalSettings, Method, Model};

/// The entry of the metadata.
const HEADER: &str = "pliant-learn";
/// Of the layout.
const VERSION: &str = "1";

impl Model {
    /// The model as the bytes of a `safetensors` file; equal models give equal bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let examples = self.examples();
        let mesh = examples.reference();
        let poses = (0..examples.count()).flat_map(|i| examples.pose(i)).flat_map(|p| p.to_array()).flat_map(f64::to_le_bytes).collect();
        let tensors = [
            ("poses", Table::new(Dtype::F64, vec![examples.count(), mesh.vertex_count(), 3], poses)),
            ("face_sizes", Table::of_indices(mesh.faces().map(|face| face.len() as u32))),
            ("face_vertices", Table::of_indices(mesh.faces().flat_map(|face| face.iter().copied()))),
            ("control_points", Table::of_indices(self.control().vertices().iter().copied())),
            ("frame_names", Table::of_bytes(examples.names().join("\n").into_bytes())),
        ];
        let header = HashMap::from([(HEADER.to_owned(), self.header())]);
        safetensors::serialize(tensors, Some(header)).expect("the tables have the sizes that they say")
    }

    /// A model from the bytes of [`to_bytes`](Self::to_bytes).
    ///
    /// # Errors
    /// [`LearnError::NotAModel`] for other bytes, and whatever is wrong with what they hold.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LearnError> {
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(not_a_model)?;
        let header = metadata.metadata().as_ref().and_then(|entries| entries.get(HEADER));
        let header = Header { text: header.ok_or_else(|| not_a_model("the header does not name it"))? };
        let version: String = header.value("version")?;
        if version != VERSION {
            return Err(not_a_model(format!("it has version {version}, this program reads version {VERSION}")));
        }
        let tables = Tables { file: SafeTensors::deserialize(bytes).map_err(not_a_model)? };
        let examples = tables.examples()?;
        let control: Vec<usize> = tables.indices("control_points")?.into_iter().map(|v| v as usize).collect();
        let control = ControlPoints::new(examples.reference(), &control)?;
        let options = header.options()?;
        match options.method() {
            Method::Auto => Self::train_with(examples, control, &options, &header.settings()?),
            _ => Self::train(examples, control, &options, &()),
        }
    }

    fn header(&self) -> String {
        let options = self.options();
        let mut text = format!(
            "version = {VERSION}\nmethod = {}\nk_c = {}\nk_p = {}\nbeta = {}\nbones = {}\n",
            options.method().name(),
            options.neighbors(),
            options.pose_neighbors(),
            options.beta(),
            options.bones(),
        );
        if let Some(LocalSettings { sharpness, ridge, refits }) = self.chosen() {
            text += &format!("sharpness = {sharpness}\nridge = {ridge}\nrefits = {refits}\n");
        }
        text
    }
}

fn not_a_model(why: impl ToString) -> LearnError {
    LearnError::NotAModel { why: why.to_string() }
}

/// The `key = value` lines.
struct Header<'a> {
    text: &'a str,
}

impl Header<'_> {
    fn value<T: FromStr>(&self, key: &str) -> Result<T, LearnError> {
        let found = self.text.lines().filter_map(|line| line.split_once(" = ")).find(|(name, _)| *name == key);
        let (_, value) = found.ok_or_else(|| not_a_model(format!("the header has no '{key}'")))?;
        value.parse().map_err(|_| not_a_model(format!("the header's '{key}' cannot be '{value}'")))
    }

    fn options(&self) -> Result<LearnOptions, LearnError> {
        Ok(LearnOptions::default()
            .with_method(self.value("method")?)
            .with_neighbors(self.value("k_c")?)
            .with_pose_neighbors(self.value("k_p")?)
            .with_beta(self.value("beta")?)
            .with_bones(self.value("bones")?))
    }

    fn settings(&self) -> Result<LocalSettings, LearnError> {
        Ok(LocalSettings { sharpness: self.value("sharpness")?, ridge: self.value("ridge")?, refits: self.value("refits")? })
    }
}

/// The tables of a file that is read.
struct Tables<'a> {
    file: SafeTensors<'a>,
}

impl Tables<'_> {
    fn bytes(&self, name: &str, dtype: Dtype) -> Result<(Vec<usize>, &[u8]), LearnError> {
        let tensor = self.file.tensor(name).map_err(|_| not_a_model(format!("there is no table '{name}'")))?;
        if tensor.dtype() != dtype {
            return Err(not_a_model(format!("the table '{name}' has numbers of another kind")));
        }
        Ok((tensor.shape().to_vec(), tensor.data()))
    }

    fn indices(&self, name: &str) -> Result<Vec<u32>, LearnError> {
        let (_, bytes) = self.bytes(name, Dtype::U32)?;
        Ok(bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
    }

    fn examples(&self) -> Result<Examples, LearnError> {
        let (shape, bytes) = self.bytes("poses", Dtype::F64)?;
        let [count, vertices, 3] = shape[..] else { return Err(not_a_model("the table 'poses' is not examples x vertices x 3")) };
        if count == 0 || vertices == 0 {
            return Err(not_a_model("the table 'poses' is empty"));
        }
        let numbers: Vec<f64> = bytes.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect();
        let points: Vec<DVec3> = numbers.as_chunks::<3>().0.iter().map(|p| DVec3::from_array(*p)).collect();
        let mut poses = points.chunks_exact(vertices).map(<[DVec3]>::to_vec);
        let reference = Mesh::from_polygons(poses.next().expect("there is a first pose"), &self.polygons()?)?;
        let frames: Vec<Vec<DVec3>> = poses.collect();
        let (_, names) = self.bytes("frame_names", Dtype::U8)?;
        let names = std::str::from_utf8(names).map_err(|_| not_a_model("the names of its frames are not text"))?;
        let names: Vec<String> = names.split('\n').map(str::to_owned).collect();
        if names.len() != frames.len() {
            return Err(not_a_model(format!("it has {} names for {} frames", names.len(), frames.len())));
        }
        Examples::new(reference, frames, names)
    }

    fn polygons(&self) -> Result<Vec<Vec<u32>>, LearnError> {
        let corners = self.indices("face_vertices")?;
        let mut rest = corners.as_slice();
        let mut polygons = Vec::new();
        for size in self.indices("face_sizes")? {
            let (polygon, others) =
                rest.split_at_checked(size as usize).ok_or_else(|| not_a_model("its faces have fewer corners than they say"))?;
            polygons.push(polygon.to_vec());
            rest = others;
        }
        if rest.is_empty() { Ok(polygons) } else { Err(not_a_model("its faces have more corners than they say")) }
    }
}

/// A table to be written.
struct Table {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Table {
    fn new(dtype: Dtype, shape: Vec<usize>, bytes: Vec<u8>) -> Self {
        Self { dtype, shape, bytes }
    }

    fn of_indices(indices: impl Iterator<Item = u32>) -> Self {
        let bytes: Vec<u8> = indices.flat_map(u32::to_le_bytes).collect();
        Self::new(Dtype::U32, vec![bytes.len() / 4], bytes)
    }

    fn of_bytes(bytes: Vec<u8>) -> Self {
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

    fn model(method: Method) -> Model {
        let options = LearnOptions::default().with_method(method).with_bones(20);
        Model::train(bar_examples(), bar_control(), &options, &()).unwrap()
    }

    #[test]
    fn a_model_comes_back_and_drives_to_the_same_bits() {
        for method in [Method::Auto, Method::Paper] {
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
    fn whatever_is_cut_off_or_changed_is_declined_or_driven_but_never_panics() {
        let bytes = model(Method::Arap).to_bytes();
        for length in [0, 1, 5, 7, 8, 9, 100, bytes.len() / 2, bytes.len() - 1] {
            assert!(matches!(Model::from_bytes(&bytes[..length]), Err(LearnError::NotAModel { .. })), "{length} bytes");
        }
        for place in (0..400).step_by(3) {
            let mut changed = bytes.clone();
            changed[place] ^= 0x15;
            let _ = Model::from_bytes(&changed);
        }
    }

    #[test]
    fn a_header_that_promises_more_than_there_is_costs_no_memory() {
        let mut bytes = model(Method::Arap).to_bytes();
        bytes[..8].copy_from_slice(&(1_u64 << 60).to_le_bytes());
        assert!(matches!(Model::from_bytes(&bytes), Err(LearnError::NotAModel { .. })));
    }

    #[test]
    fn a_file_of_something_else_and_one_of_another_version_are_told_apart() {
        let other = safetensors::serialize([("weight", Table::of_indices([1, 2].into_iter()))], None).unwrap();
        assert!(Model::from_bytes(&other).unwrap_err().to_string().contains("header"));
        let header = HashMap::from([(HEADER.to_owned(), "version = 99\n".to_owned())]);
        let later = safetensors::serialize([("weight", Table::of_indices([1, 2].into_iter()))], Some(header)).unwrap();
        assert!(Model::from_bytes(&later).unwrap_err().to_string().contains("version 99"));
    }
}
