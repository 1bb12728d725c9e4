//! `pliant convert`.

use std::path::PathBuf;

use pliant_io::Asset;
use serde_json::{Map, json};

use super::console::Console;
use super::failure::Failure;
use super::source;

const EXAMPLES: &str = "\
Examples:
  pliant convert head.obj head.glb            a mesh
  pliant convert neutral.obj+deltas.npy head.glb
                                              a rig: one mesh with morph targets
  pliant convert face.obj+deltas.npy face.glb --prune 0.001
                                              without the noise that scans leave where nothing moves
  pliant convert walk.reference.obj+walk.frames.npy@12 pose.obj
                                              one frame of a clip
  pliant convert head.glb head.obj+head.npy   a mesh and the displacements of its targets
  pliant convert walk.glb walk.reference.obj+walk.frames.npy
                                              a mesh and its frames
  pliant convert walk.glb walk.npy            plain positions, frames x vertices x 3, float64

Vertex order, quads, UV seams, groups, materials and names come back unharmed wherever both formats
can hold them; what the second cannot hold is listed.";

/// Converts between formats; nothing that both can hold is lost.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The asset to read.
    #[arg(value_name = "IN")]
    input: String,

    /// The file to write; its ending tells the format.
    #[arg(value_name = "OUT")]
    output: PathBuf,

    /// The neutral mesh of a folder of OBJs, by its file name.
    #[arg(long, value_name = "NAME")]
    neutral: Option<String>,

    /// Leave out target displacements shorter than this, in the asset's units: smaller files,
    /// nothing moves farther than that.
    #[arg(long, value_name = "LENGTH", allow_negative_numbers = true, value_parser = parse_length)]
    prune: Option<f32>,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let _working = console.working("converting");
    let asset = pliant_io::load(&args.input, &source::options(args.neutral.as_deref()))?;
    let before = displacement_count(&asset);
    let asset = match args.prune {
        Some(least) => asset.pruned(least)?,
        None => asset,
    };
    let pruned = before - displacement_count(&asset);
    let saved = pliant_io::save(&asset, &args.output)?;
    let mut problems = asset.problems.clone();
    problems.extend(
        saved
            .left_out
            .iter()
            .map(|what| format!("{} leaves out {what}", args.output.display())),
    );
    let mut object = Map::new();
    object.insert("out".into(), json!(args.output.display().to_string()));
    object.insert("left_out".into(), json!(saved.left_out));
    object.insert("vertices".into(), json!(asset.vertex_count()));
    object.insert("pruned".into(), json!(pruned));
    let told = if args.prune.is_some() {
        format!("pruned {pruned} of {before} displacements; ")
    } else {
        String::new()
    };
    console.done(
        object,
        &format!("{told}written to {}\n", args.output.display()),
        &problems,
    )
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
