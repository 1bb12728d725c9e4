//! `pliant demo`: every capability on the built-in models.

use std::fmt::Write as _;
use std::path::PathBuf;

use pliant::demo::Demo;
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::report::console::Console;
use crate::cli::report::failure::Failure;
use crate::cli::report::output::path_text;

const EXAMPLES: &str = "\
Examples:
  # Write pliant-demo/index.html
  pliant demo

  # Write to another folder
  pliant demo --out page

Open the page in any browser; it needs no network.";

/// Shows every capability on built-in models, on one page.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Folder to write to.
    #[arg(long, value_name = "DIR", default_value = "pliant-demo")]
    out: PathBuf,
}

/// The report of `pliant demo`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DemoReport {
    /// The page to open.
    index: String,
    /// Number of files.
    files: usize,
    /// Measured values, in the order of the page.
    figures: Vec<DemoFigure>,
}

/// A measured value.
#[derive(Debug, Serialize, JsonSchema)]
struct DemoFigure {
    section: String,
    name: String,
    value: String,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let demo = {
        let bar = console.progress_bar();
        pliant::demo::run(&args.out, &bar).map_err(|error| Failure::about("demo", &error))?
    };
    let report = DemoReport::from(&demo);
    console.print_summary(&report, &report.summary(), &[])
}

impl From<&Demo> for DemoReport {
    fn from(demo: &Demo) -> Self {
        let figures = demo.figures.iter().cloned();
        Self {
            index: path_text(&demo.index),
            files: demo.files.len(),
            figures: figures
                .map(|(section, name, value)| DemoFigure {
                    section,
                    name,
                    value,
                })
                .collect(),
        }
    }
}

impl DemoReport {
    fn summary(&self) -> String {
        let mut text = String::new();
        for DemoFigure {
            section,
            name,
            value,
        } in &self.figures
        {
            let _ = writeln!(text, "{section:>10}  {name:<32} {value}");
        }
        let _ = writeln!(text, "\nopen {}", self.index);
        text
    }
}
