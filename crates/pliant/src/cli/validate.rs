//! `pliant validate`.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Instant;

use pliant::learn_job::Judged;
use pliant_learn::{Comparison, DetailError, LearnError, LeaveOneOut, Method, PairedTest, Rival};
use serde_json::{Map, Value, json};

use super::console::Console;
use super::failure::Failure;
use super::learn;
use super::resumable::{Interruptible, Partial};
use super::transfer::milliseconds;

const EXAMPLES: &str = "\
Examples:
  pliant validate horse.toml                  every pose left out in turn and predicted from the others
  pliant validate horse.toml --json           the same as one JSON object
  pliant validate horse.toml --against all    beside every other method, with a test of the difference
  pliant validate horse.toml --against paper,arap

The recipe is that of `pliant learn`. Errors are RMS distances over the longest side of the reference
pose, which is always learned from and never left out. `auto` chooses its settings anew for every pose,
from the other poses alone.

With [detail] every pose also has detail_rms (base and details predicted), base_rms (no details) and
static_rms (the reference's details), all against the detailed pose, and height_rms of the details alone
beside static_height_rms.

--against tells for each other method on how many poses the recipe's own is better, and how likely such a
difference is if neither were: the exact two-sided p of the sign test and of Wilcoxon's signed ranks
(`against: {METHOD: {mean_rms, rms, mean_difference, better, pairs, sign_p, rank_p}}`).

Ctrl-C stops cleanly and leaves RECIPE.partial, from which the same command goes on.";

/// How well a recipe predicts poses that it has not seen.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The recipe.
    #[arg(value_name = "RECIPE.toml")]
    recipe: PathBuf,

    /// Other methods to compare with, separated by commas: auto, paper, feng, meshik, arap, or
    /// all.
    #[arg(long, value_name = "METHODS", value_delimiter = ',', value_parser = parse_rivals)]
    against: Vec<Rivals>,
}

/// One method, or all but the recipe's own.
#[derive(Debug, Clone, Copy)]
enum Rivals {
    One(Method),
    All,
}

fn parse_rivals(name: &str) -> Result<Rivals, LearnError> {
    if name == "all" {
        Ok(Rivals::All)
    } else {
        name.parse().map(Rivals::One)
    }
}

/// Each of the asked methods once, without the recipe's own.
fn rivals(asked: &[Rivals], own: Method) -> Vec<Method> {
    let wanted = |method: &Method| {
        let named = |rival: &Rivals| {
            matches!(rival, Rivals::All) || matches!(rival, Rivals::One(one) if one == method)
        };
        *method != own && asked.iter().any(named)
    };
    Method::ALL.into_iter().filter(wanted).collect()
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let job = learn::load(&args.recipe)?;
    let mut problems = job.problems.clone();
    let method = job.options().method();
    let mut log = job.log();
    let partial = Partial::open(&args.recipe, &mut log, &mut problems);
    let bar = console.progress();
    let began = Instant::now();
    let compared = job.compare(
        &rivals(&args.against, method),
        &mut log,
        &Interruptible::new(&bar),
    );
    let Judged { compared, details } =
        compared.map_err(|error| partial.failure(&args.recipe, &log, &error))?;
    let ms = milliseconds(began);
    drop(bar);
    partial.remove();
    let found = &compared.errors;
    let mut poses: Vec<Value> = found
        .poses
        .iter()
        .map(|pose| json!({"name": pose.name, "rms": pose.rms, "chosen": pose.chosen.map(|settings| settings.to_string())}))
        .collect();
    poses
        .iter_mut()
        .zip(details.iter().flatten())
        .for_each(|(pose, error)| add_detail(pose, error));
    let mut object = Map::new();
    object.insert("method".into(), json!(method.name()));
    object.insert("chosen".into(), json!(found.chosen()));
    object.insert("poses".into(), json!(poses));
    object.insert("mean_rms".into(), json!(found.mean_rms()));
    object.insert("resumed".into(), json!(partial.resumed));
    object.insert("ms".into(), json!(ms));
    if let Some(details) = &details {
        object.insert("mean_detail".into(), mean_detail(details));
    }
    if !compared.rivals.is_empty() {
        object.insert(
            "against".into(),
            compared
                .rivals
                .iter()
                .map(|rival| (rival.method.name().to_owned(), as_json(rival)))
                .collect(),
        );
    }
    let by = found.chosen().unwrap_or_else(|| method.name().to_owned());
    let mut text = if compared.rivals.is_empty() {
        list(found)
    } else {
        table(&compared, method)
    };
    let _ = writeln!(
        text,
        "{:.5}  mean, by {by}; in {ms:.0} ms",
        found.mean_rms()
    );
    compared
        .rivals
        .iter()
        .for_each(|rival| text += &verdict(rival, method));
    if let Some(details) = &details {
        let [all, base, still] = [
            |e: &DetailError| e.rms,
            |e: &DetailError| e.base_rms,
            |e: &DetailError| e.static_rms,
        ]
        .map(|of| mean(details, of));
        let _ = writeln!(
            text,
            "{all:.5}  mean with details; {base:.5} without, {still:.5} with those of the reference pose"
        );
    }
    if partial.resumed > 0 {
        let _ = writeln!(
            text,
            "went on from {} results of a run that was cancelled",
            partial.resumed
        );
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

fn as_json(rival: &Rival) -> Value {
    let PairedTest {
        pairs,
        lower,
        mean_difference,
        sign_p,
        rank_p,
    } = rival.test;
    json!({
        "mean_rms": rival.errors.mean_rms(), "rms": rival.errors.rms(), "mean_difference": mean_difference,
        "better": lower, "pairs": pairs, "sign_p": sign_p, "rank_p": rank_p,
    })
}

fn list(found: &LeaveOneOut) -> String {
    found
        .poses
        .iter()
        .map(|pose| format!("{:.5}  {}\n", pose.rms, pose.name))
        .collect()
}

/// Poses by methods.
fn table(compared: &Comparison, method: Method) -> String {
    let mut text: String = std::iter::once(method)
        .chain(compared.rivals.iter().map(|r| r.method))
        .fold(String::new(), |mut row, method| {
            let _ = write!(row, "{:<9}", method.name());
            row
        });
    text += "pose\n";
    for (k, pose) in compared.errors.poses.iter().enumerate() {
        let _ = write!(text, "{:<9.5}", pose.rms);
        compared.rivals.iter().for_each(|rival| {
            let _ = write!(text, "{:<9.5}", rival.errors.poses[k].rms);
        });
        let _ = writeln!(text, "{}", pose.name);
    }
    text
}

fn verdict(rival: &Rival, method: Method) -> String {
    let PairedTest {
        pairs,
        lower,
        sign_p,
        rank_p,
        ..
    } = rival.test;
    format!(
        "{:.5}  mean of {}; {} is better on {lower} of {pairs} poses: p = {sign_p:.4} by signs, {rank_p:.4} by signed ranks\n",
        rival.errors.mean_rms(),
        rival.method.name(),
        method.name()
    )
}
