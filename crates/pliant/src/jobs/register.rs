//! Registration of scans from a register recipe: scans become poses of one mesh.

use std::path::{Path, PathBuf};

use pliant_io::{Asset, Format, LoadOptions};
use pliant_learn::{LearnError, Scan, ScanOptions, ScanRegistration};
use pliant_mesh::{Mesh, Progress};

use crate::BuiltIn;
use crate::recipes::{RecipeError, RegisterRecipe, read_markers};

/// Scans with their markers, and the options of the registration.
#[derive(Debug, Clone)]
pub struct RegisterJob {
    reference: Mesh,
    scans: Vec<Scan>,
    options: ScanOptions,
    /// What one unit of the reference is, in metres, if it is known.
    pub meters_per_unit: Option<f64>,
    /// Warnings of reading.
    pub warnings: Vec<String>,
}

impl RegisterJob {
    /// Opens the files of `recipe`; relative paths start at `folder`.
    ///
    /// # Errors
    /// Files that cannot be read, with their names.
    pub fn load(recipe: &RegisterRecipe, folder: Option<&Path>) -> Result<Self, RecipeError> {
        let mut options = LoadOptions::default().with_specimens(&BuiltIn);
        if let Some(folder) = folder {
            options = options.with_folder(folder);
        }

        let mut warnings = Vec::new();
        let reference = open(&recipe.reference, &options, &mut warnings)?;
        let mut meshes = Vec::with_capacity(recipe.examples.len());
        for example in &recipe.examples {
            // Scans of other files may be in another unit than the reference.
            let scan = open(&example.scan, &options, &mut warnings)?;
            meshes.push(scan.in_space_of(&reference).mesh()?);
        }

        // Meshes are read first, so that a missing scan is reported before its markers.
        let mut scans = Vec::with_capacity(meshes.len());
        for (example, mesh) in recipe.examples.iter().zip(meshes) {
            let (markers, marker_warnings) = read_markers(&example.markers, folder)?;
            warnings.extend(marker_warnings);
            scans.push(Scan {
                name: example.label(),
                mesh,
                markers,
            });
        }

        Ok(Self {
            reference: reference.mesh()?,
            meters_per_unit: reference.meters_per_unit,
            scans,
            options: recipe.options(),
            warnings,
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

fn open(
    locator: &str,
    options: &LoadOptions<'_>,
    warnings: &mut Vec<String>,
) -> Result<Asset, RecipeError> {
    let asset = pliant_io::load(locator, options)?;
    warnings.extend_from_slice(&asset.warnings);
    Ok(asset)
}

/// The output files of the coarse and the fine clip: `NAME.low.glb` and `NAME.high.glb` for
/// `NAME.glb`, and for a bare `NAME` the pairs `NAME.low.reference.obj+NAME.low.frames.npy` and
/// `NAME.high.…`.
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

    ["low", "high"].map(|level| {
        let file = match &ending {
            Some(ending) => {
                let stem = name.strip_suffix(&format!(".{ending}")).unwrap_or(&name);
                format!("{stem}.{level}.{ending}")
            }
            None => format!("{name}.{level}.reference.obj+{name}.{level}.frames.npy"),
        };
        out.with_file_name(file)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_name_gives_two_pairs_and_an_extension_two_files() {
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
