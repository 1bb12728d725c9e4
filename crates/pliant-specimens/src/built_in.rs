//! The specimens as assets, so that `specimen:NAME` can be used wherever a file can.

use pliant_io::{Animation, Asset, IoError, LoadOptions, Motion, Shape, Specimens};

use crate::Specimen;

/// The specimens of this crate, for [`LoadOptions::with_specimens`].
#[derive(Debug, Clone, Copy)]
pub struct BuiltIn;

impl Specimens for BuiltIn {
    fn names(&self) -> Vec<String> {
        crate::names().iter().map(|&name| name.to_owned()).collect()
    }

    fn specimen(&self, name: &str) -> Option<Asset> {
        crate::specimen(name).map(as_asset)
    }
}

fn as_asset(specimen: Specimen) -> Asset {
    let mut asset = Asset::from_rig(specimen.rig);
    asset.meters_per_unit = Some(specimen.meters_per_unit);
    asset.clips = specimen
        .clips
        .iter()
        .flat_map(|clip| Asset::from_clip(clip).clips)
        .collect();

    for performance in specimen.performances {
        let mut animation = Animation::new(performance.name, performance.frame_count);
        animation.frames_per_second = performance.frames_per_second;
        animation.motions = vec![Motion::new(0, Shape::Weights(performance.track))];
        asset.clips.push(animation);
    }

    asset
}

/// Loads an asset from a locator, which may name a file or a specimen.
///
/// # Errors
/// Files that cannot be read.
pub fn load(locator: &str) -> Result<Asset, IoError> {
    pliant_io::load(locator, &LoadOptions::default().with_specimens(&BuiltIn))
}
