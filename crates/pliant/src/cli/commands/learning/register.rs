//! `pliant register`: scans of one subject as poses of one mesh.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use pliant::jobs::{RegisterJob, clip_paths};
use pliant::recipes::RegisterRecipe;
use pliant_io::Asset;
use pliant_learn::{ScanDistance, ScanRegistration, ScanReport};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::args::recipe_file;
use crate::cli::report::console::Console;
use crate::cli::report::failure::Failure;
use crate::cli::report::milliseconds_since;
use crate::cli::report::output::{self, OutputFiles, path_text};

const EXAMPLES: &str = "\
Examples:
  # Two clips: hand.low for `pliant learn`, hand.high with the detail,
  # each as NAME.reference.obj+NAME.frames.npy
  pliant register hand.toml --out hand

  # The same as hand.low.glb and hand.high.glb
  pliant register hand.toml --out hand.glb

Recipe (TOML):
  reference = \"relaxed.ply\"   any mesh; the clips have its coordinate frame
                              and its reference pose
  vertices = 12000            of the coarse mesh [default: those of the
                              reference over 4 for each level]
  levels = 1                  subdivisions between the coarse and fine mesh
  smoothing = 0.6             smoothing before the deformation, in coarse
                              edge lengths
  reach = 3.0                 largest displacement along a normal, in coarse
                              edge lengths
  icp = 0                     iterations of closest points after the rigid fit
  chain = true                start from the most similar registered pose;
                              false: from the reference
  steps = 8                   iterations of the non-rigid deformation
  stiffness = 0.03            the reference does not bend at lengths below
                              this, relative to the size of the scan

  [[example]]                 one for each scan
  name = \"fist\"               [default: the name of the file]
  scan = \"fist.ply\"
  markers = \"relaxed-fist.json\"
                              [[reference vertex, scan vertex], …], or any
                              form of `pliant markers`

Markers:
  Three markers that are not on a line align a scan. More markers help where
  the subject moves most: tips and joints of the fingers, corners of eyes and
  mouth.

Report:
  Scans may have holes; fine vertices without a scan are filled smoothly and
  counted (missed). Distances are those of the vertices of the scan from the
  subdivided base (before) and from the displaced surface (after). Distances
  and residuals are relative to the diagonal of the reference.";

/// Registers scans of one subject as poses of one mesh.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Recipe (see below).
    #[arg(value_name = "RECIPE.toml")]
    recipe: PathBuf,

    /// Name of both clips, with or without the ending of a clip.
    #[arg(long, value_name = "NAME")]
    out: PathBuf,
}

/// The report of `pliant register`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RegisterReport {
    /// File of the coarse clip.
    low: String,
    /// File of the fine clip.
    high: String,
    /// Vertices of the coarse mesh.
    low_vertices: usize,
    /// Vertices of the fine mesh.
    high_vertices: usize,
    /// Quality of the reference; null without one.
    reference: Option<ScanQuality>,
    /// Quality of each example.
    examples: Vec<ScanQuality>,
    /// Time of the registration, in milliseconds.
    ms: f64,
}

/// The quality of a registered scan. Lengths are relative to the diagonal of the reference.
#[derive(Debug, Serialize, JsonSchema)]
struct ScanQuality {
    name: String,
    /// Root mean square distance of the markers after the rigid alignment.
    rigid_residual: f64,
    /// Root mean square distance of the markers after the deformation.
    marker_residual: f64,
    /// Distance of the scan from the subdivided base.
    before: DistanceReport,
    /// Distance of the scan from the displaced surface.
    after: DistanceReport,
    /// Fine vertices without a scan on their normal.
    missed: usize,
    /// Fine triangles that are flipped by the displacement.
    flipped: usize,
    /// Coarse triangles that are flipped by the deformation.
    flipped_low: usize,
}

/// Distances of a scan from a surface.
#[derive(Debug, Serialize, JsonSchema)]
struct DistanceReport {
    mean: f64,
    max: f64,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    output::require_clip_format(&args.out)?;
    let job = load(&args.recipe)?;
    let bar = console.progress_bar();
    let start = Instant::now();
    let registration = job
        .run(&bar)
        .map_err(|error| Failure::about(args.recipe.display(), &error))?;
    let ms = milliseconds_since(start);
    drop(bar);

    let [low, high] = clip_paths(&args.out);

    // Both clips are written, or none of them.
    let mut outputs = OutputFiles::default();
    for (path, clip) in [(&low, &registration.low), (&high, &registration.high)] {
        let mut asset = Asset::from_clip(clip);
        asset.meters_per_unit = job.meters_per_unit;
        outputs.add_asset(path, &asset)?;
    }
    outputs.write()?;

    let report = RegisterReport::new(&registration, [&low, &high], ms);
    let warnings = [job.warnings, registration.warnings, outputs.warnings].concat();
    console.print_summary(&report, &report.summary(), &warnings)
}

fn load(recipe: &Path) -> Result<RegisterJob, Failure> {
    let (text, folder) = recipe_file::read(recipe)?;
    RegisterRecipe::parse(&text)
        .and_then(|recipe| RegisterJob::load(&recipe, folder))
        .map_err(|error| Failure::about(recipe.display(), &error))
}

impl RegisterReport {
    fn new(registration: &ScanRegistration, [low, high]: [&Path; 2], ms: f64) -> Self {
        // The first report is that of the reference.
        let mut scans = registration.reports.iter().map(ScanQuality::from);
        Self {
            low: path_text(low),
            high: path_text(high),
            low_vertices: registration.low.reference().vertex_count(),
            high_vertices: registration.high.reference().vertex_count(),
            reference: scans.next(),
            examples: scans.collect(),
            ms,
        }
    }

    fn summary(&self) -> String {
        let mut text = String::new();
        for scan in self.reference.iter().chain(&self.examples) {
            text += &scan.summary();
        }
        let _ = writeln!(
            text,
            "{} and {} vertices in {:.1} s\nwritten to {} and {}",
            self.low_vertices,
            self.high_vertices,
            self.ms / 1000.0,
            self.low,
            self.high
        );
        text
    }
}

impl ScanQuality {
    fn summary(&self) -> String {
        format!(
            "{}:\n  marker distance {} after the rigid fit, {} after the deformation\n  scan distance {} (at most {}) from the base,\n  {} (at most {}) from the displaced surface\n  {} vertices missed, {} triangles flipped\n",
            self.name,
            percent(self.rigid_residual),
            percent(self.marker_residual),
            percent(self.before.mean),
            percent(self.before.max),
            percent(self.after.mean),
            percent(self.after.max),
            self.missed,
            self.flipped + self.flipped_low,
        )
    }
}

fn percent(part: f64) -> String {
    format!("{:.3} %", 100.0 * part)
}

impl From<&ScanReport> for ScanQuality {
    fn from(scan: &ScanReport) -> Self {
        Self {
            name: scan.name.clone(),
            rigid_residual: scan.rigid,
            marker_residual: scan.markers,
            before: scan.before.into(),
            after: scan.after.into(),
            missed: scan.missed,
            flipped: scan.flipped_high,
            flipped_low: scan.flipped_low,
        }
    }
}

impl From<ScanDistance> for DistanceReport {
    fn from(distance: ScanDistance) -> Self {
        Self {
            mean: distance.mean,
            max: distance.max,
        }
    }
}
