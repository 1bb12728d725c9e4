//! `pliant learn`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use pliant::learn_job::LearnJob;
use pliant::learn_recipe::LearnRecipe;
use pliant_learn::{DetailLayer, DetailReport};
use serde_json::{Map, Value, json};

use super::console::Console;
use super::failure::Failure;
use super::resumable::{Interruptible, Partial};
use super::transfer::milliseconds;
use super::{output, recipe_file};

const EXAMPLES: &str = "\
Examples:
  pliant learn horse.toml --out horse.safetensors      a model that a few points drive
  pliant validate horse.toml                           first see how well it predicts
  pliant drive horse.safetensors --points p.npy --out run.glb

A recipe:
  examples = \"horse.reference.obj+horse.frames.npy\"    any clip; its reference pose is an example too
  control_points = [12, 480, 3107]                     vertices, counted from 0
  method = \"auto\"                                      or paper, feng, meshik, arap
  k_c = 7                                              control points that a bone listens to, or \"all\"
  k_p = 7                                              poses that a local model of `paper` learns from, or \"all\"
  beta = 30                                            how closely the points are followed; 100 for `paper`, `feng`
  bones = 200                                          regions that move by themselves; 100 for `paper`, `feng`
  exact = true                                         an example's own points return it to the last digit

Fine detail, as heights above the poses:
  [detail]                                             without examples: the poses are smoothed, the rest is detail
  examples = \"sculpted.glb\"                            detailed poses on the subdivided mesh, or a list of scans
  levels = 1                                           subdivisions of the poses [default: to the detail's vertices]
  mode = \"auto\"                                        or direct (the paper), cascaded, static (the reference's detail)
  smoothing = 40                                       rounds that make the smooth poses, without examples
  reach = 2                                            how far a scan may be, in mean edges

`control_points = 20` chooses 20 vertices, as far from each other along the surface as they can be, and
says which: points taken at random leave whole limbs without one, and predict three times worse.
Ctrl-C stops cleanly and leaves MODEL.partial, from which the same command goes on (`resumed`: how many
results were taken over).

`auto` chooses its settings by leaving each pose out in turn. rms is what is left of the examples when
their own points drive them, over the longest side of the reference pose.";

/// A model of a mesh that a few control points drive, from poses of it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The recipe.
    #[arg(value_name = "RECIPE.toml")]
    recipe: PathBuf,

    /// Where to write the model.
    #[arg(long, value_name = "MODEL.safetensors")]
    out: PathBuf,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    output::require_ending(&args.out, &["safetensors"])?;
    let job = load(&args.recipe)?;
    let detail_report = job.detail_report().cloned();
    let mut problems = job.problems.clone();
    let chooses_points = job.chooses_points();
    let mut log = job.log();
    let partial = Partial::open(&args.out, &mut log, &mut problems);
    let bar = console.progress();
    let began = Instant::now();
    let trained = job.learn(&mut log, &Interruptible::new(&bar));
    let model = trained.map_err(|error| partial.failure(&args.recipe, &log, &error))?;
    let train_ms = milliseconds(began);
    drop(bar);
    let rms = model.fit_error();
    output::write(&args.out, model.to_bytes())?;
    partial.remove();
    let chosen = model.chosen().map(|settings| settings.to_string());
    let mut object = Map::new();
    object.insert("out".into(), json!(args.out.display().to_string()));
    object.insert("method".into(), json!(model.options().method().name()));
    object.insert("chosen".into(), json!(chosen));
    object.insert("examples".into(), json!(model.examples().count()));
    object.insert("control_points".into(), json!(model.control().count()));
    object.insert("control_vertices".into(), json!(model.control().vertices()));
    object.insert("resumed".into(), json!(partial.resumed));
    object.insert("bones".into(), json!(model.bone_count()));
    object.insert("rms".into(), json!(rms));
    object.insert("train_ms".into(), json!(train_ms));
    if let (Some(layer), Some(report)) = (model.detail(), &detail_report) {
        object.insert("detail".into(), detail_json(layer, report));
    }
    let mut text = format!(
        "{} examples, {} control points, {} bones; {}; the examples come back to {rms:.5} of the longest side; trained in {train_ms:.0} ms; written to {}\n",
        model.examples().count(),
        model.control().count(),
        model.bone_count(),
        chosen.as_deref().unwrap_or(model.options().method().name()),
        args.out.display()
    );
    if partial.resumed > 0 {
        let _ = writeln!(
            text,
            "went on from {} results of a run that was cancelled",
            partial.resumed
        );
    }
    if chooses_points {
        let _ = writeln!(text, "control_points = {:?}", model.control().vertices());
    }
    console.done(object, &text, &problems)
}

fn detail_json(layer: &DetailLayer, report: &DetailReport) -> Value {
    json!({
        "mode": layer.options().mode().name(),
        "chosen": layer.settings().map(|settings| settings.to_string()),
        "levels": layer.levels(),
        "vertices": layer.mesh().vertex_count(),
        "height_edges": report.height_edges,
        "beside_edges": report.beside_edges,
        "missed": report.missed,
    })
}

/// The recipe with what it names.
pub(crate) fn load(recipe: &Path) -> Result<LearnJob, Failure> {
    let (text, folder) = recipe_file::read(recipe)?;
    let job = LearnRecipe::parse(&text).and_then(|recipe| LearnJob::load(&recipe, folder));
    job.map_err(|error| Failure::about(recipe.display(), &error))
}
