//! The built-in models as assets, so that `specimen:NAME` stands wherever a file does.

use pliant_io::{Asset, IoError, LoadOptions, Specimens};

/// The models of `pliant-specimens`.
#[derive(Debug, Clone, Copy)]
pub struct BuiltIn;

impl Specimens for BuiltIn {
    fn names(&self) -> Vec<String> {
        pliant_specimens::names().iter().map(|&name| name.to_owned()).collect()
    }

    fn specimen(&self, name: &str) -> Option<Asset> {
        let specimen = pliant_specimens::specimen(name)?;
        let mut asset = Asset::from_rig(specimen.rig);
        asset.clips = specimen.clips.iter().flat_map(|clip| Asset::from_clip(clip).clips).collect();
        Some(asset)
    }
}

/// Loads an asset in any of its forms, built-in models included.
pub fn load(locator: &str) -> Result<Asset, IoError> {
    pliant_io::load(locator, &LoadOptions::default().with_specimens(&BuiltIn))
}
