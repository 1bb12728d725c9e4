//! The models that reproductions work on: built in, and those of a folder of open data.

use std::path::{Path, PathBuf};

use pliant_io::{Asset, IoError, LoadOptions};
use pliant_mesh::Mesh;
use pliant_mesh::glam::Vec3;
use pliant_rig::{InBetween, Rig, Target};

use super::ReproduceError;
use crate::BuiltIn;

/// Where models come from.
#[derive(Debug, Clone, Default)]
pub struct Data {
    folder: Option<PathBuf>,
}

/// A rig to work on.
#[derive(Debug, Clone)]
pub struct Model {
    /// What it is called in tables.
    pub name: String,
    /// How it is loaded: `specimen:NAME`, or relative to the data folder.
    pub locator: String,
    /// The mesh with its targets.
    pub rig: Rig,
}

impl Data {
    /// The built-in models alone.
    #[must_use]
    pub fn built_in() -> Self {
        Self::default()
    }

    /// The built-in models and the sets in a folder.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Result<Self, IoError> {
        let folder = folder.into();
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
    /// `Ok(None)` where there is no data folder or it does not hold the set, which is the first
    /// folder of the locator; a set that is there but cannot be read is an error.
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

    /// As [`model`](Self::model), with all that is in the files.
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

    /// A file of the data folder as text; `Ok(None)` where its set is not there.
    pub fn text(&self, locator: &str) -> Result<Option<String>, IoError> {
        let Some(folder) = self.folder_with(locator) else {
            return Ok(None);
        };
        Ok(Some(
            String::from_utf8_lossy(&pliant_io::read_file(&folder.join(locator))?).into_owned(),
        ))
    }

    /// A line for each set of `locators` that a data folder lacks.
    pub(super) fn missing<'a>(&self, locators: impl IntoIterator<Item = &'a str>) -> Vec<String> {
        let Some(folder) = self.folder() else {
            return Vec::new();
        };
        let lacking = locators
            .into_iter()
            .map(set_of)
            .filter(|set| !folder.join(set).exists());
        lacking
            .map(|set| {
                format!(
                    "{set} is left out: there is no such folder in '{}'",
                    folder.display()
                )
            })
            .collect()
    }

    /// The data folder, if it holds the set of `locator`.
    fn folder_with(&self, locator: &str) -> Option<&Path> {
        self.folder
            .as_deref()
            .filter(|folder| folder.join(set_of(locator)).exists())
    }
}

impl Model {
    /// The model with the faces of one group only, and the vertices they use in their order.
    /// Texture coordinates and names of faces are not kept.
    pub fn only_group(self, group: &str) -> Result<Self, ReproduceError> {
        let mesh = self.rig.neutral();
        let polygons: Vec<&[u32]> = mesh
            .faces()
            .enumerate()
            .filter(|&(face, _)| mesh.groups().of(face) == Some(group))
            .map(|(_, f)| f)
            .collect();
        let mut number: Vec<Option<u32>> = vec![None; mesh.vertex_count()];
        polygons
            .iter()
            .copied()
            .flatten()
            .for_each(|&v| number[v as usize] = Some(0));
        number
            .iter_mut()
            .flatten()
            .zip(0..)
            .for_each(|(number, k)| *number = k);
        let kept = |v: u32| number[v as usize];
        let positions = (0..)
            .zip(mesh.positions())
            .filter(|&(v, _)| kept(v).is_some())
            .map(|(_, &place)| place)
            .collect();
        let polygons: Vec<Vec<u32>> = polygons
            .iter()
            .map(|face| face.iter().filter_map(|&v| kept(v)).collect())
            .collect();
        let failed = |source| ReproduceError::Mesh {
            model: self.name.clone(),
            source,
        };
        let mesh = Mesh::from_polygons(positions, &polygons)
            .and_then(|mesh| mesh.require_surface().map(|()| mesh))
            .map_err(failed)?;
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

/// The target on the vertices that have a number.
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

/// The set that a locator is of: its first folder.
pub(super) fn set_of(locator: &str) -> &str {
    locator.split('/').next().unwrap_or(locator)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_that_is_not_there_is_no_error_and_one_that_is_broken_is() {
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
    fn one_group_of_a_model_moves_as_it_did() {
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
    fn a_folder_of_data_must_be_one() {
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
