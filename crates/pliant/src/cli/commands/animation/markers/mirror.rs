//! `pliant markers mirror`: add the marker pairs of the other side.

use std::path::PathBuf;

use pliant_mesh::Mesh;
use pliant_rig::MirrorPlane;
use pliant_transfer::{mirror_markers, symmetry_plane};
use schemars::JsonSchema;
use serde::Serialize;

use super::{MeshArgs, format_of};
use crate::cli::args::plane::{PlaneChoice, PlaneReport, choose_plane, parse_plane};
use crate::cli::report::console::Console;
use crate::cli::report::failure::Failure;
use crate::cli::report::output::{self, path_text};

const EXAMPLES: &str = "\
Examples:
  # Add the pairs of the other side
  pliant markers mirror --source walk.glb --target camel.obj \\
      --markers left.json --out both.json

  # Give the symmetry plane of the target
  pliant markers mirror --source walk.glb --target camel.obj \\
      --markers left.csv --target-plane x:0 --out both.csv

Method:
  On a symmetric mesh, vertices are paired. On any other mesh, the vertex
  nearest to the mirror image is taken. Pairs on the middle line stay as they
  are. Names change sides (ear_L and ear_R). Existing pairs of the other side
  are kept.";

const USAGE: &str = "\
pliant markers mirror [OPTIONS] --source <ASSET> --target <MESH> \\
           --markers <FILE> --out <FILE.json|csv>";

/// Adds the mirror images of marker pairs.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct Args {
    #[command(flatten)]
    meshes: MeshArgs,

    /// File of marker pairs.
    #[arg(long, value_name = "FILE")]
    markers: String,

    /// File for the pairs of both sides.
    #[arg(long, value_name = "FILE.json|csv")]
    out: PathBuf,

    /// Symmetry plane of the source: x, y or z, with a coordinate in asset units, as x:0.5
    /// [default: detected].
    #[arg(long, value_name = "AXIS[:AT]", value_parser = parse_plane)]
    source_plane: Option<PlaneChoice>,

    /// Symmetry plane of the target [default: detected].
    #[arg(long, value_name = "AXIS[:AT]", value_parser = parse_plane)]
    target_plane: Option<PlaneChoice>,
}

/// The report of `pliant markers mirror`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MirrorReport {
    /// File of the pairs.
    out: String,
    /// Pairs of both sides.
    pairs: usize,
    /// Pairs that were added.
    added: usize,
    /// Pairs on the middle line.
    middle: usize,
    /// Symmetry plane of the source mesh.
    source_plane: PlaneReport,
    /// Symmetry plane of the target mesh.
    target_plane: PlaneReport,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let format = format_of(&args.out)?;
    let _spinner = console.spinner("mirroring markers");
    let meshes = args.meshes.load(Some(&args.markers))?;
    let [source, target] = [&args.meshes.source, &args.meshes.target];
    let source_plane = find_plane(args.source_plane, &meshes.source, source, "source")?;
    let target_plane = find_plane(args.target_plane, &meshes.target, target, "target")?;

    // Each mesh has its own plane: a scan rarely stands where a model does.
    let planes = [source_plane, target_plane];
    let mirrored = mirror_markers(&meshes.source, &meshes.target, &meshes.markers, planes)
        .map_err(|error| Failure::about(&args.markers, &error))?;
    let file = mirrored
        .markers
        .to_text(format)
        .map_err(|error| Failure::about(args.out.display(), &error))?;
    output::write(&args.out, file.into_bytes())?;

    let report = MirrorReport {
        out: path_text(&args.out),
        pairs: mirrored.markers.pairs().len(),
        added: mirrored.added,
        middle: mirrored.middle,
        source_plane: source_plane.into(),
        target_plane: target_plane.into(),
    };
    let warnings = [&meshes.warnings[..], &mirrored.warnings].concat();
    console.print_summary(&report, &report.summary(), &warnings)
}

impl MirrorReport {
    fn summary(&self) -> String {
        format!(
            "{} pairs; {} were added, {} are on the middle line; written to {}\n",
            self.pairs, self.added, self.middle, self.out
        )
    }
}

/// The plane that the user gave, or else the symmetry plane of the mesh, which need not be
/// symmetric vertex by vertex.
fn find_plane(
    choice: Option<PlaneChoice>,
    mesh: &Mesh,
    locator: &str,
    side: &str,
) -> Result<MirrorPlane, Failure> {
    if choice.is_some() {
        let remedy = format!("give a coordinate too, as --{side}-plane x:0.5");
        return choose_plane(choice, mesh, locator, &remedy);
    }
    symmetry_plane(mesh).ok_or_else(|| {
        Failure::new(format!(
            "{locator}: the {side} is not symmetric enough to find its plane; give it, as --{side}-plane x"
        ))
    })
}
