//! `pliant markers mirror`.

use std::path::PathBuf;

use pliant_mesh::Mesh;
use pliant_rig::MirrorPlane;
use pliant_transfer::{mirror_markers, symmetry_plane};
use serde_json::{Map, json};

use super::{Meshes, format_of};
use crate::cli::console::Console;
use crate::cli::failure::Failure;
use crate::cli::output;
use crate::cli::symmetry::{PlaneChoice, parse_plane, plane, plane_json};

const EXAMPLES: &str = "\
Examples:
  pliant markers mirror --source walk.glb --target camel.obj --markers left.json --out both.json
                                              pairs of the other side are added
  pliant markers mirror --source walk.glb --target camel.obj --markers left.csv --target-plane x:0 --out both.csv
                                              the target's plane of symmetry given

A mesh that is modelled symmetrically pairs its vertices; of any other, the vertex nearest to the
image on the surface is taken. Pairs on the middle line stay as they are, names change sides
(ear_L and ear_R), and a pair of the other side that is there already stays.";

/// Adds the mirror images of marker pairs.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    meshes: Meshes,

    /// The pairs.
    #[arg(long, value_name = "FILE")]
    markers: String,

    /// Where to write the pairs of both sides.
    #[arg(long, value_name = "FILE.json|csv")]
    out: PathBuf,

    /// The source's plane of symmetry: x, y or z, and where it lies, as x:0.5 (default: found).
    #[arg(long, value_name = "AXIS[:AT]", value_parser = parse_plane)]
    source_plane: Option<PlaneChoice>,

    /// The target's plane of symmetry.
    #[arg(long, value_name = "AXIS[:AT]", value_parser = parse_plane)]
    target_plane: Option<PlaneChoice>,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let format = format_of(&args.out)?;
    let _working = console.working("mirroring markers");
    let opened = args.meshes.open(Some(&args.markers))?;
    let planes = [
        chosen(
            args.source_plane,
            &opened.source,
            &args.meshes.source,
            "source",
        )?,
        chosen(
            args.target_plane,
            &opened.target,
            &args.meshes.target,
            "target",
        )?,
    ];
    let both = mirror_markers(&opened.source, &opened.target, &opened.markers, planes)
        .map_err(|error| Failure::about(&args.markers, &error))?;
    let text = both
        .markers
        .to_text(format)
        .map_err(|error| Failure::about(args.out.display(), &error))?;
    output::write(&args.out, text.into_bytes())?;
    let mut object = Map::new();
    object.insert("out".into(), json!(args.out.display().to_string()));
    object.insert("pairs".into(), json!(both.markers.pairs().len()));
    object.insert("added".into(), json!(both.added));
    object.insert("middle".into(), json!(both.middle));
    object.insert("source_plane".into(), plane_json(planes[0]));
    object.insert("target_plane".into(), plane_json(planes[1]));
    let problems: Vec<String> = opened
        .problems
        .iter()
        .chain(&both.problems)
        .cloned()
        .collect();
    let told = format!(
        "{} pairs, {} of them added, {} on the middle line; written to {}\n",
        both.markers.pairs().len(),
        both.added,
        both.middle,
        args.out.display()
    );
    console.done(object, &told, &problems)
}

fn chosen(
    choice: Option<PlaneChoice>,
    mesh: &Mesh,
    locator: &str,
    side: &str,
) -> Result<MirrorPlane, Failure> {
    match choice {
        Some(_) => plane(choice, mesh, locator, &format!("name its place too, as --{side}-plane x:0.5")),
        None => symmetry_plane(mesh).ok_or_else(|| {
            let message = format!("{locator}: the {side} is not symmetric enough to find its plane; name it, as --{side}-plane x");
            Failure::could_not(message)
        }),
    }
}
