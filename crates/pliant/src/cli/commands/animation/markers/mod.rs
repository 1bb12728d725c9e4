//! `pliant markers`: the pairs of corresponding vertices that a transfer needs.
//!
//! - [`check`]: find wrong pairs
//! - [`mirror`]: add the pairs of the other side
//! - [`suggest`]: propose more pairs

pub(crate) mod check;
pub(crate) mod mirror;
pub(crate) mod suggest;

use std::path::Path;

use clap::Subcommand;
use pliant::pictures::marker_picture;
use pliant::recipes::{marker_format, read_markers};
use pliant_io::Asset;
use pliant_mesh::Mesh;
use pliant_transfer::{MarkerFormat, Markers};

use crate::cli::args::source;
use crate::cli::report::console::Console;
use crate::cli::report::failure::Failure;
use crate::cli::report::output;

const EXAMPLES: &str = "\
Examples:
  # Eight pairs to start from; check them in the picture
  pliant markers suggest --source walk.glb --target camel.obj --count 8 \\
      --out pairs.json --picture pairs.png

  # Add the pairs of the other side
  pliant markers mirror --source walk.glb --target camel.obj \\
      --markers pairs.json --out both.json

  # Find wrong pairs
  pliant markers check --source walk.glb --target camel.obj \\
      --markers both.json

  # Where the next pair helps most
  pliant markers suggest --source walk.glb --target camel.obj \\
      --markers both.json

Marker files:
  A marker is a pair of corresponding vertices, source first, counted from 0.
    JSON  [[source, target], …]   or  {\"noseTip\": [source, target], …}
    CSV   source,target           or  name,source,target
    SOURCE.json+TARGET.json       the landmarks {\"noseTip\": vertex, …} of each
                                  mesh, joined by name
  `pliant transfer` and its recipes read all of these forms.";

/// Checks, suggests and mirrors the marker pairs of a transfer.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Check(check::Args),
    Suggest(suggest::Args),
    Mirror(mirror::Args),
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    match &args.action {
        Action::Check(args) => check::run(args, console),
        Action::Suggest(args) => suggest::run(args, console),
        Action::Mirror(args) => mirror::run(args, console),
    }
}

/// The two meshes on the command line.
#[derive(Debug, clap::Args)]
struct MeshArgs {
    /// Source mesh: any asset, such as the clip of a transfer.
    #[arg(long, value_name = "ASSET")]
    source: String,

    /// Target mesh.
    #[arg(long, value_name = "MESH")]
    target: String,
}

/// Two meshes with their markers.
struct MarkedMeshes {
    source_asset: Asset,
    source: Mesh,
    target: Mesh,
    markers: Markers,
    /// Warnings of reading the files.
    warnings: Vec<String>,
}

impl MeshArgs {
    /// Loads the meshes and the markers of a file; no markers without one.
    fn load(&self, markers: Option<&str>) -> Result<MarkedMeshes, Failure> {
        let (source_asset, source) = source::load_surface(&self.source)?;
        let (target_asset, target) = source::load_surface(&self.target)?;

        let (markers, marker_warnings) = match markers {
            Some(file) => read_markers(file, None)?,
            None => Default::default(),
        };

        let warnings = [
            &source_asset.warnings[..],
            &target_asset.warnings,
            &marker_warnings,
        ]
        .concat();
        Ok(MarkedMeshes {
            source_asset,
            source,
            target,
            markers,
            warnings,
        })
    }
}

/// The format of a marker file by its ending.
fn format_of(out: &Path) -> Result<MarkerFormat, Failure> {
    output::require_ending(out, &["json", "csv"])?;
    Ok(marker_format(out).unwrap_or_default())
}

/// A picture of both meshes with their markers, as PNG; emphasised markers are large.
fn picture_png(
    meshes: &MarkedMeshes,
    markers: &Markers,
    emphasised: &[bool],
) -> Result<Vec<u8>, Failure> {
    let about = |error: &dyn std::error::Error| Failure::about("the picture", error);
    let image = marker_picture(&meshes.source, &meshes.target, markers, emphasised)
        .map_err(|error| about(&error))?;
    image.to_png().map_err(|error| about(&error))
}

/// A row of a table with name and vertices of the `k`-th pair.
fn pair_text(markers: &Markers, k: usize) -> String {
    let (source, target) = markers.pairs()[k];
    let name = markers.names()[k].clone().unwrap_or_else(|| k.to_string());
    format!("{name:<20} {source:>8} {target:>8}")
}
