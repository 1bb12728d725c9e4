//! `pliant markers`.

mod check;
mod mirror;
mod suggest;

use std::path::Path;

use clap::Subcommand;
use pliant::marker_files::{marker_format, read_markers};
use pliant::marker_picture::marker_picture;
use pliant_io::Asset;
use pliant_mesh::Mesh;
use pliant_transfer::{MarkerFormat, Markers};

use super::console::Console;
use super::failure::Failure;
use super::{output, source};

const EXAMPLES: &str = "\
Examples:
  pliant markers suggest --source walk.glb --target camel.obj --count 8 --out pairs.json --picture pairs.png
                                              eight pairs to start from; look at the picture, correct them
  pliant markers mirror --source walk.glb --target camel.obj --markers pairs.json --out both.json
                                              the other side's pairs from one side's
  pliant markers check --source walk.glb --target camel.obj --markers both.json
                                              which pairs are wrong, and how
  pliant markers suggest --source walk.glb --target camel.obj --markers both.json
                                              where the next pair helps most

Markers are pairs of vertices that are the same spot, source first, counted from 0:
  JSON   [[source, target], …]  or by names  {\"noseTip\": [source, target], …}
  CSV    source,target          or by names  name,source,target
  SOURCE.json+TARGET.json       the landmarks {\"noseTip\": vertex, …} of each mesh, joined by their names
All forms serve `pliant transfer` and its recipes, too.";

/// Looks after the pairs of vertices that a transfer goes by.
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

/// The two meshes.
#[derive(Debug, clap::Args)]
struct Meshes {
    /// The mesh that markers start from: any asset, such as the clip of a transfer.
    #[arg(long, value_name = "ASSET")]
    source: String,

    /// The mesh that is to move.
    #[arg(long, value_name = "MESH")]
    target: String,
}

/// The two meshes and some markers, opened.
struct Opened {
    asset: Asset,
    source: Mesh,
    target: Mesh,
    markers: Markers,
    /// What was odd on reading.
    problems: Vec<String>,
}

impl Meshes {
    fn open(&self, markers: Option<&str>) -> Result<Opened, Failure> {
        let (asset, source) = source::load_surface(&self.source)?;
        let (other, target) = source::load_surface(&self.target)?;
        let (markers, odd) = markers
            .map(|file| read_markers(file, None))
            .transpose()?
            .unwrap_or_default();
        let problems = asset
            .problems
            .iter()
            .chain(&other.problems)
            .chain(&odd)
            .cloned()
            .collect();
        Ok(Opened {
            asset,
            source,
            target,
            markers,
            problems,
        })
    }
}

/// The form that the file's ending asks for.
fn format_of(out: &Path) -> Result<MarkerFormat, Failure> {
    output::require_ending(out, &["json", "csv"])?;
    Ok(marker_format(out).unwrap_or_default())
}

/// The bytes of a picture of markers that are all there.
fn picture(opened: &Opened, markers: &Markers, emphasised: &[bool]) -> Result<Vec<u8>, Failure> {
    let failed = |error: &dyn std::error::Error| Failure::about("the picture", error);
    let image = marker_picture(&opened.source, &opened.target, markers, emphasised)
        .map_err(|error| failed(&error))?;
    image.to_png().map_err(|error| failed(&error))
}

/// A pair as a person reads it.
fn shown(markers: &Markers, k: usize) -> String {
    let (a, b) = markers.pairs()[k];
    let name = markers.names()[k].clone().unwrap_or_else(|| k.to_string());
    format!("{name:<20} {a:>8} {b:>8}")
}
