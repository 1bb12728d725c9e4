//! `--bake`: how a clip of positions is stored as targets.

use std::path::Path;

use clap::ValueEnum;
use pliant_io::{Asset, Format};

use super::number::non_negative;
use crate::cli::report::failure::Failure;

/// How a clip of positions is stored where the format has targets.
#[derive(Debug, clap::Args)]
pub(crate) struct BakeArgs {
    /// How a clip is stored as targets.
    #[arg(long, value_enum, default_value_t = Bake::Frames)]
    bake: Bake,

    /// bake shapes: largest distance of a vertex from its frame, in asset units [default: 3/100000
    /// of the diagonal].
    #[arg(long, value_name = "LENGTH", allow_negative_numbers = true, value_parser = non_negative)]
    bake_tolerance: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Bake {
    /// A target for each frame, which is exact.
    Frames,
    /// Few targets whose weights move, within --bake-tolerance; much smaller.
    Shapes,
}

impl BakeArgs {
    /// Refuses shapes for a format without targets.
    pub(crate) fn require_targets(&self, out: &Path) -> Result<(), Failure> {
        let stores = Format::of(out).is_some_and(Format::stores_targets);
        if self.bake == Bake::Shapes && !stores {
            return Err(Failure::usage(format!(
                "--bake shapes: '{}' stores no targets; write .glb, .gltf, .usda or .fbx",
                out.display()
            )));
        }
        Ok(())
    }

    /// The tolerance of shapes for an asset; `None` for frames.
    pub(crate) fn shape_tolerance(&self, asset: &Asset) -> Option<f64> {
        if self.bake == Bake::Frames {
            return None;
        }
        let bounds = asset.mesh().ok().and_then(|mesh| mesh.bounds());
        let diagonal = bounds.map_or(0.0, |bounds| (bounds.max - bounds.min).length());
        let default = Asset::SHAPE_CLIP_TOLERANCE * diagonal;
        Some(self.bake_tolerance.unwrap_or(default))
    }
}
