//! `pliant validate`.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Instant;

use serde_json::{Map, Value, json};

use super::console::Console;
use super::failure::Failure;
use super::learn;
use super::transfer::milliseconds;

const EXAMPLES: &str = "\
Examples:
  pliant validate horse.toml                  every pose left out in turn and predicted from the others
  pliant validate horse.toml --json           the same as one JSON object

The recipe is that of `pliant learn`. Errors are RMS distances over the longest side of the reference
pose, which is always learned from and never left out. `auto` chooses its settings anew for every pose,
from the other poses alone.";

/// How well a recipe predicts poses that it has not seen.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The recipe.
    #[arg(value_name = "RECIPE.toml")]
    recipe: PathBuf,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let job = learn::load(&args.recipe)?;
    let problems = job.problems.clone();
    let method = job.options().method().name();
    let bar = console.progress();
    let began = Instant::now();
    let found = job.validate(&bar).map_err(|error| Failure::about(args.recipe.display(), &error))?;
    let ms = milliseconds(began);
    drop(bar);
    let poses: Vec<Value> = found
        .poses
        .iter()
        .map(|pose| json!({"name": pose.name, "rms": pose.rms, "chosen": pose.chosen.map(|settings| settings.to_string())}))
        .collect();
    let mut object = Map::new();
    object.insert("method".into(), json!(method));
    object.insert("chosen".into(), json!(found.chosen()));
    object.insert("poses".into(), json!(poses));
    object.insert("mean_rms".into(), json!(found.mean_rms()));
    object.insert("ms".into(), json!(ms));
    let mut text = String::new();
    for pose in &found.poses {
        let _ = writeln!(text, "{:.5}  {}", pose.rms, pose.name);
    }
    let _ = writeln!(text, "{:.5}  mean, by {}; in {ms:.0} ms", found.mean_rms(), found.chosen().as_deref().unwrap_or(method));
    console.done(object, &text, &problems)
}
