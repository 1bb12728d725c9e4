//! Regions of a target, from what a recipe says to a weight per triangle.

use std::collections::BTreeSet;
use std::path::PathBuf;

use pliant_io::{npy, read_file};
use pliant_mesh::Mesh;
use pliant_transfer::{
    DEFAULT_BAND, Membership, Partitions, TransferError, blend_weights, geodesic_band,
    stroke_triangles,
};

use crate::transfer_recipe::{Band, RecipeError, Region, Selection, Strokes, Threshold};

/// A region that was drawn, and how its border is to be treated.
#[derive(Debug, Clone)]
pub(crate) struct Drawn {
    /// For every triangle of the target whether it was drawn on; `None` for all.
    triangles: Option<Vec<bool>>,
    refine: bool,
    threshold: Threshold,
    band: Band,
}

impl Drawn {
    /// Opens what a selection names; `place` is the table it stands in, and `path` says where its
    /// files are.
    pub(crate) fn read(
        told: Selection<'_>,
        mesh: &Mesh,
        place: &str,
        path: impl Fn(&str) -> PathBuf,
    ) -> Result<Self, RecipeError> {
        let Selection {
            refine,
            threshold,
            band,
            ..
        } = told;
        let share = if let Band::Share(share) = band {
            share
        } else {
            0.0
        };
        let below = if let Threshold::Below(below) = threshold {
            below
        } else {
            0.0
        };
        let numbers = [("width", told.width), ("threshold", below), ("band", share)];
        if let Some((key, value)) = numbers
            .into_iter()
            .find(|(_, value)| !(*value >= 0.0 && value.is_finite()))
        {
            return Err(RecipeError::meaning(
                format!("{place}, {key}"),
                format!("it is {value}; give a number from zero up"),
            ));
        }
        let reader = Reader {
            mesh,
            place,
            path: &path,
        };
        let strokes = reader.strokes(told.strokes, told.width)?;
        let region = match told.region {
            None if strokes.is_some() => Some(vec![false; mesh.face_count()]),
            None => None,
            Some(region) => reader.faces(region)?,
        };
        let triangles = region.map(|faces| {
            let in_region = mesh
                .triangle_faces()
                .iter()
                .map(|&face| faces[face as usize]);
            in_region
                .enumerate()
                .map(|(t, drawn)| drawn || strokes.as_ref().is_some_and(|strokes| strokes[t]))
                .collect()
        });
        Ok(Self {
            triangles,
            refine,
            threshold,
            band,
        })
    }

    /// The faces that were drawn on, in whole or in part, ascending; `None` for all.
    pub(crate) fn faces(&self, mesh: &Mesh) -> Option<Vec<u32>> {
        let drawn = mesh
            .triangle_faces()
            .iter()
            .zip(self.triangles.as_ref()?)
            .filter(|(_, drawn)| **drawn);
        let faces: BTreeSet<u32> = drawn.map(|(&face, _)| face).collect();
        Some(faces.into_iter().collect())
    }

    /// The weight of every triangle; `partitions` gives the stiff parts.
    pub(crate) fn weights(
        &self,
        mesh: &Mesh,
        partitions: impl FnOnce(Threshold) -> Result<Partitions, TransferError>,
    ) -> Result<Vec<f64>, TransferError> {
        let Some(drawn) = &self.triangles else {
            return Ok(vec![1.0; mesh.triangles().len()]);
        };
        let diagonal = mesh.bounds().map_or(0.0, |bounds| bounds.diagonal());
        let members = match self.band {
            Band::Share(share) => geodesic_band(mesh, drawn, share * diagonal)?,
            Band::Auto if !self.refine => drawn
                .iter()
                .map(|&selected| Membership::drawn(selected))
                .collect(),
            Band::Auto => match partitions(self.threshold)? {
                partitions if partitions.any_stiff() => partitions.refine(drawn)?,
                _ => geodesic_band(mesh, drawn, DEFAULT_BAND * diagonal)?,
            },
        };
        blend_weights(mesh, &members)
    }

    /// Why nothing has a weight, if so.
    pub(crate) fn nothing_in(&self, weights: &[f64]) -> Option<&'static str> {
        let why = match self.band {
            Band::Auto if self.refine => {
                "covers no stiff part by more than half; draw more, or refine = false"
            }
            Band::Share(_) if self.triangles.iter().flatten().any(|&drawn| drawn) => {
                "lies all within its band; make the band narrower"
            }
            _ => "is empty",
        };
        weights.iter().all(|&weight| weight == 0.0).then_some(why)
    }
}

/// What reads one region of a recipe.
struct Reader<'a> {
    mesh: &'a Mesh,
    place: &'a str,
    path: &'a dyn Fn(&str) -> PathBuf,
}

impl Reader<'_> {
    fn wrong(&self, key: &str, message: impl Into<String>) -> RecipeError {
        RecipeError::meaning(format!("{}, {key}", self.place), message)
    }

    /// For every face whether it belongs to the region; `None` for all.
    fn faces(&self, region: &Region) -> Result<Option<Vec<bool>>, RecipeError> {
        match region {
            Region::All => Ok(None),
            Region::Faces(faces) => chosen(faces, self.mesh)
                .map(Some)
                .map_err(|message| self.wrong("region", message)),
            Region::Group(name) => self.group(name).map(Some),
            Region::File(file) => self.file(file).map(Some),
            Region::Union(parts) => {
                let mut all = vec![false; self.mesh.face_count()];
                for part in parts {
                    let Some(faces) = self.faces(part)? else {
                        return Ok(None);
                    };
                    all.iter_mut()
                        .zip(faces)
                        .for_each(|(all, face)| *all |= face);
                }
                Ok(Some(all))
            }
        }
    }

    fn file(&self, file: &str) -> Result<Vec<bool>, RecipeError> {
        let path = (self.path)(file);
        if !path.exists() && self.mesh.groups().names.iter().any(|name| name == file) {
            return Err(self.wrong("region", format!("there is no file '{file}'; for the target's group of that name write \"#{file}\"")));
        }
        let bytes = read_file(&path)?;
        let is_array = path
            .extension()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("npy"));
        let read = if is_array {
            mask(&bytes, self.mesh)
        } else {
            face_list(&bytes, self.mesh)
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

    /// For every triangle whether some stroke covers it; `None` without strokes.
    fn strokes(&self, strokes: &Strokes, width: f64) -> Result<Option<Vec<bool>>, RecipeError> {
        let read;
        let (lines, key) = match strokes {
            Strokes::Lines(lines) => (lines, "strokes".to_owned()),
            Strokes::File(file) => {
                let path = (self.path)(file);
                let key = format!("strokes, {}", path.display());
                read = serde_json::from_slice::<Vec<Vec<u32>>>(&read_file(&path)?).map_err(
                    |error| {
                        self.wrong(
                            &key,
                            format!(
                                "{error}; give a JSON list of lists of vertices, counted from 0"
                            ),
                        )
                    },
                )?;
                (&read, key)
            }
        };
        if lines.is_empty() {
            return Ok(None);
        }
        let width = width * self.mesh.bounds().map_or(0.0, |bounds| bounds.diagonal());
        let mut all = vec![false; self.mesh.triangles().len()];
        for (k, line) in lines.iter().enumerate() {
            let place = format!("{}, {key}, stroke {k}", self.place);
            let covered =
                stroke_triangles(self.mesh, line, width).map_err(RecipeError::transfer(place))?;
            all.iter_mut()
                .zip(covered)
                .for_each(|(all, covered)| *all |= covered);
        }
        Ok(Some(all))
    }
}

/// 0 or 1 per face.
fn mask(bytes: &[u8], mesh: &Mesh) -> Result<Vec<bool>, String> {
    let array = npy::read(bytes).map_err(|error| error.to_string())?;
    let faces = mesh.face_count();
    if array.values.len() != faces {
        return Err(format!(
            "{} numbers where the target has {faces} faces; give one per face",
            array.values.len()
        ));
    }
    match array
        .values
        .iter()
        .position(|&value| value != 0.0 && value != 1.0)
    {
        Some(face) => Err(format!(
            "face {face} has the value {}; give 0 or 1",
            array.values[face]
        )),
        None => Ok(array.values.iter().map(|&value| value == 1.0).collect()),
    }
}

/// A JSON list of faces.
fn face_list(bytes: &[u8], mesh: &Mesh) -> Result<Vec<bool>, String> {
    let faces: Vec<usize> = serde_json::from_slice(bytes)
        .map_err(|error| format!("{error}; give a JSON list of faces, counted from 0"))?;
    chosen(&faces, mesh)
}

fn chosen(faces: &[usize], mesh: &Mesh) -> Result<Vec<bool>, String> {
    let mut region = vec![false; mesh.face_count()];
    for &face in faces {
        let entry = region.get_mut(face).ok_or_else(|| {
            format!(
                "face {face} of a target with {}, counted from 0",
                mesh.face_count()
            )
        })?;
        *entry = true;
    }
    Ok(region)
}
