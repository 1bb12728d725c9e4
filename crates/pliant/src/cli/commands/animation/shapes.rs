//! `pliant shapes`: the targets of one rig on another mesh.

use std::path::{Path, PathBuf};
use std::time::Instant;

use pliant::recipes::CorrespondenceArg;
use pliant::recipes::read_markers;
use pliant_io::Asset;
use pliant_mesh::{Mesh, Progress as _};
use pliant_rig::Rig;
use pliant_transfer::{
    Correspondence, CorrespondenceMethod, CorrespondenceOptions, RigTransfer, RigTransferOptions,
    ShapeReport, TransferError, TransferredRig,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::correspondence_report::{CorrespondenceReport, correspondence_text};
use crate::cli::args::settings::SettingsArgs;
use crate::cli::args::source;
use crate::cli::args::target_normals::TargetNormalsArgs;
use crate::cli::batch::{self, BatchReport};
use crate::cli::report::console::{Bar, Console};
use crate::cli::report::failure::Failure;
use crate::cli::report::milliseconds_since;
use crate::cli::report::output::{self, SavedAsset};

const EXAMPLES: &str = "\
Examples:
  # Every slider of a face on another head
  pliant shapes --source face.glb --target head.obj \\
      --markers pairs.json --out head.glb

  # The ARKit sliders of the built-in head on another head
  pliant shapes --source specimen:head --target mine.obj \\
      --markers pairs.csv --out mine.usda

  # Without markers: the geometry alone gives the correspondence
  pliant shapes --source face.glb --target 'crowd.glb#guard' \\
      --out guard.glb --json

  # The same sliders on many heads; one bad file does not stop the others
  pliant shapes --source face.glb --targets heads/*.obj --out-dir rigs

  # Pose the new rig
  pliant pose head.glb --pin 88:0,-1,0 --out posed.obj

Markers:
  A marker is a pair of corresponding vertices, source first, counted from 0;
  a file holds JSON [[source, target], …] or lines of two numbers. Place them
  at features: corners and middles of lids and lips (on both rims), tip of the
  nose, chin, brows, ears.

Result:
  Names, limits, in-betweens and combinations are those of the source. A
  vertex whose partner does not move in the source does not move either.
  Lids and lips that close in the source are found and closed in the target;
  the report lists the largest remaining gap, relative to the diagonal.";

/// Transfers the targets of a rig to another mesh (deformation transfer).
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Rig whose targets are transferred.
    #[arg(long, value_name = "RIG")]
    source: String,

    /// Mesh that receives the targets.
    #[arg(
        long,
        value_name = "MESH",
        required_unless_present = "targets",
        requires = "out"
    )]
    target: Option<String>,

    /// Meshes that receive the targets, one after another.
    #[arg(long, value_name = "MESH", num_args = 1.., conflicts_with = "target", requires = "out_dir")]
    targets: Vec<String>,

    /// Pairs of corresponding vertices, at least four [default: none; the geometry alone gives the
    /// correspondence].
    #[arg(long, value_name = "FILE")]
    markers: Option<String>,

    #[command(flatten)]
    settings: SettingsArgs,

    /// File name of the neutral mesh in a source folder of OBJ files [default: neutral.obj].
    #[arg(long, value_name = "NAME")]
    neutral: Option<String>,

    /// Correspondence method.
    #[arg(long, value_enum, default_value_t = CorrespondenceArg::Auto)]
    method: CorrespondenceArg,

    /// Do not close the gaps of lids and lips.
    #[arg(long)]
    no_closing: bool,

    #[command(flatten)]
    target_normals: TargetNormalsArgs,

    /// File for the rig.
    #[arg(long, value_name = "RIG", conflicts_with = "targets")]
    out: Option<PathBuf>,

    /// Folder for the rigs of --targets, each with the name of its mesh.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["target", "out"])]
    out_dir: Option<PathBuf>,

    /// Format of the rigs of --targets, by its ending.
    #[arg(long, value_name = "ENDING", default_value = "glb")]
    to: String,
}

/// The report of `pliant shapes`: of one mesh, or of a list.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum ShapesOutput {
    One(Box<ShapesReport>),
    Batch(BatchReport),
}

/// A rig on another mesh.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ShapesReport {
    /// Names of the targets.
    targets: Vec<String>,
    /// Vertices of the target mesh.
    vertices: usize,
    /// The correspondence.
    map: MapWithMethod,
    /// The transferred shapes, including in-betweens and combinations.
    shapes: Vec<TransferredShape>,
    /// Time to find the correspondence, in milliseconds.
    map_ms: f64,
    /// Time to transfer the shapes, in milliseconds.
    shapes_ms: f64,
    #[serde(flatten)]
    saved: SavedAsset,
}

/// The correspondence with its method.
#[derive(Debug, Serialize, JsonSchema)]
struct MapWithMethod {
    #[serde(flatten)]
    map: CorrespondenceReport,
    /// Method of the correspondence.
    method: String,
}

/// One transferred shape. Gaps are relative to the diagonal of the target mesh.
#[derive(Debug, Serialize, JsonSchema)]
struct TransferredShape {
    name: String,
    /// Vertices that the shape moves.
    moved: usize,
    /// Pairs of points that close in the source and have partners on the target mesh.
    pairs: usize,
    /// Pairs that close in the source and have no partners.
    lost_pairs: usize,
    /// Largest difference of a gap to the source, before the correction.
    gap_before: f64,
    /// The same after the correction.
    gap_after: f64,
    /// Warnings about this shape.
    #[serde(rename = "problems")]
    warnings: Vec<String>,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let source = source::load_with_targets(&args.source, args.neutral.as_deref())?;
    let source = args.settings.apply(source)?;
    if let Some(folder) = &args.out_dir {
        let outputs = batch::outputs_in(folder, &args.to, &args.targets)?;
        let report = ShapesOutput::Batch;
        return batch::run_batch(&args.targets, &outputs, console, report, |target, out| {
            Ok(args.make(&source, target, out, &Bar::hidden())?.warnings)
        });
    }

    let target = args.target.as_deref().expect("clap requires a target");
    let out = args.out.as_deref().expect("clap requires --out");
    let bar = console.progress_bar();
    let made = args.make(&source, target, out, &bar)?;
    drop(bar);
    console.print_summary(
        &ShapesOutput::One(Box::new(made.report)),
        &made.summary,
        &made.warnings,
    )
}

/// A rig that was written.
struct MadeRig {
    report: ShapesReport,
    summary: String,
    warnings: Vec<String>,
}

impl Args {
    /// Transfers the targets to one mesh and writes the rig.
    fn make(
        &self,
        source: &Asset,
        target_name: &str,
        out: &Path,
        bar: &Bar,
    ) -> Result<MadeRig, Failure> {
        let (target, mesh) = source::load_surface(target_name)?;
        let rig = source.rig()?;
        output::require_rig_format(out)?;
        // A format that cannot be written is reported before the transfer, not after it.
        let still = target.with_rig(&Rig::without_targets(mesh.clone()))?;
        pliant_io::plan_save(&still, out)?;

        let _ = bar.report("matching", 0.0);
        let start = Instant::now();
        let correspondence = self.correspondence(&rig, target_name, &mesh)?;
        let map_ms = milliseconds_since(start);

        let start = Instant::now();
        let transferred = self
            .transfer(&rig, &mesh, &correspondence, bar)
            .map_err(|error| Failure::about(target_name, &error))?;
        let shapes_ms = milliseconds_since(start);

        let mut warnings = [
            &source.warnings[..],
            &target.warnings,
            &correspondence.warnings,
            &transferred.warnings,
        ]
        .concat();

        let result = target.with_rig(&transferred.rig)?;
        let result = self.target_normals.apply(result);
        let saved = output::save_asset(&result, out, &mut warnings)?;
        Ok(MadeRig {
            summary: summary(&transferred, &correspondence, out),
            report: report(&transferred, &correspondence, [map_ms, shapes_ms], saved),
            warnings,
        })
    }

    fn correspondence(
        &self,
        rig: &Rig,
        target_name: &str,
        target: &Mesh,
    ) -> Result<Correspondence, Failure> {
        let options = CorrespondenceOptions::default().with_method(self.method.into());

        // Warnings of the marker file come after those of the correspondence.
        let (markers, marker_warnings) = match &self.markers {
            Some(file) => {
                let (markers, warnings) = read_markers(file, None)?;
                (Some(markers), warnings)
            }
            None => (None, Vec::new()),
        };

        let mut correspondence =
            Correspondence::find(rig.neutral(), target, markers.as_ref(), &options).map_err(
                |error| {
                    let file = self.markers.as_ref();
                    let file = file.filter(|_| error.is_about_markers());
                    Failure::about(file.map_or(target_name, String::as_str), &error)
                },
            )?;

        // Shapes alone rarely locate the rims of lids and lips.
        if markers.is_none() && correspondence.method != CorrespondenceMethod::Identity {
            correspondence.warnings.push(
                "without markers, lids and lips are rarely matched correctly; check the shapes, or give --markers there"
                    .into(),
            );
        }
        correspondence.warnings.extend(marker_warnings);
        Ok(correspondence)
    }

    fn transfer(
        &self,
        rig: &Rig,
        target: &Mesh,
        correspondence: &Correspondence,
        bar: &Bar,
    ) -> Result<TransferredRig, TransferError> {
        let options = RigTransferOptions::default().with_closures(!self.no_closing);
        RigTransfer::new(rig, target, correspondence, options)?.rig(bar)
    }
}

fn report(
    transferred: &TransferredRig,
    correspondence: &Correspondence,
    [map_ms, shapes_ms]: [f64; 2],
    saved: SavedAsset,
) -> ShapesReport {
    let rig = &transferred.rig;
    let targets = rig.targets().iter();

    ShapesReport {
        targets: targets.map(|target| target.name.clone()).collect(),
        vertices: rig.neutral().vertex_count(),
        map: MapWithMethod {
            map: (&correspondence.report).into(),
            method: correspondence.method.name().to_owned(),
        },
        shapes: transferred
            .shapes
            .iter()
            .map(TransferredShape::from)
            .collect(),
        map_ms,
        shapes_ms,
        saved,
    }
}

impl From<&ShapeReport> for TransferredShape {
    fn from(shape: &ShapeReport) -> Self {
        Self {
            name: shape.name.clone(),
            moved: shape.moved,
            pairs: shape.pairs,
            lost_pairs: shape.lost_pairs,
            gap_before: shape.gap_before,
            gap_after: shape.gap_after,
            warnings: shape.warnings(),
        }
    }
}

fn summary(transferred: &TransferredRig, correspondence: &Correspondence, out: &Path) -> String {
    // Only shapes that close lids or lips have gaps to report.
    let mut closing = 0;
    let mut widest = 0.0_f64;
    for shape in &transferred.shapes {
        if shape.pairs > 0 {
            closing += 1;
            widest = widest.max(shape.gap_after);
        }
    }
    let gaps = if closing == 0 {
        "no shape closes lids or lips".to_owned()
    } else {
        let percent = 100.0 * widest;
        format!("{closing} close lids or lips, with gaps up to {percent:.3} % of the diagonal")
    };

    format!(
        "{} targets, {} shapes; {gaps}\n{}\nwritten to {}\n",
        transferred.rig.targets().len(),
        transferred.shapes.len(),
        correspondence_text(&(&correspondence.report).into()),
        out.display()
    )
}
