//! From the region of a recipe to the selected triangles of a target.

use std::path::{Path, PathBuf};

use pliant_io::{json_problem, npy, read_file};
use pliant_mesh::Mesh;
use pliant_transfer::{BorderBand, RegionSelection, StiffnessThreshold, stroke_triangles};

use super::{Region, RegionKeys, Strokes};
use crate::recipes::RecipeError;

/// Reads the region of one table of a recipe.
pub(crate) struct SelectionReader<'a> {
    /// The target.
    pub(crate) mesh: &'a Mesh,
    /// The table, for messages.
    pub(crate) place: String,
    /// Where relative paths start; `None` for the working directory.
    pub(crate) folder: Option<&'a Path>,
}

impl SelectionReader<'_> {
    /// Opens the files that `keys` name and marks the selected triangles.
    pub(crate) fn read(&self, keys: RegionKeys<'_>) -> Result<RegionSelection, RecipeError> {
        self.check_numbers(keys)?;
        let strokes = self.strokes(keys.strokes, keys.width)?;
        let faces = match keys.region {
            // With strokes alone, the region is what they cover.
            None if strokes.is_some() => Some(vec![false; self.mesh.face_count()]),
            None => None,
            Some(region) => self.faces(region)?,
        };

        Ok(RegionSelection {
            triangles: faces.map(|faces| self.triangles(&faces, strokes.as_deref())),
            strokes,
            refine: keys.refine,
            threshold: keys.threshold,
            band: keys.band,
        })
    }

    /// The triangles of the selected faces and those under strokes.
    fn triangles(&self, faces: &[bool], strokes: Option<&[bool]>) -> Vec<bool> {
        let mut selected = Vec::with_capacity(self.mesh.triangles().len());
        for (t, &face) in self.mesh.triangle_faces().iter().enumerate() {
            let under_stroke = strokes.is_some_and(|strokes| strokes[t]);
            selected.push(faces[face as usize] || under_stroke);
        }
        selected
    }

    fn check_numbers(&self, keys: RegionKeys<'_>) -> Result<(), RecipeError> {
        let band = match keys.band {
            BorderBand::Share(share) => share,
            BorderBand::Auto => 0.0,
        };
        let threshold = match keys.threshold {
            StiffnessThreshold::Below(flexibility) => flexibility,
            StiffnessThreshold::Auto => 0.0,
        };

        for (key, value) in [
            ("width", keys.width),
            ("threshold", threshold),
            ("band", band),
        ] {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(self.wrong(key, format!("it is {value}; give a number from zero up")));
            }
        }
        Ok(())
    }

    fn wrong(&self, key: &str, message: impl Into<String>) -> RecipeError {
        RecipeError::meaning(format!("{}, {key}", self.place), message)
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder
            .map_or_else(|| file.into(), |folder| folder.join(file))
    }

    /// Whether each face belongs to the region; `None` for all faces.
    fn faces(&self, region: &Region) -> Result<Option<Vec<bool>>, RecipeError> {
        match region {
            Region::All => Ok(None),
            Region::Faces(faces) => match face_mask(faces, self.mesh) {
                Ok(mask) => Ok(Some(mask)),
                Err(message) => Err(self.wrong("region", message)),
            },
            Region::Group(name) => self.group(name).map(Some),
            Region::File(file) => self.file(file).map(Some),
            Region::Union(parts) => self.union(parts),
        }
    }

    fn union(&self, parts: &[Region]) -> Result<Option<Vec<bool>>, RecipeError> {
        let mut union = vec![false; self.mesh.face_count()];
        for part in parts {
            let Some(faces) = self.faces(part)? else {
                return Ok(None);
            };
            for (face, selected) in faces.into_iter().enumerate() {
                union[face] |= selected;
            }
        }
        Ok(Some(union))
    }

    fn file(&self, file: &str) -> Result<Vec<bool>, RecipeError> {
        let path = self.path(file);
        // A group without its `#` looks like a file name; the message says what to write.
        let names_group = self.mesh.groups().names.iter().any(|name| name == file);
        if !path.exists() && names_group {
            return Err(self.wrong(
                "region",
                format!(
                    "there is no file '{file}'; for the target's group of that name write \"#{file}\""
                ),
            ));
        }

        // Arrays are masks; every other file is a JSON list.
        let bytes = read_file(&path)?;
        let is_array = path
            .extension()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("npy"));
        let read = if is_array {
            array_mask(&bytes, self.mesh)
        } else {
            json_mask(&bytes, self.mesh)
        };

        read.map_err(|message| self.wrong(&format!("region, {}", path.display()), message))
    }

    fn group(&self, name: &str) -> Result<Vec<bool>, RecipeError> {
        let groups = self.mesh.groups();
        if !groups.names.iter().any(|other| other == name) {
            let names = if groups.names.is_empty() {
                "none".into()
            } else {
                format!("'{}'", groups.names.join("', '"))
            };
            return Err(self.wrong(
                "region",
                format!("the target has no group '{name}'; its groups: {names}"),
            ));
        }

        Ok((0..self.mesh.face_count())
            .map(|face| groups.of(face) == Some(name))
            .collect())
    }

    /// Whether a stroke covers each triangle; `None` without strokes.
    fn strokes(&self, strokes: &Strokes, width: f64) -> Result<Option<Vec<bool>>, RecipeError> {
        let read;
        let (lines, key) = match strokes {
            Strokes::Lines(lines) => (lines, "strokes".to_owned()),
            Strokes::File(file) => {
                let path = self.path(file);
                let key = format!("strokes, {}", path.display());
                read = self.stroke_file(&path, &key)?;
                (&read, key)
            }
        };
        if lines.is_empty() {
            return Ok(None);
        }

        let diagonal = self.mesh.bounds().map_or(0.0, |bounds| bounds.diagonal());
        let mut covered = vec![false; self.mesh.triangles().len()];
        for (k, line) in lines.iter().enumerate() {
            let place = format!("{}, {key}, stroke {k}", self.place);
            let under_line = stroke_triangles(self.mesh, line, width * diagonal)
                .map_err(RecipeError::transfer(place))?;
            for (triangle, selected) in under_line.into_iter().enumerate() {
                covered[triangle] |= selected;
            }
        }

        Ok(Some(covered))
    }

    fn stroke_file(&self, path: &Path, key: &str) -> Result<Vec<Vec<u32>>, RecipeError> {
        serde_json::from_slice(&read_file(path)?).map_err(|error| {
            self.wrong(
                key,
                format!(
                    "{}; give a JSON list of lists of vertices, counted from 0",
                    json_problem(&error)
                ),
            )
        })
    }
}

/// A mask from an array of 0 or 1 per face.
fn array_mask(bytes: &[u8], mesh: &Mesh) -> Result<Vec<bool>, String> {
    let array = npy::read(bytes).map_err(|error| error.to_string())?;
    let faces = mesh.face_count();
    if array.values.len() != faces {
        return Err(format!(
            "{} numbers where the target has {faces} faces; give one per face",
            array.values.len()
        ));
    }

    let mut mask = Vec::with_capacity(faces);
    for (face, &value) in array.values.iter().enumerate() {
        if value != 0.0 && value != 1.0 {
            return Err(format!("face {face} has the value {value}; give 0 or 1"));
        }
        mask.push(value == 1.0);
    }
    Ok(mask)
}

/// A mask from a JSON list of faces.
fn json_mask(bytes: &[u8], mesh: &Mesh) -> Result<Vec<bool>, String> {
    let faces: Vec<usize> = serde_json::from_slice(bytes).map_err(|error| {
        let problem = json_problem(&error);
        format!("{problem}; give a JSON list of faces, counted from 0")
    })?;
    face_mask(&faces, mesh)
}

fn face_mask(faces: &[usize], mesh: &Mesh) -> Result<Vec<bool>, String> {
    let mut mask = vec![false; mesh.face_count()];
    for &face in faces {
        let Some(selected) = mask.get_mut(face) else {
            return Err(format!(
                "face {face} of a target with {}, counted from 0",
                mesh.face_count()
            ));
        };
        *selected = true;
    }
    Ok(mask)
}
