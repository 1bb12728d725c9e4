//! `pliant validate`: leave-one-out validation of a recipe.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Instant;

use pliant::jobs::Validation;
use pliant_learn::{ComparedMethod, Comparison, DetailError, LearnError, Method, PoseError};
use schemars::JsonSchema;
use serde::Serialize;

use super::learn;
use super::partial_log::PartialLog;
use crate::cli::report::console::Console;
use crate::cli::report::failure::Failure;
use crate::cli::report::interrupt::Interruptible;
use crate::cli::report::milliseconds_since;

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
    /// Method of the recipe.
    method: String,
    /// Settings that `auto` chose; null for other methods.
    chosen: Option<String>,
    /// The error of each pose.
    poses: Vec<PoseReport>,
    /// Mean of the errors.
    mean_rms: f64,
    /// Results of a cancelled run that were used.
    resumed: usize,
    /// Time of the validation, in milliseconds.
    ms: f64,
    /// Mean errors with detail; absent without detail.
    #[serde(skip_serializing_if = "Option::is_none")]
    mean_detail: Option<DetailErrors>,
    /// Comparison with other methods; absent without `--against`.
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<BTreeMap<String, RivalReport>>,
}

/// The error of a pose that was left out. Errors are relative to the longest side.
#[derive(Debug, Serialize, JsonSchema)]
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
#[derive(Debug, Serialize, JsonSchema)]
struct PoseDetail {
    #[serde(flatten)]
    errors: DetailErrors,
    /// Settings of the detail that `auto` chose; null for other modes.
    detail_chosen: Option<String>,
}

/// Errors with detail, relative to the longest side.
#[derive(Debug, Serialize, JsonSchema)]
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
#[derive(Debug, Serialize, JsonSchema)]
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

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let job = learn::load(&args.recipe)?;
    let mut warnings = job.warnings.clone();
    let mut log = job.log();
    let partial = PartialLog::open(&args.recipe, &mut log, &mut warnings);
    let method = job.options().method();
    let rivals = args.rivals(method);

    let bar = console.progress_bar();
    let start = Instant::now();
    let judged = job
        .compare(&rivals, &mut log, &Interruptible::new(&bar))
        .map_err(|error| partial.failure(&args.recipe, &log, &error))?;
    let ms = milliseconds_since(start);
    drop(bar);
    partial.remove();

    let report = ValidateReport::new(&judged, method, partial.resumed, ms);
    let summary = report.summary(&judged.compared, method) + &partial.summary();
    console.print_summary(&report, &summary, &warnings)
}

impl Args {
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

impl ValidateReport {
    fn new(judged: &Validation, method: Method, resumed: usize, ms: f64) -> Self {
        let Validation { compared, details } = judged;
        let errors = &compared.errors;
        let mut poses: Vec<PoseReport> = errors.poses.iter().map(PoseReport::from).collect();

        // Models without detail have no detail errors.
        for (pose, detail) in poses.iter_mut().zip(details.iter().flatten()) {
            pose.detail = Some(detail.into());
        }

        let rivals: BTreeMap<String, RivalReport> = compared
            .others
            .iter()
            .map(|rival| (rival.method.name().to_owned(), rival.into()))
            .collect();
        Self {
            method: method.name().to_owned(),
            chosen: errors.chosen(),
            poses,
            mean_rms: errors.mean_rms(),
            resumed,
            ms,
            mean_detail: details.as_ref().map(|details| DetailErrors::mean(details)),
            against: (!rivals.is_empty()).then_some(rivals),
        }
    }

    fn summary(&self, compared: &Comparison, method: Method) -> String {
        let mut text = if compared.others.is_empty() {
            self.list()
        } else {
            table(compared, method)
        };
        let _ = writeln!(
            text,
            "{:.5}  mean of {}; in {:.0} ms",
            self.mean_rms,
            self.chosen.as_ref().unwrap_or(&self.method),
            self.ms
        );

        for rival in &compared.others {
            text += &rival_text(rival, method);
        }
        if let Some(mean) = &self.mean_detail {
            let _ = writeln!(
                text,
                "{:.5}  mean with detail; {:.5} without, {:.5} with the detail of the reference pose",
                mean.detail_rms, mean.base_rms, mean.static_rms
            );
        }
        text
    }

    fn list(&self) -> String {
        let mut text = String::new();
        for pose in &self.poses {
            let _ = writeln!(text, "{:.5}  {}", pose.rms, pose.name);
        }
        text
    }
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
    fn mean(details: &[DetailError]) -> Self {
        let mean_of = |value: fn(&DetailError) -> f64| {
            details.iter().map(value).sum::<f64>() / details.len() as f64
        };
        Self {
            detail_rms: mean_of(|error| error.rms),
            base_rms: mean_of(|error| error.base_rms),
            static_rms: mean_of(|error| error.static_rms),
            height_rms: mean_of(|error| error.height_rms),
            static_height_rms: mean_of(|error| error.static_height_rms),
        }
    }
}

impl From<&ComparedMethod> for RivalReport {
    fn from(rival: &ComparedMethod) -> Self {
        Self {
            mean_rms: rival.errors.mean_rms(),
            rms: rival.errors.rms(),
            mean_difference: rival.test.mean_difference,
            better: rival.test.lower,
            pairs: rival.test.pairs,
            sign_p: rival.test.sign_p,
            rank_p: rival.test.rank_p,
        }
    }
}

/// Errors of all methods: a row for each pose, a column for each method.
fn table(compared: &Comparison, method: Method) -> String {
    let mut text = format!("{:<9}", method.name());
    for rival in &compared.others {
        let _ = write!(text, "{:<9}", rival.method.name());
    }
    text += "pose\n";

    for (k, pose) in compared.errors.poses.iter().enumerate() {
        let _ = write!(text, "{:<9.5}", pose.rms);
        for rival in &compared.others {
            let _ = write!(text, "{:<9.5}", rival.errors.poses[k].rms);
        }
        let _ = writeln!(text, "{}", pose.name);
    }
    text
}

fn rival_text(rival: &ComparedMethod, method: Method) -> String {
    format!(
        "{:.5}  mean of {}; {} is better on {} of {} poses: p = {:.4} by the sign test, {:.4} by signed ranks\n",
        rival.errors.mean_rms(),
        rival.method.name(),
        method.name(),
        rival.test.lower,
        rival.test.pairs,
        rival.test.sign_p,
        rival.test.rank_p
    )
}
