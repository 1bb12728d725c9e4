//! `pliant markers check`: find wrong marker pairs.

use std::fmt::Write as _;
use std::path::PathBuf;

use pliant_transfer::{MarkerCheck, MarkerCoverage, MarkerFlaw, Markers, check_markers};
use schemars::JsonSchema;
use serde::Serialize;

use super::{MeshArgs, pair_text, picture_png};
use crate::cli::report::console::Console;
use crate::cli::report::failure::Failure;
use crate::cli::report::output;

const EXAMPLES: &str = "\
Examples:
  # One line for each pair, and what to do
  pliant markers check --source walk.glb --target camel.obj \\
      --markers pairs.json

  # A picture of both meshes with the pairs; doubtful ones are large
  pliant markers check --source walk.glb --target camel.obj \\
      --markers pairs.csv --picture pairs.png

  # By the landmarks that both meshes have
  pliant markers check --source horse.obj --target camel.obj \\
      --markers horse.json+camel.json

Method:
  Each pair is left out in turn, and the others predict its position. 'off' is
  the distance from there, in percent of the diagonal of the target. A pair
  that differs from its neighbours is tested for an exchange with another
  pair, with the other side, and of source and target.

Exit code:
  The exit code is 1 where `pliant transfer` would refuse the markers; the
  table lists all pairs in this case, too.";

const USAGE: &str = "\
pliant markers check [OPTIONS] --source <ASSET> --target <MESH> \\
           --markers <FILE>";

/// Finds wrong marker pairs and says what is wrong with them.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct Args {
    #[command(flatten)]
    meshes: MeshArgs,

    /// File of marker pairs.
    #[arg(long, value_name = "FILE")]
    markers: String,

    /// File for a picture of both meshes with the pairs.
    #[arg(long, value_name = "FILE.png")]
    picture: Option<PathBuf>,
}

/// The report of `pliant markers check`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CheckReport {
    /// The pairs in order.
    markers: Vec<PairReport>,
    /// Pairs that are certainly wrong.
    wrong: usize,
    /// How well the markers cover the meshes; absent where a vertex does not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<BothCoverages>,
}

/// One marker pair.
#[derive(Debug, Serialize, JsonSchema)]
struct PairReport {
    /// Name of the marker; null without one.
    name: Option<String>,
    /// Vertex of the source mesh.
    source: u32,
    /// Vertex of the target mesh.
    target: u32,
    /// Distance from the predicted position, relative to the diagonal of the target mesh; null
    /// where it cannot be predicted.
    off: Option<f64>,
    /// Codes of the flaws.
    flaws: Vec<String>,
    /// The flaws as sentences.
    messages: Vec<String>,
}

/// The coverage of both meshes.
#[derive(Debug, Serialize, JsonSchema)]
struct BothCoverages {
    source: CoverageReport,
    target: CoverageReport,
}

/// How well markers cover a mesh. Distances are relative to its diagonal.
#[derive(Debug, Serialize, JsonSchema)]
struct CoverageReport {
    /// Mean geodesic distance of the vertices from the nearest marker.
    mean: f64,
    /// Largest geodesic distance from the nearest marker.
    farthest: f64,
    /// The vertex of that distance.
    farthest_vertex: u32,
    /// Connected components.
    parts: usize,
    /// Connected components without a marker.
    parts_without: usize,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    output::require_ending_if_given(args.picture.as_deref(), &["png"])?;
    let _spinner = console.spinner("checking markers");
    let meshes = args.meshes.load(Some(&args.markers))?;
    let markers = &meshes.markers;
    let check = check_markers(&meshes.source, &meshes.target, markers)
        .map_err(|error| Failure::about(&args.markers, &error))?;

    // A marker whose vertex does not exist cannot be drawn.
    if let Some(file) = args.picture.as_ref().filter(|_| check.all_in_range()) {
        let doubtful: Vec<bool> = check
            .assessments
            .iter()
            .map(|verdict| !verdict.flaws.is_empty())
            .collect();
        output::write(file, picture_png(&meshes, markers, &doubtful)?)?;
    }

    let report = CheckReport::new(&check, markers);
    let text = check_text(&check, markers);
    if let Some(error) = check.error {
        // The flaws of each pair are the result; that a transfer refuses them is the failure.
        let failure = Failure::about(&args.markers, &error);
        return console
            .print_failed_result(&report, &text)
            .and(Err(failure));
    }

    let warnings = [&meshes.warnings[..], &check.warnings].concat();
    console.print_result(&report, &text, &warnings)
}

impl CheckReport {
    fn new(check: &MarkerCheck, markers: &Markers) -> Self {
        let wrong = check
            .assessments
            .iter()
            .filter(|verdict| verdict.flaws.iter().any(MarkerFlaw::is_wrong));
        let coverage = check
            .coverage
            .as_ref()
            .map(|[source, target]| BothCoverages {
                source: source.into(),
                target: target.into(),
            });

        Self {
            markers: (0..check.assessments.len())
                .map(|k| PairReport::new(check, markers, k))
                .collect(),
            wrong: wrong.count(),
            coverage,
        }
    }
}

impl PairReport {
    fn new(check: &MarkerCheck, markers: &Markers, k: usize) -> Self {
        let verdict = &check.assessments[k];
        let (source, target) = markers.pairs()[k];
        Self {
            name: markers.names()[k].clone(),
            source,
            target,
            off: verdict.deviation,
            flaws: verdict
                .flaws
                .iter()
                .map(|flaw| flaw.code().to_owned())
                .collect(),
            messages: sentences(check, markers, k),
        }
    }
}

impl From<&MarkerCoverage> for CoverageReport {
    fn from(coverage: &MarkerCoverage) -> Self {
        Self {
            mean: coverage.mean,
            farthest: coverage.farthest,
            farthest_vertex: coverage.farthest_vertex,
            parts: coverage.components,
            parts_without: coverage.components_without,
        }
    }
}

/// The flaws of the `k`-th pair as sentences.
fn sentences(check: &MarkerCheck, markers: &Markers, k: usize) -> Vec<String> {
    let flaws = check.assessments[k].flaws.iter();
    flaws.map(|flaw| flaw.message(markers)).collect()
}

fn check_text(check: &MarkerCheck, markers: &Markers) -> String {
    let mut text = format!(
        "{:<20} {:>8} {:>8} {:>7}\n",
        "marker", "source", "target", "off %"
    );

    // A dash marks pairs that the others do not predict.
    for (k, verdict) in check.assessments.iter().enumerate() {
        let off = match verdict.deviation {
            Some(off) => format!("{:.1}", 100.0 * off),
            None => "-".into(),
        };
        let flaws = sentences(check, markers, k).join("; ");
        let row = format!("{} {off:>7}  {flaws}", pair_text(markers, k));
        let _ = writeln!(text, "{}", row.trim_end());
    }

    for (coverage, side) in check.coverage.iter().flatten().zip(["source", "target"]) {
        let _ = writeln!(
            text,
            "{side}: mean distance to the nearest marker {:.1} % of the diagonal, largest {:.1} % at vertex {}; \
             {} of {} component(s) without a marker",
            100.0 * coverage.mean,
            100.0 * coverage.farthest,
            coverage.farthest_vertex,
            coverage.components_without,
            coverage.components
        );
    }
    text
}
