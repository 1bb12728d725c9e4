//! `pliant validate`.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Instant;

use pliant_learn::DetailError;
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
from the other poses alone.

With [detail] every pose also has detail_rms (base and details predicted), base_rms (no details) and
static_rms (the reference's details), all against the detailed pose, and height_rms of the details alone
beside static_height_rms.";

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
    let (found, details) = job.validate_detailed(&bar).map_err(|error| Failure::about(args.recipe.display(), &error))?;
    let ms = milliseconds(began);
    drop(bar);
    let mut poses: Vec<Value> = found
        .poses
        .iter()
        .map(|pose| json!({"name": pose.name, "rms": pose.rms, "chosen": pose.chosen.map(|settings| settings.to_string())}))
        .collect();
    poses.iter_mut().zip(details.iter().flatten()).for_each(|(pose, error)| add_detail(pose, error));
    let mut object = Map::new();
    object.insert("method".into(), json!(method));
    object.insert("chosen".into(), json!(found.chosen()));
    object.insert("poses".into(), json!(poses));
    object.insert("mean_rms".into(), json!(found.mean_rms()));
    object.insert("ms".into(), json!(ms));
    if let Some(details) = &details {
        object.insert("mean_detail".into(), mean_detail(details));
    }
    let mut text = String::new();
    for pose in &found.poses {
        let _ = writeln!(text, "{:.5}  {}", pose.rms, pose.name);
    }
    let _ = writeln!(text, "{:.5}  mean, by {}; in {ms:.0} ms", found.mean_rms(), found.chosen().as_deref().unwrap_or(method));
    if let Some(details) = &details {
        let [all, base, still] =
            [|e: &DetailError| e.rms, |e: &DetailError| e.base_rms, |e: &DetailError| e.static_rms].map(|of| mean(details, of));
        let _ = writeln!(text, "{all:.5}  mean with details; {base:.5} without, {still:.5} with those of the reference pose");
    }
    console.done(object, &text, &problems)
}

fn add_detail(pose: &mut Value, error: &DetailError) {
    pose["detail_rms"] = json!(error.rms);
    pose["base_rms"] = json!(error.base_rms);
    pose["static_rms"] = json!(error.static_rms);
    pose["height_rms"] = json!(error.height_rms);
    pose["static_height_rms"] = json!(error.static_height_rms);
    pose["detail_chosen"] = json!(error.chosen.map(|settings| settings.to_string()));
}

fn mean(details: &[DetailError], of: fn(&DetailError) -> f64) -> f64 {
    details.iter().map(of).sum::<f64>() / details.len() as f64
}

fn mean_detail(details: &[DetailError]) -> Value {
    json!({
        "detail_rms": mean(details, |error| error.rms),
        "base_rms": mean(details, |error| error.base_rms),
        "static_rms": mean(details, |error| error.static_rms),
        "height_rms": mean(details, |error| error.height_rms),
        "static_height_rms": mean(details, |error| error.static_height_rms),
    })
}
