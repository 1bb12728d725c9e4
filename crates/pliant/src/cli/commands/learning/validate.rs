//! `pliant validate`: leave-one-out validation of a recipe.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Instant;

use pliant::jobs::Validation;
use pliant::pieces::JoinedPieces;
use pliant_learn::{ComparedMethod, DetailError, LearnError, Method, PairedTest, PoseError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::learn;
use super::partial_log::PartialLog;
use crate::cli::commands::program::join::JoinedReport;
use crate::cli::pieces::{
    Invocation, JoinedResult, Made, PieceArgs, PieceContent, content, run_piece,
};
use crate::cli::report::console::Console;
use crate::cli::report::failure::Failure;
use crate::cli::report::interrupt::Interruptible;
use crate::cli::report::milliseconds_since;
use crate::cli::report::output::{self, path_text};

const EXAMPLES: &str = "\
Examples:
  # Predict every pose from a model that was trained without it
  pliant validate horse.toml

  # The same as one JSON object
  pliant validate horse.toml --json

  # Compare with every other method, and test the difference
  pliant validate horse.toml --against all

  # Compare with two methods
  pliant validate horse.toml --against paper,arap

  # Half of the poses here, the other half on another machine
  pliant validate horse.toml --frames 0-29 --out a.json
  pliant validate horse.toml --frames 30-59 --out b.json
  pliant join a.json b.json --out table.json

Errors:
  The recipe is that of `pliant learn`. Errors are RMS distances relative to
  the longest side of the reference pose, which is always in training and
  never left out. Method auto chooses its settings again for every pose, from
  the other poses only.

Detail:
  With [detail], each pose also has detail_rms (predicted base and detail),
  base_rms (no detail) and static_rms (detail of the reference pose), all
  against the detailed pose, and height_rms and static_height_rms of the
  detail alone.

Comparison (--against):
  For each other method: on how many poses the method of the recipe is better,
  and the exact two-sided p-values of the sign test and of the Wilcoxon
  signed-rank test.

Cancel and continue:
  Ctrl-C stops the validation and keeps its results in RECIPE.partial. The
  same command continues from there.";

/// Measures how well a recipe predicts unseen poses (leave-one-out validation).
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Recipe of `pliant learn`.
    #[arg(value_name = "RECIPE.toml")]
    recipe: PathBuf,

    /// Methods to compare with, separated by commas: auto, paper, feng, meshik, arap, or all.
    #[arg(long, value_name = "METHODS", value_delimiter = ',', value_parser = parse_rivals)]
    against: Vec<RivalArg>,

    /// File for the table, without times: pieces of a validation are joined from it.
    #[arg(long, value_name = "TABLE.json")]
    out: Option<PathBuf>,

    // Last, because its heading holds for all options after it.
    #[command(flatten)]
    piece: PieceArgs,
}

/// One method, or all of them.
#[derive(Debug, Clone, Copy, PartialEq)]
enum RivalArg {
    One(Method),
    All,
}

fn parse_rivals(name: &str) -> Result<RivalArg, LearnError> {
    if name == "all" {
        Ok(RivalArg::All)
    } else {
        name.parse().map(RivalArg::One)
    }
}

/// The report of `pliant validate`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ValidateReport {
    #[serde(flatten)]
    table: ValidateTable,
    /// Results of a cancelled run that were used.
    resumed: usize,
    /// Time of the validation, in milliseconds.
    ms: f64,
    /// File of the table; absent without `--out`.
    #[serde(skip_serializing_if = "Option::is_none")]
    out: Option<String>,
}

/// The errors of a recipe: what does not change from run to run.
#[derive(Debug, Serialize, JsonSchema)]
struct ValidateTable {
    /// Method of the recipe.
    method: String,
    /// Settings that `auto` chose; null for other methods.
    chosen: Option<String>,
    /// The error of each pose.
    poses: Vec<PoseReport>,
    /// Mean of the errors.
    mean_rms: f64,
    /// Mean errors with detail; absent without detail.
    #[serde(skip_serializing_if = "Option::is_none")]
    mean_detail: Option<DetailErrors>,
    /// Comparison with other methods; absent without `--against`.
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<BTreeMap<String, RivalReport>>,
}

/// What a piece of a validation needs to be joined.
#[derive(Debug, Serialize, Deserialize)]
struct ValidatePiece {
    method: String,
    poses: Vec<PoseReport>,
    /// The errors of other methods, in the order of the comparison.
    rivals: Vec<RivalErrors>,
    warnings: Vec<String>,
    resumed: usize,
    ms: f64,
}

/// The errors of another method.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct RivalErrors {
    method: String,
    rms: Vec<f64>,
}

/// The error of a pose that was left out. Errors are relative to the longest side.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct PoseReport {
    name: String,
    /// Root mean square distance of the prediction.
    rms: f64,
    /// Settings that `auto` chose; null for other methods.
    chosen: Option<String>,
    /// Errors with detail; absent without detail.
    #[serde(flatten)]
    detail: Option<PoseDetail>,
}

/// The errors of a pose with detail.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct PoseDetail {
    #[serde(flatten)]
    errors: DetailErrors,
    /// Settings of the detail that `auto` chose; null for other modes.
    detail_chosen: Option<String>,
}

/// Errors with detail, relative to the longest side.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct DetailErrors {
    /// With predicted base and detail.
    detail_rms: f64,
    /// Without detail.
    base_rms: f64,
    /// With the detail of the reference pose.
    static_rms: f64,
    /// Of the predicted heights alone.
    height_rms: f64,
    /// Of the heights of the reference pose alone.
    static_height_rms: f64,
}

/// Another method, compared with that of the recipe.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct RivalReport {
    /// Mean of its errors.
    mean_rms: f64,
    /// Its error of each pose.
    rms: Vec<f64>,
    /// Mean of the differences; negative where the method of the recipe is better.
    mean_difference: f64,
    /// Poses on which the method of the recipe is better.
    better: usize,
    /// Poses on which the methods differ.
    pairs: usize,
    /// Two-sided p-value of the sign test.
    sign_p: f64,
    /// Two-sided p-value of the Wilcoxon signed-rank test.
    rank_p: f64,
}

pub(crate) fn run(args: &Args, invocation: &Invocation, console: &Console) -> Result<(), Failure> {
    let Some(out) = &args.out else {
        if args.piece.writes_manifest() {
            return Err(Failure::usage(
                "--frames and --resume need a file for the table; give --out TABLE.json",
            ));
        }
        let made = args.make(console)?;
        return console.print_summary(&made.report, &made.summary, &made.warnings);
    };
    output::require_ending(out, &["json"])?;
    run_piece(&args.piece, invocation, out, console, || args.make(console))
}

/// Number of poses of the whole validation.
pub(crate) fn frame_count(args: &Args) -> Result<Option<usize>, Failure> {
    Ok(Some(learn::load(&args.recipe)?.pose_count()))
}

/// The validation whose pieces these are.
pub(crate) fn join(args: &Args, pieces: &JoinedPieces) -> Result<JoinedResult, Failure> {
    let mut parts: Vec<ValidatePiece> = pieces.contents()?;
    let poses = parts.iter_mut().map(|part| std::mem::take(&mut part.poses));
    let poses = pieces.in_order(poses.collect())?;
    let mut rivals = parts[0].rivals.clone();
    for (k, rival) in rivals.iter_mut().enumerate() {
        let rows = parts.iter().map(|part| part.rivals[k].rms.clone());
        rival.rms = pieces.in_order(rows.collect())?;
    }

    let whole = ValidatePiece {
        method: parts[0].method.clone(),
        poses,
        rivals,
        warnings: parts[0].warnings.clone(),
        resumed: parts.iter().map(|part| part.resumed).sum(),
        ms: parts.iter().map(|part| part.ms).sum(),
    };
    let report = args.finish(&whole)?;
    Ok(JoinedResult {
        summary: report.summary(),
        report: JoinedReport::Validate(Box::new(report)),
        warnings: whole.warnings,
    })
}

impl Args {
    /// The errors of the selected poses, with the table written.
    fn make(&self, console: &Console) -> Result<Made<ValidateReport>, Failure> {
        let job = learn::load(&self.recipe)?;
        let whole = job.pose_count();
        let frames = self.piece.frames_of(whole)?;
        let mut warnings = job.warnings.clone();
        let mut log = job.log();
        // Pieces of one recipe run at the same time; each has its own log.
        let of = self.out.as_ref().filter(|_| self.piece.writes_manifest());
        let partial = PartialLog::open(of.unwrap_or(&self.recipe), &mut log, &mut warnings);
        let method = job.options().method();
        let rivals = self.rivals(method);

        let bar = console.progress_bar();
        let start = Instant::now();
        let judged = job
            .compare_frames(&rivals, &frames, &mut log, &Interruptible::new(&bar))
            .map_err(|error| partial.failure(&self.recipe, &log, &error))?;
        let ms = milliseconds_since(start);
        drop(bar);

        let piece = ValidatePiece::new(&judged, method, warnings, partial.resumed, ms);
        let report = self.finish(&piece)?;
        partial.remove();
        Ok(Made {
            summary: report.summary() + &partial.summary(),
            report,
            warnings: piece.warnings.clone(),
            piece: PieceContent {
                frames,
                whole,
                content: content(&piece),
                exact: None,
            },
        })
    }

    /// Writes the table, if it is wanted.
    fn finish(&self, piece: &ValidatePiece) -> Result<ValidateReport, Failure> {
        let table = ValidateTable::new(piece);
        if let Some(out) = &self.out {
            let mut bytes = serde_json::to_vec_pretty(&table).expect("a table has text keys");
            bytes.push(b'\n');
            output::write(out, bytes)?;
        }
        Ok(ValidateReport {
            table,
            resumed: piece.resumed,
            ms: piece.ms,
            out: self.out.as_deref().map(path_text),
        })
    }

    /// Each method to compare with once, without that of the recipe.
    fn rivals(&self, own: Method) -> Vec<Method> {
        let mut rivals = Vec::new();
        for method in Method::ALL {
            let is_named = self.against.contains(&RivalArg::All)
                || self.against.contains(&RivalArg::One(method));
            if method != own && is_named {
                rivals.push(method);
            }
        }
        rivals
    }
}

impl ValidatePiece {
    fn new(
        judged: &Validation,
        method: Method,
        warnings: Vec<String>,
        resumed: usize,
        ms: f64,
    ) -> Self {
        let Validation { compared, details } = judged;
        let errors = &compared.errors;
        let mut poses: Vec<PoseReport> = errors.poses.iter().map(PoseReport::from).collect();

        // Models without detail have no detail errors.
        for (pose, detail) in poses.iter_mut().zip(details.iter().flatten()) {
            pose.detail = Some(detail.into());
        }

        let rival = |rival: &ComparedMethod| RivalErrors {
            method: rival.method.name().to_owned(),
            rms: rival.errors.rms(),
        };
        Self {
            method: method.name().to_owned(),
            poses,
            rivals: compared.others.iter().map(rival).collect(),
            warnings,
            resumed,
            ms,
        }
    }

    fn rms(&self) -> Vec<f64> {
        self.poses.iter().map(|pose| pose.rms).collect()
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

impl ValidateTable {
    fn new(piece: &ValidatePiece) -> Self {
        let rms = piece.rms();
        let mut rivals = BTreeMap::new();
        for rival in &piece.rivals {
            rivals.insert(rival.method.clone(), RivalReport::new(&rms, rival));
        }
        let details: Option<Vec<&PoseDetail>> = piece
            .poses
            .iter()
            .map(|pose| pose.detail.as_ref())
            .collect();
        Self {
            method: piece.method.clone(),
            chosen: most_chosen(&piece.poses),
            mean_rms: mean(&rms),
            mean_detail: details.map(|details| DetailErrors::mean(&details)),
            poses: piece.poses.clone(),
            against: (!rivals.is_empty()).then_some(rivals),
        }
    }
}

/// The settings that were chosen most often, the first of those that were chosen equally often.
fn most_chosen(poses: &[PoseReport]) -> Option<String> {
    let chosen: Vec<&String> = poses
        .iter()
        .filter_map(|pose| pose.chosen.as_ref())
        .collect();
    let times = |settings: &String| chosen.iter().filter(|other| **other == settings).count();
    let mut best: Option<(&String, usize)> = None;
    for settings in &chosen {
        let times = times(settings);
        if best.is_none_or(|(_, most)| times > most) {
            best = Some((settings, times));
        }
    }
    let (settings, times) = best?;
    Some(format!("{settings} ({times} of {} poses)", poses.len()))
}

impl ValidateReport {
    fn summary(&self) -> String {
        let table = &self.table;
        let none = BTreeMap::new();
        let rivals = table.against.as_ref().unwrap_or(&none);
        let mut text = if rivals.is_empty() {
            table.list()
        } else {
            table.columns(rivals)
        };
        let _ = writeln!(
            text,
            "{:.5}  mean of {}; in {:.0} ms",
            table.mean_rms,
            table.chosen.as_ref().unwrap_or(&table.method),
            self.ms
        );

        for (name, rival) in in_usual_order(rivals) {
            let _ = writeln!(
                text,
                "{:.5}  mean of {name}; {} is better on {} of {} poses: p = {:.4} by the sign test, {:.4} by signed ranks",
                rival.mean_rms, table.method, rival.better, rival.pairs, rival.sign_p, rival.rank_p
            );
        }
        if let Some(mean) = &table.mean_detail {
            let _ = writeln!(
                text,
                "{:.5}  mean with detail; {:.5} without, {:.5} with the detail of the reference pose",
                mean.detail_rms, mean.base_rms, mean.static_rms
            );
        }
        if let Some(out) = &self.out {
            let _ = writeln!(text, "written to {out}");
        }
        text
    }
}

impl ValidateTable {
    fn list(&self) -> String {
        let mut text = String::new();
        for pose in &self.poses {
            let _ = writeln!(text, "{:.5}  {}", pose.rms, pose.name);
        }
        text
    }

    /// Errors of all methods: a row for each pose, a column for each method.
    fn columns(&self, rivals: &BTreeMap<String, RivalReport>) -> String {
        let mut text = format!("{:<9}", self.method);
        let rivals = in_usual_order(rivals);
        for (name, _) in &rivals {
            let _ = write!(text, "{name:<9}");
        }
        text += "pose\n";

        for (k, pose) in self.poses.iter().enumerate() {
            let _ = write!(text, "{:<9.5}", pose.rms);
            for (_, rival) in &rivals {
                let _ = write!(text, "{:<9.5}", rival.rms[k]);
            }
            let _ = writeln!(text, "{}", pose.name);
        }
        text
    }
}

/// Methods as help and other texts list them.
fn in_usual_order(rivals: &BTreeMap<String, RivalReport>) -> Vec<(&str, &RivalReport)> {
    let mut ordered = Vec::with_capacity(rivals.len());
    for method in Method::ALL {
        if let Some(rival) = rivals.get(method.name()) {
            ordered.push((method.name(), rival));
        }
    }
    ordered
}

impl From<&PoseError> for PoseReport {
    fn from(pose: &PoseError) -> Self {
        Self {
            name: pose.name.clone(),
            rms: pose.rms,
            chosen: pose.chosen.map(|settings| settings.to_string()),
            detail: None,
        }
    }
}

impl From<&DetailError> for PoseDetail {
    fn from(error: &DetailError) -> Self {
        Self {
            errors: DetailErrors {
                detail_rms: error.rms,
                base_rms: error.base_rms,
                static_rms: error.static_rms,
                height_rms: error.height_rms,
                static_height_rms: error.static_height_rms,
            },
            detail_chosen: error.chosen.map(|settings| settings.to_string()),
        }
    }
}

impl DetailErrors {
    fn mean(details: &[&PoseDetail]) -> Self {
        let mean_of = |value: fn(&DetailErrors) -> f64| {
            let values: Vec<f64> = details.iter().map(|detail| value(&detail.errors)).collect();
            mean(&values)
        };
        Self {
            detail_rms: mean_of(|errors| errors.detail_rms),
            base_rms: mean_of(|errors| errors.base_rms),
            static_rms: mean_of(|errors| errors.static_rms),
            height_rms: mean_of(|errors| errors.height_rms),
            static_height_rms: mean_of(|errors| errors.static_height_rms),
        }
    }
}

impl RivalReport {
    /// `own` are the errors of the recipe's method.
    fn new(own: &[f64], rival: &RivalErrors) -> Self {
        let test = PairedTest::of(own, &rival.rms);
        Self {
            mean_rms: mean(&rival.rms),
            rms: rival.rms.clone(),
            mean_difference: test.mean_difference,
            better: test.lower,
            pairs: test.pairs,
            sign_p: test.sign_p,
            rank_p: test.rank_p,
        }
    }
}
