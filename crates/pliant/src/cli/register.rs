//! `pliant register`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use pliant::register_job::{RegisterJob, clip_paths};
use pliant::register_recipe::RegisterRecipe;
use pliant_io::Asset;
use pliant_learn::{ScanDistance, ScanRegistration, ScanReport};
use serde_json::{Map, Value, json};

use super::console::Console;
use super::failure::Failure;
use super::output::{self, Outputs};
use super::recipe_file;
use super::transfer::milliseconds;

const EXAMPLES: &str = "\
Examples:
  pliant register hand.toml --out hand         hand.low.reference.obj+hand.low.frames.npy for `pliant learn`, and
                                               hand.high.reference.obj+hand.high.frames.npy with the scans' detail
  pliant register hand.toml --out hand.glb     the same as hand.low.glb and hand.high.glb

A recipe:
  reference = \"relaxed.ply\"            any mesh; the clips have its frame and its reference pose
  vertices = 12000                     of the coarse mesh [default: the reference's over 4 per level]
  levels = 1                           subdivisions between the coarse and the fine mesh
  smoothing = 0.6                      what is smoothed away before deforming, in coarse edges
  reach = 3.0                          the largest displacement along a normal, in coarse edges
  icp = 0                              rounds of closest points after the rigid fit to the markers
  chain = true                         start from the registered pose most like the example; false: the reference
  steps = 8                            rounds of closest points that deform the reference
  stiffness = 0.03                     below this part of the scan's size the reference does not bend

  [[example]]                          one for each scan, with triangles and a place of its own
  name = \"fist\"                        [default: the name of the file]
  scan = \"fist.ply\"
  markers = \"relaxed-fist.json\"        [[reference vertex, scan vertex], …], or any form of `pliant markers`

Three markers that are not on a line bring a scan into place; more, where it moves most, tell what goes where: the
tip and the joints of each finger, the corners of eyes and mouth. Scans may have holes; what no ray meets is filled
smoothly and counted (missed). Distances are those of the scan's vertices from the subdivided base (before) and
from the displaced surface (after); they and the residuals of the markers are parts of the reference's diagonal.";

/// Scans of one subject as poses of one mesh, coarse and fine.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The recipe.
    #[arg(value_name = "RECIPE.toml")]
    recipe: PathBuf,

    /// Where to write both clips: a name, with the ending of a clip or without.
    #[arg(long, value_name = "NAME")]
    out: PathBuf,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    output::require_clip_format(&args.out)?;
    let job = load(&args.recipe)?;
    let bar = console.progress();
    let began = Instant::now();
    let made = job
        .run(&bar)
        .map_err(|error| Failure::about(args.recipe.display(), &error))?;
    let ms = milliseconds(began);
    drop(bar);
    let paths = clip_paths(&args.out);
    let mut outputs = Outputs::default();
    for (path, clip) in paths.iter().zip([&made.low, &made.high]) {
        outputs.add_asset(path, &Asset::from_clip(clip))?;
    }
    outputs.write()?;
    let problems = [
        job.problems.clone(),
        made.problems.clone(),
        outputs.problems,
    ]
    .concat();
    console.done(
        described(&made, &paths, ms),
        &told(&made, &paths, ms),
        &problems,
    )
}

fn load(recipe: &Path) -> Result<RegisterJob, Failure> {
    let (text, folder) = recipe_file::read(recipe)?;
    let job = RegisterRecipe::parse(&text).and_then(|recipe| RegisterJob::load(&recipe, folder));
    job.map_err(|error| Failure::about(recipe.display(), &error))
}

fn described(made: &ScanRegistration, [low, high]: &[PathBuf; 2], ms: f64) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("low".into(), json!(low.display().to_string()));
    object.insert("high".into(), json!(high.display().to_string()));
    object.insert(
        "low_vertices".into(),
        json!(made.low.reference().vertex_count()),
    );
    object.insert(
        "high_vertices".into(),
        json!(made.high.reference().vertex_count()),
    );
    let mut reports = made.reports.iter().map(report_json);
    object.insert("reference".into(), json!(reports.next()));
    object.insert("examples".into(), reports.collect());
    object.insert("ms".into(), json!(ms));
    object
}

fn report_json(report: &ScanReport) -> Value {
    let distance = |distance: ScanDistance| json!({ "mean": distance.mean, "max": distance.max });
    json!({
        "name": report.name,
        "rigid_residual": report.rigid,
        "marker_residual": report.markers,
        "before": distance(report.before),
        "after": distance(report.after),
        "missed": report.missed,
        "flipped": report.flipped_high,
        "flipped_low": report.flipped_low,
    })
}

fn told(made: &ScanRegistration, [low, high]: &[PathBuf; 2], ms: f64) -> String {
    let mut text = String::new();
    let percent = |part: f64| format!("{:.3} %", 100.0 * part);
    for report in &made.reports {
        let _ = writeln!(
            text,
            "{}: markers {} apart, {} after deforming; scan {} off the base (at most {}), {} once displaced (at most {}); {} missed, {} flipped",
            report.name,
            percent(report.rigid),
            percent(report.markers),
            percent(report.before.mean),
            percent(report.before.max),
            percent(report.after.mean),
            percent(report.after.max),
            report.missed,
            report.flipped_high + report.flipped_low,
        );
    }
    let _ = writeln!(
        text,
        "{} and {} vertices in {:.1} s; written to {} and {}",
        made.low.reference().vertex_count(),
        made.high.reference().vertex_count(),
        ms / 1000.0,
        low.display(),
        high.display()
    );
    text
}
