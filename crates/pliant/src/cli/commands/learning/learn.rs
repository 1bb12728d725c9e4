//! `pliant learn`: train a model from examples.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use pliant::jobs::LearnJob;
use pliant::recipes::LearnRecipe;
use pliant_learn::{DetailLayer, DetailReport, Model};
use schemars::JsonSchema;
use serde::Serialize;

use super::partial_log::PartialLog;
use crate::cli::args::recipe_file;
use crate::cli::report::console::Console;
use crate::cli::report::failure::Failure;
use crate::cli::report::interrupt::Interruptible;
use crate::cli::report::milliseconds_since;
use crate::cli::report::output::{self, path_text};

const EXAMPLES: &str = "\
Examples:
  # See how well a recipe predicts poses
  pliant validate horse.toml

  # Train a model
  pliant learn horse.toml --out horse.safetensors

  # Drive the model with a few points
  pliant drive horse.safetensors --points p.npy --out run.glb

Recipe (TOML):
  # Any clip; its reference pose is an example, too.
  examples = \"horse.reference.obj+horse.frames.npy\"
  # A number of vertices, chosen far from each other along the surface and
  # reported; or a list of vertices, counted from 0, such as [12, 480, 3107].
  control_points = 20
  # Or paper (Huang et al. 2012), feng (Feng et al. 2008), meshik (Sumner et
  # al. 2005), arap (Sorkine and Alexa 2007).
  method = \"auto\"
  # Control points that drive one region (auto) or one bone (paper); or \"all\".
  k_c = 7
  # Paper only: nearest poses used for a prediction; or \"all\".
  k_p = 7
  # Weight of the control points [paper, feng: 100].
  beta = 30
  # Regions (auto), or bones: clusters of vertices that move almost rigidly
  # [paper, feng: 100].
  bones = 200
  # Interpolate: control points at the positions of an example give exactly
  # that example [default: false].
  exact = true

Detail, as heights above the poses (optional):
  [detail]
  # Detailed poses on the subdivided mesh, or a list of scans. Without this
  # key, the poses are smoothed and the difference is the detail.
  examples = \"sculpted.glb\"
  # Subdivisions [default: to the vertices of the detail].
  levels = 1
  # Or direct (Huang et al. 2012), cascaded, or static (the detail of the
  # reference pose).
  mode = \"auto\"
  # Iterations of smoothing, without examples.
  smoothing = 40
  # Largest distance of a scan, in mean edge lengths.
  reach = 2

Training:
  Method auto blends the deformation gradients of the examples, region by
  region, by local kernel regression, and chooses its settings by
  leave-one-out validation. 'rms' is the root mean square distance between the
  examples and the model driven by their control points, relative to the
  longest side of the reference pose.

Cancel and continue:
  Ctrl-C stops the training and keeps its results in MODEL.partial. The same
  command continues from there; 'resumed' counts the results that were used.";

/// Trains a model that a few control points drive.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Recipe (see below).
    #[arg(value_name = "RECIPE.toml")]
    recipe: PathBuf,

    /// File for the model.
    #[arg(long, value_name = "MODEL.safetensors")]
    out: PathBuf,
}

/// The report of `pliant learn`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LearnReport {
    /// File of the model.
    out: String,
    /// Method of the recipe.
    method: String,
    /// Settings that `auto` chose; null for other methods.
    chosen: Option<String>,
    /// Number of examples.
    examples: usize,
    /// Number of control points.
    control_points: usize,
    /// Vertices of the control points.
    control_vertices: Vec<u32>,
    /// Results of a cancelled run that were used.
    resumed: usize,
    /// Abstract bones.
    bones: usize,
    /// Root mean square distance of the driven examples, relative to the longest side.
    rms: f64,
    /// Time of the training, in milliseconds.
    train_ms: f64,
    /// The detail layer; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<DetailLayerReport>,
}

/// The detail layer of a model.
#[derive(Debug, Serialize, JsonSchema)]
struct DetailLayerReport {
    /// How heights are predicted.
    mode: String,
    /// Settings that `auto` chose; null for other modes.
    chosen: Option<String>,
    /// Subdivisions.
    levels: usize,
    /// Vertices of the detailed mesh.
    vertices: usize,
    /// Root mean square height, in mean edge lengths.
    height_edges: f64,
    /// Root mean square of the displacement along the surface, which is not learned, in mean edge
    /// lengths.
    beside_edges: f64,
    /// For each example, vertices without a height.
    missed: Vec<usize>,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    output::require_ending(&args.out, &["safetensors"])?;
    let job = load(&args.recipe)?;
    let mut warnings = job.warnings.clone();
    let mut log = job.log();
    let partial = PartialLog::open(&args.out, &mut log, &mut warnings);
    let detail = job.detail_report().cloned();
    let chooses_points = job.chooses_points();

    // Results go to the log during the training, so that a cancelled run can continue.
    let bar = console.progress_bar();
    let start = Instant::now();
    let model = job
        .learn(&mut log, &Interruptible::new(&bar))
        .map_err(|error| partial.failure(&args.recipe, &log, &error))?;
    let train_ms = milliseconds_since(start);
    drop(bar);

    // The partial log is removed only after the model is on disk.
    let report = LearnReport::new(args, &model, detail.as_ref(), partial.resumed, train_ms);
    output::write(&args.out, model.to_bytes())?;
    partial.remove();

    // Chosen points are printed as a line of the recipe, to be pasted into it.
    let mut summary = report.summary() + &partial.summary();
    if chooses_points {
        let _ = writeln!(summary, "control_points = {:?}", report.control_vertices);
    }
    console.print_summary(&report, &summary, &warnings)
}

/// The recipe with everything that it names.
pub(super) fn load(recipe: &Path) -> Result<LearnJob, Failure> {
    let (text, folder) = recipe_file::read(recipe)?;
    LearnRecipe::parse(&text)
        .and_then(|recipe| LearnJob::load(&recipe, folder))
        .map_err(|error| Failure::about(recipe.display(), &error))
}

impl LearnReport {
    fn new(
        args: &Args,
        model: &Model,
        detail: Option<&DetailReport>,
        resumed: usize,
        train_ms: f64,
    ) -> Self {
        Self {
            out: path_text(&args.out),
            method: model.options().method().name().to_owned(),
            chosen: model.chosen().map(|settings| settings.to_string()),
            examples: model.examples().count(),
            control_points: model.control().count(),
            control_vertices: model.control().vertices().to_vec(),
            resumed,
            bones: model.bone_count(),
            rms: model.fit_error(),
            train_ms,
            detail: model
                .detail()
                .zip(detail)
                .map(|(layer, report)| DetailLayerReport::new(layer, report)),
        }
    }

    fn summary(&self) -> String {
        format!(
            "{} examples, {} control points, {} bones; {}\n  RMS distance of the examples {:.5} of the longest side\n  trained in {:.0} ms\nwritten to {}\n",
            self.examples,
            self.control_points,
            self.bones,
            self.chosen.as_ref().unwrap_or(&self.method),
            self.rms,
            self.train_ms,
            self.out
        )
    }
}

impl DetailLayerReport {
    fn new(layer: &DetailLayer, report: &DetailReport) -> Self {
        Self {
            mode: layer.options().mode().name().to_owned(),
            chosen: layer.settings().map(|settings| settings.to_string()),
            levels: layer.levels(),
            vertices: layer.mesh().vertex_count(),
            height_edges: report.height_edges,
            beside_edges: report.beside_edges,
            missed: report.missed.clone(),
        }
    }
}
