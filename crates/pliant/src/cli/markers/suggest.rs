//! `pliant markers suggest`.

use std::fmt::Write as _;
use std::path::PathBuf;

use pliant_transfer::{Flexibility, MarkerSuggestions, Markers};
use serde_json::{Map, Value, json};

use super::{Meshes, Opened, format_of, picture, shown};
use crate::cli::console::Console;
use crate::cli::failure::Failure;
use crate::cli::output::{self, Outputs};

const EXAMPLES: &str = "\
Examples:
  pliant markers suggest --source walk.glb --target camel.obj --count 8 --out pairs.json --picture pairs.png
                                              eight pairs to start from, and how they lie
  pliant markers suggest --source walk.glb --target camel.obj --markers pairs.json
                                              where the next pair helps most

What is known about two meshes fades with the distance to the next marker, and costs most where
the clip bends its mesh; a source without a clip counts as bending everywhere alike. 'removes' is
the part of that error which a pair takes away. The target's vertices are guesses of the present
correspondence: look at them before use. Where markers are given, they come first in the file.";

/// Names the pairs that would help a transfer most.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    meshes: Meshes,

    /// The pairs that are there already.
    #[arg(long, value_name = "FILE")]
    markers: Option<String>,

    /// How many pairs to suggest.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=1000))]
    count: u16,

    /// Where to write the pairs, those that are there first.
    #[arg(long, value_name = "FILE.json|csv")]
    out: Option<PathBuf>,

    /// Draw both meshes with the pairs on them; the suggested ones are large.
    #[arg(long, value_name = "FILE.png")]
    picture: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let format = args.out.as_deref().map(format_of).transpose()?;
    args.picture
        .as_ref()
        .map_or(Ok(()), |file| output::require_ending(file, &["png"]))?;
    let _working = console.working("looking for markers");
    let mut opened = args.meshes.open(args.markers.as_deref())?;
    let about = |error: &dyn std::error::Error| {
        Failure::about(
            args.markers.as_deref().unwrap_or(&args.meshes.source),
            error,
        )
    };
    let flexibility =
        flexibility(&mut opened).map_err(|error| Failure::about(&args.meshes.source, &error))?;
    let flexibility = flexibility.as_ref().map(Flexibility::of_triangles);
    let next = MarkerSuggestions::find(
        &opened.source,
        &opened.target,
        &opened.markers,
        flexibility,
        args.count.into(),
    );
    let next = next.map_err(|error| about(&error))?;
    let all = next.added_to(&opened.markers);
    let mut outputs = Outputs::default();
    if let (Some(out), Some(format)) = (&args.out, format) {
        outputs.add(
            out,
            all.to_text(format)
                .map_err(|error| Failure::about(out.display(), &error))?
                .into_bytes(),
        );
    }
    if let Some(file) = &args.picture {
        let suggested: Vec<bool> = (0..all.pairs().len())
            .map(|k| k >= opened.markers.pairs().len())
            .collect();
        outputs.add(file, picture(&opened, &all, &suggested)?);
    }
    outputs.write()?;
    let problems: Vec<String> = opened
        .problems
        .iter()
        .chain(&next.problems)
        .cloned()
        .collect();
    console.result(
        described(args, &next, flexibility.is_some()),
        &told(&next, &all),
        &problems,
    )
}

/// Where the source's clip bends it; nothing without a clip.
fn flexibility(opened: &mut Opened) -> Result<Option<Flexibility>, pliant_transfer::TransferError> {
    match (opened.asset.clips.len(), opened.asset.clip()) {
        (0, _) => Ok(None),
        (_, Ok(clip)) => Flexibility::of(&clip).map(Some),
        (_, Err(error)) => {
            opened.problems.push(format!(
                "the source is taken to bend everywhere alike: {error}"
            ));
            Ok(None)
        }
    }
}

fn described(args: &Args, next: &MarkerSuggestions, by_flexibility: bool) -> Map<String, Value> {
    let suggestion = |s: &pliant_transfer::MarkerSuggestion| json!({"source": s.source, "target": s.target, "removes": s.removes, "leaves": s.leaves});
    let mut object = Map::new();
    object.insert(
        "suggestions".into(),
        next.suggestions.iter().map(suggestion).collect(),
    );
    object.insert("now".into(), json!(next.now));
    object.insert("by_flexibility".into(), json!(by_flexibility));
    for (key, file) in [("out", &args.out), ("picture", &args.picture)] {
        if let Some(file) = file {
            object.insert(key.into(), json!(file.display().to_string()));
        }
    }
    object
}

fn told(next: &MarkerSuggestions, all: &Markers) -> String {
    let first = all.pairs().len() - next.suggestions.len();
    let mut text = format!(
        "{:<20} {:>8} {:>8} {:>9}\n",
        "marker", "source", "target", "removes %"
    );
    for (k, suggestion) in next.suggestions.iter().enumerate() {
        let _ = writeln!(
            text,
            "{} {:>9.1}",
            shown(all, first + k),
            100.0 * suggestion.removes
        );
    }
    let then = next.suggestions.last().map_or(next.now, |last| last.leaves);
    let _ = writeln!(
        text,
        "distance to the next marker: {:.1} % of the diagonal now, {:.1} % with all of these",
        100.0 * next.now,
        100.0 * then
    );
    text
}
