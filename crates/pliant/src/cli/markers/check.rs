//! `pliant markers check`.

use std::fmt::Write as _;
use std::path::PathBuf;

use pliant_transfer::{MarkerCheck, MarkerCoverage, MarkerFlaw, Markers, check_markers};
use serde_json::{Map, Value, json};

use super::{Meshes, picture, shown};
use crate::cli::console::Console;
use crate::cli::failure::Failure;
use crate::cli::output;

const EXAMPLES: &str = "\
Examples:
  pliant markers check --source walk.glb --target camel.obj --markers pairs.json
                                              a line for each pair, and what to do
  pliant markers check --source walk.glb --target camel.obj --markers pairs.csv --picture pairs.png
                                              both meshes with the pairs on them; doubtful ones are large
  pliant markers check --source horse.obj --target camel.obj --markers horse.json+camel.json
                                              by the landmarks that both have

Each pair is left out in turn, and the others say where it belongs: 'off' is how far from there it
is, in percent of the target's diagonal. One that stands out from its neighbours is tried
exchanged with another, on the other side and the other way round. Ends with 1 where `pliant
transfer` would decline the markers, and lists all of them even then.";

/// Tells which marker pairs are wrong, and how.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    meshes: Meshes,

    /// The pairs.
    #[arg(long, value_name = "FILE")]
    markers: String,

    /// Draw both meshes with the pairs on them.
    #[arg(long, value_name = "FILE.png")]
    picture: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    args.picture
        .as_ref()
        .map_or(Ok(()), |file| output::require_ending(file, &["png"]))?;
    let _working = console.working("checking markers");
    let opened = args.meshes.open(Some(&args.markers))?;
    let markers = &opened.markers;
    let check = check_markers(&opened.source, &opened.target, markers)
        .map_err(|error| Failure::about(&args.markers, &error))?;
    let (object, text) = (described(&check, markers), told(&check, markers));
    if let Some(file) = args.picture.as_ref().filter(|_| check.all_are_there()) {
        let doubtful: Vec<bool> = check
            .verdicts
            .iter()
            .map(|verdict| !verdict.flaws.is_empty())
            .collect();
        output::write(file, picture(&opened, markers, &doubtful)?)?;
    }
    if let Some(error) = check.refusal {
        // What is wrong with each pair is the result; that a transfer declines them, the failure.
        let failure = Failure::about(&args.markers, &error);
        return console.result_of_failure(object, &text).and(Err(failure));
    }
    let problems: Vec<String> = opened
        .problems
        .iter()
        .chain(&check.problems)
        .cloned()
        .collect();
    console.result(object, &text, &problems)
}

fn described(check: &MarkerCheck, markers: &Markers) -> Map<String, Value> {
    let pair = |k: usize| {
        let (verdict, (source, target)) = (&check.verdicts[k], markers.pairs()[k]);
        let codes: Vec<&str> = verdict.flaws.iter().map(MarkerFlaw::code).collect();
        let messages: Vec<String> = verdict
            .flaws
            .iter()
            .map(|flaw| flaw.sentence(markers))
            .collect();
        let name = &markers.names()[k];
        json!({"name": name, "source": source, "target": target, "off": verdict.off, "flaws": codes, "messages": messages})
    };
    let wrong = check
        .verdicts
        .iter()
        .filter(|verdict| verdict.flaws.iter().any(MarkerFlaw::is_wrong))
        .count();
    let mut object = Map::new();
    object.insert(
        "markers".into(),
        (0..check.verdicts.len()).map(pair).collect(),
    );
    object.insert("wrong".into(), json!(wrong));
    if let Some([source, target]) = &check.coverage {
        object.insert(
            "coverage".into(),
            json!({"source": coverage_json(source), "target": coverage_json(target)}),
        );
    }
    object
}

fn coverage_json(coverage: &MarkerCoverage) -> Value {
    let MarkerCoverage {
        mean,
        farthest,
        farthest_vertex,
        parts,
        parts_without,
    } = coverage;
    json!({"mean": mean, "farthest": farthest, "farthest_vertex": farthest_vertex, "parts": parts, "parts_without": parts_without})
}

fn told(check: &MarkerCheck, markers: &Markers) -> String {
    let mut text = format!(
        "{:<20} {:>8} {:>8} {:>7}\n",
        "marker", "source", "target", "off %"
    );
    for (k, verdict) in check.verdicts.iter().enumerate() {
        let off = verdict
            .off
            .map_or_else(|| "-".into(), |off| format!("{:.1}", 100.0 * off));
        let flaws: Vec<String> = verdict
            .flaws
            .iter()
            .map(|flaw| flaw.sentence(markers))
            .collect();
        let _ = writeln!(
            text,
            "{}",
            format!("{} {off:>7}  {}", shown(markers, k), flaws.join("; ")).trim_end()
        );
    }
    for (coverage, side) in check.coverage.iter().flatten().zip(["source", "target"]) {
        let (mean, farthest) = (100.0 * coverage.mean, 100.0 * coverage.farthest);
        let MarkerCoverage {
            farthest_vertex,
            parts,
            parts_without,
            ..
        } = coverage;
        let _ = writeln!(
            text,
            "{side}: {mean:.1} % of the diagonal to the next marker in the mean, {farthest:.1} % from vertex {farthest_vertex}; \
             {parts_without} of {parts} part(s) without a marker"
        );
    }
    text
}
