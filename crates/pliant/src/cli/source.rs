//! Reading the assets that commands are given.

use pliant::BuiltIn;
use pliant_io::{Asset, LoadOptions};
use pliant_mesh::Mesh;

use super::failure::Failure;

/// Every form of an asset, built-in models included; `neutral` names that of a folder of OBJs.
pub(crate) fn options(neutral: Option<&str>) -> LoadOptions<'_> {
    let options = LoadOptions::default().with_specimens(&BuiltIn);
    neutral.map_or(options, |name| options.with_neutral(name))
}

/// Loads an asset as one mesh in the whole file's vertex order, ready to compute on.
pub(crate) fn load_surface(locator: &str) -> Result<(Asset, Mesh), Failure> {
    let asset = pliant_io::load(locator, &options(None))?;
    let mesh = asset.mesh()?;
    mesh.require_surface()
        .map_err(|error| Failure::about(locator, &error))?;
    Ok((asset, mesh))
}
