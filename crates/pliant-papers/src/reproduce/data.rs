//! The models of the reproductions: the built-in ones, and those of a folder of open data.

use std::path::{Path, PathBuf};

use pliant_io::{Asset, IoError, LoadOptions};
use pliant_mesh::Mesh;
use pliant_mesh::glam::Vec3;
use pliant_rig::{InBetween, Rig, Target};

use super::ReproduceError;
use pliant_specimens::BuiltIn;

/// The source of the models.
#[derive(Debug, Clone, Default)]
pub struct Data {
    folder: Option<PathBuf>,
}

/// A rig with its name.
#[derive(Debug, Clone)]
pub struct Model {
    /// The name in tables.
    pub name: String,
    /// The locator: `specimen:NAME`, or relative to the data folder.
    pub locator: String,
    /// The neutral mesh and its targets.
    pub rig: Rig,
}

impl Data {
    /// Only the built-in models.
    #[must_use]
    pub fn built_in() -> Self {
        Self::default()
    }

    /// The built-in models and the sets in a folder.
    ///
    /// # Errors
    /// A folder that does not exist.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Result<Self, IoError> {
        let folder = folder.into();
        // A missing folder and a file of that name are different errors.
        let about = std::fs::metadata(&folder).map_err(|error| IoError::reading(&folder, error))?;
        if !about.is_dir() {
            return Err(IoError::reading(
                folder,
                std::io::Error::other("it is not a folder; name the folder that holds the sets"),
            ));
        }

        Ok(Self {
            folder: Some(folder),
        })
    }

    /// The folder of sets, if there is one.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Loads a model: `specimen:NAME`, or files relative to the data folder.
    ///
    /// `Ok(None)` if there is no data folder, or if it does not contain the set, which is the first
    /// folder of the locator.
    ///
    /// # Errors
    /// A set that is there but cannot be read.
    pub fn model(&self, name: &str, locator: &str) -> Result<Option<Model>, IoError> {
        let model = |asset: Asset| {
            Ok(Model {
                name: name.to_owned(),
                locator: locator.to_owned(),
                rig: asset.rig()?,
            })
        };
        self.asset(locator)?.map(model).transpose()
    }

    /// As [`model`](Self::model), with the whole content of the files.
    ///
    /// # Errors
    /// As [`model`](Self::model).
    pub fn asset(&self, locator: &str) -> Result<Option<Asset>, IoError> {
        let options = LoadOptions::default().with_specimens(&BuiltIn);
        if locator.starts_with("specimen:") {
            return pliant_io::load(locator, &options).map(Some);
        }
        let Some(folder) = self.folder_with(locator) else {
            return Ok(None);
        };
        pliant_io::load(locator, &options.with_folder(folder)).map(Some)
    }

    /// A file of the data folder as text; `Ok(None)` if its set is not there.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn text(&self, locator: &str) -> Result<Option<String>, IoError> {
        let Some(folder) = self.folder_with(locator) else {
            return Ok(None);
        };
        Ok(Some(
            String::from_utf8_lossy(&pliant_io::read_file(&folder.join(locator))?).into_owned(),
        ))
    }

    /// A warning for each set of `locators` that the data folder lacks.
    pub(super) fn missing<'a>(&self, locators: impl IntoIterator<Item = &'a str>) -> Vec<String> {
        let Some(folder) = self.folder() else {
            return Vec::new();
        };

        let mut missing = Vec::new();
        for set in locators.into_iter().map(set_of) {
            if !folder.join(set).exists() {
                missing.push(format!(
                    "{set} is left out: there is no such folder in '{}'",
                    folder.display()
                ));
            }
        }
        missing
    }

    /// The data folder, if it contains the set of `locator`.
    fn folder_with(&self, locator: &str) -> Option<&Path> {
        self.folder
            .as_deref()
            .filter(|folder| folder.join(set_of(locator)).exists())
    }
}

impl Model {
    /// The model with only the faces of one group and their vertices, in order. UV coordinates and
    /// names of faces are dropped.
    ///
    /// # Errors
    /// A model without faces in that group.
    pub fn only_group(self, group: &str) -> Result<Self, ReproduceError> {
        let mesh = self.rig.neutral();
        let polygons: Vec<&[u32]> = mesh
            .faces()
            .enumerate()
            .filter(|&(face, _)| mesh.groups().of(face) == Some(group))
            .map(|(_, corners)| corners)
            .collect();

        let numbers = new_numbers(&polygons, mesh.vertex_count());
        let kept = |v: u32| numbers[v as usize];
        let positions = (0..)
            .zip(mesh.positions())
            .filter(|&(v, _)| kept(v).is_some())
            .map(|(_, &position)| position)
            .collect();
        // All corners of a kept face are kept vertices.
        let polygons: Vec<Vec<u32>> = polygons
            .iter()
            .map(|face| face.iter().filter_map(|&v| kept(v)).collect())
            .collect();

        let mesh = Mesh::from_polygons(positions, &polygons)
            .and_then(|mesh| mesh.require_surface().map(|()| mesh))
            .map_err(|source| ReproduceError::Mesh {
                model: self.name.clone(),
                source,
            })?;

        let targets = self
            .rig
            .targets()
            .iter()
            .map(|target| renumbered(target, &kept))
            .collect();
        let rig = Rig::new(mesh, targets).map_err(|source| ReproduceError::Rig {
            model: self.name.clone(),
            source,
        })?;

        Ok(Self { rig, ..self })
    }
}

/// Consecutive numbers for the vertices of some faces, in the order of the vertices.
fn new_numbers(polygons: &[&[u32]], vertex_count: usize) -> Vec<Option<u32>> {
    let mut used = vec![false; vertex_count];
    for &v in polygons.iter().copied().flatten() {
        used[v as usize] = true;
    }

    let mut next = 0;
    let mut numbers = vec![None; vertex_count];
    for (v, number) in numbers.iter_mut().enumerate() {
        if used[v] {
            *number = Some(next);
            next += 1;
        }
    }
    numbers
}

/// The target on the vertices that have a new number.
fn renumbered(target: &Target, number: &dyn Fn(u32) -> Option<u32>) -> Target {
    let rows = |vertices: &[u32], deltas: &[Vec3]| -> (Vec<u32>, Vec<Vec3>) {
        vertices
            .iter()
            .zip(deltas)
            .filter_map(|(&v, &delta)| Some((number(v)?, delta)))
            .unzip()
    };

    let (vertices, deltas) = rows(&target.vertices, &target.deltas);
    let in_betweens = target.in_betweens.iter().map(|shape| {
        let (vertices, deltas) = rows(&shape.vertices, &shape.deltas);
        InBetween {
            name: shape.name.clone(),
            weight: shape.weight,
            vertices,
            deltas,
        }
    });

    Target {
        name: target.name.clone(),
        vertices,
        deltas,
        in_betweens: in_betweens.collect(),
    }
}

/// The set of a locator: its first folder.
pub(super) fn set_of(locator: &str) -> &str {
    locator.split('/').next().unwrap_or(locator)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_set_is_no_error_but_an_unreadable_one_is() {
        let place = tempfile::tempdir().unwrap();
        let data = Data::in_folder(place.path()).unwrap();
        assert!(data.model("a", "set/a.obj").unwrap().is_none());
        assert!(Data::built_in().model("a", "set/a.obj").unwrap().is_none());
        std::fs::create_dir(place.path().join("set")).unwrap();

        assert!(
            data.model("a", "set/a.obj")
                .unwrap_err()
                .to_string()
                .contains("a.obj")
        );
    }

    #[test]
    fn one_group_of_a_model_moves_as_in_the_whole_model() {
        let place = tempfile::tempdir().unwrap();
        let set = place.path().join("set");
        std::fs::create_dir_all(set.join("targets")).unwrap();

        let obj = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 5 0 0\nv 6 0 0\nv 6 1 0\ng helper\nf 1 2 3\ng skin\nf 4 5 6\n";
        std::fs::write(set.join("a.obj"), obj).unwrap();
        std::fs::write(set.join("targets").join("up.target"), "1 9 9 9\n4 0 1 0\n").unwrap();

        let model = Data::in_folder(place.path())
            .unwrap()
            .model("a", "set/a.obj+set/targets")
            .unwrap()
            .expect("a model");
        let whole = model.rig.evaluate(&[0.5]);
        let skin = model.clone().only_group("skin").unwrap();

        assert_eq!(skin.rig.evaluate(&[0.5]), whole[3..]);
        assert_eq!(skin.rig.targets()[0].vertices, [1]);
        assert!(model.only_group("fur").is_err());
    }

    #[test]
    fn the_data_folder_must_be_a_folder() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(
            Data::in_folder(file.path())
                .unwrap_err()
                .to_string()
                .contains("not a folder")
        );

        assert!(
            Data::in_folder("/nowhere/at/all")
                .unwrap_err()
                .to_string()
                .contains("/nowhere")
        );
    }
}
