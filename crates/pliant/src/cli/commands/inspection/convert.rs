//! `pliant convert`: an asset in another file format.

use std::path::PathBuf;

use pliant_io::Asset;
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::args::source;
use crate::cli::report::console::Console;
use crate::cli::report::failure::Failure;
use crate::cli::report::output::{self, SavedAsset};

const EXAMPLES: &str = "\
Examples:
  # A mesh
  pliant convert head.obj head.glb

  # A rig: one mesh with morph targets
  pliant convert neutral.obj+deltas.npy head.glb

  # A rig from scans, without displacements shorter than 0.001
  pliant convert face.obj+deltas.npy face.glb --prune 0.001

  # One frame of a clip
  pliant convert walk.reference.obj+walk.frames.npy@12 pose.obj

  # A mesh and the displacements of its targets
  pliant convert head.glb head.obj+head.npy

  # A mesh and its frames
  pliant convert walk.glb walk.reference.obj+walk.frames.npy

  # Positions only: frames x vertices x 3, float64
  pliant convert walk.glb walk.npy

What is kept:
  Vertex order, quads, UV seams, groups, materials and names are kept wherever
  both formats can store them; warnings list what the output format cannot
  store. Point caches (MDD, PC2) and .npy files hold positions only: keep the
  mesh beside them.";

/// Converts an asset to another file format.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Asset to read.
    #[arg(value_name = "IN")]
    input: String,

    /// File to write. Its ending selects the format.
    #[arg(value_name = "OUT")]
    output: PathBuf,

    /// File name of the neutral mesh in a folder of OBJ files [default: neutral.obj].
    #[arg(long, value_name = "NAME")]
    neutral: Option<String>,

    /// Leave out displacements of targets that are shorter than this, in asset units. Files
    /// become smaller; the error of a vertex is at most this for each active slider.
    #[arg(long, value_name = "LENGTH", allow_negative_numbers = true, value_parser = parse_length)]
    prune: Option<f32>,
}

/// The report of `pliant convert`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ConvertReport {
    #[serde(flatten)]
    saved: SavedAsset,
    /// Vertices of the asset.
    vertices: usize,
    /// Displacements that `--prune` removed.
    pruned: usize,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let _spinner = console.spinner("converting");
    let asset = pliant_io::load(&args.input, &source::options(args.neutral.as_deref()))?;
    let before = displacement_count(&asset);
    let asset = match args.prune {
        Some(shortest) => asset.pruned(shortest)?,
        None => asset,
    };

    let pruned = before - displacement_count(&asset);

    let mut warnings = asset.warnings.clone();
    let report = ConvertReport {
        saved: output::save_asset(&asset, &args.output, &mut warnings)?,
        vertices: asset.vertex_count(),
        pruned,
    };

    let mut summary = String::new();
    if args.prune.is_some() {
        summary = format!("removed {pruned} of {before} displacements; ");
    }
    summary += &format!("written to {}\n", args.output.display());
    console.print_summary(&report, &summary, &warnings)
}

fn displacement_count(asset: &Asset) -> usize {
    asset
        .objects
        .iter()
        .flat_map(|object| object.rig.targets())
        .map(|target| target.vertices.len())
        .sum()
}

fn parse_length(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(length) if length.is_finite() && length >= 0.0 => Ok(length),
        _ => Err(format!("'{text}' is not a length of zero or more")),
    }
}
