//! `pliant reproduce`: tables and figures of the published methods.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use pliant::reproduce::{Data, REPRODUCTIONS, ReproduceError, ReproductionReport};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::report::console::Console;
use crate::cli::report::failure::Failure;
use crate::cli::report::output::path_text;

const EXAMPLES: &str = "\
Examples:
  # Every reproduction on the built-in models
  pliant reproduce --out papers

  # One of them
  pliant reproduce transfer --out papers

  # Also on the open data sets in the folder 'sets'
  pliant reproduce --data sets --out papers

Open papers/index.html in any browser; it needs no network. Data sets that are
not in the folder are left out, with a warning. Published values are in
italics beside ours. Times are those of this machine.";

/// Reproduces tables and figures of the published methods.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// What to reproduce [default: everything].
    #[arg(value_name = "NAME", value_parser = name_parser())]
    names: Vec<String>,

    /// Folder of open data, with a folder for each data set: ict-facekit, makehuman-face,
    /// facecap-head, horse-camel, horse-sequences, elastic-cow, samba.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// Folder to write to.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// The report of `pliant reproduce`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReproduceReport {
    /// The page that lists all others.
    index: String,
    /// The pages.
    pages: Vec<PageReport>,
    /// Measured values.
    figures: Vec<FigureReport>,
    /// The tables of all pages.
    tables: Vec<TableReport>,
}

/// One page.
#[derive(Debug, Serialize, JsonSchema)]
struct PageReport {
    name: String,
    title: String,
    file: String,
}

/// A measured value.
#[derive(Debug, Serialize, JsonSchema)]
struct FigureReport {
    page: String,
    section: String,
    name: String,
    value: String,
}

/// A table of a page.
#[derive(Debug, Serialize, JsonSchema)]
struct TableReport {
    page: String,
    caption: String,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let reproduced = {
        let bar = console.progress_bar();
        let data = match &args.data {
            Some(folder) => Data::in_folder(folder)?,
            None => Data::built_in(),
        };
        pliant::reproduce::run(&args.names, &data, &args.out, &bar).map_err(failure)?
    };
    let report = ReproduceReport::new(&reproduced);
    console.print_summary(&report, &report.summary(), &reproduced.warnings)
}

/// A parser of the names of all reproductions, so that help lists them.
fn name_parser() -> PossibleValuesParser {
    PossibleValuesParser::new(
        REPRODUCTIONS
            .iter()
            .map(|known| PossibleValue::new(known.name).help(known.title)),
    )
}

fn failure(error: ReproduceError) -> Failure {
    match error {
        ReproduceError::Unknown { .. } => Failure::usage(error.to_string()),
        ReproduceError::Io(error) => error.into(),
        error => Failure::about("reproduce", &error),
    }
}

fn title(name: &str) -> String {
    let known = REPRODUCTIONS.iter().find(|known| known.name == name);
    known.map_or("", |known| known.title).to_owned()
}

impl ReproduceReport {
    fn new(reproduced: &ReproductionReport) -> Self {
        let pages = reproduced.pages.iter().map(|(name, file)| PageReport {
            name: name.clone(),
            title: title(name),
            file: path_text(file),
        });
        let figures = reproduced.figures.iter().cloned();

        Self {
            index: path_text(&reproduced.index),
            pages: pages.collect(),
            figures: figures
                .map(|[page, section, name, value]| FigureReport {
                    page,
                    section,
                    name,
                    value,
                })
                .collect(),
            tables: tables(reproduced),
        }
    }

    fn summary(&self) -> String {
        let mut text = String::new();
        for FigureReport {
            page, name, value, ..
        } in &self.figures
        {
            let _ = writeln!(text, "{page:>10}  {name:<32} {value}");
        }
        let _ = writeln!(text, "\nopen {}", self.index);
        text
    }
}

fn tables(reproduced: &ReproductionReport) -> Vec<TableReport> {
    let mut tables = Vec::new();
    for ((name, _), page) in reproduced.pages.iter().zip(&reproduced.contents) {
        for table in page.tables() {
            tables.push(TableReport {
                page: name.clone(),
                caption: table.caption().to_owned(),
                header: table.header().to_vec(),
                rows: table.rows().map(|row| row.to_vec()).collect(),
            });
        }
    }
    tables
}
