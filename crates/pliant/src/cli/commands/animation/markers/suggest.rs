//! `pliant markers suggest`: propose marker pairs that help a transfer most.

use std::fmt::Write as _;
use std::path::PathBuf;

use pliant_transfer::{
    Flexibility, MarkerFormat, MarkerSuggestion, MarkerSuggestions, Markers, TransferError,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{MarkedMeshes, MeshArgs, format_of, pair_text, picture_png};
use crate::cli::report::console::Console;
use crate::cli::report::failure::Failure;
use crate::cli::report::output::{self, OutputFiles, path_text};

const EXAMPLES: &str = "\
Examples:
  # Eight pairs to start from, with a picture
  pliant markers suggest --source walk.glb --target camel.obj --count 8 \\
      --out pairs.json --picture pairs.png

  # Where the next pair helps most
  pliant markers suggest --source walk.glb --target camel.obj \\
      --markers pairs.json

Method:
  The error of a correspondence grows with the distance to the nearest marker,
  and matters most where the clip deforms the mesh. Without a clip, all parts
  matter equally. 'removes' is the part of the error that a pair removes.
  The target vertices are guesses of the present correspondence: check them
  before use. Given markers come first in the output file.";

/// Suggests marker pairs that improve a transfer most.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    meshes: MeshArgs,

    /// File of the pairs that exist already.
    #[arg(long, value_name = "FILE")]
    markers: Option<String>,

    /// Number of pairs to suggest.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=1000))]
    count: u16,

    /// File for all pairs, existing ones first.
    #[arg(long, value_name = "FILE.json|csv")]
    out: Option<PathBuf>,

    /// File for a picture of both meshes with the pairs; suggested ones are large.
    #[arg(long, value_name = "FILE.png")]
    picture: Option<PathBuf>,
}

/// The report of `pliant markers suggest`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SuggestReport {
    /// Suggested pairs, the most useful first.
    suggestions: Vec<SuggestedPair>,
    /// Root mean square distance to the nearest marker now, weighted by flexibility, relative to
    /// the diagonal of the source mesh.
    now: f64,
    /// Whether a clip gave the flexibility.
    by_flexibility: bool,
    /// File of the pairs; absent without `--out`.
    #[serde(skip_serializing_if = "Option::is_none")]
    out: Option<String>,
    /// File of the picture; absent without `--picture`.
    #[serde(skip_serializing_if = "Option::is_none")]
    picture: Option<String>,
}

/// A suggested pair.
#[derive(Debug, Serialize, JsonSchema)]
struct SuggestedPair {
    /// Vertex of the source mesh.
    source: u32,
    /// Vertex of the target mesh, to be checked by eye.
    target: u32,
    /// Part of the estimated error that the pair removes, from 0 to 1.
    removes: f64,
    /// Distance to the nearest marker afterwards, as `now`.
    leaves: f64,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let format = args.out.as_deref().map(format_of).transpose()?;
    output::require_ending_if_given(args.picture.as_deref(), &["png"])?;
    let _spinner = console.spinner("searching for markers");
    let mut meshes = args.meshes.load(args.markers.as_deref())?;
    let flexibility =
        flexibility(&mut meshes).map_err(|error| Failure::about(&args.meshes.source, &error))?;

    let suggestions = MarkerSuggestions::find(
        &meshes.source,
        &meshes.target,
        &meshes.markers,
        flexibility.as_ref().map(Flexibility::of_triangles),
        args.count.into(),
    );

    let suggestions = suggestions.map_err(|error| {
        let file = args.markers.as_ref().filter(|_| error.is_about_markers());
        Failure::about(file.unwrap_or(&args.meshes.source), &error)
    })?;
    let all = suggestions.added_to(&meshes.markers);

    args.write(&meshes, &all, format)?;
    let report = args.report(&suggestions, flexibility.is_some());
    let warnings = [&meshes.warnings[..], &suggestions.warnings].concat();
    console.print_result(&report, &suggestion_text(&suggestions, &all), &warnings)
}

/// The flexibility of the source over its clip; none without a clip.
fn flexibility(meshes: &mut MarkedMeshes) -> Result<Option<Flexibility>, TransferError> {
    if meshes.source_asset.clips.is_empty() {
        return Ok(None);
    }
    match meshes.source_asset.clip() {
        Ok(clip) => Flexibility::of(&clip).map(Some),
        Err(error) => {
            meshes.warnings.push(format!(
                "all parts of the source count as equally flexible: {error}"
            ));
            Ok(None)
        }
    }
}

impl Args {
    /// Writes the pairs and the picture, if wanted.
    fn write(
        &self,
        meshes: &MarkedMeshes,
        all: &Markers,
        format: Option<MarkerFormat>,
    ) -> Result<(), Failure> {
        let mut outputs = OutputFiles::default();
        if let (Some(out), Some(format)) = (&self.out, format) {
            let file = all
                .to_text(format)
                .map_err(|error| Failure::about(out.display(), &error))?;
            outputs.add(out, file.into_bytes());
        }

        if let Some(file) = &self.picture {
            // Existing pairs come first, so that the suggested ones are those after them.
            let given = meshes.markers.pairs().len();
            let suggested: Vec<bool> = (0..all.pairs().len()).map(|k| k >= given).collect();
            outputs.add(file, picture_png(meshes, all, &suggested)?);
        }
        outputs.write()
    }

    fn report(&self, suggestions: &MarkerSuggestions, by_flexibility: bool) -> SuggestReport {
        let pairs = suggestions.suggestions.iter();
        SuggestReport {
            suggestions: pairs.map(SuggestedPair::from).collect(),
            now: suggestions.now,
            by_flexibility,
            out: self.out.as_deref().map(path_text),
            picture: self.picture.as_deref().map(path_text),
        }
    }
}

impl From<&MarkerSuggestion> for SuggestedPair {
    fn from(suggestion: &MarkerSuggestion) -> Self {
        Self {
            source: suggestion.source,
            target: suggestion.target,
            removes: suggestion.removes,
            leaves: suggestion.leaves,
        }
    }
}

fn suggestion_text(suggestions: &MarkerSuggestions, all: &Markers) -> String {
    let new = &suggestions.suggestions;
    let first = all.pairs().len() - new.len();
    let mut text = format!(
        "{:<20} {:>8} {:>8} {:>9}\n",
        "marker", "source", "target", "removes %"
    );
    for (k, suggestion) in new.iter().enumerate() {
        let percent = 100.0 * suggestion.removes;
        let _ = writeln!(text, "{} {percent:>9.1}", pair_text(all, first + k));
    }

    // Suggestions are cumulative: the last one has the distance with all of them.
    let then = new.last().map_or(suggestions.now, |last| last.leaves);
    let _ = writeln!(
        text,
        "distance to the nearest marker: {:.1} % of the diagonal now, {:.1} % with all of these",
        100.0 * suggestions.now,
        100.0 * then
    );
    text
}
