//! The assets that commands read.

use pliant::BuiltIn;
use pliant_io::{Asset, LoadOptions};
use pliant_mesh::Mesh;

use crate::cli::report::failure::Failure;

/// Options that read every form of an asset, including built-in models. `neutral` is the file
/// name of the neutral mesh in a folder of OBJ files.
pub(crate) fn options(neutral: Option<&str>) -> LoadOptions<'_> {
    let options = LoadOptions::default().with_specimens(&BuiltIn);
    match neutral {
        Some(name) => options.with_neutral(name),
        None => options,
    }
}

/// Loads an asset as one mesh with faces, in the vertex order of the whole file.
pub(crate) fn load_surface(locator: &str) -> Result<(Asset, Mesh), Failure> {
    let asset = pliant_io::load(locator, &options(None))?;
    let mesh = asset.mesh()?;
    mesh.require_surface()
        .map_err(|error| Failure::about(locator, &error))?;
    Ok((asset, mesh))
}

/// Loads an asset that has targets.
pub(crate) fn load_with_targets(locator: &str, neutral: Option<&str>) -> Result<Asset, Failure> {
    let asset = pliant_io::load(locator, &options(neutral))?;
    let has_targets = asset
        .objects
        .iter()
        .any(|object| !object.rig.targets().is_empty());

    if has_targets {
        Ok(asset)
    } else {
        Err(Failure::new(format!(
            "{locator}: the asset has no targets; give a rig with blendshapes"
        )))
    }
}
