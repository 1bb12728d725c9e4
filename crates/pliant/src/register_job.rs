//! Registration with all its files at hand: from a [`RegisterRecipe`] to two clips.

use std::path::{Path, PathBuf};

use pliant_io::{Format, LoadOptions};
use pliant_learn::{LearnError, Scan, ScanOptions, ScanRegistration};
use pliant_mesh::{Mesh, Progress};

use crate::BuiltIn;
use crate::marker_files::read_markers;
use crate::register_recipe::RegisterRecipe;
use crate::transfer_recipe::RecipeError;

/// Scans with their markers, and how they are to be registered.
#[derive(Debug, Clone)]
pub struct RegisterJob {
    reference: Mesh,
    scans: Vec<Scan>,
    options: ScanOptions,
    /// What was odd on reading.
    pub problems: Vec<String>,
}

impl RegisterJob {
    /// Opens what `recipe` names; relative paths start at `folder`.
    ///
    /// # Errors
    /// Files that cannot be read, with their names.
    pub fn load(recipe: &RegisterRecipe, folder: Option<&Path>) -> Result<Self, RecipeError> {
        let mut options = LoadOptions::default().with_specimens(&BuiltIn);
        if let Some(folder) = folder {
            options = options.with_folder(folder);
        }
        let mut problems = Vec::new();
        let mut open = |locator: &str| -> Result<Mesh, RecipeError> {
            let asset = pliant_io::load(locator, &options)?;
            problems.extend(asset.problems.iter().cloned());
            Ok(asset.mesh()?)
        };
        let reference = open(&recipe.reference)?;
        let meshes = recipe
            .examples
            .iter()
            .map(|example| open(&example.scan))
            .collect::<Result<Vec<_>, _>>()?;
        let mut scans = Vec::with_capacity(meshes.len());
        for (example, mesh) in recipe.examples.iter().zip(meshes) {
            let (markers, odd) = read_markers(&example.markers, folder)?;
            problems.extend(odd);
            scans.push(Scan {
                name: example.label(),
                mesh,
                markers,
            });
        }
        Ok(Self {
            reference,
            scans,
            options: recipe.options(),
            problems,
        })
    }

    /// The scans as poses of one mesh.
    ///
    /// # Errors
    /// As [`ScanRegistration::of`].
    pub fn run(&self, progress: &dyn Progress) -> Result<ScanRegistration, LearnError> {
        ScanRegistration::of(&self.reference, &self.scans, &self.options, progress)
    }
}

/// Where the coarse and the fine clip go: `NAME.low.glb` and `NAME.high.glb` for `NAME.glb`, and
/// for a bare `NAME` pairs of `NAME.low.reference.obj+NAME.low.frames.npy`.
#[must_use]
pub fn clip_paths(out: &Path) -> [PathBuf; 2] {
    let name = out
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let ending = Format::of(out)
        .and_then(|_| out.extension())
        .map(|ending| ending.to_string_lossy().into_owned());
    ["low", "high"].map(|which| match &ending {
        Some(ending) => out.with_file_name(format!(
            "{}.{which}.{ending}",
            name.strip_suffix(&format!(".{ending}")).unwrap_or(&name)
        )),
        None => out.with_file_name(format!(
            "{name}.{which}.reference.obj+{name}.{which}.frames.npy"
        )),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_name_gives_pairs_and_an_ending_two_files() {
        let bare = clip_paths(Path::new("made/hand"));
        assert_eq!(
            bare[0],
            Path::new("made/hand.low.reference.obj+hand.low.frames.npy")
        );
        assert_eq!(
            clip_paths(Path::new("made/hand.glb"))[1],
            Path::new("made/hand.high.glb")
        );
        assert_eq!(
            clip_paths(Path::new("hand.v2"))[1],
            Path::new("hand.v2.high.reference.obj+hand.v2.high.frames.npy")
        );
    }
}
