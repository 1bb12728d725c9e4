//! `pliant repair`: trouble that `pliant info` finds, mended.

use std::path::PathBuf;

use clap::ValueEnum;
use pliant_io::{Repair, RepairKind};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::args::source;
use crate::cli::report::console::Console;
use crate::cli::report::counted;
use crate::cli::report::failure::Failure;
use crate::cli::report::output::{self, SavedAsset};

const EXAMPLES: &str = "\
Examples:
  # All repairs that keep the objects of the file
  pliant repair scan.obj+scan.frames.npy --out clean.glb

  # Only targets and frames whose vertices are in another order
  pliant repair face.glb --only order --out ordered.glb

  # One object for each connected component: eyes, teeth, hair
  pliant repair head.obj --split --out parts.glb

Repairs:
  order        vertices of targets and frames that are stored at the place of
               another vertex are put back; the report names all of them
  twins        vertices at one position that move alike in every target and
               frame become one
  degenerate   faces without area are removed
  orientation  faces of a component get the orientation of most of them
  components   each connected component becomes an object (--split)

The input stays as it is. Twins change the numbers of the vertices after them.";

/// Repairs vertex orders, twin vertices, faces without area and orientations.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Asset to repair.
    asset: String,

    /// Repairs to make [default: order,twins,degenerate,orientation].
    #[arg(long, value_name = "REPAIR,…", value_delimiter = ',')]
    only: Vec<KindArg>,

    /// Also make an object of each connected component.
    #[arg(long)]
    split: bool,

    /// File for the repaired asset. It is not the input.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,

    /// File name of the neutral mesh in a folder of OBJ files [default: neutral.obj].
    #[arg(long, value_name = "NAME")]
    neutral: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum KindArg {
    /// Vertex order of targets and frames.
    Order,
    /// Vertices at one position that move alike.
    Twins,
    /// Faces without area.
    Degenerate,
    /// Orientation of faces.
    Orientation,
    /// Connected components as objects.
    Components,
}

impl From<KindArg> for RepairKind {
    fn from(kind: KindArg) -> Self {
        match kind {
            KindArg::Order => Self::Order,
            KindArg::Twins => Self::Twins,
            KindArg::Degenerate => Self::DegenerateFaces,
            KindArg::Orientation => Self::Orientation,
            KindArg::Components => Self::Components,
        }
    }
}

/// The report of `pliant repair`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RepairReport {
    /// Repairs, in the order in which they were made.
    repairs: Vec<RepairEntry>,
    /// Vertices before the repair.
    vertices_before: usize,
    /// Vertices of the repaired asset.
    vertices: usize,
    #[serde(flatten)]
    saved: SavedAsset,
}

/// One repair.
#[derive(Debug, Serialize, JsonSchema)]
struct RepairEntry {
    /// Kind: order, twins, degenerate, orientation or components.
    what: &'static str,
    /// The target, frame or mesh.
    #[serde(rename = "where")]
    place: String,
    /// Number of vertices put back or merged, faces removed or reversed, or objects made.
    count: usize,
    /// All of these vertices or faces, by their indices before the repair.
    indices: Vec<u32>,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let _spinner = console.spinner("repairing");
    let asset = pliant_io::load(&args.asset, &source::options(args.neutral.as_deref()))?;
    let repaired = asset.repaired(&args.kinds())?;

    let mut warnings = [asset.warnings.clone(), repaired.warnings].concat();
    let saved = output::save_asset(&repaired.asset, &args.out, &mut warnings)?;
    let report = RepairReport {
        repairs: repaired
            .repairs
            .into_iter()
            .map(RepairEntry::from)
            .collect(),
        vertices_before: asset.vertex_count(),
        vertices: repaired.asset.vertex_count(),
        saved,
    };
    console.print_summary(&report, &report.summary(), &warnings)
}

impl Args {
    fn kinds(&self) -> Vec<RepairKind> {
        let mut kinds: Vec<RepairKind> = if self.only.is_empty() {
            let all = RepairKind::ALL.into_iter();
            all.filter(|kind| *kind != RepairKind::Components).collect()
        } else {
            self.only.iter().map(|&kind| kind.into()).collect()
        };
        if self.split {
            kinds.push(RepairKind::Components);
        }
        kinds
    }
}

impl From<Repair> for RepairEntry {
    fn from(repair: Repair) -> Self {
        Self {
            what: repair.what.name(),
            place: repair.place,
            count: repair.count,
            indices: repair.indices,
        }
    }
}

impl RepairReport {
    fn summary(&self) -> String {
        let mut text = String::new();
        for repair in &self.repairs {
            text += &format!("{}\n", repair.sentence());
        }
        if self.repairs.is_empty() {
            text += "nothing to repair\n";
        }
        text + &format!("written to {}\n", self.saved.out)
    }
}

impl RepairEntry {
    fn sentence(&self) -> String {
        let place = &self.place;
        let counted = |one: &str, several: &str| counted(self.count, one, several);
        match self.what {
            "order" => format!(
                "{place}: {} in another order than in the neutral, now put back",
                counted("vertex", "vertices")
            ),
            "twins" => format!(
                "{place}: {} merged",
                counted("twin vertex", "twin vertices")
            ),
            "degenerate" => format!("{place}: {} without area removed", counted("face", "faces")),
            "orientation" => format!("{place}: {} reversed", counted("face", "faces")),
            _ => format!("{place}: split into {}", counted("object", "objects")),
        }
    }
}
